"""Tests and verdicts depend on the votes: not on labels, rows, sides or how weights are split."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import PreferenceModel, Votes, simulate_crowd
from prefpath.diagnose import diagnose, discover
from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.canonical import Compared, DrawOrder, _order_cells, _order_few_cells

# Weights above 1 are said; here they are the point.
pytestmark = pytest.mark.filterwarnings("ignore::prefpath.VoteWarning")


@pytest.fixture(scope="module")
def rows():
    """Annotators, left and right items, choices and whole weights of a small crowd."""
    crowd = simulate_crowd(2_500, 50, 9, activity="zipf", deviants=5, clickers=5, seed=7)
    votes, rng = crowd.votes, np.random.default_rng(1)
    weight = rng.integers(1, 3, votes.n_rows).astype(float)
    return votes.annotator, votes.left, votes.right, votes.choice, weight


def renamed(codes, seed):
    """Other labels, in another alphabetical order; their places give the old codes back."""
    names = np.random.default_rng(seed).permutation([f"n{k:03}" for k in range(codes.max() + 1)])
    return names[codes], names


def tell(votes, names):
    """P-values and verdicts in the order of the old codes."""
    found = discover(votes)
    place = [votes.annotator_code(name) for name in names]
    said = diagnose(PreferenceModel(cv=0, n_times=4, t_ratio=3.0).fit(votes))
    words = said.words[place].tolist()
    return found.p_lean[place], found.p_taste[place], found.p_attention[place], words


@pytest.fixture(scope="module")
def told(rows):
    who, left, right, choice, weight = rows
    names = [f"u{k:03}" for k in range(who.max() + 1)]
    labels = np.array(names)[who]
    return tell(Votes.from_arrays(labels, left, right, choice, weight), names)


def assert_same(found, told):
    for p, q in zip(found[:3], told[:3], strict=True):
        np.testing.assert_allclose(p, q, rtol=1e-6)
    assert found[3] == told[3]


def test_renaming_annotators_and_items_changes_nothing(rows, told):
    who, left, right, choice, weight = rows
    people, names = renamed(who, 3)
    both, _ = renamed(np.concatenate((left, right)), 4)
    votes = Votes.from_arrays(people, both[: len(left)], both[len(left) :], choice, weight)
    assert_same(tell(votes, names), told)


def test_the_order_of_rows_changes_nothing(rows, told):
    who, left, right, choice, weight = (
        column[np.random.default_rng(5).permutation(len(rows[0]))] for column in rows
    )
    names = [f"u{k:03}" for k in range(who.max() + 1)]
    assert_same(
        tell(Votes.from_arrays(np.array(names)[who], left, right, choice, weight), names), told
    )


def test_splitting_weights_changes_nothing(rows, told):
    who, left, right, choice = (np.repeat(column, rows[4].astype(int)) for column in rows[:4])
    names = [f"u{k:03}" for k in range(who.max() + 1)]
    assert_same(tell(Votes.from_arrays(np.array(names)[who], left, right, choice), names), told)


def test_swapping_all_sides_turns_leans_and_nothing_else(rows, told):
    who, left, right, choice, weight = rows
    names = [f"u{k:03}" for k in range(who.max() + 1)]
    votes = Votes.from_arrays(np.array(names)[who], right, left, -choice, weight)
    p_lean, p_taste, p_attention, _ = tell(votes, names)
    np.testing.assert_allclose(p_lean, told[0], rtol=1e-6)
    np.testing.assert_allclose(p_attention, told[2], rtol=1e-6)
    np.testing.assert_allclose(p_taste, told[1], rtol=1e-6)


def test_the_order_of_draws_puts_every_cell_once(rows):
    who, left, right, choice, weight = rows
    ballots = Ballots.of(Votes.from_arrays(who, left, right, choice, weight))
    order = ballots.draw_order
    np.testing.assert_array_equal(np.sort(order.cell), np.arange(len(ballots.trials)))
    np.testing.assert_array_equal(ballots.annotator[order.cell], ballots.annotator)


def test_words_are_put_in_order_as_numpy_sorts_them(rows):
    """Words of few bits, too, of which many are equal: these stay as they were."""
    who, left, right, choice, weight = rows
    ballots = Ballots.of(Votes.from_arrays(who, left, right, choice, weight))
    compared, n = ballots.compared, len(ballots.trials)
    words = np.random.default_rng(0).integers(2**63, size=9, dtype=np.uint64)
    for items in (words, words % np.uint64(2)):
        found = []
        for order_cells in (_order_cells, _order_few_cells):
            order = DrawOrder(np.arange(n), np.zeros(n, np.int8), np.zeros(50, np.uint64))
            order_cells(ballots.design, compared, items, order)
            found.append(order)
        for part, wanted in zip(*found, strict=True):
            np.testing.assert_array_equal(part, wanted)
    assert np.diff(ballots.design.cells).max() > 60


def test_alike_votes_are_told_alike_and_others_are_not():
    """Two annotators with the same votes share a stream; cells alike in everything do not."""
    votes = Votes.from_arrays(
        list("aaabbbccc"), list("xyzxyzxxx"), list("yzxyzxyyz"), [1, 1, -1, 1, 1, -1, 1, -1, 1]
    )
    order = Ballots.of(votes).draw_order
    assert order.word[0] == order.word[1] != order.word[2]


@pytest.mark.parametrize("order_cells", [_order_cells, _order_few_cells])
def test_swapping_sides_keeps_the_draws_of_who_clicks_both_sides_equally_often(order_cells):
    """The same pair in both orders with the same winner: nothing but the side tells them apart."""
    left, right = list("xyzwxz"), list("yxwzzy")
    choice = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])  # three of six are for the left

    def drawn(turn):
        sides = (left, right, choice) if turn > 0 else (right, left, -choice)
        ballots = Ballots.of(Votes.from_arrays(["a"] * 6, *sides))
        items = np.random.default_rng(0).integers(2**63, size=4, dtype=np.uint64)
        order = DrawOrder(np.arange(6), np.zeros(6, np.int8), np.zeros(1, np.uint64))
        compared = Compared(ballots.left, ballots.right, ballots.trials, ballots.wins)
        order_cells(ballots.design, compared, items, order)
        side = turn * np.where(order.turned, -1, 1)  # of the item that comes first in the order
        return side[order.cell].tolist(), order.word.tolist()

    assert drawn(1) == drawn(-1)
