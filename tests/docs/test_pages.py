"""Markdown pages: links lead somewhere, tables of figures name their command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

import prefpath
from prefpath.cli.app import app

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {
    DOCS / name for name in ("sample-report.html", "reference/messages.md", "reference/cli.md")
}  # by `make docs`
PLACES = ("benchmarks", "examples", "src")
PAGES = sorted(
    page
    for page in (
        *ROOT.glob("*.md"),
        *DOCS.rglob("*.md"),
        *(file for place in PLACES for file in (ROOT / place).rglob("README.md")),
    )
    if page not in GENERATED
)
COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_COMMAND = re.compile(r"(?:`|^    )(?:python3? |prefpath |make |\$\(BIN\)|\.venv/bin/)", re.M)
_FIGURE = re.compile(r"(?<![\w.])\d*\.\d+(?![\w.])")
_CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """Anchors as MkDocs and GitHub make them from headings."""
    heads = re.findall(r"^#+\s+(.*)$", page.read_text("utf-8"), re.M)
    plain = [re.sub(r"[^\w\s-]", "", head.lower()).strip() for head in heads]
    return {re.sub(r"[\s]+", "-", head) for head in plain}


def sections(page: Path) -> list[str]:
    """The text under each heading, the heading with it."""
    return re.split(r"^(?=#)", page.read_text("utf-8"), flags=re.M)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = _CODE.sub("", page.read_text("utf-8"))
    for link in (first or second for first, second in _LINK.findall(text)):
        if re.match(r"\w+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists() or target in GENERATED, f"{name(page)} links to {link}"
        if anchor and target not in GENERATED:
            assert anchor in anchors(target), f"{name(page)} links to {link}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_table_of_figures_names_its_command(page: Path) -> None:
    """Three decimal numbers make it one of figures; its section says what prints them."""
    for section in sections(page):
        for table in re.findall(r"(?:^\|.*\n?)+", section, re.M):
            if len(_FIGURE.findall(_CODE.sub("", table))) < 3:
                continue
            head = section.splitlines()[0]
            said = _COMMAND.search(section)
            assert said, f"{name(page)}: a table under {head!r} names no command"


def _commands(page: Path) -> list[list[str]]:
    """What a page shows as code that begins with python, prefpath or make, in words."""
    text = page.read_text("utf-8")
    lines = [line.split("  #")[0].strip() for line in text.splitlines() if line[:4] == "    "]
    inline = [" ".join(code.split()) for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", text)]
    starts = ("python ", "prefpath ", "make ")
    return [code.split() for code in (*lines, *inline) if code.startswith(starts)]


def _program(words: list[str]) -> str:
    """The source of what `python ...` would run; empty if there is no such file."""
    if words[1] == "-m":
        file = ROOT / "src" / Path(*words[2].split(".")).with_suffix(".py")
    else:
        file = ROOT / words[1]
    return file.read_text("utf-8") if file.is_file() else ""


def _unknown_words(words: list[str]) -> list[str]:
    """What does not exist in a command: its target, subcommand, file or module, or options."""
    options = [word for word in words[1:] if re.fullmatch(r"--[a-z-]+", word)]
    if words[0] == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M)
        return [] if words[1] in targets else words[1:2]
    if words[0] == "prefpath":
        if words[1] not in COMMANDS:
            return [] if words[1] in ("--version", "--help") else words[1:2]
        known = {word for option in COMMANDS[words[1]].params
                 for word in (*option.opts, *option.secondary_opts)} | {"--help"}  # fmt: skip
        return [word for word in options if word not in known]
    if words[1] == "-m" and not words[2].startswith("prefpath"):
        return []
    source = _program(words)
    return [word for word in options if f'"{word}"' not in source] if source else words[1:]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_exist(page: Path) -> None:
    for words in _commands(page):
        assert not _unknown_words(words), f"{name(page)}: {' '.join(words)}"


def test_a_command_that_does_not_exist_is_noticed() -> None:
    for wrong in ("make nothing", "prefpath fits v.csv", "prefpath fit v.csv --rapport r.html",
                  "python benchmarks/none.py", "python benchmarks/growth.py --none"):  # fmt: skip
        assert _unknown_words(wrong.split()), wrong


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    there = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert there | {"reference/messages.md", "reference/cli.md"} == listed


def test_every_public_name_is_in_the_reference() -> None:
    text = (DOCS / "reference" / "api.md").read_text("utf-8")
    errors = {"MissingExtra", "PrefpathError", "SettingError", "VoteError", "VoteWarning"}
    for public in set(prefpath.__all__) - errors - {"__version__"}:
        assert f"::: prefpath.{public}\n" in text, public
    assert "::: prefpath.errors\n" in text
