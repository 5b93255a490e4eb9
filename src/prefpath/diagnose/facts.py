"""What is known of each annotator, as arrays: the table and the verdicts are made of these."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TypeVar

from prefpath.diagnose.discoveries import Discoveries
from prefpath.diagnose.lean import Leans
from prefpath.diagnose.reasons import CrowdFacts, Verdict, give_verdicts
from prefpath.diagnose.tastes import Tastes
from prefpath.diagnose.verdicts import Measures
from prefpath.model.design import Floats, Ints
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray

T = TypeVar("T")


class _NamesOf010:
    """Attributes of 0.1.0 that are found elsewhere now; each warns and says where."""

    measures: Measures
    entered: dict[str, Floats]

    @property
    def left(self) -> Floats:
        """Deprecated: `measures.left`."""
        return _moved("left", "measures.left", self.measures.left)

    @property
    def right(self) -> Floats:
        """Deprecated: `measures.right`."""
        return _moved("right", "measures.right", self.measures.right)

    @property
    def agreement(self) -> Floats:
        """Deprecated: `measures.agreement`."""
        return _moved("agreement", "measures.agreement", self.measures.agreement)

    @property
    def decisive(self) -> Floats:
        """Deprecated: `measures.decisive`."""
        return _moved("decisive", "measures.decisive", self.measures.decisive)

    @property
    def one_order(self) -> BoolArray:
        """Deprecated: `measures.one_order`."""
        return _moved("one_order", "measures.one_order", self.measures.one_order)

    @property
    def entered_deviation(self) -> Floats:
        """Deprecated: `entered["deviation"]`."""
        return _moved("entered_deviation", 'entered["deviation"]', self.entered["deviation"])

    @property
    def entered_bias(self) -> Floats:
        """Deprecated: `entered["position_bias"]`."""
        return _moved("entered_bias", 'entered["position_bias"]', self.entered["position_bias"])

    @property
    def first_if_equal(self) -> Leans:
        """Deprecated: `measures.first`, `measures.first_low` and `measures.first_high`."""
        of = self.measures
        where = "measures.first, .first_low and .first_high"
        return _moved("first_if_equal", where, Leans(of.first, of.first_low, of.first_high))


def _moved(name: str, where: str, value: T) -> T:
    warnings.warn(f"Diagnosis.{name} is {where} since 0.2", DeprecationWarning, stacklevel=3)
    return value


@dataclass(frozen=True, eq=False)
class AnnotatorFacts(_NamesOf010):
    """What the votes and the path say of each annotator at time `t`.

    Attributes
    ----------
    ties : array (n_annotators,)
        Ties where sides are known.
    entered : dict of arrays (n_annotators,)
        When each kind of effect entered the path; inf is never.
    position_bias : array (n_annotators,)
        On the path at `t`, shrunk; 0 before it entered.
    lean : Leans
        Unpenalised, with interval (`estimate_leans`), the common scores and the deviation at
        `t` being known; not a number where no side is known.
    tastes : Tastes
        Deviations on the path at `t`.
    measures : Measures
        What verdicts are made of.
    discoveries : Discoveries or None
        Tests of everybody; None where nobody has votes enough, or is alone.
    crowd : CrowdFacts
        What is said of all.
    """

    votes: Votes
    t: float
    q: float
    ties: Floats
    entered: dict[str, Floats]
    position_bias: Floats
    lean: Leans
    tastes: Tastes
    measures: Measures
    discoveries: Discoveries | None
    crowd: CrowdFacts

    def verdicts(self, who: Ints | None = None) -> list[Verdict]:
        """What is said of annotators (codes; None is all), with the reason in words."""
        of = self.measures if who is None else self.measures.take(who)
        return give_verdicts(of, self.crowd)
