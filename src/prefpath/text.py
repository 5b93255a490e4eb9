"""Words of messages: counts with the right plural, labels that are safe to print."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `import prefpath` waits for no library
    import numpy as np

# Control characters (escape sequences start with one), invisible format characters (some turn
# the direction of the line), halves of surrogate pairs, line and paragraph separators.
_UNPRINTABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"  # Persian words and emoji are written with them
_MOST_CHARACTERS = 60
_MOST_LISTED = 120  # characters of several labels
_SPELLING = "check the spelling"
_MOST_TRIED = 10_000  # names to compare a misspelt one with: a moment


def counted(n: int | np.integer, noun: str, plural: str | None = None) -> str:
    """A number and its noun.

    >>> counted(1, "vote"), counted(2000, "vote"), counted(0, "tie"), counted(2, "entry", "entries")
    ('1 vote', '2,000 votes', '0 ties', '2 entries')
    """
    return f"{int(n):,} {noun if int(n) == 1 else plural or noun + 's'}"


def agreeing(n: int | np.integer, one: str, many: str) -> str:
    """The word that agrees with a number.

    >>> agreeing(1, "has", "have"), agreeing(3, "has", "have")
    ('has', 'have')
    """
    return one if int(n) == 1 else many


def one(noun: str) -> str:
    """A noun with its article.

    >>> one("annotator"), one("group")
    ('an annotator', 'a group')
    """
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def printable(value: Any) -> str:
    r"""Text of a label or a message that cannot move the cursor, change colours or hide.

    Characters a terminal would obey are written as Python writes them; all others stay.

    >>> printable("plain"), printable("\x1b[31mred\x07"), printable("two\nlines"), printable("\u202eabc")
    ('plain', '\\x1b[31mred\\x07', 'two\\nlines', '\\u202eabc')
    """  # noqa: E501
    text = str(value)
    if text.isprintable():  # nearly always, and fast
        return text
    return "".join(map(_escaped, text))


def printable_lines(text: str) -> str:
    r"""The same for a text of several lines: line ends stay.

    >>> printable_lines("what\n  where: \x1b[2J")
    'what\n  where: \\x1b[2J'
    """
    return "\n".join(map(printable, text.split("\n")))


def shortened(value: Any, most: int = _MOST_CHARACTERS) -> str:
    """A label for a message: printable, and cut where it is very long.

    >>> shortened("x" * 100, 5)
    'xxxxx...'
    """
    text = str(value)
    return printable(text) if len(text) <= most else printable(text[:most]) + "..."


def abridged(value: Any, most: int = 80) -> str:
    """A label for a table: cut in its middle where it is very long, as labels differ at their end.

    >>> abridged("https://example.org/images/0017.png", 20)
    'https://ex...017.png'
    """
    text = str(value)
    return (
        text if len(text) <= most else f"{text[: most // 2]}...{text[len(text) - most // 2 + 3 :]}"
    )


def quoted(value: Any, most: int = _MOST_CHARACTERS) -> str:
    """A label between quotes, as Python writes it, for a message.

    >>> quoted("O'Brien"), quoted(7)
    ('"O\\'Brien"', '7')
    """
    value = value.item() if getattr(value, "shape", None) == () else value  # a number of NumPy's
    if not isinstance(value, str):
        return shortened(value, most)
    return printable(repr(value if len(value) <= most else value[:most] + "..."))


def typed(name: str) -> str:
    r"""A name as it is typed on a command line: whole, however long, and in quotes.

    >>> typed("which one?"), typed("O'Brien"), typed("5 $ or O'Brien")
    ("'which one?'", '"O\'Brien"', '\'5 $ or O\'"\'"\'Brien\'')
    """
    plain = repr(name)
    return shlex.quote(name) if "\\" in plain or re.search(r'^".*[$`!]', plain) else plain


def listed(labels: Sequence[Any] | np.ndarray, most: int = 5) -> str:
    """The first few labels, fewer where they are long, and how many more there are.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    >>> listed(["a long label " * 4] * 3, 3)[-11:]
    ' and 1 more'
    """
    shown = [shortened(label) for label in labels[:most]]
    while len(shown) > 1 and sum(map(len, shown)) > _MOST_LISTED:
        shown.pop()
    some = ", ".join(shown)
    more = len(labels) - len(shown)
    return f"{some} and {more:,} more" if more > 0 else some


def spelling(word: str, words: Iterable[Any]) -> str:
    """A remedy for a name that is not there: the nearest of those that are.

    >>> spelling("--annnotator", ["--annotator", "--left"]), spelling("x", ["left", "right"])
    ("check the spelling: is '--annotator' meant?", 'check the spelling')
    >>> spelling("20", ["2.0", "20.0"])
    "check the spelling: is '20.0' meant?"
    """
    from difflib import get_close_matches

    known = {str(known).lower(): known for known in reversed(list(words)[:_MOST_TRIED])}
    equal = [f"{word}.0"] if f"{word}.0" in known else []  # ids that a table had as floats
    near = equal or get_close_matches(word.lower(), known, n=1)
    return f"check the spelling: is {quoted(known[near[0]])} meant?" if near else _SPELLING


def _escaped(character: str) -> str:
    if character in _JOINERS or unicodedata.category(character) not in _UNPRINTABLE:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
