"""The table of annotators: columns of plain values for those who are shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath.diagnose.facts import AnnotatorFacts
from prefpath.diagnose.reasons import Verdict
from prefpath.diagnose.verdicts import OWN_TASTE
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import Labels


def table_columns(found: AnnotatorFacts, who: Ints) -> dict[str, Any]:
    """Everything about some annotators, one row for each.

    Columns in which something may be unknown are lists with None, the others arrays.
    """
    votes, tastes, of = found.votes, found.tastes, found.measures.take(who)
    said = found.verdicts(who)
    entered, most_up = found.entered, tastes.most_up[who]
    return {
        "annotator": votes.annotators[who],
        "verdict": np.array([verdict.word for verdict in said]),
        "also": ["; ".join(verdict.also) or None for verdict in said],
        "votes": votes.annotator_weight[who],
        "left": of.left,
        "right": of.right,
        "ties": found.ties[who],
        "agreement": or_none(of.agreement),
        "attention": or_none(of.attention),
        "attention_low": or_none(of.attention_low),
        "attention_high": or_none(of.attention_high),
        "p_attention": or_none(of.p_attention),
        "attention_differs": of.unlike,
        "attention_entered": or_none(entered["attention"][who]),
        "position_bias": found.position_bias[who],
        "position_bias_entered": or_none(entered["position_bias"][who]),
        "gamma": or_none(found.lean.estimate[who]),
        "gamma_low": or_none(found.lean.low[who]),
        "gamma_high": or_none(found.lean.high[who]),
        "first_if_equal": or_none(of.first),
        "first_if_equal_low": or_none(of.first_low),
        "first_if_equal_high": or_none(of.first_high),
        "p_position_bias": or_none(of.p_lean),
        "biased": of.leans,
        "deviation": tastes.size[who],
        "deviation_entered": or_none(entered["deviation"][who]),
        "most_up": _labels_or_none(votes.items, most_up),
        "most_down": _labels_or_none(votes.items, tastes.most_down[who]),
        "kendall_distance": tastes.distance[who],
        "p_deviation": or_none(of.p_taste),
        "deviates": of.deviates,
        "reason": np.array([verdict.reason for verdict in said]),
        "notes": _notes(said, votes.annotators[who], _labels_or_none(votes.items, most_up)),
    }


def _notes(said: list[Verdict], names: Labels, most_up: list[Any]) -> list[str | None]:
    """What else holds; a judge among the items may like itself."""
    notes = []
    for verdict, name, item in zip(said, names, most_up, strict=True):
        has_taste = OWN_TASTE in (verdict.word, *verdict.also)
        itself = has_taste and item is not None and str(item) == str(name)
        more = ("puts itself further up than the others do",) if itself else ()
        notes.append("; ".join((*verdict.notes, *more)) or None)
    return notes


def or_none(values: Floats) -> list[float | None]:
    """Plain numbers; None for what is not known or never was.

    >>> or_none(np.array([0.5, np.nan, np.inf]))
    [0.5, None, None]
    """
    result = values.astype(object)
    result[~np.isfinite(values)] = None
    plain: list[float | None] = result.tolist()
    return plain


def _labels_or_none(labels: Labels, codes: Ints) -> list[Any]:
    plain = labels.tolist()
    return [plain[code] if code >= 0 else None for code in codes.tolist()]
