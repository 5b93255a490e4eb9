"""A camp that was found holds the common score between the two: it is not called most people's."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from prefpath import PreferenceModel, Votes
from prefpath.inference import common_scores
from prefpath.inference.shared_taste import are_camps
from prefpath.inference.words import describe_intervals


def votes_of_camps(rng: np.random.Generator, tastes: np.ndarray, each: int = 60) -> Votes:
    """Votes of annotators with these tastes, a row each, about a common ranking."""
    n, n_items = tastes.shape
    own = np.linspace(-1.5, 1.5, n_items) + tastes
    who = np.repeat(np.arange(n), each)
    left = rng.integers(0, n_items, len(who))
    right = (left + rng.integers(1, n_items, len(who))) % n_items
    chance = 1.0 / (1.0 + np.exp(own[who, right] - own[who, left]))
    choice = np.where(rng.random(len(who)) < chance, 1.0, -1.0)
    return Votes.from_arrays(who, left, right, choice)


def found(rows: np.ndarray, *, seen: np.ndarray | None = None) -> bool:
    """Whether pulls on 6 items, or on those seen, are taken for camps'."""
    seen = np.ones(rows.shape, dtype=bool) if seen is None else seen
    rows = np.where(seen, rows - (rows * seen).sum(1, keepdims=True) / seen.sum(1)[:, None], 0.0)
    who, item = np.nonzero(seen)
    pulls = sparse.csr_array((rows[seen], (who, item)), shape=rows.shape)
    problem = SimpleNamespace(n_common=rows.shape[1], features=None)
    return are_camps(SimpleNamespace(free=np.ones(rows.shape[1], bool), problem=problem), pulls)


def test_tastes_of_their_own_are_hardly_ever_taken_for_camps():
    rng = np.random.default_rng(0)
    own = [found(rng.normal(size=(n, 6))) for n in (5, 20, 80) for _ in range(100)]
    assert np.mean(own) < 0.02
    halves = np.repeat(np.eye(2, dtype=bool), 3, axis=1)[np.arange(40) % 2]  # two sets of items
    assert not any(found(rng.normal(size=(40, 6)), seen=halves) for _ in range(50))


def test_camps_are_found_be_they_one_or_several_or_opposed():
    rng = np.random.default_rng(1)
    one, other = rng.normal(size=(2, 6))
    noise = 0.4 * rng.normal(size=(30, 6))
    assert found(one + noise[:6])
    assert found(np.where(np.arange(30)[:, None] % 2, one, other) + noise)
    assert found(np.where(np.arange(30)[:, None] % 3, one, -one) + noise)
    assert not found(np.tile(one, (4, 1)))  # too few to move a crowd far
    assert not found(np.zeros((20, 6)))
    assert not found(np.tile([[1.0, -1.0]], (20, 1)))  # two items have but one direction


@pytest.mark.parametrize("seed", [1, 4])
def test_the_ranking_beside_a_camp_is_not_called_that_of_most(seed):
    """The camp was found, so that nothing unseen was left; intervals held neither ranking."""
    rng = np.random.default_rng(seed)
    camp = 2.0 * rng.permutation(np.linspace(-1.0, 1.0, 8))
    tastes = np.where(np.arange(60)[:, None] < 18, camp, np.zeros(8))
    model = PreferenceModel(cv=3, n_threads=1).fit(votes_of_camps(rng, tastes, each=120))
    assert model.fitted_.active_count[0] >= 15
    assert common_scores(model).unseen_tastes
    assert "mean preference" in describe_intervals(model.fitted_)


def test_as_many_with_tastes_of_their_own_leave_it_that_of_most():
    rng = np.random.default_rng(2)
    tastes = np.where(np.arange(60)[:, None] < 18, 1.5 * rng.normal(size=(60, 8)), 0.0)
    model = PreferenceModel(cv=3, n_threads=1).fit(votes_of_camps(rng, tastes, each=120))
    assert model.fitted_.active_count[0] >= 15
    assert "ranking most annotators follow" in describe_intervals(model.fitted_)
