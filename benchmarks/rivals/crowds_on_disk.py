"""The one seeded generator of all tasks: votes as binary files that Python and R adapters read."""

from __future__ import annotations

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from prefpath import Simulation, Votes, VoteWarning, read_votes, simulate_crowd

sys.path.append(str(Path(__file__).parent / "adapters"))
from effects_design import effects_design
from harness import read

_BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
DATA = Path(os.environ.get("PREFPATH_DATA", _BESIDE))
FILES = {"IQA": "iqa_ref1.csv", "WorldCollege": "worldcollege.csv"}
FRESH = 0.2  # share of votes held back to judge a path

ODD: dict[str, dict[str, Any]] = {
    "one side": {"clickers": 1.0, "position_bias_scale": 4.0},
    "random": {"random": 1.0},
    "contrary": {"contrary": 1.0},
    "own taste": {"deviants": 1.0, "deviation_scale": 2.0},
}


def plain_crowd(n_votes: int, n_items: int, seed: int = 0) -> Simulation:
    """Nobody is odd: what a plain ranking assumes."""
    return simulate_crowd(
        n_votes, max(n_votes // 100, 2), n_items, deviants=0, clickers=0, seed=seed
    )


def path_crowd(n_votes: int, n_annotators: int, n_items: int, seed: int = 0) -> Simulation:
    """A tenth have a taste of their own, a tenth lean; a few vote most (Zipf)."""
    return simulate_crowd(int(n_votes / (1 - FRESH)), n_annotators, n_items, seed=seed)


def odd_crowd(kind: str, share: float, seed: int) -> Simulation:
    """20 items, 200 annotators with 50 votes each, a share of them odd in one way."""
    settings = {"deviants": 0, "clickers": 0, **ODD[kind]}
    amount = {key: share if value == 1.0 else value for key, value in settings.items()}
    return simulate_crowd(10_000, 200, 20, activity="even", seed=seed, **amount)


def who_is_odd(crowd: Simulation) -> np.ndarray:
    """True for annotators planted as odd."""
    odd = (crowd.position_bias != 0) | (np.diff(crowd.deviation.indptr) > 0)
    return odd if crowd.attention is None else odd | (crowd.attention != 1)


def real_votes(name: str) -> Votes:
    """IQA or WorldCollege, ties left out: no rival's likelihood has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        return read_votes(DATA / FILES[name], ties="drop")


def write(votes: Votes, folder: Path, *, fresh: bool, seed: int = 0) -> None:
    """Votes as four files of 32-bit numbers; with `fresh`, a fifth apart, and R's design matrix."""
    row = np.repeat(np.arange(len(votes.left)), votes.weight.astype(int))  # equal votes are one row
    order = np.random.default_rng(seed).permutation(row)
    n_held = int(FRESH * len(order)) if fresh else 0
    sizes = {"n_annotators": votes.n_annotators, "n_items": votes.n_items}
    (folder / "sizes.json").write_text(json.dumps(sizes))
    for prefix, rows in (("", order[n_held:]), ("fresh_", order[:n_held])):
        for name in ("annotator", "left", "right", "choice"):
            values = getattr(votes, name)[rows]
            values = np.sign(values) if name == "choice" else values
            values.astype(np.int32).tofile(folder / f"{prefix}{name}.bin")


def write_design(folder: Path) -> None:
    """The sparse design matrix for R, which has no quick way to make it."""
    design = effects_design(read(folder), read(folder, "fresh_"))
    for name, matrix in (("design", design.matrix), ("fresh", design.fresh.tocsc())):
        matrix.indices.astype(np.int32).tofile(folder / f"{name}_i.bin")
        matrix.indptr.astype(np.int32).tofile(folder / f"{name}_p.bin")
        matrix.data.astype(np.float64).tofile(folder / f"{name}_x.bin")
    design.owner.astype(np.int32).tofile(folder / "owner.bin")
