"""Verdicts: one plain word for each annotator, and a sentence with the numbers behind it.

Every rule is here and in docs/annotators.md.
"""

from __future__ import annotations

from dataclasses import dataclass

FOLLOWS = "follows the crowd"
OWN_TASTE = "own taste"
LEANS_LEFT = "leans left"
LEANS_RIGHT = "leans right"
ONE_SIDED = "one-sided clicker"
RANDOM = "answers at random"
TOO_FEW = "too few votes to tell"
VERDICTS = (FOLLOWS, OWN_TASTE, LEANS_LEFT, LEANS_RIGHT, ONE_SIDED, RANDOM, TOO_FEW)

ONE_SIDED_FROM = 0.9  # share of decisive clicks on one side
LEVEL = 0.05  # of the single tests against a coin


@dataclass(frozen=True)
class Evidence:
    """What the rules look at, for one annotator; None is not known."""

    decisive: float
    left: float
    right: float
    agreement: float | None
    leans: bool
    deviates: bool
    p_lean: float | None
    p_taste: float | None
    p_follows: float
    p_ignores: float
    first_if_equal: float | None
    first_low: float | None
    first_high: float | None
    one_order: bool


@dataclass(frozen=True)
class Verdict:
    """A word, the reason in one sentence, and what else is to be said."""

    word: str
    reason: str
    notes: tuple[str, ...] = ()


def give_verdict(evidence: Evidence) -> Verdict:
    """The word that fits best.

    Examples
    --------
    >>> clicker = Evidence(21, 21, 0, 0.5, True, False, 1e-6, 0.7, 0.5, 0.9, 0.98, 0.9, 1.0, False)
    >>> give_verdict(clicker).word
    'one-sided clicker'
    """
    if evidence.leans and _lean_comes_first(evidence):
        return _verdict_of_lean(evidence)
    if evidence.deviates:
        return _verdict_of_taste(evidence)
    if evidence.p_taste is not None and evidence.p_follows <= LEVEL:
        return Verdict(
            FOLLOWS,
            f"{_agrees(evidence)}, more than chance would (p = {_p(evidence.p_follows)}), with "
            f"no clear deviation (p = {_p(evidence.p_taste)})" + _no_lean(evidence),
            _notes(evidence),
        )
    return Verdict(TOO_FEW, _why_too_few(evidence), _notes(evidence))


def _verdict_of_lean(evidence: Evidence) -> Verdict:
    clicks = f"{evidence.left:g} left and {evidence.right:g} right clicks"
    word = _lean_word(evidence)
    if _one_side(evidence) >= ONE_SIDED_FROM:
        fuller = "left" if evidence.left > evidence.right else "right"
        clicks += f", {_one_side(evidence):.0%} on the {fuller}"
        word = ONE_SIDED
    reason = (
        f"{clicks}; at equal quality the first is chosen {_chance(evidence)} (p = "
        f"{_p(evidence.p_lean)})"
    )
    notes = _notes(evidence)
    if evidence.p_ignores > LEVEL:
        coin = _p(evidence.p_ignores)
        notes = (f"beyond that, nothing shows that the items matter (p = {coin})", *notes)
    elif evidence.deviates:
        notes = (f"{OWN_TASTE} as well (p = {_p(evidence.p_taste)})", *notes)
    return Verdict(word, reason, notes)


def _verdict_of_taste(evidence: Evidence) -> Verdict:
    word = _taste_word(evidence)
    if word == RANDOM:
        reason = (
            f"{_agrees(evidence)}, too few for someone who follows it (p = "
            f"{_p(evidence.p_taste)}), and no taste of their own shows (p = "
            f"{_p(evidence.p_ignores)})"
        )
    else:
        reason = (
            f"{_agrees(evidence)}; the common scores explain these votes badly (p = "
            f"{_p(evidence.p_taste)}), though choices do depend on the items (p = "
            f"{_p(evidence.p_ignores)})"
        )
    notes = _notes(evidence)
    if evidence.leans:
        lean = f"{_lean_word(evidence)} as well: the first {_chance(evidence)} at equal quality"
        notes = (lean, *notes)
    return Verdict(word, reason, notes)


def _taste_word(evidence: Evidence) -> str:
    """Someone off the common scores whose choices ignore the items has no taste either."""
    return RANDOM if evidence.p_ignores > LEVEL else OWN_TASTE


def _lean_comes_first(evidence: Evidence) -> bool:
    """Unless a taste of one's own is clearer: clicks on one side, or no taste, never are one."""
    if not evidence.deviates or _one_side(evidence) >= ONE_SIDED_FROM:
        return True
    clearer = (evidence.p_lean or 0.0) <= (evidence.p_taste or 0.0)
    return clearer or _taste_word(evidence) == RANDOM


def _lean_word(evidence: Evidence) -> str:
    return LEANS_LEFT if (evidence.first_if_equal or 0.0) > 0.5 else LEANS_RIGHT


def _one_side(evidence: Evidence) -> float:
    """Share of the clicks that went to the side with more of them."""
    clicks = evidence.left + evidence.right
    return max(evidence.left, evidence.right) / clicks if clicks > 0 else 0.0


def _agrees(evidence: Evidence) -> str:
    share = "no" if evidence.agreement is None else f"{evidence.agreement:.0%} of"
    return f"{share} {evidence.decisive:g} votes agree with the common ranking"


def _no_lean(evidence: Evidence) -> str:
    return "" if evidence.p_lean is None else f" and no clear lean (p = {_p(evidence.p_lean)})"


def _chance(evidence: Evidence) -> str:
    if evidence.first_if_equal is None:
        return "as often as the second"
    return (
        f"{evidence.first_if_equal:.0%} of the time "
        f"(95 % interval {evidence.first_low:.0%} to {evidence.first_high:.0%})"
    )


def _why_too_few(evidence: Evidence) -> str:
    if evidence.p_taste is None:
        return f"{evidence.decisive:g} votes that prefer an item are too few for a test"
    return (
        f"{evidence.decisive:g} votes that prefer an item fit following the crowd (p = "
        f"{_p(evidence.p_taste)}) and tossing a coin (p = {_p(evidence.p_follows)}) alike"
    )


def _notes(evidence: Evidence) -> tuple[str, ...]:
    if evidence.one_order:
        return ("saw every item on one side only: votes alone cannot tell a lean from a taste",)
    return ()


def _p(p: float | None) -> str:
    if p is None:
        return "unknown"
    return "below 0.0001" if p < 1e-4 else f"{p:.2g}"
