"""Linearized Bregman iteration: the paper's Algorithm 1, and Algorithm 2 over threads.

    eta <- eta - kappa * alpha * grad_eta L(eta, beta)
    z   <- z - alpha * grad_beta L(eta, beta)
    beta = kappa * prox(z)

SynPar-LBI is the same iteration with the annotators split into shards, one reduction for eta.
The shards depend on the data alone and are summed in order, so the number of threads changes
nothing, not even the last bit.
"""

from __future__ import annotations

from prefpath.checkpoint import Slot
from prefpath.errors import SettingError
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver.executors import Serial, Threads, make_executor, split_annotators
from prefpath.solver.grid import Grid
from prefpath.solver.lbi_path import LbiPath, load_lbi
from prefpath.solver.spectral import design_norm_squared, stability_norm_squared
from prefpath.solver.stepper import Stepper, StepTooLong
from prefpath.solver.work import Common, Progress


def solve_lbi(
    problem: Problem,
    grid: Grid,
    *,
    common: Common = "flow",
    step: float | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
    slot: Slot | None = None,
) -> Path:
    """The path of `problem` at the times of `grid`, by LBI.

    With attention the design grows with the common scores, and a step that was stable at first
    may not be later: the iteration then begins again with half the step. With a slot of a
    checkpoint it goes on from what is kept there, and is kept on its way.

    Raises
    ------
    SettingError
        If a step is given with which the iteration would not be stable.
    """
    shards = split_annotators(problem.design.cells)
    with make_executor(n_threads, len(shards)) as executor:
        alpha = _checked_step(problem, executor, step, common)
        base = design_norm_squared(problem, executor) if problem.attention else 0.0
        kept = load_lbi(slot, problem)
        if kept is not None:
            alpha = kept.step
        while True:
            stepper = Stepper(problem, executor, shards, alpha, common)
            stepper.base_norm_squared = base
            try:
                return LbiPath(stepper, slot, kept).follow(grid, progress)
            except StepTooLong as error:
                if step is not None:
                    raise _unstable(step, error.limit, 0.5 * error.limit) from error
                alpha, kept = min(0.5 * alpha, 0.5 * error.limit), None


def default_step(problem: Problem, executor: Serial | Threads, common: Common = "flow") -> float:
    """`m / (kappa sigma^2)`; sigma of X alone where the common part is minimised."""
    norm2 = design_norm_squared(problem, executor, with_common=common == "flow")
    if problem.attention:
        norm2 = stability_norm_squared(problem, norm2, problem.pooled_fit.scores, 1.0)
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
        raise _unstable(step, limit, default)
    return float(step)


def _unstable(step: float, limit: float, default: float) -> SettingError:
    return SettingError(
        f"step is {step:g}, with which the iteration is not stable",
        expected=f"a step above 0 and below {limit:.4g}",
        remedy=f"leave it out for {default:.4g}",
    )
