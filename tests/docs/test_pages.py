"""Markdown pages: links lead somewhere, tables of figures name their command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import prefpath

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {DOCS / "sample-report.html", DOCS / "reference" / "messages.md"}  # by `make docs`
PAGES = sorted(
    page
    for page in (*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("*/README.md"))
    if page not in GENERATED
)
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


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    there = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}
    assert there | {"reference/messages.md"} == listed


def test_every_public_name_is_in_the_reference() -> None:
    text = (DOCS / "reference" / "api.md").read_text("utf-8")
    errors = {"MissingExtra", "PrefpathError", "SettingError", "VoteError", "VoteWarning"}
    for public in set(prefpath.__all__) - errors - {"__version__"}:
        assert f"::: prefpath.{public}\n" in text, public
    assert "::: prefpath.errors\n" in text
