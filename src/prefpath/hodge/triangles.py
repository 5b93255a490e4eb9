"""Cycles of three, a batch at a time.

A complete graph on 1,000 items has 166 million triangles: they are listed in batches of
bounded size whenever they are needed, never all at once. Items are ordered by degree and
pairs point from the lower to the higher, so that no item has more than `sqrt(2 n_pairs)`
pairs pointing away from it, and listing all triangles takes `O(n_pairs^1.5)` steps, hubs
or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from prefpath.compiling import kernel
from prefpath.hodge.flow import PairFlow
from prefpath.votes.encode import CodeArray, FloatArray, IntArray

BATCH = 1_000_000  # triangles listed at a time


@dataclass(frozen=True, eq=False)
class Triangles:
    """The triangles of a graph, in terms of its edges.

    Edge `e` leads from the item of rank `tails[e]` to the higher rank `heads[e]`; edges are
    sorted by both. It is pair `pair[e]` of the flow, turned round where `sign[e]` is -1.

    Attributes
    ----------
    item : array of n_items
        Code of the item of each rank.
    begun : array of n_edges
        Triangles whose two lowest corners are the ends of the edge.
    """

    tails: IntArray
    heads: IntArray
    starts: IntArray
    pair: IntArray
    sign: FloatArray
    item: IntArray
    begun: IntArray

    @classmethod
    def of(cls, flow: PairFlow) -> Triangles:
        degree = np.bincount(np.concatenate([flow.first, flow.second]), minlength=flow.n_items)
        item = np.argsort(degree, kind="stable")
        rank = np.empty(flow.n_items, np.int64)
        rank[item] = np.arange(flow.n_items)
        first, second = rank[flow.first], rank[flow.second]
        tails, heads = np.minimum(first, second), np.maximum(first, second)
        pair = np.lexsort((heads, tails))
        tails, heads = tails[pair], heads[pair]
        sign = np.where(first < second, 1.0, -1.0)[pair]
        starts = np.searchsorted(tails, np.arange(flow.n_items + 1)).astype(np.int64)
        begun = np.zeros(len(pair), np.int64)
        _count(tails, heads, starts, begun)
        return cls(tails, heads, starts, pair, sign, item, begun)

    @property
    def n_triangles(self) -> int:
        return int(self.begun.sum())

    def batches(self) -> Iterator[CodeArray]:
        """Edges `ab, bc, ac` of every triangle `a < b < c`, about `BATCH` rows at a time."""
        ends = np.cumsum(self.begun)
        first, n_edges = 0, len(self.begun)
        while first < n_edges:
            before = int(ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + BATCH, side="right")))
            batch = np.empty((int(ends[last - 1]) - before, 3), np.int32)
            _list(self.tails, self.heads, self.starts, first, last, batch)
            yield batch
            first = last

    def to_edges(self, value: FloatArray) -> FloatArray:
        """A flow on pairs as a flow on edges."""
        turned: FloatArray = self.sign * value[self.pair]
        return turned

    def to_pairs(self, value: FloatArray) -> FloatArray:
        """A flow on edges as a flow on pairs."""
        turned = np.empty_like(value)
        turned[self.pair] = self.sign * value
        return turned

    def corners(self, triangles: CodeArray) -> IntArray:
        """Item codes of the corners `a, b, c` of triangles."""
        ab, bc = triangles[:, 0], triangles[:, 1]
        ranks = np.column_stack([self.tails[ab], self.heads[ab], self.heads[bc]])
        codes: IntArray = self.item[ranks]
        return codes


def greatest_energies(
    triangles: Triangles, value: FloatArray, variance: FloatArray, n: int
) -> CodeArray:
    """The `n` triangles of greatest energy, greatest first."""
    worst = np.empty((0, 3), np.int32)
    enough = -1.0  # the energy a triangle must exceed to be among the worst
    for batch in triangles.batches():
        above = batch[energies_of(batch, value, variance) > enough]
        candidates = np.concatenate([worst, above])
        energies = energies_of(candidates, value, variance)
        order = np.argsort(-energies, kind="stable")[:n]
        worst = candidates[order]
        if len(order) == n:
            enough = float(energies[order[-1]])
    return worst


def curls_of(triangles: CodeArray, value: FloatArray) -> FloatArray:
    """Sum of a flow on edges round each triangle, `a` to `b` to `c` to `a`."""
    ab, bc, ac = triangles.T
    curls: FloatArray = value[ab] + value[bc] - value[ac]
    return curls


@kernel()
def energies_of(triangles: CodeArray, value: FloatArray, variance: FloatArray) -> FloatArray:
    """Energy that the best flow round each triangle alone explains.

    It is the squared curl over its variance: three pairs of one vote each do not outweigh
    three of hundreds.
    """
    energies = np.empty(len(triangles))
    for row in range(len(triangles)):
        ab, bc, ac = triangles[row]
        curl = value[ab] + value[bc] - value[ac]
        energies[row] = curl * curl / (variance[ab] + variance[bc] + variance[ac])
    return energies


@kernel()
def _count(tails: IntArray, heads: IntArray, starts: IntArray, begun: IntArray) -> None:
    for ab in range(len(heads)):
        ac, end_ac = ab + 1, starts[tails[ab] + 1]
        bc, end_bc = starts[heads[ab]], starts[heads[ab] + 1]
        while ac < end_ac and bc < end_bc:
            if heads[ac] < heads[bc]:
                ac += 1
            elif heads[ac] > heads[bc]:
                bc += 1
            else:
                begun[ab] += 1
                ac += 1
                bc += 1


@kernel()
def _list(
    tails: IntArray, heads: IntArray, starts: IntArray, first: int, last: int, out: CodeArray
) -> None:
    """Write the triangles begun by the edges from `first` up to `last`."""
    row = 0
    for ab in range(first, last):
        ac, end_ac = ab + 1, starts[tails[ab] + 1]
        bc, end_bc = starts[heads[ab]], starts[heads[ab] + 1]
        while ac < end_ac and bc < end_bc:
            if heads[ac] < heads[bc]:
                ac += 1
            elif heads[ac] > heads[bc]:
                bc += 1
            else:
                out[row, 0] = ab
                out[row, 1] = bc
                out[row, 2] = ac
                row += 1
                ac += 1
                bc += 1
