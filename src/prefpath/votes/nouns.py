"""What casts votes, in a word."""

from __future__ import annotations

from prefpath.votes.encode import Labels

_LONGEST_NOUN = 16
_YES_OR_NO = frozenset(("yes", "no", "true", "false", "y", "n", "t", "f", "0", "1"))


def noun_of_group(column: str, labels: Labels | list[str]) -> str:
    """The column's name where it can be counted ("3 divisions"), else group.

    >>> noun_of_group("occupation", ["nurse"]), noun_of_group("expert", ["yes", "no"])
    ('occupation', 'group')
    >>> noun_of_group("age_band", ["18-25"]), noun_of_group("country", ["Peru"])
    ('group', 'group')
    """
    plain = column.isascii() and column.isalpha() and len(column) <= _LONGEST_NOUN
    yes_or_no = all(str(label).lower() in _YES_OR_NO for label in labels)
    irregular = column.lower().endswith(("s", "x", "z", "y", "ch", "sh"))
    return column.lower() if plain and not yes_or_no and not irregular else "group"
