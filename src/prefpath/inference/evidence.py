"""What the votes say of the common part once the annotators' own parts are given.

An annotator with nothing of their own at time t votes like everybody, so that their votes pool
with those of all others like them; an active annotator's votes keep an offset of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from prefpath.errors import SettingError
from prefpath.fitted import Fitted
from prefpath.inference.bounded import bounded_items
from prefpath.inference.slot_votes import SlotVotes, add_up_slots
from prefpath.inference.slots import Slots, add_weights, fill_slots, number_slots
from prefpath.inference.voices import one_voice_each, without_majority
from prefpath.model.design import Codes, Floats, Ints
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.votes.encode import BoolArray, CodeArray
from prefpath.votes.segments import sums_between

_MOST_LEFT_OUT = 0.5  # of the votes
MOST_COEFFICIENTS = 5_000  # of a dense covariance: 200 MB


@dataclass(frozen=True, eq=False)
class Evidence:
    """The votes around the common part at time t, the annotators' own parts given.

    Attributes
    ----------
    problem : Problem
        Votes that touch an item without a bounded score weigh nothing in it.
    coefficient : array (n_coefficients,)
        The full fit's common part at t; the common position effect, if any, is the last.
    own, own_bias : array
        Deviations (on the design's blocks) and position bias of all annotators at t.
    active : array of bool (n_annotators,)
        Who has something of their own at t.
    bounded : array of bool (n_items,)
    slots : Slots
        Pooled comparisons of those who have not, then every cell of those who have.
    slot_of_cell : array (n_cells,)
        `2 * slot + 1` where the cell's sides are swapped in its slot, else `2 * slot`.
    n_present : int
        Annotators who have votes.
    slot_votes : SlotVotes
        Added up here, or where the votes are.
    """

    problem: Problem
    path: Path
    t: float
    coefficient: Floats
    own: Floats
    own_bias: Floats
    active: BoolArray
    component: CodeArray
    bounded: BoolArray
    slots: Slots
    slot_of_cell: Codes
    n_present: int
    slot_votes: SlotVotes

    @property
    def n_coefficients(self) -> int:
        return len(self.coefficient)

    @property
    def penalty_rate(self) -> float:
        """`m / t`: what a unit of penalty weighs against the summed loss at time t."""
        return self.problem.total_weight / self.t

    @cached_property
    def n_deviating(self) -> int:
        """Annotators with a deviation."""
        return self.path.active_count(self.t)[0]

    @cached_property
    def leaning(self) -> BoolArray:
        """Who has a position bias and nothing else of their own."""
        deviates = sums_between(self.path.blocks, self.own != 0.0) > 0
        return self.active & ~deviates

    @cached_property
    def free(self) -> BoolArray:
        """Coefficients the votes bound (only with a score for each item: those of its items)."""
        free = np.ones(self.n_coefficients, dtype=bool)
        if self.problem.features is None:
            free[: len(self.bounded)] = self.bounded
        return free

    @cached_property
    def level(self) -> Floats:
        """Projection on free scores that are constant in each component: no vote sees them."""
        component = self.component[self.bounded]
        same = component[:, None] == component[None, :]
        level = np.zeros((int(self.free.sum()),) * 2)
        level[: len(component), : len(component)] = same / np.maximum(same.sum(axis=1), 1)
        return level

    def scores(self, coefficient: Floats) -> Floats:
        """Item scores of a common part."""
        return self.problem.scores(coefficient[: self.problem.n_common])

    def common_bias(self, coefficient: Floats) -> float:
        """Common position effect of a common part."""
        return float(coefficient[-1]) if self.problem.common_position else 0.0


def gather_evidence(fitted: Fitted, *, everybody: bool = False, tastes: bool = True) -> Evidence:
    """Pool the votes at the time of a fit.

    Without the votes of those whose attention differs (they say little of the size of the
    scores), unless `everybody` is asked for; without `tastes` those who deviate are pooled with
    the others.

    Raises
    ------
    SettingError
        If the common part has more than 5,000 coefficients: its covariance is dense.
    """
    check_size(fitted.problem)
    problem, attention = fitted.problem, fitted.path.attention(fitted.t)
    otherwise = sees_otherwise(problem.votes.annotator_weight, attention) & (not everybody)
    known = problem.loss.binary and not otherwise.any()
    bounded = fitted.bounded if known else _bounded(problem, fitted.component, ~otherwise)
    counts = share_that_counts(fitted, otherwise, tastes=tastes)
    return evidence_of(fitted, counts, bounded, tastes=tastes)


def share_that_counts(fitted: Fitted, otherwise: BoolArray, *, tastes: bool) -> Floats:
    """Share of each annotator's votes that counts: all, but of those left out none."""
    if tastes:
        return np.where(otherwise, 0.0, 1.0)
    deviates = np.zeros(len(otherwise), dtype=bool)
    deviates[fitted.path.active_deviations(fitted.t)[0]] = True
    return one_voice_each(fitted.votes.annotator_weight, otherwise, deviates)


def check_size(problem: Problem) -> None:
    """Refuse a common part whose covariance, a dense matrix, would be too large."""
    n_coefficients = problem.n_common + int(problem.common_position)
    if max(problem.votes.n_items, n_coefficients) > MOST_COEFFICIENTS:
        raise SettingError(
            f"intervals of {max(problem.votes.n_items, n_coefficients):,} scores",
            expected=f"at most {MOST_COEFFICIENTS:,}: their covariance is a dense matrix",
            remedy="pass interval=None",
        )


def evidence_of(
    fitted: Fitted, counts: Floats, bounded: BoolArray, *, tastes: bool = True
) -> Evidence:
    """The same where it is known whose votes count, and which items have a bounded score."""
    problem, path, t = fitted.problem, fitted.path, fitted.t
    usable = _without_unbounded(_counting(problem, counts), bounded)
    own, own_bias, active = own_parts(path, t)
    if not tastes:
        own, active = np.zeros_like(own), own_bias != 0.0
    active &= counts > 0.0
    slots, slot_of_cell = _pool(usable, own, own_bias, active)
    return Evidence(
        problem=usable,
        path=path,
        t=min(t, float(path.times[-1])),  # the path stays where it ends
        coefficient=common_part(fitted),
        own=own,
        own_bias=own_bias,
        active=active,
        component=fitted.component,
        bounded=bounded,
        slots=slots,
        slot_of_cell=slot_of_cell,
        n_present=int(np.count_nonzero(np.diff(problem.design.cells))),
        slot_votes=add_up_slots(usable, active, slot_of_cell, len(slots.left)),
    )


def common_part(fitted: Fitted) -> Floats:
    """The full fit's common part at its time; the common position effect, if any, is the last."""
    coefficient = fitted.path.common_at(fitted.t)
    if not fitted.problem.common_position:
        return coefficient
    return np.append(coefficient, fitted.common_position)


def sees_otherwise(weight: Floats, attention: Floats) -> BoolArray:
    """Who sees the scores more or less sharply: the clearest, as long as half of votes stay in.

    `weight` is what each annotator's votes weigh; whoever cast most of all is one voice.
    """
    order = np.argsort(-np.abs(attention), kind="stable")
    weight = without_majority(weight, attention != 0.0)[order]
    fits = np.cumsum(weight) <= _MOST_LEFT_OUT * weight.sum()
    otherwise = np.zeros(len(order), dtype=bool)
    otherwise[order] = np.logical_and.accumulate(fits) & (attention[order] != 0.0)
    return otherwise


def _bounded(problem: Problem, component: CodeArray, kept: BoolArray) -> BoolArray:
    # Features share what is known between items; the fit itself then says if it is bounded.
    if problem.features is not None:
        return np.ones(problem.votes.n_items, dtype=bool)
    votes = problem.votes if kept.all() else problem.votes.take(kept[problem.votes.annotator])
    return bounded_items(votes, component, problem.loss)


def _counting(problem: Problem, counts: Floats) -> Problem:
    """The problem with a share of each annotator's votes.

    Whoever sees the scores more or less sharply (attention) says little of their size: intervals
    are made from the others, which costs some width and no coverage.
    """
    if (counts == 1.0).all():
        return problem
    fewer = problem.with_weight(problem.weight * counts[problem.votes.annotator])
    return replace(fewer, total_weight=problem.total_weight)  # the penalty was paid by all


def _without_unbounded(problem: Problem, bounded: BoolArray) -> Problem:
    if bounded.all():
        return problem
    votes, starts = problem.votes, problem.cell_starts
    usable = bounded[votes.left[starts]] & bounded[votes.right[starts]]
    weight = np.where(usable, problem.target.weight, 0.0)
    weight.setflags(write=False)
    return replace(problem, target=problem.target._replace(weight=weight))


def own_parts(path: Path, t: float) -> tuple[Floats, Floats, BoolArray]:
    """Deviations on their blocks, position bias, and who has either."""
    own, bias = np.zeros(int(path.blocks[-1])), path.position_bias(t)
    active: BoolArray = bias != 0.0
    for u, value in zip(*path.active_deviations(t), strict=True):
        own[path.blocks[u] : path.blocks[u + 1]] = value
        active[u] = True
    return own, bias, active


def _pool(
    problem: Problem, own: Floats, own_bias: Floats, active: BoolArray
) -> tuple[Slots, Codes]:
    """One slot for each comparison the inactive share, then one for each cell of the active."""
    design, n_items = problem.design, problem.votes.n_items
    slot_of_cell = np.empty(int(design.cells[-1]), dtype=np.int32)
    if problem.loss.affine_in_choice:
        n_sides = 3 if problem.common_position else 1
        key_slot = np.full(n_sides * n_items * n_items, -1, dtype=np.int32)
    else:  # choices of one comparison do not average: every cell is a slot
        key_slot = np.zeros(0, dtype=np.int32)
    alone = active if problem.loss.affine_in_choice else np.ones_like(active)
    n_slots = number_slots(design, n_items, alone, problem.common_position, key_slot, slot_of_cell)
    slots = Slots(
        np.empty(n_slots, dtype=np.int32),
        np.empty(n_slots, dtype=np.int32),
        np.zeros(n_slots),
        np.zeros(n_slots),
    )
    fill_slots(design, alone, problem.common_position, slot_of_cell, own, own_bias, slots)
    return slots, slot_of_cell


def pooled_target(evidence: Evidence, times: Floats | None = None) -> tuple[Floats, Floats]:
    """Weight and pull of every slot, for each column of `times` (everybody once if None)."""
    problem = evidence.problem
    n_annotators = problem.votes.n_annotators
    how_often = np.ones((n_annotators, 1)) if times is None else times
    shape = (len(evidence.slots.left), how_often.shape[1])
    total, pull = np.zeros(shape), np.zeros(shape)
    add_weights(problem.design, evidence.slot_of_cell, problem.target, how_often, total, pull)
    return total, pull


def deviating_annotators(evidence: Evidence) -> Ints:
    """Codes of those who have a deviation."""
    return np.flatnonzero(evidence.active & ~evidence.leaning).astype(np.int64)
