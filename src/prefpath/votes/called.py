"""What items are called, where the verdict knows them by a code: names stand beside the codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from prefpath.votes.column_pairs import OUTCOME, SHOWN, ColumnPair, pairs_of, parts_of

_CODES = frozenset(("id", "ids", "key", "code", "nr", "no", "number", "index", "uid", "uuid"))
_NAMES = ("name", "title", "label")
_TEXTS = (*_NAMES, "text")  # of ideas, where a row has the winner's and the loser's


class Called(NamedTuple):
    """Columns with the names of the two items: of left and right, or of winner and loser."""

    first: str
    second: str
    by_outcome: bool = False


def find_names(
    columns: Iterable[str], pair: ColumnPair, verdict: str
) -> tuple[ColumnPair, Called | None]:
    """The columns by which a verdict knows the items, and those with what the items are called.

    >>> columns = ["left_id", "left_name", "right_id", "right_name", "winner_id"]
    >>> names = ColumnPair("left_name", "right_name", ("left", "right"))
    >>> codes, called = find_names(columns, names, "winner_id")
    >>> codes.left, called.first
    ('left_id', 'left_name')
    """
    said = parts_of(verdict)
    if not said or said[-1] not in _CODES:
        return pair, None
    shown = [found for _, found in pairs_of(list(columns), SHOWN)]
    coded = [found for found in shown if parts_of(found.left)[-1] == said[-1]]
    if pair not in coded:
        return (coded[0], Called(pair.left, pair.right)) if len(coded) == 1 else (pair, None)
    for name in _NAMES:
        beside = [found for found in shown if parts_of(found.left)[-1] == name]
        if len(beside) == 1:
            return pair, Called(beside[0].left, beside[0].right)
    return pair, _of_outcome(list(columns), said)


def _of_outcome(columns: list[str], said: tuple[str, ...]) -> Called | None:
    """Winner Text and Loser Text beside Winner ID."""
    outcomes = {parts_of(found.left): found for _, found in pairs_of(columns, OUTCOME)}
    texts = (outcomes.get((*said[:-1], noun)) for noun in _TEXTS)
    found = next(filter(None, texts), None)
    return None if found is None else Called(found.left, found.right, by_outcome=True)
