"""Votes from anywhere into shards by annotator: what reaches the driver is labels and counts.

1. Each file is read by a task of its own with all the checks of `read_votes`, and written in
   pieces by bucket, a hash of the annotator's label.
2. The driver unites the labels of the items, and decides by the number of rows on the shards.
3. For each shard a task takes its buckets of all files, numbers its annotators, and writes it.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from prefpath.checkpoint.files import read_arrays, write_arrays
from prefpath.distributed.labels import (
    Arrays,
    as_text,
    hash_labels,
    pack_labels,
    places_of,
    unite_labels,
    unpack_labels,
)
from prefpath.distributed.shards import ShardedVotes, shard_file, write_record, write_shard
from prefpath.distributed.workers import check_shared_folder, run_tasks
from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Ints
from prefpath.votes import Votes, read_votes
from prefpath.votes.encode import CodedVotes, KeyLayout, Labels, merge_keys
from prefpath.votes.files import find_files
from prefpath.votes.origin import say_what_was_left_out
from prefpath.writing import check_folder

if TYPE_CHECKING:
    from distributed import Client

# Annotators are hashed into so many buckets; a shard is a set of them, so that files can be read
# before it is known how many shards there will be.
N_BUCKETS = 64
# A shard has at most about so many rows: some seconds of work at a time, and 200 MB in a worker.
_ROWS_A_SHARD = 2_000_000
_FEWEST_SHARDS = 4


class _Part(NamedTuple):
    """What the driver learns of a file: `pieces` are the buckets it has votes of."""

    stem: str
    pieces: list[int]
    items: Labels
    annotators_are_numbers: bool
    n_rows: int
    origin: Mapping[str, Any]


def shard_votes(
    source: Any, client: Client, folder: str | Path | None = None, **reading: Any
) -> ShardedVotes:
    """Put votes into shards by annotator, as tasks of a cluster.

    Parameters
    ----------
    source : path, pattern, Votes or data frame
        As `read_votes` takes it; of several files each is read by a task of its own.
    client : distributed.Client
    folder : path, optional
        Where the shards go: a folder that the driver and all workers see. By default a temporary
        one of this machine, which will do for workers on it.
    **reading
        As in `read_votes`.

    Raises
    ------
    VoteError
        With the file and the rows.
    SettingError
        If a worker does not see the folder.
    """
    place = Path(tempfile.mkdtemp(prefix="prefpath-")) if folder is None else Path(folder)
    check_folder(place, "the folder for shards")
    place.mkdir(parents=True, exist_ok=True)
    check_shared_folder(client, place)
    files = find_files(source) if isinstance(source, str | Path) else []
    if len(files) < 2:
        return write_shards(as_votes(source, reading), place)
    parts_folder = place / "parts"
    parts_folder.mkdir(exist_ok=True)
    try:
        stems = [str(parts_folder / f"{k:06d}") for k in range(len(files))]
        jobs = [(str(file), stem, reading) for file, stem in zip(files, stems, strict=True)]
        parts = [_Part(*found) for found in run_tasks(client, read_part, jobs)]
        sharded = _merge_parts(client, parts, place, str(source))
        say_what_was_left_out(sharded.origin)
        return sharded
    finally:
        shutil.rmtree(parts_folder, ignore_errors=True)


def as_votes(source: Any, reading: Mapping[str, Any]) -> Votes:
    return source if isinstance(source, Votes) else read_votes(source, **reading)


def write_shards(votes: Votes, folder: str | Path) -> ShardedVotes:
    """Votes of this machine in shards."""
    place, n_shards = Path(folder), number_of_shards(votes.n_rows)
    shard_of = hash_labels(votes.annotators) % N_BUCKETS % n_shards
    voted = np.diff(votes.offsets) > 0
    if voted.any():
        shard_of[~voted] = shard_of[np.argmax(voted)]  # a shard has votes
    sizes: list[tuple[int, ...]] = []
    for shard in range(n_shards):
        who = np.flatnonzero(shard_of == shard)
        if len(who):
            sizes.append(write_shard(place, len(sizes), *_votes_of(votes, who)))
    return write_record(place, votes.items, sizes, votes.origin)


def number_of_shards(n_rows: int) -> int:
    """A power of two given by the votes alone, so that no answer depends on the cluster."""
    n_shards = _FEWEST_SHARDS
    while n_shards < N_BUCKETS and n_shards * _ROWS_A_SHARD < n_rows:
        n_shards *= 2
    return n_shards


def _votes_of(votes: Votes, who: Ints) -> tuple[CodedVotes, Labels]:
    """The rows of some annotators, who get the numbers 0, 1, ... in their order."""
    sizes = np.diff(votes.offsets)[who]
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    rows = np.arange(offsets[-1]) + np.repeat(votes.offsets[who] - offsets[:-1], sizes)
    coded = CodedVotes(
        offsets=offsets,
        left=votes.left[rows],
        right=votes.right[rows],
        choice=votes.choice[rows],
        weight=votes.weight[rows],
        count=votes.count[rows],
        position_known=votes.position_known[rows],
    )
    return coded, votes.annotators[who]


# ---------------------------------------------------------------- tasks


def read_part(file: str, stem: str, reading: Mapping[str, Any]) -> tuple[Any, ...]:
    """Read one file, and write its votes in a piece for each bucket."""
    votes = read_votes(file, **reading)
    bucket = hash_labels(votes.annotators) % N_BUCKETS
    pieces = np.unique(bucket).tolist()
    for one in pieces:
        coded, annotators = _votes_of(votes, np.flatnonzero(bucket == one))
        arrays: Arrays = {**vars(coded), **pack_labels(annotators, "annotators")}
        write_arrays(_piece(stem, one), arrays | pack_labels(votes.items, "items"))
    numbers = votes.annotators.dtype.kind in "iufb"
    return stem, pieces, votes.items, numbers, votes.n_rows, dict(votes.origin)


def _piece(stem: str, bucket: int) -> Path:
    return Path(f"{stem}-{bucket:02d}.npz")


def merge_shard(
    shard: int, pieces: list[str], items: Labels, as_numbers: bool, folder: str
) -> tuple[int, ...]:
    """Write a shard from its pieces of all files; its sizes, zero if nobody is in it."""
    if not pieces:
        return 0, 0, 0
    taken = [_take(read_arrays(Path(piece)), items) for piece in pieces]
    names = [labels if as_numbers else as_text(labels.tolist()) for _, labels in taken]
    annotators = unite_labels(names)
    merged = _merge([coded for coded, _ in taken], names, annotators, items)
    return write_shard(Path(folder), shard, merged, annotators)


def _take(arrays: Arrays, items: Labels) -> tuple[CodedVotes, Labels]:
    """The rows of a piece, items by their number among all."""
    code = places_of(unpack_labels(arrays, "items"), items).astype(np.int32)
    columns = {name: arrays[name] for name in CodedVotes.__annotations__}
    columns |= {side: code[columns[side]] for side in ("left", "right")}
    return CodedVotes(**columns), unpack_labels(arrays, "annotators")


def _merge(
    parts: list[CodedVotes], labels: list[Labels], annotators: Labels, items: Labels
) -> CodedVotes:
    """Rows of all parts, sorted; identical votes of one annotator are one row."""
    who = [
        np.repeat(places_of(names, annotators), np.diff(part.offsets))
        for part, names in zip(parts, labels, strict=True)
    ]
    column = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _MERGED}
    swap = ~column["position_known"] & (column["left"] > column["right"])
    left = np.where(swap, column["right"], column["left"])
    right = np.where(swap, column["left"], column["right"])
    choice = np.where(swap, -column["choice"], column["choice"]) + 0.0
    levels, level = np.unique(choice, return_inverse=True)
    layout = KeyLayout(len(annotators), len(items), len(levels))
    if not layout.fits:
        raise SettingError(
            f"{len(annotators):,} annotators and {len(items):,} items are too many for one shard",
            expected="fewer items or annotators",
        )
    key = layout.pack((np.concatenate(who), left, right, level, column["position_known"]))
    merged = merge_keys(key, column["weight"], column["count"])
    return layout.unpack(*merged, levels)


_MERGED = ("left", "right", "choice", "weight", "count", "position_known")


# ---------------------------------------------------------------- the driver


def _merge_parts(client: Client, parts: list[_Part], place: Path, source: str) -> ShardedVotes:
    items = unite_labels([part.items for part in parts])
    n_rows = sum(part.n_rows for part in parts)
    if not n_rows:
        raise VoteError("there are no votes", expected="at least one vote")
    n_shards = number_of_shards(n_rows)
    numbers = all(part.annotators_are_numbers for part in parts)
    pieces: list[list[str]] = [[] for _ in range(n_shards)]
    for part in parts:
        for bucket in part.pieces:
            pieces[bucket % n_shards].append(str(_piece(part.stem, bucket)))
    shared = client.scatter(items, broadcast=True)
    jobs = [(shard, own, shared, numbers, str(place)) for shard, own in enumerate(pieces)]
    sizes = run_tasks(client, merge_shard, jobs)
    return write_record(place, items, _renumbered(place, sizes), _origin_of(parts, source))


def _renumbered(place: Path, sizes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Shards that somebody is in, numbered without gaps."""
    kept: list[tuple[int, ...]] = []
    for shard, size in enumerate(sizes):
        if size[0]:
            if shard != len(kept):
                shard_file(place, shard).replace(shard_file(place, len(kept)))
            kept.append(size)
    return kept


def _origin_of(parts: list[_Part], source: str) -> dict[str, Any]:
    """What the files say of themselves together: counts are added up."""
    total: dict[str, Any] = {}
    for part in parts:
        for name, value in part.origin.items():
            if isinstance(value, int) and not isinstance(value, bool):
                total[name] = total.get(name, 0) + value
            elif isinstance(value, list):
                total[name] = list(dict.fromkeys([*total.get(name, []), *value]))
            else:
                total.setdefault(name, value)
    return total | {"source": source, "files": len(parts)}
