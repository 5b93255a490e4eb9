"""Texts numbered eight bytes at a time are those that splitting lines and commas gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefpath.plain.text_codes import encode_texts

# Whatever is no comma, quotation mark, or below a space; lengths about one and two words.
labels = st.text(
    st.characters(codec="utf-8", min_codepoint=32, exclude_characters=',"'), max_size=18
)


def encoded(text: str, dictionary: list[int]):
    return encode_texts(np.frombuffer(text.encode(), np.uint8), 0, np.array(dictionary))


def decoded(text: str, dictionary: list[int]) -> list[list[str]]:
    """The columns, from their codes and the places of their texts."""
    found, data = encoded(text, dictionary), text.encode()
    assert found is not None
    columns = []
    for column, which in enumerate(dictionary):
        texts = [data[a:b].decode() for a, b in found.spans[which]]
        assert len(set(texts)) == len(texts)
        columns.append([texts[code] for code in found.codes[column]])
    return columns


@given(
    st.lists(st.tuples(labels, labels, labels), min_size=1, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_columns_are_those_of_lines_and_commas(rows, end: str, last_end: bool) -> None:
    rows = [*rows, ("a longer text, without its comma".replace(",", ""), "b", "c")]
    text = end.join(",".join(row) for row in rows) + (end if last_end else "")
    assert decoded(text, [0, 0, 1]) == [list(column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("length", range(1, 26))
def test_texts_that_differ_in_one_byte_are_apart(length: int) -> None:
    """Whichever byte it is, at every offset within a word; and none is taken for its beginning."""
    base = "x" * length
    texts = [base, base + "x", *(base[:k] + "y" + base[k + 1 :] for k in range(length))]
    text = "\n".join(f"{'z' * (k % 8)},{label}" for k, label in enumerate(texts * 2))
    columns = decoded(text, [1, 0])
    assert columns[1] == texts * 2
    assert encoded(text, [1, 0]).codes[1].tolist() == [*range(len(texts))] * 2


@pytest.mark.parametrize("sign", ['"', "\t", "\r", "\0", "\n", ","])
@pytest.mark.parametrize("place", range(9))
def test_unusual_signs_are_told_wherever_they_are(sign: str, place: int) -> None:
    usual = "a,b,left\nb,a,right\n"
    label = "w" * place + sign + "w" * (9 - place)
    assert encoded(usual + f"a,{label},left\n" + usual, [0, 0, 1]) is None
    assert encoded(usual + f"a,{'w' * 10},left\n" + usual, [0, 0, 1]) is not None


def test_what_is_too_short_or_cut_off_is_not_read() -> None:
    assert encoded("a,b\nc\n", [0, 0]) is None  # too few columns
    assert encoded("a,b\n", [0, 0]) is None  # fewer bytes than a word
    assert encoded("a,b,left\nb,a,", [0, 0, 1]) is not None  # an empty text: the caller's to judge
    assert encoded("a,b,left\nb,a", [0, 0, 1]) is None
