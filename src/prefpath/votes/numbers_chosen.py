"""Numbers in a verdict column: 1, -1 and 0, strengths, or something else that is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prefpath.errors import VoteError
from prefpath.votes.check import LARGEST_STRENGTH
from prefpath.votes.verdicts import GRADES, Verdict, number


@dataclass(frozen=True)
class Chosen:
    """The words of a verdict column by what they are: sides, numbers, or neither."""

    sides: frozenset[str]
    values: frozenset[float]
    others: frozenset[str]

    @classmethod
    def of(cls, words: Iterable[str], sides: Mapping[str, Verdict]) -> Chosen:
        telling = frozenset(words)
        sided = frozenset(word for word in telling if word in sides or word in GRADES)
        values = {word: number(word).choice for word in telling - sided}
        return cls(
            sided,
            frozenset(value for value in values.values() if not math.isnan(value)),
            frozenset(word for word, value in values.items() if math.isnan(value)),
        )


def check_numbers(column: str, chosen: Chosen) -> None:
    """Refuse numbers that can be read in more than one way, or are no verdicts at all.

    Numbers of which some are below 0 say by their sign which side won. Numbers that are never
    below 0 would mean that the right item never won: they are a code, a share or another column.

    Raises
    ------
    VoteError
        With the option that says what they mean.
    """
    values = chosen.values
    if not values or values <= {1.0} or values <= {0.0} or (chosen.sides and values <= {-1, 0, 1}):
        return
    least, most = min(values), max(values)
    if max(-least, most) > LARGEST_STRENGTH:
        raise _no_verdicts(column, least, most)
    if least < 0.0:
        return
    if values <= {0.0, 1.0}:
        raise _ambiguous(column, "0 or 1", "1=left,0=right", "0=left,1=right", "1=left,0=tie")
    if values <= {0.0, 1.0, 2.0, 3.0} and all(value == int(value) for value in values):
        neutral = "".join(f",{v:g}=tie" for v in sorted(values - {1.0, 2.0}))
        seen = _either(f"{value:g}" for value in sorted(values))
        raise _ambiguous(column, seen, f"1=left,2=right{neutral}", f"2=left,1=right{neutral}")
    raise _shares(column, least, most) if most <= 100.0 else _no_verdicts(column, least, most)


def says_numbers(chosen: Chosen) -> str:
    """What is said of choices beyond 1, -1 and 0."""
    if not chosen.values or chosen.values <= {-1.0, 0.0, 1.0}:
        return ""
    return f"choices are graded from {min(chosen.values):g} to {max(chosen.values):g}"


def _ambiguous(column: str, seen: str, *codes: str) -> VoteError:
    said = {"left": "left", "right": "right", "tie": "a tie"}
    ways = "; ".join(
        f"if {', '.join(f'{word} is {said[side]}' for word, side in _pairs(code))}: "
        f"--choices {code}"
        for code in codes
    )
    first = dict(_pairs(codes[0]))
    return VoteError(
        f"every choice in the column {column!r} is {seen}, which can mean more than one thing",
        expected="1 for left, -1 for right, 0 for a tie; or left, right, tie",
        remedy=f"say what they mean: {ways} (in Python choices={first})",
    )


def _shares(column: str, least: float, most: float) -> VoteError:
    what = "probability" if most <= 1.0 else "percent"
    meant = "probabilities" if most <= 1.0 else "percentages"
    return VoteError(
        f"the column {column!r} holds numbers from {least:g} to {most:g}, none below 0: read as "
        "strengths, the right item would never have won",
        expected="1 for left, -1 for right, 0 for a tie; strengths below 0 where right won",
        remedy=f"if they are {meant} that left is better: --choices {what} "
        f'(choices="{what}"); if this is a score, a rating or a confidence, name the column of '
        f'the verdicts with --choice (choice="..."); {_AS_STRENGTHS}',
    )


def _no_verdicts(column: str, least: float, most: float) -> VoteError:
    return VoteError(
        f"the column {column!r} holds numbers from {least:g} to {most:g}, which are no verdicts",
        expected="1 for left, -1 for right, 0 for a tie; strengths of at most a million; or the "
        "label of the item that won",
        remedy='name the column of the verdicts with --choice (choice="..."); if these are ids of '
        "the winners, they must be the ids in the columns of the two items"
        + (f"; {_AS_STRENGTHS}" if most <= LARGEST_STRENGTH else ""),
    )


_AS_STRENGTHS = 'if left won every time, so strongly: --choices strength (choices="strength")'


def _pairs(code: str) -> list[tuple[str, str]]:
    return [(word, side) for word, _, side in (pair.partition("=") for pair in code.split(","))]


def _either(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
