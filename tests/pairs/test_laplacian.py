"""Systems in the Laplacian of compared pairs."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from prefpath.pairs.laplacian import PairGraph


def sparse_graph(n_items: int, seed: int = 0) -> PairGraph:
    """A ring, so that all are connected, and a few chords."""
    rng = np.random.default_rng(seed)
    ring = np.column_stack([np.arange(n_items), np.roll(np.arange(n_items), -1)])
    pairs = np.vstack([ring, rng.integers(n_items, size=(4 * n_items, 2))])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return PairGraph(n_items, pairs[:, 0], pairs[:, 1], np.zeros(n_items, dtype=np.int64))


def test_what_rounding_leaves_of_a_constant_does_not_keep_a_solution_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Near a minimum the right side is tiny, and does not sum to zero: then a factor was made."""
    monkeypatch.setattr(PairGraph, "_factorise", lambda *_: pytest.fail("not by iterations"))
    graph = sparse_graph(600)
    rng = np.random.default_rng(1)
    weight, scores = rng.random(len(graph.first)) + 0.01, rng.normal(size=600)
    scores -= scores.mean()
    right = 1e-12 * (graph.matrix(weight) @ scores)
    found = graph.solve(weight, right + 1e-15)
    assert_allclose(found, 1e-12 * scores, atol=1e-17)
