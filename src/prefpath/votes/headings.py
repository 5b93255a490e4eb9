"""Qualtrics' further lines of headings: the questions and their ids, below the names of columns."""

from __future__ import annotations

from dataclasses import replace

from prefpath.votes.database import Database, quote_text
from prefpath.votes.source import Source

IMPORT_ID = "ImportId"
_IDS = f'{{"{IMPORT_ID}"'


def without_headings(source: Source, database: Database) -> Source:
    """The votes below: the first two rows are no votes where the second holds ids of questions.

    Every part of an export repeats them, so that all rows like these two are left out.
    """
    cells = ", ".join(column.sql for column in source.columns.values())
    rows = database.rows(f"SELECT {cells} FROM {source.scan} LIMIT 2")
    ids = [cell for cell in rows[-1] if cell] if len(rows) > 1 else []
    if not ids or not all(cell.startswith(_IDS) for cell in ids):
        return source
    alike = " OR ".join(
        " AND ".join(
            f"{column.sql} IS NOT DISTINCT FROM {quote_text(cell) if cell else 'NULL'}"
            for column, cell in zip(source.columns.values(), row, strict=True)
        )
        for row in rows
    )
    scan = f"(SELECT * FROM {source.scan} WHERE NOT ({alike}))"
    return replace(source, scan=scan, said="Qualtrics' two lines of questions and ids are no votes")
