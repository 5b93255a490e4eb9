"""Where votes come from: a table DuckDB can scan, and what its columns hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from prefpath.errors import VoteError
from prefpath.text import spelling
from prefpath.votes.database import quote_name

ColumnKind = Literal["untyped", "text", "integer", "real", "list", "struct"]

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}


@dataclass(frozen=True)
class Column:
    """A column as SQL sees it. `untyped` is text of a CSV file, whose type nobody declared."""

    sql: str
    kind: ColumnKind

    @property
    def text(self) -> str:
        """Its text; None where it is missing, empty or not a number."""
        if self.kind == "list":
            return f"nullif(array_to_string({self.sql}, ', '), '')"
        if self.kind == "real":
            return f"CASE WHEN NOT isnan({self.sql}) THEN CAST({self.sql} AS VARCHAR) END"
        if self.kind == "integer":
            return f"CAST({self.sql} AS VARCHAR)"
        if self.kind == "untyped":  # the CSV reader has made nothing of an empty field
            return self.sql
        return f"nullif(CAST({self.sql} AS VARCHAR), '')"

    @property
    def written(self) -> str:
        """Its text without surrounding blanks."""
        return f"trim({self.text}, E' \\t\\r\\n')"

    @property
    def word(self) -> str:
        """The same in lower case: for words with a meaning."""
        return f"lower({self.written})"

    @property
    def number(self) -> str:
        """Its value as a number; None where it is not one.

        An expression first: of a bare column DuckDB would do the cast in its CSV reader, where
        what is no number is an error.
        """
        text = f"nullif({self.sql}, '')" if self.kind == "untyped" else self.text
        return f"TRY_CAST({text} AS DOUBLE)"


@dataclass(frozen=True)
class Source:
    """A table to read votes from.

    Attributes
    ----------
    name : str
        How it is called when something is said about it.
    scan : str
        What stands after FROM.
    columns : mapping
        The user's column names, in order.
    repeated : frozenset of str
        Names that more than one column has.
    library : str or None
        The data frame library, for a frame.
    slow : bool
        Whether it is text that is parsed at every scan, and small enough to be held instead.
    said : str
        What is to be said of how it was read.
    """

    name: str
    scan: str
    columns: Mapping[str, Column]
    repeated: frozenset[str] = frozenset()
    library: str | None = None
    slow: bool = False
    said: str = ""

    def find(self, name: str) -> str | None:
        """The user's column of this name: exactly, or else in any mixture of case and blanks.

        A long name that is copied from a terminal has line ends for blanks.
        """
        if name in self.columns:
            return name
        alike = [own for own in self.columns if _folded(own) == _folded(name)]
        return alike[0] if len(alike) == 1 else None

    def column(self, name: str) -> Column:
        """The column of this name.

        Raises
        ------
        VoteError
            There is none, or more than one.
        """
        own = self.find(name)
        if own is None:
            raise VoteError(
                f"{self.name} has no column {name!r}",
                expected=f"one of its columns: {_listed(list(self.columns))}",
                remedy=spelling(name, self.columns),
            )
        if own in self.repeated:
            raise VoteError(
                f"{self.name} has more than one column {own!r}",
                expected="one column of that name",
                remedy="rename or remove the others",
            )
        return self.columns[own]


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def renamed(scan: str, types: Mapping[str, str]) -> tuple[str, dict[str, Column]]:
    """A scan whose columns are called c0, c1, ..., and the user's names for them.

    Names of the user's never meet names of ours that way, whatever they are.
    """
    selected = ", ".join(f"{quote_name(own)} AS c{k}" for k, own in enumerate(types))
    columns = {own: Column(f"c{k}", kind_of(sql)) for k, (own, sql) in enumerate(types.items())}
    return f"(SELECT {selected} FROM {scan})", columns


def kind_of(sql_type: str) -> ColumnKind:
    """What a DuckDB type holds.

    >>> [kind_of(name) for name in ("BIGINT", "DOUBLE", "VARCHAR[]", "ENUM('a')")]
    ['integer', 'real', 'list', 'text']
    """
    if sql_type in _INTEGERS:
        return "integer"
    if sql_type in {"FLOAT", "DOUBLE"}:
        return "real"
    if sql_type.endswith("]"):
        return "list"
    return "struct" if sql_type.startswith("STRUCT") else "text"


def _listed(names: list[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return f"{shown}, and {len(names) - most} more" if len(names) > most else shown
