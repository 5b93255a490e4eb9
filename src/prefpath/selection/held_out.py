"""Held-out votes, scored from the solver's own state as it passes the knots of a fold's path."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from prefpath.model.design import Codes, Design, Floats, Ints, Places
from prefpath.model.problem import Problem
from prefpath.selection.criteria import mismatches, vote_costs
from prefpath.solver.active import Active
from prefpath.solver.kernels import (
    Rule,
    Scratch,
    common_scores,
    make_scratch,
    own_scores,
    rule_of,
    shrink_block,
    soft_threshold,
)


class HeldOutVotes(NamedTuple):
    """The held-out rows of a fold: those of `who[k]` are `starts[k]:starts[k + 1]`."""

    who: Ints
    starts: Ints
    left: Codes
    right: Codes
    left_at: Places
    right_at: Places
    position: NDArray[np.int8]
    choice: Floats
    weight: Floats


def held_out_votes(problem: Problem, test_weight: Floats) -> HeldOutVotes:
    """The rows with a weight, laid out as the solver's kernels see their annotators."""
    votes, design = problem.votes, problem.design
    rows = np.flatnonzero(test_weight)
    cell = np.searchsorted(problem.cell_starts, rows, side="right") - 1
    counts = np.diff(np.searchsorted(rows, votes.offsets))
    who = np.flatnonzero(counts)
    return HeldOutVotes(
        who=who,
        starts=np.concatenate(([0], np.cumsum(counts[who]))).astype(np.int64),
        left=votes.left[rows],
        right=votes.right[rows],
        left_at=design.left_at[cell],
        right_at=design.right_at[cell],
        position=design.position[cell],
        choice=votes.choice[rows],
        weight=test_weight[rows],
    )


class KnotScorer:
    """Takes the place of a path's recorder: keeps what each knot costs, not the knot.

    `costs[k]` holds the cost of each annotator's held-out votes at knot k (by the criterion,
    weighted, annotators as in `held_out.who`), until `forget`; `errors` and `wrong` are the means
    over all held-out votes.
    """

    def __init__(self, problem: Problem, test_weight: Floats, criterion: str) -> None:
        self.held_out = held_out_votes(problem, test_weight)
        self.times: list[float] = []
        self.errors: list[float] = []
        self.wrong: list[float] = []
        self.costs: list[Floats] = []
        self._problem, self._criterion = problem, criterion
        self._total = float(self.held_out.weight.sum())
        self._margin = np.empty(len(self.held_out.left))
        self._place = np.full(problem.votes.n_annotators, -1, dtype=np.int64)
        self._n_placed = 0
        self._rule = rule_of(problem)
        self._theta = np.zeros(problem.votes.n_items)
        self._scratch = make_scratch(problem.design, 0)

    @property
    def last_time(self) -> float:
        return self.times[-1]

    def amend(self, u: int, z: tuple[Floats, float]) -> None:
        """Nobody interpolates between the knots of a fold."""

    def record(self, t: float, y: Floats, active: Active) -> None:
        """Score the held-out votes at the state y."""
        held_out, problem = self.held_out, self._problem
        margin = self._margins(y, active)
        wrong = held_out.weight * mismatches(margin, held_out.choice)
        cost = wrong
        if self._criterion != "mismatch":
            cost = held_out.weight * vote_costs(margin, held_out.choice, problem.loss)
        self.times.append(t)
        self.wrong.append(float(wrong.sum()) / self._total)
        self.errors.append(float(cost.sum()) / self._total)
        self.costs.append(np.add.reduceat(cost, held_out.starts[:-1]))

    def forget(self) -> None:
        """Let go of the costs by annotator, once they have been compared."""
        self.costs.clear()

    def _margins(self, y: Floats, active: Active) -> Floats:
        newcomers = active.who[self._n_placed :]
        self._place[newcomers] = np.arange(self._n_placed, len(active.who))
        self._n_placed = len(active.who)
        problem = self._problem
        common_scores(y, problem.design, self._theta)
        bias = float(y[problem.n_common]) if problem.common_position else 0.0
        held_out_margins(
            self.held_out, y, active, self._place, problem.design, self._rule,
            self._theta, bias, self._scratch, self._margin,
        )  # fmt: skip
        return self._margin


@njit(cache=True, nogil=True, error_model="numpy")
def held_out_margins(
    held_out: HeldOutVotes,
    y: Floats,
    active: Active,
    place: Ints,
    design: Design,
    rule: Rule,
    theta: Floats,
    common_bias: float,
    scratch: Scratch,
    margin: Floats,
) -> None:
    """Margins of held-out votes at the solver's state y; `place[u]` is u's among the active."""
    score = scratch.score
    for index in range(len(held_out.who)):
        u = held_out.who[index]
        start, stop, k = held_out.starts[index], held_out.starts[index + 1], place[u]
        if k < 0:
            for r in range(start, stop):
                margin[r] = theta[held_out.left[r]] - theta[held_out.right[r]]
                margin[r] += held_out.position[r] * common_bias
            continue
        at, end = active.at[k], active.at[k + 1] - 1
        deviates = shrink_block(
            y, at, end, rule.deviation_threshold[u], rule.kappa, rule.group, scratch.coefficient
        )
        bias = rule.kappa * soft_threshold(y[end], rule.position_threshold[u]) + common_bias
        own_scores(u, design, theta, deviates, scratch.coefficient, score)
        for r in range(start, stop):
            margin[r] = score[held_out.left_at[r]] - score[held_out.right_at[r]]
            margin[r] += held_out.position[r] * bias
