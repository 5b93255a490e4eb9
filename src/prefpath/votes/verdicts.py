"""What the words and numbers in a verdict column mean; nothing is guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

Meaning = Literal["vote", "both bad", "none", "unknown"]
Grades = Literal["strength", "weight"]


class Verdict(NamedTuple):
    """A verdict: 1 left, -1 right, 0 tie, or a strength between; `weight` is its grade's."""

    choice: float
    weight: float = 1.0
    kind: Meaning = "vote"


WordReader = Callable[[str, Grades | None], Verdict]
"""What a word in a verdict column means."""


def as_word(written: str) -> str:
    """A verdict without what does not matter in it: case and surrounding blanks."""
    return written.strip(" \t\r\n").lower()


LEFT, RIGHT, TIE = Verdict(1.0), Verdict(-1.0), Verdict(0.0)
BOTH_BAD = Verdict(0.0, kind="both bad")
NO_VERDICT = Verdict(math.nan, kind="none")
UNKNOWN = Verdict(math.nan, kind="unknown")

_TIES = dict.fromkeys(
    ("tie", "tied", "ties", "draw", "drawn", "equal", "both_equal", "both equal", "same",
     "no preference", "no_preference", "1/2-1/2", "½-½", "unentschieden", "keine präferenz",
     "égalité", "empate", "pareggio"), TIE,
)  # fmt: skip
_BOTH_BAD = dict.fromkeys(
    ("tie (bothbad)", "tie (both bad)", "bothbad", "both_bad", "both bad"), BOTH_BAD
)
_EMPTY = dict.fromkeys(("", "na", "n/a", "nan", "null"), NO_VERDICT)

# Arena-Hard counts a clear win three times (weight); half of full strength is its "slightly".
GRADES: Mapping[str, tuple[int, bool]] = {
    "a>>b": (1, True),
    "b<<a": (1, True),
    "a>b": (1, False),
    "b<a": (1, False),
    "a=b": (0, False),
    "b=a": (0, False),
    "b>a": (-1, False),
    "a<b": (-1, False),
    "b>>a": (-1, True),
    "a<<b": (-1, True),
}
_RESULT = re.compile(r"(\d{1,3})\s*[:\-–]\s*(\d{1,3})")
_CLEAR_WIN_WEIGHT = 3.0
_SLIGHT_WIN_STRENGTH = 0.5


def word_reading(words: Mapping[str, Verdict], *, numbers: bool = False) -> WordReader:
    """A reading of fixed words, ties, "both bad" and Arena-Hard's grades; numbers on request.

    >>> read = word_reading({"model_a": LEFT, "model_b": RIGHT})
    >>> read("model_b", None).choice, read("a>>b", None).weight, read("huh", None).kind
    (-1.0, 3.0, 'unknown')
    """
    meanings = {**_EMPTY, **_TIES, **_BOTH_BAD, **words}

    def read(word: str, grades: Grades | None) -> Verdict:
        if word in meanings:
            return meanings[word]
        if word in GRADES:
            return _graded(*GRADES[word], grades or "weight")
        return _as_graded(number(word), grades) if numbers else UNKNOWN

    return read


def read_probability(word: str, _grades: Grades | None, *, whole: float = 1.0) -> Verdict:
    """The probability (or share of 100) that the left item is better: the choice 2p - 1.

    >>> read_probability("0.75", None).choice, read_probability("75 %", None, whole=100.0).choice
    (0.5, 0.5)
    """
    if word in _EMPTY:
        return NO_VERDICT
    share = number(word.removesuffix("%").rstrip()).choice / whole
    return Verdict(2.0 * share - 1.0) if 0.0 <= share <= 1.0 else UNKNOWN


def is_result(word: str) -> bool:
    """Whether a word is a result of two sides.

    >>> is_result("2:1"), is_result("10 - 9"), is_result("1-0-0"), is_result("0.5")
    (True, True, False, False)
    """
    return _RESULT.fullmatch(word) is not None


def read_result(word: str, _grades: Grades | None) -> Verdict:
    """A result of both sides, the left item's first: 2:1.

    >>> read_result("2:1", None).choice, read_result("0-3", None).choice, read_result("1:1", None)
    (1.0, -1.0, Verdict(choice=0.0, weight=1.0, kind='vote'))
    """
    if word in _EMPTY:
        return NO_VERDICT
    found = _RESULT.fullmatch(word)
    if found is None:
        return _TIES.get(word, UNKNOWN)
    left, right = map(int, found.groups())
    return LEFT if left > right else RIGHT if left < right else TIE


def read_strength_of_right(word: str, grades: Grades | None) -> Verdict:
    """How strongly the right item is preferred: above 0 where it won.

    >>> read_strength_of_right("-3", None).choice, read_strength_of_right("tie", None).choice
    (3.0, 0.0)
    """
    verdict = _strength(word, grades)
    return verdict._replace(choice=-verdict.choice) if verdict.choice else verdict


def read_preference(word: str, grades: Grades | None) -> Verdict:
    """AlpacaEval: 1 is generator_1, 2 is generator_2, between is a mixture; 0 an old tie.

    As a strength, `preference` p is the choice 3 - 2p: its win probability (1 + choice) / 2
    is AlpacaEval's own 2 - p. As a weight it is the nearer side with weight |3 - 2p|.

    >>> read_preference("1.25", None), read_preference("1.25", "weight")
    (Verdict(choice=0.5, weight=1.0, kind='vote'), Verdict(choice=1.0, weight=0.5, kind='vote'))
    """
    if word in _EMPTY:
        return NO_VERDICT
    value = number(word).choice
    if value == 0.0:
        return TIE
    if not 1.0 <= value <= 2.0:  # also false for what is not a number
        return UNKNOWN
    return _as_graded(Verdict(3.0 - 2.0 * value), grades)


def read_rating(word: str, _grades: Grades | None) -> Verdict:
    """A rating: any finite number."""
    return NO_VERDICT if word in _EMPTY else number(word)


def read_one_hot(word: str, _grades: Grades | None) -> Verdict:
    """Arena 55k: three flags "left|right|tie", exactly one of them set.

    >>> read_one_hot("0|1|0", None).choice, read_one_hot("1|1|0", None).kind
    (-1.0, 'unknown')
    """
    flags = [FLAGS.get(flag) for flag in word.split("|")]
    if all(flag in _EMPTY for flag in word.split("|")):
        return NO_VERDICT
    if None in flags or sum(map(bool, flags)) != 1:
        return UNKNOWN
    return (LEFT, RIGHT, TIE)[flags.index(True)]


FLAGS = {
    "1": True, "1.0": True, "true": True, "yes": True,
    "0": False, "0.0": False, "false": False, "no": False,
}  # fmt: skip

NEUTRAL = frozenset({*_EMPTY, *_TIES, *_BOTH_BAD})
"""Words that say of no item that it won."""

BY_NAME = {"=left": LEFT, "=right": RIGHT}
"""Words the database writes where a verdict names the left or the right item."""

read_by_name = word_reading(BY_NAME)
_strength = word_reading({}, numbers=True)
read_model_12 = word_reading({"model_1": LEFT, "model_2": RIGHT, "error": NO_VERDICT})
read_flag = word_reading({word: LEFT if flag else RIGHT for word, flag in FLAGS.items()})
read_flag_of_right = word_reading({word: RIGHT if f else LEFT for word, f in FLAGS.items()})
read_first_or_second = word_reading({"1": LEFT, "2": RIGHT, "1.0": LEFT, "2.0": RIGHT})
read_grade = word_reading({"error": NO_VERDICT})


def number(word: str) -> Verdict:
    """A finite number as a verdict: how strongly the left item is preferred."""
    try:
        value = float(word)
    except ValueError:
        return UNKNOWN
    return Verdict(value) if math.isfinite(value) else UNKNOWN


def _as_graded(verdict: Verdict, grades: Grades | None) -> Verdict:
    """A strength; as a weight, a vote for its side that counts so much."""
    if grades != "weight" or verdict.kind != "vote" or not verdict.choice:
        return verdict
    return Verdict(math.copysign(1.0, verdict.choice), abs(verdict.choice))


def _graded(side: int, clear: bool, grades: Grades) -> Verdict:
    if grades == "weight":
        return Verdict(float(side), _CLEAR_WIN_WEIGHT if clear else 1.0)
    return Verdict(side * (1.0 if clear else _SLIGHT_WIN_STRENGTH))
