"""The votes of one file on their way to the shards: on disk, a block for each bucket of annotators.

A file of votes becomes one file of blocks, plain arrays one after another; where they are goes to
the driver in a small table. Blocks live as long as the reading does, and are checked as they are
read: a disk that lies is found out here.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.distributed.labels import pack_labels, unpack_labels
from prefpath.errors import VoteError
from prefpath.model.design import Ints
from prefpath.votes.encode import CodedVotes, Labels
from prefpath.writing import whole_file

# The columns of a row, wide ones first so that all of them are aligned.
_COLUMNS: dict[str, np.dtype[Any]] = {
    "choice": np.dtype(np.float64),
    "weight": np.dtype(np.float64),
    "left": np.dtype(np.int32),
    "right": np.dtype(np.int32),
    "count": np.dtype(np.int32),
    "position_known": np.dtype(np.bool_),
}


class Index(NamedTuple):
    """Where the blocks of a file are: a row for each bucket.

    `table` has the columns bucket, first byte, annotators, rows, bytes of labels, checksum;
    `numbers` is the type of labels that are numbers, and empty for text.
    """

    file: str
    numbers: str
    table: Ints


class Block(NamedTuple):
    """The votes of a bucket in one file: annotators' labels, rows of each, and the rows."""

    labels: Labels
    sizes: Ints
    columns: dict[str, NDArray[Any]]


def write_blocks(file: Path, coded: CodedVotes, annotators: Labels, bucket: Ints) -> Index:
    """Write votes whose annotators are in order of their buckets."""
    packed = pack_labels(annotators, "who")
    numbers = packed["who"].dtype.str if "who" in packed else ""
    buckets, first = np.unique(bucket, return_index=True)
    ends = np.append(first, len(bucket))
    table = []
    with whole_file(file) as part, part.open("wb") as handle:
        for k, one in enumerate(buckets.tolist()):
            who = slice(int(ends[k]), int(ends[k + 1]))
            arrays, n_text = _arrays(coded, packed, who)
            contents = b"".join(array.tobytes() for array in arrays)
            n_rows = int(coded.offsets[who.stop] - coded.offsets[who.start])
            sizes = who.stop - who.start, n_rows, n_text
            table.append((one, handle.tell(), *sizes, zlib.crc32(contents)))
            handle.write(contents + bytes(-len(contents) % 8))
    return Index(str(file), numbers, np.array(table, dtype=np.int64).reshape(-1, 6))


def _arrays(
    coded: CodedVotes, packed: dict[str, NDArray[Any]], who: slice
) -> tuple[list[NDArray[Any]], int]:
    """What the block of some annotators holds, in order; and how many bytes of text."""
    rows = slice(int(coded.offsets[who.start]), int(coded.offsets[who.stop]))
    arrays = [np.diff(coded.offsets[who.start : who.stop + 1]).astype(np.int64)]
    text: NDArray[Any] = np.zeros(0, dtype=np.uint8)
    if "who" in packed:
        arrays.append(packed["who"][who])
    else:
        ends = packed["who.ends"]
        arrays.append(np.diff(ends[who.start : who.stop + 1]).astype(np.int64))
        text = packed["who.text"][int(ends[who.start]) : int(ends[who.stop])]
    arrays += [getattr(coded, name)[rows].astype(kind) for name, kind in _COLUMNS.items()]
    return [*arrays, text], len(text)


def read_blocks(index: Index, buckets: Ints) -> list[Block]:
    """The blocks of some buckets."""
    wanted = index.table[np.isin(index.table[:, 0], buckets)]
    with Path(index.file).open("rb") as handle:
        return [_read_block(handle, index, row) for row in wanted.tolist()]


def _read_block(handle: Any, index: Index, row: list[int]) -> Block:
    _, start, n_annotators, n_rows, n_text, checksum = row
    wide = np.dtype(np.int64)
    label = np.dtype(index.numbers) if index.numbers else wide
    kinds: list[tuple[np.dtype[Any], int]] = [(wide, n_annotators), (label, n_annotators)]
    kinds += [(kind, n_rows) for kind in _COLUMNS.values()]
    n_bytes = sum(kind.itemsize * n for kind, n in kinds) + n_text
    handle.seek(start)
    contents = handle.read(n_bytes)
    if len(contents) != n_bytes or zlib.crc32(contents) != checksum:
        raise VoteError(
            f"{index.file} is not as it was written", remedy="look at the disk, and read again"
        )
    arrays, at = [], 0
    for kind, n in kinds:
        arrays.append(np.frombuffer(contents, kind, n, at))
        at += kind.itemsize * n
    labels = arrays[1] if index.numbers else _text(arrays[1], contents[at:])
    return Block(labels, arrays[0], dict(zip(_COLUMNS, arrays[2:], strict=True)))


def _text(lengths: Ints, text: bytes) -> Labels:
    ends = np.concatenate(([0], np.cumsum(lengths)))
    return unpack_labels({"who.text": np.frombuffer(text, np.uint8), "who.ends": ends}, "who")
