"""Verdicts: one plain word for each annotator, from three effects with their intervals.

Every rule is here and in docs/annotators.md. A word needs evidence for itself: who is not shown
to be anything is "inconclusive", and who is shown to differ but not how is said to be so.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import BoolArray

FOLLOWS = "follows the crowd"
GOES_WITH = "goes with the crowd"
OWN_TASTE = "own taste"
CONTRARY = "contrary"
RANDOM = "answers at random"
NOISY = "noisy"
SHARPER = "sharper than the crowd"
LEANS_LEFT = "leans left"
LEANS_RIGHT = "leans right"
ONE_SIDED = "one-sided clicker"
UNEXPLAINED = "unlike the crowd, unclear why"
INCONCLUSIVE = "inconclusive"
TOO_FEW = "too few votes to tell"
VERDICTS = (
    FOLLOWS,
    GOES_WITH,
    SHARPER,
    NOISY,
    OWN_TASTE,
    CONTRARY,
    RANDOM,
    LEANS_LEFT,
    LEANS_RIGHT,
    ONE_SIDED,
    UNEXPLAINED,
    INCONCLUSIVE,
    TOO_FEW,
)
LEANS = (ONE_SIDED, LEANS_LEFT, LEANS_RIGHT)
NOT_DECIDED = (INCONCLUSIVE, TOO_FEW)
UNREMARKABLE = (FOLLOWS, GOES_WITH, *NOT_DECIDED)
STANDING_OUT = tuple(word for word in VERDICTS if word not in UNREMARKABLE)
RANKING_OTHERWISE = (OWN_TASTE, CONTRARY, RANDOM, NOISY, ONE_SIDED, UNEXPLAINED)

ONE_SIDED_FROM = 0.9  # share of decisive clicks on one side
LEVEL = 0.05  # of single tests that rule something out
TASTE_LEVEL = 0.015  # of a taste beside attention and lean, among those already named
RANKING_LEVEL = 0.03  # of a ranking of their own that is ruled out
HALF, TWICE = 0.5, 2.0  # following is seeing between half and twice as sharply as the crowd
SURELY = 1.2  # of a 95 % interval's half: 98 %, for words that rest on attention not being 0
HARDLY = 0.3  # of the crowd's attention: who may have as much is not called random
MOST_LEAN = 1.1  # logits: three to one at equal quality


@dataclass(frozen=True, eq=False)
class Measures:
    """What the rules look at, one entry for each annotator; not a number is not known.

    Attributes
    ----------
    tested, leans, deviates, unlike : array of bool
        Had votes enough for tests; named for a lean, a taste, an attention unlike the crowd's.
    p_lean, p_taste, p_attention : array
        P-values of no lean, no taste, attention 1.
    p_no_taste, p_own_ranking : array
        Of no taste beside attention and lean, and of a ranking of their own (`BeyondSlope`).
    correlation_high : array
        Upper end of the correlation of their ranking with the crowd's (`BeyondSlope`).
    attention, attention_low, attention_high : array
    lean, lean_low, lean_high : array
        In logits, beyond the lean everybody shares.
    first, first_low, first_high : array
        Probability of choosing the first of two equal items.
    one_order : array of bool
        Saw every item on one side only, beyond chance.
    """

    decisive: Floats
    left: Floats
    right: Floats
    agreement: Floats
    tested: BoolArray
    leans: BoolArray
    deviates: BoolArray
    unlike: BoolArray
    p_lean: Floats
    p_taste: Floats
    p_attention: Floats
    p_no_taste: Floats
    p_own_ranking: Floats
    correlation_high: Floats
    attention: Floats
    attention_low: Floats
    attention_high: Floats
    lean: Floats
    lean_low: Floats
    lean_high: Floats
    first: Floats
    first_low: Floats
    first_high: Floats
    one_order: BoolArray

    def take(self, who: Ints) -> Measures:
        """The same of some annotators."""
        return Measures(*(getattr(self, field.name)[who] for field in fields(self)))

    @property
    def named(self) -> BoolArray:
        """Named for not following the crowd, be it taste or attention."""
        result: BoolArray = self.deviates | self.unlike
        return result

    @property
    def surely_leans(self) -> BoolArray:
        """Named for a lean that is no taste for what always stood on that side."""
        result: BoolArray = self.leans & ~self.one_order
        return result

    @property
    def shows_taste(self) -> BoolArray:
        """Named, and choices depend on the items beside what attention and lean explain.

        Someone who sees sharper than the crowd must be named for a taste: errors of the common
        scores look like one to a sharp eye.
        """
        named = self.deviates | (self.unlike & ~(self.attention_low > 1.0))
        result: BoolArray = named & (self.p_no_taste <= TASTE_LEVEL)
        return result

    @property
    def has_no_taste(self) -> BoolArray:
        """Named, and a ranking of their own as clear as the crowd's is ruled out."""
        result: BoolArray = self.named & ~self.shows_taste & (self.p_own_ranking <= RANKING_LEVEL)
        return result

    @property
    def one_side(self) -> Floats:
        """Share of the clicks that went to the side with more of them; 0 without any."""
        clicks = self.left + self.right
        more = np.fmax(self.left, self.right)
        return np.divide(more, clicks, out=np.zeros_like(more), where=clicks > 0)


def choose_words(of: Measures) -> Ints:
    """Verdict of each annotator, as its place in `VERDICTS`: the first rule that holds."""
    lean_word = np.where(of.lean > 0, VERDICTS.index(LEANS_LEFT), VERDICTS.index(LEANS_RIGHT))
    rules: list[tuple[BoolArray, str | Ints]] = [
        (of.surely_leans & (of.one_side >= ONE_SIDED_FROM), ONE_SIDED),
        (is_contrary(of), CONTRARY),
        (of.shows_taste & ~(of.surely_leans & (of.p_lean <= of.p_taste)), OWN_TASTE),
        (of.surely_leans, lean_word),
        (is_random(of), RANDOM),
        (is_noisy(of), NOISY),
        (is_sharper(of), SHARPER),
        (of.named | of.leans, UNEXPLAINED),
        (is_follower(of), FOLLOWS),
        (goes_with(of), GOES_WITH),
        (of.tested, INCONCLUSIVE),
    ]
    codes = [VERDICTS.index(word) if isinstance(word, str) else word for _, word in rules]
    chosen = np.select([holds for holds, _ in rules], codes, VERDICTS.index(TOO_FEW))
    return chosen.astype(np.int64)


def is_contrary(of: Measures) -> BoolArray:
    """Named, and further against the crowd than a ranking unrelated to it is by chance."""
    result: BoolArray = of.named & (of.attention_high < 0.0) & (of.correlation_high < 0.0)
    return result


def is_random(of: Measures) -> BoolArray:
    """Attention may be 0 and is far below a follower's; neither taste nor lean."""
    near_nothing = (of.attention_low <= 0.0) & (of.attention_high >= 0.0)
    hardly = near_nothing & (of.attention_high < HARDLY)
    result: BoolArray = of.has_no_taste & hardly & ~_may_lean(of)
    return result


def is_noisy(of: Measures) -> BoolArray:
    """Attention between 0 and 1, and there is no taste that would look the same."""
    between = attends(of) & (of.attention_high < 1.0)
    result: BoolArray = of.has_no_taste & between & ~_may_lean(of)
    return result


def _may_lean(of: Measures) -> BoolArray:
    """A lean, named or not, may explain the votes as well."""
    result: BoolArray = of.p_lean <= LEVEL
    return result


def is_sharper(of: Measures) -> BoolArray:
    result: BoolArray = of.unlike & ~of.shows_taste & (of.attention_low > 1.0)
    return result


def is_follower(of: Measures) -> BoolArray:
    """Nothing named; half and twice the crowd's attention, and a clear lean, are ruled out."""
    attends = (of.attention_low > HALF) & (of.attention_high < TWICE)
    tasteless = of.p_taste > LEVEL
    result: BoolArray = of.tested & ~of.named & ~of.leans & attends & tasteless & upright(of)
    return result


def goes_with(of: Measures) -> BoolArray:
    """Nothing named, and choices go with the common scores; how closely, the votes do not tell."""
    result: BoolArray = of.tested & ~of.named & ~of.leans & attends(of)
    return result


def attends(of: Measures) -> BoolArray:
    """Choices go with the common scores: the 98 % interval of attention is above 0."""
    result: BoolArray = of.attention > SURELY * (of.attention - of.attention_low)
    return result


def upright(of: Measures) -> BoolArray:
    """Sides are unknown, or a lean of `MOST_LEAN` to either side is ruled out."""
    bounded = (of.lean_low > -MOST_LEAN) & (of.lean_high < MOST_LEAN)
    result: BoolArray = np.isnan(of.lean) | bounded
    return result
