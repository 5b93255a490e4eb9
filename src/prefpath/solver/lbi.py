"""Linearized Bregman iteration: the paper's Algorithm 1, and Algorithm 2 over threads.

    eta <- eta - kappa * alpha * grad_eta L(eta, beta)
    z   <- z - alpha * grad_beta L(eta, beta)
    beta = kappa * prox(z)

SynPar-LBI is the same iteration with the annotators split into shards, one reduction for eta.
The shards depend on the data alone and are summed in order, so the number of threads changes
nothing, not even the last bit.
"""

from __future__ import annotations

import numpy as np

from prefpath.errors import SettingError
from prefpath.model.design import Floats, Ints
from prefpath.model.penalties import block_norms, soft_thresholds
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver.arguments import ATTENTION, CommonPart, Personal, inputs_of, make_scratch
from prefpath.solver.executors import (
    Serial,
    Threads,
    make_executor,
    split_annotators,
    stop_if_cancelled,
)
from prefpath.solver.grid import Grid, give_up_after, say_nobody_enters
from prefpath.solver.iteration import Clock, State, iterate_serial, lbi_shard, move_common
from prefpath.solver.kernels import common_scores
from prefpath.solver.minimiser import CommonMinimiser
from prefpath.solver.recorder import PathRecorder, Solved, until
from prefpath.solver.spectral import design_norm_squared, stability_norm_squared
from prefpath.solver.work import Common, Progress

# While nobody has popped up we look after so many iterations: few enough not to run far past
# the first entry, many enough for the call to cost nothing.
_ITERATIONS_A_CALL = 64
# A compiled call reads so many cells at most, some tenths of a second: Ctrl-C waits for its end.
_CELLS_A_CALL = 20_000_000


def solve_lbi(
    problem: Problem,
    grid: Grid,
    *,
    common: Common = "flow",
    step: float | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Path:
    """The path of `problem` at the times of `grid`, by LBI.

    With attention the design grows with the common scores, and a step that was stable at first
    may not be later: the iteration then begins again with half the step.

    Raises
    ------
    SettingError
        If a step is given with which the iteration would not be stable.
    """
    shards = split_annotators(problem.design.cells)
    with make_executor(n_threads, len(shards)) as executor:
        alpha = _checked_step(problem, executor, step, common)
        base = design_norm_squared(problem, executor) if problem.attention else 0.0
        while True:
            stepper = Stepper(problem, executor, shards, alpha, common)
            stepper.base_norm_squared = base
            try:
                return _record_path(stepper, grid, progress)
            except _StepTooLong as error:
                if step is not None:
                    raise _unstable(step, error.limit, 0.5 * error.limit) from error
                alpha = min(0.5 * alpha, 0.5 * error.limit)


def default_step(problem: Problem, executor: Serial | Threads, common: Common = "flow") -> float:
    """`m / (kappa sigma^2)`; sigma of X alone where the common part is minimised."""
    norm2 = design_norm_squared(problem, executor, with_common=common == "flow")
    if problem.attention:
        norm2 = stability_norm_squared(problem, norm2, problem.pooled_fit.scores, 1.0)
    return problem.total_weight / (problem.kappa * norm2)


class _StepTooLong(Exception):
    """The iteration is no longer stable; `limit` is the longest step that would be."""

    def __init__(self, limit: float) -> None:
        super().__init__(limit)
        self.limit = limit


def _checked_step(
    problem: Problem, executor: Serial | Threads, step: float | None, common: Common
) -> float:
    default = default_step(problem, executor, common)
    if step is None:
        # The paper's step is stable for a curvature up to 1; a sharper loss needs a shorter one.
        return default / max(1.0, problem.loss.max_curvature)
    limit = 2.0 * default / problem.loss.max_curvature
    if not (0.0 < step < limit):
        raise _unstable(step, limit, default)
    return float(step)


def _unstable(step: float, limit: float, default: float) -> SettingError:
    return SettingError(
        f"step is {step:g}, with which the iteration is not stable",
        expected=f"a step above 0 and below {limit:.4g}",
        remedy=f"leave it out for {default:.4g}",
    )


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
        latest = give_up_after(_largest_share(self.problem))
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

    def first_entry(self) -> float:
        """When the first annotator pops up."""
        state = self.first_state()
        if self.minimiser is not None:
            return self.start
        latest = give_up_after(_largest_share(self.problem))
        while not np.isfinite(state.first_entry):
            if self.time(state.iteration) > latest:
                say_nobody_enters()
                return latest
            self.advance(state, _ITERATIONS_A_CALL)
        return state.first_entry

    def advance(self, state: State, n_iterations: int) -> None:
        """`n_iterations` of the iteration, in place."""
        if n_iterations <= 0:
            return
        self.n_evaluations += n_iterations
        if self.minimiser is None and isinstance(self.executor, Serial):
            at_once = max(1, _CELLS_A_CALL // max(1, len(self.problem.design.left_at)))
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
            raise _StepTooLong(limit if np.isfinite(limit) else self.step)

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


def _record_path(stepper: Stepper, grid: Grid, progress: Progress | None) -> Path:
    times = grid.times if grid.times is not None else grid.from_first(stepper.first_entry())
    state = stepper.first_state()
    recorder = PathRecorder(stepper.problem)
    before: State | None = None  # the iteration before `state`, where a time falls between
    for t in times:
        if t < stepper.start:
            _record_before_first_entry(stepper, state, recorder, float(t))
            continue
        if before is None or t > stepper.time(state.iteration):
            whole = int((t - stepper.time(state.iteration)) / stepper.step)
            stepper.advance(state, whole)
            before = state.before()
            stepper.advance(state, 1)
            stepper.check_stability(state)
        share = (t - stepper.time(before.iteration)) / stepper.step
        common = before.common + share * (state.common - before.common)
        recorder.record(float(t), common, before.dual.z.towards(state.dual.z, share))
        if progress is not None:
            progress(float(t), int(np.isfinite(state.dual.entered[:, 0]).sum()))
    entered = until(state.dual.entered, times[-1])
    return recorder.finish(Solved("lbi", stepper.step, stepper.n_evaluations, entered))


def _record_before_first_entry(
    stepper: Stepper, state: State, recorder: PathRecorder, t: float
) -> None:
    share = t / stepper.start
    recorder.record(t, state.common, Personal(*(share * part for part in state.dual.z)))


def _largest_share(problem: Problem) -> float:
    """Share of the votes that the busiest annotator cast."""
    totals = np.add.reduceat(np.append(problem.target.weight, 0.0), problem.design.cells[:-1])
    return float(totals[np.diff(problem.design.cells) > 0].max() / problem.total_weight)
