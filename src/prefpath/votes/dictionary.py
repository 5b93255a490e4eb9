"""Dictionaries: each distinct label and its code, in the database and as an array."""

from __future__ import annotations

import numpy as np

from prefpath.text import agreeing, quoted
from prefpath.votes.database import Database
from prefpath.votes.encode import Labels, text_array

_PLAIN_INTEGER = "0|-?[1-9][0-9]{0,17}"


def census_labels(*columns: str) -> str:
    """SQL for the distinct labels of columns of the census, one type for all."""
    return " UNION ".join(
        f"SELECT {column} AS label FROM census WHERE of_{column} AND {column} IS NOT NULL"
        for column in columns
    )


def make_dictionary(database: Database, table: str, labels: str, *, untyped: bool) -> Labels:
    """A table of label and code, in order of label, of the query `labels`; returns the labels.

    Text nobody declared a type for is integers where all of it is plain integers, without
    leading zeros or decimal points; anything else stays the text it is.
    """
    order = "label"
    if untyped:
        whole = f"SELECT bool_and(regexp_full_match(label, '{_PLAIN_INTEGER}')) FROM ({labels})"
        order = "CAST(label AS BIGINT)" if database.rows(whole)[0][0] else "label"
    database.run(
        f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT label,"
        f" row_number() OVER (ORDER BY {order}) - 1 AS code FROM ({labels})"
    )
    found = database.arrays(f"SELECT {order} AS label FROM {table} ORDER BY code")["label"]
    return _as_labels(np.ma.getdata(found))


def _as_labels(labels: Labels) -> Labels:
    """Text in NumPy's own type, unless a few long labels would make all of them long."""
    if labels.dtype != object:
        return labels
    values = labels.tolist()
    longest = max(map(len, values), default=0)
    return labels if longest * len(values) > 2**24 else text_array(values)


def labels_alike(database: Database, table: str, kind: str) -> list[str]:
    """What is to be said of labels that may be meant to be one, or to be missing."""
    word = "lower(trim(CAST(label AS VARCHAR), E' \\t\\r\\n'))"
    alike = database.rows(
        f"SELECT list(label ORDER BY label) FROM {table} GROUP BY {word} HAVING count(*) > 1"
        " ORDER BY min(code)"
    )
    called = database.rows(
        f"SELECT label FROM {table} WHERE {word} IN ('na', 'n/a', 'nan', 'null', 'none')"
        " ORDER BY code"
    )
    said = []
    if alike:
        first = " and ".join(map(quoted, alike[0][0][:3]))
        more = f" and {len(alike) - 1:,} more" if len(alike) > 1 else ""
        said.append(f"{kind}s that differ in case or blanks only: {first}{more}")
    if called:
        names = " and ".join(quoted(label) for (label,) in called)
        one = f"is a label of an {kind} here, not a missing one"
        said.append(f"{names} {agreeing(len(called), one, f'are labels of {kind}s here')}")
    return said
