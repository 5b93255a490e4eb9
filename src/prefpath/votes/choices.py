"""What the words of a verdict column mean, settled from all of them; nothing is guessed.

A word may stand for a side (left, A, the name of a column), name the item that won, or be a
number. A code that can be read in more than one way is refused, with the option that settles it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

from prefpath.errors import SettingError, VoteError
from prefpath.text import counted, quoted
from prefpath.votes.column_pairs import differing_parts, side_words
from prefpath.votes.likely import likely_meanings
from prefpath.votes.numbers_chosen import Chosen, check_numbers, says_numbers, without_numbers
from prefpath.votes.verdicts import (
    BOTH_BAD,
    LEFT,
    NEUTRAL,
    NO_VERDICT,
    RIGHT,
    TIE,
    Verdict,
    WordReader,
    is_result,
    number,
    read_by_name,
    read_probability,
    read_result,
    read_strength_of_right,
    word_reading,
)

Choices = (
    Mapping[Any, str] | Literal["names", "probability", "percent", "strength", "strength-of-right"]
)
"""What a user says the verdicts mean: a meaning for each word, or one for all of them."""

_MEANINGS = {
    "left": LEFT,
    "right": RIGHT,
    "tie": TIE,
    "both bad": BOTH_BAD,
    "none": NO_VERDICT,
}
_SIDE_WORDS = (
    ("left", "right"), ("l", "r"), ("a", "b"), ("first", "second"), ("1st", "2nd"),
    ("model_a", "model_b"), ("model_1", "model_2"), ("[[a]]", "[[b]]"), ("1-0", "0-1"),
)  # fmt: skip
_MOST_NAMED = 0.5


def _example(means: Mapping[str, str]) -> str:
    """What words mean, as an option and in Python."""
    typed = ",".join(f"{word}={meaning}" for word, meaning in means.items())
    quote = "'" if re.search(r"[^\w=,.-]", typed) else ""
    return f"--choices {quote}{typed}{quote} (choices={json.dumps(means, ensure_ascii=False)})"


_EXAMPLE = _example({"yes": "left", "no": "right"})


class NamedRows(NamedTuple):
    """Rows with one word, and how many of them name their left or right item with it."""

    rows: int
    left: int
    right: int
    inexact: int


@dataclass(frozen=True)
class Settled:
    """How the words of a verdict column are read, and what is said about it."""

    read: WordReader
    by_name: bool = False
    said: str = ""
    expected: str = "left, right or tie; 1, -1 or 0; or the name of one of the two items"
    unknown: str = "an unknown choice"
    remedy: str = (
        f"correct these words; or say what they mean, for example {_EXAMPLE}; or name the column "
        'of the verdicts with --choice (choice="...")'
    )

    def remedy_for(self, known: Mapping[str, Verdict], unknown: Iterable[str]) -> str:
        """The remedy for words nobody knows, its example about all the words there are."""
        examples = " or ".join(map(_example, likely_meanings(known, unknown)))
        return self.remedy.replace(_EXAMPLE, examples) if examples else self.remedy


@dataclass(frozen=True)
class VerdictColumns:
    """The names of the columns a verdict is about.

    `is_scale`: nothing says at which end of the verdict's numbers the left item is.
    """

    verdict: str
    left: str
    right: str
    is_scale: bool = False

    @property
    def sides(self) -> dict[str, Verdict]:
        """Words that stand for a side: the usual ones, and what the columns' names say."""
        words = {word: side for pair in _SIDE_WORDS for word, side in _sided(*pair).items()}
        parts = differing_parts(self.left, self.right)
        if parts == ("home", "away"):
            words |= _sided("h", "a") | {"d": TIE}
        for written in side_words(self.left, self.right) if parts else ():
            words |= _sided(*written)
        return words | (_sided(*parts) if parts else {}) | _sided(self.left, self.right)


def settle_choices(
    columns: VerdictColumns,
    words: Mapping[str, int],
    named: Callable[[], Mapping[str, NamedRows]],
    given: Choices | None,
) -> Settled:
    """Decide what the words of a verdict column mean.

    Parameters
    ----------
    words : mapping
        Every distinct word, in lower case, and its number of rows.
    named : callable
        Counts the rows in which a word names an item; called only where that can be.
    given : optional
        What the user says they mean.

    Raises
    ------
    VoteError
        They can be read in more than one way.
    """
    if given is not None:
        return _as_given(columns, given)
    telling = [word for word in words if word not in NEUTRAL]
    sides = without_numbers(columns.sides, telling)
    naming = named() if telling else {}
    named_all = all(rows.left + rows.right == rows.rows for rows in naming.values())
    if naming and naming.keys() >= set(telling) and named_all:
        return _complete_names(columns, telling, naming, sides)
    chosen = Chosen.of(telling, sides)
    if not chosen.others and not chosen.values:
        return Settled(word_reading(sides), said=_say_sides(columns, telling, sides))
    if all(map(is_result, telling)):
        said = f"{columns.verdict} is the score of both, {columns.left}'s first: the higher won"
        return Settled(read_result, said=said)
    n_named = sum(rows.left + rows.right for rows in naming.values())
    if chosen.others and n_named >= _MOST_NAMED * sum(words[word] for word in telling):
        return by_name(columns.verdict, naming)
    check_numbers(columns.verdict, chosen, is_scale=columns.is_scale)
    said = _say_sides(columns, telling, sides) + says_numbers(chosen)
    return Settled(word_reading(sides, numbers=True), said=said)


def by_name(verdict: str, naming: Mapping[str, NamedRows]) -> Settled:
    """Every verdict names the item that won."""
    inexact = sum(rows.inexact for rows in naming.values())
    how = f" ({counted(inexact, 'vote')} in other case or blanks)" if inexact else ""
    return Settled(
        read_by_name,
        by_name=True,
        said=f"{verdict} names the winner{how}",
        expected="the label of one of the two items of the row, or tie",
        unknown="a choice that names neither of the two items",
        remedy="correct these words; or name the column of the verdicts with --choice "
        '(choice="...")',
    )


def _complete_names(
    columns: VerdictColumns,
    telling: list[str],
    naming: Mapping[str, NamedRows],
    sides: Mapping[str, Verdict],
) -> Settled:
    """Every verdict names an item of its row: a winner, unless it may also be a side."""
    positions = [sides, _sided("1", "2"), _sided("1", "0"), _sided("1", "-1")]
    possible = [codes for codes in positions if all(word in codes for word in telling)]
    for codes in possible:
        against = sum(
            naming[word].right if codes[word] is LEFT else naming[word].left for word in telling
        )
        if against:
            raise _sides_or_names(columns.verdict, telling, codes, against)
    return by_name(columns.verdict, naming)


def _sides_or_names(
    verdict: str, telling: list[str], codes: Mapping[str, Verdict], against: int
) -> VoteError:
    both = sorted(telling)
    mapping = ",".join(f"{w}={'left' if codes[w] is LEFT else 'right'}" for w in both)
    return VoteError(
        f"{verdict} is {' or '.join(map(quoted, both))}, which are names of items and may also "
        f"be sides; in {counted(against, 'vote')} the two differ",
        expected="verdicts that can be read in one way",
        remedy=f'if they name the winner: --choices names (choices="names"); if they say the '
        f"side: --choices {mapping} (choices={_as_mapping(mapping)})",
    )


def _as_given(columns: VerdictColumns, given: Choices) -> Settled:
    """The user's own meanings."""
    if given == "names":
        return by_name(columns.verdict, {})
    if given == "strength":
        return Settled(word_reading({}, numbers=True), said="choices are graded, above 0 left")
    if given == "strength-of-right":
        return Settled(read_strength_of_right, said="choices are graded, above 0 right")
    if given == "probability":
        return Settled(read_probability, said=f"{columns.verdict} is the probability of left")
    if given == "percent":
        reader: WordReader = partial(read_probability, whole=100.0)
        return Settled(reader, said=f"{columns.verdict} is the percentage of left")
    if not isinstance(given, Mapping):
        raise SettingError(
            f"choices is {given!r}",
            expected="names, probability, percent, strength, strength-of-right, or a meaning for "
            "each word, such as 1=left,2=right,0=tie",
        )
    meanings = {_normal(word): _meaning(word, said) for word, said in given.items()}
    said = ", ".join(f"{word} is {meaning}" for word, meaning in given.items())
    return Settled(
        _read_given(_own_sides(columns, meanings)),
        said=said,
        expected=f"one of {', '.join(map(str, given))}",
        remedy="correct these words; or give every word its meaning (left, right, tie, none): "
        f"{_EXAMPLE}",
    )


def _own_sides(columns: VerdictColumns, given: Mapping[str, Verdict]) -> Mapping[str, Verdict]:
    """The user's meanings, and what words such as A and B mean where none of these is given one."""
    sides = columns.sides
    if sides.keys() & given.keys():
        return given
    words = {word: side for word, side in sides.items() if number(word).kind != "vote"}
    return {**words, **given}


def parse_choices(text: str) -> Choices:
    """Choices as typed on a command line.

    Words copied from a terminal have line ends for blanks.

    >>> parse_choices("names"), parse_choices("1=left, 2=right")
    ('names', {'1': 'left', '2': 'right'})
    """
    text = re.sub(r"\s*\n\s*", " ", text)
    if "=" not in text:
        return text.strip()  # type: ignore[return-value]  # checked where it is used
    pairs = (pair.rpartition("=") for pair in text.split(","))
    return {word.strip(): meaning.strip() for word, _, meaning in pairs}


def _read_given(meanings: Mapping[str, Verdict]) -> WordReader:
    plain = word_reading(meanings)
    return lambda word, grades: plain(word if word in meanings else _normal(word), grades)


def _meaning(word: Any, said: str) -> Verdict:
    found = _MEANINGS.get(str(said).strip().lower().replace("_", " "))
    if found is None:
        raise SettingError(f"choices says that {word!r} means {said!r}",
                           expected=f"one of {', '.join(_MEANINGS)}")  # fmt: skip
    return found


def _normal(word: Any) -> str:
    """A word as verdicts are compared: 1, 1.0 and "1" are one."""
    text = str(word).strip().lower()
    value = number(text).choice
    return f"{value:g}" if value == value else text


def _say_sides(columns: VerdictColumns, telling: list[str], sides: Mapping[str, Verdict]) -> str:
    """Which word was taken for which side, where it is not plain from the word."""
    plain = {"left", "right", columns.left.lower(), columns.right.lower()}
    told = [word for word in sorted(telling) if word in sides and word not in plain]
    names = {LEFT: "left", RIGHT: "right", TIE: "a tie"}
    return "; ".join(f"{quoted(word)} is {names[sides[word]]}" for word in told[:4])


def _sided(first: str, second: str) -> dict[str, Verdict]:
    return {first.strip().lower(): LEFT, second.strip().lower(): RIGHT}


def _as_mapping(pairs: str) -> str:
    return "{" + ", ".join("{!r}: {!r}".format(*pair.split("=")) for pair in pairs.split(",")) + "}"
