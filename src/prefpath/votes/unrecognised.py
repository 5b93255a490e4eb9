"""Tables that no dialect fits: what they may be, and what makes votes of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from prefpath.errors import VoteError
from prefpath.text import agreeing, listed, quoted, typed
from prefpath.votes.choices import VerdictColumns
from prefpath.votes.column_pairs import (
    FROM_0,
    SHOWN,
    ColumnPair,
    find_score,
    find_score_pair,
    find_unnamed,
    find_verdicts,
    pairs_of,
    parts_of,
)
from prefpath.votes.dialects import JUDGES, WEIGHTS
from prefpath.votes.source import Source
from prefpath.votes.verdicts import FLAGS, NEUTRAL, as_word

Look = Callable[[str], Sequence[str]]
"""What the first rows of a column hold, as it was written."""

NESTED = ("list", "struct")
ROWS_LOOKED_AT = 200
WHICH_COLUMNS = (
    "say which column is what: --left, --right, --choice and --annotator on the command "
    'line, left="...", right="...", choice="...", annotator="..." in Python'
)
_MOST_ASKED = 3  # columns to ask about, of which nothing is known
_LEAST_SQUARE = 3  # items of a table of counts
_BEST, _WORST = {"best", "most"}, {"worst", "least"}
_SHARES = {"probability", "prob", "proportion", "fraction", "share"}
_NAMELESS = (
    "if the first line is a vote and no names of columns, put a line of names above it, such as "
    "annotator,left,right,choice"
)


def which_verdict(
    source: Source, pair: ColumnPair, found: list[str], look: Look | None
) -> VoteError:
    """No column of verdicts, or more than one."""
    which = (
        f"more than one column may hold the verdict: {listed(list(map(quoted, found)))}"
        if found
        else f"no column is named like a verdict: {its_columns(source)}"
    )
    return VoteError(
        f"{source.name} has items in {quoted(pair.left)} and {quoted(pair.right)}, but {which}",
        expected="one column that says who won: choice, winner, preference, result, ...",
        remedy="; ".join(_ways_to_say_who_won(source, pair, found, look)),
    )


def _ways_to_say_who_won(
    source: Source, pair: ColumnPair, found: list[str], look: Look | None
) -> list[str]:
    """Remedies, the likeliest first."""
    columns = [name for name in source.columns if name not in (pair.left, pair.right)]
    scores, ways = find_score_pair(source.columns), []
    for shape in (_best_and_worst(source), _NAMELESS if _are_numbers(list(source.columns)) else ""):
        if shape:
            return [shape, 'or name the column of the verdicts with --choice (choice="...")']
    if scores:
        ways.append(f"if the item with the higher score won: {_as_scores(scores)}")
    ways += _shares_and_flags(columns, look) if look and not found else []
    unnamed = find_unnamed(columns, (*JUDGES, *WEIGHTS, *(scores or ())[:2]))
    telling = [name for name in unnamed if look and _tells(look, name, pair)]
    may_be = found or telling or (unnamed if len(unnamed) <= _MOST_ASKED else [])
    named = " or ".join(f"--choice {typed(name)}" for name in may_be) or "--choice"
    ways.append(f'name the column of the verdicts with {named} (choice="...")')
    if not found and not ways[1:]:
        ways.append(f"if {pair.left} is always the winner: --winner-first (winner_first=True)")
        if len(columns) > 2 and len(telling) != 1:
            ways.append(
                "if every annotator has a column of their own, make a row of each vote "
                "(pandas.melt)"
            )
    return ways


def _shares_and_flags(columns: Sequence[str], look: Look) -> list[str]:
    """Two flags, one for each item; a share of votes or a probability for one of them."""
    of_both = pairs_of(list(columns), (*SHOWN, *FROM_0))
    flags = [
        pair for _, pair in of_both if _is_flag(look(pair.left)) and _is_flag(look(pair.right))
    ]
    ways = [
        f"if {quoted(pair.left)} and {quoted(pair.right)} say of either item whether it won: "
        + _as_scores(pair)
        for pair in flags[:1]
    ]
    return ways + [
        f"if {quoted(name)} is the share of left, from 0 to 1: --choice {typed(name)} --choices "
        f'probability (choice="{name}", choices="probability")'
        for name in columns
        if set(parts_of(name)) & _SHARES and all(map(_is_number, look(name)))
    ]


def _as_scores(pair: ColumnPair) -> str:
    both = f"{pair.left},{pair.right}"
    written = both if re.fullmatch(r"[\w.,-]+", both) else typed(both)
    return f'--scores {written} (scores=("{pair.left}", "{pair.right}"))'


def _is_flag(words: Sequence[str]) -> bool:
    """Whether a column says yes and no, and perhaps a half for both."""
    found = {FLAGS.get(as_word(word)) for word in words if as_word(word) != "0.5"}
    return found == {True, False}


def _tells(look: Look, name: str, pair: ColumnPair) -> bool:
    """Whether all words of a column are sides, or labels of the two items' columns."""
    words = {as_word(word) for word in look(name)} - NEUTRAL
    sides = VerdictColumns(name, pair.left, pair.right).sides.keys()
    if not words or words <= sides:
        return bool(words)
    labels = {as_word(label) for column in (pair.left, pair.right) for label in look(column)}
    return words <= labels


def what_it_may_be(source: Source, look: Look | None) -> str:
    """The remedy for tables that hold votes in another way than one in a row."""
    nested = [name for name, column in source.columns.items() if column.kind in NESTED]
    if nested:
        return f"{unnest(nested)}; or "
    if best := _best_and_worst(source):
        return f"{best}; or "
    if look and _is_square(source, look):
        return (
            "if every cell counts how often the item of its row was preferred to that of its "
            "column (with their names in the first line and column), make a row of each cell: "
            "columns winner, loser and weight (docs/reading.md, Other shapes); or "
        )
    if look and _has_no_header(source, look):
        return f"{_NAMELESS}; or "
    if look and _has_row_for_each_item(source, look):
        return (
            "if every question has a row for each item that was shown, make one row of each "
            "question (docs/reading.md, Other shapes); or "
        )
    if score := find_score(source.columns):
        return (
            "if every row is one rating of one item, name its column: --dialect ratings --left "
            f"ITEM --choice {typed(score)}; or "
        )
    return (
        "if every question of a survey has a column of its own, make a row of each answer "
        "(pandas.melt); if a row ranks several items, make a row of every two (docs/reading.md, "
        "Other shapes); or "
    )


def _has_row_for_each_item(source: Source, look: Look) -> bool:
    """Whether a column named like a verdict only says yes and no (choice experiments)."""
    return any(_is_flag(look(name)) for name in find_verdicts(source.columns))


def _best_and_worst(source: Source) -> str:
    """Best-worst scaling (MaxDiff): somebody saw several items, and named two."""
    parts = {name: set(parts_of(name)) for name in source.columns}
    best = [name for name, own in parts.items() if own & _BEST]
    worst = [name for name, own in parts.items() if own & _WORST]
    if len(best) == len(worst) == 1:
        return (
            "if every row names the best and the worst of several items: --left "
            f"{typed(best[0])} --right {typed(worst[0])} --winner-first reads the best as "
            "preferred to the worst; more of them is used as docs/reading.md says (Other shapes)"
        )
    if best and len(best) == len(worst):
        return (
            "if every task has a best and a worst column, make a row of each task (pandas."
            "wide_to_long), with columns best and worst (docs/reading.md, Other shapes)"
        )
    return ""


def _is_square(source: Source, look: Look) -> bool:
    """Whether items are in rows and columns: names and then numbers, or numbers alone."""
    names = list(source.columns)
    parts = [part for name in names for part in name.split()]
    if _are_numbers(parts):
        return len(look(names[0])) == len(parts) - 1
    if not _LEAST_SQUARE < len(names) <= ROWS_LOOKED_AT or set(look(names[0])) != set(names[1:]):
        return False
    return all(_is_number(cell) for name in names[1:] for cell in look(name))


def _are_numbers(cells: Sequence[str]) -> bool:
    return all(map(_is_number, cells))


def _is_number(cell: str) -> bool:
    try:
        return float(cell) == float(cell)
    except ValueError:
        return False


def _has_no_header(source: Source, look: Look) -> bool:
    """Whether names of columns are numbers, or two of them stand among what the columns hold."""
    names = list(source.columns)
    return _are_numbers(names) or sum(name in look(name) for name in names) > 1


def unnest(names: list[str]) -> str:
    return (
        f"{listed(list(map(quoted, names)), 3)} {agreeing(len(names), 'holds', 'hold')} records "
        "within records: make one row of each vote (pandas.json_normalize; Label Studio: export "
        "as CSV)"
    )


def its_columns(source: Source) -> str:
    return f"its columns are {listed(list(source.columns), 12)}"
