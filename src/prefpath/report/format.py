"""Numbers as a reader wants them."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath.report.escape import text

UNKNOWN = '<span class="unknown" title="not known">–</span>'


def known(value: Any) -> bool:
    """Whether there is a value: not None, not NaN, not infinite."""
    if value is None:
        return False
    return not isinstance(value, float | np.floating) or bool(np.isfinite(value))


def number(value: Any, digits: int = 3) -> str:
    """Significant digits, without exponents where a person can read it without.

    >>> number(1234.56), number(0.12345), number(-0.00004)
    ('1,235', '0.123', '−0.00004')
    """
    if not known(value):
        return "–"
    value = float(value)
    if value == 0:
        return "0"
    places = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    places = min(places, 6)
    return _minus(f"{value:,.{places}f}".rstrip("0").rstrip(".") if places > digits
                  else f"{value:,.{places}f}")  # fmt: skip


def fixed(value: Any, places: int = 2) -> str:
    """A fixed number of decimals, for columns that line up.

    >>> fixed(-1.005), fixed(None), fixed(-0.001)
    ('−1.00', '–', '0.00')
    """
    return _minus(f"{round(float(value), places) + 0.0:,.{places}f}") if known(value) else "–"


def count(value: Any) -> str:
    """Votes: whole numbers with thousands separated; weights keep a decimal.

    >>> count(12345.0), count(2.5)
    ('12,345', '2.5')
    """
    if not known(value):
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def percent(value: Any, places: int = 0) -> str:
    """A share as a percentage.

    >>> percent(0.217, 1)
    '21.7\u202f%'
    """
    return f"{100 * float(value):.{places}f}\u202f%" if known(value) else "–"


def plural(n: int, noun: str) -> str:
    """A count and its noun.

    >>> plural(1, "annotator"), plural(1200, "vote")
    ('1 annotator', '1,200 votes')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def shown_or_unknown(written: str) -> str:
    """A written number as HTML; the dash of an unknown one says what it means."""
    return UNKNOWN if written == "–" else text(written)


def _minus(written: str) -> str:
    return written.replace("-", "−")
