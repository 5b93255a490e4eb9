"""The first pass: every distinct label and verdict, counted, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from prefpath.errors import VoteError
from prefpath.votes.database import Database
from prefpath.votes.encode import IntArray
from prefpath.votes.relation import Relation
from prefpath.votes.verdicts import NO_VERDICT, Grades, Reading, Verdict

_MOST_ROWS_NAMED = 100_000
_MOST_WORDS_NAMED = 5


@dataclass(frozen=True)
class Rules:
    """What becomes of ties, "both bad" and labels that are not known."""

    ties: Literal["half", "drop"] = "half"
    both_bad: Literal["tie", "drop"] = "tie"
    unknown: Literal["error", "drop"] = "error"
    grades: Grades | None = None


@dataclass(frozen=True)
class Census:
    """What every distinct verdict means, and how many rows have each fate."""

    kept: dict[str, Verdict]
    unknown: dict[str, int]
    counts: dict[str, int]
    n_rows: int
    n_bad_weights: int
    n_bad_positions: int


def take_census(database: Database, relation: Relation, read: Reading, rules: Rules) -> Census:
    """Count the distinct annotators, items and verdicts in one scan, and check them.

    Leaves them in the table `census`.

    Raises
    ------
    VoteError
        With row numbers: verdicts are unknown or labels missing (unless they are to be
        dropped), or weights cannot be used.
    """
    database.run(
        "CREATE OR REPLACE TEMP TABLE census AS SELECT annotator, left_item, right_item, verdict,"
        " grouping(annotator) = 0 AS of_annotator, grouping(left_item) = 0 AS of_left_item,"
        " grouping(right_item) = 0 AS of_right_item, grouping(verdict) = 0 AS of_verdict,"
        " count(*) AS n, count(*) FILTER (weight_is_bad) AS n_bad_weights,"
        f" count(*) FILTER (known_is_bad) AS n_bad_positions FROM ({relation.select})"
        " GROUP BY GROUPING SETS ((annotator), (left_item), (right_item), (verdict))",
        "collecting labels",
    )
    census = _count_verdicts(database, read, rules)
    if census.n_rows == 0:
        raise VoteError("there are no votes", expected="at least one vote")
    if rules.unknown == "error":
        _check_unknown(database, relation, census.unknown)
        _check_missing(database, relation)
    _check_weights_and_positions(database, relation, census)
    return census


def _count_verdicts(database: Database, read: Reading, rules: Rules) -> Census:
    found = database.rows(
        "SELECT verdict, n, n_bad_weights, n_bad_positions FROM census WHERE of_verdict"
    )
    kept: dict[str, Verdict] = {}
    unknown: dict[str, int] = {}
    counts = dict.fromkeys(("no_verdict", "unknown", "ties", "ties_dropped", "both_bad"), 0)
    counts["both_bad_dropped"] = 0
    for word, n, _, _ in found:
        meaning = NO_VERDICT if word is None else read(word, rules.grades)
        fate = _fate(meaning, rules)
        if fate == "unknown":
            unknown[word] = n
        if fate in ("vote", "ties", "both_bad"):
            kept[word] = meaning
        if fate != "vote":
            counts[fate] += n
    return Census(kept, unknown, counts, *(sum(row[i] for row in found) for i in (1, 2, 3)))


def _fate(verdict: Verdict, rules: Rules) -> str:
    if verdict.kind == "both bad":
        kept = rules.both_bad == "tie" and rules.ties == "half"
        return "both_bad" if kept else "both_bad_dropped"
    if verdict.kind == "none":
        return "no_verdict"
    if verdict.kind == "unknown":
        return "unknown"
    if verdict.choice == 0.0:
        return "ties" if rules.ties == "half" else "ties_dropped"
    return "vote"


def _check_weights_and_positions(database: Database, relation: Relation, census: Census) -> None:
    if census.n_bad_weights:
        raise VoteError(
            f"{census.n_bad_weights:,} votes have a weight that is missing, negative or not a "
            "finite number",
            rows=_rows(database, relation, "weight_is_bad", census.n_bad_weights),
            expected="finite weights of at least 0",
            remedy="correct these weights or drop the rows",
        )
    if census.n_bad_positions:
        raise VoteError(
            f"{census.n_bad_positions:,} votes do not say whether their position is known",
            rows=_rows(database, relation, "known_is_bad", census.n_bad_positions),
            expected="true or false",
            remedy="correct these entries, or name another column",
        )


def _check_unknown(database: Database, relation: Relation, unknown: Mapping[str, int]) -> None:
    if not unknown:
        return
    n_bad = sum(unknown.values())
    database.create_table("unknown_words", {"word": np.array(sorted(unknown), dtype=object)})
    is_unknown = "verdict IN (FROM unknown_words)"
    found = database.rows(
        f"SELECT DISTINCT written FROM ({relation.numbered}) WHERE {is_unknown}"
        f" ORDER BY written LIMIT {_MOST_WORDS_NAMED + 1}"
    )
    words = [_shortened(word) for (word,) in found]
    raise VoteError(
        f"{n_bad:,} votes have an unknown choice: {', '.join(words[:_MOST_WORDS_NAMED])}"
        f"{', ...' if len(words) > _MOST_WORDS_NAMED else ''}",
        rows=_rows(database, relation, is_unknown, n_bad),
        expected="1, -1, 0, a finite strength, or the words of a known dialect (docs/reading.md)",
        remedy='correct these labels, or drop the rows with unknown="drop"; where they name the '
        'item that won, dialect="crowdkit" reads them (on the command line --unknown, --dialect)',
    )


def _check_missing(database: Database, relation: Relation) -> None:
    for column, name in (
        ("annotator", "annotator"),
        ("left_item", "left item"),
        ("right_item", "right item"),
    ):
        found = database.rows(f"SELECT n FROM census WHERE of_{column} AND {column} IS NULL")
        if found:
            raise VoteError(
                f"{found[0][0]:,} votes have no {name}",
                rows=_rows(database, relation, f"{column} IS NULL", found[0][0]),
                expected="a label in every row",
                remedy='fill in these labels, or drop the rows with unknown="drop"',
            )


def _rows(database: Database, relation: Relation, condition: str, n_bad: int) -> IntArray:
    """Numbers of the rows that fulfil a condition; the first few where they are very many."""
    limit = n_bad if n_bad <= _MOST_ROWS_NAMED else 5
    found = database.arrays(
        f"SELECT row FROM ({relation.numbered}) WHERE {condition} ORDER BY row LIMIT {limit}",
        "looking for the rows",
    )
    return np.unique(np.asarray(found["row"], dtype=np.int64))


def _shortened(word: str, most: int = 40) -> str:
    return repr(word if len(word) <= most else word[:most] + "...")
