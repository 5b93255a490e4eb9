"""What is compiled, and that NumPy counts few votes as kernels count many."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from numba import TypingError

from prefpath import simulate_crowd
from prefpath.compiling import inner_kernel, kernel
from prefpath.diagnose import canonical
from prefpath.inference import slots
from prefpath.model import pool_index
from prefpath.model.loops import longest_run, mean, sort, sum_of_squares
from prefpath.model.problem import Problem
from prefpath.votes import graph


@inner_kernel()
def _doubled(x):
    return 2.0 * x


@kernel()
def _quadrupled(x):
    return _doubled(_doubled(x))


@pytest.fixture(scope="module")
def problem():
    votes = simulate_crowd(600, 12, 7, deviants=1, clickers=1, ties=0.2, seed=4).votes
    return Problem.build(votes, common_position=True)


def test_an_inner_kernel_answers_kernels_and_python():
    assert _quadrupled(1.5) == 6.0
    assert _doubled(1.5) == 3.0


def test_garbage_is_looked_for_again_after_compiling():
    assert gc.isenabled()
    with pytest.raises(TypingError):
        _doubled("no number")
    assert gc.isenabled()


def test_loops_are_those_of_numpy():
    values = np.random.default_rng(0).normal(size=97)
    assert mean(values) == pytest.approx(values.mean(), rel=1e-12)
    assert sum_of_squares(values) == pytest.approx(values @ values, rel=1e-12)
    assert longest_run(np.array([0, 3, 3, 8, 9])) == 5
    expected = np.sort(values)
    sort(values)
    np.testing.assert_array_equal(values, expected)


def test_sides_of_few_votes(problem):
    votes = problem.votes
    sides = votes.offsets, votes.left, votes.right, votes.position_known
    columns = *sides, votes.count, votes.n_items
    few, many = graph._few_in_one_order(*columns), graph._one_order(*columns)
    np.testing.assert_array_equal(few, many)
    first = votes.left < votes.right  # every item on one side: the smaller one on the left
    one = (
        votes.offsets,
        np.where(first, votes.left, 0),
        np.where(first, votes.right, 6),
        *columns[3:],
    )
    np.testing.assert_array_equal(graph._few_in_one_order(*one), graph._one_order(*one))


def test_keys_of_few_cells(problem):
    design, n = problem.design, problem.votes.n_items
    side, level = design.position, np.arange(len(design.left_at), dtype=np.int32) % 3
    few = pool_index._few_cell_keys(design, n, side, level, 3)
    np.testing.assert_array_equal(few, pool_index._cell_keys(design, n, side, level, 3))


def test_the_order_of_few_draws(problem, monkeypatch):
    design, rng = problem.design, np.random.default_rng(1)
    left, right = (
        design.seen_item[np.repeat(design.seen[:-1], np.diff(design.cells)) + at]
        for at in (design.left_at, design.right_at)
    )
    trials = rng.integers(1, 4, len(left)).astype(float)
    won = np.floor(trials * rng.random(len(left)))
    compared = canonical.Compared(left, right, trials, won)
    few = canonical.draw_order(design, compared)
    monkeypatch.setattr(canonical, "for_rows", lambda _, compiled, in_numpy: compiled)
    for found, expected in zip(few, canonical.draw_order(design, compared), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("with_position", [False, True])
def test_slots_of_few_cells(problem, with_position):
    design, n_items = problem.design, problem.votes.n_items
    n_annotators, n_cells = len(design.cells) - 1, len(design.left_at)
    alone = np.arange(n_annotators) % 3 == 0
    own, bias = (np.random.default_rng(2).normal(size=n) for n in (design.blocks[-1], n_annotators))
    found = []
    for number, fill, add in (
        (slots._number_slots, slots._fill_slots, slots._add_weights),
        (slots._number_few_slots, slots._fill_few_slots, slots._add_few_weights),
    ):
        slot, keys = np.empty(n_cells, np.int32), np.full(3 * n_items**2, -1, np.int32)
        n = number(design, n_items, alone, with_position, keys, slot)
        made = slots.Slots(*(np.zeros(n, kind) for kind in (np.int32, np.int32, float, float)))
        fill(design, alone, with_position, slot, own, bias, made)
        total, pull = np.zeros((n, 2)), np.zeros((n, 2))
        times = np.stack((np.ones(n_annotators), np.arange(n_annotators) % 4), axis=1)
        add(design, slot, problem.target, times, total, pull)
        found.append((slot, *made, total, pull))
    for many, few in zip(*found, strict=True):
        np.testing.assert_array_equal(few, many)
