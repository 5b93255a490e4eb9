"""What words of a verdict most likely mean: never read so, only put into examples of remedies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from prefpath.votes.column_pairs import SHOWN, parts_of
from prefpath.votes.verdicts import Verdict

_FIRST, _SECOND = (frozenset(words) for words in zip(*SHOWN, strict=True))
_EVEN = frozenset((
    "both", "equal", "equally", "same", "similar", "tie", "tied", "draw", "neither", "none",
    "indifferent", "unsure", "undecided", "neutral", "nobody",
))  # fmt: skip
_DENYING = frozenset(("no", "not", "cannot"))
_NO_ANSWER = frozenset(("skip", "skipped", "know", "error", "broken", "timeout", "invalid"))
_YES, _NO = frozenset(("true", "yes", "y", "t")), frozenset(("false", "no", "n", "f"))
_SAID = {1.0: "left", -1.0: "right", 0.0: "tie"}
_MOST_IN_EXAMPLE = 9
_PLAIN = r"[\w.() /\[\]<>=-]*\w[\w.() /\[\]<>=-]*"  # without what separates, or ends a quotation


def likely(word: str) -> str:
    """What a word says of left and right by its parts; empty where these do not say it.

    >>> likely("A is much better"), likely("Response B"), likely("About the same")
    ('left', 'right', 'tie')
    >>> likely("don't know"), likely("A better than B"), likely("maybe")
    ('none', '', '')
    """
    parts = set(parts_of(word))
    if parts & _NO_ANSWER:
        return "none"
    if parts & _EVEN:
        return "tie"
    sides = [side for side, words in (("left", _FIRST), ("right", _SECOND)) if parts & words]
    if sides:
        return sides[0] if len(sides) == 1 else ""
    return "tie" if parts & _DENYING and len(parts) > 1 else ""


def likely_meanings(known: Mapping[str, Verdict], unknown: Iterable[str]) -> list[dict[str, str]]:
    """What all words of a column may mean: in one way, or in two where only the user can know.

    Empty where nothing tells which word is left's.

    >>> likely_meanings({}, ["yes", "no"])
    [{'yes': 'left', 'no': 'right'}, {'no': 'left', 'yes': 'right'}]
    >>> likely_meanings({}, ["B wins", "A wins", "even"])
    [{'A wins': 'left', 'B wins': 'right', 'even': 'tie'}]
    """
    words = sorted(unknown)
    said = {word: _meant(verdict) for word, verdict in known.items()}
    if not all(re.fullmatch(_PLAIN, word) for word in (*said, *words)):
        return []
    if not all(said.values()) or len(said) + len(words) > _MOST_IN_EXAMPLE:
        return []
    hints = {word: likely(word) for word in words}
    if {"left", "right"} <= {*said.values(), *hints.values()}:
        return [{**said, **{word: hint or "tie" for word, hint in hints.items()}}]
    lacking = [side for side in ("left", "right") if side not in said.values()]
    if len(words) == len(lacking) == 1:
        return [{**said, words[0]: lacking[0]}]
    return _either_way(words) if len(words) == 2 and not said else []


def _either_way(words: list[str]) -> list[dict[str, str]]:
    """Two words of which either may be the left item's: a yes is asked of the left one first."""
    one, other = words
    if one.lower() in _NO and other.lower() in _YES:
        one, other = other, one
    return [{one: "left", other: "right"}, {other: "left", one: "right"}]


def _meant(verdict: Verdict) -> str:
    return "both bad" if verdict.kind == "both bad" else _SAID.get(verdict.choice, "")
