"""Text for a terminal: safe, and whole words."""

from __future__ import annotations

import io
import json

import pytest

from prefpath.cli.terminal import Listing, SafeConsole, json_text

EVIL = "a\x1b]0;title\x07b\x9b2Jc\u202egnp.exe\r\n"


def shown(what: object, width: int = 100, *, colour: bool = False) -> str:
    out = io.StringIO()
    SafeConsole(
        file=out, width=width, force_terminal=colour, color_system="standard" if colour else None
    ).print(what)
    return out.getvalue()


def test_labels_are_shown_and_not_obeyed() -> None:
    for what in (EVIL, Listing.of(EVIL, [(EVIL, "left")], [[EVIL]])):
        assert not set("\x1b\x07\x9b\u202e\r") & set(shown(what))


def test_our_own_colours_are_kept() -> None:
    assert "\x1b[31m" in shown("[red]warning[/]", colour=True)


def test_json_reads_back_whatever_the_labels() -> None:
    for ascii_only in (False, True):
        text = json_text({EVIL: ["日本", "\udc80"]}, ascii_only=ascii_only)
        assert json.loads(text) == {EVIL: ["日本", "\udc80"]}
        assert not set("\x1b\x07\x9b\u202e\r") & set(text)
        assert text.isascii() or not ascii_only


COLUMNS = [("rank", "right"), ("annotator", "left"), ("verdict", "left"), ("first", "right")]
ROWS = [[1, "Bartholomew", "one-sided clicker", "93 % (85 % to 97 %)"],
        [2, "Christopher", "", ""]]  # fmt: skip


@pytest.mark.parametrize("width", [100, 60, 40, 30, 22])
def test_words_stay_whole_in_a_narrow_terminal(width: int) -> None:
    text = shown(Listing.of("Annotators", COLUMNS, ROWS), width)
    assert max(len(line) for line in text.splitlines()) <= width
    words = set(text.replace(";", " ").replace(":", " ").split())
    assert {"Bartholomew", "Christopher", "one-sided", "clicker", "annotator"} - words <= {
        "annotator"  # of a paragraph the label itself is the head
    }


def test_markup_in_labels_is_text() -> None:
    text = shown(Listing.of("[bold]x[/]", [("a", "left")], [["[red]y[/]"]]))
    assert "[bold]x[/]" in text and "[red]y[/]" in text


def test_long_labels_are_cut_before_numbers_are_broken() -> None:
    label = "annotator-5f2b8c1e-0d4b-4c55-9a57-" + "7d1e" * 3
    columns = [("annotator", "left"), ("votes", "right"), ("95 % interval", "right")]
    text = shown(Listing.of("Who", columns, [[label, "1,234", "-0.12 to 0.34"]]), 50)
    assert max(map(len, text.splitlines())) <= 50
    assert any("7d1e" in line and "-0.12 to 0.34" in line for line in text.splitlines())


def test_a_title_may_be_wider_than_its_table() -> None:
    text = shown(Listing.of("Annotators otherwise unlike", [("a", "left")], [["ann"]]))
    assert text.splitlines()[0] == "Annotators otherwise unlike"
