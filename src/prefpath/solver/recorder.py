"""The recorder: knots of a path, as a solver passes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from prefpath.checkpoint.files import Arrays
from prefpath.model.design import Floats, Ints
from prefpath.model.penalties import block_norms
from prefpath.model.problem import Problem
from prefpath.path import Knot, Path
from prefpath.solver.active import Active
from prefpath.solver.arguments import (
    ATTENTION,
    DEVIATION,
    FIRST_SCALAR,
    POSITION,
    Personal,
    terms_of,
    zero_personal,
)
from prefpath.solver.light import ranges


class Solved(NamedTuple):
    """What a solver says of a path beside its knots; column of `entered`: effect."""

    solver: str
    step: float | None
    n_evaluations: int
    entered: Floats


class PathRecorder:
    """Collects knots in order of time, keeping of `z` only what interpolation will need."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._times: list[float] = []
        self._common: list[Floats] = []
        self._knots: list[Knot] = []
        self._pending: Personal | None = None
        self._threshold = terms_of(problem).threshold
        nobody = [np.zeros(0, dtype=np.int64)] * self._threshold.shape[1]
        self._pending_active, self._older_active, self._nobody = nobody, nobody, nobody

    def record(self, t: float, common: Floats, z: Personal) -> None:
        """Add the state at time t; the arrays are copied."""
        active = self._active(z)
        self._close_pending(active)
        self._times.append(float(t))
        self._common.append(np.array(common))
        self._pending, self._pending_active = z.copy(), active

    @property
    def last_time(self) -> float:
        """Of the last knot; 0 before the first."""
        return self._times[-1] if self._times else 0.0

    def state(self) -> Arrays:
        """All knots, and the last one before it is closed, as plain arrays."""
        pending = zero_personal(self._problem) if self._pending is None else self._pending
        return {
            "times": np.array(self._times),
            "common": np.array(self._common),
            "block": pending.block,
            "scalar": pending.scalar,
            **_packed("active", self._pending_active),
            **_packed("older", self._older_active),
            **{
                key: part
                for name in _KNOT_PARTS
                for key, part in _packed(name, [getattr(k, name) for k in self._knots]).items()
            },
        }

    def restore(self, state: Arrays) -> None:
        """Go on after the knots of a state."""
        self._times, self._common = state["times"].tolist(), list(state["common"])
        self._pending = Personal(state["block"], state["scalar"]) if self._times else None
        self._pending_active = _unpacked("active", state)
        self._older_active = _unpacked("older", state)
        parts = [_unpacked(name, state) for name in _KNOT_PARTS]
        self._knots = [Knot(*own) for own in zip(*parts, strict=True)]

    def finish(self, solved: Solved) -> Path:
        """The path of all knots recorded."""
        knots = [*self._knots]
        if self._pending is not None:
            knots.append(self._closed(self._nobody))
        return build_path(self._problem, self._times, self._common, knots, solved)

    def _active(self, z: Personal) -> list[Ints]:
        """Who is active, by effect."""
        problem = self._problem
        blocks = block_norms(problem.penalty.code, z.block, problem.design.blocks)
        size = np.column_stack((blocks, np.abs(z.scalar)))
        return [np.flatnonzero(column) for column in (size > self._threshold).T]

    def _close_pending(self, newer: list[Ints]) -> None:
        if self._pending is not None:
            self._knots.append(self._closed(newer))
            self._older_active = self._pending_active

    def _closed(self, newer: list[Ints]) -> Knot:
        """The last knot, with all who are active there, at the one before or at the newer one."""
        assert self._pending is not None
        around = zip(self._older_active, self._pending_active, newer, strict=True)
        who = [np.unique(np.concatenate(three)) for three in around]
        z, blocks = self._pending, self._problem.design.blocks
        parts = [z.block[blocks[u] : blocks[u + 1]] for u in who[DEVIATION]]
        kept = np.concatenate(parts) if parts else np.zeros(0)
        scalars = [(own, z.scalar[own, k]) for k, own in enumerate(who[FIRST_SCALAR:])]
        return _knot(who[DEVIATION], kept, scalars)


_KNOT_PARTS = tuple(part.name for part in fields(Knot))


def _packed(name: str, parts: Sequence[NDArray[Any]]) -> Arrays:
    """Arrays of any lengths as one, and their lengths."""
    lengths = np.array([len(part) for part in parts], dtype=np.int64)
    return {name: np.concatenate(parts) if parts else np.zeros(0), f"{name}_lengths": lengths}


def _unpacked(name: str, state: Arrays) -> list[NDArray[Any]]:
    lengths = state[f"{name}_lengths"]
    return np.split(state[name], np.cumsum(lengths)[:-1]) if len(lengths) else []


class Recorder(Protocol):
    """What happens at the knots of a path that `flow` follows.

    `interpolates` tells whether z of who pops up later is to be amended at the knot before.
    """

    interpolates: ClassVar[bool]

    def record(self, t: float, y: Floats, active: Active) -> None: ...

    def amend(self, u: int, unit: Floats) -> None: ...

    @property
    def last_time(self) -> float: ...

    def state(self) -> Arrays: ...

    def restore(self, state: Arrays) -> None: ...


class Units(NamedTuple):
    """The parts of y of some annotators, one after another; `size[k]` numbers are of `who[k]`."""

    who: Ints
    size: Ints
    values: Floats

    def with_more(self, who: Ints, units: list[Floats]) -> Units:
        """The same and others."""
        size = np.array([len(unit) for unit in units], dtype=np.int64)
        return Units(
            np.concatenate((self.who, who)),
            np.concatenate((self.size, size)),
            np.concatenate((self.values, *units)),
        )


class FlowRecorder:
    """Collects knots that hold the active annotators; who pops up later is amended.

    Of an annotator it keeps the part of y: the block of z, then the scalars.
    """

    interpolates: ClassVar[bool] = True

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._times: list[float] = []
        self._common: list[Floats] = []
        self._units: list[Units] = []
        self._amended: list[tuple[int, Floats]] = []  # of the last knot

    def record(self, t: float, y: Floats, active: Active) -> None:
        """Add the state at time t."""
        problem = self._problem
        self._times.append(t)
        self._common.append(y[: problem.n_common + int(problem.common_position)].copy())
        start, stop = active.at[0], active.at[-1]
        self._closed()
        self._units.append(Units(active.who, np.diff(active.at), y[start:stop].copy()))

    @property
    def last_time(self) -> float:
        """Of the last knot; 0 before the first."""
        return self._times[-1] if self._times else 0.0

    def state(self) -> Arrays:
        """All knots as plain arrays: `size[k]` numbers of `values` belong to `who[k]`."""
        knots = self._closed()
        return {
            "times": np.array(self._times),
            "common": np.array(self._common),
            "n_units": np.array([len(knot.who) for knot in knots], dtype=np.int64),
            "who": np.concatenate([np.zeros(0, np.int64), *(knot.who for knot in knots)]),
            "size": np.concatenate([np.zeros(0, np.int64), *(knot.size for knot in knots)]),
            "values": np.concatenate([np.zeros(0), *(knot.values for knot in knots)]),
        }

    def restore(self, state: Arrays) -> None:
        """Go on after the knots of a state."""
        self._times, self._common = state["times"].tolist(), list(state["common"])
        ends = np.cumsum(state["n_units"])[:-1]
        who, size = np.split(state["who"], ends), np.split(state["size"], ends)
        values = np.split(state["values"], np.cumsum([each.sum() for each in size])[:-1])
        n_knots, self._amended = len(self._times), []
        self._units = [Units(who[k], size[k], values[k]) for k in range(n_knots)]

    def amend(self, u: int, unit: Floats) -> None:
        """What z of an annotator who is now active was at the last knot."""
        if self._units:
            self._amended.append((u, unit))

    def _closed(self) -> list[Units]:
        """All knots, with what has been amended in the last one."""
        if self._amended:
            who, units = zip(*self._amended, strict=True)
            self._units[-1] = self._units[-1].with_more(np.array(who), list(units))
            self._amended = []
        return self._units

    def path(self, *, entered: Floats, n_evaluations: int) -> Path:
        """The path of all knots recorded so far."""
        solved = Solved("flow", None, n_evaluations, until(entered, self._times[-1]))
        return build_path(self._problem, self._times, self._common, self.knots(), solved)

    def knots(self, numbers: Ints | None = None) -> list[Knot]:
        """All knots so far; annotators by other numbers than the problem's, if these are given."""
        knots = self._closed()
        if numbers is not None:
            knots = [knot._replace(who=numbers[knot.who]) for knot in knots]
        return [_knot_of(knot, self._problem.n_scalars) for knot in knots]


def _knot_of(units: Units, n_scalars: int) -> Knot:
    order = np.argsort(units.who, kind="stable")
    size, start = units.size[order], (np.cumsum(units.size) - units.size)[order]
    who, block = units.who[order], size - n_scalars
    z = units.values[ranges(start, block)]
    scalars = [(who, units.values[start + block + k]) for k in range(n_scalars)]
    return _knot(who, z, scalars)


def _knot(who: Ints, z: Floats, scalars: list[tuple[Ints, Floats]]) -> Knot:
    """A knot of deviations and, where there are any, of each scalar in turn."""
    return Knot(who, z, *scalars[0], *(scalars[1] if len(scalars) > 1 else ()))


def until(entered: Floats, last: float) -> Floats:
    """Entry times up to the end of the path; what comes later is never."""
    return np.where(entered <= last, entered, np.inf)


def build_path(
    problem: Problem, times: list[float], common: list[Floats], knots: list[Knot], solved: Solved
) -> Path:
    """A path from what a recorder has collected."""
    table = np.array(common)
    return Path(
        times=np.array(times),
        common=table[:, : problem.n_common],
        common_position=table[:, -1] if problem.common_position else None,
        knots=tuple(knots),
        entered=solved.entered[:, DEVIATION],
        entered_bias=solved.entered[:, POSITION],
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
        solver=solved.solver,
        step=solved.step,
        n_evaluations=solved.n_evaluations,
        **_attention_of(problem, solved.entered),
    )


def _attention_of(problem: Problem, entered: Floats) -> dict[str, Any]:
    if not problem.attention:
        return {}
    return {
        "attention_threshold": problem.attention_threshold,
        "attention_scale": problem.attention_scale,
        "entered_attention": entered[:, ATTENTION],
    }
