"""Votes from anywhere into shards by annotator: what reaches the driver is labels and counts.

1. Each file is read by a task of its own with all the checks of `read_votes`, and written in
   blocks by bucket, a hash of the annotator's label.
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

from prefpath.distributed.labels import as_text, hash_labels, places_of, unite_labels
from prefpath.distributed.merging import Merging, read_merging, write_merging
from prefpath.distributed.pieces import Block, Index, read_blocks, write_blocks
from prefpath.distributed.shards import ShardedVotes, shard_file, write_record, write_shard
from prefpath.distributed.tasks import run_tasks
from prefpath.distributed.workers import check_shared_folder, threads_of_this_worker
from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Codes, Ints
from prefpath.votes import Votes, read_votes
from prefpath.votes.database import at_most_threads
from prefpath.votes.encode import CodedVotes, KeyLayout, Labels, merge_keys
from prefpath.votes.files import find_files
from prefpath.votes.origin import say_what_was_left_out
from prefpath.writing import check_folder

if TYPE_CHECKING:
    from distributed import Client

# Annotators are hashed into so many buckets; a shard is a set of them, so that files can be read
# before it is known how many shards there will be.
N_BUCKETS = 1024
# A shard has at most about so many rows: some seconds of work at a time, and 200 MB in a worker.
_ROWS_A_SHARD = 2_000_000
_FEWEST_SHARDS = 4
_PARTS = "parts"


class _Part(NamedTuple):
    """What the driver learns of a file."""

    blocks: Index
    items: Labels
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
    place = Path(tempfile.mkdtemp(prefix="prefpath-") if folder is None else folder).absolute()
    check_folder(place, "the folder for shards")
    place.mkdir(parents=True, exist_ok=True)
    check_shared_folder(client, place)
    files = find_files(source) if isinstance(source, str | Path) else []
    if len(files) < 2:
        return write_shards(as_votes(source, reading), place)
    parts_folder = place / _PARTS
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
    """Read one file, and write its votes in a block for each bucket."""
    with at_most_threads(threads_of_this_worker()):
        votes = read_votes(file, **reading)
    bucket = hash_labels(votes.annotators) % N_BUCKETS
    order = np.argsort(bucket, kind="stable")
    index = write_blocks(Path(stem), *_votes_of(votes, order), bucket[order])
    return index, votes.items, votes.n_rows, dict(votes.origin)


def merge_shard(shard: int, file: str, folder: str) -> tuple[int, ...]:
    """Write a shard from its blocks of all files; its sizes, zero if nobody is in it."""
    merging = read_merging(Path(file))
    buckets = np.arange(shard, N_BUCKETS, merging.n_shards)
    blocks = [
        _with_items(block, recode)
        for index, recode in zip(merging.blocks, merging.recode, strict=True)
        for block in read_blocks(index, buckets)
    ]
    if not blocks:
        return 0, 0, 0
    as_numbers = all(index.numbers for index in merging.blocks)
    names = [b.labels if as_numbers else as_text(b.labels.tolist()) for b in blocks]
    annotators = unite_labels(names)
    who = np.repeat(
        places_of(np.concatenate(names), annotators), np.concatenate([b.sizes for b in blocks])
    )
    merged = _merge(blocks, who, len(annotators), merging.n_items)
    return write_shard(Path(folder), shard, merged, annotators)


def _with_items(block: Block, recode: Codes) -> Block:
    sides = {side: recode[block.columns[side]] for side in ("left", "right")}
    return block._replace(columns=block.columns | sides)


def _merge(blocks: list[Block], who: Ints, n_annotators: int, n_items: int) -> CodedVotes:
    """Rows of all blocks, sorted; identical votes of one annotator are one row."""
    column = {
        name: np.concatenate([block.columns[name] for block in blocks])
        for name in blocks[0].columns
    }
    swap = ~column["position_known"] & (column["left"] > column["right"])
    left = np.where(swap, column["right"], column["left"])
    right = np.where(swap, column["left"], column["right"])
    choice = np.where(swap, -column["choice"], column["choice"]) + 0.0
    levels, level = np.unique(choice, return_inverse=True)
    layout = KeyLayout(n_annotators, n_items, len(levels))
    if not layout.fits:
        raise SettingError(
            f"{n_annotators:,} annotators and {n_items:,} items are too many for one shard",
            expected="fewer items or annotators",
        )
    key = layout.pack((who, left, right, level, column["position_known"]))
    merged = merge_keys(key, column["weight"], column["count"])
    return layout.unpack(*merged, levels)


# ---------------------------------------------------------------- the driver


def _merge_parts(client: Client, parts: list[_Part], place: Path, source: str) -> ShardedVotes:
    items = unite_labels([part.items for part in parts])
    n_rows = sum(part.n_rows for part in parts)
    if not n_rows:
        raise VoteError("there are no votes", expected="at least one vote")
    merging = Merging(
        [part.blocks for part in parts],
        [places_of(part.items, items).astype(np.int32) for part in parts],
        len(items),
        number_of_shards(n_rows),
    )
    file = write_merging(place / _PARTS / "merging.npz", merging)
    jobs = [(shard, str(file), str(place)) for shard in range(merging.n_shards)]
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
