"""`Discoveries`: p-values of everybody, and who is named for which kind of effect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from prefpath.diagnose.attention import Attention
from prefpath.diagnose.consensus import Consensus
from prefpath.diagnose.without_own import CommonMargins
from prefpath.errors import SettingError
from prefpath.model.design import Floats
from prefpath.votes.encode import BoolArray, Labels

Null = Literal["model", "empirical"]
Effect = Literal["position_bias", "deviation", "attention"]
EFFECTS: tuple[Effect, ...] = ("position_bias", "deviation", "attention")


@dataclass(frozen=True, eq=False)
class Discoveries:
    """Tests of every annotator, and who is named at the target false-discovery rate.

    Attributes
    ----------
    p_lean, p_taste, p_attention : array (n_annotators,)
        P-values of no lean, of no taste of one's own, of seeing as sharply as the crowd; not a
        number where too few votes allow no test.
    leaning, deviating, unlike_in_attention : array of bool (n_annotators,)
        Named by Benjamini and Hochberg's rule, each list at rate `q` and all who are on any of
        them at rate `q` too.
    attention : Attention
        Slope of each annotator's choices on the common scores, with interval.
    consensus : Consensus
        Common scores from those who follow them.
    margins : CommonMargins
        The same as each annotator is compared with them: without their own votes.
    set_aside : array of bool (n_annotators,)
        Whose votes the common scores were fitted without.
    null_shift, null_scale : dict
        For "lean", "taste" and "attention": centre and spread of the normal scores of the
        p-values among the bulk of annotators; 0 and 1 where the common model holds. Larger:
        everybody deviates a little (see `null="empirical"`).
    """

    annotators: Labels
    p_lean: Floats
    p_taste: Floats
    p_attention: Floats
    leaning: BoolArray
    deviating: BoolArray
    unlike_in_attention: BoolArray
    attention: Attention
    consensus: Consensus
    margins: CommonMargins
    set_aside: BoolArray
    q: float
    null: Null
    null_shift: dict[str, float]
    null_scale: dict[str, float]

    @property
    def who_leans(self) -> Labels:
        """Labels of those named as leaning, the clearest first."""
        return self.who("position_bias")

    @property
    def who_deviates(self) -> Labels:
        """Labels of those named as deviating, the clearest first."""
        return self.who("deviation")

    def who(self, kind: Effect) -> Labels:
        """Labels of those named for one kind of effect, the clearest first."""
        found = np.flatnonzero(self.named(kind))
        return self.annotators[found[np.argsort(self.p(kind)[found], kind="stable")]]

    def of_leans_only(self) -> Discoveries:
        """The same where nobody is said to be like the crowd or unlike it: there is none.

        Tests of that hold scores to be known but for their errors. Of scores that are nothing but
        error, of few votes an item, they name many.
        """
        nobody, unknown = np.zeros(len(self.annotators), dtype=bool), self.p_attention * np.nan
        attention = replace(self.attention, estimate=unknown, low=unknown, high=unknown)
        return replace(self, deviating=nobody, unlike_in_attention=nobody, attention=attention)

    def p(self, kind: Effect) -> Floats:
        """P-values of one kind of effect."""
        _check_kind(kind)
        return {
            "position_bias": self.p_lean,
            "deviation": self.p_taste,
            "attention": self.p_attention,
        }[kind]

    def named(self, kind: Effect) -> BoolArray:
        """Who is named for one kind of effect."""
        _check_kind(kind)
        return {
            "position_bias": self.leaning,
            "deviation": self.deviating,
            "attention": self.unlike_in_attention,
        }[kind]


def _check_kind(kind: str) -> None:
    if kind not in EFFECTS:
        raise SettingError(f"kind is {kind!r}", expected=" or ".join(repr(k) for k in EFFECTS))
