"""What a fit says on a terminal: tables a person can read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console

from prefpath.cli.app import table
from prefpath.cli.outcome import Outcome
from prefpath.cli.terminal import counted

if TYPE_CHECKING:
    from prefpath.fitted import Fitted

Listing = Callable[[dict[str, Any], Sequence[int]], Any]


_NO_SIDES = "No vote says what was shown on the left: nobody can be seen to lean."


def result(console: Console, found: Outcome, *, top: int, scale: str) -> None:
    """Leaderboard, held-out error, who leans to a side, who has a taste of their own, and whose
    ranking was asked for."""
    console.print(leaderboard(found.ranking, top=top, scale=scale))
    more(console, len(found.ranking["item"]), top, "item")
    for sentence in (found.interval_meaning(), held_out(found.fitted), *doubts(found.fitted)):
        if sentence:
            console.print(sentence, markup=False, highlight=False)
    people = found.people
    sides_known = bool(found.fitted.problem.votes.position_known.any())
    nobody = "Nobody leans to one side beyond chance." if sides_known else _NO_SIDES
    _who(console, nobody, who_leans, people, "biased", top)
    _who(console, "Nobody has a taste of their own beyond chance.", who_deviates, people,
         "deviates", top)  # fmt: skip
    console.print(summary(people), markup=False, highlight=False)
    for name, columns in found.personal.items():
        personal(console, name, columns, top=top)


def _who(
    console: Console, nobody: str, listing: Listing, people: dict[str, Any], named: str, top: int
) -> None:
    """Those whom a column of the table names, or that there is nobody."""
    rows = [k for k, yes in enumerate(people[named]) if yes]
    console.print()
    console.print(listing(people, rows[:top]) if rows else nobody)
    more(console, len(rows), top, "annotator")


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
        return f"No cross-validation: everything is said at t = {fitted.t:.4g}."
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


def doubts(fitted: Fitted) -> list[str]:
    """What the reader should know before they trust the chosen time, with what to do."""
    at_end = fitted.t >= fitted.path.times[-1]
    if fitted.cross_validation is None:
        return [_END_WITHOUT_CHOICE] if at_end else []
    said = [_WORSE_THAN_A_COIN] if _worse_than_a_coin(fitted) else []
    if at_end and not fitted.chosen_by_hand:
        said.append(_END_CHOSEN)
    return said


def _worse_than_a_coin(fitted: Fitted) -> bool:
    found = fitted.held_out
    assert found is not None
    if fitted.criterion == "log-loss":
        return found.error > np.log(2.0)
    return found.wrong > 0.5


_END_WITHOUT_CHOICE = (
    "That is the end of the path, where everybody who differs is fitted nearly alone: personal "
    "parts are overstated there. --cv 5 chooses where to stop; --t names a time."
)
_WORSE_THAN_A_COIN = (
    "A coin would predict the held-out votes better (log-loss 0.6931, half of them wrong): these "
    "votes do not carry this ranking. prefpath check says what is wrong with them; more votes on "
    "each pair would help."
)
_END_CHOSEN = (
    "The held-out error was still falling at the end of the path, or everybody had entered: the "
    "best time may lie beyond it. --t-ratio 1000 follows the path further."
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
    """How many annotators got which verdict.

    >>> summary({"verdict": ["leans left", "follows the crowd", "follows the crowd"]})
    'Verdicts on 3 annotators: follows the crowd 2, leans left 1.'
    """
    words, counts = np.unique(np.asarray(people["verdict"]), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    listed = ", ".join(f"{words[k]} {counts[k]:,}" for k in order)
    return f"Verdicts on {counted(len(people['verdict']), 'annotator')}: {listed}."


def more(console: Console, n: int, top: int, noun: str) -> None:
    """Say what a table leaves out."""
    if n > top:
        left = f"{n - top:,} more {noun}" + ("" if n - top == 1 else "s")
        console.print(f"... and {left} (--top {n})", style="dim", highlight=False)


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
