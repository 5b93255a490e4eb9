"""Our LBI against the tiny golden file of our own making, which dense NumPy wrote."""

from __future__ import annotations

import numpy as np
import pytest
from small_golden import FILE, GRADIENTS, ITERATIONS, KAPPA, N_ANNOTATORS, N_ITEMS, small_path

from prefpath import Votes, fit_path


@pytest.fixture(scope="module")
def golden() -> dict[str, np.ndarray]:
    with np.load(FILE) as archive:
        return dict(archive)


@pytest.mark.parametrize("loss", GRADIENTS)
def test_lbi_is_the_golden_path(golden, loss):
    columns = {name: golden[name] for name in ("annotator", "left", "right", "choice", "weight")}
    votes = Votes.from_arrays(
        **columns, items=np.arange(N_ITEMS), annotators=np.arange(N_ANNOTATORS)
    )
    expected = {name: golden[f"{loss}/{name}"] for name in ("step", "common", "deviation", "lean")}
    step = float(expected["step"])
    path = fit_path(votes, loss=loss, solver="lbi", kappa=KAPPA, times=step * ITERATIONS, step=step)
    plain = fit_path(votes, loss=loss, solver="lbi", kappa=KAPPA, times=step * ITERATIONS[:2])
    assert plain.step == pytest.approx(step, rel=1e-6)
    for k, t in enumerate(path.times):
        close = {"rtol": 1e-9, "atol": 1e-11}
        np.testing.assert_allclose(path.common[k], expected["common"][k], **close)
        np.testing.assert_allclose(path.deviation(t).toarray(), expected["deviation"][k], **close)
        np.testing.assert_allclose(path.position_bias(t), expected["lean"][k], **close)


@pytest.mark.parametrize("loss", GRADIENTS)
def test_the_file_is_what_its_script_writes_and_tells_something(golden, loss):
    again = small_path(loss)
    for name, values in again.items():
        np.testing.assert_allclose(golden[f"{loss}/{name}"], values, rtol=1e-10, atol=1e-12)
    last = again["deviation"][-1]
    assert np.count_nonzero(np.abs(last).sum(axis=1)) >= 2
    assert np.count_nonzero(again["lean"][-1]) >= 1
