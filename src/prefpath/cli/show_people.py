"""Who stands out, on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from prefpath.cli.app import table
from prefpath.text import abridged, counted

if TYPE_CHECKING:
    from prefpath.findings import Findings

Columns = Mapping[str, Any]


class Row(NamedTuple):
    """Where someone is in the table of annotators, and the word a table shows them for."""

    at: int
    word: str


def show_annotators(console: Console, findings: Findings, top: int) -> None:
    """Who leans, who is otherwise unlike the crowd, and how many got which verdict."""
    from prefpath.diagnose.verdicts import LEANS, STANDING_OUT

    console.print()
    if nothing := nothing_to_tell(findings):
        console.print(nothing, markup=False, highlight=False)
        return
    people, voter = findings.annotators, findings.fitted.votes.voter
    others = tuple(word for word in STANDING_OUT if word not in LEANS)
    leaning, otherwise = rows_with(people, LEANS), rows_with(people, others)
    if leaning:
        console.print(who_leans(findings, leaning[:top]))
        more(console, n_in_all(findings, leaning, LEANS), top, voter)
    if otherwise:
        console.print(who_differs(findings, otherwise[:top]))
        more(console, n_in_all(findings, otherwise, others), top, voter)
    for sentence in (nobody(findings, leaning, otherwise), summary(findings)):
        if sentence:
            console.print(sentence, markup=False, highlight=False)


def n_in_all(findings: Findings, rows: Sequence[Row], words: Sequence[str]) -> int:
    """How many such rows there are: a cluster's table has only the first annotators."""
    return max(len(rows), findings.headline.n_with(*words))


def nothing_to_tell(findings: Findings) -> str:
    """Why nobody is judged; empty where somebody can be."""
    if findings.fitted.votes.anonymous:
        return (
            "Nothing says who voted: nobody is judged. --annotator names the column of the voters."
        )
    if findings.headline.n_annotators == 1:
        return (
            f"There is one {findings.fitted.votes.voter}, and nobody to differ from: nobody is "
            "judged. prefpath check says how often each side was chosen."
        )
    if not findings.fitted.votes.choice.any():
        return "No vote prefers an item: nobody is judged."
    return ""


def nobody(findings: Findings, leaning: Sequence[Row], otherwise: Sequence[Row]) -> str:
    """In which way nobody stands out; empty where both tables have rows."""
    from prefpath.votes.graph import nobody_shares_an_item

    votes, voter = findings.fitted.votes, findings.fitted.votes.voter
    if findings.fitted.features is None and nobody_shares_an_item(votes):
        alone = f"No two {voter}s judged the same item: who is unlike the others cannot be told."
        upright = votes.position_known.any() and not leaning
        return f"{alone} {no_lean(findings)}" if upright else alone
    if not findings.fitted.votes.position_known.any():
        said = "No vote says what was shown on the left: nobody can be seen to lean."
        return said if otherwise else f"{said} Nobody is unlike the crowd beyond chance."
    if not leaning and not otherwise:
        return "Nobody leans to one side, or is otherwise unlike the crowd, beyond chance."
    if not leaning:
        return no_lean(findings)
    return "" if otherwise else "Nobody is otherwise unlike the crowd beyond chance."


def no_lean(findings: Findings) -> str:
    """Where no verdict is a lean, though some may have one that looks like a taste."""
    if any(findings.annotators["biased"]):
        return "Whether somebody leans to one side is open: it may be taste."
    return "Nobody leans to one side beyond chance."


def rows_with(people: Columns, words: Sequence[str]) -> list[Row]:
    """Annotators of whom one of these words holds, those with the same one together.

    The word need not be the verdict: who leans may have a taste as well, and is in both tables.
    """
    rows = []
    for k, (verdict, also) in enumerate(zip(people["verdict"], people["also"], strict=True)):
        holds = [str(verdict), *(also or "").split("; ")]
        rows += [Row(k, word) for word in holds if word in words][:1]
    return sorted(rows, key=lambda row: words.index(row.word))


def who_leans(findings: Findings, rows: Sequence[Row]) -> Any:
    """Annotators whose position bias is beyond chance, and beyond what all share."""
    people, voter = findings.annotators, findings.fitted.votes.voter
    columns = [
        (voter, "left"),
        ("verdict", "left"),
        ("left", "right"),
        ("right", "right"),
        ("ties", "right"),
        ("left if equal", "right"),
        ("95 % interval", "right"),
    ]
    cells = [
        [
            abridged(people["annotator"][k]),
            word,
            f"{people['left'][k]:,.0f}",
            f"{people['right'][k]:,.0f}",
            f"{people['ties'][k]:,.0f}",
            chance(people["first_if_equal"][k]),
            between(people["first_if_equal_low"][k], people["first_if_equal_high"][k], chance),
        ]
        for k, word in rows
    ]
    title = f"{voter.capitalize()}s who lean to one side"
    shared = findings.headline.common_first
    if shared is not None:
        title += f", beyond the {shared:.1%} of all together"
    return table(title, *_without_empty(columns, cells, "ties"))


def who_differs(findings: Findings, rows: Sequence[Row]) -> Any:
    """Annotators who are unlike the crowd beyond chance, other than by a lean."""
    people, voter = findings.annotators, findings.fitted.votes.voter
    columns = [
        (voter, "left"),
        ("verdict", "left"),
        ("votes", "right"),
        ("agrees", "right"),
        ("likes more", "left"),
        ("likes less", "left"),
    ]
    cells = [
        [
            abridged(people["annotator"][k]),
            word,
            f"{people['votes'][k]:,.0f}",
            percent(people["agreement"][k]),
            *(_liked(findings, Row(k, word), column) for column in ("most_up", "most_down")),
        ]
        for k, word in rows
    ]
    title = f"{voter.capitalize()}s otherwise unlike the crowd"
    return table(title, *_without_empty(columns, cells, "likes more", "likes less"))


def _liked(findings: Findings, row: Row, column: str) -> str:
    """An item of someone shown to have a taste; of others the path's guess is no finding."""
    from prefpath.diagnose.verdicts import OWN_TASTE

    people = findings.annotators
    item = people[column][row.at]
    if item is None or row.word != OWN_TASTE:
        return ""
    return abridged(findings.name(item)) + (
        " (itself)" if str(item) == str(people["annotator"][row.at]) else ""
    )


def _without_empty(
    columns: list[tuple[str, str]], cells: list[list[Any]], *optional: str
) -> tuple[list[tuple[str, str]], list[list[Any]]]:
    """Leave out optional columns in which every cell says nothing."""
    kept = [
        k
        for k, (heading, _) in enumerate(columns)
        if heading not in optional or any(row[k] not in ("", "0") for row in cells)
    ]
    return [columns[k] for k in kept], [[row[k] for k in kept] for row in cells]


def summary(findings: Findings) -> str:
    """How many annotators got which verdict."""
    from prefpath.diagnose.verdicts import FOLLOWS, GOES_WITH

    found = findings.headline
    counts = sorted(found.counts.items(), key=lambda item: -item[1])
    listed = "; ".join(f"{word} {n:,}" for word, n in counts if n)  # a verdict may have a comma
    told = f"Verdicts on {counted(found.n_annotators, findings.fitted.votes.voter)}: {listed}."
    if beside := _counted_beside(findings.annotators):
        told += f" Beside another verdict: {beside}."
    if found.n_standing_out:
        told += f" About {found.q:.0%} of those who stand out may do so by chance."
    if found.counts.get(FOLLOWS) and found.counts.get(GOES_WITH):
        told += " Who goes with the crowd agrees beyond chance; how closely is open."
    return told


def _counted_beside(people: Columns) -> str:
    """Of how many which word holds beside another verdict."""
    words = Counter(word for also in people["also"] if also for word in also.split("; "))
    return "; ".join(f"{word} {n:,}" for word, n in words.most_common())


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


def chance(value: float | None) -> str:
    """A probability in per cent, never rounded to certainty.

    >>> chance(0.998), chance(0.25), chance(0.001)
    ('over 99%', '25%', 'under 1%')
    """
    if value is not None and 0.995 <= value < 1.0:
        return "over 99%"
    if value is not None and 0.0 < value < 0.005:
        return "under 1%"
    return percent(value)


def percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"
