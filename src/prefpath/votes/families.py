"""Which items are an annotator's own: judges that are themselves judged, or their family is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from prefpath.errors import SettingError
from prefpath.text import listed
from prefpath.votes.encode import IntArray
from prefpath.votes.votes import Votes

# Numbers and single letters number rows: annotator 7 is not item 7. Two characters with a letter
# among them are a name (o1).
_NAME = re.compile(r"(?=.*[^\W\d_]).{2,}")
# Words that say what somebody does, not who they are: gpt-4o-judge is gpt-4o.
_ROLES = {"a", "an", "annotator", "as", "by", "evaluator", "grader", "judge", "llm", "model"}
_ROLES |= {"rater", "the"}


def own_items(votes: Votes, families: Mapping[Any, Any] | None = None) -> dict[int, IntArray]:
    """Codes of the items that are an annotator's own, by the annotator's code.

    An item is one's own if it has one's name (case, punctuation and words like "judge" apart),
    or one's family in `families`, which gives items and annotators theirs by label.

    >>> votes = Votes.from_arrays(["gpt-4o judge", "ann"], ["GPT-4o", "b"], ["b", "GPT-4o"], [1, 1])
    >>> own_items(votes)
    {1: array([0])}
    >>> own_items(votes, {"ann": "letters", "b": "letters"})
    {0: array([1]), 1: array([0])}
    """
    found = _of_one_name(votes)
    if families is not None:
        for u, items in _of_one_family(votes, families).items():
            found[u] = np.union1d(found.get(u, items), items)
    return {u: found[u] for u in sorted(found)}


def _of_one_name(votes: Votes) -> dict[int, IntArray]:
    if votes.anonymous:
        return {}
    named: dict[str, list[int]] = {}
    for code, label in enumerate(votes.items):
        named.setdefault(_who(label), []).append(code)
    named.pop("", None)
    theirs = ((u, named.get(_who(label))) for u, label in enumerate(votes.annotators))
    return {u: np.array(codes) for u, codes in theirs if codes}


def _of_one_family(votes: Votes, families: Mapping[Any, Any]) -> dict[int, IntArray]:
    families = known_families(families)
    members: dict[str, list[int]] = {}
    for code, label in enumerate(votes.items):
        if str(label) in families:
            members.setdefault(families[str(label)], []).append(code)
    of = {u: families.get(str(label), "") for u, label in enumerate(votes.annotators)}
    found = {u: np.array(members[family]) for u, family in of.items() if family in members}
    if not found:
        raise SettingError(
            f"no {votes.voter} is of the family of an item",
            expected=f"families of {votes.voter}s and of items, by their labels "
            f"({listed(votes.annotators, 3)}; {listed(votes.items, 3)})",
            remedy="name both as the votes do",
        )
    return found


def known_families(families: Mapping[Any, Any]) -> dict[str, str]:
    """Families by label, without those left open (blank, None, not a number): no family is one."""
    said = {str(label): "" if of is None else str(of).strip() for label, of in families.items()}
    return {label: family for label, family in said.items() if family and family != "nan"}


def without_family(votes: Votes, families: Mapping[Any, Any]) -> list[str]:
    """Items of no family: nobody's own, which a name spelt otherwise makes them unseen."""
    known = known_families(families)
    return [str(label) for label in votes.items if str(label) not in known]


def _who(label: Any) -> str:
    """A label without case, punctuation and roles; "" of one that is no name without them."""
    words = re.findall(r"[^\W_]+", str(label).casefold())
    name = " ".join(word for word in words if word not in _ROLES)
    return name if _NAME.match(name) else ""
