"""Votes on disk in shards: each holds all votes of its annotators, whoever fits them.

    sharded.json      items, sizes, where the votes came from
    shard-0000.npz    annotators, and their votes as `Votes` has them; with a checksum

The number of shards and who is in which depend on the votes alone, so that no answer depends on
the cluster. Annotator `k` of shard `s` has the number `first[s] + k`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from prefpath.checkpoint.files import read_arrays, write_arrays
from prefpath.distributed.labels import Arrays, pack_labels, unpack_labels
from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Ints
from prefpath.text import counted
from prefpath.votes import Votes
from prefpath.votes.encode import CodedVotes, Labels
from prefpath.writing import write_text

RECORD = "sharded.json"
ITEMS = "items.npz"
_FORMAT = 1
_COLUMNS = ("offsets", "left", "right", "choice", "weight", "count", "position_known")


@dataclass(frozen=True, eq=False)
class ShardedVotes:
    """Votes in shards on a disk that the driver and all workers see.

    Attributes
    ----------
    folder : Path
    items : array
        Labels of all items; codes are positions in it.
    n_annotators, n_rows, n_votes : array of int (n_shards,)
        Of each shard.
    origin : mapping
        Where the votes came from and what was left out on the way.

    Examples
    --------
    >>> import tempfile
    >>> from prefpath import simulate_crowd
    >>> from prefpath.distributed.shuffle import write_shards
    >>> votes = simulate_crowd(400, 12, 5, seed=0).votes
    >>> sharded = write_shards(votes, tempfile.mkdtemp())
    >>> int(sharded.n_votes.sum()), len(sharded)
    (400, 4)
    """

    folder: Path
    items: Labels
    n_annotators: Ints
    n_rows: Ints
    n_votes: Ints
    origin: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.n_rows)

    def __repr__(self) -> str:
        return (
            f"ShardedVotes({counted(self.n_votes.sum(), 'vote')} of "
            f"{counted(self.n_annotators.sum(), 'annotator')} on "
            f"{counted(len(self.items), 'item')}, {counted(len(self), 'shard')} in {self.folder})"
        )

    @property
    def first(self) -> Ints:
        """Number of the first annotator of each shard, and of all together."""
        return np.concatenate(([0], np.cumsum(self.n_annotators)))

    @classmethod
    def open(cls, folder: str | Path) -> ShardedVotes:
        """Shards that were written before.

        Raises
        ------
        SettingError
            If the folder holds none, or another version's.
        """
        file = Path(folder) / RECORD
        try:
            record = json.loads(file.read_text("utf-8"))
            if record["format"] != _FORMAT:
                raise KeyError("format")
            sizes = {name: np.array(record[name], dtype=np.int64) for name in _SIZES}
            items = unpack_labels(read_arrays(file.parent / ITEMS), "items")
        except (OSError, ValueError, KeyError, TypeError, VoteError) as error:
            raise SettingError(
                f"{folder} holds no votes in shards ({type(error).__name__})",
                expected=f"a folder with a file {RECORD} of this version",
                remedy="shard the votes again: prefpath.distributed.shard_votes",
            ) from error
        return cls(Path(folder).resolve(), items, **sizes, origin=record["origin"])

    def digest(self) -> str:
        """A digest of all votes."""
        total = hashlib.sha256()
        for shard in range(len(self)):
            with shard_file(self.folder, shard).open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
        return total.hexdigest()

    def read(self, shard: int) -> Votes:
        """The votes of one shard."""
        return read_shard(self.folder, shard, self.items)

    def collect(self) -> Votes:
        """All votes as one value on this machine, annotators in the order of their labels."""
        return self.collect_with_rows()[0]

    def collect_with_rows(self) -> tuple[Votes, Ints]:
        """The same, and which row of the shards (one after another) each row of it is."""
        parts = [self.read(shard) for shard in range(len(self))]
        order = label_order(np.concatenate([part.annotators for part in parts]))
        return _in_order(parts, order, self)


_SIZES = ("n_annotators", "n_rows", "n_votes")


def shard_file(folder: Path, shard: int) -> Path:
    return folder / f"shard-{shard:04d}.npz"


def write_shard(folder: Path, shard: int, coded: CodedVotes, annotators: Labels) -> tuple[int, ...]:
    """Write one shard; returns its sizes as in `ShardedVotes`."""
    arrays: Arrays = {name: getattr(coded, name) for name in _COLUMNS}
    write_arrays(shard_file(folder, shard), arrays | pack_labels(annotators, "annotators"))
    return len(annotators), len(coded.left), int(coded.count.sum())


def read_shard(folder: Path, shard: int, items: Labels) -> Votes:
    """The votes of one shard, whole and as they were written, or an error."""
    arrays = read_arrays(shard_file(folder, shard))
    coded = CodedVotes(**{name: arrays[name] for name in _COLUMNS})
    return Votes.from_coded(coded, annotators=unpack_labels(arrays, "annotators"), items=items)


def write_record(
    folder: Path, items: Labels, sizes: list[tuple[int, ...]], origin: Mapping[str, Any]
) -> ShardedVotes:
    """Complete a folder of shards: only then can it be opened."""
    write_arrays(folder / ITEMS, pack_labels(items, "items"))
    record = {"format": _FORMAT, "origin": dict(origin)}
    record |= {name: [size[k] for size in sizes] for k, name in enumerate(_SIZES)}
    write_text(folder / RECORD, json.dumps(record, indent=1, default=str))
    return ShardedVotes.open(folder)


def label_order(labels: Labels) -> Ints:
    """Annotators of all shards in the order of their labels."""
    return np.argsort(labels, kind="stable")


def _in_order(parts: list[Votes], order: Ints, sharded: ShardedVotes) -> tuple[Votes, Ints]:
    """The votes of all parts, annotators (numbered part after part) in another order."""
    sizes = np.concatenate([np.diff(part.offsets) for part in parts])
    starts = np.concatenate(([0], np.cumsum(sizes)))
    taken = sizes[order]
    offsets = np.concatenate(([0], np.cumsum(taken)))
    rows = np.arange(offsets[-1]) + np.repeat(starts[order] - offsets[:-1], taken)
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts])[rows]
        for name in _COLUMNS
        if name != "offsets"
    }
    coded = CodedVotes(offsets=offsets.astype(np.int64), **columns)
    labels = np.concatenate([part.annotators for part in parts])[order]
    votes = Votes.from_coded(coded, annotators=labels, items=sharded.items, origin=sharded.origin)
    return votes, rows
