"""Folds depend on the votes: not on names, the order of rows, sides, or how weights are written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefpath import Votes, simulate_crowd
from prefpath.model.problem import Problem
from prefpath.selection.cross_validation import follow_until_settled
from prefpath.selection.folds import make_folds
from prefpath.selection.refinement import refine_votes
from prefpath.solver.grid import make_grid
from strategies import SEEDS, vote_columns

Columns = dict[str, Any]
Row = tuple[int, int, int, float, bool]


def table(columns: Columns, tests: list[np.ndarray], votes: Votes, back: Columns) -> set[Any]:
    """What each fold holds out, as votes under their first names; folds in any order."""
    folds = []
    for test in tests:
        rows = np.flatnonzero(test)
        held: dict[Row, float] = {}
        for r in rows:
            u = back["annotator"][int(votes.annotators[votes.annotator[r]])]
            i, j = (back["item"][int(votes.items[one[r]])] for one in (votes.left, votes.right))
            y, known = float(votes.choice[r]), bool(votes.position_known[r])
            if back["swapped"] or (not known and i > j):
                i, j, y = j, i, -y
            if not known and i > j:
                i, j, y = j, i, -y
            held[u, i, j, y + 0.0, known] = round(float(test[r]), 9)
        folds.append(frozenset(held.items()))
    return set(folds)


def folds_of(columns: Columns, back: Columns, over: str, seed: int) -> set[Any]:
    votes = Votes.from_arrays(**columns)
    return table(
        columns, [f.test for f in make_folds(votes, 2, over=over, random_state=seed)], votes, back
    )


def unchanged(columns: Columns) -> Columns:
    names = {k: k for k in range(1_000)}
    return {"annotator": names, "item": names, "swapped": False}


def renamed(columns: Columns, seed: int) -> tuple[Columns, Columns]:
    rng = np.random.default_rng(seed)
    who, what = rng.permutation(1_000), rng.permutation(1_000)
    other = {
        **columns,
        "annotator": who[columns["annotator"]],
        "left": what[columns["left"]],
        "right": what[columns["right"]],
    }
    back = {
        "annotator": {int(new): old for old, new in enumerate(who)},
        "item": {int(new): old for old, new in enumerate(what)},
        "swapped": False,
    }
    return other, back


def permuted(columns: Columns, seed: int) -> Columns:
    order = np.random.default_rng(seed).permutation(len(columns["left"]))
    return {name: None if one is None else one[order] for name, one in columns.items()}


def weights_split(columns: Columns) -> Columns:
    """Every weight as two rows of half of it."""
    weight = columns["weight"]
    if weight is None:
        weight = np.ones(len(columns["left"]))
    twice = {name: np.repeat(one, 2) for name, one in columns.items() if name != "weight"}
    return {**twice, "weight": np.repeat(weight / 2.0, 2)}


def are_counts(weight: np.ndarray | None) -> bool:
    """Else a weight says how much a vote counts, and two rows are two votes to hold out."""
    return weight is None or bool((weight % 1 == 0).all())


def swapped(columns: Columns) -> Columns:
    return {
        **columns,
        "left": columns["right"],
        "right": columns["left"],
        "choice": -columns["choice"],
    }


@st.composite
def small_crowds(draw: st.DrawFn) -> Columns:
    return vote_columns(
        draw(SEEDS),
        n_votes=draw(st.integers(3, 60)),
        n_annotators=draw(st.integers(2, 12)),
        n_items=draw(st.integers(2, 8)),
        ties=draw(st.sampled_from((0.0, 0.3))),
        weights=draw(st.booleans()),
        position_known=draw(st.sampled_from((0.0, 0.7, 1.0))),
    )


def has_enough(columns: Columns, over: str) -> bool:
    units = {"annotators": columns["annotator"], "items": columns["left"]}
    if over == "items":
        return len(np.unique(np.concatenate((columns["left"], columns["right"])))) > 2
    return over == "votes" or len(np.unique(units[over])) > 1


@settings(max_examples=80)
@given(small_crowds(), st.sampled_from(("votes", "items", "annotators")), st.integers(0, 99))
def test_the_same_votes_give_the_same_folds(columns, over, seed):
    if not has_enough(columns, over):
        return
    try:
        expected = folds_of(columns, unchanged(columns), over, seed)
    except Exception as error:  # the same complaint however the votes are written
        with pytest.raises(type(error)):
            folds_of(*renamed(columns, seed), over, seed)
        return
    assert folds_of(permuted(columns, seed), unchanged(columns), over, seed) == expected
    if over != "votes" or are_counts(columns["weight"]):
        assert folds_of(weights_split(columns), unchanged(columns), over, seed) == expected
    back = {**unchanged(columns), "swapped": True}
    other = folds_of(swapped(columns), back, over, seed)
    assert without_sides(other) == without_sides(expected)
    if told_apart(columns):
        assert folds_of(*renamed(columns, seed), over, seed) == expected


def without_sides(folds: set[Any]) -> set[Any]:
    """The same votes without their sides: swapping turns a vote into its own mirror image, so
    that of two such votes of one annotator nothing tells which is which."""
    told = []
    for fold in folds:
        held: dict[Any, float] = {}
        for (u, i, j, y, known), weight in fold:
            key = (u, i, j, y, known) if i < j else (u, j, i, -y + 0.0, known)
            held[key] = round(held.get(key, 0.0) + weight, 9)
        told.append(frozenset(held.items()))
    return set(told)


def told_apart(columns: Columns) -> bool:
    """Whether votes alone tell all annotators and items apart, without any numbering."""
    from prefpath.selection.refinement import Colours, _graph_of, _n_alike, _until_stable

    votes = Votes.from_arrays(**columns)
    start = Colours(np.full(votes.n_annotators, 1, np.uint64), np.full(votes.n_items, 2, np.uint64))
    return all(_n_alike(_until_stable(_graph_of(votes, side), start)) == 0 for side in (1, -1))


def sizes_by_kind(columns: Columns, seed: int) -> list[Any]:
    """For each fold, how often each kind of annotator is held out; folds in any order."""
    votes = Votes.from_arrays(**columns)
    kinds: dict[Any, list[int]] = {}
    for u in range(votes.n_annotators):
        rows = range(votes.offsets[u], votes.offsets[u + 1])
        kinds.setdefault(len(rows), []).append(u)
    found = []
    for fold in make_folds(votes, 2, random_state=seed):
        out = np.bincount(votes.annotator, fold.test, votes.n_annotators)
        found.append([sorted(out[who].tolist()) for _, who in sorted(kinds.items())])
    return sorted(found)


@pytest.mark.parametrize("seed", range(8))
def test_those_who_are_alike_are_numbered_and_not_told_apart_by_name(seed):
    """Twins, pairs of strangers who share an item of their own, and one-vote annotators."""
    who, left, right = [], [], []
    for k in range(10):  # ten twins with the same two votes
        who += [k, k]
        left += [0, 1]
        right += [1, 2]
    for k in range(6):  # six pairs, each around an item only they know
        who += [10 + 2 * k, 11 + 2 * k]
        left += [10 + k, 10 + k]
        right += [0, 0]
    columns = {
        "annotator": np.array(who), "left": np.array(left), "right": np.array(right),
        "choice": np.ones(len(who)), "weight": None, "position_known": np.ones(len(who), bool),
    }  # fmt: skip
    expected = sizes_by_kind(columns, seed)
    for other in range(5):
        assert sizes_by_kind(renamed(columns, other)[0], seed) == expected
    pairs = pairs_held_out_together(columns, seed)
    assert all(pairs_held_out_together(renamed(columns, k)[0], seed) == pairs for k in range(5))


def pairs_held_out_together(columns: Columns, seed: int) -> int:
    """How many items that two annotators alone have seen are held out with both votes at once."""
    votes = Votes.from_arrays(**columns)
    item_votes = np.bincount(votes.left, minlength=votes.n_items)
    own = np.flatnonzero(
        (item_votes == 2) & (np.bincount(votes.right, minlength=votes.n_items) == 0)
    )
    return sum(
        int(np.bincount(votes.left, fold.test, votes.n_items)[own].tolist().count(2.0))
        for fold in make_folds(votes, 2, random_state=seed)
    )


def test_colours_are_distinct_where_votes_differ():
    votes = simulate_crowd(3_000, 60, 8, seed=1).votes
    colours = refine_votes(votes).colours
    assert len(np.unique(colours.annotator)) == votes.n_annotators
    assert len(np.unique(colours.item)) == votes.n_items


def test_the_chosen_time_does_not_depend_on_names_order_or_weights():
    crowd = simulate_crowd(1_200, 25, 6, deviants=3, clickers=3, seed=5).votes
    columns = {
        "annotator": crowd.annotator, "left": crowd.left, "right": crowd.right,
        "choice": crowd.choice, "weight": crowd.weight, "position_known": crowd.position_known,
    }  # fmt: skip

    def chosen(written: Columns) -> tuple[float, float]:
        votes = Votes.from_arrays(**written)
        problem = Problem.build(votes, balance=True)
        _, found = follow_until_settled(problem, make_folds(votes, 3), make_grid(None, 20, "auto"))
        return found.t_cv, float(found.mean.min())

    t, error = chosen(columns)
    for other in (renamed(columns, 1)[0], permuted(columns, 2), weights_split(columns)):
        assert chosen(other) == pytest.approx((t, error), rel=2e-3)
    assert chosen(swapped(columns)) == pytest.approx((t, error), rel=2e-3)
