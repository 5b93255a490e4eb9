"""Ratings to votes: who rates one item above another prefers it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from prefpath.errors import SettingError, VoteError
from prefpath.text import agreeing, counted, listed
from prefpath.votes.census import Census, Rules, count_labels, take_census
from prefpath.votes.choices import Settled
from prefpath.votes.database import Database, Progress, open_database
from prefpath.votes.dialects import Dialect
from prefpath.votes.dictionary import census_labels, make_dictionary
from prefpath.votes.encode import FloatArray, IntArray, Labels
from prefpath.votes.opening import naming, open_source
from prefpath.votes.origin import say_what_was_left_out
from prefpath.votes.people import keep_people, open_people
from prefpath.votes.recognise import Roles, annotator_column, ratings_dialect
from prefpath.votes.relation import People, Relation, Wanted, build_relation
from prefpath.votes.source import Source
from prefpath.votes.verdicts import read_rating
from prefpath.votes.votes import Votes

MOST_PAIRS = 100_000_000
"""More pairs than this are an error: nobody means to build them without a cap."""


def ratings_to_votes(
    source: Any,
    *,
    annotator: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    group: str | None = None,
    annotators: Any = None,
    pairs_per_annotator: int | None = None,
    seed: int = 0,
    unknown: Literal["error", "drop"] = "error",
    memory_limit: str = "1GB",
    progress: Progress | None = None,
) -> Votes:
    """Votes from ratings: one for every two items that one annotator rated differently.

    Nothing is known about position, so these votes say nothing about position bias.

    Parameters
    ----------
    source : path or data frame
        Columns annotator (or user, ...), item (or movie, ...) and rating.
    annotator, item, rating : str, optional
        Their names, where they are others.
    group : str, optional
        A column of groups that take the annotators' place; pairs are still of one person.
    annotators : path or data frame, optional
        A table of annotators that has the column `group`.
    pairs_per_annotator : int, optional
        At most so many pairs of each annotator, drawn at random without replacement.
    seed : int
        Of that draw.
    unknown, memory_limit, progress
        As in `read_votes`.

    Examples
    --------
    >>> import pandas as pd
    >>> ratings = pd.DataFrame({"user": [1, 1, 1], "movie": ["a", "b", "c"],
    ...                         "rating": [5, 3, 3]})
    >>> ratings_to_votes(ratings)
    Votes(2 votes in 2 rows, 1 annotator, 3 items, 0 ties)
    """
    given = {"annotator": annotator} if annotator else {}
    with naming(source), open_database(memory_limit, progress) as database:
        table = open_source(source, database)
        return votes_of_ratings(
            database,
            table,
            ratings_dialect(table, item, rating),
            given,
            GroupedBy(group, annotators),
            Rules(unknown=unknown),
            PairsDrawn(pairs_per_annotator, seed),
        )


class GroupedBy(NamedTuple):
    """A column of groups in the annotators' place, and the table that has it (None: this one)."""

    group: str | None = None
    annotators: Any = None


@dataclass(frozen=True)
class PairsDrawn:
    """How many pairs of each annotator are drawn (None: all), and the seed of the draw."""

    most: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.most is not None and self.most < 1:
            raise VoteError(f"pairs_per_annotator is {self.most}", expected="at least 1")


def refuse_for_ratings(
    weight: str | None, position_known: Any, grades: Any, winner_first: bool
) -> None:
    """Options that ratings have no meaning for are an error, not forgotten."""
    given = {
        "weight": weight is not None,
        "position_known": bool(position_known),
        "grades": grades is not None,
        "winner_first": winner_first,
    }
    for name in (name for name, is_given in given.items() if is_given):
        raise SettingError(
            f"{name} means nothing for ratings: their pairs are made from two rows",
            expected="ratings without it; a pair has no position and no grade",
            remedy=f"leave out {name} (--{name.replace('_', '-')})",
        )


def votes_of_ratings(
    database: Database,
    table: Source,
    dialect: Dialect,
    roles: Roles,
    grouped: GroupedBy,
    rules: Rules,
    drawn: PairsDrawn,
) -> Votes:
    """Votes from a table of ratings that is open already."""
    who = annotator_column(table, dialect, roles)
    relation = build_relation(table, dialect, Wanted(who))
    count_labels(database, relation)
    settled = Settled(
        read_rating,
        expected="a finite number, with a decimal point",
        unknown="a rating that is not a number",
        remedy="correct these ratings; or name the column of the ratings with --choice",
    )
    census = take_census(database, relation, settled, rules)
    people, items, rated = _fetch_ratings(database, relation, census)
    winner, loser = draw_pairs(rated.person, rated.rating, drawn.most, drawn.seed)
    voter, voters = rated.person, people
    if grouped.group is not None:
        members = _people(database, table, who, grouped.group, grouped.annotators)
        voters, code = _group_codes(database, members, people, grouped.group)
        voter = code[rated.person]
    votes = _as_votes(voter[winner], rated.item[winner], rated.item[loser], voters, items)
    origin = _origin(table, dialect, census, len(rated.person), len(winner), votes)
    if grouped.group is not None:
        origin["grouped_by"] = grouped.group
        origin["read_as"] += f"; each {grouped.group} is a voter"
    say_what_was_left_out(origin, stacklevel=4)
    return replace(votes, origin=origin, frame_library=table.library)


def draw_pairs(
    annotator: IntArray, rating: FloatArray, cap: int | None, seed: int
) -> tuple[IntArray, IntArray]:
    """Positions of winner and loser of pairs with different ratings.

    Parameters
    ----------
    annotator, rating : array
        Sorted by annotator, then rating.
    cap : int or None
        At most so many pairs of each annotator.
    seed : int
        Of the draw.

    Notes
    -----
    Entry p wins over every entry of its annotator that stands before the first entry with p's
    own rating. So the pairs of all annotators have a natural number each, and drawing pairs is
    drawing numbers: no pair is built that is not wanted.

    Examples
    --------
    >>> winner, loser = draw_pairs(np.array([0, 0, 0]), np.array([1.0, 1.0, 4.0]), None, 0)
    >>> winner.tolist(), loser.tolist()
    ([2, 2], [0, 1])
    """
    place = np.arange(len(annotator))
    if not len(place):
        return place, place
    new_annotator = np.diff(annotator, prepend=-1) != 0
    new_rating = new_annotator | (np.diff(rating, prepend=np.nan) != 0)
    first = np.maximum.accumulate(np.where(new_annotator, place, 0))
    alike = np.maximum.accumulate(np.where(new_rating, place, 0))
    ends = np.cumsum(alike - first)
    bounds = np.append(0, ends[np.append(np.flatnonzero(new_annotator)[1:], len(place)) - 1])
    number = _draw_numbers(bounds, cap, seed)
    winner = np.searchsorted(ends, number, side="right")
    loser = first[winner] + number - (ends[winner] - (alike - first)[winner])
    return winner, loser


def _draw_numbers(bounds: IntArray, cap: int | None, seed: int) -> IntArray:
    """Numbers of pairs, at most `cap` between any two bounds."""
    sizes = np.diff(bounds)
    n_pairs = int(sizes.sum() if cap is None else np.minimum(sizes, cap).sum())
    if n_pairs > MOST_PAIRS:
        raise VoteError(
            f"these ratings make {n_pairs:,} pairs",
            expected=f"at most {MOST_PAIRS:,}",
            remedy="draw some of them: pairs_per_annotator=1000",
        )
    if cap is None:
        return np.arange(n_pairs)
    generator = np.random.default_rng(seed)
    drawn = [
        np.sort(generator.choice(size, cap, replace=False)) if size > cap else np.arange(size)
        for size in sizes.tolist()
    ]
    return np.concatenate([start + some for start, some in zip(bounds, drawn, strict=False)])


class Rated(NamedTuple):
    """Codes of persons and items, and ratings, sorted by person, rating and item."""

    person: IntArray
    item: IntArray
    rating: FloatArray


def _fetch_ratings(
    database: Database, relation: Relation, census: Census
) -> tuple[Labels, Labels, Rated]:
    """Labels of people and items; codes and ratings, sorted by person, rating and item."""
    people = make_dictionary(
        database,
        "annotator_codes",
        census_labels("annotator"),
        untyped=relation.untyped_annotator,
    )
    items = make_dictionary(
        database, "item_codes", census_labels("left_item"), untyped=relation.untyped_items
    )
    words = list(census.kept)
    values = np.array([census.kept[word].choice for word in words], dtype=float)
    database.create_table("rating_values", {"word": np.array(words, dtype=object), "value": values})
    found = database.arrays(
        f"SELECT a.code AS person, i.code AS item, v.value AS rating FROM ({relation.select})"
        " JOIN annotator_codes a ON annotator = a.label JOIN item_codes i ON left_item = i.label"
        " JOIN rating_values v ON verdict = v.word ORDER BY person, rating, item",
        "reading ratings",
    )
    return people, items, Rated(*(np.ma.getdata(found[name]) for name in Rated._fields))


def _people(
    database: Database, table: Source, who: str | None, group: str, annotators: Any
) -> People:
    if annotators is not None:
        return open_people(database, annotators, group, who)
    if who is None:
        raise VoteError("grouped ratings need a column that says who rated", remedy="annotator=")
    person, label = table.column(who), table.column(group)
    select = f"SELECT {person.text} AS person, {label.sql} AS group_label FROM {table.scan}"
    return keep_people(database, select, label.kind, group)


def _group_codes(
    database: Database, members: People, people: Labels, group: str
) -> tuple[Labels, IntArray]:
    """Labels of the groups, and the group of each person."""
    groups = make_dictionary(
        database,
        "group_codes",
        f"SELECT DISTINCT group_label AS label FROM {members.scan} WHERE group_label IS NOT NULL",
        untyped=members.kind == "untyped",
    )
    found = database.arrays(
        "SELECT coalesce(g.code, -1) AS code FROM annotator_codes a"
        f" LEFT JOIN {members.scan} p ON CAST(a.label AS VARCHAR) = p.person"
        " LEFT JOIN group_codes g ON p.group_label = g.label ORDER BY a.code"
    )
    code = np.ma.getdata(found["code"])
    if (code < 0).any():
        lacking = people[code < 0]
        raise VoteError(
            f"{counted(len(lacking), 'annotator')} {agreeing(len(lacking), 'has', 'have')} no "
            f"{group}: {listed(lacking, 20)}",
            expected=f"a {group} for every annotator",
        )
    return groups, code


def _as_votes(
    voter: IntArray, winner: IntArray, loser: IntArray, voters: Labels, items: Labels
) -> Votes:
    kept = winner != loser  # an item rated twice by one person
    if not kept.any():
        raise VoteError("no annotator rated two items differently", expected="ratings that differ")
    used = np.unique(voter[kept])
    seen = np.unique(np.concatenate([winner[kept], loser[kept]]))
    return Votes.from_codes(
        np.searchsorted(used, voter[kept]).astype(np.int32),
        np.searchsorted(seen, winner[kept]).astype(np.int32),
        np.searchsorted(seen, loser[kept]).astype(np.int32),
        np.ones(int(kept.sum())),
        annotators=voters[used],
        items=items[seen],
        position_known=False,
    )


def _origin(
    table: Source, dialect: Dialect, census: Census, n_rated: int, n_pairs: int, votes: Votes
) -> dict[str, Any]:
    left_out = census.counts["no_verdict"] + census.counts["unknown"]
    return {
        "source": table.name,
        "dialect": dialect.key,
        "read_as": f"{dialect.title}: {dialect.said}",
        "rows": census.n_rows,
        "votes": votes.n_votes,
        "duplicates_merged": votes.n_votes - votes.n_rows,
        "ties": 0,
        "no_verdict": census.counts["no_verdict"],
        "self_comparisons": n_pairs - votes.n_votes,
        "unknown_labels": census.counts["unknown"],
        "missing_labels": census.n_rows - left_out - n_rated,
    }
