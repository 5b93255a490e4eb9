"""What the page's script needs, as one JSON object."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.pairs import pool_votes
from prefpath.report.data import ReportData
from prefpath.report.evidence import evidence, reason
from prefpath.report.format import number
from prefpath.report.personal import Move
from prefpath.report.tables import score_span

_ITEMS_WITH_DETAILS, _OPPONENTS = 200, 8


def payload(data: ReportData) -> dict[str, Any]:
    """Times, scores and annotators, in the order of the rows of the tables."""
    journey = data.journey
    return {
        "times": journey.times,
        "chosen": journey.chosen,
        "words": [number(t) for t in journey.times],
        "span": score_span(data),
        "scores": _rounded(journey.scores),
        "group": data.fitted.component[data.item_codes],
        "groups": data.fitted.n_components,
        "error": None if journey.error is None else _rounded(journey.error),
        "deviating": journey.deviation.n_active,
        "leaning": journey.position_bias.n_active,
        "seeing": journey.attention.n_active if data.fitted.problem.attention else None,
        "active": journey.n_active,
        "deviation": _rounded(_never_zero(journey.deviation.shown)),
        "bias": _rounded(_never_zero(journey.position_bias.shown)),
        "attention": _rounded(_never_zero(journey.attention.shown)),
        "top": _labels(data, data.personal.common_top()),
        "met": _met(data),
        "people": [_person(data, row, code) for row, code in enumerate(data.annotator_codes)],
    }


def _met(data: ReportData) -> list[list[list[Any]]]:
    """Whom each of the first items met most often: name, votes won and votes in all."""
    counts = pool_votes(data.votes)
    first, second = counts.first, counts.second
    met = []
    for code in data.item_codes[:_ITEMS_WITH_DETAILS]:
        here = np.flatnonzero((first == code) | (second == code))
        here = here[np.argsort(-counts.weight[here], kind="stable")][:_OPPONENTS]
        other = np.where(first[here] == code, second[here], first[here])
        won = np.where(first[here] == code, counts.wins[here], counts.losses[here])
        names = _labels(data, other)
        met.append([list(row) for row in zip(names, won, counts.weight[here], strict=True)])
    return met


def _person(data: ReportData, row: int, code: int) -> dict[str, Any]:
    person: dict[str, Any] = {
        "why": reason(data.annotators, row),
        "evidence": evidence(data.annotators, row),
    }
    personal = data.personal
    if code in personal.own_rank:
        person["own"] = _labels(data, personal.top(code))
        person["up"] = _moves(data, personal.moved_up(code))
        person["down"] = _moves(data, personal.moved_down(code))
    return person


def _labels(data: ReportData, items: Ints) -> list[str]:
    return [data.name(label) for label in data.votes.items[items]]


def _moves(data: ReportData, moves: list[Move]) -> list[list[Any]]:
    return [[data.name(data.votes.items[m.item]), m.common_rank, m.own_rank] for m in moves]


def _never_zero(values: Floats) -> Floats:
    """Who has just entered keeps a sign when decimals are cut: signs and counts agree."""
    return np.where(values != 0.0, np.copysign(np.maximum(np.abs(values), 1e-4), values), 0.0)


def _rounded(values: Floats) -> list[Any]:
    """Four decimals, and zeros as whole numbers: half the size of the page."""
    plain: list[Any] = _short(np.round(values, 4).tolist())
    return plain


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return [_short(item) for item in value]
    return int(value) if float(value).is_integer() else value
