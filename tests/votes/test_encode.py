"""Sorting and merging against the obvious way, and packed keys against separate digits."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefpath import VoteError
from prefpath.votes import encode
from prefpath.votes.encode import KeyLayout, as_labels, encode_labels, merge_keys, sort_and_merge

ROWS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 4),
        st.integers(0, 4),
        st.sampled_from([-1.0, -0.5, -0.0, 0.0, 0.5, 1.0]),
        st.booleans(),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=40,
)


def columns_of(rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    annotator, left, right, choice, known, weight = zip(*rows, strict=True)
    return {
        "annotator": np.array(annotator, dtype=np.int32),
        "left": np.array(left, dtype=np.int32),
        "right": np.array(right, dtype=np.int32),
        "choice": np.array(choice),
        "weight": np.array(weight) / 4.0,  # sums of quarters are exact in any order
        "position_known": np.array(known),
    }


def merged_the_obvious_way(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    count: Counter[tuple[Any, ...]] = Counter()
    weight: Counter[tuple[Any, ...]] = Counter()
    for annotator, left, right, choice, known, quarters in rows:
        if not known and left > right:
            left, right, choice = right, left, -choice
        key = (annotator, left, right, choice + 0.0, known)
        count[key] += 1
        weight[key] += quarters / 4.0
    return [(*key, count[key], weight[key]) for key in sorted(count)]


def as_rows(coded: encode.CodedVotes) -> list[tuple[Any, ...]]:
    annotator = np.repeat(np.arange(len(coded.offsets) - 1), np.diff(coded.offsets))
    columns = (annotator, coded.left, coded.right, coded.choice, coded.position_known,
               coded.count, coded.weight)  # fmt: skip
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(rows=ROWS, fits=st.booleans())
def test_merging_is_counting(rows: list[tuple[Any, ...]], fits: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not fits:
            patch.setattr(KeyLayout, "fits", False)
        coded = sort_and_merge(**columns_of(rows), n_annotators=5, n_items=5)
    assert as_rows(coded) == merged_the_obvious_way(rows)
    assert len(coded.offsets) == 6


@given(rows=ROWS, fits=st.booleans())
def test_without_weights_the_weight_is_the_count(rows: list[tuple[Any, ...]], fits: bool) -> None:
    columns = columns_of(rows) | {"weight": None}
    with pytest.MonkeyPatch.context() as patch:
        if not fits:
            patch.setattr(KeyLayout, "fits", False)
        coded = sort_and_merge(**columns, n_annotators=4, n_items=5)
    np.testing.assert_array_equal(coded.weight, coded.count)
    assert coded.count.sum() == len(rows)


@given(rows=ROWS, mask=st.lists(st.booleans(), min_size=40, max_size=40))
def test_taking_rows_by_mask_and_by_position(rows: list[tuple[Any, ...]], mask: list[bool]) -> None:
    coded = sort_and_merge(**columns_of(rows), n_annotators=4, n_items=5)
    kept = np.array(mask[: len(coded.left)])
    expected = [row for row, keep in zip(as_rows(coded), kept, strict=True) if keep]
    assert as_rows(coded.take(kept)) == expected
    assert as_rows(coded.take(np.flatnonzero(kept))) == expected


def test_keys_in_chunks_are_keys_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(0)
    columns: dict[str, Any] = {
        "annotator": generator.integers(0, 9, 200).astype(np.int32),
        "left": generator.integers(0, 7, 200).astype(np.int32),
        "right": generator.integers(0, 7, 200).astype(np.int32),
        "choice": generator.integers(-1, 2, 200).astype(float),
        "weight": None,
        "position_known": generator.random(200) < 0.5,
    }
    at_once = sort_and_merge(**columns, n_annotators=9, n_items=7)
    monkeypatch.setattr(encode, "_CHUNK", 7)
    assert as_rows(sort_and_merge(**columns, n_annotators=9, n_items=7)) == as_rows(at_once)


def test_counts_of_groups_add_up() -> None:
    key, weight, count = merge_keys(
        np.array([5, 3, 5]), np.array([1.0, 0.5, 0.25]), np.array([2, 1, 4])
    )
    assert (key.tolist(), weight.tolist(), count.tolist()) == ([3, 5], [0.5, 1.25], [1, 6])

    key, weight, count = merge_keys(np.array([5, 3, 5]), None, np.array([2, 1, 4]))
    assert (key.tolist(), weight.tolist(), count.tolist()) == ([3, 5], [1.0, 6.0], [1, 6])


@pytest.mark.parametrize("known", [True, False])
def test_a_tie_is_never_minus_zero(known: bool) -> None:
    """Be it given so, or the sides of a tie without a position changed."""
    coded = sort_and_merge(
        annotator=np.zeros(2, np.int32), left=np.array([1, 0], np.int32),
        right=np.array([0, 1], np.int32), choice=np.array([0.0, -0.0]), weight=None,
        position_known=np.full(2, known), n_annotators=1, n_items=2,
    )  # fmt: skip
    assert coded.choice.tolist() == [0.0] * (1 + known)
    assert not np.signbit(coded.choice).any()


def test_nobody_and_nothing_have_a_digit_of_one_value() -> None:
    assert KeyLayout(0, 0, 0).radices == (1, 1, 1, 1, 2)
    assert KeyLayout(3, 4, 5).radices == (3, 4, 4, 5, 2)


def test_the_packed_key_in_sql_is_the_packed_key() -> None:
    import duckdb

    layout = KeyLayout(1000, 70_000, 5)
    digits = (999, 69_999, 12_345, 4, 1)
    expected = layout.pack(tuple(np.array([digit]) for digit in digits))[0]
    sql = layout.pack_sql([f"{digit}::BIGINT" for digit in digits])
    assert duckdb.sql(f"SELECT {sql}").fetchall() == [(expected,)]


def test_the_largest_key_fits_or_is_said_not_to() -> None:
    assert KeyLayout(2**20, 2**19, 8).fits is False
    layout = KeyLayout(2**20, 2**19, 7)
    assert layout.fits
    largest = tuple(np.array([radix - 1]) for radix in layout.radices)
    assert layout.pack(largest)[0] == np.prod(np.array(layout.radices, dtype=object)) - 1


def test_labels_keep_their_order_of_first_mention_where_given() -> None:
    labels, codes = encode_labels(np.array(["b", "a", "b"]), np.array(["b", "a", "c"]), "item")
    assert (labels.tolist(), codes.tolist()) == (["b", "a", "c"], [0, 1, 0])
    with pytest.raises(VoteError, match="'z' is not among the 1 known items") as caught:
        encode_labels(np.array(["b", "z"]), np.array(["b"]), "item")
    assert caught.value.rows == (2,)
    with pytest.raises(VoteError, match="repeats a label"):
        encode_labels(np.array(["b"]), np.array(["b", "b"]), "item")


def test_an_unknown_item_on_the_right_is_in_the_row_of_its_vote() -> None:
    both_sides = np.array(["a", "z", "a", "b", "z", "z"])  # left of three votes, then right
    with pytest.raises(VoteError, match="'z'") as caught:
        encode_labels(both_sides, np.array(["a", "b"]), "item", n_votes=3)
    assert caught.value.rows == (2, 3)
    labels, codes = encode_labels(np.array([], dtype=str), np.array(["a"]), "item")
    assert (labels.tolist(), codes.tolist()) == (["a"], [])


def test_text_that_cannot_be_written_is_said_not_to_be_read() -> None:
    with pytest.raises(VoteError, match="a label cannot be read: surrogates not allowed"):
        encode_labels(np.array(["a", "\ud800"]), None, "item")
    assert encode_labels(np.array([3, 1, 3]), None, "item")[1].tolist() == [1, 0, 1]


def test_numbers_without_a_value_are_missing_labels() -> None:
    with pytest.raises(VoteError, match="2 votes have no item") as caught:
        as_labels(np.array([1.0, np.nan, 2.0, np.inf]), "item")
    assert caught.value.rows == (2, 4)


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_missing_labels_are_named_by_row(missing: Any) -> None:
    with pytest.raises(VoteError, match="1 vote has no annotator") as caught:
        as_labels(np.array(["a", missing], dtype=object), "annotator")
    assert caught.value.rows == (2,)


def test_labels_of_mixed_types_are_text() -> None:
    assert as_labels(np.array([1, "a"], dtype=object), "item").tolist() == ["1", "a"]
    of_one_type = np.array([10, 9], dtype=object)
    assert as_labels(of_one_type, "item").tolist() == [10, 9]
    with pytest.raises(VoteError, match="2 dimensions"):
        as_labels([["a"]], "item")
