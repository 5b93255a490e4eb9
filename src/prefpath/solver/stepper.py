"""Advances the state of LBI by whole iterations: compiled in one call, or over threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.model.penalties import block_norms, soft_thresholds
from prefpath.model.problem import Problem
from prefpath.solver.arguments import ATTENTION, CommonPart, Personal, inputs_of, make_scratch
from prefpath.solver.executors import Serial, Threads, stop_if_cancelled
from prefpath.solver.grid import give_up_after, say_nobody_enters
from prefpath.solver.iteration import Clock, State, iterate_serial, lbi_shard, move_common
from prefpath.solver.kernels import common_scores
from prefpath.solver.minimiser import CommonMinimiser
from prefpath.solver.spectral import stability_norm_squared
from prefpath.solver.work import Common

# While nobody has popped up we look after so many iterations: few enough not to run far past
# the first entry, many enough for the call to cost nothing.
_ITERATIONS_A_CALL = 64
# A compiled call reads so many cells at most, some tenths of a second: Ctrl-C waits for its end.
_CELLS_A_CALL = 20_000_000


class StepTooLong(Exception):
    """The iteration is no longer stable; `limit` is the longest step that would be."""

    def __init__(self, limit: float) -> None:
        super().__init__(limit)
        self.limit = limit


class Stepper:
    """Advances a state by whole iterations, serially in one compiled call or over threads."""

    def __init__(
        self,
        problem: Problem,
        executor: Serial | Threads,
        shards: list[Ints],
        step: float,
        common: Common,
    ) -> None:
        self.problem, self.executor, self.shards, self.step = problem, executor, shards, step
        self.inputs = inputs_of(problem)
        self.scratch = [make_scratch(problem) for _ in shards]
        self.theta = np.zeros(problem.votes.n_items)
        self.n_evaluations = 0
        self.start = 0.0
        self.base_norm_squared = 0.0  # of the design without attention
        self.minimiser = CommonMinimiser(problem) if common == "minimise" else None

    def first_state(self) -> State:
        """The state at `self.start`: zero, or, with the common part minimised, the first entry.

        Until somebody enters, a minimised common part stands still and z grows linearly: that
        stretch is skipped exactly.
        """
        state = State.zero(self.problem)
        if self.minimiser is not None:
            self._minimise(state)
            self._iterate_once(state, 1.0)  # z is now minus the gradient
            self._skip_to_first_entry(state)
        return state

    def _skip_to_first_entry(self, state: State) -> None:
        threshold = self.inputs.terms.threshold
        size = self._effect_sizes(state.dual.z)
        latest = _latest_entry(self.problem)
        with np.errstate(divide="ignore"):
            self.start = float(np.min(threshold / size))
        if not np.isfinite(self.start) or self.start > latest:
            self.start = latest
            say_nobody_enters()
        for part in state.dual.z:
            part *= self.start
        state.iteration = 0
        # Rounding must not hide whoever enters first.
        reached = size * self.start >= threshold * (1.0 - 1e-12)
        state.dual.entered[:] = np.where(reached, self.start, np.inf)

    def _effect_sizes(self, z: Personal) -> Floats:
        blocks = block_norms(self.problem.penalty.code, z.block, self.problem.design.blocks)
        return np.column_stack((blocks, np.abs(z.scalar)))

    def first_entry(self, state: State, after_call: Callable[[], None] | None = None) -> float:
        """When the first annotator pops up; the state goes on until then."""
        if self.minimiser is not None:
            return self.start
        latest = _latest_entry(self.problem)
        while not np.isfinite(state.first_entry):
            if self.time(state.iteration) > latest:
                say_nobody_enters()
                return latest
            self.advance(state, _ITERATIONS_A_CALL)
            if after_call is not None:
                after_call()
        return state.first_entry

    @property
    def iterations_a_call(self) -> int:
        """How many iterations a compiled call may take."""
        return max(1, _CELLS_A_CALL // max(1, len(self.problem.design.left_at)))

    def advance(self, state: State, n_iterations: int) -> None:
        """`n_iterations` of the iteration, in place."""
        if n_iterations <= 0:
            return
        self.n_evaluations += n_iterations
        if self.minimiser is None and isinstance(self.executor, Serial):
            at_once = self.iterations_a_call
            for done in range(0, n_iterations, at_once):
                stop_if_cancelled()
                self._advance_compiled(state, min(at_once, n_iterations - done))
            return
        for _ in range(n_iterations):
            stop_if_cancelled()
            if self.minimiser is not None:
                self._minimise(state)
            self._iterate_once(state, self.step)

    def check_stability(self, state: State) -> None:
        """With attention: whether the step is still short enough for the scores as they are."""
        if not self.problem.attention:
            return
        theta = self.problem.scores(state.common[: self.problem.n_common])
        terms = self.inputs.terms
        b = terms.kappa * soft_thresholds(state.dual.z.scalar[:, 1], terms.threshold[:, ATTENTION])
        largest = float(np.abs(1.0 + terms.attention_unit * b).max())
        norm2 = stability_norm_squared(self.problem, self.base_norm_squared, theta, largest)
        curvature = self.problem.loss.max_curvature
        limit = 2.0 * terms.total / (terms.kappa * curvature * norm2)
        if not self.step < limit:
            raise StepTooLong(limit if np.isfinite(limit) else self.step)

    def time(self, iteration: int) -> float:
        return self.start + iteration * self.step

    def _advance_compiled(self, state: State, n_iterations: int) -> None:
        bounds = np.array([0, *np.cumsum([len(shard) for shard in self.shards])])
        iterate_serial(
            n_iterations,
            bounds,
            self.inputs,
            state.common,
            state.dual,
            Clock(self.start, self.step, state.iteration),
            self.theta,
            self.scratch[0],
        )
        state.iteration += n_iterations

    def _iterate_once(self, state: State, step: float) -> None:
        item_gradient, position_gradient = self._map_shards(state, step)
        if self.minimiser is None:
            move = -self.problem.kappa * step / self.problem.total_weight
            move_common(state.common, item_gradient, position_gradient, self.inputs, move)
        state.iteration += 1

    def _minimise(self, state: State) -> None:
        assert self.minimiser is not None
        item_gradient, position_gradient = self._map_shards(state, 0.0)
        gradient = self.problem.pull_back(item_gradient)
        if self.problem.common_position:
            gradient = np.append(gradient, position_gradient)
        state.common -= self.minimiser.step(gradient / self.problem.total_weight)

    def _map_shards(self, state: State, step: float) -> tuple[Floats, float]:
        common_scores(state.common, self.problem.design, self.theta)
        position = float(state.common[-1]) if self.problem.common_position else 0.0
        shared, time = CommonPart(self.theta, position), self.time(state.iteration)

        def shard_step(k: int) -> float:
            scratch = self.scratch[k]
            return float(
                lbi_shard(self.shards[k], self.inputs, shared, state.dual, time, step, scratch)
            )

        position_gradient = self.executor.map(shard_step, range(len(self.shards)))
        item_gradient = np.zeros(self.problem.votes.n_items)
        for scratch in self.scratch:
            item_gradient += scratch.item_gradient
        return item_gradient, sum(position_gradient)


def _latest_entry(problem: Problem) -> float:
    """When to stop waiting for a first entry."""
    totals = np.add.reduceat(np.append(problem.target.weight, 0.0), problem.design.cells[:-1])
    share = totals[np.diff(problem.design.cells) > 0].max() / problem.total_weight
    return give_up_after(float(share), float(problem.deviation_threshold.max()))
