"""`common_scores`: the common scores of a fit with their uncertainty, computed once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

from prefpath.errors import SettingError, VoteWarning
from prefpath.fitted import Fitted, HasFitted, as_fitted
from prefpath.inference.attenuation import no_attenuation
from prefpath.inference.bootstrap import bootstrap_coefficients
from prefpath.inference.evidence import MOST_COEFFICIENTS, Evidence, gather_evidence
from prefpath.inference.intervals import METHODS, CommonScores, Method, in_scores
from prefpath.inference.mean_taste import mean_taste
from prefpath.inference.sandwich import Clustered, cluster_covariance
from prefpath.machine import blas_threads_for
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.population import About, population_of
from prefpath.votes.encode import CodeArray
from prefpath.votes.trials import trials_of_rows


class _Asked(NamedTuple):
    """How intervals are to be made; what was computed is kept by it."""

    method: Method
    n_resamples: int
    about: About


# A fit is frozen, so what was computed from it stays true as long as it lives.
_COMPUTED: WeakKeyDictionary[Fitted, dict[_Asked, CommonScores]] = WeakKeyDictionary()


def common_scores(
    model: Fitted | HasFitted,
    method: Method = "sandwich",
    *,
    n_resamples: int = 1_000,
    about: About | None = None,
    progress: Callable[[int], None] | None = None,
) -> CommonScores | None:
    """Common scores at the chosen time with their covariance; None for too many items.

    Parameters
    ----------
    model : Fitted, or a fitted PreferenceModel
    method : {"sandwich", "bootstrap"}
        Clustered by annotator either way: by formula, or by drawing whole annotators again.
    n_resamples : int
        Of the bootstrap.
    about : {"these", "annotators"}, optional
        Whom the intervals are about: these annotators, whose votes might have come out
        otherwise, or all annotators like them. By default these where there are fewer than ten
        of them (and not with the bootstrap, which draws annotators).
    progress : callable, optional
        Called with the number of resamples just finished.
    """
    if method not in METHODS:
        raise SettingError(f"interval is {method!r}", expected="sandwich, bootstrap or None")
    fitted = as_fitted(model)
    if fitted.votes.n_items > MOST_COEFFICIENTS and method == "sandwich":
        warnings.warn(
            f"more than {MOST_COEFFICIENTS:,} items: their intervals are not computed",
            VoteWarning,
            stacklevel=2,
        )
        return None
    kept = _COMPUTED.setdefault(fitted, {})
    whom = population(fitted, method, about)
    asked = _Asked(method, n_resamples if method == "bootstrap" else 0, whom)
    if asked not in kept:
        kept[asked] = _estimate(fitted, asked, progress)
    return kept[asked]


def population(fitted: Fitted, method: Method = "sandwich", about: About | None = None) -> About:
    """Whom intervals made so are about."""
    if method == "sandwich":
        return population_of(fitted.n_present, about)
    if about == "these":
        raise SettingError(
            "a bootstrap about these annotators: it draws annotators",
            expected='about="annotators", or interval="sandwich"',
        )
    return "annotators"


def _estimate(
    fitted: Fitted, asked: _Asked, progress: Callable[[int], None] | None
) -> CommonScores:
    if fitted.remote is not None:
        return _estimate_elsewhere(fitted, asked)
    evidence = gather_evidence(fitted, everybody=asked.about == "these")
    with blas_threads_for(fitted.votes.n_items):
        clustered = cluster_covariance(evidence)
        if asked.about == "these":
            clustered = _of_these(evidence, clustered)
        elif _is_of_all(evidence, clustered):
            evidence = gather_evidence(fitted, tastes=False)
            clustered = _of_all(cluster_covariance(evidence))
    draws = None
    if asked.method == "bootstrap":
        draws = bootstrap_coefficients(
            evidence,
            clustered,
            n_resamples=asked.n_resamples,
            random_state=fitted.seed,
            n_threads=fitted.n_threads,
            progress=progress,
        )
    return in_scores(evidence, clustered, asked.method, draws, about=asked.about)


def _is_of_all(evidence: Evidence, clustered: Clustered) -> bool:
    """Of the crowd as it is: who was found to deviate is one of them.

    So it is, too, where so much is everybody's own that nothing holds a middle of their tastes:
    votes made from ratings predict each other, and the path then ends with everybody alone.
    """
    unheld = clustered.attenuation.mean_preference or not clustered.consensus.converged
    return unheld and evidence.n_deviating > 0


def _of_all(clustered: Clustered) -> Clustered:
    n_coefficients = len(clustered.consensus.coefficient)
    return replace(clustered, attenuation=no_attenuation(n_coefficients, mean_preference=True))


def _estimate_elsewhere(fitted: Fitted, asked: _Asked) -> CommonScores:
    """The same where the votes stayed on a cluster."""
    from prefpath.inference.remote import evidence_elsewhere

    if asked.method == "bootstrap" or asked.about == "these":
        what = "bootstrap" if asked.method == "bootstrap" else "mean taste of these annotators"
        raise SettingError(
            f"the {what} needs the votes, which stayed on the cluster",
            expected='interval="sandwich" about annotators like these',
            remedy="fit with collect=True, if this machine can hold the votes",
        )
    with blas_threads_for(fitted.votes.n_items):
        with evidence_elsewhere(fitted) as (evidence, annotators):
            clustered = cluster_covariance(evidence, annotators)
        if _is_of_all(evidence, clustered):
            with evidence_elsewhere(fitted, tastes=False) as (evidence, annotators):
                clustered = _of_all(cluster_covariance(evidence, annotators))
    return in_scores(evidence, clustered, asked.method, about=asked.about)


def _of_these(evidence: Evidence, clustered: Clustered) -> Clustered:
    """The mean taste of these annotators in place of the consensus, votes being the draws."""
    found = mean_taste(evidence, clustered.consensus)
    n_votes = float(trials_of_rows(evidence.problem.votes).sum())
    return replace(
        clustered,
        consensus=replace(clustered.consensus, coefficient=found.coefficient),
        covariance=found.covariance,
        unclustered=found.covariance,
        attenuation=no_attenuation(evidence.n_coefficients),
        degrees_of_freedom=max(n_votes - evidence.n_coefficients, 1.0),
    )


def estimate_common(
    problem: Problem,
    path: Path,
    t: float,
    component: CodeArray,
    *,
    method: Method = "sandwich",
    n_resamples: int = 1_000,
    random_state: int | None = 0,
    n_threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> CommonScores:
    """Deprecated: `common_scores` of a `Fitted`."""
    warnings.warn(
        "estimate_common is common_scores(Fitted(problem, path, t, component)) since 0.2",
        DeprecationWarning,
        stacklevel=2,
    )
    fitted = Fitted(problem, path, t, component, seed=random_state, n_threads=n_threads)
    return _estimate(fitted, _Asked(method, n_resamples, "annotators"), progress)
