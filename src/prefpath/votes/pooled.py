"""Votes on several questions in one table: read as one question unless the user says otherwise."""

from __future__ import annotations

from prefpath.votes.database import Database
from prefpath.votes.source import Source
from prefpath.votes.unrecognised import NESTED

_QUESTIONS = (
    "criterion", "criteria", "aspect", "attribute", "dimension", "study_question", "category",
)  # fmt: skip


def says_pooled(database: Database, table: Source, used: frozenset[str]) -> str:
    """What is said where a column that nothing uses tells votes on several questions apart."""
    for name in filter(None, map(table.find, _QUESTIONS)):
        if name not in used and _differs(database, table, name):
            return f"all of {name} is read as one question (--group {name} compares them)"
    return ""


def _differs(database: Database, table: Source, name: str) -> bool:
    column = table.columns[name]
    if name in table.repeated or column.kind in NESTED:
        return False
    sql = f"SELECT DISTINCT {column.text} AS it FROM {table.scan} WHERE {column.text} IS NOT NULL"
    return len(database.rows(f"{sql} LIMIT 2")) > 1
