"""Files of paths: plain arrays, whole or not at all, and nothing in them is ever run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from prefpath.archives import DAMAGED, read_archive
from prefpath.errors import VoteError
from prefpath.model.design import Floats, Ints
from prefpath.model.penalties import PENALTIES
from prefpath.votes.encode import Labels, text_array
from prefpath.writing import whole_file

_FORMAT = 2
# Format 1 (version 0.1.0) knows no attention.
_READABLE = (1, 2)


@dataclass(frozen=True)
class Knot:
    """The state at one time: the common part whole, `z` only where it matters.

    `z` of an annotator is kept at a knot if they are active there or at a neighbouring knot;
    for everybody else prox is zero all along both intervals, because a norm is convex.
    """

    who: Ints
    z: Floats
    who_bias: Ints
    z_bias: Floats
    who_attention: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    z_attention: Floats = field(default_factory=lambda: np.zeros(0))


def write_fields(file: FilePath, fields: Mapping[str, Any]) -> None:
    """Write the fields of a path."""
    arrays = {name: fields[name] for name in _ARRAYS if fields[name] is not None}
    for name in _KNOT_PARTS:
        parts = [getattr(knot, name) for knot in fields["knots"]]
        arrays[f"knot_{name}"] = np.concatenate(parts)
        arrays[f"knot_{name}_ends"] = np.cumsum([len(part) for part in parts])
    meta = {
        "format": _FORMAT,
        "items": fields["items"].tolist(),
        "annotators": fields["annotators"].tolist(),
        "penalty": fields["penalty"].name,
        **{name: fields[name] for name in _SCALARS},
    }
    text = json.dumps(meta, ensure_ascii=False).encode("utf-8")
    arrays["meta"] = np.frombuffer(text, dtype=np.uint8)
    with whole_file(file) as part, part.open("wb") as handle:
        np.savez_compressed(handle, **arrays)


def read_fields(file: FilePath) -> dict[str, Any]:
    """The fields of a path that `write_fields` wrote, or an error."""
    try:
        meta, arrays = _unpack(file)
        if meta.get("format") in _READABLE:
            found = _fields(meta, arrays)
            _check(found)
            return found
    except (*DAMAGED, MemoryError) as error:  # a spoiled header may ask for petabytes
        raise VoteError(
            f"{file} is not a saved path: {error}", expected="a file that Path.save wrote"
        ) from error
    raise VoteError(
        f"{file} has format {meta.get('format')}",
        expected=f"format {_FORMAT} or older",
        remedy="save it again with this version of prefpath",
    )


def _unpack(file: FilePath) -> tuple[dict[str, Any], dict[str, Any]]:
    arrays = read_archive(file)
    return json.loads(arrays.pop("meta").tobytes().decode("utf-8")), arrays


def _fields(meta: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    parts = {
        name: np.split(arrays[f"knot_{name}"], arrays[f"knot_{name}_ends"][:-1])
        for name in _KNOT_PARTS
        if f"knot_{name}" in arrays
    }
    return {
        "knots": tuple(
            Knot(**{name: part[k] for name, part in parts.items()})
            for k in range(len(arrays["times"]))
        ),
        "items": _label_array(meta["items"]),
        "annotators": _label_array(meta["annotators"]),
        "penalty": PENALTIES[meta["penalty"]](),
        **{name: arrays.get(name) for name in _ARRAYS},
        **{name: meta[name] for name in _SCALARS if name in meta},
    }


def _check(found: dict[str, Any]) -> None:
    """Refuse what no path can be; a ValueError says what it is."""
    times, knots, n_people = found["times"], found["knots"], len(found["annotators"])
    rise = times.ndim == 1 and len(times) > 0 and times[0] > 0 and np.all(np.diff(times) > 0)
    if not rise or not np.isfinite(times[-1]):
        raise ValueError("its times are not finite numbers that rise from above 0")
    whole = np.isfinite(found["kappa"]) and found["kappa"] > 0
    whole &= len(found["common"]) == len(times) and len(found["blocks"]) == n_people + 1
    for name in _ARRAYS:  # who never enters does so at infinity, or at no threshold
        endless = name.startswith("entered") or name.endswith("threshold")
        part = np.zeros(1) if found[name] is None else found[name]
        whole &= not np.isnan(part).any() and (endless or np.isfinite(part).all())
    for knot in knots:
        whole &= all(np.isfinite(getattr(knot, name)).all() for name in _KNOT_PARTS)
        people = np.concatenate((knot.who, knot.who_bias, knot.who_attention))
        whole &= not len(people) or (people.min() >= 0 and people.max() < n_people)
    if not whole:
        raise ValueError("it holds numbers that are not finite, or not as many as it should")


_KNOT_PARTS = ("who", "z", "who_bias", "z_bias", "who_attention", "z_attention")
_ARRAYS = (
    "times",
    "common",
    "common_position",
    "entered",
    "entered_bias",
    "features",
    "blocks",
    "seen_item",
    "deviation_threshold",
    "position_threshold",
    "attention_threshold",
    "entered_attention",
)
_SCALARS = ("kappa", "loss", "solver", "step", "n_evaluations", "attention_scale")


def _label_array(labels: list[Any]) -> Labels:
    """Labels as they were: NumPy alone would turn 1 beside "a" into "1"."""
    kinds = {type(label) for label in labels}
    if kinds == {str}:
        return text_array(labels)
    array = np.array(labels) if len(kinds) == 1 else np.array(labels, dtype=object)
    return array if array.dtype.kind in "iuf" else np.array(labels, dtype=object)
