"""Pooling by pair against plain dictionaries, whichever way the keys are made distinct."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from prefpath import Votes, simulate_crowd
from prefpath.pairs import PairIndex, pool_pairs, pool_votes
from prefpath.pairs.keys import distinct_keys, number_keys


@pytest.fixture(params=["table", "sorted"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    table = request.param == "table"
    for module in ("keys", "counts"):
        monkeypatch.setattr(f"prefpath.pairs.{module}.by_table", lambda *_: table)
    return str(request.param)


def random_votes(n_items: int = 7, n_rows: int = 300) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(4)
    left = rng.integers(0, n_items, n_rows).astype(np.int32)
    right = (left + rng.integers(1, n_items, n_rows).astype(np.int32)) % n_items
    choice = rng.choice([1.0, -1.0, 0.0, 0.5], n_rows)
    return left, right, choice, rng.choice([0.0, 0.5, 1.0, 3.0], n_rows)


def pooled_by_hand(left, right, choice, weight) -> dict[tuple[int, int], tuple[float, float]]:
    sums: dict[tuple[int, int], tuple[float, float]] = {}
    for i, j, y, w in zip(left, right, choice, weight, strict=True):
        pair, toward = ((i, j), y) if i < j else ((j, i), -y)
        total, pull = sums.get(pair, (0.0, 0.0))
        sums[pair] = total + w, pull + w * toward
    return {pair: (total, pull / total) for pair, (total, pull) in sums.items() if total > 0}


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("weighted", [True, False])
def test_pooling_is_summing_by_pair(weighted: bool) -> None:
    left, right, choice, weight = random_votes()
    every = weight if weighted else np.ones(len(left))
    pooled = pool_pairs(left, right, choice, weight if weighted else None, n_items=7)
    expected = pooled_by_hand(left, right, choice, every)
    assert list(zip(pooled.first, pooled.second, strict=True)) == sorted(expected)
    for k, pair in enumerate(sorted(expected)):
        assert_allclose([pooled.weight[k], pooled.choice[k]], expected[pair], atol=1e-12)
    assert pooled.item_weight.sum() == pytest.approx(2 * every.sum())
    assert_allclose(pooled.wins + pooled.losses, pooled.weight)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("compiled_from", [0, 10**9])
@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_counting_is_pooling(
    compiled_from: int, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prefpath.pairs.tally._COMPILED_FROM", compiled_from)
    left, right, choice, _ = random_votes()
    sides = np.sign(choice).astype(dtype)
    counted = pool_pairs(left, right, sides, n_items=7)
    pooled = pool_pairs(left, right, sides, np.ones(len(left)), n_items=7)
    assert_array_equal(counted.first, pooled.first)
    assert_array_equal(counted.second, pooled.second)
    assert_array_equal(counted.weight, pooled.weight)
    assert_allclose(counted.choice, pooled.choice, atol=1e-15)


@pytest.mark.usefixtures("way")
def test_an_index_pools_like_pooling_afresh() -> None:
    left, right, choice, weight = random_votes()
    index = PairIndex.of(left, right, 7)
    for weights in (weight, weight * (np.arange(len(weight)) % 3 > 0)):
        afresh = pool_pairs(left, right, choice, weights, n_items=7)
        again = index.pool(choice, weights)
        assert_array_equal(again.first, afresh.first)
        assert_allclose(again.choice, afresh.choice, atol=1e-12)


def test_votes_pool_without_their_annotators() -> None:
    votes = simulate_crowd(500, 10, 5, seed=2).votes
    pooled = pool_votes(votes)
    alone = Votes.from_codes(
        np.zeros(votes.n_rows, np.int32),
        votes.left,
        votes.right,
        votes.choice,
        votes.weight,
        annotators=np.array(["all"]),
        items=votes.items,
    )
    assert_allclose(pool_votes(alone).choice, pooled.choice, atol=1e-12)
    assert pooled.weight.sum() == pytest.approx(votes.total_weight)


def test_one_sided_pairs_are_exactly_one_sided() -> None:
    """Ford's condition reads who never won off the mean choice: it must not round."""
    weight = np.random.default_rng(0).random(1_000)
    zeros, ones = np.zeros(1_000, dtype=np.int32), np.ones(1_000, dtype=np.int32)
    assert pool_pairs(zeros, ones, np.ones(1_000), weight, n_items=2).choice[0] == 1.0
    assert pool_pairs(ones, zeros, np.ones(1_000), weight, n_items=2).choice[0] == -1.0


@pytest.mark.usefixtures("way")
def test_distinct_keys_and_their_places() -> None:
    key = np.random.default_rng(1).integers(0, 50, 400)
    distinct, place = number_keys(key, 60)
    assert_array_equal(distinct, np.unique(key))
    assert_array_equal(distinct[place], key)
    assert_array_equal(distinct_keys(key, 60), distinct)
