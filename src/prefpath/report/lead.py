"""The first picture: the top of each board with its intervals."""

from __future__ import annotations

from prefpath.findings import Board
from prefpath.report.data import ReportData
from prefpath.report.escape import one_line, text
from prefpath.report.format import fixed, known, percent, plural
from prefpath.report.tables import axis, track

_ROWS, _ROWS_OF_MANY, _BOARDS = 8, 3, 3


def lead_chart(data: ReportData) -> str:
    """Scores and intervals of the first items, as a list that can be read without colours."""
    boards = data.findings.boards
    n_rows = _ROWS if len(boards) == 1 else _ROWS_OF_MANY
    span = _span(data, boards[:_BOARDS], n_rows)
    parts = "".join(
        _board(data, board, n_rows, span, len(boards) > 1) for board in boards[:_BOARDS]
    )
    level = percent(data.level)
    words = f"score and {level} interval" if "score_low" in data.ranking else "score"
    return f'<div class="lead">{parts}{axis(span)}<p class="note">{words}</p></div>'


def _board(
    data: ReportData, board: Board, n_rows: int, span: tuple[float, float], grouped: bool
) -> str:
    rows = "".join(_row(data, int(k), span) for k in board.rows[:n_rows])
    rest = len(board.rows) - n_rows
    more = f'<p class="note">and {plural(rest, "item")} more</p>' if rest > 0 else ""
    title = f"<h3>Group {board.number}</h3>" if grouped else ""
    return f"{title}<ol>{rows}</ol>{more}"


def _row(data: ReportData, k: int, span: tuple[float, float]) -> str:
    ranking = data.ranking
    shown = data.name(ranking["item"][k])
    low, high = (
        ranking[name][k] if name in ranking else None for name in ("score_low", "score_high")
    )
    words = fixed(ranking["score"][k])
    if known(low) and known(high):
        words += f" ({fixed(low)} to {fixed(high)})"
    return (
        f'<li title="{text(shown)}: {words}">{one_line(shown)}'
        f'{track(ranking["score"][k], low, high, span)}<span class="unseen">{words}</span></li>'
    )


def _span(data: ReportData, boards: tuple[Board, ...], n_rows: int) -> tuple[float, float]:
    rows = [int(k) for board in boards for k in board.rows[:n_rows]]
    ends = [
        float(data.ranking[name][k])
        for name in ("score", "score_low", "score_high")
        if name in data.ranking
        for k in rows
        if known(data.ranking[name][k])
    ]
    low, high = min(*ends, 0.0), max(*ends, 0.0)
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin
