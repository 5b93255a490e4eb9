"""What a fit says on a terminal: tables a person can read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from prefpath.cli.app import table
from prefpath.cli.outcome import Outcome
from prefpath.text import abridged, counted

if TYPE_CHECKING:
    from prefpath.cli.followers import FollowersBoard
    from prefpath.findings import Findings
    from prefpath.fitted import Fitted

Columns = Mapping[str, Any]


def result(console: Console, found: Outcome, *, top: int) -> None:
    """Leaderboard, what it means, who is unlike the crowd, and whose ranking was asked for."""
    findings = found.findings
    warned = [*findings.cautions, *([separate_groups(findings)] if findings.boards[1:] else [])]
    for sentence in warned:
        console.print(sentence, style="yellow", markup=False, highlight=False)
    console.print(leaderboard(findings, findings.ranking, top=top))
    more(console, len(findings.ranking["item"]), top, "item")
    meanings = (
        findings.meaning_of_intervals,
        findings.meaning_of_position,
        findings.meaning_of_attention,
        findings.meaning_of_scores,
    )
    for meaning in (*meanings, held_out(findings.fitted)):
        if meaning:
            console.print(meaning, markup=False, highlight=False)
    show_annotators(console, findings, top)
    if found.followers is not None:
        show_followers(console, findings, found.followers, top)
    for name, columns in found.personal.items():
        personal(console, name, columns, top=top, shrunk=_differ(columns, findings.ranking))


def show_annotators(console: Console, findings: Findings, top: int) -> None:
    """Who leans, who is otherwise unlike the crowd, and how many got which verdict."""
    from prefpath.diagnose.verdicts import LEANS_LEFT, LEANS_RIGHT, ONE_SIDED, STANDING_OUT

    leans = (LEANS_LEFT, LEANS_RIGHT, ONE_SIDED)
    people = findings.annotators
    console.print()
    if nothing := nothing_to_tell(findings):
        console.print(nothing, markup=False, highlight=False)
        return
    rows = rows_with(people, leans)
    shared = findings.headline.common_first
    console.print(who_leans(people, rows[:top], shared) if rows else nobody_leans(findings))
    more(console, len(rows), top, "annotator")
    rows = rows_with(people, [word for word in STANDING_OUT if word not in leans])
    console.print()
    console.print(
        who_differs(people, rows[:top])
        if rows
        else "Nobody is otherwise unlike the crowd, beyond chance."
    )
    more(console, len(rows), top, "annotator")
    console.print(summary(findings), markup=False, highlight=False)


def separate_groups(findings: Findings) -> str:
    """That groups never met, before any rank."""
    leaders = ", ".join(f"{board.leader} ({len(board.rows)})" for board in findings.boards[:3])
    rest = len(findings.boards) - 3
    return (
        f"The items fall into {len(findings.boards):,} groups that were never compared with each "
        "other: one leaderboard each, and no item leads them all. First of each (items): "
        f"{leaders}{f', and {rest:,} more' if rest > 0 else ''}."
    )


def nothing_to_tell(findings: Findings) -> str:
    """Why nobody is judged; empty where somebody can be."""
    if findings.headline.n_annotators == 1:
        return (
            "There is one annotator, and nobody to differ from: nobody is judged. "
            "prefpath check says how often each side was chosen."
        )
    if not findings.fitted.votes.choice.any():
        return "No vote prefers an item: nobody is judged."
    return ""


def nobody_leans(findings: Findings) -> str:
    """Why the table of leans is empty."""
    if not findings.fitted.votes.position_known.any():
        return "No vote says what was shown on the left: nobody can be seen to lean."
    return "Nobody leans to one side beyond chance."


def rows_with(people: Columns, words: Sequence[str]) -> list[int]:
    """Rows of the annotators with one of these verdicts."""
    return [k for k, verdict in enumerate(people["verdict"]) if verdict in words]


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
                abridged(row["item"]),
                number(row["score"]),
                _score_interval(row, number),
                f"{row['votes']:,.0f}",
                "" if row["win_rate"] is None else f"{row['win_rate']:.0%}",
            ]
        )
    return table(title, columns, rows)


def held_out(fitted: Fitted) -> str:
    """One sentence on what the personal parts are worth."""
    found, common = fitted.held_out, fitted.held_out_of_one_ranking
    if found is None or common is None:
        return f"No cross-validation: everything is said at t = {fitted.t:.4g}."
    errors = f"{found.wrong:.1%} of held-out votes are predicted wrong"
    alone = f"{common.wrong:.1%}"
    if fitted.criterion == "log-loss":
        errors += f", log-loss {found.error:.4f},"
        alone += f", {common.error:.4f}"
    said = f"{errors} at t = {fitted.t:.4g} (one common ranking: {alone})."
    parts = _personal_parts(fitted, better=found.error < common.error)
    return f"{said} {parts}" if parts else said


def _personal_parts(fitted: Fitted, *, better: bool) -> str:
    """Whose parts the path has at the chosen time, and that this is no verdict."""
    n = fitted.votes.n_annotators
    if n == 1 or not fitted.votes.choice.any():
        return ""
    deviating, leaning = fitted.active_count
    parts = f"{deviating:,} of {counted(n, 'annotator')} a taste of their own"
    if fitted.problem.attention:
        seeing = fitted.path.attention_count(fitted.t)
        parts += f", {leaning:,} a lean and {seeing:,} an attention of their own"
    else:
        parts += f" and {leaning:,} a lean"
    if fitted.chosen_by_hand:
        return f"The path gives {parts} there; who stands out beyond chance follows."
    if not better:
        return "Nothing of anybody's own predicts better; who stands out follows."
    return f"What predicts best gives {parts}; who stands out beyond chance follows."


def who_leans(people: Columns, rows: Sequence[int], shared: float | None = None) -> Any:
    """Annotators whose position bias is beyond chance, and beyond what all share."""
    columns = [
        ("annotator", "left"),
        ("verdict", "left"),
        ("left", "right"),
        ("right", "right"),
        ("ties", "right"),
        ("first at equal quality", "right"),
        ("95 % interval", "right"),
    ]
    cells = [
        [
            abridged(people["annotator"][k]),
            people["verdict"][k],
            f"{people['left'][k]:,.0f}",
            f"{people['right'][k]:,.0f}",
            f"{people['ties'][k]:,.0f}",
            _chance(people["first_if_equal"][k]),
            between(people["first_if_equal_low"][k], people["first_if_equal_high"][k], _chance),
        ]
        for k in rows
    ]
    title = "Annotators who lean to one side"
    if shared is not None:
        title += f", beyond the {shared:.1%} of all together"
    return table(title, columns, cells)


def who_differs(people: Columns, rows: Sequence[int]) -> Any:
    """Annotators who are unlike the crowd beyond chance, other than by a lean."""
    columns = [
        ("annotator", "left"),
        ("verdict", "left"),
        ("votes", "right"),
        ("agrees", "right"),
        ("likes more", "left"),
        ("likes less", "left"),
    ]
    cells = [
        [
            abridged(people["annotator"][k]),
            people["verdict"][k],
            f"{people['votes'][k]:,.0f}",
            _percent(people["agreement"][k]),
            abridged(people["most_up"][k] or ""),
            abridged(people["most_down"][k] or ""),
        ]
        for k in rows
    ]
    return table("Annotators otherwise unlike the crowd", columns, cells)


def personal(
    console: Console, name: str, columns: dict[str, Any], *, top: int, shrunk: bool = False
) -> None:
    """One annotator's ranking beside the common one; whether under the prior of small effects."""
    names = [(heading.replace("_", " "), "left" if heading == "item" else "right")
             for heading in columns]  # fmt: skip
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
            "These scores, the common ones too, are drawn towards each other as predicts best: "
            "they differ a little from the leaderboard's.",
            highlight=False,
        )


def _differ(columns: dict[str, Any], ranking: Mapping[str, Any]) -> bool:
    """Whether common scores, as printed, are other than the leaderboard's."""
    board = dict(zip(ranking["item"], ranking["score"], strict=True))
    mine = zip(columns["item"], columns["common_score"], strict=True)
    return any(abs(board[item] - score) >= 0.005 for item, score in mine)


def summary(findings: Findings) -> str:
    """How many annotators got which verdict."""
    from prefpath.diagnose.verdicts import FOLLOWS, GOES_WITH

    found = findings.headline
    counts = sorted(found.counts.items(), key=lambda item: -item[1])
    listed = "; ".join(f"{word} {n:,}" for word, n in counts if n)  # a verdict may have a comma
    told = f"Verdicts on {counted(found.n_annotators, 'annotator')}: {listed}."
    if found.counts.get(FOLLOWS) and found.counts.get(GOES_WITH):
        told += (
            " Who follows is shown to see as the crowd does; who goes with it, to agree beyond "
            "chance: more is not told by their votes."
        )
    return told


def more(console: Console, n: int, top: int, noun: str) -> None:
    """Say what a table leaves out."""
    if n > top:
        left = f"{n - top:,} more {noun}" + ("" if n - top == 1 else "s")
        console.print(f"... and {left} (--top {n})", style="dim", highlight=False)


def between(low: Any, high: Any, write: Callable[[Any], str]) -> str:
    """An interval; empty where there is none."""
    if low is None or high is None:
        return ""
    first, last = write(low), write(high)
    return first if first == last else f"{first} to {last}"


def _score_interval(row: dict[str, Any], number: Callable[[float], str]) -> str:
    if row.get("bounded") is not None and not row["bounded"]:
        return "not bounded"
    return between(row.get("score_low"), row.get("score_high"), number)


def _number_format(scale: str) -> Callable[[float], str]:
    if scale == "natural":
        return lambda score: f"{round(score, 2) + 0.0:.2f}"  # never -0.00
    return "{:.0f}".format if scale == "elo" else "{:.1%}".format


def _chance(value: float | None) -> str:
    """A probability in per cent, never rounded to certainty.

    >>> _chance(0.998), _chance(0.25), _chance(0.001)
    ('over 99%', '25%', 'under 1%')
    """
    if value is not None and 0.995 <= value < 1.0:
        return "over 99%"
    if value is not None and 0.0 < value < 0.005:
        return "under 1%"
    return _percent(value)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float | np.floating) else abridged(value)
