"""`CommonScores`: the common scores at a time, and how sure one can be of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from prefpath.distributions import normal_tail, student_quantile
from prefpath.errors import SettingError
from prefpath.inference.evidence import Evidence
from prefpath.inference.sandwich import Clustered
from prefpath.model.design import Floats, Ints
from prefpath.model.losses import Loss
from prefpath.pairs import Placing, average_score, pool_votes
from prefpath.population import About
from prefpath.votes.encode import BoolArray, CodeArray

Method = Literal["sandwich", "bootstrap"]
METHODS = ("sandwich", "bootstrap")

# In logits: a score this uncertain is not bounded by the votes in any useful sense.
_LARGEST_ERROR = 20.0


@dataclass(frozen=True, eq=False)
class CommonScores:
    """Common scores at a time with their uncertainty over the crowd.

    Attributes
    ----------
    score : array (n_items,)
        What the intervals are for, and around: about these annotators their mean taste; about
        all like them where the path's common score settles beside the annotators' own parts,
        with what tastes too faint to be found have flattened put back. Their mean over bounded
        items is zero; where the votes do not bound an item, its score is drawn to that.
    covariance, unclustered : array (n_items, n_items)
        Clustered by annotator, over resamples or (`about` these) of votes; and as if votes were
        drawn one by one and everybody's own part were known.
    bounded : array of bool (n_items,)
        False where the votes allow any score, however high or low.
    degrees_of_freedom : float
        Of the t distribution: the number of annotators less one, or of votes less that of
        coefficients.
    about : {"these", "annotators"}
        Whom the intervals are about: only the votes of these annotators vary, or the
        annotators themselves.
    unseen_tastes : bool
        Whether annotators differ by more than was found in any of them, or may do so for all
        their votes say, or by so much that nothing holds the middle of their tastes: intervals
        are then for the mean preference of the crowd (scores that describe its votes best), not
        for a ranking that most of them follow.
    draws : array (n_resamples, n_items) or None
        Scores in each resample.
    common_position, position_error : float or None
        The common position effect where it would settle, and its standard error.
    """

    score: Floats
    covariance: Floats
    unclustered: Floats
    bounded: BoolArray
    component: CodeArray
    degrees_of_freedom: float
    n_annotators: int
    method: Method
    loss: Loss
    about: About = "annotators"
    unseen_tastes: bool = False
    draws: Floats | None = None
    common_position: float | None = None
    position_error: float | None = None

    @property
    def centre(self) -> Floats:
        """Deprecated: the same as `score`."""
        warnings.warn(
            "CommonScores.centre is CommonScores.score since 0.2 and goes in 0.4",
            DeprecationWarning,
            stacklevel=2,
        )
        return self.score

    @property
    def standard_error(self) -> Floats:
        """Of each score; never below what single votes alone would leave."""
        return _larger_error(self.covariance, self.unclustered)

    def difference(self, a: Ints | int, b: Ints | int) -> tuple[Floats, Floats]:
        """Difference of the scores of items a and b (codes), and its standard error."""
        variance = np.maximum(
            _variance_of_difference(self.covariance, a, b),
            _variance_of_difference(self.unclustered, a, b),
        )
        return self.score[a] - self.score[b], np.sqrt(np.maximum(variance, 0.0))

    def interval(self, level: float, anchor: int | None = None) -> tuple[Floats, Floats]:
        """Bounds of each score, or of its difference from the anchor's; NaN where unbounded."""
        check_level(level)
        if anchor is None:
            score, error, known = self.score, self.standard_error, self.bounded
        else:
            score, error = self.difference(np.arange(len(self.score)), anchor)
            same = self.component == self.component[anchor]
            known = self.bounded & self.bounded[anchor] & same
        low, high = self._bounds(score, error, level, anchor)
        known = known & np.isfinite(low) & np.isfinite(high)
        return np.where(known, low, np.nan), np.where(known, high, np.nan)

    def _bounds(
        self, score: Floats, error: Floats, level: float, anchor: int | None
    ) -> tuple[Floats, Floats]:
        reach = float(student_quantile((1.0 - level) / 2.0, self.degrees_of_freedom))
        if self.draws is None:
            return score - reach * error, score + reach * error
        draws = self.draws if anchor is None else self.draws - self.draws[:, [anchor]]
        low, high = _expanded_percentiles(draws, reach, self.n_annotators)
        return np.minimum(low, score), np.maximum(high, score)

    def about_average(self) -> CommonScores:
        """The same as differences from the average item of each component."""
        mean = _component_means(self.component, self.bounded)
        return replace(
            self,
            score=self.score - mean @ self.score,
            covariance=_centre_form(self.covariance, mean),
            unclustered=_centre_form(self.unclustered, mean),
            draws=None if self.draws is None else self.draws - self.draws @ mean.T,
        )

    def win_probability(self, a: int, b: int, level: float) -> dict[str, float | None]:
        """Probability that item a is preferred to item b, with its interval."""
        low, high = self.interval(level, anchor=b)
        ends = self.loss.probability(np.array([self.score[a] - self.score[b], low[a], high[a]]))
        point, least, most = (None if np.isnan(x) else float(x) for x in ends)
        return {"probability": point, "low": least, "high": most}


def check_level(level: float) -> None:
    """Is it a probability that an interval can have?"""
    if not 0.0 < level < 1.0:
        raise SettingError(f"level is {level}", expected="a number between 0 and 1, such as 0.95")


def in_scores(
    evidence: Evidence,
    clustered: Clustered,
    method: Method,
    draws: Floats | None = None,
    *,
    about: About = "annotators",
) -> CommonScores:
    """Scores and their uncertainty from those of the common part's coefficients."""
    of_path = evidence.scores(evidence.coefficient)
    settled = evidence.scores(clustered.settled)
    shift = _gauge_shift(evidence, of_path - settled)
    level = _level(evidence, of_path)
    by_item = None
    if draws is not None:
        by_item = _draws_of_scores(evidence, clustered.settle(draws)) + shift - level
    covariance = _score_form(evidence, clustered.of_settled(clustered.covariance))
    unclustered = _score_form(evidence, clustered.of_settled(clustered.unclustered))
    error = _larger_error(covariance, unclustered)
    bounded = evidence.bounded & clustered.consensus.converged & (error < _LARGEST_ERROR)
    if by_item is not None:
        covariance = _covariance_of_draws(by_item)
    common_position, position_error = _position(evidence, clustered)
    return CommonScores(
        score=_placed(evidence, np.where(bounded, settled + shift, of_path) - level),
        covariance=covariance,
        unclustered=unclustered,
        bounded=bounded,
        component=evidence.component,
        degrees_of_freedom=clustered.degrees_of_freedom,
        n_annotators=evidence.n_present,
        method=method,
        loss=evidence.problem.loss,
        about=about,
        unseen_tastes=clustered.attenuation.mean_preference,
        draws=by_item,
        common_position=common_position,
        position_error=position_error,
    )


def _position(evidence: Evidence, clustered: Clustered) -> tuple[float | None, float | None]:
    if not evidence.problem.common_position or not clustered.consensus.converged:
        return None, None
    both = (clustered.covariance, clustered.unclustered)
    variance = max(float(clustered.of_settled(each)[-1, -1]) for each in both)
    if not 0.0 < variance < _LARGEST_ERROR**2:  # 0: no vote whose position is known
        return None, None
    return float(clustered.settled[-1]), float(np.sqrt(variance))


def _gauge_shift(evidence: Evidence, lag: Floats) -> Floats:
    """Level the consensus with the full fit over the bounded items of each component."""
    if evidence.problem.features is not None:
        return np.zeros_like(lag)
    members = np.bincount(evidence.component, evidence.bounded)
    total = np.bincount(evidence.component, np.where(evidence.bounded, lag, 0.0))
    level: Floats = (total / np.maximum(members, 1))[evidence.component]
    return level


def _level(evidence: Evidence, of_path: Floats) -> Floats:
    """Where the path has the bounded items; others run away from them, and move nobody."""
    if evidence.bounded.all():
        return np.zeros_like(of_path)
    return average_score(of_path, evidence.component, evidence.bounded)


def _placed(evidence: Evidence, score: Floats) -> Floats:
    """Scores with those of unbounded items drawn to the average item."""
    if evidence.bounded.all():
        return score
    problem = evidence.problem
    counts = pool_votes(problem.votes)
    derivatives = problem.loss.derivatives
    return Placing(counts, evidence.component, evidence.bounded, derivatives).of(score)


def _score_form(evidence: Evidence, covariance: Floats) -> Floats:
    phi, n_common = evidence.problem.features, evidence.problem.n_common
    inner = covariance[:n_common, :n_common]
    return inner if phi is None else phi @ inner @ phi.T


def _draws_of_scores(evidence: Evidence, draws: Floats) -> Floats:
    phi, n_common = evidence.problem.features, evidence.problem.n_common
    inner = draws[:, :n_common]
    return inner if phi is None else inner @ phi.T


def _covariance_of_draws(draws: Floats) -> Floats:
    """Over the resamples in which everything is finite, else over all with limits put in."""
    finite = draws[np.isfinite(draws).all(axis=1)]
    if len(finite) < len(draws) // 2:
        finite = np.nan_to_num(draws, nan=0.0, posinf=_LARGEST_ERROR, neginf=-_LARGEST_ERROR)
    return np.cov(finite, rowvar=False)


def _expanded_percentiles(draws: Floats, reach: float, n_annotators: int) -> tuple[Floats, Floats]:
    """Percentiles as far out as a t interval of this many annotators would reach.

    A plain percentile interval is too short by the factor of a normal instead of a t quantile
    and by sqrt((U - 1) / U) (Hesterberg 2015).
    """
    tail = float(normal_tail(reach * np.sqrt(n_annotators / (n_annotators - 1.0))))
    ordered = np.sort(draws, axis=0)  # NaN last
    known = np.isfinite(ordered) | np.isinf(ordered)
    count = known.sum(axis=0)
    last = np.maximum(count - 1, 0)
    columns = np.arange(draws.shape[1])
    low = ordered[np.floor(tail * last).astype(int), columns]
    high = ordered[np.ceil((1.0 - tail) * last).astype(int), columns]
    return low, high


def _component_means(component: CodeArray, bounded: BoolArray) -> Floats:
    """Row i averages the bounded items of i's component (all of them, if none is bounded)."""
    same = component[:, None] == component[None, :]
    counted = same & bounded
    counted = np.where(counted.any(axis=1, keepdims=True), counted, same)
    mean: Floats = counted / counted.sum(axis=1, keepdims=True)
    return mean


def _centre_form(covariance: Floats, mean: Floats) -> Floats:
    half = covariance - mean @ covariance
    return half - half @ mean.T


def _larger_error(covariance: Floats, unclustered: Floats) -> Floats:
    """Standard errors by the larger variance; of all ties it is rounding, of either sign."""
    variance = np.maximum(np.diag(covariance), np.diag(unclustered))
    return np.sqrt(np.maximum(variance, 0.0))


def _variance_of_difference(covariance: Floats, a: Any, b: Any) -> Floats:
    spread: Floats = covariance[a, a] + covariance[b, b] - 2.0 * covariance[a, b]
    return spread
