"""The leaderboard and the annotators as HTML tables that can be read without JavaScript."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.inference.words import missing_end
from prefpath.report.badges import also_of, badge
from prefpath.report.data import Columns, ReportData
from prefpath.report.escape import one_line, text
from prefpath.report.evidence import interval
from prefpath.report.format import count, fixed, known, number, percent, shown_or_unknown


@dataclass(frozen=True)
class Heading:
    """A column of a table: its words, what sorts it, and whether a phone shows it."""

    words: str
    sort: str = "number"
    minor: bool = False
    help: str = ""
    extra: str = ""  # safe HTML under the words


@dataclass(frozen=True)
class Cell:
    """What a cell shows (safe HTML) and what it is sorted by."""

    shown: str
    key: Any = None
    css: str = ""


def sortable_table(
    name: str, caption: str, headings: Sequence[Heading], rows: Sequence[Sequence[Cell]]
) -> str:
    """A table whose headings are buttons; rows keep their place as `data-row`."""
    head = "".join(_heading(heading) for heading in headings)
    body = "".join(f'<tr data-row="{k}">{_cells(row, headings)}</tr>' for k, row in enumerate(rows))
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}">'
        f'<table id="{name}"><caption>{text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _heading(heading: Heading) -> str:
    css = f"{heading.sort}{' minor' if heading.minor else ''}"
    if heading.sort == "none":
        return f'<th scope="col" class="{css}">{text(heading.words)}{heading.extra}</th>'
    hint = f' title="{text(heading.help)}"' if heading.help else ""
    return (
        f'<th scope="col" class="{css}" aria-sort="none">'
        f'<button type="button"{hint}>{text(heading.words)}</button></th>'
    )


def _cells(row: Sequence[Cell], headings: Sequence[Heading]) -> str:
    cells = []
    for k, (cell, heading) in enumerate(zip(row, headings, strict=True)):
        tag = 'th scope="row"' if k == _ROW_HEADING else "td"
        css = " ".join(filter(None, (heading.sort, "minor" if heading.minor else "", cell.css)))
        key = "" if cell.key is None else f' data-key="{text(cell.key)}"'
        cells.append(f'<{tag} class="{css}"{key}>{cell.shown}</{tag.split()[0]}>')
    return "".join(cells)


_ROW_HEADING = 1  # rank or sign first, then the label that names the row


# ---------------------------------------------------------------- the leaderboard


def leaderboard_table(data: ReportData) -> str:
    """Items from best to worst, group by group, with intervals where there are any."""
    span = score_span(data)
    headings = [
        Heading("Rank"),
        Heading("Item", "text"),
        Heading("Score and interval", "none", extra=axis(span)),
        Heading("Score", minor=True),
    ]
    optional = [
        (heading, name, write)
        for heading, name, write in _LEADERBOARD_COLUMNS
        if name in data.ranking
    ]
    if "score_low" in data.ranking:
        level = percent(data.level)
        headings.append(Heading(f"{level} interval", "none", minor=True))
    headings += [heading for heading, _, _ in optional]
    rows = [_leaderboard_row(data, k, span, optional) for k in range(data.n_items_shown)]
    return sortable_table("leaderboard", "Leaderboard at the slider's point", headings, rows)


_LEADERBOARD_COLUMNS: tuple[tuple[Heading, str, Callable[[Any], str]], ...] = (
    (Heading("Votes", minor=True), "votes", count),
    (
        Heading("Won", minor=True, help="share of its votes the item won; a tie is half"),
        "win_rate",
        percent,
    ),
    (
        Heading("Group", minor=True, help="items of one group were compared with each other"),
        "component",
        count,
    ),
)


def _leaderboard_row(
    data: ReportData, k: int, span: tuple[float, float], optional: Sequence[Any]
) -> list[Cell]:
    ranking = data.ranking
    score = ranking["score"][k]
    low, high = (_at(ranking, name, k) for name in ("score_low", "score_high"))
    row = [
        Cell(f'<span class="rank">{ranking["rank"][k]}</span>{_rank_interval(ranking, k)}', k),
        Cell(_item_cell(data, k), data.name(ranking["item"][k])),
        Cell(track(score, low, high, span), css="plot"),
        Cell(fixed(score), float(score), "score"),
    ]
    if "score_low" in ranking:
        row.append(Cell(_interval(ranking, k), css="interval"))
    for _, name, write in optional:
        value = ranking[name][k]
        row.append(Cell(shown_or_unknown(write(value)), value if known(value) else ""))
    return row


def _item_cell(data: ReportData, k: int) -> str:
    """The item's name on one line; on a phone, what its hidden columns say is under it."""
    ranking = data.ranking
    shown = data.name(ranking["item"][k])
    within = f" ({_interval(ranking, k)})" if "score_low" in ranking else ""
    won = percent(ranking["win_rate"][k]) if known(ranking["win_rate"][k]) else "–"
    n = ranking["votes"][k]
    small = (
        f'<span class="interval"><span>{fixed(ranking["score"][k])}{within}</span></span> · '
        f"{count(n)} {'vote' if n == 1 else 'votes'} · won {won}"
    )
    return (
        f'<button type="button" class="open item" aria-expanded="false" title="{text(shown)}">'
        f'{one_line(shown)}</button><small class="phone">{small}</small>'
    )


def _rank_interval(ranking: Columns, k: int) -> str:
    low, high = _at(ranking, "rank_low", k), _at(ranking, "rank_high", k)
    if not (known(low) and known(high)) or low == high:
        return ""
    return f' <span class="ranks" title="rank interval">{int(low)}–{int(high)}</span>'


def _interval(ranking: Columns, k: int) -> str:
    low, high = ranking["score_low"][k], ranking["score_high"][k]
    if not (known(low) and known(high)):
        missing = missing_end(ranking["win_rate"][k], ranking["votes"][k])
        return f'<span title="the votes do not bound this score">{missing}</span>'
    return f"{fixed(low)} to {fixed(high)}"


def track(score: float, low: Any, high: Any, span: tuple[float, float]) -> str:
    """A dot on a line, with its interval; the script moves it with the slider."""
    whisker = ""
    if known(low) and known(high):
        left, right = _place(low, span), _place(high, span)
        whisker = f'<i class="whisker" style="left:{left}%;width:{round(right - left, 2)}%"></i>'
    zero = (
        f'<i class="zero" style="left:{_place(0.0, span)}%"></i>' if span[0] < 0 < span[1] else ""
    )
    return (
        f'<span class="track" aria-hidden="true">{zero}{whisker}'
        f'<i class="dot" style="left:{_place(score, span)}%"></i></span>'
    )


def axis(span: tuple[float, float]) -> str:
    """Round numbers under the tracks, so that a place on them can be read."""
    marks = "".join(
        f'<i style="left:{_place(value, span)}%">{text(f"{value:g}".replace("-", "−"))}</i>'
        for value in round_numbers(span)
    )
    return f'<span class="axis" aria-hidden="true">{marks}</span>'


def round_numbers(span: tuple[float, float]) -> list[float]:
    """Three to six multiples of 1, 2 or 5 times a power of ten within the span.

    >>> round_numbers((-1.3, 2.2))
    [-1.0, 0.0, 1.0, 2.0]
    """
    width = span[1] - span[0]
    power = 10.0 ** np.floor(np.log10(width / 3.0))
    step = next((k * power for k in (5.0, 2.0) if width / (k * power) >= 3.0), power)
    first = int(np.ceil(span[0] / step))
    last = int(np.floor(span[1] / step))
    return [round(float(k * step), 10) for k in range(first, last + 1)]


def _place(value: float, span: tuple[float, float]) -> float:
    return round(100 * (value - span[0]) / (span[1] - span[0]), 2)


def score_span(data: ReportData) -> tuple[float, float]:
    """Lowest and highest score to draw: over all times and intervals, with a margin."""
    values = [data.journey.scores.ravel()]
    for name in ("score_low", "score_high"):
        if name in data.ranking:
            values.append(np.array([v for v in data.ranking[name] if known(v)], dtype=float))
    every = np.concatenate(values)
    low, high = float(every.min()), float(every.max())
    margin = 0.03 * (high - low) or 1.0
    return low - margin, high + margin


def _at(columns: Columns, name: str, k: int) -> Any:
    return columns[name][k] if name in columns else None


# ---------------------------------------------------------------- the annotators


def annotator_table(data: ReportData) -> str:
    """Annotators, those singled out first; the script opens their details."""
    columns = [column for column in _ANNOTATOR_COLUMNS if _any_known(data, column[1])]
    has_sides = bool(data.votes.position_known.any())
    who = data.votes.voter.capitalize()
    headings = [
        Heading("", "none"),
        Heading(who, "text"),
        Heading("Verdict", "text"),
    ]
    if has_sides:
        headings.append(Heading("Left : right clicks", minor=True, help="sorted by share of left"))
    headings += [heading for heading, _, _ in columns]
    rows = [_annotator_row(data, k, columns, has_sides) for k in range(data.n_annotators_shown)]
    return sortable_table("annotators", f"{who}s", headings, rows)


_ANNOTATOR_COLUMNS: tuple[tuple[Heading, str, Callable[[Any], str]], ...] = (
    (Heading("Votes", minor=True), "votes", count),
    (
        Heading("Agrees", minor=True, help="share of own votes that go with the common ranking"),
        "agreement",
        percent,
    ),
    (
        Heading("Left if equal", minor=True, help="chooses the left of two equal items; interval"),
        "first_if_equal",
        percent,
    ),
    (
        Heading(
            "Ranks otherwise",
            minor=True,
            help="share of the pairs of items ranked the other way round",
        ),
        "kendall_distance",
        percent,
    ),
    (
        Heading(
            "Own taste from",
            minor=True,
            help="point on the path (t) from which there is a taste of its own: the earlier, the "
            "further from the crowd",
        ),
        "deviation_entered",
        number,
    ),
)


def _any_known(data: ReportData, column: str) -> bool:
    shown = data.annotators.get(column, ())[: data.n_annotators_shown]
    return any(known(value) for value in shown)


def _annotator_row(data: ReportData, k: int, columns: Sequence[Any], has_sides: bool) -> list[Cell]:
    people = data.annotators
    name, verdict = people["annotator"][k], str(people["verdict"][k])
    button = (
        f'<button type="button" class="open" aria-expanded="false" title="{text(name)}">'
        f"{one_line(name)}</button>"
    )
    row = [
        Cell('<span class="now"></span>'),
        Cell(button, name),
        Cell(" ".join(badge(word) for word in (verdict, *also_of(people, k))), verdict),
    ]
    if has_sides:
        row.append(_clicks(people["left"][k], people["right"][k]))
    for _, column, write in columns:
        value = _by_now(data, column, people[column][k])
        within = f'<small class="within">{text(interval(people, column, k, write))}</small>'
        shown = shown_or_unknown(write(value)) + within
        row.append(Cell(shown, value if known(value) else ""))
    return row


def _by_now(data: ReportData, column: str, value: Any) -> Any:
    """A taste that begins beyond the chosen point is none there."""
    later = column == "deviation_entered" and known(value) and value > data.fitted.t
    return None if later else value


def _clicks(left: float, right: float) -> Cell:
    total = left + right
    share = left / total if total else 0.5
    bar = f'<span class="clicks" aria-hidden="true"><i style="width:{100 * share:.1f}%"></i></span>'
    return Cell(f"{count(left)} : {count(right)} {bar}", round(float(share), 4))
