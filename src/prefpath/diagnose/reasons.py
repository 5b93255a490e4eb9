"""The reason of a verdict in one sentence: numbers, and p-values beside what they test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.verdicts import (
    CONTRARY,
    FOLLOWS,
    INCONCLUSIVE,
    LEANS_LEFT,
    LEANS_RIGHT,
    NOISY,
    ONE_SIDED,
    OWN_TASTE,
    RANDOM,
    SHARPER,
    UNEXPLAINED,
    VERDICTS,
    Measures,
    choose_words,
    is_noisy,
    is_random,
    is_sharper,
    upright,
)


@dataclass(frozen=True)
class Verdict:
    """A word, the reason in one sentence, and what else is to be said."""

    word: str
    reason: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class CrowdFacts:
    """What sentences about one annotator need to know of all.

    `common_first` is how often everybody together chooses the first of two equal items; None
    where no shared lean was fitted. `least_votes` is how many a test needs.
    """

    n_annotators: int
    least_votes: int
    common_first: float | None = None


def give_verdicts(of: Measures, crowd: CrowdFacts) -> list[Verdict]:
    """Word, reason and notes for each annotator."""
    words = [VERDICTS[code] for code in choose_words(of)]
    return [_verdict(word, _one(of, k), crowd) for k, word in enumerate(words)]


def _one(of: Measures, k: int) -> Measures:
    return of.take(np.array([k]))


def _verdict(word: str, of: Measures, crowd: CrowdFacts) -> Verdict:
    return Verdict(word, _reason(word, of, crowd), _notes(word, of, crowd))


def _reason(word: str, of: Measures, crowd: CrowdFacts) -> str:
    if word in (ONE_SIDED, LEANS_LEFT, LEANS_RIGHT):
        return f"{_clicks(of)}; {_lean(of, crowd)}"
    if word == CONTRARY:
        return f"{_agrees(of)}; {_attention(of)}, against the crowd"
    if word == OWN_TASTE:
        return (
            f"{_agrees(of)}; choices depend on the items in a way that neither attention nor "
            f"lean explains (no taste of their own: {_p(of.p_no_taste)})"
        )
    if word in (RANDOM, NOISY):
        how = "no different from a coin" if word == RANDOM else "less sharply than the crowd"
        return (
            f"{_agrees(of)}; {_attention(of)}, {how}; a ranking of their own would show (one as "
            f"clear as the crowd's: {_p(of.p_own_ranking)})"
        )
    if word == SHARPER:
        return f"{_agrees(of)}; {_attention(of)}, more sharply than the crowd"
    if word == UNEXPLAINED:
        return f"{_agrees(of)}; {_unlike(of)}; {_votes(of)} do not say why"
    if word == FOLLOWS:
        return (
            f"{_agrees(of)}; {_attention(of)}, neither half nor twice it; no taste of their own "
            f"shows ({_p(of.p_taste)}){_no_lean(of)}"
        )
    return _not_decided(word, of, crowd)


def _not_decided(word: str, of: Measures, crowd: CrowdFacts) -> str:
    if crowd.n_annotators < 2:
        return "there is nobody to differ from"
    if word != INCONCLUSIVE:
        needed = f"a test needs {crowd.least_votes}"
        return f"{_votes(of)} that prefer{'s' if of.decisive[0] == 1 else ''} an item; {needed}"
    if np.isnan(of.attention[0]):
        return f"{_votes(of)} on items the crowd holds to be equal say nothing of attention"
    goes = "go with the crowd more than a coin would" if of.attention_low[0] > 0 else (
        "fit following the crowd and ignoring it alike" if of.attention_low[0] <= 0 < 1
        <= of.attention_high[0] else "show neither"
    )  # fmt: skip
    reason = f"{_votes(of)} {goes}: {_attention(of)}"
    if not upright(of)[0]:
        reason += f"; the first of two equal items is chosen {_share_of_first(of)}"
    return reason


def _notes(word: str, of: Measures, crowd: CrowdFacts) -> tuple[str, ...]:
    """What else holds; a note never speaks of the verdict's own effect again."""
    notes = []
    about_lean = word in (ONE_SIDED, LEANS_LEFT, LEANS_RIGHT)
    if of.leans[0] and not about_lean:
        side = LEANS_LEFT if of.lean[0] > 0 else LEANS_RIGHT
        notes.append(f"{side} as well: {_lean(of, crowd)}")
    if about_lean:
        notes += _beside_a_lean(of)
    if word == OWN_TASTE and of.attention_high[0] < 0:
        notes.append(f"goes against the crowd more often than with it: {_attention(of)}")
    if word == CONTRARY and of.shows_taste[0]:
        notes.append(f"a taste of their own as well (no taste: {_p(of.p_no_taste)})")
    if of.one_order[0]:
        notes.append("saw every item on one side only: votes alone cannot tell a lean from a taste")
    return tuple(notes)


def _beside_a_lean(of: Measures) -> list[str]:
    if of.shows_taste[0]:
        return [f"{OWN_TASTE} as well (no taste beside the lean: {_p(of.p_no_taste)})"]
    for word, holds in ((RANDOM, is_random), (NOISY, is_noisy), (SHARPER, is_sharper)):
        if holds(of)[0]:
            beyond = "beyond the lean, items hardly matter" if word == RANDOM else word
            return [f"{beyond}: {_attention(of)}"]
    if of.named[0]:
        return [f"beside the lean {_unlike(of)}; unclear why"]
    return []


def _votes(of: Measures) -> str:
    n = of.decisive[0]
    return f"{n:,.0f} vote{'' if n == 1 else 's'}" if n == round(n) else f"{n:,.4g} votes"


def _agrees(of: Measures) -> str:
    share = of.agreement[0]
    if np.isnan(share):
        return f"none of {_votes(of)} agrees or disagrees with the common ranking"
    return f"{share:.0%} of {_votes(of)} agree with the common ranking"


def _clicks(of: Measures) -> str:
    left, right = of.left[0], of.right[0]
    fuller = "left" if left > right else "right"
    return f"{left:g} left and {right:g} right clicks, {of.one_side[0]:.0%} on the {fuller}"


def _attention(of: Measures) -> str:
    return (
        f"attention {of.attention[0]:.2g} (95 % interval {of.attention_low[0]:.2g} to "
        f"{of.attention_high[0]:.2g}; that of the crowd, 1: {_p(of.p_attention)})"
    )


def _share_of_first(of: Measures, also: str = "") -> str:
    return (
        f"{of.first[0]:.0%} of the time (95 % interval {of.first_low[0]:.0%} to "
        f"{of.first_high[0]:.0%}{also})"
    )


def _lean(of: Measures, crowd: CrowdFacts) -> str:
    chosen = "the first of two equal items is chosen"
    if crowd.common_first is None:
        return f"{chosen} {_share_of_first(of, f'; no lean: {_p(of.p_lean)}')}"
    tested = f"; no lean beyond everybody's: {_p(of.p_lean)}"
    more = "more" if of.lean[0] > 0 else "less"
    return (
        f"{chosen} {_share_of_first(of, tested)}, {more} often than by everybody together "
        f"({crowd.common_first:.0%})"
    )


def _no_lean(of: Measures) -> str:
    return "" if np.isnan(of.p_lean[0]) else f" and no lean ({_p(of.p_lean)})"


def _unlike(of: Measures) -> str:
    """Which test says that someone does not follow the crowd."""
    said = []
    if of.unlike[0]:
        said.append(_attention(of))
    if of.deviates[0]:
        said.append(f"choices unlike the crowd's ({_p(of.p_taste)} if they were the crowd's)")
    return " and ".join(said)


def _p(p: np.ndarray) -> str:
    value = float(p[0])
    if np.isnan(value):
        return "p unknown"
    return "p < 0.0001" if value < 1e-4 else f"p = {value:.2g}"
