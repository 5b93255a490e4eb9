"""What a fit says on a terminal: tables a person can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.console import Console

from prefpath.cli.app import table
from prefpath.fitted import Fitted
from prefpath.leaderboard import interval_meaning


def result(
    console: Console,
    fitted: Fitted,
    ranking: dict[str, Any],
    people: dict[str, Any],
    *,
    top: int,
    scale: str,
) -> None:
    """Leaderboard, held-out error, who leans to a side and who has a taste of their own."""
    console.print(leaderboard(ranking, top=top, scale=scale))
    more(console, len(ranking["item"]), top, "items")
    if "score_low" in ranking:
        meaning = interval_meaning(fitted.votes.n_annotators, fitted.active_count[0])
        console.print(meaning, markup=False, highlight=False)
    console.print(held_out(fitted), markup=False, highlight=False)
    leaning = [k for k, biased in enumerate(people["biased"]) if biased]
    own_taste = [k for k, deviates in enumerate(people["deviates"]) if deviates]
    console.print()
    console.print(
        who_leans(people, leaning[:top]) if leaning else "Nobody leans to one side beyond chance."
    )
    more(console, len(leaning), top, "annotators")
    console.print()
    console.print(
        who_deviates(people, own_taste[:top])
        if own_taste
        else "Nobody has a taste of their own beyond chance."
    )
    more(console, len(own_taste), top, "annotators")
    console.print(summary(people), markup=False, highlight=False)


def leaderboard(ranking: dict[str, Any], *, top: int, scale: str) -> Any:
    """The leaderboard with intervals."""
    number = _number_format(scale)
    grouped = "component" in ranking
    columns = [
        *([("group", "right")] if grouped else []),
        ("rank", "right"),
        ("95 % ranks", "right"),
        ("item", "left"),
        ("score", "right"),
        ("95 % interval", "right"),
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
                row["item"],
                number(row["score"]),
                _score_interval(row, number),
                f"{row['votes']:,.0f}",
                "" if row["win_rate"] is None else f"{row['win_rate']:.0%}",
            ]
        )
    return table("Leaderboard", columns, rows)


def held_out(fitted: Fitted) -> str:
    """One sentence on what the personal parts are worth."""
    found, common = fitted.held_out, fitted.held_out_of_one_ranking
    if found is None or common is None:
        return f"No cross-validation: stopped at t = {fitted.t:.4g}."
    deviating, leaning = fitted.active_count
    errors = f"{found.wrong:.1%} of held-out votes are predicted wrong"
    alone = f"{common.wrong:.1%}"
    if fitted.criterion == "log-loss":
        errors += f", log-loss {found.error:.4f},"
        alone += f", {common.error:.4f}"
    return (
        f"{errors} at t = {fitted.t:.4g} (one common ranking: {alone}). Annotators who have a "
        f"taste of their own there: {deviating:,} of {fitted.votes.n_annotators:,}; a position "
        f"bias: {leaning:,}."
    )


def who_leans(people: dict[str, Any], rows: Sequence[int]) -> Any:
    """Annotators whose position bias is beyond chance."""
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
            people["annotator"][k],
            people["verdict"][k],
            f"{people['left'][k]:,.0f}",
            f"{people['right'][k]:,.0f}",
            f"{people['ties'][k]:,.0f}",
            _percent(people["first_if_equal"][k]),
            between(people["first_if_equal_low"][k], people["first_if_equal_high"][k], _percent),
        ]
        for k in rows
    ]
    return table("Annotators who lean to one side", columns, cells)


def who_deviates(people: dict[str, Any], rows: Sequence[int]) -> Any:
    """Annotators whose taste differs beyond chance."""
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
            people["annotator"][k],
            people["verdict"][k],
            f"{people['votes'][k]:,.0f}",
            _percent(people["agreement"][k]),
            people["most_up"][k] or "",
            people["most_down"][k] or "",
        ]
        for k in rows
    ]
    return table("Annotators with a taste of their own", columns, cells)


def personal(console: Console, name: str, columns: dict[str, Any], *, top: int) -> None:
    """One annotator's ranking beside the common one."""
    names = [(heading.replace("_", " "), "left" if heading == "item" else "right")
             for heading in columns]  # fmt: skip
    rows = [
        [_cell(columns[heading][k]) for heading in columns]
        for k in range(min(top, len(columns["item"])))
    ]
    console.print()
    console.print(table(f"The ranking of {name}", names, rows))


def summary(people: dict[str, Any]) -> str:
    """How many annotators got which verdict."""
    words, counts = np.unique(np.asarray(people["verdict"]), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    listed = ", ".join(f"{counts[k]:,} {words[k]}" for k in order)
    return f"All {len(people['verdict']):,} annotators: {listed}."


def more(console: Console, n: int, top: int, what: str) -> None:
    """Say what a table leaves out."""
    if n > top:
        console.print(f"... and {n - top:,} more {what} (--top {n})", style="dim", highlight=False)


def between(low: Any, high: Any, write: Callable[[Any], str]) -> str:
    """An interval; empty where there is none."""
    if low is None or high is None:
        return ""
    return write(low) if low == high else f"{write(low)} to {write(high)}"


def _score_interval(row: dict[str, Any], number: Callable[[float], str]) -> str:
    if row.get("bounded") is not None and not row["bounded"]:
        return "not bounded"
    return between(row.get("score_low"), row.get("score_high"), number)


def _number_format(scale: str) -> Callable[[float], str]:
    return {"elo": "{:.0f}".format, "probability": "{:.1%}".format}.get(scale, "{:.2f}".format)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.2f}" if isinstance(value, float | np.floating) else str(value)
