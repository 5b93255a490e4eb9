"""prefpath itself, under the same rules as its rivals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from harness import MANY, Task, Votes, best_on_path, main, read

import prefpath
from prefpath.predict import Comparisons, path_margins

warnings.simplefilter("ignore", prefpath.VoteWarning)


class Ready(NamedTuple):
    votes: prefpath.Votes
    fresh: Votes | None


def prepare(votes: Votes, folder: Path) -> Ready:
    fresh = read(folder, "fresh_") if (folder / "fresh_left.bin").exists() else None
    ours = prefpath.Votes.from_arrays(
        votes.annotator,
        votes.left,
        votes.right,
        votes.choice,
        items=np.arange(votes.n_items),
        annotators=np.arange(votes.n_annotators),
    )
    return Ready(ours, fresh)


def rank(votes: Votes) -> tuple[prefpath.PlainRanking, int]:
    choice = votes.choice.astype(np.int8)
    arrays = (None, votes.left, votes.right, choice)
    return prefpath.rank(arrays, interval=None), votes.n_items


def scores(_: Votes, found: tuple[prefpath.PlainRanking, int]) -> dict[str, np.ndarray]:
    ranking, n_items = found
    scores = np.zeros(n_items)
    scores[ranking.items.astype(int)] = ranking.scores
    return {"scores": scores}


def path(**settings: Any) -> Callable[[Ready], prefpath.Path]:
    """50 points from the first entry t0 to 50 t0, as `fit_path` does by default."""
    return lambda ready: prefpath.fit_path(ready.votes, n_threads=1, **settings)


def on_fresh_votes(ready: Ready, found: prefpath.Path) -> dict[str, Any]:
    fresh = ready.fresh
    assert fresh is not None
    known = np.ones(len(fresh.left), dtype=bool)
    asked = Comparisons(fresh.annotator, fresh.left, fresh.right, known)
    margins = (path_margins(found, asked, float(t)) for t in found.times)
    return best_on_path(margins, fresh.choice)


def signs_on_fresh_votes(ready: Ready, found: prefpath.Path) -> dict[str, Any]:
    figures = on_fresh_votes(ready, found)
    del figures["log_loss"]  # margins of least squares are no logits
    return figures


def find(ready: Ready) -> tuple[prefpath.PreferenceModel, Any]:
    model = prefpath.PreferenceModel(n_threads=1).fit(ready.votes)
    return model, prefpath.discover(ready.votes, n_threads=1)


def oddness(ready: Ready, found: tuple[prefpath.PreferenceModel, Any]) -> dict[str, np.ndarray]:
    """The clearest of the three tests of an annotator, who is named, and the common scores."""
    model, tests = found
    columns = model.ranking_columns(interval=None)
    scores = np.zeros(ready.votes.n_items)
    scores[np.array(columns["item"], dtype=int)] = columns["score"]
    p = np.fmin(np.fmin(tests.p_lean, tests.p_taste), tests.p_attention)
    named = tests.leaning | tests.deviating | tests.unlike_in_attention
    return {"scores": scores, "oddness": -np.nan_to_num(p, nan=1.0), "named": named}


if __name__ == "__main__":
    main(
        {
            "rank": Task(rank, judge=scores, warm=MANY),
            "path": Task(path(), prepare, on_fresh_votes, warm=MANY),
            "path-l1": Task(path(penalty="l1"), prepare, on_fresh_votes, warm=MANY),
            "path-quadratic": Task(path(loss="linear"), prepare, signs_on_fresh_votes, warm=MANY),
            "find": Task(find, prepare, oddness, warm=MANY),
        }
    )
