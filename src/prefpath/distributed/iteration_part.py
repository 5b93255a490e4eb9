"""SynPar-LBI over processes: what a shard does in an iteration of the paper's Algorithm 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from prefpath.distributed.pooled import Survey, survey
from prefpath.distributed.room_part import AskRoster, AskSurvey, Begin, Roster
from prefpath.distributed.settings import ALL_VOTES, Model, of_everybody, shard_problem
from prefpath.model.design import Codes, Floats, Ints
from prefpath.model.problem import Problem
from prefpath.model.scalar_losses import GRAM
from prefpath.path import Knot
from prefpath.solver.arguments import (
    CommonPart,
    Inputs,
    Personal,
    inputs_of,
    make_scratch,
    zero_personal,
)
from prefpath.solver.iteration import State, lbi_shard
from prefpath.solver.kernels import gradient_shard
from prefpath.solver.recorder import PathRecorder, Solved


class Pull(NamedTuple):
    """A shard's gradient in the items' scores and in the common position effect, and a number."""

    items: Floats
    position: float
    more: float


class BeginLanczos(NamedTuple):
    """Draw a vector; how long is it (squared)?"""


class Apply(NamedTuple):
    """Apply the design to the last image divided by its length; below 0, to the drawn vector."""

    common: CommonPart
    length: float


class Reduce(NamedTuple):
    """Make the image orthogonal to the last two vectors; how long is it (squared)?"""

    along: float
    before: float


class Restart(NamedTuple):
    """Begin at zero."""


class Step(NamedTuple):
    """One iteration."""

    common: CommonPart
    time: float
    step: float
    keep: bool


class Record(NamedTuple):
    """A knot, this share of the way from the iteration that was kept to the present one."""

    time: float
    common: Floats
    share: float


class Finish(NamedTuple):
    """That was the last knot."""

    solved: Solved


class Finished(NamedTuple):
    """The knots of a shard; where its annotators' coefficients and seen items are."""

    knots: tuple[Knot, ...]
    entered: Floats
    blocks: Ints
    seen: Ints
    seen_item: Codes


@dataclass(frozen=True)
class IterationRecipe:
    """Makes the part of a shard."""

    folder: str
    model: Model

    def __call__(self, shard: int) -> IterationPart:
        return IterationPart(self, shard)


class IterationPart:
    """The annotators of one shard in the iteration."""

    def __init__(self, recipe: IterationRecipe, shard: int) -> None:
        self._recipe, self._shard = recipe, shard
        self._problem: Problem = shard_problem(recipe.model, recipe.folder, shard, ALL_VOTES)
        self._who = np.arange(self._problem.votes.n_annotators, dtype=np.int64)

    def answer(self, call: Any) -> Any:
        """Answer a call; None asks nothing."""
        return None if call is None else _ANSWERS[type(call)](self, call)

    def survey(self, _: AskSurvey) -> Survey:
        return survey(self._problem)

    def begin(self, call: Begin) -> None:
        self._problem = of_everybody(self._problem, self._recipe.model, call.totals)
        self._inputs, self._scratch = inputs_of(self._problem), make_scratch(self._problem)
        self.restart(Restart())

    def restart(self, _: Restart) -> None:
        self._state = State.zero(self._problem)
        self._before = self._state.before()
        self._recorder = PathRecorder(self._problem)

    def roster(self, _: AskRoster) -> Roster:
        return Roster(self._problem.votes.annotators, self._inputs.terms.threshold)

    def step(self, call: Step) -> Pull:
        if call.keep:
            self._before = self._state.before()
        position = lbi_shard(
            self._who,
            self._inputs,
            call.common,
            self._state.dual,
            call.time,
            call.step,
            self._scratch,
        )
        first = float(self._state.dual.entered.min(initial=np.inf))
        return Pull(self._scratch.item_gradient.copy(), float(position), first)

    def record(self, call: Record) -> int:
        z = self._before.dual.z.towards(self._state.dual.z, call.share)
        self._recorder.record(call.time, call.common, z)
        return int(np.isfinite(self._state.dual.entered[:, 0]).sum())

    def finish(self, call: Finish) -> Finished:
        entered = self._state.dual.entered
        path = self._recorder.finish(call.solved._replace(entered=entered))
        seen = self._problem.design.seen
        return Finished(path.knots, entered, path.blocks, seen, path.seen_item)

    # ---------------------------------------------------------------- Lanczos

    def begin_lanczos(self, _: BeginLanczos) -> float:
        rng, zero = np.random.default_rng([0, self._shard]), zero_personal(self._problem)
        self._vector = Personal(*(rng.standard_normal(part.shape) for part in zero))
        if not self._problem.position_bias:
            self._vector.scalar[:] = 0.0
        self._older, self._image = zero, zero.copy()
        terms = self._inputs.terms._replace(loss=GRAM, total=1.0)
        self._gram = Inputs(self._problem.design, self._problem.target, terms)
        return _dot(self._vector, self._vector)

    def apply(self, call: Apply) -> Pull:
        if call.length > 0.0:
            self._older = self._vector
        next_one = self._image if call.length > 0.0 else self._vector
        self._vector = Personal(*(part / abs(call.length) for part in next_one))
        self._image = zero_personal(self._problem)
        position = gradient_shard(
            self._who, self._gram, call.common, self._vector, self._image, self._scratch
        )
        if not self._problem.position_bias:
            self._image.scalar[:] = 0.0
        along = _dot(self._vector, self._image)
        return Pull(self._scratch.item_gradient.copy(), float(position), along)

    def reduce(self, call: Reduce) -> float:
        for image, vector, older in zip(self._image, self._vector, self._older, strict=True):
            image -= call.along * vector
            image -= call.before * older
        return _dot(self._image, self._image)


_ANSWERS: dict[type, Any] = {
    AskSurvey: IterationPart.survey,
    Begin: IterationPart.begin,
    AskRoster: IterationPart.roster,
    BeginLanczos: IterationPart.begin_lanczos,
    Apply: IterationPart.apply,
    Reduce: IterationPart.reduce,
    Restart: IterationPart.restart,
    Step: IterationPart.step,
    Record: IterationPart.record,
    Finish: IterationPart.finish,
}


def _dot(a: Personal, b: Personal) -> float:
    return float(np.sum(a.block * b.block) + np.sum(a.scalar * b.scalar))
