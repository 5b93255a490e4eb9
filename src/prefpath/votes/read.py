"""Read votes from files and data frames."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from prefpath.errors import VoteError, VoteWarning
from prefpath.frames import library_of
from prefpath.votes.votes import Votes

_PLAIN_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,17})")


def read_votes(
    source: Any,
    *,
    annotator: str | None = None,
    left: str | None = None,
    right: str | None = None,
    choice: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    ties: Literal["half", "drop"] = "half",
    position_known: bool = True,
) -> Votes:
    """Votes from a file or a data frame with columns annotator, left, right, choice."""
    columns, library, name = _columns(source)
    who = group or annotator or "annotator"
    wanted = [who, left or "left", right or "right", choice or "choice"]
    weight = weight or ("weight" if "weight" in columns else None)
    missing = [
        column for column in [*wanted, *([weight] if weight else [])] if column not in columns
    ]
    if missing:
        raise VoteError(
            f"{name} has no column {missing[0]!r}", expected=f"one of {', '.join(columns)}"
        )
    labels = [_labels(columns[column]) for column in wanted]
    n_rows = len(labels[3])
    empty = np.array([value is None or value == "" or value != value for value in labels[3]])
    kept = [column[~empty] for column in labels]
    weights = None if weight is None else np.asarray(columns[weight][~empty], dtype=float)
    votes = Votes.from_arrays(
        *kept, weights, position_known=position_known, self_comparisons="drop"
    )
    origin = dict(votes.origin) | {"source": name, "rows": n_rows, "no_verdict": int(empty.sum())}
    if origin["no_verdict"] or origin["self_comparisons"]:
        warnings.warn(
            f"left out {origin['no_verdict']} rows without a verdict and "
            f"{origin['self_comparisons']} comparisons of an item with itself",
            VoteWarning,
            stacklevel=2,
        )
    votes = replace(votes, origin=origin, frame_library=library)
    return votes.without_ties() if ties == "drop" else votes


def _columns(source: Any) -> tuple[dict[str, NDArray[Any]], str | None, str]:
    if isinstance(source, str | Path):
        import duckdb

        with duckdb.connect() as connection:
            try:
                table = connection.execute(
                    "SELECT * FROM read_csv(?, all_varchar=true, header=true)", [str(source)]
                ).fetchnumpy()
            except duckdb.Error as error:
                raise VoteError(f"cannot read {source}: {error}") from error
        return (
            {key: np.ma.filled(value.astype(object), None) for key, value in table.items()},
            None,
            str(source),
        )
    frame = nw.from_native(source, eager_only=True)
    return {key: frame[key].to_numpy() for key in frame.columns}, library_of(source), "the frame"


def _labels(values: NDArray[Any]) -> NDArray[Any]:
    """Text that is plain integers throughout becomes integers; everything else stays."""
    if values.dtype == object and all(
        isinstance(value, str) and _PLAIN_INTEGER.fullmatch(value) for value in values
    ):
        return values.astype(np.int64)
    return values
