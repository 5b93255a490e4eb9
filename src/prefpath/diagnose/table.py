"""The table of annotators: columns of plain values for those who are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from prefpath.diagnose.verdicts import Evidence, Verdict, give_verdict
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import Labels

if TYPE_CHECKING:
    from prefpath.diagnose.diagnosis import Diagnosis


def table_columns(found: Diagnosis, who: Ints) -> dict[str, Any]:
    """Everything about some annotators, one row for each.

    Columns in which something may be unknown are lists with None, the others arrays.
    """
    tests, votes, tastes, verdicts = found.discoveries, found.votes, found.tastes, found.verdicts
    untested, nobody = np.full(votes.n_annotators, np.nan), np.zeros(votes.n_annotators, dtype=bool)
    said = verdicts(who)
    return {
        "annotator": votes.annotators[who],
        "verdict": np.array([verdict.word for verdict in said]),
        "votes": votes.annotator_weight[who],
        "left": found.left[who],
        "right": found.right[who],
        "ties": found.ties[who],
        "agreement": or_none(found.agreement[who]),
        "position_bias": found.position_bias[who],
        "position_bias_entered": or_none(found.entered_bias[who]),
        "gamma": or_none(found.lean.estimate[who]),
        "gamma_low": or_none(found.lean.low[who]),
        "gamma_high": or_none(found.lean.high[who]),
        "first_if_equal": or_none(found.first_if_equal.estimate[who]),
        "first_if_equal_low": or_none(found.first_if_equal.low[who]),
        "first_if_equal_high": or_none(found.first_if_equal.high[who]),
        "p_position_bias": or_none((tests.p_lean if tests else untested)[who]),
        "biased": (tests.leaning if tests else nobody)[who],
        "deviation": tastes.size[who],
        "deviation_entered": or_none(found.entered_deviation[who]),
        "most_up": _labels_or_none(votes.items, tastes.most_up[who]),
        "most_down": _labels_or_none(votes.items, tastes.most_down[who]),
        "kendall_distance": tastes.distance[who],
        "p_deviation": or_none((tests.p_taste if tests else untested)[who]),
        "deviates": (tests.deviating if tests else nobody)[who],
        "reason": np.array([verdict.reason for verdict in said]),
        "notes": ["; ".join(verdict.notes) or None for verdict in said],
    }


def judge(found: Diagnosis, who: Ints) -> list[Verdict]:
    """The verdicts on some annotators, from what the rules look at."""
    tests, attention, chance = found.discoveries, found.attention, found.first_if_equal
    n = found.votes.n_annotators
    unknown, nobody, certain = np.full(n, np.nan), np.zeros(n, dtype=bool), np.ones(n)
    columns = {
        "decisive": found.decisive[who].tolist(),
        "left": found.left[who].tolist(),
        "right": found.right[who].tolist(),
        "agreement": or_none(found.agreement[who]),
        "leans": (tests.leaning if tests else nobody)[who].tolist(),
        "deviates": (tests.deviating if tests else nobody)[who].tolist(),
        "p_lean": or_none((tests.p_lean if tests else unknown)[who]),
        "p_taste": or_none((tests.p_taste if tests else unknown)[who]),
        "p_follows": (attention.p_follows if attention else certain)[who].tolist(),
        "p_ignores": (attention.p_ignores if attention else certain)[who].tolist(),
        "first_if_equal": or_none(chance.estimate[who]),
        "first_low": or_none(chance.low[who]),
        "first_high": or_none(chance.high[who]),
        "one_order": found.one_order[who].tolist(),
    }
    rows = zip(*columns.values(), strict=True)
    return [give_verdict(Evidence(**dict(zip(columns, row, strict=True)))) for row in rows]


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
