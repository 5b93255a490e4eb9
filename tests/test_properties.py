"""What must hold for any crowd, by both solvers: weights, sides, labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefpath import Path, Votes, fit_path
from strategies import SEEDS, random_features, vote_columns

N_ANNOTATORS, N_ITEMS = 5, 4
TIMES = np.geomspace(8.0, 200.0, 6)
SOLVERS = st.sampled_from(("lbi", "flow"))
# Steps that adapt answer to the order of summation; LBI's are fixed.
TOLERANCE = {"lbi": 1e-9, "flow": 2e-3}

HOW: dict[str, dict[str, Any]] = {
    "plain": {},
    "thurstone-mosteller": {"loss": "thurstone-mosteller", "penalty": "l1"},
    "linear": {"loss": "linear", "common_position": True},
    "huber": {"loss": "huber"},
    "features": {"features": random_features(1, N_ITEMS)},
}
SETTINGS = st.sampled_from(tuple(HOW.values()))


def path_of(columns: dict[str, Any], solver: str, how: dict[str, Any]) -> Path:
    votes = Votes.from_arrays(
        **columns, items=np.arange(N_ITEMS), annotators=np.arange(N_ANNOTATORS)
    )
    return fit_path(votes, solver=solver, times=TIMES, **how)


def assert_same(a: Path, b: Path, tolerance: float, *, side: float = 1.0) -> None:
    """The same coefficients at every time; `side` is -1 where left and right have changed."""
    for k, t in enumerate(TIMES):
        np.testing.assert_allclose(a.common[k], b.common[k], atol=tolerance)
        np.testing.assert_allclose(
            a.deviation(t).toarray(), b.deviation(t).toarray(), atol=5 * tolerance
        )
        np.testing.assert_allclose(
            a.position_bias(t), side * b.position_bias(t), atol=5 * tolerance
        )
        gap = a.common_position_at(t) - side * b.common_position_at(t)
        assert abs(gap) <= 5 * tolerance


@settings(max_examples=12)
@given(SEEDS, SOLVERS, SETTINGS)
def test_weight_two_is_the_row_twice(seed, solver, how):
    columns = vote_columns(seed, weights=False)
    times = np.random.default_rng(seed).integers(1, 4, len(columns["choice"]))
    weighed = path_of({**columns, "weight": times.astype(float)}, solver, how)
    rows = np.repeat(np.arange(len(times)), times)
    repeated = {name: None if c is None else c[rows] for name, c in columns.items()}
    assert_same(weighed, path_of(repeated, solver, how), TOLERANCE[solver])


@settings(max_examples=12)
@given(SEEDS, SOLVERS, SETTINGS)
def test_swapping_sides_flips_nothing_but_the_bias(seed, solver, how):
    columns = vote_columns(seed)
    swapped = {
        **columns,
        "left": columns["right"],
        "right": columns["left"],
        "choice": -columns["choice"],
    }
    a, b = path_of(columns, solver, how), path_of(swapped, solver, how)
    assert_same(a, b, TOLERANCE[solver], side=-1.0)


@settings(max_examples=12)
@given(SEEDS, SOLVERS, SETTINGS)
def test_relabelling_permutes(seed, solver, how):
    columns = vote_columns(seed)
    rng = np.random.default_rng(seed)
    item, person = rng.permutation(N_ITEMS), rng.permutation(N_ANNOTATORS)
    renamed = {
        **columns,
        "annotator": person[columns["annotator"]],
        "left": item[columns["left"]],
        "right": item[columns["right"]],
    }
    features = how.get("features")
    if features is not None:
        moved = np.empty_like(features)
        moved[item] = features
    a = path_of(columns, solver, how)
    b = path_of(renamed, solver, how if features is None else {**how, "features": moved})
    tolerance = TOLERANCE[solver]
    for t in TIMES:
        np.testing.assert_allclose(a.scores(t), b.scores(t)[item], atol=tolerance)
        np.testing.assert_allclose(
            a.position_bias(t), b.position_bias(t)[person], atol=5 * tolerance
        )
        for u in range(N_ANNOTATORS):
            np.testing.assert_allclose(
                a.personal_scores(u, t), b.personal_scores(person[u], t)[item], atol=6 * tolerance
            )


@settings(max_examples=12)
@given(SEEDS, SOLVERS, st.sampled_from(("bradley-terry", "thurstone-mosteller")))
def test_a_tie_is_half_a_win_and_half_a_loss(seed, solver, loss):
    columns = vote_columns(seed, ties=0.4)
    tie = columns["choice"] == 0
    halves = {
        name: np.concatenate((values[~tie], values[tie], values[tie]))
        for name, values in columns.items()
    }
    n_ties = int(tie.sum())
    halves["choice"][-2 * n_ties :] = np.repeat([1.0, -1.0], n_ties)
    halves["weight"][-2 * n_ties :] /= 2.0
    a, b = path_of(columns, solver, {"loss": loss}), path_of(halves, solver, {"loss": loss})
    assert_same(a, b, TOLERANCE[solver])


@settings(max_examples=10)
@given(SEEDS, SOLVERS)
def test_the_order_of_the_rows_does_not_matter(seed, solver):
    columns = vote_columns(seed)
    order = np.random.default_rng(seed).permutation(len(columns["choice"]))
    shuffled = {name: values[order] for name, values in columns.items()}
    a, b = path_of(columns, solver, {}), path_of(shuffled, solver, {})
    np.testing.assert_array_equal(a.common, b.common)


@settings(max_examples=10)
@given(SEEDS)
def test_scores_sum_to_zero_and_votes_of_weight_zero_say_nothing(seed):
    columns = vote_columns(seed)
    path = path_of(columns, "lbi", {})
    np.testing.assert_allclose(path.common.sum(axis=1), 0.0, atol=1e-10)
    extra = {name: np.append(values, values[:20]) for name, values in columns.items()}
    extra["weight"][-20:] = 0.0
    extra["choice"][-20:] = 1.0
    assert_same(path, path_of(extra, "lbi", {}), 1e-10)


def test_unknown_sides_leave_the_bias_alone():
    columns = vote_columns(3, position_known=0.0)
    for solver in ("lbi", "flow"):
        path = path_of(columns, solver, {})
        assert not path.position_bias(TIMES[-1]).any()
        assert np.isinf(path.entry_times("position_bias")).all()
        assert np.isfinite(path.entry_times("deviation")).any()


@pytest.mark.parametrize("solver", ["lbi", "flow"])
def test_somebody_pops_up_in_these_crowds(solver):
    """Else the properties above would compare zeros with zeros."""
    path = path_of(vote_columns(3), solver, {})
    assert min(path.active_count(TIMES[-1])) >= 1
