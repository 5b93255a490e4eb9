"""The answer in words: who leads and how surely, who stands out, whether to trust it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.verdicts import FOLLOWS, INCONCLUSIVE, TOO_FEW, UNREMARKABLE, VERDICTS
from prefpath.report.data import ReportData
from prefpath.report.escape import label, text
from prefpath.report.format import known, percent, plural

_NAMES_SHOWN = 4
_NAMES_OF_MANY = 2


@dataclass(frozen=True)
class Answer:
    """A question, its short answer and the sentences behind it, as safe HTML."""

    question: str
    short: str
    sentences: tuple[str, ...]
    mood: str = "neutral"


def answers(data: ReportData) -> tuple[Answer, ...]:
    """What the page says before any table."""
    return (_who_leads(data), _who_stands_out(data), _can_it_be_trusted(data))


def _who_leads(data: ReportData) -> Answer:
    items = data.ranking["item"]
    leader = label(items[0])
    sentences = [_rank_certainty(data)]
    group = _largest_group(data)
    if len(group) > 1:
        sentences.append(_against_runner_up(data))
    if data.fitted.n_components > 1:
        n_groups = data.fitted.n_components
        sentences.append(
            f"The items fall into {n_groups} groups never compared with each other: this is the "
            "leader of the largest group only."
        )
    return Answer("Who leads?", leader, tuple(s for s in sentences if s))


def _largest_group(data: ReportData) -> np.ndarray:
    """Rows of the ranking that are on one scale with the leader."""
    component = data.ranking.get("component")
    n_items = len(data.ranking["item"])
    return np.arange(n_items) if component is None else np.flatnonzero(component == component[0])


def _rank_certainty(data: ReportData) -> str:
    low, high = data.ranking.get("rank_low"), data.ranking.get("rank_high")
    if low is None or high is None or not (known(low[0]) and known(high[0])):
        return ""
    if int(high[0]) == 1:
        level = percent(data.certainty.level)
        return f"The lead is clear: no other item can be first, at {level} confidence."
    rows = _largest_group(data)
    rivals = [row for row in rows[1:] if int(low[row]) == 1]
    named = _names([data.ranking["item"][row] for row in rivals])
    shares = f" with {named}" if rivals else ""
    return f"The lead is not certain: it may share the first place{shares} (rank 1 to {high[0]})."


def _against_runner_up(data: ReportData) -> str:
    first, second = _largest_group(data)[:2]
    score = data.ranking["score"]
    probability = float(data.fitted.loss.probability(score[first] - score[second]))
    return (
        f"Against the runner-up, {label(data.ranking['item'][second])}, it is expected to win "
        f"{percent(probability)} of the votes."
    )


def _who_stands_out(data: ReportData) -> Answer:
    n = data.votes.n_annotators
    if n == 1:
        return Answer("Who stands out?", "One annotator", ("There is nobody to differ from.",))
    verdicts = np.asarray(data.annotators["verdict"]).astype(str)
    out = int((~np.isin(verdicts, UNREMARKABLE)).sum())
    short = f"{out:,} of {plural(n, 'annotator')}" if out else "Nobody"
    sentences = [_everyone_with(data, verdicts, word) for word in VERDICTS if word != FOLLOWS]
    if not out:
        sentences.insert(0, "Everybody follows the crowd, as far as these votes can tell.")
    return Answer(
        "Who stands out?", short, (*(s for s in sentences if s), *_what_it_is_worth(data))
    )


def _everyone_with(data: ReportData, verdicts: np.ndarray, word: str) -> str:
    """How many have this verdict, and the first few by name."""
    who = np.asarray(data.annotators["annotator"])[verdicts == word]
    if not len(who):
        return ""
    if word == TOO_FEW:
        return f"{plural(len(who), 'annotator')} cast too few votes to tell."
    if word == INCONCLUSIVE:
        return f"Of {plural(len(who), 'annotator')} the votes show neither."
    return f"{text(word.capitalize())}: {len(who):,} ({_names(who)})."


def _what_it_is_worth(data: ReportData) -> list[str]:
    journey = data.journey
    if journey.wrong is None:
        return []
    start, chosen = journey.wrong[0], journey.wrong[journey.chosen]
    if chosen >= start:
        return [f"Knowing them does not help to predict new votes ({percent(start, 1)} wrong)."]
    return [
        f"Knowing them, {percent(chosen, 1)} of held-out votes are predicted wrong, against "
        f"{percent(start, 1)} with one ranking for all."
    ]


def _can_it_be_trusted(data: ReportData) -> Answer:
    checks = data.trust.checks
    open_checks = [check for check in checks if check.status != "passed"]
    if not open_checks:
        return Answer("Can it be trusted?", "Yes", (f"All {len(checks)} checks passed.",), "good")
    status = data.trust.status
    short = "Not as it stands" if status == "fail" else "With care"
    worst = sorted(open_checks, key=lambda check: check.status != "fail")
    sentences = [text(_sentence(f"{check.name}: {check.finding}")) for check in worst[:2]]
    sentences.append(
        f"{len(checks) - len(open_checks)} of {len(checks)} checks passed; "
        '<a href="#trust">all checks and advice</a>.'
    )
    return Answer(
        "Can it be trusted?", short, tuple(sentences), "bad" if status == "fail" else "care"
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + ("" if words.endswith(".") else ".")


def _names(labels: np.ndarray | list[object]) -> str:
    """A few labels as safe HTML, and how many more there are."""
    fits = len(labels) <= _NAMES_SHOWN
    shown = [label(name) for name in labels[: _NAMES_SHOWN if fits else _NAMES_OF_MANY]]
    more = len(labels) - len(shown)
    if more > 0:
        return ", ".join(shown) + f" and {more:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
