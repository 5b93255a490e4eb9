"""Which dialect a table is in: by the names of its columns, and what the user says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from prefpath.errors import VoteError
from prefpath.text import quoted
from prefpath.votes.called import find_names
from prefpath.votes.column_pairs import (
    OUTCOME,
    ColumnPair,
    find_counts,
    find_flags,
    find_grades,
    find_item_pair,
    find_named_outcome,
    find_other_pair,
    find_questions,
    find_sides_of,
    find_verdicts,
    is_difference,
)
from prefpath.votes.dialects import (
    AS_SHOWN,
    DIALECTS,
    JUDGES,
    Dialect,
    dialect_named,
)
from prefpath.votes.source import Source
from prefpath.votes.unrecognised import (
    NESTED,
    WHICH_COLUMNS,
    Look,
    its_columns,
    unnest,
    what_it_may_be,
    which_verdict,
)
from prefpath.votes.verdicts import read_by_name, read_flag, read_flag_of_right
from prefpath.votes.voters import find_voters

Roles = Mapping[str, str]
"""The user's own column for a role: annotator, left, right, choice."""

_ITEM_NAMES = (
    "item", "movie", "item_id", "movie_id", "movieId", "title", "film", "book", "song", "track",
    "album", "game", "product", "restaurant", "beer", "wine",
)  # fmt: skip
_UNKNOWN_POSITION = "position unknown: no position bias can be estimated"


@dataclass(frozen=True)
class GivenColumns:
    """What the user says of the columns.

    Attributes
    ----------
    roles : mapping
        The user's own column for a role.
    dialect : str or None
        The key of a dialect that is forced.
    scores : pair of str, or None
        Columns of the left and the right item's score; the higher one has won.
    winner_first : bool
        The left column is the winner's, so that no verdict is needed.
    """

    roles: Roles = field(default_factory=dict)
    dialect: str | None = None
    scores: tuple[str, str] | None = None
    winner_first: bool = False


def recognise(source: Source, given: GivenColumns, look: Look | None = None) -> Dialect:
    """The dialect of a table: forced by its key, or the first whose columns are all there.

    Columns the user names take the place of the dialect's own. A table of no dialect is read by
    the parts of its columns' names: two that hold items, and one that holds the verdict. For
    the remedy of tables that are none, a `look` at what their columns hold.

    Raises
    ------
    VoteError
        No dialect fits, or the forced one lacks columns.
    """
    if given.scores:
        return _by_scores(source, given, given.scores)
    if given.dialect == "ratings":
        return _forced_ratings(source, given.roles)
    candidates = DIALECTS if given.dialect is None else (dialect_named(given.dialect),)
    for dialect in candidates:
        for variant in (dialect, *_item_variants(dialect)):
            named = _with_roles(variant, given.roles)
            if named and all(source.find(column) for column in named.columns):
                return _by_noun(source, named, given)
    if given.dialect is None:
        return _by_column_names(source, given, look)
    raise VoteError(
        f"{source.name} is not votes in the shape {given.dialect}: {its_columns(source)}",
        expected=f"the columns {', '.join(candidates[0].columns)}",
        remedy=WHICH_COLUMNS,
    )


def annotator_column(source: Source, dialect: Dialect, roles: Roles) -> str | None:
    """The column that says who voted; None where the votes do not say."""
    if "annotator" in roles:
        source.column(roles["annotator"])
        return source.find(roles["annotator"])
    exactly = (own for name in dialect.annotators if (own := source.find(name)))
    return next(exactly, None) or next(iter(_other_voters(source, dialect)), None)


def _other_voters(source: Source, dialect: Dialect) -> list[str]:
    """Columns that a platform calls its voters by, and that hold nothing else."""
    taken = {*dialect.columns, *source.repeated}
    return [name for name in find_voters(source.columns) if name not in taken]


def ratings_dialect(source: Source, item: str | None, rating: str | None) -> Dialect:
    """The dialect of ratings, with the user's own names for item and rating."""
    dialect = dialect_named("ratings")
    found = next((name for name in _ITEM_NAMES if source.find(name)), dialect.left)
    return replace(dialect, left=item or found, verdict=(rating or dialect.verdict[0],))


def _forced_ratings(source: Source, roles: Roles) -> Dialect:
    """Ratings: --left names the column of the items, --choice that of the ratings."""
    found = ratings_dialect(source, roles.get("left"), roles.get("choice"))
    for name in found.columns:
        source.column(name)
    return found


def _by_noun(source: Source, dialect: Dialect, given: GivenColumns) -> Dialect:
    """Texts chosen and rejected of models that are named beside them: the models are ranked."""
    if dialect.key != "chosen" or given.dialect or given.roles.keys() & {"left", "right"}:
        return dialect
    pair = find_named_outcome(source.columns)
    return dialect if pair is None else _winners_and_losers(pair)


def _by_column_names(source: Source, given: GivenColumns, look: Look | None) -> Dialect:
    """Votes of no dialect: two columns of items, and one of the verdicts."""
    outcome = find_item_pair(source.columns, OUTCOME)
    if outcome and find_sides_of(source.columns, outcome):
        outcome = None  # the winner is named, and where it stood is known, too
    if outcome and not given.roles.keys() & {"left", "right", "choice"}:
        return _winners_and_losers(outcome)
    pair, is_scale = _item_columns(source, given.roles, look), False
    if "choice" in given.roles:
        source.column(given.roles["choice"])
        verdicts = [given.roles["choice"]]
    else:
        others = [name for name in source.columns if name not in (pair.left, pair.right)]
        verdicts = find_verdicts(others)
        flags = find_flags(others, pair)
        if not verdicts and len(flags) == 1:
            return _by_flag(pair, *flags[0])
        if not verdicts and (counts := find_counts(others, pair)):
            return _by_counts(source, pair, counts, given.roles)
        verdicts = verdicts or find_questions(others)
        if not verdicts and not given.winner_first:
            verdicts = find_grades(others)
            is_scale = len(verdicts) == 1 and not is_difference(verdicts[0])
    if not verdicts and given.winner_first:
        return _winners_and_losers(pair)
    if len(verdicts) != 1:
        raise which_verdict(source, pair, verdicts, look)
    if source.column(verdicts[0]).kind in NESTED:
        raise VoteError(
            f"the verdicts in {quoted(verdicts[0])} of {source.name} are records",
            expected="one word or number that says who won",
            remedy=unnest(verdicts),
        )
    called = None
    if not given.roles.keys() & {"left", "right"}:
        pair, called = find_names(source.columns, pair, verdicts[0])
    said = _sides(pair) + (
        f"; items are called as in {called.first} and {called.second}" if called else ""
    )
    return Dialect(
        "columns", f"columns {pair.left}, {pair.right}, {verdicts[0]}", pair.left, pair.right,
        (verdicts[0],), None, JUDGES, said, is_scale=is_scale, called=called,
    )  # fmt: skip


def _sides(pair: ColumnPair) -> str:
    return AS_SHOWN if pair.left.lower() == "left" else f"{pair.left} is left"


def _by_flag(pair: ColumnPair, name: str, side: int) -> Dialect:
    """One side's flag: true where it won."""
    winner = pair.left if side > 0 else pair.right
    return Dialect(
        "flag", f"columns {pair.left}, {pair.right}, {name}", pair.left, pair.right, (name,),
        read_flag if side > 0 else read_flag_of_right, JUDGES,
        f"{_sides(pair)}; {name} says whether {winner} won",
    )  # fmt: skip


_PLACES = frozenset(("left", "home", "white", "first", "links", "gauche"))
"""Names of the first of two places; a and b, 1 and 2 only tell two items of a table apart."""


def _by_counts(
    source: Source, pair: ColumnPair, counts: tuple[str, str, str, str], roles: Roles
) -> Dialect:
    """One row for two items, with how many votes went to either: no votes one by one."""
    won = f"{counts[0]} and {counts[1]} count the votes for either"
    found = Dialect(
        "counts", f"counts of votes on {pair.left} and {pair.right}", pair.left, pair.right,
        counts, read_by_name, JUDGES, f"{won}; {_sides(pair)}", "counts",
    )  # fmt: skip
    if pair.parts[0] in _PLACES or annotator_column(source, found, roles):
        return found
    return replace(found, said=f"{won}; {_UNKNOWN_POSITION}", position_known=False)


def _item_columns(source: Source, roles: Roles, look: Look | None = None) -> ColumnPair:
    """The columns of the two items: as the user says, or by their names."""
    for role in roles.keys() & {"left", "right"}:
        source.column(roles[role])
    if {"left", "right"} <= roles.keys():
        return ColumnPair(roles["left"], roles["right"], ("", ""))
    found = find_item_pair(source.columns) or find_other_pair(source.columns)
    if found is None:
        for name in sorted(source.repeated):
            if not name.isdecimal():
                source.column(name)  # says that there are two of it
        raise VoteError(
            f"{source.name} is not votes in any known shape: {its_columns(source)}",
            expected="one row for each vote: annotator, left, right, choice, or another known "
            "shape (docs/reading.md)",
            remedy=what_it_may_be(source, look) + WHICH_COLUMNS,
        )
    left, right = roles.get("left", found.left), roles.get("right", found.right)
    return found._replace(left=left, right=right)


def _winners_and_losers(pair: ColumnPair) -> Dialect:
    return Dialect(
        "chosen", f"{pair.left} over {pair.right}", pair.left, pair.right, (), read_by_name,
        JUDGES, _UNKNOWN_POSITION, "chosen", False,
    )  # fmt: skip


def _by_scores(source: Source, given: GivenColumns, scores: tuple[str, str]) -> Dialect:
    """The item with the higher of two scores has won."""
    for name in scores:
        source.column(name)
    pair = _item_columns(source, given.roles)
    return Dialect(
        "scores", f"results of {pair.left} and {pair.right}", pair.left, pair.right, scores,
        read_by_name, JUDGES, f"{pair.left} is left; the higher of {scores[0]} and {scores[1]} "
        "won, equal is a tie", "scores",
    )  # fmt: skip


def _item_variants(dialect: Dialect) -> tuple[Dialect, ...]:
    """Ratings call their items by many names."""
    if dialect.shape != "ratings":
        return ()
    return tuple(replace(dialect, left=name) for name in _ITEM_NAMES)


def _with_roles(dialect: Dialect, roles: Roles) -> Dialect | None:
    """The dialect with the user's columns; None where it has no such columns to replace."""
    given = {role: name for role, name in roles.items() if role in ("left", "right", "choice")}
    own = {"left": dialect.left, "right": dialect.right, "choice": "/".join(dialect.verdict)}
    if all(own[role] == name for role, name in given.items()):
        return dialect
    if dialect.shape != "pair":
        return None
    return replace(
        dialect,
        left=given.get("left", dialect.left),
        right=given.get("right", dialect.right),
        verdict=(given.get("choice", dialect.verdict[0]),),
        said=f"{given.get('left', dialect.left)} is left",
    )
