"""The story of the rooms as plain arrays: what a driver that has died leaves to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath.checkpoint.files import Arrays
from prefpath.distributed.room_part import EndStep, Leave, Undo, View, Watch
from prefpath.model.design import Ints
from prefpath.solver.room import Moment
from prefpath.solver.waiting import GradientBounds

_KINDS: tuple[type, ...] = (Watch, EndStep, Undo, Leave)
_NOT_A_MOMENT = Moment(0.0, 0.0, 0.0)


def pack_calls(calls: list[Any], first: Ints) -> Arrays:
    """Calls as arrays: one row for each; annotators by their number across shards."""
    ones = [call[0] if isinstance(call, list) else call for call in calls]
    who = [_numbers(call, first) for call in calls]
    bounds = [one.view.bounds for one in ones]
    return {
        "kind": np.array([_KINDS.index(type(one)) for one in ones], dtype=np.int64),
        "now": np.array([one.view.now for one in ones], dtype=np.int64),
        "moment": np.array([getattr(one, "moment", _NOT_A_MOMENT) for one in ones]).reshape(-1, 3),
        "steepest": np.array([b.steepest for b in bounds]),
        "curvature": np.array([b.curvature for b in bounds]),
        "quadrature": np.array([b.quadrature for b in bounds]),
        "n_who": np.array([len(own) for own in who], dtype=np.int64),
        "who": np.concatenate([np.zeros(0, dtype=np.int64), *who]),
    }


def unpack_calls(arrays: Arrays, first: Ints) -> list[Any]:
    """The calls `pack_calls` packed."""
    ends = np.cumsum(arrays["n_who"])
    calls: list[Any] = []
    for k, kind in enumerate(arrays["kind"].tolist()):
        bounds = GradientBounds(
            arrays["steepest"][k], arrays["curvature"][k], float(arrays["quadrature"][k])
        )
        view = View(None, int(arrays["now"][k]), bounds)
        who = arrays["who"][ends[k] - arrays["n_who"][k] : ends[k]]
        calls.append(_call(_KINDS[kind], view, Moment(*arrays["moment"][k].tolist()), who, first))
    return calls


def _call(kind: type, view: View, moment: Moment, who: Ints, first: Ints) -> Any:
    if kind in (Watch, EndStep):
        return kind(view, moment)
    ends = np.searchsorted(who, first)
    own = [who[ends[s] : ends[s + 1]] - first[s] for s in range(len(first) - 1)]
    return [Undo(view, one) if kind is Undo else Leave(view, one, None) for one in own]


def _numbers(call: Any, first: Ints) -> Ints:
    if not isinstance(call, list):
        return np.zeros(0, dtype=np.int64)
    each = [
        first[s] + (one.over if isinstance(one, Undo) else one.who) for s, one in enumerate(call)
    ]
    return np.concatenate(each).astype(np.int64)
