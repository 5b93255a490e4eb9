"""The problem and its design: seen items, merged cells, folds by weight, checks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefpath import ItemFeatures, SettingError, VoteError, Votes
from prefpath.model.features import as_item_features
from prefpath.model.problem import Problem
from strategies import crowds, random_features, random_votes


@given(crowds(), st.booleans())
def test_every_cell_is_a_comparison_of_the_annotators_own_items(votes, merge):
    problem = Problem.build(votes, loss="linear" if merge else "huber")
    design, target = problem.design, problem.target
    rows = list(zip(votes.annotator, votes.left, votes.right, votes.position_known, strict=True))
    rebuilt = []
    for u in range(votes.n_annotators):
        own = design.seen_item[design.seen[u] : design.seen[u + 1]]
        touched = {int(i) for a, left, right, _ in rows if a == u for i in (left, right)}
        assert own.tolist() == sorted(touched)
        for c in range(design.cells[u], design.cells[u + 1]):
            pair = own[design.left_at[c]], own[design.right_at[c]]
            rebuilt.append((u, *pair, bool(design.position[c])))
    assert rebuilt == [rows[start] for start in problem.cell_starts]
    if len(rebuilt) < votes.n_rows:  # rows in a run that differ in the choice alone are one cell
        assert merge and all(a != b for a, b in pairwise(rebuilt))
    elif merge:  # or merging them would not have saved a tenth
        assert 1 + sum(a != b for a, b in pairwise(rebuilt)) > 0.9 * votes.n_rows
    assert target.weight.sum() == pytest.approx(votes.total_weight)
    pull = float(votes.weight @ votes.choice)
    assert float(target.weight @ target.choice) == pytest.approx(pull, abs=1e-9)


def test_cells_merge_choices_but_not_sides():
    votes = Votes.from_arrays(
        ["u"] * 4, ["a", "a", "a", "b"], ["b", "b", "b", "a"], [1, 1, -1, 1], [1.0, 1.0, 3.0, 5.0]
    )
    problem = Problem.build(votes)
    assert problem.target.weight.tolist() == [5.0, 5.0]
    assert problem.target.choice.tolist() == pytest.approx([-0.2, 1.0])
    assert Problem.build(votes, loss="huber").target.weight.tolist() == votes.weight.tolist()


@given(crowds(), st.integers(0, 2**31))
def test_other_weights_make_the_problem_of_the_reweighted_votes(votes, seed):
    weight = votes.weight * np.random.default_rng(seed).integers(0, 3, votes.n_rows)
    if not weight.any():
        weight = votes.weight.copy()
    whole = Problem.build(votes)
    fold = whole.with_weight(weight)
    assert fold.total_weight == pytest.approx(weight.sum())
    assert fold.design is whole.design
    pulled = np.add.reduceat(weight * votes.choice, whole.cell_starts)
    np.testing.assert_allclose(fold.target.weight * fold.target.choice, pulled, atol=1e-12)
    assert np.isfinite(fold.target.choice).all()
    np.testing.assert_array_equal(whole.weight, votes.weight)  # the whole is as it was


def test_blocks_are_items_seen_or_features():
    votes = random_votes(0)
    identity = Problem.build(votes)
    np.testing.assert_array_equal(identity.design.blocks, identity.design.seen)
    phi = random_features(0, votes.n_items, 3)
    problem = Problem.build(votes, features=phi)
    assert np.diff(problem.design.blocks).tolist() == [3] * votes.n_annotators
    eta = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(problem.scores(eta), phi @ eta)
    np.testing.assert_allclose(problem.pull_back(phi @ eta), phi.T @ (phi @ eta))


def test_positions_count_where_known_and_asked_for():
    votes = random_votes(3, position_known=0.5)
    asked = Problem.build(votes)
    known = votes.position_known[asked.cell_starts]
    np.testing.assert_array_equal(asked.design.position, known.astype(int))
    off = Problem.build(votes, position_bias=False)
    assert not off.design.position.any()
    assert np.isinf(off.position_threshold).all()
    shared = Problem.build(votes, position_bias=False, common_position=True)
    np.testing.assert_array_equal(shared.design.position, known.astype(int))
    assert np.isinf(shared.position_threshold).all()


def test_balanced_thresholds_grow_with_the_root_of_the_votes():
    votes = Votes.from_arrays(["a"] * 9 + ["b"], ["x"] * 10, ["y"] * 10, [1, -1] * 5)
    problem = Problem.build(votes, balance=True)
    np.testing.assert_allclose(problem.deviation_threshold, np.sqrt([9 / 5, 1 / 5]))
    np.testing.assert_allclose(Problem.build(votes).deviation_threshold, 1.0)


def test_what_cannot_be_fitted_is_said():
    votes = random_votes(0)
    for kappa in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(SettingError, match="kappa"):
            Problem.build(votes, kappa=kappa)
    with pytest.raises(VoteError, match="no votes"):
        Problem.build(votes.take(np.zeros(votes.n_rows, dtype=bool)))
    with pytest.raises(VoteError, match="only one item"):
        Problem.build(replace(votes, items=votes.items[:1]))
    with pytest.raises(VoteError, match="features have shape"):
        Problem.build(votes, features=np.ones((votes.n_items + 1, 2)))
    bad = np.ones((votes.n_items, 2))
    bad[2, 1] = np.nan
    with pytest.raises(VoteError, match="row 3"):
        Problem.build(votes, features=bad)


def test_votes_that_weigh_nothing_cannot_be_fitted():
    votes = Votes.from_arrays(["u", "u"], ["a", "b"], ["b", "c"], [1, 1], [0.0, 1.0])
    with pytest.raises(VoteError, match="weight 0"):
        Problem.build(votes.take(votes.weight == 0))


def test_item_features_are_known_by_label():
    table = ItemFeatures(np.array(["b", "a", "c"]), ("x",), np.array([[2.0], [1.0], [3.0]]))
    np.testing.assert_array_equal(table.of(np.array(["a", "b"])), [[1.0], [2.0]])
    with pytest.raises(VoteError, match="1 of 2 items have no features: 'z'"):
        table.of(np.array(["a", "z"]))
    assert as_item_features(table, np.array(["a"])) is table
    assert as_item_features(None, np.array(["a"])) is None
    plain = as_item_features(np.array([[1.0, 2.0]]), np.array(["a"]))
    assert plain is not None
    assert plain.names == ("feature 1", "feature 2")
