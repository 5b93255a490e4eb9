"""Small problems in NumPy: the same paths as compiled kernels give, and nothing compiled."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from prefpath import PreferenceModel, Votes, fit_path, simulate_crowd
from prefpath.model import design
from prefpath.model.problem import Problem
from prefpath.selection import refinement
from prefpath.solver import small, steps
from prefpath.solver.flow import FlowSolver, solve_flow
from prefpath.solver.grid import make_grid

FIRST_FIT = """
import warnings
from prefpath import PreferenceModel, Votes, fit_path, simulate_crowd
warnings.simplefilter("ignore")
PreferenceModel().fit(simulate_crowd(600, 12, 6, deviants=1, clickers=1, seed=0).votes)
"""

CASES = [
    {},
    {"loss": "thurstone-mosteller"},
    {"loss": "linear"},
    {"loss": "huber"},
    {"penalty": "l1"},
    {"common_position": True},
    {"balance": True},
    {"attention": True},
    {"attention": True, "common_position": True, "loss": "thurstone-mosteller"},
]


def problem_of(**how) -> Problem:
    votes = simulate_crowd(900, 15, 8, deviants=2, clickers=2, seed=1).votes
    return Problem.build(votes, **how)


def compiled(monkeypatch) -> None:
    monkeypatch.setattr(small, "MOST_CELLS", 0)
    monkeypatch.setattr(steps, "exponential_pays", lambda *_: False)  # Chebyshev's steps for both


@pytest.mark.parametrize("how", CASES, ids=str)
def test_paths_are_those_of_the_kernels(monkeypatch, how):
    # Step lengths amplify rounding from step to step (a kernel's path moves as far when its state
    # is moved by 1e-14), so that paths agree as well as either promises; evaluations (below) agree
    # to rounding.
    problem, grid = problem_of(**how), make_grid(None, 12, 30.0)
    assert small.is_small(problem)
    found = solve_flow(problem, grid, n_threads=1)
    compiled(monkeypatch)
    expected = solve_flow(problem, grid, n_threads=1)
    np.testing.assert_allclose(found.times, expected.times, rtol=1e-7)
    np.testing.assert_allclose(found.entry_times(), expected.entry_times(), rtol=5e-3)
    for t in found.times:
        common, personal = expected.scores(t), expected.deviation(t)
        np.testing.assert_allclose(found.scores(t), common, atol=5e-3 * np.abs(common).max())
        within = 1e-2 * max(np.abs(personal).max(), np.abs(common).max())
        assert np.abs((found.deviation(t) - personal).toarray()).max() < within
        np.testing.assert_allclose(found.position_bias(t), expected.position_bias(t), atol=within)


@pytest.mark.parametrize("how", CASES, ids=str)
def test_the_slope_is_that_of_the_kernels_to_rounding(monkeypatch, how):
    solver = FlowSolver(problem_of(**how))
    solver.follow(20.0 * np.array([solver.first_entry()]))
    found = solver.slope.at(solver.y.copy())
    compiled(monkeypatch)
    restored = FlowSolver.from_state(solver.problem, solver.state())
    expected = restored.slope.at(solver.y.copy())
    assert len(solver.crowd.active.who) > 2
    # A slope is kappa times a mean of pulls of up to 1, most of which cancel.
    tolerance = 1e-9 if how.get("loss") == "thurstone-mosteller" else 1e-15
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * solver.problem.kappa)


@pytest.mark.parametrize("attention", [False, True])
def test_who_waits_is_brought_up_to_date_as_by_the_kernels(monkeypatch, attention):
    problem = problem_of(balance=True, attention=attention, common_position=True)
    solver = FlowSolver(problem)
    solver.follow(np.array([2.0]) * solver.first_entry())
    room, sight = solver.crowd.room, solver.crowd.sight
    waits = np.flatnonzero(room.waiting.waits)
    assert len(waits) > 2
    compiled(monkeypatch)
    other = FlowSolver.from_state(problem, solver.state()).crowd.room
    for one in (room, other):
        one.refresh(sight, waits)
    for name in ("norm", "reach", "drift", "travel", "since", "dormant"):
        found, expected = getattr(room.waiting, name), getattr(other.waiting, name)
        np.testing.assert_allclose(found[waits], expected[waits], rtol=1e-9, atol=1e-13)
    assert room.cells_read == other.cells_read
    for found, expected in zip(room.waiting.z, other.waiting.z, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("penalty", ["group", "l1"])
def test_annotators_without_votes_change_nothing(penalty):
    votes = simulate_crowd(300, 6, 5, deviants=1, seed=3).votes
    columns = votes.annotators[votes.annotator], votes.left, votes.right, votes.choice
    more = np.concatenate((["!"], votes.annotators, ["~"]))
    paths = [
        fit_path(Votes.from_arrays(*columns, annotators=who), n_times=4, penalty=penalty)
        for who in (votes.annotators, more)
    ]
    np.testing.assert_array_equal(paths[1].entry_times()[1:-1], paths[0].entry_times())


def test_cross_validation_is_that_of_the_kernels(monkeypatch):
    votes = simulate_crowd(900, 15, 8, deviants=2, clickers=2, seed=1).votes
    found = PreferenceModel(cv=3, n_threads=1).fit(votes)
    compiled(monkeypatch)
    expected = PreferenceModel(cv=3, n_threads=1).fit(votes)
    assert found.t_ == pytest.approx(expected.t_, rel=1e-7)
    np.testing.assert_allclose(found.cv_.errors, expected.cv_.errors, rtol=1e-6)


def test_few_rows_are_numbered_as_many(monkeypatch):
    votes = simulate_crowd(700, 30, 9, ties=0.2, seed=2).votes
    few = refinement.refine_votes(votes), Problem.build(votes).design
    monkeypatch.setattr(refinement, "FEW_ROWS", 0)
    monkeypatch.setattr(design, "for_rows", lambda _, compiled, in_numpy: compiled)
    many = refinement.refine_votes(votes), Problem.build(votes).design
    np.testing.assert_array_equal(few[0].vote_keys(5), many[0].vote_keys(5))
    for found, expected in zip(
        (*few[0].colours, *few[1]), (*many[0].colours, *many[1]), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_the_first_fit_of_a_small_problem_compiles_nothing(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", FIRST_FIT], env=environment, check=True)
    assert not list(tmp_path.rglob("*.nbc"))
