"""A path that stops anywhere and goes on from its state is the path that never stopped."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath.checkpoint import Checkpoint
from prefpath.errors import VoteWarning
from prefpath.fit import fit_path
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.simulate import simulate_crowd
from prefpath.solver.executors import Serial
from prefpath.solver.flow import FlowSolver, solve_flow
from prefpath.solver.grid import make_grid
from prefpath.solver.lbi import default_step, solve_lbi
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


LBI_CASES = {
    "as it comes": {"balance": True, "common_position": True},
    "attention": {"attention": True},
    "minimised": {"loss": "linear", "common": "minimise"},
    "features": {"features": True},
}


@pytest.mark.parametrize("name", LBI_CASES)
def test_an_iteration_stopped_again_and_again_is_the_same(votes, name, tmp_path, monkeypatch):
    monkeypatch.setattr("prefpath.solver.stepper._CELLS_A_CALL", 20_000)
    problem, settings = problem_and_settings(votes, LBI_CASES[name])
    grid = make_grid(None, 6, 5.0)
    expected = solve_lbi(problem, grid, **settings)
    assert np.isfinite(expected.entered).any()

    def run(checkpoint: Checkpoint) -> Path:
        return solve_lbi(problem, grid, **settings, slot=checkpoint.slot("path"))

    with_stops, n_stops = run_with_stops(run, tmp_path, saves=7)
    assert n_stops > (1 if name == "minimised" else 3)
    assert_same_path(with_stops, expected)
    assert with_stops.step == expected.step


def test_an_iteration_goes_on_with_the_step_it_had_come_to(votes, tmp_path, monkeypatch):
    """With attention a step may turn out too long; the shorter one is part of the state."""
    problem = Problem.build(votes, attention=True)
    too_long = 8.0 * default_step(problem, Serial())
    monkeypatch.setattr("prefpath.solver.lbi.default_step", lambda *_: too_long)
    grid = make_grid(np.geomspace(5.0, 60.0, 5), 5, 12.0)
    expected = solve_lbi(problem, grid, n_threads=1)
    assert expected.step < 0.6 * too_long

    def run(checkpoint: Checkpoint) -> Path:
        return solve_lbi(problem, grid, n_threads=1, slot=checkpoint.slot("path"))

    with_stops, n_stops = run_with_stops(run, tmp_path, saves=2)
    assert n_stops > 1
    assert_same_path(with_stops, expected)
    assert with_stops.step == expected.step


def test_an_open_path_ends_where_it_would_have_without_stops(votes, tmp_path, monkeypatch):
    """At its first end too few had entered; whoever resumes later may count more, and goes on."""
    monkeypatch.setattr("prefpath.solver.grid.FIRST_RATIO", 4.0)
    monkeypatch.setattr("prefpath.solver.flow.FIRST_RATIO", 4.0)
    problem, grid = Problem.build(votes, balance=True), make_grid(None, 4, "auto")
    with FlowSolver(problem, n_threads=1) as solver:
        first = solver.first_entry()
        shares = []
        for ratio in (4.0, 6.0):
            solver.follow(np.array([ratio * first]))
            shares.append(solver.share_entered)
    assert shares[0] < shares[1]
    monkeypatch.setattr("prefpath.solver.flow.SHARE_TO_SEE", shares[1])
    expected = solve_flow(problem, grid, n_threads=1)
    assert expected.times[-1] > 6.0 * first

    def run(checkpoint: Checkpoint) -> Path:
        return solve_flow(problem, grid, n_threads=1, slot=checkpoint.slot("path"))

    with_stops, n_stops = run_with_stops(run, tmp_path, saves=3)
    assert n_stops > 3
    assert_same_path(with_stops, expected)


@pytest.mark.parametrize("solver", ["flow", "lbi"])
def test_that_nobody_enters_is_said_again(solver, tmp_path):
    votes = Votes.from_arrays(["a", "b"] * 40, ["x"] * 80, ["y"] * 80, [1, 1, -1, -1] * 20)
    how = {"n_times": 2, "t_ratio": 1.5, "n_threads": 1, "solver": solver, "loss": "linear"}
    for _ in range(2):
        with pytest.warns(VoteWarning, match="nobody differs enough"):
            fit_path(votes, **how, checkpoint=tmp_path)


def test_a_call_again_after_the_end_ends_at_once(votes, tmp_path):
    told: list[float] = []

    def run() -> Path:
        def tell(t: float, _: int) -> None:
            told.append(t)

        return fit_path(votes, n_times=4, t_ratio=5.0, checkpoint=tmp_path, progress=tell)

    first = run()
    assert_same_path(run(), first)
    assert len(told) == 4
    (tmp_path / "path.state.npz").write_bytes(b"")
    with pytest.warns(VoteWarning, match="damaged"):
        assert_same_path(run(), first)
    assert len(told) == 4  # the save before it was of the end, too


def test_a_state_of_another_problem_is_not_used(votes, tmp_path):
    other = simulate_crowd(900, 12, 7, deviants=3, seed=3).votes
    fit_path(other, n_times=3, t_ratio=4.0, checkpoint=tmp_path)
    checkpoint = Checkpoint(tmp_path)
    grid = make_grid(None, 3, 4.0)
    for solve in (solve_flow, solve_lbi):
        with pytest.warns(VoteWarning, match="does not fit|damaged|'"):
            solve(Problem.build(votes), grid, slot=checkpoint.slot("path"))
    checkpoint.close()


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
