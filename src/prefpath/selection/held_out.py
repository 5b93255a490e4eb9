"""Held-out votes, scored from the solver's own state as it passes the knots of a fold's path."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.checkpoint.files import Arrays
from prefpath.compiling import by_reference, kernel
from prefpath.model.design import Codes, Floats, Ints, Places
from prefpath.model.problem import Problem
from prefpath.selection.criteria import mismatches, vote_costs
from prefpath.selection.stopping import HasWho
from prefpath.solver.active import Active, value_active
from prefpath.solver.arguments import CommonPart, Inputs, Scratch, inputs_of, make_scratch
from prefpath.solver.kernels import common_scores, unit_scores
from prefpath.solver.small import Cells, held_scores, is_small


@by_reference
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


class FoldScores:
    """What the knots of a fold cost, as its solver passes them: in place of a path's recorder.

    `costs[k]` holds the cost of each annotator's held-out votes at knot k (by the criterion,
    weighted, annotators as in `held_out.who`), until `forget`; `errors` and `wrong` are the means
    over all held-out votes.
    """

    interpolates: ClassVar[bool] = False

    def __init__(self, held_out: HasWho) -> None:
        self.held_out = held_out
        self.times: list[float] = []
        self.errors: list[float] = []
        self.wrong: list[float] = []
        self.costs: list[Floats] = []

    @property
    def last_time(self) -> float:
        """Of the last knot; 0 before the first."""
        return self.times[-1] if self.times else 0.0

    def note(self, t: float, error: float, wrong: float, costs: Floats) -> None:
        """Add a knot."""
        self.times.append(t)
        self.errors.append(error)
        self.wrong.append(wrong)
        self.costs.append(costs)

    def state(self) -> Arrays:
        """What has been scored so far, as plain arrays."""
        costs = np.array(self.costs).reshape(len(self.costs), len(self.held_out.who))
        scored = {"times": self.times, "errors": self.errors, "wrong": self.wrong}
        return {"costs": costs, **{name: np.array(part) for name, part in scored.items()}}

    def restore(self, state: Arrays) -> None:
        """Go on after the knots of a state."""
        self.times, self.errors = state["times"].tolist(), state["errors"].tolist()
        self.wrong, self.costs = state["wrong"].tolist(), list(state["costs"])

    def amend(self, u: int, unit: Floats) -> None:
        """Nobody interpolates between the knots of a fold."""

    def forget(self) -> None:
        """Let go of the costs by annotator, once they have been compared."""
        self.costs.clear()


class KnotScorer(FoldScores):
    """A fold on this machine."""

    def __init__(self, problem: Problem, test_weight: Floats, criterion: str) -> None:
        self._held_out = held_out_votes(problem, test_weight)
        super().__init__(self._held_out)
        self._problem, self._criterion = problem, criterion
        self._total = float(self._held_out.weight.sum())
        self._margin = np.empty(len(self._held_out.left))
        self._place = np.full(problem.votes.n_annotators, -1, dtype=np.int64)
        self._n_placed = 0
        self._inputs, self._small = inputs_of(problem), is_small(problem)
        self._theta = np.zeros(problem.votes.n_items)
        self._scratch = make_scratch(problem, with_items=False)

    def record(self, t: float, y: Floats, active: Active) -> None:
        """Score the held-out votes at the state y."""
        held_out, problem = self._held_out, self._problem
        margin = self._margins(y, active)
        wrong = held_out.weight * mismatches(margin, held_out.choice)
        cost = wrong
        if self._criterion != "mismatch":
            cost = held_out.weight * vote_costs(margin, held_out.choice, problem.loss)
        error, share_wrong = float(cost.sum()) / self._total, float(wrong.sum()) / self._total
        self.note(t, error, share_wrong, np.add.reduceat(cost, held_out.starts[:-1]))

    def _margins(self, y: Floats, active: Active) -> Floats:
        newcomers = active.who[self._n_placed :]
        self._place[newcomers] = np.arange(self._n_placed, len(active.who))
        self._n_placed = len(active.who)
        problem = self._problem
        if self._small:
            held_out, who = self._held_out, active.who
            return small_margins(held_out, problem, self._inputs, y, who, self._place)
        common_scores(y, problem.design, self._theta)
        position = float(y[problem.n_common]) if problem.common_position else 0.0
        common, state = CommonPart(self._theta, position), KnotState(y, active, self._place)
        held_out_margins(self._held_out, state, self._inputs, common, self._scratch, self._margin)
        return self._margin


def small_margins(
    held_out: HeldOutVotes, problem: Problem, inputs: Inputs, y: Floats, who: Ints, place: Ints
) -> Floats:
    """Margins of held-out votes of a small problem; `place[u]` is u's among `who`, or -1."""
    held = held_scores(problem, inputs, who)
    k = np.repeat(place[held_out.who], np.diff(held_out.starts))
    is_active, begin = k >= 0, held.at[k]
    cells = Cells(
        left=np.where(is_active, begin + held_out.left_at, held_out.left),
        right=np.where(is_active, begin + held_out.right_at, held_out.right),
        bias=np.where(is_active, held.at[k + 1] - held.n_scalars, held.n_items),
        side=held_out.position.astype(np.float64),
        choice=held_out.choice,
        weight=held_out.weight,
    )
    return cells.margins(held.scores(y))


@by_reference
class KnotState(NamedTuple):
    """The solver's state y; `place[u]` is annotator u's among the active, or -1."""

    y: Floats
    active: Active
    place: Ints


@kernel(allocates=False)
def held_out_margins(
    held_out: HeldOutVotes,
    state: KnotState,
    inputs: Inputs,
    common: CommonPart,
    scratch: Scratch,
    margin: Floats,
) -> None:
    """Margins of held-out votes at the solver's state."""
    score, theta = scratch.score, common.theta
    for index in range(len(held_out.who)):
        u = held_out.who[index]
        start, stop, k = held_out.starts[index], held_out.starts[index + 1], state.place[u]
        if k < 0:
            for r in range(start, stop):
                margin[r] = theta[held_out.left[r]] - theta[held_out.right[r]]
                margin[r] += held_out.position[r] * common.position
            continue
        deviates = value_active(k, state.active, state.y, inputs.terms, scratch)
        unit_scores(u, inputs, theta, deviates, scratch)
        position = scratch.scalar[0] + common.position
        for r in range(start, stop):
            margin[r] = score[held_out.left_at[r]] - score[held_out.right_at[r]]
            margin[r] += held_out.position[r] * position
