"""`read_votes`: votes from files and data frames in any dialect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from prefpath.votes.census import Rules, as_words, count_labels, count_named, take_census
from prefpath.votes.choices import Choices, Settled, VerdictColumns, settle_choices
from prefpath.votes.column_pairs import parts_of
from prefpath.votes.database import Database, Progress, open_database
from prefpath.votes.dialects import JUDGES, WEIGHTS, Dialect
from prefpath.votes.opening import naming, open_source
from prefpath.votes.origin import describe_origin, say_what_was_left_out
from prefpath.votes.people import open_people
from prefpath.votes.pooled import says_pooled
from prefpath.votes.ratings import (
    GroupedBy,
    PairsDrawn,
    refuse_for_ratings,
    votes_of_ratings,
)
from prefpath.votes.recognise import GivenColumns, Roles, annotator_column, recognise
from prefpath.votes.relation import Relation, Wanted, build_relation, held, with_clear_names
from prefpath.votes.source import Source
from prefpath.votes.tabulate import Tabulated, tabulate
from prefpath.votes.unrecognised import NESTED, ROWS_LOOKED_AT
from prefpath.votes.verdicts import Grades
from prefpath.votes.voters import find_voters
from prefpath.votes.votes import Votes
from prefpath.votes.winner_first import check_left_won, check_winner_first


def read_votes(
    source: Any,
    *,
    annotator: str | None = None,
    left: str | None = None,
    right: str | None = None,
    choice: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    annotators: Any = None,
    dialect: str | None = None,
    ties: Literal["half", "drop"] = "half",
    both_bad: Literal["tie", "drop"] = "tie",
    unknown: Literal["error", "drop"] = "error",
    choices: Choices | None = None,
    scores: tuple[str, str] | None = None,
    position_known: bool | str | None = None,
    winner_first: bool = False,
    grades: Grades | None = None,
    baseline: str | None = None,
    pairs_per_annotator: int | None = None,
    seed: int = 0,
    memory_limit: str = "1GB",
    progress: Progress | None = None,
) -> Votes:
    """Read votes from a file, a folder of parts, a glob pattern, or a data frame.

    CSV, TSV, JSON Lines and Parquet are read (gzip and zstd too), and any data frame Narwhals
    knows. The dialect is recognised by its column names; `origin["read_as"]` says as which.
    No row is dropped silently: rows without a verdict and comparisons of an item with itself
    are left out, counted in `origin`, and said in a `VoteWarning`.

    Parameters
    ----------
    source : path, or data frame
        Where the votes are.
    annotator, left, right, choice, weight : str, optional
        Columns, where they are not called as the dialect calls them.
    group : str, optional
        A column of groups (occupation, age): its groups take the annotators' place.
    annotators : path or data frame, optional
        A table of annotators that has the column `group`.
    dialect : str, optional
        Forces a dialect: "canonical", "arena", "arena55k", "mtbench", "arena-hard",
        "arena-hard-pairs", "evalica", "crowdkit", "alpacaeval", "pwcmp", "pwcmp-selection",
        "chosen", "ratings".
    ties : {"half", "drop"}
        A tie is half a win for both, or left out.
    both_bad : {"tie", "drop"}
        "Both are bad" is a tie, or left out.
    unknown : {"error", "drop"}
        What to do with verdicts nobody knows and rows without an annotator or item.
    choices : mapping or str, optional
        What the verdicts mean, where they do not say so themselves: a meaning ("left", "right",
        "tie", "both bad", "none") for each word, as in ``{1: "left", 2: "right"}``; "names" of
        the items that won; the "probability" or "percent" that left is better; "strength"
        (above 0 left) or "strength-of-right".
    scores : pair of str, optional
        Columns of the left and the right item's score or goals: the higher has won.
    position_known : bool or str, optional
        False where left and right mean nothing; or a column that says so for each vote.
        By default as the dialect has it, or the column `position_known`; votes that nearly all
        go to one side are then refused, as they seem to list the winner first.
    winner_first : bool
        The left column holds the winner, not what was shown on the left: the position is
        unknown. Where there is no column of choices, every vote is for the left one.
    grades : {"weight", "strength"}, optional
        Whether a grade (A>>B, a preference of 1.2, -3 to 3) is the vote's weight or its strength.
        By default Arena-Hard's are weights (3 and 1), AlpacaEval's and numbers strengths.
    baseline : str, optional
        The model that Arena-Hard judgments are against.
    pairs_per_annotator, seed : int
        For ratings: at most so many pairs of each annotator, drawn at random.
    memory_limit : str
        What the reading may hold in memory before it goes to disk, apart from the votes.
    progress : callable, optional
        Called with what is being done, and the share of it that is done.

    Returns
    -------
    Votes

    Raises
    ------
    VoteError
        With row numbers, counted from 1 (a CSV header is not counted).

    Examples
    --------
    >>> import pandas as pd
    >>> battles = pd.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "x"],
    ...                         "winner": ["model_a", "tie"], "judge": ["ann", "bob"]})
    >>> votes = read_votes(battles)
    >>> votes
    Votes(2 votes in 2 rows, 2 annotators, 2 items, 1 tie)
    >>> votes.origin["read_as"]
    'Chatbot Arena: model_a is left'
    """
    named = {"annotator": annotator, "left": left, "right": right, "choice": choice}
    roles = {role: name for role, name in named.items() if name is not None}
    given = GivenColumns(roles, dialect, scores, winner_first)
    rules = Rules(ties, both_bad, unknown, grades)
    draw = PairsDrawn(pairs_per_annotator, seed)
    with naming(source), open_database(memory_limit, progress) as database:
        table = open_source(source, database)
        known_as = recognise(table, given, partial(_first_words, database, table))
        known_as = with_clear_names(database, table, known_as)
        if known_as.shape == "ratings":
            refuse_for_ratings(weight, position_known, grades, winner_first)
            who = GroupedBy(group, annotators)
            return votes_of_ratings(database, table, known_as, roles, who, rules, draw)
        wanted = replace(
            _wanted(database, table, known_as, roles, group, annotators),
            weight=weight or next(filter(None, map(table.find, WEIGHTS)), None),
            position=False if winner_first else _position(table, position_known),
            baseline=baseline,
        )
        if choices is None and dialect == "crowdkit":
            choices = "names"
        result, said = read_relation(
            database, table, known_as, wanted, choices, rules, winner_first=winner_first
        )
        used = frozenset(filter(None, (*known_as.columns, wanted.annotator, group)))
        said = "; ".join(filter(None, (said, says_pooled(database, table, used))))
    if wanted.position is None:
        check_winner_first(result.coded, result.annotators)
    return _as_votes(table, known_as, wanted, result, said, group)


def _first_words(database: Database, table: Source, column: str) -> list[str]:
    """What the first rows hold in a column, as it was written; what is missing aside."""
    if column in table.repeated or table.columns[column].kind in NESTED:
        return []
    written = table.columns[column].written
    rows = database.rows(f"SELECT {written} FROM {table.scan} LIMIT {ROWS_LOOKED_AT}")
    return [word for (word,) in rows if word]


def read_relation(
    database: Database,
    table: Source,
    dialect: Dialect,
    wanted: Wanted,
    choices: Choices | None,
    rules: Rules,
    *,
    winner_first: bool = False,
) -> tuple[Tabulated, str]:
    """The votes of a table's columns, and what is to be said of their verdicts."""
    relation = _relation(database, table, dialect, wanted)
    written = count_labels(database, relation)
    words = as_words(written)
    if winner_first and choices is None and set(words) <= {"0", "1", "0.0", "1.0"}:
        choices = {1: "left", 0: "tie"}  # 0 cannot be the right item's win
    settled = _settle(database, relation, dialect, words, choices)
    if settled.by_name:
        relation = _relation(database, table, replace(dialect, shape="item name"), wanted)
        written = count_labels(database, relation)
    census = take_census(database, relation, settled, rules)
    if winner_first:
        check_left_won(census.n_for(1, written), census.n_for(-1, written))
    return tabulate(database, relation, census), settled.said


def _relation(database: Database, table: Source, dialect: Dialect, wanted: Wanted) -> Relation:
    """The votes as SQL; copied into the database where the file is text."""
    relation = build_relation(table, dialect, wanted)
    return held(database, relation) if table.slow else relation


def _settle(
    database: Database,
    relation: Relation,
    dialect: Dialect,
    words: Mapping[str, int],
    choices: Choices | None,
) -> Settled:
    """What the verdicts mean: as the dialect has it, or settled from all of their words."""
    if dialect.read is not None and (choices is None or dialect.shape != "pair"):
        return Settled(dialect.read)
    columns = VerdictColumns(dialect.verdict[0], dialect.left, dialect.right, dialect.is_scale)
    return settle_choices(columns, words, lambda: count_named(database, relation, words), choices)


def _wanted(
    database: Database,
    table: Source,
    dialect: Dialect,
    roles: Roles,
    group: str | None,
    annotators: Any,
) -> Wanted:
    """Who votes: the annotator's column, a column of groups, or groups from another table."""
    own = annotator_column(table, dialect, roles)
    if annotators is not None:
        return Wanted(own, people=open_people(database, annotators, group, own))
    if group is not None:
        table.column(group)
        return Wanted(group)
    return Wanted(own)


def _position(table: Source, given: bool | str | None) -> bool | str | None:
    return table.find("position_known") if given is None else given


def _is_unusual(annotator: str) -> bool:
    """Whether the column of the annotators was found by what may be meant otherwise."""
    known = annotator.strip().casefold() in JUDGES
    return parts_of(annotator)[:1] == ("session",) or (not known and bool(find_voters([annotator])))


_COUNTS = ("count", "counts", "n_votes", "num_votes", "times", "frequency")


def _as_votes(
    table: Source,
    dialect: Dialect,
    wanted: Wanted,
    result: Tabulated,
    said: str,
    group: str | None,
) -> Votes:
    notes = [dialect.said, said, table.said]
    if wanted.position is False and dialect.position_known:
        notes[0] = "position unknown"
    if wanted.annotator is None:
        notes.append(
            "nothing says who voted, so all votes are one annotator's (--annotator names the "
            "column)"
        )
    elif group is not None:
        notes.append(f"each {group} is a voter")
    elif _is_unusual(wanted.annotator):
        notes.append(f"every {wanted.annotator} is one annotator")
    if wanted.weight is not None:
        notes.append(f"{wanted.weight} weighs the votes")
    elif (count := next(filter(None, map(table.find, _COUNTS)), None)) is not None:
        notes.append(f"{count} is not used (--weight {count} counts a row so many times)")
    origin = describe_origin(table.name, dialect, notes, result)
    if group is not None:
        origin["grouped_by"] = group
    elif wanted.annotator is None:
        origin["anonymous"] = True
    say_what_was_left_out(origin, stacklevel=4)
    return Votes.from_coded(
        result.coded,
        annotators=result.annotators,
        items=result.items,
        origin=origin,
        frame_library=table.library,
    )
