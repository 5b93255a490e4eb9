"""Linearized Bregman iteration: the paper's Algorithm 1, and Algorithm 2 over threads.

    eta <- eta - kappa * alpha * grad_eta L(eta, beta)
    z   <- z - alpha * grad_beta L(eta, beta)
    beta = kappa * prox(z)

SynPar-LBI is the same iteration with the annotators split into shards, one reduction for eta.
The shards depend on the data alone and are summed in order, so the number of threads changes
nothing, not even the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numba import njit

from prefpath.errors import SettingError
from prefpath.model.design import Design, Floats, Ints, Target
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver.executors import Serial, Threads, make_executor, split_annotators
from prefpath.solver.grid import Grid, give_up_after, say_nobody_enters
from prefpath.solver.kernels import Rule, Scratch, common_scores, lbi_shard, make_scratch, rule_of
from prefpath.solver.minimiser import CommonMinimiser
from prefpath.solver.recorder import PathRecorder, block_norms, until
from prefpath.solver.spectral import design_norm_squared

Common = Literal["flow", "minimise"]
Progress = Callable[[float, int], None]

_ITERATIONS_A_CALL = 64


@dataclass
class State:
    """Where the iteration stands; plain arrays, so that it can be copied, sent and stored."""

    common: Floats
    z: Floats
    z_bias: Floats
    entered: Floats
    entered_bias: Floats
    iteration: int = 0

    @classmethod
    def zero(cls, problem: Problem) -> State:
        n_annotators = problem.votes.n_annotators
        return cls(
            common=np.zeros(problem.n_common + int(problem.common_position)),
            z=np.zeros(int(problem.design.blocks[-1])),
            z_bias=np.zeros(n_annotators),
            entered=np.full(n_annotators, np.inf),
            entered_bias=np.full(n_annotators, np.inf),
        )

    @property
    def first_entry(self) -> float:
        return float(min(self.entered.min(), self.entered_bias.min()))


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

    Raises
    ------
    SettingError
        If a step is given with which the iteration would not be stable.
    """
    shards = split_annotators(problem.design.cells)
    with make_executor(n_threads, len(shards)) as executor:
        alpha = _checked_step(problem, executor, step, common)
        stepper = _Stepper(problem, executor, shards, alpha, common)
        times = grid.times if grid.times is not None else grid.from_first(stepper.first_entry())
        return _record_path(stepper, times, progress)


def default_step(problem: Problem, executor: Serial | Threads, common: Common = "flow") -> float:
    """`m / (kappa sigma^2)`; sigma of X alone where the common part is minimised."""
    norm2 = design_norm_squared(problem, executor, with_common=common == "flow")
    return problem.total_weight / (problem.kappa * norm2)


def _checked_step(
    problem: Problem, executor: Serial | Threads, step: float | None, common: Common
) -> float:
    default = default_step(problem, executor, common)
    if step is None:
        # The paper's step is stable for a curvature up to 1; a sharper loss needs a shorter one.
        return default / max(1.0, problem.loss.max_curvature)
    limit = 2.0 * default / problem.loss.max_curvature
    if not (0.0 < step < limit):
        raise SettingError(
            f"step is {step:g}, with which the iteration is not stable",
            expected=f"a step above 0 and below {limit:.4g}",
            remedy=f"leave it out for {default:.4g}",
        )
    return float(step)


class _Stepper:
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
        self.rule = rule_of(problem)
        self.scratch = [make_scratch(problem.design, problem.votes.n_items) for _ in shards]
        self.theta = np.zeros(problem.votes.n_items)
        self.n_evaluations = 0
        self.start = 0.0
        self.minimiser = CommonMinimiser(problem) if common == "minimise" else None

    def first_state(self) -> State:
        """The state at `self.start`: zero, or, with the common part minimised, the first entry.

        Until somebody enters, a minimised common part stands still and z grows linearly: that
        stretch is skipped exactly.
        """
        state = State.zero(self.problem)
        if self.minimiser is None:
            return state
        self._minimise(state)
        self._iterate_once(state, 1.0)  # z is now minus the gradient
        state.iteration = 0
        size = block_norms(state.z, self.problem.design.blocks, group=self.problem.penalty.group)
        with np.errstate(divide="ignore"):
            reach = np.min(self.problem.deviation_threshold / size)
            reach_bias = np.min(self.problem.position_threshold / np.abs(state.z_bias))
        self.start = float(min(reach, reach_bias))
        if not np.isfinite(self.start) or self.start > give_up_after(_largest_share(self.problem)):
            self.start = give_up_after(_largest_share(self.problem))
            say_nobody_enters()
        state.z *= self.start
        state.z_bias *= self.start
        for entered, z, threshold in (
            (state.entered, size * self.start, self.problem.deviation_threshold),
            (state.entered_bias, np.abs(state.z_bias), self.problem.position_threshold),
        ):
            entered[:] = np.where(z >= threshold * (1.0 - 1e-12), self.start, np.inf)
        return state

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
            self._advance_compiled(state, n_iterations)
            return
        for _ in range(n_iterations):
            if self.minimiser is not None:
                self._minimise(state)
            self._iterate_once(state, self.step)

    def time(self, iteration: int) -> float:
        return self.start + iteration * self.step

    def _advance_compiled(self, state: State, n_iterations: int) -> None:
        bounds = np.array([0, *np.cumsum([len(shard) for shard in self.shards])])
        _lbi_serial(
            n_iterations,
            bounds,
            self.problem.design,
            self.problem.target,
            self.rule,
            self.problem.common_position,
            state.common,
            state.z,
            state.z_bias,
            state.entered,
            state.entered_bias,
            self.start,
            state.iteration,
            self.step,
            self.theta,
            self.scratch[0],
        )
        state.iteration += n_iterations

    def _iterate_once(self, state: State, step: float) -> None:
        pull, sideways = self._map_shards(state, step)
        if self.minimiser is None:
            move = -self.problem.kappa * step / self.rule.total
            move_common(
                state.common,
                pull,
                sideways,
                self.problem.design,
                move,
                self.problem.common_position,
            )
        state.iteration += 1

    def _minimise(self, state: State) -> None:
        assert self.minimiser is not None
        pull, sideways = self._map_shards(state, 0.0)
        gradient = self.problem.pull_back(pull)
        if self.problem.common_position:
            gradient = np.append(gradient, sideways)
        state.common -= self.minimiser.step(gradient / self.rule.total)

    def _map_shards(self, state: State, step: float) -> tuple[Floats, float]:
        common_scores(state.common, self.problem.design, self.theta)
        common_bias = float(state.common[-1]) if self.problem.common_position else 0.0
        time = self.time(state.iteration)

        def shard_step(index: int) -> float:
            return float(
                lbi_shard(
                    self.shards[index],
                    self.problem.design,
                    self.problem.target,
                    self.rule,
                    self.theta,
                    common_bias,
                    state.z,
                    state.z_bias,
                    state.entered,
                    state.entered_bias,
                    time,
                    step,
                    self.scratch[index],
                )
            )

        sideways = self.executor.map(shard_step, range(len(self.shards)))
        pull = np.zeros(self.problem.votes.n_items)
        for scratch in self.scratch:
            pull += scratch.item_pull
        return pull, sum(sideways)


def _record_path(stepper: _Stepper, times: Floats, progress: Progress | None) -> Path:
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
            before = _copy(state)
            stepper.advance(state, 1)
        share = (t - stepper.time(before.iteration)) / stepper.step
        recorder.record(
            float(t),
            before.common + share * (state.common - before.common),
            before.z + share * (state.z - before.z),
            before.z_bias + share * (state.z_bias - before.z_bias),
        )
        if progress is not None:
            progress(float(t), int(np.isfinite(state.entered).sum()))
    return recorder.finish(
        entered=until(state.entered, times[-1]),
        entered_bias=until(state.entered_bias, times[-1]),
        solver="lbi",
        step=stepper.step,
        n_evaluations=stepper.n_evaluations,
    )


def _record_before_first_entry(
    stepper: _Stepper, state: State, recorder: PathRecorder, t: float
) -> None:
    share = t / stepper.start
    recorder.record(t, state.common, share * state.z, share * state.z_bias)


def _copy(state: State) -> State:
    return State(
        state.common.copy(),
        state.z.copy(),
        state.z_bias.copy(),
        state.entered,
        state.entered_bias,
        state.iteration,
    )


def _largest_share(problem: Problem) -> float:
    """Share of the votes that the busiest annotator cast."""
    totals = np.add.reduceat(np.append(problem.target.weight, 0.0), problem.design.cells[:-1])
    return float(totals[np.diff(problem.design.cells) > 0].max() / problem.total_weight)


@njit(cache=True, nogil=True, error_model="numpy")
def move_common(
    common: Floats, pull: Floats, sideways: float, design: Design, move: float, with_bias: bool
) -> None:
    """`eta += move * Phi^T pull`, and the common position effect with it."""
    if design.features.shape[0] == 0:
        for i in range(len(pull)):
            common[i] += move * pull[i]
    else:
        for d in range(design.features.shape[1]):
            total = 0.0
            for i in range(len(pull)):
                total += design.features[i, d] * pull[i]
            common[d] += move * total
    if with_bias:
        common[-1] += move * sideways


@njit(cache=True, nogil=True, error_model="numpy")
def _lbi_serial(
    n_iterations: int,
    bounds: Ints,
    design: Design,
    target: Target,
    rule: Rule,
    with_bias: bool,
    common: Floats,
    z: Floats,
    z_bias: Floats,
    entered: Floats,
    entered_bias: Floats,
    start: float,
    first: int,
    step: float,
    theta: Floats,
    scratch: Scratch,
) -> None:
    """Many iterations in one call: on small data, the calls would cost more than the work."""
    everybody = np.arange(len(z_bias))
    pull = np.zeros(len(theta))
    move = -rule.kappa * step / rule.total
    for iteration in range(first, first + n_iterations):
        common_scores(common, design, theta)
        common_bias = common[-1] if with_bias else 0.0
        pull[:] = 0.0
        sideways = 0.0
        for s in range(len(bounds) - 1):
            sideways += lbi_shard(
                everybody[bounds[s] : bounds[s + 1]],
                design,
                target,
                rule,
                theta,
                common_bias,
                z,
                z_bias,
                entered,
                entered_bias,
                start + iteration * step,
                step,
                scratch,
            )
            pull += scratch.item_pull
        move_common(common, pull, sideways, design, move, with_bias)
