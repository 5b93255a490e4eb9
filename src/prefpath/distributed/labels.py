"""Labels as plain arrays, and a hash of them that is the same on every machine."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefpath.votes.encode import Labels

Arrays = dict[str, NDArray[Any]]


def pack_labels(labels: Labels, name: str) -> Arrays:
    """Labels as arrays without Python objects: numbers as they are, text as UTF-8 and ends."""
    if labels.dtype.kind in "iufb":
        return {name: labels}
    text = [str(label).encode("utf-8", "surrogatepass") for label in labels.tolist()]
    ends = np.cumsum([0, *map(len, text)])
    return {f"{name}.text": np.frombuffer(b"".join(text), np.uint8), f"{name}.ends": ends}


def unpack_labels(arrays: Arrays, name: str) -> Labels:
    """The labels `pack_labels` packed."""
    if name in arrays:
        return arrays[name]
    text, ends = arrays[f"{name}.text"].tobytes(), arrays[f"{name}.ends"].tolist()
    found = [text[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends)]
    return as_text(found)


def as_text(labels: Iterable[Any]) -> Labels:
    """Labels as text: an array of Python strings, which no long label makes wide."""
    return np.array([str(label) for label in labels], dtype=object)


def unite_labels(each: list[Labels]) -> Labels:
    """All distinct labels, sorted; as text where any of them is text."""
    if any(labels.dtype.kind not in "iufb" for labels in each):
        distinct = {str(label) for labels in each for label in labels.tolist()}
        return as_text(sorted(distinct))
    return np.unique(np.concatenate(each)) if each else as_text([])


def places_of(labels: Labels, known: Labels) -> NDArray[np.int64]:
    """Where each label is among known, sorted ones."""
    if known.dtype.kind in "iufb":
        return np.searchsorted(known, labels).astype(np.int64)
    place = {label: code for code, label in enumerate(known.tolist())}
    found = (place[str(label)] for label in labels.tolist())
    return np.fromiter(found, dtype=np.int64, count=len(labels))


def hash_labels(labels: Labels) -> NDArray[np.int64]:
    """A number for each label, on all machines the same."""
    numbers = (zlib.crc32(str(label).encode("utf-8", "surrogatepass")) for label in labels.tolist())
    return np.fromiter(numbers, dtype=np.int64, count=len(labels))
