"""`read_votes`: votes from files and data frames in any dialect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from prefpath.votes.census import Rules
from prefpath.votes.database import Database, Progress, open_database
from prefpath.votes.dialects import Dialect, Roles, annotator_column, recognise
from prefpath.votes.origin import describe_origin, say_what_was_left_out
from prefpath.votes.people import open_people
from prefpath.votes.ratings import ratings_to_votes
from prefpath.votes.relation import Wanted, build_relation
from prefpath.votes.source import Source, naming, open_source
from prefpath.votes.tabulate import Tabulated, tabulate
from prefpath.votes.verdicts import Grades
from prefpath.votes.votes import Votes


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
    position_known: bool | str | None = None,
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
    position_known : bool or str, optional
        False where left and right mean nothing; or a column that says so for each vote.
        By default as the dialect has it, or the column `position_known`.
    grades : {"weight", "strength"}, optional
        Whether a grade (A>>B, a preference of 1.2) is the vote's weight or its strength.
        By default Arena-Hard's are weights (3 and 1), AlpacaEval's strengths.
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
    with naming(source), open_database(memory_limit, progress) as database:
        table = open_source(source, database)
        known_as = recognise(table, dialect, roles)
        if known_as.shape != "ratings":
            wanted = _wanted(database, table, known_as, roles, group, annotators)
            wanted = replace(
                wanted,
                weight=weight or table.find("weight"),
                position=_position(table, position_known),
                baseline=baseline,
            )
            relation = build_relation(table, known_as, wanted)
            rules = Rules(ties, both_bad, unknown, grades)
            result = tabulate(database, relation, known_as.read, rules)
            return _as_votes(table, known_as, wanted, result)
    return ratings_to_votes(
        source,
        annotator=annotator,
        item=known_as.left,
        rating=known_as.verdict[0],
        group=group,
        annotators=annotators,
        pairs_per_annotator=pairs_per_annotator,
        seed=seed,
        memory_limit=memory_limit,
        progress=progress,
    )


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


def _as_votes(table: Source, dialect: Dialect, wanted: Wanted, result: Tabulated) -> Votes:
    origin = describe_origin(table.name, dialect, wanted.annotator, result)
    say_what_was_left_out(origin, stacklevel=4)
    return Votes.from_coded(
        result.coded,
        annotators=result.annotators,
        items=result.items,
        origin=origin,
        frame_library=table.library,
    )
