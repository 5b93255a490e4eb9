"""`diagnose`: tests of everybody, and what they and the path say of each annotator."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast, get_args

import numpy as np

from prefpath.diagnose.crowd import CrowdHere
from prefpath.diagnose.diagnosis import Diagnosis, Judging, judge, unlike_in_attention
from prefpath.diagnose.discoveries import EFFECTS, Null
from prefpath.diagnose.discovery import LEAST_VOTES, Settings, discover_in
from prefpath.diagnose.examined import Examined
from prefpath.diagnose.multiplicity import check_rate
from prefpath.diagnose.pvalues import Draws
from prefpath.diagnose.reasons import CrowdFacts
from prefpath.fitted import Fitted, HasFitted, as_fitted
from prefpath.inference.board import shared_position_effect
from prefpath.machine import blas_threads_for
from prefpath.model.design import Floats
from prefpath.path import Kind, Path
from prefpath.stages import WHO_STANDS_OUT, tell

if TYPE_CHECKING:
    from prefpath.diagnose.elsewhere import DiagnosisElsewhere


def diagnose(
    model: Fitted | HasFitted,
    *,
    q: float = 0.1,
    null: Null = "model",
    least_votes: int = LEAST_VOTES,
    n_draws: int = 1_000,
    seed: int | None = None,
) -> Diagnosis:
    """Say of every annotator of a fitted model what stands out, how surely, and why.

    Parameters
    ----------
    model : fitted PreferenceModel, or Fitted
        What depends on time is said at the time it stopped.
    q, null, least_votes, n_draws
        As in `discover`.
    seed : int, optional
        As in `discover`; the fit's own by default.

    Examples
    --------
    >>> from prefpath import PreferenceModel, simulate_crowd
    >>> crowd = simulate_crowd(4_000, 40, 6, activity="even", deviants=1, clickers=1, seed=0)
    >>> found = diagnose(PreferenceModel(cv=0, n_times=10, t_ratio=5.0).fit(crowd.votes))
    >>> found.of(crowd.deviants[0])["verdict"]
    'own taste'
    """
    found = verdicts_on(model, q=q, null=null, least_votes=least_votes, n_draws=n_draws, seed=seed)
    if isinstance(found, Diagnosis):
        return found
    try:
        return found.whole()
    finally:
        found.close()


def verdicts_on(
    model: Fitted | HasFitted,
    *,
    q: float = 0.1,
    null: Null = "model",
    least_votes: int = LEAST_VOTES,
    n_draws: int = 1_000,
    seed: int | None = None,
) -> Diagnosis | DiagnosisElsewhere:
    """`diagnose`; where votes stayed on a cluster, what is said of each annotator stays there, too.

    Such a diagnosis asks the workers for the rows that are wanted, until it is closed.
    """
    check_rate(q)
    fitted = as_fitted(model)
    draws_from = (fitted.seed or 0) if seed is None else seed
    how = Settings(q, null, least_votes, Draws(n_draws, draws_from, fitted.n_threads))
    with blas_threads_for(fitted.votes.n_items):
        if fitted.remote is None:
            here = CrowdHere(fitted)
            found = judge(fitted, here, _judging(fitted, here.examined, how))
            tell(WHO_STANDS_OUT, 1.0)
            return found
        return _elsewhere(fitted, how)


def _elsewhere(fitted: Fitted, how: Settings) -> DiagnosisElsewhere:
    from prefpath.diagnose.elsewhere import CrowdElsewhere

    there = CrowdElsewhere(fitted)
    try:
        found = there.judged(_judging(fitted, there.examined, how))
        tell(WHO_STANDS_OUT, 1.0)
        return found
    except BaseException:
        there.close()
        raise


def _judging(fitted: Fitted, examined: Callable[[], Examined], how: Settings) -> Judging:
    """Tests of everybody, and who is named."""
    votes, model = fitted.votes, fitted.problem
    found, common_first = None, None
    unlike = np.zeros(votes.n_annotators, dtype=bool)
    # somebody to differ from, in something
    if votes.n_annotators > 1 and votes.choice.any():
        asked = examined()
        if asked.decisive.max() >= how.least_votes:
            shared = model.common_position
            found = discover_in(
                asked, how, position_bias=model.position_bias, common_position=shared
            )
            if fitted.knows_nothing:
                found = found.of_leans_only()
            unlike = unlike_in_attention(found)
            common_first = shared_position_effect(fitted)["first_probability"] if shared else None
    crowd = CrowdFacts(votes.n_annotators, how.least_votes, common_first)
    entered: dict[str, Floats] = {kind: _entry_times(fitted.path, kind) for kind in EFFECTS}
    return Judging(found, unlike, entered, crowd, how.q, how.draws)


def _entry_times(path: Path, kind: str) -> Floats:
    """Entry times of an effect; never, where this path has no such effect."""
    if kind not in get_args(Kind):
        return np.full(len(path.annotators), np.inf)
    return path.entry_times(cast(Kind, kind))
