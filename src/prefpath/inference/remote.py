"""Intervals of a fit whose votes stayed on a cluster: sums over annotators come from the shards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse

from prefpath.distributed.numbering import Numbering
from prefpath.distributed.questions import Shards
from prefpath.fitted import Fitted
from prefpath.fitted.remote import pooled_votes_of, shards_of
from prefpath.inference.bounded import bounded_items
from prefpath.inference.evidence import (
    Evidence,
    check_size,
    common_part,
    evidence_of,
    own_parts,
    sees_otherwise,
    share_that_counts,
)
from prefpath.inference.sandwich import AnnotatorsHere, Spread
from prefpath.inference.slot_votes import SlotVotes
from prefpath.inference.slots import Slots
from prefpath.inference.unseen import Told, UnseenVariance, followers_to_ask, variance_of
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import BoolArray


class ShardEvidence:
    """The evidence of a shard's annotators, on a worker."""

    def __init__(self, fitted: Fitted) -> None:
        self._fitted = fitted

    def gather(self, counts: Floats, bounded: BoolArray, tastes: bool) -> Any:
        """Pool the votes; how many comparisons each annotator has, and the slots."""
        evidence = evidence_of(self._fitted, counts, bounded, tastes=tastes)
        self._evidence, self._here = evidence, AnnotatorsHere(evidence)
        cells = np.diff(evidence.problem.design.cells)
        return cells, evidence.slots, evidence.slot_votes

    def settle(self, coefficient: Floats) -> None:
        self._held = self._here.settle(coefficient)

    def held(self) -> tuple[Floats]:
        return (self._held,)

    def spread(self, bread: Floats) -> Spread:
        return self._here.spread(bread)

    def told_by(self, bread: Floats, who: Ints) -> Told:
        return self._here.told_by(bread, who)

    def pulls(self, who: Ints) -> sparse.csr_array:
        return self._here.pulls(who)


class AnnotatorsElsewhere:
    """Annotators whose votes are in the shards; nothing is kept of single ones."""

    def __init__(
        self, shards: Shards, numbering: Numbering, evidence: Evidence, n_cells: Ints
    ) -> None:
        self._shards, self._numbering, self._n_cells = shards, numbering, n_cells
        self._active, self._size = evidence.active, evidence.n_coefficients
        self.gradient = sparse.csr_array((0, self._size))
        self.sizes: Floats = np.zeros(0)

    def settle(self, coefficient: Floats) -> Floats:
        self._shards.tell_all("settle", coefficient)
        held: Floats = self._shards.total("held", n_numbers=self._size**2)[0]
        return held

    def spread(self, bread: Floats) -> Spread:
        return Spread(*self._shards.total("spread", bread, n_numbers=self._size**2))

    def unseen(self, bread: Floats) -> UnseenVariance:
        who = followers_to_ask(self._n_cells, self._active)
        own, at = zip(
            *(self._numbering.within(s, who) for s in range(len(self._shards))), strict=True
        )
        told = self._shards.ask_each("told_by", [(bread, numbers) for numbers in own])
        asked = np.argsort(np.concatenate(at), kind="stable")
        parts = (np.concatenate(part)[asked] for part in zip(*told, strict=True))
        return variance_of(Told(*parts))

    def pulls(self, who: Ints) -> sparse.csr_array:
        own, _ = zip(
            *(self._numbering.within(s, who) for s in range(len(self._shards))), strict=True
        )
        told = self._shards.ask_each("pulls", [(numbers,) for numbers in own])
        return sparse.csr_array(sparse.vstack(told))


@contextmanager
def evidence_elsewhere(
    fitted: Fitted, *, tastes: bool = True
) -> Iterator[tuple[Evidence, AnnotatorsElsewhere]]:
    """`gather_evidence` in the shards, and the annotators for as long as they are asked."""
    check_size(fitted.problem)
    where = fitted.remote
    assert where is not None
    otherwise = sees_otherwise(fitted.votes.annotator_weight, fitted.path.attention(fitted.t))
    bounded = _bounded(fitted, otherwise)
    own, own_bias, active = own_parts(fitted.path, fitted.t)
    active = (active if tastes else own_bias != 0.0) & ~otherwise
    with shards_of(fitted, ShardEvidence) as shards:
        counts = share_that_counts(fitted, otherwise, tastes=tastes)
        told = [(share, bounded, tastes) for share in where.numbering.split(counts)]
        found = shards.tell("gather", told)
        n_cells = where.numbering.join([one[0] for one in found])
        slots, slot_votes = unite_slots([one[1:] for one in found], fitted.votes.n_items)
        evidence = Evidence(
            problem=fitted.problem,
            path=fitted.path,
            t=min(fitted.t, float(fitted.path.times[-1])),
            coefficient=common_part(fitted),
            own=own,
            own_bias=own_bias,
            active=active,
            component=fitted.component,
            bounded=bounded,
            slots=slots,
            slot_of_cell=np.zeros(0, dtype=np.int32),
            n_present=int(np.count_nonzero(n_cells)),
            slot_votes=slot_votes,
        )
        yield evidence, AnnotatorsElsewhere(shards, where.numbering, evidence, n_cells)


def _bounded(fitted: Fitted, otherwise: BoolArray) -> BoolArray:
    """Items whose score the votes bound, those of who is left out not counted."""
    if fitted.features is not None:
        return np.ones(fitted.votes.n_items, dtype=bool)
    votes = pooled_votes_of(fitted, ~otherwise) if otherwise.any() else fitted.votes
    return bounded_items(votes, fitted.component, fitted.loss)


def unite_slots(parts: Sequence[tuple[Slots, SlotVotes]], n_items: int) -> tuple[Slots, SlotVotes]:
    """Slots of all shards: shared comparisons once, added up; then every cell of the active."""
    left, right, position, offset = _concatenated([slots for slots, _ in parts])
    weight, pull, active = _concatenated([votes for _, votes in parts])
    key = ((position + 1.0).astype(np.int64) * n_items + left) * n_items + right
    shared, own = np.flatnonzero(~active), np.flatnonzero(active)
    _, first, place = np.unique(key[shared], return_index=True, return_inverse=True)
    rows = np.concatenate((shared[first], own))
    total, pulled = (
        np.concatenate((np.bincount(place, each[shared], len(first)), each[own])).astype(float)
        for each in (weight, pull)
    )
    slots = Slots(left[rows], right[rows], position[rows], offset[rows])
    return slots, SlotVotes(total, pulled, active[rows])


def _concatenated(parts: Sequence[tuple[Any, ...]]) -> list[Any]:
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]
