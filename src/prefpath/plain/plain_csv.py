"""Large CSV files in which nothing is unusual, straight to codes; all others go to the reader.

The reader (`read_votes`) knows dialects, quoting, missing labels and what to say of them. A
plain ranking of millions of votes need not pay for that where none of it occurs: one compiled
pass numbers the texts (`text_codes`). Whatever is not expected, a quotation mark or a verdict
nobody knows, is left to the reader.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from prefpath.errors import VoteError, VoteWarning
from prefpath.plain.arrays import CodedComparisons
from prefpath.plain.text_codes import Bytes, encode_texts
from prefpath.votes import read_votes
from prefpath.votes.dialects import WEIGHTS
from prefpath.votes.encode import CodeArray, Labels

_HEAD = 65_536  # bytes of which the reader says how they are to be read
_SMALLEST = 1_000_000  # bytes: the reader takes no longer for less
_SHAPES = (
    ("left", "right", "choice", {"left": 1, "right": -1, "tie": 0}),
    ("model_a", "model_b", "winner", {"model_a": 1, "model_b": -1, "tie": 0}),
)
_ANNOTATORS = ("judge", "annotator", "worker", "user", "user_id", "annotator_id", "observer")
_FOR_THE_READER = {*WEIGHTS, "position_known", "label", "rating"}
_LOOKS_MISSING = {"", "na", "n/a", "nan", "none", "null", "-", "?"}
_LEAST_SHARE_OF_A_SIDE = 0.05  # fewer wins of one side: perhaps the winner is listed first


class _Header(NamedTuple):
    """Places of the columns; what the verdict's words mean."""

    n_columns: int
    left: int
    right: int
    verdict: int
    annotator: int
    meaning: dict[str, int]
    length: int


def read_plain_csv(source: Any, *, with_annotators: bool) -> CodedComparisons | None:
    """The votes of a plain CSV file; None where the reader should look at it."""
    if not isinstance(source, str | Path) or not str(source).endswith(".csv"):
        return None
    file = Path(source)
    if not file.is_file() or file.stat().st_size < _SMALLEST:
        return None
    data = np.memmap(file, dtype=np.uint8, mode="r")
    header = _read_header(bytes(data[:65_536]))
    if header is None:
        return None
    columns = _read_columns(data, header, with_annotators)
    return None if columns is None else _as_comparisons(columns, header)


def origin_of_plain_csv(file: str, found: CodedComparisons) -> dict[str, Any] | None:
    """What the reader says of the file's first rows, with the counts of all; None if it refuses.

    It holds no duplicates: nobody has looked for them.
    """
    with Path(file).open("rb") as stream:
        lines = stream.read(_HEAD).rpartition(b"\n")[0]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        head = Path(folder) / "head.csv"
        head.write_bytes(lines)
        try:
            origin = dict(read_votes(head).origin)
        except VoteError:
            return None
    del origin["duplicates_merged"]
    n_rows, ties = len(found.left), int((found.choice == 0).sum())
    return origin | {"source": file, "rows": n_rows, "votes": n_rows, "ties": ties}


def _read_header(start: bytes) -> _Header | None:
    line, newline, _ = start.partition(b"\n")
    if not newline or b'"' in line or not line.isascii():
        return None
    names = [name.strip() for name in line.decode().split(",")]
    if len(set(names)) < len(names) or _FOR_THE_READER & {name.casefold() for name in names}:
        return None
    for left, right, verdict, meaning in _SHAPES:
        if {left, right, verdict} <= set(names):
            who = next((names.index(name) for name in _ANNOTATORS if name in names), -1)
            return _Header(
                n_columns=len(names),
                left=names.index(left),
                right=names.index(right),
                verdict=names.index(verdict),
                annotator=who,
                meaning=meaning,
                length=len(line) + 1,
            )
    return None


class _Columns(NamedTuple):
    """Codes of the columns and the texts they stand for; no annotators have no codes."""

    left: CodeArray
    right: CodeArray
    verdict: CodeArray
    annotator: CodeArray
    items: list[str]
    words: list[str]
    people: list[str]


def _read_columns(data: Bytes, header: _Header, with_annotators: bool) -> _Columns | None:
    who = header.annotator if with_annotators else -1
    dictionary = np.array([-1] * header.n_columns)  # items share one
    for place, which in ((header.left, 0), (header.right, 0), (header.verdict, 1), (who, 2)):
        if place >= 0:
            dictionary[place] = which
    found = encode_texts(data, header.length, dictionary)
    if found is None:
        return None
    try:
        texts = [[bytes(data[a:b]).decode() for a, b in spans] for spans in found.spans]
    except UnicodeDecodeError:
        return None
    codes = found.codes
    annotator = codes[who] if who >= 0 else np.empty(0, dtype=np.int32)
    items, words, people = (*texts, [])[:3]
    return _Columns(
        codes[header.left], codes[header.right], codes[header.verdict], annotator,
        items, words, people,
    )  # fmt: skip


def _as_comparisons(columns: _Columns, header: _Header) -> CodedComparisons | None:
    words = [word.strip().lower() for word in columns.words]
    items, people = _in_order(columns.items), _in_order(columns.people)
    if items is None or people is None or not set(words) <= set(header.meaning):
        return None
    side = np.array([header.meaning[word] for word in words], dtype=np.int8)
    choice = side[columns.verdict]
    won, lost = int((choice > 0).sum()), int((choice < 0).sum())
    one_sided = min(won, lost) < _LEAST_SHARE_OF_A_SIDE * (won + lost)
    left, right = items[1][columns.left], items[1][columns.right]
    if one_sided or (left == right).any():
        return None
    known = len(columns.people) > 0
    return CodedComparisons(
        items=items[0],
        left=left,
        right=right,
        choice=choice,
        weight=None,
        annotator=people[1][columns.annotator] if known else None,
        n_annotators=len(columns.people),
    )


def _in_order(texts: list[str]) -> tuple[Labels, CodeArray] | None:
    """Labels in order, whole numbers as numbers, and the place of each text among them.

    None where labels look missing or nearly alike: the reader says so.
    """
    alike = {" ".join(text.split()).casefold() for text in texts}
    if len(alike) < len(texts) or alike & _LOOKS_MISSING:
        return None
    values: list[Any] = list(texts)
    if texts and all(_is_whole(text) for text in texts):
        values = [int(text) for text in texts]
    order = sorted(range(len(values)), key=values.__getitem__)
    place = np.empty(len(values), dtype=np.int32)
    place[order] = np.arange(len(values), dtype=np.int32)
    return np.array([values[k] for k in order]), place


def _is_whole(text: str) -> bool:
    """A plain integer without leading zeros, as the reader has it."""
    digits = text.removeprefix("-")
    plain = digits.isascii() and digits.isdecimal() and len(digits) <= 18
    return plain and (text == "0" or not digits.startswith("0"))
