"""Errors that say what was found, where, what was expected, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `import prefpath` waits for no library
    import numpy as np

_ROWS_SHOWN = 5


class PrefpathError(Exception):
    """Base of every error this package raises on purpose.

    >>> issubclass(VoteError, PrefpathError), issubclass(MissingExtra, PrefpathError)
    (True, True)
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors of a cluster's workers reach the driver as they were."""
        return _as_it_was, (type(self), self.args, self.__dict__)


def _as_it_was(kind: type[PrefpathError], args: tuple[Any, ...], state: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class VoteError(PrefpathError, ValueError):
    """The votes (or what belongs to them: weights, features) cannot be used as they are.

    Parameters
    ----------
    what : str
        What was found, in the user's own words and labels.
    rows : sequence of int, optional
        Where: row numbers, counted from 1 (a CSV header is not counted).
    expected : str, optional
        What would have been accepted.
    remedy : str, optional
        What to do about it.

    Examples
    --------
    >>> print(VoteError("2 votes have a negative weight", rows=[3, 9],
    ...                 expected="weights of at least 0", remedy="fix or drop these rows"))
    2 votes have a negative weight
      where:    rows 3, 9
      expected: weights of at least 0
      remedy:   fix or drop these rows
    """

    def __init__(
        self,
        what: str,
        *,
        rows: Sequence[int] | np.ndarray | None = None,
        expected: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.what = what
        self.rows = () if rows is None else tuple(int(row) for row in rows)
        self.expected = expected
        self.remedy = remedy
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [self.what]
        if self.rows:
            lines.append(f"  where:    {name_rows(self.rows)}")
        if self.expected:
            lines.append(f"  expected: {self.expected}")
        if self.remedy:
            lines.append(f"  remedy:   {self.remedy}")
        return "\n".join(lines)


class SettingError(VoteError):
    """A setting (a loss, a step, a time, a rate) cannot be used as it is.

    >>> print(SettingError("q is 2", expected="a rate between 0 and 1"))
    q is 2
      expected: a rate between 0 and 1
    """


class MissingExtra(PrefpathError, ImportError):
    """An optional library is needed for this; the message says which extra installs it.

    >>> print(MissingExtra("bokeh", "report", "a report"))
    a report needs bokeh: pip install 'prefpath[report]'
    """

    def __init__(self, library: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs {library}: pip install 'prefpath[{extra}]'")


class MachineError(PrefpathError):
    """The machine lacks something (room on a disk, memory): neither the votes nor a setting.

    Examples
    --------
    >>> print(MachineError("out.csv cannot be written: the disk is full", "make room"))
    out.csv cannot be written: the disk is full
      remedy:   make room
    """

    def __init__(self, what: str, remedy: str, *, exit_code: int = 71) -> None:
        self.what = what
        self.remedy = remedy
        self.exit_code = exit_code
        super().__init__(f"{what}\n  remedy:   {remedy}")


class VoteWarning(UserWarning):
    """Something in the votes was left out or cannot be identified; nothing is left unsaid.

    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", VoteWarning)  # silence what you have read
    """


class FindingWarning(VoteWarning):
    """A `VoteWarning` of a fit that its findings say, too: on a terminal it is not said twice."""


def name_rows(rows: Sequence[int]) -> str:
    """Name rows for a person: the first few, and how many more there are.

    >>> name_rows([4])
    'row 4'
    >>> name_rows([1, 2, 3, 4, 5, 6, 7])
    'rows 1, 2, 3, 4, 5 and 2 more'
    """
    shown = ", ".join(str(int(row)) for row in rows[:_ROWS_SHOWN])
    more = len(rows) - _ROWS_SHOWN
    return f"row{'s' if len(rows) > 1 else ''} {shown}" + (f" and {more} more" if more > 0 else "")
