"""The page of all errors and warnings, read off the source, misses none of them."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "prefpath"
_SAID = re.compile(
    r"\b(?:raise|return|yield|=)\s+(?:VoteError|SettingError|MachineError|MissingExtra)\("
    r"|\bwarnings\.warn\("
)


def _tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "messages.py"))


def test_what_grep_finds_is_on_the_page() -> None:
    known = {(one.where, one.line) for one in _tool()["everything"]()}
    said = {
        (str(file.relative_to(SOURCE)), number)
        for file in SOURCE.rglob("*.py")
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if _SAID.search(line)
    }
    assert len(said) > 150
    assert said <= known


def test_a_message_stands_in_its_section_with_what_to_do() -> None:
    tool = _tool()
    page = tool["page"](tool["everything"]())
    reading = page.split("## Reading votes")[1].split("\n## ")[0]
    assert "an item with itself" in reading
    assert 'drop these rows, or pass self\\_comparisons="drop"' in reading
    assert tool["ELSEWHERE"] not in page, "a new folder needs a section in tools/messages.py"
