"""What DuckDB could not read, in plain words, without its advice on options nobody can set here."""

from __future__ import annotations

import re
from typing import NamedTuple

from prefpath.errors import VoteError
from prefpath.text import shortened

_MOST_SAID = 300
_USERS_LINE = re.compile(r"Original Line: [^\n]*")


class _Known(NamedTuple):
    """A failure by words of DuckDB's message."""

    words: tuple[str, ...]
    what: str
    expected: str
    remedy: str


_KNOWN = (
    _Known(
        ("not utf-8 encoded",),
        "the text is not UTF-8",
        "text in UTF-8",
        "convert the file: in a spreadsheet, save it as CSV UTF-8; on a command line, for example: "
        "iconv -f windows-1252 -t utf-8 votes.csv > votes-utf8.csv",
    ),
    _Known(
        ("Out of Memory Error",),
        "the memory limit is too small for these votes",
        "room for one entry for each distinct label",
        'raise memory_limit, for example to "4GB"',
    ),
    _Known(
        ("unterminated quote found",),
        "a quote is opened and never closed",
        "quotes in pairs; a quote within quotes is written twice",
        "close the quote in that line",
    ),
    _Known(
        ("Maximum line size", "does not support a full read"),
        "a line is longer than two million characters",
        "shorter lines",
        "name the items by something shorter than their whole text",
    ),
    _Known(
        ("invalid state", "New Line", "new line"),
        "lines do not all end alike, or a quote is never closed",
        "one kind of line end, and quotes in pairs",
        "make the line ends alike, for example: tr '\\r' '\\n' < votes.csv > alike.csv",
    ),
    _Known(
        ("GZIP", "frame descriptor", "ZSTD", "zstd"),
        "the file is not compressed as its name says, or cut off",
        "a whole file made by gzip (.gz) or zstd (.zst)",
        "copy the file anew, or give it the name of what it is",
    ),
    _Known(
        ("Malformed JSON", "JSON transform error", "maximum recursion depth"),
        "{said}",
        'JSON objects, one a line, such as {{"annotator": "ann", "left": "x", "right": "y", '
        '"choice": "left"}}',
        "mend the file there",
    ),
    _Known(
        ("Parquet", "parquet"),
        "{said}",
        "a whole Parquet file",
        "look whether it was written to its end, and is Parquet",
    ),
)


def plain_error(error: Exception) -> VoteError:
    """DuckDB's error as a `VoteError` that says where, what was expected, and the remedy."""
    text = str(error)
    # A line of the user's may hold any words, those of errors, too.
    spoken = _USERS_LINE.sub("", text)
    line = re.search(r"CSV Error on Line: (\d+)", spoken)
    where = f" in line {line[1]}" if line else ""
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", spoken)
    if fields:
        return _unlike_fields(where, int(fields[1]), int(fields[2]))
    said = _said(spoken)
    for known in _KNOWN:
        if any(word in spoken for word in known.words):
            what = f"cannot be read{where}: {known.what.format(said=said)}"
            return VoteError(what, expected=known.expected.format(), remedy=known.remedy)
    return VoteError(
        f"cannot be read{where}: {said}",
        expected="columns of text, numbers, dates or booleans in a whole file or frame",
        remedy="turn columns of other types into text, or leave them out",
    )


def _unlike_fields(where: str, expected: int, found: int) -> VoteError:
    """DuckDB stops to count at the first field too many."""
    fields = f"{found} fields{' or more' if found > expected else ''}"
    above = "; if lines stand above that of the names, such as a title, remove them"
    return VoteError(
        f"cannot be read{where}: it has {fields} where the line of names has {expected}",
        expected="as many fields in every line as in the first",
        remedy='mend the line; a label that holds the delimiter stands in quotes: "a, b"'
        + (above if expected == 1 else ""),
    )


def _said(text: str) -> str:
    """DuckDB's own words, without the kind of error and what it advises."""
    kept = re.split(r"\n\s*\n|\nPossible|\nLINE \d|\n\s*file = |\s*\nTry ", text)[0]
    kept = re.sub(r"^[A-Z][A-Za-z/ -]*Error: ", "", kept).strip()
    return shortened(kept, _MOST_SAID)
