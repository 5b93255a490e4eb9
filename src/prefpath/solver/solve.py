"""One of the solvers, by its name."""

from __future__ import annotations

from typing import Literal

from prefpath.checkpoint import Slot
from prefpath.errors import SettingError
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver.flow import solve_flow
from prefpath.solver.grid import Grid
from prefpath.solver.lbi import solve_lbi
from prefpath.solver.work import Common, Progress

Solver = Literal["flow", "lbi"]
SOLVERS = ("flow", "lbi")
PATH_SLOT = "path"
"""Where a checkpoint keeps the path of all votes."""


def solve(
    problem: Problem,
    grid: Grid,
    *,
    solver: Solver = "flow",
    common: Common = "flow",
    step: float | None = None,
    n_threads: int | None = None,
    progress: Progress | None = None,
    slot: Slot | None = None,
) -> Path:
    """The path of a problem at the times of a grid, by the solver named.

    With a slot of a checkpoint it goes on from what is kept there, and is kept on its way.
    """
    check_solver(solver, common, step, grid)
    if problem.attention and common == "minimise":
        raise SettingError(
            'attention with common="minimise"',
            expected="a common part that moves by gradient",
            remedy='pass common="flow": with attention the common part has another linear system '
            "at every step",
        )
    if solver == "flow":
        return solve_flow(
            problem, grid, common=common, n_threads=n_threads, progress=progress, slot=slot
        )
    return solve_lbi(
        problem,
        grid,
        common=common,
        step=step,
        n_threads=n_threads,
        progress=progress,
        slot=slot,
    )


def check_solver(solver: str, common: str, step: float | None, grid: Grid) -> None:
    """Refuse settings that do not go together, before anything is computed."""
    if solver not in SOLVERS:
        raise SettingError(f"solver is {solver!r}", expected=f"one of {', '.join(SOLVERS)}")
    if common not in ("flow", "minimise"):
        raise SettingError(f"common is {common!r}", expected="'flow' or 'minimise'")
    if solver == "flow" and step is not None:
        raise SettingError("step with solver 'flow', whose steps adapt", remedy="leave it out")
    if solver == "lbi" and grid.is_open:
        raise SettingError('t_ratio="auto" with solver "lbi"', expected="a number above 1")
