"""The texts of a plain CSV file as numbers, in one compiled pass that reads eight bytes at once.

A field ends at the first byte of a word that is a comma or below a space: a subtraction carries
into the highest bit of such bytes, of all eight together. What is before it goes into the key of
the text as one number.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.compiling import by_reference, inner_kernel, kernel
from prefpath.votes.encode import CodeArray, IntArray

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

NEWLINE = 10
_RETURN, _COMMA = 13, 44
_WORD = 8  # bytes
_OF_EACH = np.uint64(0x0101010101010101)
_HIGHEST = np.uint64(0x8080808080808080)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_COMMAS = np.uint64(0x2C2C2C2C2C2C2C2C)
_QUOTES = np.uint64(0x2222222222222222)
_FIRST_SIGNS = np.uint64(0x1010101010101010)  # newlines, returns and tabs are below
_MIX = np.uint64(0x9E3779B97F4A7C15)  # an odd number near 2^64 / golden ratio: spreads all bits
_UNUSUAL, _FULL = -1, -2
# Labels there is room for: few at first, as clearing a large table takes longer than reading
# a small file.
_ROOMS = (2**12, 2**19)


@by_reference
class File(NamedTuple):
    """The bytes of a file, and the eight from each of them on."""

    data: Bytes
    words: Words


class TextCodes(NamedTuple):
    """Codes of the rows, by columns; where the texts of each dictionary first were."""

    codes: CodeArray
    spans: list[list[tuple[int, int]]]


def encode_texts(data: Bytes, start: int, dictionary: IntArray) -> TextCodes | None:
    """Number the texts of the columns that have a dictionary (not -1); None if anything is unusual.

    Unusual are quotation marks, tabs, rows with other numbers of columns, and too many labels.
    """
    n_rows = int(np.count_nonzero(data[start:] == NEWLINE)) + int(data[-1] != NEWLINE)
    if n_rows < 1 or len(data) < _WORD or sys.byteorder != "little":
        return None
    words = np.ndarray((len(data) - _WORD + 1,), np.uint64, data, strides=(1,))
    codes = np.empty((len(dictionary), n_rows), dtype=np.int32)
    n_dictionaries = int(dictionary.max()) + 1
    for room in _ROOMS:
        spans = np.zeros((n_dictionaries, room, 2), dtype=np.int64)
        n_labels = np.zeros(n_dictionaries, dtype=np.int64)
        n_read = _encode(File(data, words), start, dictionary, codes, spans, n_labels)
        if n_read == n_rows:
            return TextCodes(codes, [s[:n].tolist() for s, n in zip(spans, n_labels, strict=True)])
        if n_read != _FULL:
            break
    return None


@kernel()
def _encode(
    file: File,
    start: int,
    dictionary: IntArray,
    codes: CodeArray,
    spans: IntArray,
    n_labels: IntArray,
) -> int:
    """Number the texts; the rows done, or why not."""
    table = np.full((spans.shape[0], 2 * spans.shape[1]), -1, dtype=np.int32)
    n_columns, n_rows = codes.shape
    at = start
    for row in range(n_rows):
        for column in range(n_columns):
            begin = at
            word, key = _word(file, at), _MIX
            ends = _ends(word)
            while ends == 0:
                key = _mixed(key, word)
                at += _WORD
                word = _word(file, at)
                ends = _ends(word)
            before = _before(ends)
            at += _n_bytes(before)
            which = dictionary[column]
            if which >= 0:
                key = _mixed(key, word & before)
                code = _place(file, begin, at, key, which, table, spans, n_labels)
                if code < 0:
                    return _FULL
                codes[column, row] = code
            at = _after(file, at, column == n_columns - 1)
            if at < 0:
                return _UNUSUAL
    return n_rows if at >= len(file.data) else _UNUSUAL


@inner_kernel(allocates=False)
def _word(file: File, at: int) -> np.uint64:
    """Eight bytes, the first lowest; what is beyond the file are newlines."""
    if at < len(file.words):
        return file.words[at]
    word, data = np.uint64(0), file.data
    for k in range(_WORD):
        byte = data[at + k] if at + k < len(data) else np.uint8(NEWLINE)
        word |= np.uint64(byte) << np.uint64(8 * k)
    return word


@inner_kernel(allocates=False)
def _ends(word: np.uint64) -> np.uint64:
    """The highest bit of the first byte that can end a field; bits above it mean nothing."""
    comma, quote = word ^ _COMMAS, word ^ _QUOTES
    found = (word - _FIRST_SIGNS) & ~word
    found |= (comma - _OF_EACH) & ~comma
    found |= (quote - _OF_EACH) & ~quote
    return found & _HIGHEST


@inner_kernel(allocates=False)
def _before(ends: np.uint64) -> np.uint64:
    """All bits of the bytes before the first that ends a field."""
    first = ends & (~ends + np.uint64(1))
    return (first >> np.uint64(7)) - np.uint64(1)


@inner_kernel(allocates=False)
def _n_bytes(before: np.uint64) -> int:
    return int(((before & _OF_EACH) * _OF_EACH) >> np.uint64(56))


@inner_kernel(allocates=False)
def _mixed(key: np.uint64, word: np.uint64) -> np.uint64:
    key = (key ^ word) * _MIX
    return key ^ (key >> np.uint64(32))


@inner_kernel(allocates=False)
def _after(file: File, at: int, last: bool) -> int:
    """Where the next field begins; -1 if this one does not end as its column must."""
    data, size = file.data, len(file.data)
    if not last:
        return at + 1 if at < size and data[at] == _COMMA else _UNUSUAL
    if at < size and data[at] == _RETURN:
        at += 1
    return at + 1 if at >= size or data[at] == NEWLINE else _UNUSUAL


@inner_kernel(allocates=False)
def _place(
    file: File,
    begin: int,
    end: int,
    key: np.uint64,
    which: int,
    table: CodeArray,
    spans: IntArray,
    n_labels: IntArray,
) -> int:
    """Number of a text in a dictionary, where it is put if it is new; -1 if that is full."""
    slot = np.int64(key & np.uint64(table.shape[1] - 1))
    while table[which, slot] >= 0:
        code = table[which, slot]
        first, last = spans[which, code, 0], spans[which, code, 1]
        if last - first == end - begin and _same(file, first, begin, end - begin):
            return code
        slot = (slot + 1) & (table.shape[1] - 1)
    if n_labels[which] == spans.shape[1]:
        return -1
    code = n_labels[which]
    n_labels[which] += 1
    table[which, slot] = code
    spans[which, code, 0], spans[which, code, 1] = begin, end
    return code


@inner_kernel(allocates=False)
def _same(file: File, a: int, b: int, length: int) -> bool:
    """Whether two texts of one length are the same."""
    differ, left = np.uint64(0), length
    while left >= _WORD:
        differ |= _word(file, a) ^ _word(file, b)
        a, b, left = a + _WORD, b + _WORD, left - _WORD
    if left > 0:
        beyond = np.uint64(8 * (_WORD - left))
        differ |= (_word(file, a) ^ _word(file, b)) << beyond
    return differ == 0
