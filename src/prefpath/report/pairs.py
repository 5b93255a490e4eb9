"""Who beats whom: expected shares of votes with intervals, and the votes there were."""

from __future__ import annotations

from itertools import combinations

from prefpath.plots.tally import pair_tables
from prefpath.report.data import ReportData
from prefpath.report.escape import one_line, text
from prefpath.report.format import count, known, percent
from prefpath.report.tables import Cell, Heading, sortable_table

_ITEMS = 8


def pair_table(data: ReportData) -> str:
    """Every pair of the first items of the largest group."""
    rows = data.findings.boards[0].rows[: min(_ITEMS, data.n_items_shown)]
    if len(rows) < 2:
        return ""
    share, battles = pair_tables(data.votes, data.item_codes[rows])
    found = [
        _row(data, (int(rows[i]), int(rows[j])), float(share[i, j]), float(battles[i, j]))
        for i, j in combinations(range(len(rows)), 2)
    ]
    headings = (
        Heading("", "none"),
        Heading("Item", "text"),
        Heading("against", "text"),
        Heading("Expected to win", help="share of the votes; a tie is half"),
        Heading(f"{percent(data.level)} interval", "none"),
        Heading("Votes between them", minor=True),
        Heading("Won of these", minor=True),
    )
    return (
        '<details class="panel pairs" open><summary>Expected shares between the first '
        f"{len(rows)} items</summary>"
        '<p class="note">● The interval excludes an even match.</p>'
        + sortable_table("pairs", "Who beats whom", headings, found)
        + "</details>"
    )


def _row(data: ReportData, pair: tuple[int, int], share: float, battles: float) -> list[Cell]:
    item, other = (data.ranking["item"][k] for k in pair)
    found = data.findings.win_probability(item, other)
    low, high = found["low"], found["high"]
    decided = known(low) and known(high)
    interval = f"{percent(low)} to {percent(high)}" if decided else "–"
    sure = (
        ""
        if not decided or low is None or high is None
        else ("●" if low > 0.5 or high < 0.5 else "")
    )
    return [
        Cell(f'<span title="the interval excludes an even match">{sure}</span>'),
        Cell(_titled(data.name(item)), data.name(item)),
        Cell(_titled(data.name(other)), data.name(other)),
        Cell(percent(found["probability"]), found["probability"]),
        Cell(interval),
        Cell(count(battles), battles),
        Cell(percent(share) if battles else "–", share if battles else ""),
    ]


def _titled(name: str) -> str:
    return f'<span title="{text(name)}">{one_line(name)}</span>'
