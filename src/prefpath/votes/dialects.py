"""The shapes votes come in: which column is what, and how a verdict is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from prefpath.errors import VoteError
from prefpath.text import spelling
from prefpath.votes.called import Called
from prefpath.votes.verdicts import (
    WordReader,
    read_by_name,
    read_first_or_second,
    read_flag,
    read_grade,
    read_model_12,
    read_one_hot,
    read_preference,
    read_rating,
)

Shape = Literal[
    "pair",
    "item name",
    "one hot",
    "scores",
    "counts",
    "two games",
    "nested games",
    "chosen",
    "ratings",
]


@dataclass(frozen=True)
class Dialect:
    """One way of writing votes down.

    Attributes
    ----------
    key, title : str
        What the user types to force it, and what it is called.
    left, right : str
        Columns of the two items.
    verdict : tuple of str
        Columns the verdict is read from.
    read : callable or None
        What a word in the verdict means; None where that is settled from all of its words.
    annotators : tuple of str
        Names the annotator's column may have; without one, all votes are one annotator's.
    shape : str
        How columns make a verdict.
    said : str
        What the user is told.
    is_scale : bool
        The verdict is a scale, and nothing says which of its ends is the left item's.
    called : Called or None
        Columns with what the items are called, where left, right and verdict are codes.
    """

    key: str
    title: str
    left: str
    right: str
    verdict: tuple[str, ...]
    read: WordReader | None
    annotators: tuple[str, ...]
    said: str
    shape: Shape = "pair"
    position_known: bool = True
    is_scale: bool = False
    called: Called | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be there, the annotator's aside."""
        return tuple(name for name in (self.left, self.right, *self.verdict) if name)


JUDGES = (
    "annotator", "judge", "worker", "user", "user_id", "annotator_id", "observer", "rater",
    "participant", "subject", "respondent", "labeler", "labeller", "evaluator", "assessor",
    "reviewer", "voter", "expert", "person", "username", "completed_by", "taster", "juror",
    "panelist", "panellist", "coder", "subj", "teilnehmer", "bewerter", "annotateur",
    "participante", "customer", "consumer", "visitor", "viewer", "listener", "tester", "turker",
    *(f"{who}{sep}{what}"
      for who in ("judge", "worker", "user", "annotator", "observer", "rater", "participant",
                  "subject", "respondent", "labeler", "evaluator", "assessor", "reviewer", "voter",
                  "expert", "panelist", "visitor", "customer", "consumer", "tester")
      for what in ("id", "name") for sep in ("_", " ", "")),
    "prolific_pid", "prolific_id", "prolific id", "évaluateur", "évaluatrice", "jury",
    "judge_model", "session", "session_id", "session id", "sessionid",
)  # fmt: skip
# How a column that says how much a vote counts is called.
WEIGHTS = ("weight", "gewicht", "gewichtung", "poids", "peso")
AS_SHOWN = "left and right are as shown"

DIALECTS: tuple[Dialect, ...] = (
    Dialect("canonical", "canonical votes", "left", "right", ("choice",), None,
            JUDGES, AS_SHOWN),
    Dialect("arena55k", "Arena 55k", "model_a", "model_b",
            ("winner_model_a", "winner_model_b", "winner_tie"), read_one_hot, JUDGES,
            "model_a is left", "one hot"),
    Dialect("arena", "Chatbot Arena", "model_a", "model_b", ("winner",), None,
            ("judge", *JUDGES), "model_a is left"),
    Dialect("mtbench", "MT-Bench pairs", "model_1", "model_2", ("g1_winner", "g2_winner"),
            read_model_12, ("judge", *JUDGES),
            "two votes a row: model_1 is left in the first game, right in the second",
            "two games"),
    Dialect("arena-hard", "Arena-Hard judgments", "", "model", ("games",), read_grade,
            ("judge", *JUDGES),
            "two votes a row: the baseline is left in the first game, right in the second",
            "nested games"),
    Dialect("arena-hard-pairs", "Arena-Hard grades", "model_a", "model_b", ("score",), read_grade,
            ("judge", *JUDGES), "A (model_a) is left"),
    Dialect("evalica", "evalica", "left", "right", ("winner",), None, JUDGES, AS_SHOWN),
    Dialect("crowdkit", "crowd-kit", "left", "right", ("label",), None,
            ("worker", *JUDGES), AS_SHOWN),
    Dialect("alpacaeval", "AlpacaEval", "generator_1", "generator_2", ("preference",),
            read_preference, JUDGES,
            "AlpacaEval shuffles the order it shows and does not record it: position unknown",
            position_known=False),
    Dialect("pwcmp", "pwcmp", "condition_A", "condition_B", ("is_A_selected",), read_flag,
            ("observer", *JUDGES), "condition_A is left"),
    Dialect("pwcmp-selection", "pwcmp", "condition_1", "condition_2", ("selection",),
            read_first_or_second, ("observer", *JUDGES), "condition_1 is left"),
    Dialect("chosen", "chosen and rejected", "chosen", "rejected", (), read_by_name, JUDGES,
            "position unknown: no position bias can be estimated", "chosen", False),
    Dialect("ratings", "ratings", "item", "", ("rating",), read_rating, JUDGES,
            "pairs of items one annotator rated differently; position unknown", "ratings", False),
)  # fmt: skip


def dialect_named(key: str) -> Dialect:
    """The dialect of a key."""
    keys = {dialect.key: dialect for dialect in DIALECTS}
    if key not in keys:
        raise VoteError(
            f"there is no dialect {key!r}",
            expected=f"one of {', '.join(keys)}",
            remedy=spelling(key, keys),
        )
    return keys[key]
