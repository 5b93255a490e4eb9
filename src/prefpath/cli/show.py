"""What a fit says on a terminal: tables a person can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from prefpath.cli.app import table
from prefpath.cli.outcome import Outcome
from prefpath.cli.show_features import show_features
from prefpath.cli.show_own import show_own_items
from prefpath.cli.show_people import between, more, show_annotators
from prefpath.text import abridged

if TYPE_CHECKING:
    from prefpath.cli.followers import FollowersBoard
    from prefpath.findings import Findings
    from prefpath.fitted import Fitted

Columns = Mapping[str, Any]


def result(console: Console, found: Outcome, *, top: int) -> None:
    """Leaderboard, what it means, who is unlike the crowd, and whose ranking was asked for."""
    from prefpath.findings.cautions import STOPPED_AT_THE_END

    findings = found.findings
    before = [sentence for sentence in findings.cautions if sentence != STOPPED_AT_THE_END]
    if findings.boards[1:]:
        before.append(separate_groups(findings))
    for sentence in before:
        console.print(sentence, style="yellow", markup=False, highlight=False)
    console.print(leaderboard(findings, findings.ranking, top=top))
    more(console, len(findings.ranking["item"]), top, "item")
    meanings = (
        findings.meaning_of_unbounded,
        findings.meaning_of_intervals,
        findings.meaning_of_position,
        findings.meaning_of_attention,
        findings.meaning_of_scores,
        held_out(findings.fitted),
        *(sentence for sentence in findings.cautions if sentence == STOPPED_AT_THE_END),
    )
    for meaning in filter(None, meanings):
        console.print(meaning, markup=False, highlight=False)
    show_features(console, findings, top)
    show_annotators(console, findings, top)
    show_own_items(console, findings, top)
    if found.followers is not None:
        show_followers(console, findings, found.followers, top)
    for name, columns in found.personal.items():
        personal(console, name, columns, top=top, shrunk=_differ(columns, findings.ranking))


def separate_groups(findings: Findings) -> str:
    """That groups never met, before any rank."""
    leaders = ", ".join(
        f"{abridged(findings.name(board.leader), 40)} ({len(board.rows)})"
        for board in findings.boards[:3]
    )
    rest = len(findings.boards) - 3
    return (
        f"The items fall into {len(findings.boards):,} groups that were never compared with each "
        "other: ranks hold within a group, and no item leads them all. First of each (items): "
        f"{leaders}{f', and {rest:,} more' if rest > 0 else ''}."
    )


def show_followers(console: Console, findings: Findings, of: FollowersBoard, top: int) -> None:
    """The leaderboard of those who follow, and whose it is."""
    console.print()
    if of.ranking:
        title = "Leaderboard of those who follow"
        console.print(leaderboard(findings, of.ranking, top=top, title=title))
        more(console, len(of.ranking["item"]), top, "item")
    for sentence in (of.meaning, of.intervals):
        if sentence:
            console.print(sentence, markup=False, highlight=False)


def leaderboard(
    findings: Findings, ranking: Columns, *, top: int, title: str = "Leaderboard"
) -> Any:
    """A leaderboard with intervals."""
    number = _number_format(findings.scale)
    grouped = "component" in ranking
    level = f"{findings.intervals.level:.0%}".replace("%", " %")
    columns = [
        *([("group", "right")] if grouped else []),
        ("rank", "right"),
        (f"{level} ranks", "right"),
        ("item", "left"),
        ("score", "right"),
        (f"{level} interval", "right"),
        ("votes", "right"),
        ("won", "right"),
    ]
    rows = []
    for k in range(min(top, len(ranking["item"]))):
        row = {name: values[k] for name, values in ranking.items()}
        rows.append(
            [
                *([row["component"]] if grouped else []),
                row["rank"],
                between(row.get("rank_low"), row.get("rank_high"), str),
                abridged(row.get("name", row["item"])),
                number(row["score"]),
                _score_interval(row, number),
                f"{row['votes']:,.0f}",
                "" if row["win_rate"] is None else f"{row['win_rate']:.0%}",
            ]
        )
    return table(title, columns, rows)


def held_out(fitted: Fitted) -> str:
    """One sentence on how well votes are predicted that were held out."""
    found, common = fitted.held_out, fitted.held_out_of_one_ranking
    if found is None or common is None:
        return f"No cross-validation: everything is said at t = {fitted.t:.4g}."
    surely = fitted.criterion == "log-loss"

    def told(wrong: float, error: float, words: str = "") -> str:
        return f"{wrong:.1%}{words}" + (f" (log-loss {error:.4f})" if surely else "")

    said = told(found.wrong, found.error, " of held-out votes are predicted wrong")
    by_hand = f", at t = {fitted.t:.4g} as asked for" if fitted.chosen_by_hand else ""
    if fitted.votes.n_annotators == 1 or not fitted.votes.choice.any():
        return f"{said}{by_hand}."
    alike = told(found.wrong, found.error) == told(common.wrong, common.error)
    if (found.error >= common.error or alike) and not fitted.chosen_by_hand:
        return f"{said}; nothing of anybody's own predicts better."
    return f"{said}{by_hand}; with one ranking for all, {told(common.wrong, common.error)}."


_HEADINGS = {"own": "difference"}  # of the two scores


def personal(
    console: Console, name: str, columns: dict[str, Any], *, top: int, shrunk: bool = False
) -> None:
    """One annotator's ranking beside the common one; whether under the prior of small effects."""
    columns = _called(columns)
    names = [
        (
            _HEADINGS.get(heading, heading.replace("_", " ")),
            "left" if heading == "item" else "right",
        )
        for heading in columns
    ]
    rows = [
        [
            f"{columns[heading][k]:,.6g}" if heading == "votes" else _cell(columns[heading][k])
            for heading in columns
        ]
        for k in range(min(top, len(columns["item"])))
    ]
    console.print()
    console.print(table(f"The ranking of {name}", names, rows))
    more(console, len(columns["item"]), top, "item")
    if shrunk:
        console.print(
            "Drawn together as predicts best, these scores differ a little from the leaderboard's.",
            highlight=False,
        )


def _called(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns with names, where there are any, in place of labels."""
    named = {**columns, "item": columns.get("name", columns["item"])}
    return {heading: values for heading, values in named.items() if heading != "name"}


def _differ(columns: dict[str, Any], ranking: Mapping[str, Any]) -> bool:
    """Whether common scores, as printed, are other than the leaderboard's."""
    board = dict(zip(ranking["item"], ranking["score"], strict=True))
    mine = zip(columns["item"], columns["common_score"], strict=True)
    return any(abs(board[item] - score) >= 0.005 for item, score in mine)


def _score_interval(row: dict[str, Any], number: Callable[[float], str]) -> str:
    from prefpath.inference.words import missing_end

    if row.get("bounded") is not None and not row["bounded"]:
        return missing_end(row["win_rate"], row["votes"])
    return between(row.get("score_low"), row.get("score_high"), number)


def _number_format(scale: str) -> Callable[[float], str]:
    if scale == "natural":
        return lambda score: f"{round(score, 2) + 0.0:.2f}"  # never -0.00
    return "{:.0f}".format if scale == "elo" else "{:.1%}".format


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float | np.floating) else abridged(value)
