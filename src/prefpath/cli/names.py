"""Names to show for items, and families, from tables of the user's."""

from __future__ import annotations

import csv
from pathlib import Path

from prefpath.errors import SettingError


def read_names(file: Path | None) -> dict[str, str]:
    """What to show for items: a table with columns item and name, or its first two columns."""
    return {} if file is None else _two_columns(file, "item", "name")


def read_families(file: Path) -> dict[str, str]:
    """Families of annotators and items: columns name and family, or the first two."""
    return _two_columns(file, "name", "family")


def _two_columns(file: Path, key: str, value: str) -> dict[str, str]:
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            rows = [row for row in csv.reader(lines) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingError(
            f"{file} cannot be read: {getattr(error, 'strerror', None) or error}",
            expected=f"a CSV file in UTF-8 with columns {key} and {value}",
            remedy="save the table as such a file",
        ) from error
    head = [cell.strip().lower() for cell in rows[0]] if rows else []
    named = key in head and value in head
    first, second = (head.index(key), head.index(value)) if named else (0, 1)
    if not rows or min(len(row) for row in rows) <= max(first, second):
        raise SettingError(
            f"{file} has a row without columns {key} and {value}",
            expected="both in every row, with commas between columns",
        )
    return {row[first]: row[second] for row in (rows[1:] if named else rows)}
