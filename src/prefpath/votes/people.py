"""A table of annotators, to group votes by what is known about the people who cast them."""

from __future__ import annotations

from typing import Any

from prefpath.errors import VoteError
from prefpath.text import agreeing, counted, quoted
from prefpath.votes.database import Database
from prefpath.votes.opening import open_source
from prefpath.votes.relation import People
from prefpath.votes.source import Source

_PERSON_NAMES = ("annotator", "annotator_id", "user", "user_id", "userId", "worker", "judge")


def open_people(database: Database, annotators: Any, group: str | None, own: str | None) -> People:
    """Read a table of annotators into the database: who is in which group.

    Parameters
    ----------
    annotators : path or data frame
        The table; its annotators' column is called as in the votes, or annotator, user, ...
    group : str
        Its column of groups.
    own : str or None
        The votes' column of annotators.
    """
    if group is None or own is None:
        raise VoteError(
            "a table of annotators needs a column to group by, and votes that say who cast them",
            remedy='name the column, for example group="occupation"',
        )
    table = open_source(annotators, database, "people_source")
    person = table.column(_person_column(table, own))
    label = table.column(group)
    return keep_people(database, f"SELECT {person.text} AS person, {label.sql} AS group_label "
                       f"FROM {table.scan}", label.kind, group)  # fmt: skip


def keep_people(database: Database, select: str, kind: Any, group: str) -> People:
    """Store who is in which group; a person is in one group only."""
    database.run(
        f"CREATE OR REPLACE TEMP TABLE people_table AS SELECT DISTINCT * FROM ({select})"
        " WHERE person IS NOT NULL"
    )
    twice = database.rows(
        "SELECT person FROM people_table GROUP BY person HAVING count(*) > 1 ORDER BY person"
    )
    if twice:
        raise VoteError(
            f"{counted(len(twice), 'annotator')} {agreeing(len(twice), 'has', 'have')} more than "
            f"one {group} (the first is {quoted(twice[0][0])})",
            expected="one group for each annotator",
        )
    return People("people_table", kind)


def _person_column(table: Source, own: str) -> str:
    return next((name for name in (own, *_PERSON_NAMES) if table.find(name)), own)
