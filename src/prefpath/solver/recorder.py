"""The recorder: knots of a path, as a solver passes them."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.path import Knot, Path
from prefpath.solver.active import Active


class PathRecorder:
    """Collects knots in order of time, keeping of `z` only what interpolation will need."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._times: list[float] = []
        self._common: list[Floats] = []
        self._knots: list[Knot] = []
        self._pending: tuple[Floats, Floats] | None = None
        self._pending_active: tuple[Ints, Ints] = (_nobody(), _nobody())
        self._older_active: tuple[Ints, Ints] = (_nobody(), _nobody())

    def record(self, t: float, common: Floats, z: Floats, z_bias: Floats) -> None:
        """Add the state at time t; the arrays are copied."""
        active = self._active(z, z_bias)
        self._close_pending(active)
        self._times.append(float(t))
        self._common.append(np.array(common))
        if self._pending is None:
            self._pending = (z.copy(), z_bias.copy())
        else:
            np.copyto(self._pending[0], z)
            np.copyto(self._pending[1], z_bias)
        self._pending_active = active

    def finish(
        self,
        *,
        entered: Floats,
        entered_bias: Floats,
        solver: str,
        step: float | None,
        n_evaluations: int,
    ) -> Path:
        """The path of all knots recorded."""
        self._close_pending((_nobody(), _nobody()))
        return build_path(
            self._problem,
            self._times,
            self._common,
            self._knots,
            entered=entered,
            entered_bias=entered_bias,
            solver=solver,
            step=step,
            n_evaluations=n_evaluations,
        )

    def _active(self, z: Floats, z_bias: Floats) -> tuple[Ints, Ints]:
        problem = self._problem
        size = block_norms(z, problem.design.blocks, group=problem.penalty.group)
        return (
            np.flatnonzero(size > problem.deviation_threshold),
            np.flatnonzero(np.abs(z_bias) > problem.position_threshold),
        )

    def _close_pending(self, newer: tuple[Ints, Ints]) -> None:
        if self._pending is None:
            return
        older, own = self._older_active, self._pending_active
        who, who_bias = (np.unique(np.concatenate((older[i], own[i], newer[i]))) for i in range(2))
        z, z_bias = self._pending
        blocks = self._problem.design.blocks
        parts = [z[blocks[u] : blocks[u + 1]] for u in who]
        kept = np.concatenate(parts) if parts else np.zeros(0)
        self._knots.append(Knot(who, kept, who_bias, z_bias[who_bias]))
        self._older_active = own


def block_norms(z: Floats, blocks: Ints, *, group: bool) -> Floats:
    """Dual norm of every annotator's block; 0 for an empty one."""
    norms = np.zeros(len(blocks) - 1)
    filled = np.flatnonzero(np.diff(blocks) > 0)
    if len(filled):
        if group:
            norms[filled] = np.sqrt(np.add.reduceat(z * z, blocks[filled]))
        else:
            norms[filled] = np.maximum.reduceat(np.abs(z), blocks[filled])
    return norms


def _nobody() -> Ints:
    return np.zeros(0, dtype=np.int64)


class Recorder(Protocol):
    """What happens at the knots of a path that `flow` follows."""

    def record(self, t: float, y: Floats, active: Active) -> None: ...

    def amend(self, u: int, z: tuple[Floats, float]) -> None: ...

    @property
    def last_time(self) -> float: ...


class FlowRecorder:
    """Collects knots that hold the active annotators; who pops up later is amended."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._times: list[float] = []
        self._common: list[Floats] = []
        self._blocks: list[dict[int, tuple[Floats, float]]] = []

    def record(self, t: float, y: Floats, active: Active) -> None:
        """Add the state at time t."""
        problem = self._problem
        self._times.append(t)
        self._common.append(y[: problem.n_common + int(problem.common_position)].copy())
        self._blocks.append(
            {
                int(u): (y[active.at[k] : active.at[k + 1] - 1].copy(), y[active.at[k + 1] - 1])
                for k, u in enumerate(active.who)
            }
        )

    @property
    def last_time(self) -> float:
        return self._times[-1]

    def amend(self, u: int, z: tuple[Floats, float]) -> None:
        """What z of an annotator who is now active was at the last knot."""
        if self._blocks:
            self._blocks[-1][u] = z

    def path(self, *, entered: Floats, entered_bias: Floats, n_evaluations: int) -> Path:
        """The path of all knots recorded so far."""
        return build_path(
            self._problem,
            self._times,
            self._common,
            [_knot_of(blocks) for blocks in self._blocks],
            entered=until(entered, self._times[-1]),
            entered_bias=until(entered_bias, self._times[-1]),
            solver="flow",
            step=None,
            n_evaluations=n_evaluations,
        )


def _knot_of(blocks: dict[int, tuple[Floats, float]]) -> Knot:
    who = np.array(sorted(blocks), dtype=np.int64)
    parts = [blocks[u][0] for u in who.tolist()]
    z = np.concatenate(parts) if parts else np.zeros(0)
    bias = np.array([blocks[u][1] for u in who.tolist()], dtype=np.float64)
    return Knot(who, z, who, bias)


def until(entered: Floats, last: float) -> Floats:
    """Entry times up to the end of the path; what comes later is never."""
    return np.where(entered <= last, entered, np.inf)


def build_path(
    problem: Problem,
    times: list[float],
    common: list[Floats],
    knots: list[Knot],
    *,
    entered: Floats,
    entered_bias: Floats,
    solver: str,
    step: float | None,
    n_evaluations: int,
) -> Path:
    """A path from what a recorder has collected."""
    table = np.array(common)
    return Path(
        times=np.array(times),
        common=table[:, : problem.n_common],
        common_position=table[:, -1] if problem.common_position else None,
        knots=tuple(knots),
        entered=entered,
        entered_bias=entered_bias,
        items=problem.votes.items,
        annotators=problem.votes.annotators,
        features=problem.features,
        blocks=problem.design.blocks,
        seen_item=problem.design.seen_item,
        penalty=problem.penalty,
        deviation_threshold=problem.deviation_threshold,
        position_threshold=problem.position_threshold,
        kappa=problem.kappa,
        loss=problem.loss.name,
        solver=solver,
        step=step,
        n_evaluations=n_evaluations,
    )
