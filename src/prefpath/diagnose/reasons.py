"""The reason of a verdict in one sentence: numbers, and p-values beside what they test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

from prefpath.diagnose.verdicts import (
    CONTRARY,
    FOLLOWS,
    GOES_WITH,
    INCONCLUSIVE,
    LEANS,
    LEANS_LEFT,
    LEANS_RIGHT,
    NOISY,
    OWN_TASTE,
    RANDOM,
    SHARPER,
    UNEXPLAINED,
    VERDICTS,
    Measures,
    choose_words,
    is_sharper,
    upright,
)


@dataclass(frozen=True)
class Verdict:
    """A word, the reason in one sentence, and what else is to be said.

    `also` are further words that hold: somebody may lean and have a taste of their own.
    """

    word: str
    reason: str
    notes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class CrowdFacts:
    """What sentences about one annotator need to know of all.

    `common_first` is how often everybody together chooses the first of two equal items; None
    where no shared lean was fitted. `least_votes` is how many a test needs.
    """

    n_annotators: int
    least_votes: int
    common_first: float | None = None


class _Row(NamedTuple):
    """The measures of one annotator as plain values, and which rules hold beside the verdict's."""

    decisive: float
    left: float
    right: float
    agreement: float
    tested: bool
    leans: bool
    deviates: bool
    unlike: bool
    p_lean: float
    p_taste: float
    p_attention: float
    p_no_taste: float
    p_own_ranking: float
    correlation_high: float
    attention: float
    attention_low: float
    attention_high: float
    lean: float
    lean_low: float
    lean_high: float
    first: float
    first_low: float
    first_high: float
    one_order: bool
    one_side: float
    surely_leans: bool
    shows_taste: bool
    is_sharper: bool
    upright: bool


def _rows(of: Measures) -> Iterator[_Row]:
    rules = (of.one_side, of.surely_leans, of.shows_taste, is_sharper(of), upright(of))
    columns = [getattr(of, field.name) for field in fields(of)]
    return map(_Row._make, zip(*(c.tolist() for c in (*columns, *rules)), strict=True))


def give_verdicts(of: Measures, crowd: CrowdFacts) -> list[Verdict]:
    """Word, reason and notes for each annotator."""
    codes = choose_words(of).tolist()
    return [_verdict(VERDICTS[k], row, crowd) for k, row in zip(codes, _rows(of), strict=True)]


def _verdict(word: str, of: _Row, crowd: CrowdFacts) -> Verdict:
    return Verdict(word, _reason(word, of, crowd), _notes(word, of, crowd), _also(word, of))


def _reason(word: str, of: _Row, crowd: CrowdFacts) -> str:
    if word in LEANS:
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
    if word == UNEXPLAINED and of.leans:
        return f"{_clicks(of)}; {_lean(of, crowd)}: a lean, or a taste for what stood there"
    if word == UNEXPLAINED:
        return f"{_agrees(of)}; {_unlike(of)}; {_open_question(of)}"
    if word == FOLLOWS:
        return (
            f"{_agrees(of)}; {_attention(of)}, neither half nor twice it; no taste of their own "
            f"shows ({_p(of.p_taste)}){_no_lean(of)}"
        )
    if word == GOES_WITH:
        return f"{_agrees(of)}, more than chance would; how closely they follow it is open: " + (
            f"{_attention(of)}{_open_lean(of)}"
        )
    return _not_decided(word, of, crowd)


def _open_question(of: _Row) -> str:
    """What someone unlike the crowd may be, as far as attention tells."""
    votes = _votes(of)
    if of.attention_high < 0:
        return f"against the crowd on purpose, or by a taste of their own: {votes} do not say"
    if of.attention_low <= 0 and of.attention_high < 1:
        return f"answers at random, noisy or with a taste of their own: {votes} do not say"
    if of.attention_high < 1:
        return f"noisy or with a taste of their own: {votes} do not say"
    return f"{votes} do not say why"


def _open_lean(of: _Row) -> str:
    """What is left open of a lean, where that is much."""
    if of.upright:
        return ""
    return f"; the first of two equal items is chosen {_share_of_first(of)}"


def _not_decided(word: str, of: _Row, crowd: CrowdFacts) -> str:
    if crowd.n_annotators < 2:
        return "there is nobody to differ from"
    if word != INCONCLUSIVE:
        needed = f"a test needs {crowd.least_votes}"
        return f"{_votes(of)} that prefer{'s' if of.decisive == 1 else ''} an item; {needed}"
    if math.isnan(of.attention):
        alike = "on items that the crowd holds to be equal, or that nobody else judged"
        return f"{_votes(of)} {alike}: they say nothing of attention"
    return f"{_votes(of)} {_which_way(of)}: {_attention(of)}{_open_lean(of)}"


def _which_way(of: _Row) -> str:
    if of.attention_high >= 1:
        return "fit following the crowd and ignoring it alike"
    return "go with the crowd hardly more than a coin would, which may be chance"


def _notes(word: str, of: _Row, crowd: CrowdFacts) -> tuple[str, ...]:
    """What else holds; a note never speaks of the verdict's own effect again."""
    notes = []
    about_lean = word in LEANS
    if of.surely_leans and not about_lean:
        side = LEANS_LEFT if of.lean > 0 else LEANS_RIGHT
        notes.append(f"{side} as well: {_lean(of, crowd)}")
    if about_lean:
        notes += _beside_a_lean(of)
    if word == OWN_TASTE and of.attention_high < 0:
        notes.append(f"goes against the crowd more often than with it: {_attention(of)}")
    if word == CONTRARY and of.shows_taste:
        notes.append(f"a taste of their own as well (no taste: {_p(of.p_no_taste)})")
    if of.one_order:
        notes.append("saw every item on one side only: votes alone cannot tell a lean from a taste")
    return tuple(notes)


def _also(word: str, of: _Row) -> tuple[str, ...]:
    """Further verdicts that have the evidence their word needs."""
    if word in LEANS:
        return (OWN_TASTE,) if of.shows_taste else (SHARPER,) if of.is_sharper else ()
    words = [OWN_TASTE] if word == CONTRARY and of.shows_taste else []
    if of.surely_leans:
        words.append(LEANS_LEFT if of.lean > 0 else LEANS_RIGHT)
    return tuple(words)


def _beside_a_lean(of: _Row) -> list[str]:
    if of.shows_taste:
        return [f"{OWN_TASTE} as well (no taste beside the lean: {_p(of.p_no_taste)})"]
    if of.is_sharper:
        return [f"{SHARPER} as well: {_attention(of)}"]
    if of.unlike and of.attention_high < 1:
        return [f"beside the lean, the items matter less than to the crowd: {_attention(of)}"]
    if of.deviates or of.unlike:
        return [f"beside the lean {_unlike(of)}; unclear why"]
    return []


def _votes(of: _Row) -> str:
    n = of.decisive
    return f"{n:,.0f} vote{'' if n == 1 else 's'}" if n.is_integer() else f"{n:,.4g} votes"


def _agrees(of: _Row) -> str:
    share = of.agreement
    if math.isnan(share):
        return f"none of {_votes(of)} agrees or disagrees with the common ranking"
    return f"{share:.0%} of {_votes(of)} agree with the common ranking"


def _clicks(of: _Row) -> str:
    left, right = of.left, of.right
    fuller = "left" if left > right else "right"
    return f"{left:g} left and {right:g} right clicks, {of.one_side:.0%} on the {fuller}"


def _attention(of: _Row) -> str:
    return (
        f"attention {of.attention:.2g} (95 % interval {of.attention_low:.2g} to "
        f"{of.attention_high:.2g}; that of the crowd, 1: {_p(of.p_attention)})"
    )


def _share_of_first(of: _Row, also: str = "") -> str:
    return (
        f"{of.first:.0%} of the time (95 % interval {of.first_low:.0%} to "
        f"{of.first_high:.0%}{also})"
    )


def _lean(of: _Row, crowd: CrowdFacts) -> str:
    chosen = "the first of two equal items is chosen"
    if crowd.common_first is None:
        return f"{chosen} {_share_of_first(of, f'; no lean: {_p(of.p_lean)}')}"
    tested = f"; no lean beyond everybody's: {_p(of.p_lean)}"
    more = "more" if of.lean > 0 else "less"
    return (
        f"{chosen} {_share_of_first(of, tested)}, {more} often than by everybody together "
        f"({crowd.common_first:.0%})"
    )


def _no_lean(of: _Row) -> str:
    return "" if math.isnan(of.p_lean) else f" and no lean ({_p(of.p_lean)})"


def _unlike(of: _Row) -> str:
    """Which test says that someone does not follow the crowd."""
    said = []
    if of.unlike:
        said.append(_attention(of))
    if of.deviates:
        said.append(f"choices unlike the crowd's ({_p(of.p_taste)} if they were the crowd's)")
    return " and ".join(said)


def _p(p: float) -> str:
    if math.isnan(p):
        return "p unknown"
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
