"""Settings that are no numbers, or numbers no path survives: one kind of error, at once."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import PreferenceModel, SettingError, simulate_crowd
from prefpath.settings import check_seed

VOTES = simulate_crowd(200, 8, 4, seed=1).votes


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("kappa", [1e-300, 1e300, "a", None, 0, np.nan]),
        ("t_ratio", [1.0, 1e300, np.inf, None, [2.0]]),
        ("n_times", [1, 2.5, 10**9, "x", None]),
        ("n_threads", [0, 1.5, "x"]),
        ("cv", [2.5, "x", -1]),
        ("random_state", [-1, 1.5, "x", 2**63]),
    ],
)
def test_what_no_path_survives_is_refused_by_its_name(name: str, values: list[object]) -> None:
    words = {"cv": "fold"}.get(name, f"{name} is")
    for value in values:
        settings = {"cv": 2, "n_times": 4, "t_ratio": 2.0, "n_threads": 1, name: value}
        with pytest.raises(
            SettingError if value != -1 or name != "cv" else ValueError, match=words
        ):
            PreferenceModel(**settings).fit(VOTES)  # type: ignore[arg-type]


def test_numbers_of_numpy_are_numbers() -> None:
    for seed in (np.int64(3), 2**63 - 1, None):
        check_seed("random_state", seed)
    settings = {"kappa": np.float32(10), "n_times": np.int32(3), "cv": np.int64(2)}
    PreferenceModel(**settings, t_ratio=np.float64(1.5), n_threads=1).fit(VOTES)  # type: ignore[arg-type]
