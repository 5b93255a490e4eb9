"""The shapes votes come in: which column is what, and how a verdict is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from prefpath.errors import VoteError
from prefpath.votes.source import Source
from prefpath.votes.verdicts import (
    Reading,
    read_choice,
    read_first_or_second,
    read_flag,
    read_grade,
    read_mapped,
    read_model_12,
    read_model_ab,
    read_one_hot,
    read_preference,
    read_rating,
    read_side,
)

Shape = Literal["pair", "item name", "one hot", "two games", "nested games", "chosen", "ratings"]
Roles = Mapping[str, str]
"""The user's own column for a role: annotator, left, right, choice, weight, position."""


@dataclass(frozen=True)
class Dialect:
    """One way of writing votes down.

    Attributes
    ----------
    key, title : str
        What the user types to force it, and what it is called.
    left, right : str
        Columns of the two items.
    verdict : tuple of str
        Columns the verdict is read from.
    read : callable
        What a word in the verdict means.
    annotators : tuple of str
        Names the annotator's column may have; without one, all votes are one annotator's.
    shape : str
        How columns make a verdict.
    said : str
        What the user is told.
    """

    key: str
    title: str
    left: str
    right: str
    verdict: tuple[str, ...]
    read: Reading
    annotators: tuple[str, ...]
    said: str
    shape: Shape = "pair"
    position_known: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be there, the annotator's aside."""
        return tuple(name for name in (self.left, self.right, *self.verdict) if name)


_JUDGES = ("annotator", "judge", "worker", "user", "user_id", "annotator_id", "observer")
_SIDES = "left and right are as shown"

DIALECTS: tuple[Dialect, ...] = (
    Dialect("canonical", "canonical votes", "left", "right", ("choice",), read_choice,
            _JUDGES, _SIDES),
    Dialect("arena55k", "Arena 55k", "model_a", "model_b",
            ("winner_model_a", "winner_model_b", "winner_tie"), read_one_hot, _JUDGES,
            "model_a is left", "one hot"),
    Dialect("arena", "Chatbot Arena", "model_a", "model_b", ("winner",), read_model_ab,
            ("judge", *_JUDGES), "model_a is left"),
    Dialect("mtbench", "MT-Bench pairs", "model_1", "model_2", ("g1_winner", "g2_winner"),
            read_model_12, ("judge", *_JUDGES),
            "two votes a row: model_1 is left in the first game, right in the second",
            "two games"),
    Dialect("arena-hard", "Arena-Hard judgments", "", "model", ("games",), read_grade,
            ("judge", *_JUDGES),
            "two votes a row: the baseline is left in the first game, right in the second",
            "nested games"),
    Dialect("arena-hard-pairs", "Arena-Hard grades", "model_a", "model_b", ("score",), read_grade,
            ("judge", *_JUDGES), "A (model_a) is left"),
    Dialect("evalica", "evalica", "left", "right", ("winner",), read_side, _JUDGES, _SIDES),
    Dialect("crowdkit", "crowd-kit", "left", "right", ("label",), read_side,
            ("worker", *_JUDGES), "the label is the winner's name", "item name"),
    Dialect("alpacaeval", "AlpacaEval", "generator_1", "generator_2", ("preference",),
            read_preference, _JUDGES,
            "AlpacaEval shuffles the order it shows and does not record it: position unknown",
            position_known=False),
    Dialect("pwcmp", "pwcmp", "condition_A", "condition_B", ("is_A_selected",), read_flag,
            ("observer", *_JUDGES), "condition_A is left"),
    Dialect("pwcmp-selection", "pwcmp", "condition_1", "condition_2", ("selection",),
            read_first_or_second, ("observer", *_JUDGES), "condition_1 is left"),
    Dialect("chosen", "chosen and rejected", "chosen", "rejected", (), read_side, _JUDGES,
            "position unknown: no position bias can be estimated", "chosen", False),
    Dialect("ratings", "ratings", "item", "", ("rating",), read_rating, _JUDGES,
            "pairs of items one annotator rated differently; position unknown", "ratings", False),
)  # fmt: skip

_MAPPED = Dialect(
    "mapped", "columns as given", "left", "right", ("choice",), read_mapped, _JUDGES, _SIDES
)
_ITEM_NAMES = ("item", "movie", "item_id", "movie_id", "movieId")


def recognise(source: Source, key: str | None, roles: Roles) -> Dialect:
    """The dialect of a table: forced by its key, or the first whose columns are all there.

    Columns the user names take the place of the dialect's own.

    Raises
    ------
    VoteError
        No dialect fits, or the forced one lacks columns.
    """
    candidates = DIALECTS if key is None else (_named(key),)
    for dialect in candidates:
        for variant in (dialect, *_item_variants(dialect)):
            named = _with_roles(variant, roles)
            if named and all(source.find(column) for column in named.columns):
                return named
    if key is None and {"left", "right", "choice"} <= roles.keys():
        named = _with_roles(_MAPPED, roles) or _MAPPED
        for column in named.columns:
            source.column(column)
        return named
    expected = "annotator, left, right, choice, or another known shape (docs/reading.md)"
    if key is not None:
        expected = f"the columns {', '.join(candidates[0].columns)}"
    raise VoteError(
        f"{source.name} is not votes in {'any known shape' if key is None else f'the shape {key}'}"
        f": its columns are {_listed(source)}",
        expected=expected,
        remedy="say which column is what: --left, --right, --choice and --annotator on the command "
        'line, left="...", right="...", choice="...", annotator="..." in Python',
    )


def annotator_column(source: Source, dialect: Dialect, roles: Roles) -> str | None:
    """The column that says who voted; None where the votes do not say."""
    if "annotator" in roles:
        source.column(roles["annotator"])
        return source.find(roles["annotator"])
    return next((own for name in dialect.annotators if (own := source.find(name))), None)


def ratings_dialect(source: Source, item: str | None, rating: str | None) -> Dialect:
    """The dialect of ratings, with the user's own names for item and rating."""
    dialect = _named("ratings")
    found = next((name for name in _ITEM_NAMES if source.find(name)), dialect.left)
    return replace(dialect, left=item or found, verdict=(rating or dialect.verdict[0],))


def _named(key: str) -> Dialect:
    keys = {dialect.key: dialect for dialect in DIALECTS}
    if key not in keys:
        raise VoteError(f"there is no dialect {key!r}", expected=f"one of {', '.join(keys)}")
    return keys[key]


def _item_variants(dialect: Dialect) -> tuple[Dialect, ...]:
    """Ratings call their items by many names."""
    if dialect.shape != "ratings":
        return ()
    return tuple(replace(dialect, left=name) for name in _ITEM_NAMES)


def _with_roles(dialect: Dialect, roles: Roles) -> Dialect | None:
    """The dialect with the user's columns; None where it has no such columns to replace.

    A verdict in a column of another name is read by its words, whosever they are.
    """
    given = {role: name for role, name in roles.items() if role in ("left", "right", "choice")}
    own = {"left": dialect.left, "right": dialect.right, "choice": "/".join(dialect.verdict)}
    if all(own[role] == name for role, name in given.items()):
        return dialect
    if dialect.shape not in ("pair", "item name"):
        return None
    moved = "choice" in given and given["choice"] != own["choice"]
    return replace(
        dialect,
        left=given.get("left", dialect.left),
        right=given.get("right", dialect.right),
        verdict=(given.get("choice", dialect.verdict[0]),),
        read=read_mapped if moved and dialect.key == "canonical" else dialect.read,
        said=f"{given.get('left', dialect.left)} is left",
    )


def _listed(source: Source, most: int = 12) -> str:
    names = list(source.columns)
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
