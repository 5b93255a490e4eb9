"""A path that stops anywhere and goes on from its state is the path that never stopped."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath.checkpoint import Checkpoint
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.simulate import simulate_crowd
from prefpath.solver.flow import FlowSolver, solve_flow
from prefpath.solver.grid import make_grid
from prefpath.solver.state import (
    FlowState,
    as_arrays,
    from_arrays,
    random_from_words,
    random_words,
)
from prefpath.votes import Votes
from stops import assert_same_path, run_with_stops

CASES = {
    "as it comes": {"balance": True, "common_position": True},
    "attention": {"attention": True},
    "minimised": {"loss": "linear", "common": "minimise"},
    "moments": {"loss": "linear", "features": True},
    "features": {"features": True},
}


@pytest.fixture(scope="module")
def votes() -> Votes:
    return simulate_crowd(900, 12, 6, deviants=3, clickers=2, seed=3).votes


def problem_and_settings(votes: Votes, case: dict) -> tuple[Problem, dict]:
    how = dict(case)
    settings = {"common": how.pop("common", "flow"), "n_threads": 1}
    if how.pop("features", False):
        how["features"] = np.random.default_rng(0).standard_normal((votes.n_items, 2))
    return Problem.build(votes, **how), settings


@pytest.mark.parametrize("name", CASES)
def test_a_path_stopped_again_and_again_is_the_same(votes, name, tmp_path):
    problem, settings = problem_and_settings(votes, CASES[name])
    grid = make_grid(None, 9, 12.0)
    with FlowSolver(problem, **settings) as whole:
        times = grid.from_first(whole.first_entry())
        whole.follow(times)
        expected = whole.path()
    assert len(whole.crowd.active.who) > 2, "somebody must have joined for this to mean anything"

    def run(checkpoint: Checkpoint) -> Path:
        return solve_flow(problem, grid, **settings, slot=checkpoint.slot("path"))

    with_stops, n_stops = run_with_stops(run, tmp_path, saves=9)
    assert n_stops > 3
    assert_same_path(with_stops, expected)


def test_a_state_is_not_changed_by_who_goes_on_from_it(votes):
    problem = Problem.build(votes)
    with FlowSolver(problem, n_threads=1) as solver:
        first = solver.first_entry()
        state = from_arrays(FlowState, as_arrays(solver.state()))
        before = {name: part.copy() for name, part in as_arrays(state).items()}
        paths = []
        for one in (solver, *(FlowSolver.from_state(problem, state, n_threads=1) for _ in "ab")):
            one.follow(first * np.array([1.0, 2.0, 4.0]))
            paths.append(one.path())
    for name, part in as_arrays(state).items():
        np.testing.assert_array_equal(part, before[name])
    assert_same_path(paths[0], paths[1])
    assert_same_path(paths[0], paths[2])


def test_chunks_of_a_large_crowd_are_laid_out_again(monkeypatch):
    monkeypatch.setattr("prefpath.solver.room._LARGE", 100)
    monkeypatch.setattr("prefpath.solver.executors.CELLS_A_SHARD", 10)
    votes = simulate_crowd(900, 12, 6, deviants=3, clickers=2, seed=3).votes
    problem = Problem.build(votes)
    with FlowSolver(problem, n_threads=2) as solver:
        times = solver.first_entry() * np.array([1.0, 4.0, 9.0])
        solver.follow(times[:2])
        with FlowSolver.from_state(problem, solver.state(), n_threads=2) as other:
            assert other.crowd.active_chunks == solver.crowd.active_chunks
            assert len(other.crowd.active_chunks) > 1
            for one in (solver, other):
                one.follow(times)
            assert_same_path(solver.path(), other.path())


def test_random_numbers_go_on_where_they_were():
    generator = np.random.default_rng(5)
    generator.standard_normal(7)
    again = random_from_words(random_words(generator))
    np.testing.assert_array_equal(generator.standard_normal(9), again.standard_normal(9))
