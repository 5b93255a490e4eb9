"""Where `flow` stands, as plain arrays and numbers: to go on from there later, or elsewhere.

The driver's part (the path itself) and the waiting annotators' part are separate values: on a
cluster each has a place of its own. Whoever continues from a state gets the same bits as whoever
never stopped: all that the future depends on is here or follows from the problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from prefpath.checkpoint.files import Arrays
from prefpath.model.design import Floats, Ints
from prefpath.solver.arguments import Personal
from prefpath.solver.curvature import Stiffness
from prefpath.solver.interpolation import Ends
from prefpath.solver.waiting import History

Words = NDArray[np.uint64]
State = TypeVar("State")

_WORD = (1 << 64) - 1


class SlopeState(NamedTuple):
    """What the power method goes on from, and the random numbers it will draw."""

    direction: Floats
    last_radius: float
    attention_radius: Floats
    random: Words


class CrowdState(NamedTuple):
    """Who is active, in what order and groups they joined, and the history of theta.

    `knot_time` is NaN before the first knot.
    """

    who: Ints
    joined: Ints
    history: History
    widest: float
    knot_time: float
    knot_integral: Floats
    knot_theta: Floats
    cells_read: int


class StepState(NamedTuple):
    """How long the next step is, and how stiff the equation was when that was looked at last."""

    length: float
    radius: float
    radius_age: int
    stiffness: Stiffness


class DriverState(NamedTuple):
    """The path's own part, between two steps: `last.y1` is y, `last.f1` its slope.

    `work` is steps, rejected, redone, evaluations; `begins` the time of the first entry, NaN
    while it is not known.
    """

    last: Ends
    theta: Floats
    entered: Floats
    begins: float
    steps: StepState
    work: Ints
    slope: SlopeState
    crowd: CrowdState


class WaitingState(NamedTuple):
    """What is known of each waiting annotator and changes: as in `Waiting`."""

    waits: Ints
    dormant: Ints
    since: Ints
    z: Personal
    norm: Floats
    reach: Floats
    drift: Floats
    travel: Floats


class FlowState(NamedTuple):
    """A path under way; `recorded` is what its recorder has kept so far.

    `elsewhere` is what brings rooms on a cluster to where they are; nothing on one machine.
    """

    driver: DriverState
    waiting: WaitingState
    recorded: Arrays
    elsewhere: Arrays


def as_arrays(state: Any, prefix: str = "") -> dict[str, NDArray[Any]]:
    """A state as arrays by name: what is in `a.b` of the state is named `a.b`."""
    parts = state.items() if isinstance(state, Mapping) else state._asdict().items()
    named: dict[str, NDArray[Any]] = {}
    for name, value in parts:
        if isinstance(value, Mapping) or hasattr(value, "_asdict"):
            named |= as_arrays(value, f"{prefix}{name}.")
        else:
            named[prefix + name] = np.asarray(value)
    return named


def from_arrays(kind: type[State], arrays: Arrays, prefix: str = "") -> State:
    """The state of a kind whose `as_arrays` are these; KeyError where one is missing."""
    values = {
        name: _value(hint, arrays, prefix + name)
        for name, hint in get_type_hints(kind).items()
        if name in kind._fields  # type: ignore[attr-defined]
    }
    return kind(**values)


def _value(hint: Any, arrays: Arrays, name: str) -> Any:
    if hasattr(hint, "_fields"):
        return from_arrays(hint, arrays, f"{name}.")
    if hint == Arrays:
        start = f"{name}."
        return {key[len(start) :]: part for key, part in arrays.items() if key.startswith(start)}
    if hint in (float, int):
        return hint(arrays[name])
    return arrays[name]


def random_words(generator: np.random.Generator) -> Words:
    """The state of a PCG64 generator."""
    state: Any = generator.bit_generator.state
    inner = state["state"]
    words = [part for key in ("state", "inc") for part in (inner[key] >> 64, inner[key] & _WORD)]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def random_from_words(words: Words) -> np.random.Generator:
    """A PCG64 generator that goes on as the one of these words would."""
    high, low, inc_high, inc_low, has_uint32, uinteger = (int(word) for word in words)
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": (high << 64) | low, "inc": (inc_high << 64) | inc_low},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(bits)
