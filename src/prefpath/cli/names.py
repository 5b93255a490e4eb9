"""Names to show for items, from a table of the user's."""

from __future__ import annotations

import csv
from pathlib import Path

from prefpath.errors import SettingError


def read_names(file: Path | None) -> dict[str, str]:
    """What to show for items: a table with columns item and name, or its first two columns."""
    if file is None:
        return {}
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            rows = [row for row in csv.reader(lines) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingError(
            f"{file} cannot be read: {getattr(error, 'strerror', None) or error}",
            expected="a CSV file in UTF-8 with columns item and name",
            remedy="save the names as such a file",
        ) from error
    if not rows or min(len(row) for row in rows) < 2:
        raise SettingError(
            f"{file} has a row with fewer than two columns", expected="columns item and name"
        )
    head = [cell.strip().lower() for cell in rows[0]]
    named = "item" in head and "name" in head
    item, name = (head.index("item"), head.index("name")) if named else (0, 1)
    return {row[item]: row[name] for row in (rows[1:] if named else rows)}
