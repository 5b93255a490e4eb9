"""Numbers among the settings, checked before the mathematics meets them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from prefpath.errors import SettingError

LARGEST_SEED = 2**63 - 1


def check_number(name: str, value: Any, least: float, most: float) -> float:
    """A setting as a number between two others.

    >>> check_number("kappa", 20, 1e-9, 1e9)
    20.0

    Raises
    ------
    SettingError
        It is no number, or not between them.
    """
    number = as_number(value)
    if not least <= number <= most:
        raise SettingError(
            f"{name} is {value!r}", expected=f"a number between {least:g} and {most:g}"
        )
    return number


def check_whole(name: str, value: Any, least: int, most: int) -> int:
    """A setting as a whole number between two others.

    >>> check_whole("n_times", 2.5, 2, 1000)
    Traceback (most recent call last):
        ...
    prefpath.errors.SettingError: n_times is 2.5
      expected: a whole number between 2 and 1,000
    """
    number = as_number(value)
    if not (least <= number <= most and number.is_integer()):
        raise SettingError(
            f"{name} is {value!r}", expected=f"a whole number between {least:,} and {most:,}"
        )
    return int(value)


def check_word(name: str, value: Any, words: Sequence[str]) -> None:
    """Whether a setting is one of some words.

    >>> check_word("rule", "worst", ("best", "one-standard-error"))
    Traceback (most recent call last):
        ...
    prefpath.errors.SettingError: rule is 'worst'
      expected: best or one-standard-error
    """
    if not isinstance(value, str) or value not in words:
        raise SettingError(
            f"{name} is {value!r}", expected=f"{', '.join(words[:-1])} or {words[-1]}"
        )


def check_seed(name: str, value: Any) -> None:
    """Whether random numbers can begin here: a whole number of at least 0, or None for any."""
    whole = not isinstance(value, float) and as_number(value).is_integer()
    if value is not None and not (whole and 0 <= value <= LARGEST_SEED):
        expected = f"a whole number from 0 to {LARGEST_SEED:,}, or None"
        raise SettingError(f"{name} is {value!r}", expected=expected)


def as_number(value: Any) -> float:
    """A setting as a number; NaN if it is none.

    >>> as_number("20"), as_number(3)
    (nan, 3.0)
    """
    if isinstance(value, str):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
