"""Cross-validation that is stopped anywhere and goes on is the one that never stopped."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from prefpath import PreferenceModel
from prefpath.checkpoint import Checkpoint
from prefpath.errors import SettingError
from prefpath.model.problem import Problem
from prefpath.selection.cross_validation import follow_until_settled
from prefpath.selection.folds import make_folds
from prefpath.simulate import simulate_crowd
from prefpath.solver.grid import make_grid
from stops import assert_same_path, run_with_stops


@pytest.fixture(scope="module")
def votes():
    return simulate_crowd(900, 15, 5, deviants=3, clickers=1, seed=5).votes


def follow(votes, checkpoint=None, n_threads=1):
    problem = Problem.build(votes, balance=True)
    folds, grid = make_folds(votes, 3), make_grid(None, 12, "auto")
    return follow_until_settled(problem, folds, grid, n_threads=n_threads, checkpoint=checkpoint)


@pytest.fixture(scope="module")
def expected(votes):
    return follow(votes)


def assert_same(one, other):
    assert_same_path(one[0], other[0])
    for name in ("times", "errors", "wrong"):
        np.testing.assert_array_equal(getattr(one[1], name), getattr(other[1], name))


@pytest.mark.parametrize(("saves", "n_threads"), [(35, 1), (50, 2)])
def test_folds_beside_a_path(votes, expected, tmp_path, saves, n_threads):
    found, n_stops = run_with_stops(
        lambda checkpoint: follow(votes, checkpoint, n_threads), tmp_path, saves=saves
    )
    assert n_stops > 5
    assert_same(found, expected)


@pytest.mark.parametrize("lost", ["folds", "path"])
def test_files_that_are_lost_cost_time_only(votes, expected, tmp_path, lost):
    """What is left of the others may be too far ahead of what must be begun anew."""
    n_stops = 0

    def run(checkpoint):
        nonlocal n_stops
        n_stops += 1
        if n_stops in (3, 6):
            for file in tmp_path.glob(f"{lost}.*"):
                file.unlink()
        return follow(votes, checkpoint)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found, _ = run_with_stops(run, tmp_path, saves=60)
    assert n_stops > 6
    assert_same(found, expected)
    assert any("does not fit the others" in str(one.message) for one in said) == (lost == "folds")


@pytest.mark.parametrize("solver", ["flow", "lbi"])
def test_folds_after_a_path(votes, tmp_path, solver):
    model = PreferenceModel(solver=solver, cv=2, n_times=4, t_ratio=4.0, n_threads=1)
    whole = model.fit(votes).fitted_
    found, n_stops = run_with_stops(
        lambda checkpoint: model.fit(votes, checkpoint=checkpoint).fitted_, tmp_path, saves=9
    )
    assert n_stops > 2
    assert_same((found.path, found.cross_validation), (whole.path, whole.cross_validation))
    assert found.t == whole.t


def test_folds_left_to_chance_are_the_same_after_a_stop(votes, tmp_path):
    model = PreferenceModel(random_state=None, cv=2, n_times=4, t_ratio=4.0, n_threads=1)
    checkpoint = Checkpoint(tmp_path / "whole")
    whole = model.fit(votes, checkpoint=checkpoint).fitted_
    checkpoint.close()
    again = model.fit(votes, checkpoint=tmp_path / "whole").fitted_
    np.testing.assert_array_equal(again.cross_validation.errors, whole.cross_validation.errors)


def test_other_votes_or_settings_are_refused(votes, tmp_path):
    checkpoint = Checkpoint(tmp_path)
    how = {"cv": 2, "n_times": 4, "t_ratio": 4.0}
    PreferenceModel(**how).fit(votes, checkpoint=checkpoint)
    others = simulate_crowd(900, 15, 5, deviants=3, clickers=1, seed=6).votes
    with pytest.raises(SettingError, match="holds a fit of other votes"):
        PreferenceModel(**how).fit(others, checkpoint=checkpoint)
    with pytest.raises(SettingError, match=r"with kappa 20\.0, and now it is 10\.0"):
        PreferenceModel(**how, kappa=10.0).fit(votes, checkpoint=checkpoint)
    PreferenceModel(**how, n_threads=2).fit(votes, checkpoint=checkpoint)
    checkpoint.finish()
