"""Ratings to votes: who rates one item above another prefers it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from prefpath.errors import VoteError
from prefpath.votes.census import Census, Rules, take_census
from prefpath.votes.database import Database, Progress, open_database
from prefpath.votes.dialects import Dialect, annotator_column, ratings_dialect
from prefpath.votes.dictionary import census_labels, make_dictionary
from prefpath.votes.encode import FloatArray, IntArray, Labels
from prefpath.votes.origin import say_what_was_left_out
from prefpath.votes.people import keep_people, open_people
from prefpath.votes.relation import People, Relation, Wanted, build_relation
from prefpath.votes.source import Source, naming, open_source
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
    memory_limit, progress
        As in `read_votes`.

    Examples
    --------
    >>> import pandas as pd
    >>> ratings = pd.DataFrame({"user": [1, 1, 1], "movie": ["a", "b", "c"],
    ...                         "rating": [5, 3, 3]})
    >>> ratings_to_votes(ratings)
    Votes(2 votes in 2 rows, 1 annotators, 3 items, 0 ties)
    """
    if pairs_per_annotator is not None and pairs_per_annotator < 1:
        raise VoteError(f"pairs_per_annotator is {pairs_per_annotator}", expected="at least 1")
    with naming(source), open_database(memory_limit, progress) as database:
        table = open_source(source, database)
        dialect = ratings_dialect(table, item, rating)
        who = annotator_column(table, dialect, {"annotator": annotator} if annotator else {})
        relation = build_relation(table, dialect, Wanted(who))
        census = take_census(database, relation, dialect.read, Rules())
        people, items, rated = _fetch_ratings(database, relation, census)
        winner, loser = draw_pairs(rated[0], rated[2], pairs_per_annotator, seed)
        voter, voters = rated[0], people
        if group is not None:
            members = _people(database, table, who, group, annotators)
            voters, code = _group_codes(database, members, people, group)
            voter = code[rated[0]]
    votes = _as_votes(voter[winner], rated[1][winner], rated[1][loser], voters, items)
    origin = _origin(table, dialect, census, len(winner), votes)
    say_what_was_left_out(origin)
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


def _fetch_ratings(
    database: Database, relation: Relation, census: Census
) -> tuple[Labels, Labels, tuple[IntArray, IntArray, FloatArray]]:
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
    person, item, rating = (np.ma.getdata(found[name]) for name in ("person", "item", "rating"))
    return people, items, (person, item, rating)


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
            f"{len(lacking):,} annotators have no {group}: "
            f"{', '.join(str(label) for label in lacking[:20])}",
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
    table: Source, dialect: Dialect, census: Census, n_pairs: int, votes: Votes
) -> dict[str, Any]:
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
        "unknown_labels": 0,
        "missing_labels": 0,
    }
