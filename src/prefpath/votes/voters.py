"""The column of those who voted, where a platform gives it a name of its own."""

from __future__ import annotations

from collections.abc import Iterable

from prefpath.votes.column_pairs import parts_of

_PLATFORM = frozenset(("assignment", "meta", "metadata", "data", "answer", "input"))
_WHO = frozenset((
    "annotator", "judge", "worker", "user", "observer", "rater", "participant", "subject",
    "respondent", "resp", "labeler", "labeller", "evaluator", "assessor", "reviewer", "voter",
    "expert", "turker", "tester", "panelist", "contributor",
))  # fmt: skip
_CALLED = frozenset((
    "id", "code", "name", "email", "mail", "hash", "private", "uid", "uuid", "nr", "number", "no",
    "key", "pid", "ip", "initials", "login", "handle",
))  # fmt: skip
_QUALTRICS = "ResponseId"  # of a whole questionnaire; a response_id is often an item's


def find_voters(columns: Iterable[str]) -> list[str]:
    """Columns that name who voted: Appen's, Toloka's, oTree's and Gorilla's, an address, a code.

    >>> find_voters(["_worker_id", "ASSIGNMENT:worker_id", "participant.code", "rater_email"])
    ['_worker_id', 'ASSIGNMENT:worker_id', 'participant.code', 'rater_email']
    >>> find_voters(["Participant Private ID", "Participant Public ID", "user_count", "task_id"])
    ['Participant Private ID']
    """
    return [name for name in columns if name == _QUALTRICS or _names_who_voted(parts_of(name))]


def _names_who_voted(parts: tuple[str, ...]) -> bool:
    own = parts[1:] if parts[:1] and parts[0] in _PLATFORM else parts
    return own[:1] != () and own[0] in _WHO and set(own[1:]) <= _CALLED
