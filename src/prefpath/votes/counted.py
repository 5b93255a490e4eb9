"""Tables of counts: one row for a pair of items, and how many votes went to either of them."""

from __future__ import annotations

from typing import NamedTuple

from prefpath.votes.database import quote_text
from prefpath.votes.dialects import Dialect
from prefpath.votes.source import Source

WORDS = ("=left", "=right", "tie", "both bad")
"""What the counts of a dialect's four columns of verdicts are votes for; a column may lack."""


class Counted(NamedTuple):
    """SQL that makes a row of each count.

    `around` joins the outcomes to every row; `verdict` and `weight` are an outcome's word and
    count. `kept` leaves out counts of 0; a row that has no others stays, without a verdict.
    """

    around: str
    verdict: str
    weight: str
    kept: str


def count_rows(source: Source, dialect: Dialect) -> Counted:
    """The votes of columns that count them."""
    counts = [
        (word, source.column(name).number)
        for word, name in zip(WORDS, dialect.verdict, strict=True)
        if name
    ]
    words = ", ".join(f"({quote_text(word)})" for word, _ in counts)
    number = " ".join(f"WHEN {quote_text(word)} THEN {count}" for word, count in counts)
    of_word = f"CASE outcome.word_ {number} END"
    nothing = " AND ".join(f"coalesce({count} = 0, false)" for _, count in counts)
    is_first = f"outcome.word_ = {quote_text(WORDS[0])}"
    return Counted(
        around=f", (VALUES {words}) AS outcome(word_)",
        verdict=f"CASE WHEN {nothing} THEN NULL ELSE outcome.word_ END",
        weight=f"CASE WHEN {nothing} THEN 1.0 ELSE {of_word} END",
        kept=f" WHERE coalesce({of_word} <> 0, true) OR ({nothing} AND {is_first})",
    )
