"""The first pass: every distinct label and verdict, counted, and what is wrong with them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from prefpath.errors import VoteError
from prefpath.text import agreeing, counted, quoted
from prefpath.votes.check import WEIGHTS_EXPECTED
from prefpath.votes.choices import NamedRows, Settled
from prefpath.votes.database import Database
from prefpath.votes.encode import IntArray
from prefpath.votes.relation import Relation
from prefpath.votes.verdicts import NEUTRAL, NO_VERDICT, Grades, Verdict, as_word

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

    def n_for(self, side: int, written: Mapping[str, int]) -> int:
        """Rows that choose the left (1) or the right item (-1)."""
        return sum(written[word] for word, v in self.kept.items() if v.choice * side > 0)


def count_labels(database: Database, relation: Relation) -> dict[str, int]:
    """Count the distinct annotators, items and verdicts in one scan, in the table `census`.

    Returns the verdicts as they were written, and how many rows have each.
    """
    bad_weights, bad_positions = (
        "0" if relation.fields[name] == "false" else f"count(*) FILTER ({name})"
        for name in ("weight_is_bad", "known_is_bad")
    )
    database.run(
        "CREATE OR REPLACE TEMP TABLE census AS SELECT annotator, left_item, right_item, verdict,"
        " grouping(annotator) = 0 AS of_annotator, grouping(left_item) = 0 AS of_left_item,"
        " grouping(right_item) = 0 AS of_right_item, grouping(verdict) = 0 AS of_verdict,"
        f" count(*) AS n, {bad_weights} AS n_bad_weights, {bad_positions} AS n_bad_positions"
        f" FROM ({relation.select})"
        " GROUP BY GROUPING SETS ((annotator), (left_item), (right_item), (verdict))",
        "collecting labels",
    )
    found = database.rows("SELECT verdict, n FROM census WHERE of_verdict AND verdict IS NOT NULL")
    return dict(found)


def as_words(written: Mapping[str, int]) -> dict[str, int]:
    """Verdicts without what does not matter in them, case and surrounding blanks.

    >>> as_words({"Left": 2, " left": 1, "tie": 4})
    {'left': 3, 'tie': 4}
    """
    words: Counter[str] = Counter()
    for verdict, n in written.items():
        words[as_word(verdict)] += n
    return dict(words)


def count_named(
    database: Database, relation: Relation, words: Mapping[str, int]
) -> dict[str, NamedRows]:
    """How often every word names an item of its row; nothing where no word is an item's label."""
    telling = np.array([word for word in words if word not in NEUTRAL], dtype=object)
    database.create_table("telling_words", {"word": telling})
    labels = " UNION ".join(
        f"SELECT lower(trim(CAST({side} AS VARCHAR), E' \\t\\r\\n')) AS label FROM census"
        f" WHERE of_{side}"
        for side in ("left_item", "right_item")
    )
    alike = (
        relation.coded
        or database.rows(
            f"SELECT count(*) FROM ({labels}) JOIN telling_words ON label = word OR"
            " TRY_CAST(label AS DOUBLE) = TRY_CAST(word AS DOUBLE)"
        )[0][0]
    )
    if not alike:
        return {}
    found = database.rows(
        "SELECT verdict, count(*), count(*) FILTER (named LIKE '%left'),"
        " count(*) FILTER (named LIKE '%right'), count(*) FILTER (named LIKE 'inexact%')"
        f" FROM ({relation.naming}) WHERE verdict IN (FROM telling_words) GROUP BY verdict"
    )
    return {word: NamedRows(*counts) for word, *counts in found}


def take_census(database: Database, relation: Relation, settled: Settled, rules: Rules) -> Census:
    """Read every distinct verdict of the table `census`, and check what was counted.

    Raises
    ------
    VoteError
        With row numbers: verdicts are unknown or labels missing (unless they are to be
        dropped), or weights cannot be used.
    """
    census = _count_verdicts(database, settled, rules)
    if census.n_rows == 0:
        raise VoteError(
            "there are no votes",
            expected="at least one vote",
            remedy="look whether the file was written to its end: it has names of columns only",
        )
    if rules.unknown == "error":
        _check_unknown(database, relation, census, settled)
        _check_missing(database, relation)
    _check_weights_and_positions(database, relation, census)
    return census


def _count_verdicts(database: Database, settled: Settled, rules: Rules) -> Census:
    found = database.rows(
        "SELECT verdict, n, n_bad_weights, n_bad_positions FROM census WHERE of_verdict"
    )
    kept: dict[str, Verdict] = {}
    n_of: dict[str, int] = {}
    unknown: dict[str, int] = {}
    counts = dict.fromkeys(("no_verdict", "unknown", "ties", "ties_dropped", "both_bad"), 0)
    counts["both_bad_dropped"] = 0
    for word, n, _, _ in found:
        meaning = NO_VERDICT if word is None else settled.read(as_word(word), rules.grades)
        fate = _fate(meaning, rules)
        if fate == "unknown":
            unknown[word] = n
        if fate in ("vote", "ties", "both_bad"):
            kept[word], n_of[word] = meaning, n
        if fate != "vote":
            counts[fate] += n
    kept = _weighing_as_many(kept, n_of)
    return Census(kept, unknown, counts, *(sum(row[i] for row in found) for i in (1, 2, 3)))


def _weighing_as_many(kept: dict[str, Verdict], n_of: Mapping[str, int]) -> dict[str, Verdict]:
    """Verdicts that weigh no more together than there are votes.

    A grade of 3 says more than one of 1, and is one vote: taken for three, intervals and
    verdicts would be those of votes that nobody cast.
    """
    total = sum(said.weight * n_of[word] for word, said in kept.items())
    mean = total / max(sum(n_of.values()), 1)
    if mean <= 1.0:
        return kept
    return {word: said._replace(weight=said.weight / mean) for word, said in kept.items()}


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
        weight = "count" if relation.counted else "weight"
        raise VoteError(
            f"{_have(census.n_bad_weights)} a {weight} that is missing, negative, not a finite "
            "number, or out of all proportion",
            rows=_rows(database, relation, "weight_is_bad", census.n_bad_weights),
            expected=f"{WEIGHTS_EXPECTED}, with a decimal point",
            remedy="write 0 where nobody voted, and correct the other counts"
            if relation.counted
            else "correct these weights or drop the rows",
        )
    if census.n_bad_positions:
        n_bad = census.n_bad_positions
        raise VoteError(
            f"{counted(n_bad, 'vote')} {agreeing(n_bad, 'does', 'do')} not say whether "
            f"{agreeing(n_bad, 'its', 'their')} position is known",
            rows=_rows(database, relation, "known_is_bad", census.n_bad_positions),
            expected="true or false",
            remedy="correct these entries, or name another column",
        )


def _check_unknown(
    database: Database, relation: Relation, census: Census, settled: Settled
) -> None:
    unknown = census.unknown
    if not unknown:
        return
    n_bad = sum(unknown.values())
    database.create_table("unknown_words", {"word": np.array(sorted(unknown), dtype=object)})
    is_unknown = "verdict IN (FROM unknown_words)"
    found = database.rows(
        f"SELECT DISTINCT written FROM ({relation.numbered}) WHERE {is_unknown}"
        f" ORDER BY written LIMIT {_MOST_WORDS_NAMED + 1}"
    )
    words = [quoted(word, 40) for (word,) in found]
    raise VoteError(
        f"{_have(n_bad)} {settled.unknown}: {', '.join(words[:_MOST_WORDS_NAMED])}"
        f"{', ...' if len(words) > _MOST_WORDS_NAMED else ''}",
        rows=_rows(database, relation, is_unknown, n_bad),
        expected=settled.expected,
        remedy=f'{_remedy(census, settled)}; or drop the rows with --unknown drop (unknown="drop")',
    )


def _remedy(census: Census, settled: Settled) -> str:
    if all(re.fullmatch(r"\s*[-+]?\d+,\d+\s*", word) for word in census.unknown):
        return "these numbers have a decimal comma: write them with a decimal point"
    return settled.remedy_for(census.kept, census.unknown)


def _check_missing(database: Database, relation: Relation) -> None:
    for column, name in (
        ("annotator", "annotator"),
        ("left_item", "left item"),
        ("right_item", "right item"),
    ):
        found = database.rows(f"SELECT n FROM census WHERE of_{column} AND {column} IS NULL")
        if found:
            raise VoteError(
                f"{_have(found[0][0])} no {name}",
                rows=_rows(database, relation, f"{column} IS NULL", found[0][0]),
                expected="a label in every row",
                remedy="fill in these labels, or drop the rows with --unknown drop "
                '(unknown="drop")',
            )


def _have(n: int) -> str:
    return f"{counted(n, 'vote')} {agreeing(n, 'has', 'have')}"


def _rows(database: Database, relation: Relation, condition: str, n_bad: int) -> IntArray:
    """Numbers of the rows that fulfil a condition; the first few where they are very many."""
    limit = n_bad if n_bad <= _MOST_ROWS_NAMED else 5
    found = database.arrays(
        f"SELECT row FROM ({relation.numbered}) WHERE {condition} ORDER BY row LIMIT {limit}",
        "looking for the rows",
    )
    return np.unique(np.asarray(found["row"], dtype=np.int64))
