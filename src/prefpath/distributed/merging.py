"""What every shard needs to be made from the blocks of all files: in a file, beside these.

Were it data of the cluster, it would be lost with the workers that have it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from prefpath.checkpoint.files import read_arrays, write_arrays
from prefpath.distributed.labels import pack_labels, unpack_labels
from prefpath.distributed.pieces import Index
from prefpath.model.design import Codes


class Merging(NamedTuple):
    """The files' blocks, and each file's items by their number among all."""

    blocks: list[Index]
    recode: list[Codes]
    n_items: int
    n_shards: int


def write_merging(file: Path, merging: Merging) -> Path:
    """Write it where all workers see it."""
    arrays = {
        "table": np.concatenate([index.table for index in merging.blocks]),
        "table_ends": np.cumsum([len(index.table) for index in merging.blocks]),
        "recode": np.concatenate(merging.recode),
        "recode_ends": np.cumsum([len(recode) for recode in merging.recode]),
        "sizes": np.array([merging.n_items, merging.n_shards]),
    }
    for name in ("file", "numbers"):
        column = np.array([getattr(index, name) for index in merging.blocks], dtype=object)
        arrays |= pack_labels(column, name)
    write_arrays(file, arrays)
    return file


def read_merging(file: Path) -> Merging:
    """What `write_merging` wrote, unharmed."""
    arrays = read_arrays(file)
    tables = np.split(arrays["table"], arrays["table_ends"][:-1])
    names = (unpack_labels(arrays, name).tolist() for name in ("file", "numbers"))
    blocks = [Index(*one) for one in zip(*names, tables, strict=True)]
    recode = np.split(arrays["recode"], arrays["recode_ends"][:-1])
    return Merging(blocks, recode, *arrays["sizes"].tolist())
