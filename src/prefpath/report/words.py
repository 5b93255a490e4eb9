"""The answer in words: who leads and how surely, who stands out, whether to trust it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.verdicts import FOLLOWS, GOES_WITH, INCONCLUSIVE, TOO_FEW, VERDICTS
from prefpath.findings import Board
from prefpath.report.badges import also_of
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
    boards = data.findings.boards
    if not data.votes.choice.any():
        return Answer("Who leads?", "Nobody", ("Every vote is a tie.",), "care")
    if len(boards) > 1:
        return _who_leads_each(data, boards)
    sentences = (
        _rank_certainty(data, boards[0]),
        _against_runner_up(data, boards[0]),
        text(data.findings.meaning_of_unbounded or ""),
    )
    return Answer(
        "Who leads?", label(data.name(boards[0].leader)), tuple(s for s in sentences if s)
    )


def _who_leads_each(data: ReportData, boards: tuple[Board, ...]) -> Answer:
    """Groups that never met have a leader each; none of them leads the others."""
    sentences = [
        "No item of one group was ever compared with one of another, directly or through others: "
        "scores and ranks hold within a group only, and no item leads them all."
    ]
    for board in boards[:_NAMES_SHOWN]:
        size = plural(len(board.rows), "item")
        sentences.append(
            f"Group {board.number} ({size}): {label(data.name(board.leader))}. "
            + _rank_certainty(data, board)
        )
    if len(boards) > _NAMES_SHOWN:
        sentences.append(f"And {len(boards) - _NAMES_SHOWN:,} more groups.")
    return Answer("Who leads?", f"{len(boards):,} separate groups", tuple(sentences), "care")


def _rank_certainty(data: ReportData, board: Board) -> str:
    if board.rivals is None or len(board.rows) == 1:
        return ""
    if board.certain:
        return (
            f"The lead is clear: no other item can be first, at {percent(data.level)} confidence."
        )
    named = _names([data.name(item) for item in board.rivals])
    shares = f" with {named}" if board.rivals else ""
    ranks = f" (rank 1 to {board.last_rank})" if board.last_rank != 1 else ""
    return f"The lead is not certain: it may share the first place{shares}{ranks}."


def _against_runner_up(data: ReportData, board: Board) -> str:
    if len(board.rows) < 2:
        return ""
    bounded = data.ranking.get("bounded")
    if bounded is not None and not bounded[board.rows[0]]:
        return ""  # said with the scores that nothing bounds
    second = data.ranking["item"][board.rows[1]]
    found = data.findings.win_probability(board.leader, second)
    within = ""
    if known(found["low"]) and known(found["high"]):
        within = f" ({percent(found['low'])} to {percent(found['high'])})"
    return (
        f"Against the runner-up, {label(data.name(second))}, it is expected to win "
        f"{percent(found['probability'])} of the votes{within}."
    )


def _who_stands_out(data: ReportData) -> Answer:
    n = data.votes.n_annotators
    if n == 1:
        return Answer(
            "Who to look at?", f"One {data.votes.voter}", ("There is nobody to differ from.",)
        )
    verdicts = np.asarray(data.annotators["verdict"]).astype(str)
    out = data.findings.headline.n_standing_out
    short = f"{out:,} of {plural(n, data.votes.voter)}" if out else "Nobody"
    sentences = [
        _everyone_with(data, verdicts, word)
        for word in VERDICTS
        if word not in (FOLLOWS, GOES_WITH)
    ]
    sentences += [_everyone_also(data, word) for word in VERDICTS]
    if not out:
        sentences.insert(0, "Nobody stands out beyond chance.")
    return Answer(
        "Who to look at?", short, (*(s for s in sentences if s), *_what_it_is_worth(data))
    )


def _everyone_with(data: ReportData, verdicts: np.ndarray, word: str) -> str:
    """How many have this verdict, and the first few by name."""
    n = data.findings.headline.n_with(word)
    if not n:
        return ""
    if word == TOO_FEW:
        return f"{plural(n, data.votes.voter)} cast too few votes to tell."
    if word == INCONCLUSIVE:
        return f"The votes of {plural(n, data.votes.voter)} do not tell."
    who = np.asarray(data.annotators["annotator"])[verdicts == word]
    names = f" ({_names(who, n)})" if len(who) else ""
    return f"{text(word.capitalize())}: {plural(n, data.votes.voter)}{names}."


def _everyone_also(data: ReportData, word: str) -> str:
    """Of how many this holds beside another verdict."""
    everyone = range(len(data.annotators["annotator"]))
    rows = [k for k in everyone if word in also_of(data.annotators, k)]
    if not rows:
        return ""
    who = np.asarray(data.annotators["annotator"])[rows]
    return (
        f"{text(word.capitalize())} as well: {plural(len(who), data.votes.voter)} ({_names(who)})."
    )


def _what_it_is_worth(data: ReportData) -> list[str]:
    found, common = data.fitted.held_out, data.fitted.held_out_of_one_ranking
    if found is None or common is None:
        return []
    if found.error >= common.error:
        return [
            f"Each {data.votes.voter}'s own part does not help to predict new votes "
            f"({percent(common.wrong, 1)} wrong)."
        ]
    surely = (
        f" (log-loss {found.error:.4f}, against {common.error:.4f})"
        if data.fitted.criterion == "log-loss"
        else ""
    )
    return [
        f"With each {data.votes.voter}'s own part, {percent(found.wrong, 1)} of held-out votes "
        f"are predicted wrong, against {percent(common.wrong, 1)} with one ranking for all{surely}."
    ]


def _can_it_be_trusted(data: ReportData) -> Answer:
    checks = data.trust.checks
    open_checks = [check for check in checks if check.status != "passed"]
    if not open_checks:
        return Answer("Can it be trusted?", "Yes", (f"All {len(checks)} checks passed.",), "good")
    status = data.trust.status
    short = "Not as it stands" if status == "fail" else "With care"
    order = ("fail", "warn", "unchecked")
    worst = sorted(open_checks, key=lambda check: order.index(check.status))
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


def _names(labels: np.ndarray | list[object], n: int | None = None) -> str:
    """A few labels as safe HTML, and how many more there are; of n, if not all are known."""
    n = len(labels) if n is None else n
    fits = n <= _NAMES_SHOWN
    shown = [label(name) for name in labels[: _NAMES_SHOWN if fits else _NAMES_OF_MANY]]
    more = n - len(shown)
    if more > 0:
        return ", ".join(shown) + f" and {more:,} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)
