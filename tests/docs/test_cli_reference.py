"""The page of the command line has every command and every option, read off the program."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from typer.testing import CliRunner

from prefpath.cli import app

TOOL = Path(__file__).parents[2] / "tools" / "cli_reference.py"


def test_what_help_shows_is_on_the_page() -> None:
    page: str = runpy.run_path(str(TOOL))["page"]()
    sections = {part.split("\n")[0]: part for part in page.split("\n## prefpath ")[1:]}
    assert {"check", "fit", "rank", "resume", "compare", "reproduce"} <= set(sections)
    for name, section in sections.items():
        shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"}).output
        options = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", shown)) - {"--help"}
        assert {word for word in options if word not in section} == set(), name
    assert "| 130, 143 |" in page.split("\n## prefpath ")[0]
