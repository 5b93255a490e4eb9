"""Numbers in a verdict column: 1, -1 and 0, strengths, or something else that is refused."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from prefpath.errors import VoteError
from prefpath.votes.check import LARGEST_STRENGTH
from prefpath.votes.verdicts import GRADES, Verdict, number

_LONGEST_SCALE = 10


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


def without_numbers(sides: Mapping[str, Verdict], words: Iterable[str]) -> dict[str, Verdict]:
    """The words of sides that these words may mean.

    Of columns item_1 and item_2, 1 and 2 are sides; among -2, -1, 1 and 2 they are numbers.

    >>> sorted(without_numbers({"1": Verdict(1), "b": Verdict(-1)}, ["-1", "1"]))
    ['b']
    """
    others = {value for word in words if word not in sides for value in [number(word).choice]}
    if all(math.isnan(value) or value == 0.0 for value in others):
        return dict(sides)
    return {word: side for word, side in sides.items() if math.isnan(number(word).choice)}


def check_numbers(column: str, chosen: Chosen, *, is_scale: bool = False) -> None:
    """Refuse numbers that can be read in more than one way, or are no verdicts at all.

    Numbers of which some are below 0 say by their sign which side won. Numbers that are never
    below 0 would mean that the right item never won: they are a code, a share or another column.
    Of a scale nobody knows which side is above 0: surveys have the second item there as often.

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
    if values - {0.0} == {-1.0, 1.0, 2.0}:  # -1 for neither, or 2 for it: no scale has such steps
        rest = ",0=tie" if 0.0 in values else ""
        codes = (f"1=left,2=right,-1=tie{rest}", f"1=left,-1=right,2=tie{rest}")
        raise _ambiguous(column, _either(f"{value:g}" for value in sorted(values)), *codes)
    if least < 0.0:
        if is_scale:
            raise _which_end(column, least, most)
        return
    if values <= {0.0, 1.0}:
        raise _ambiguous(column, "0 or 1", "1=left,0=right", "0=left,1=right", "1=left,0=tie")
    if values <= {0.0, 1.0, 2.0, 3.0} and all(value == int(value) for value in values):
        neutral = "".join(f",{v:g}=tie" for v in sorted(values - {1.0, 2.0}))
        seen = _either(f"{value:g}" for value in sorted(values))
        from_0 = ("0=left,1=right,2=tie",) if values == {0.0, 1.0, 2.0} else ()
        codes = (f"1=left,2=right{neutral}", f"2=left,1=right{neutral}", *from_0)
        raise _ambiguous(column, seen, *codes)
    if most <= _LONGEST_SCALE and all(value == int(value) for value in values):
        raise _steps(column, int(least), int(most))
    if values <= {0.0, 0.5, 1.0}:
        code = "1=left,0.5=tie,0=right"
        raise _ambiguous(column, "0, 0.5 or 1", code, "0=left,0.5=tie,1=right")
    raise _shares(column, least, most) if most <= 100.0 else _no_verdicts(column, least, most)


def says_numbers(chosen: Chosen) -> str:
    """What is said of choices beyond 1, -1 and 0."""
    if not chosen.values or chosen.values <= {-1.0, 0.0, 1.0}:
        return ""
    least, most = min(chosen.values), max(chosen.values)
    return f"choices are graded from {least:g} to {most:g}, above 0 left"


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


def _which_end(column: str, least: float, most: float) -> VoteError:
    return VoteError(
        f"the column {column!r} is graded from {least:g} to {most:g}, and nothing says which item "
        "is better above 0",
        expected="grades whose sign can be read in one way",
        remedy='if left is better above 0: --choices strength (choices="strength"); if right is: '
        '--choices strength-of-right (choices="strength-of-right"); if it is no verdict, name the '
        'column of the verdicts with --choice (choice="...")',
    )


def _steps(column: str, least: int, most: int) -> VoteError:
    """Whole numbers of a few steps: a scale from one item to the other, or of something else."""
    steps, middle = range(least, most + 1), (least + most) / 2
    sides = ("left", "tie", "right")
    code = ",".join(f"{step}={sides[(step > middle) - (step < middle) + 1]}" for step in steps)
    first = dict(_pairs(code))
    return VoteError(
        f"the column {column!r} holds numbers from {least} to {most}, none below 0: read as "
        "strengths, the right item would never have won",
        expected="1 for left, -1 for right, 0 for a tie; strengths below 0 where right won",
        remedy=f"if {least} is clearly left and {most} clearly right: --choices {code} (in Python "
        f"choices={first}); if this is a score, a rating or a confidence, name the column of the "
        f'verdicts with --choice (choice="..."); {_AS_STRENGTHS}',
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
