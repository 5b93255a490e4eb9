"""Whom an interval is about: these annotators, or all annotators like them."""

from __future__ import annotations

from typing import Literal

from prefpath.errors import SettingError

About = Literal["these", "annotators"]

FEWEST_ANNOTATORS = 10
"""With fewer, what others like them would say is not read off them unless asked for."""


def population_of(n_annotators: int, about: About | None = None) -> About:
    """The population named; by default these annotators where they are few, else all like them.

    >>> population_of(4), population_of(40), population_of(4, "annotators")
    ('these', 'annotators', 'annotators')
    """
    if about not in (None, "these", "annotators"):
        raise SettingError(f"about is {about!r}", expected="these, annotators or None")
    if n_annotators < 2:
        return "these"
    if about is not None:
        return about
    return "these" if n_annotators < FEWEST_ANNOTATORS else "annotators"
