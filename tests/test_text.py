"""Labels in messages: nothing a terminal would obey, nothing else changed."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from prefpath.text import counted, listed, printable, quoted


@given(text=st.text(st.characters()))
def test_what_is_printed_holds_no_character_a_terminal_obeys(text: str) -> None:
    shown = printable(text).replace("\u200c", "").replace("\u200d", "")  # joiners are letters' own
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in shown)
    shown.encode("utf-8")  # no half of a surrogate pair either


@given(text=st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


def test_counts_agree_with_their_nouns() -> None:
    assert [counted(n, "vote") for n in (0, 1, 2, 1_000)] == [
        "0 votes", "1 vote", "2 votes", "1,000 votes",
    ]  # fmt: skip


def test_long_labels_are_cut_and_lists_say_how_many_more() -> None:
    assert quoted("x" * 200).count("x") == 60
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"
