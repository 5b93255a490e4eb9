"""The complete tables as files inside the page."""

from __future__ import annotations

import base64
import csv
import gzip
import io
from typing import Any

import numpy as np

from prefpath.report.data import Columns
from prefpath.report.escape import text
from prefpath.report.format import known, plural

_LARGEST_PLAIN = 200_000
_LARGEST = 3_000_000  # of the page's 10 MB, after base64


def download_link(name: str, columns: Columns, noun: str) -> str:
    """A link that saves the whole table, compressed if large; words where it is too large."""
    written = _csv(columns).encode("utf-8", "replace")
    n_rows = len(next(iter(columns.values())))
    kind, suffix = "text/csv;charset=utf-8", "csv"
    if len(written) > _LARGEST_PLAIN:
        # mtime 0: the same model gives the same bytes.
        written, kind, suffix = gzip.compress(written, mtime=0), "application/gzip", "csv.gz"
    if len(written) > _LARGEST:
        return (
            f"All {plural(n_rows, noun)} are too many for one page: ask the model for "
            f"<code>model.{text(name)}()</code>."
        )
    data = base64.b64encode(written).decode("ascii")
    return (
        f'<a class="download" download="{text(name)}.{suffix}" href="data:{kind};base64,{data}">'
        f"Save all {plural(n_rows, noun)} as {suffix.upper()}</a>"
    )


def _csv(columns: Columns) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(_plain(values) for values in columns.values()), strict=True))
    return out.getvalue()


def _plain(values: Any) -> list[Any]:
    """Values as CSV has them: six digits, empty for what is not known."""
    return [
        ("" if not known(value) else f"{value:.6g}" if isinstance(value, float) else value)
        for value in np.asarray(values, dtype=object).tolist()
    ]
