"""The complete tables as files inside the page."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import math
from typing import Any

import numpy as np

from prefpath.report.data import Columns
from prefpath.report.escape import text
from prefpath.report.format import plural
from prefpath.tables import harmless_cell
from prefpath.text import agreeing

_LARGEST_PLAIN = 200_000
_LARGEST = 4_500_000  # 6 MB of the page's 10, in base64
_SENTENCES = ("reason", "notes")


def download_link(name: str, columns: Columns, noun: str, n_of: int | None = None) -> str:
    """A link that saves a table, compressed if large; words where it is too large.

    `n_of` is how many rows the whole table has, if it may have more than are here.
    """
    n_rows = len(next(iter(columns.values())))
    whole = n_of is None or n_rows == n_of
    which = agreeing(n_rows, "the", "all") if whole else "the first"
    short = {key: values for key, values in columns.items() if key not in _SENTENCES}
    for kept in (columns, short):
        written, kind, suffix = _pack(_csv(kept).encode("utf-8", "replace"))
        if len(written) <= _LARGEST:
            data = base64.b64encode(written).decode("ascii")
            return (
                f'<a class="download" download="{text(name)}.{suffix}" '
                f'href="data:{kind};base64,{data}">'
                f"Save {which} {plural(n_rows, noun)} as {suffix.upper()}</a>"
            )
    return (
        f"All {plural(n_rows, noun)} are too many for one page: ask the model for "
        f"<code>model.{text(name)}()</code>."
    )


def _pack(written: bytes) -> tuple[bytes, str, str]:
    """The bytes to store, their type and the ending of the file's name."""
    if len(written) <= _LARGEST_PLAIN:
        return written, "text/csv;charset=utf-8", "csv"
    # mtime 0: the same model gives the same bytes.
    return gzip.compress(written, mtime=0), "application/gzip", "csv.gz"


def _csv(columns: Columns) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([harmless_cell(name) for name in columns])
    writer.writerows(zip(*(_plain(values) for values in columns.values()), strict=True))
    return out.getvalue()


def _plain(values: Any) -> list[Any]:
    """Values as CSV has them: five digits, empty for what is not known, text that is no formula.

    >>> _plain([1.0, -0.123456, None, float("inf"), "=1+1"])
    ['1', '-0.12346', '', '', "'=1+1"]
    """
    return [_written(value) for value in np.asarray(values, dtype=object).tolist()]


def _written(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, float):
        if not math.isfinite(value):
            return ""
        return str(int(value)) if value.is_integer() else f"{value:.5g}"
    return harmless_cell(value)
