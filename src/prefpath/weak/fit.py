"""`fit_weak`: from a fit to everybody's small effects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from prefpath.comparisons import LabelledComparisons, coded_comparisons
from prefpath.errors import VoteError
from prefpath.fitted import Fitted, HasFitted, as_fitted
from prefpath.machine import blas_threads_for
from prefpath.model.design import Floats
from prefpath.selection.folds import Fold, Over, make_folds
from prefpath.solver.grid import make_grid
from prefpath.solver.solve import solve
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray
from prefpath.weak.effects import Shares, WeakEffects
from prefpath.weak.layout import Ballots
from prefpath.weak.mode import find_mode
from prefpath.weak.strengths import (
    Chosen,
    Entered,
    choose_strengths,
    groups_of,
    slopes_took_over,
)
from prefpath.weak.tuning import FoldOfVotes, HeldOut, better_of, scale_of_margins, tune

MOST_ROWS = 50_000  # of the votes from which the strengths are chosen
_FEWEST_ANNOTATORS = 20


def fit_weak(
    model: Fitted | HasFitted,
    *,
    n_folds: int = 5,
    over: Over = "votes",
    seed: int | None = 0,
) -> WeakEffects:
    """Refit common scores and everybody's own effects under Gaussian priors, once, at time t.

    The margin of annotator u between items i and j is
    `(1 + s_u)(theta_i - theta_j) + d_i^u - d_j^u + g_u`, every part normal about zero. Those
    whose taste, lean or attention has entered the path at time t have standard deviations of
    their own for it, so that they are hardly shrunk. Strengths are chosen by marginal likelihood
    and then multiplied by what predicts held-out votes best.

    Parameters
    ----------
    model : fitted PreferenceModel, or Fitted
    n_folds : int
        Of the cross-validation that corrects the strengths; 0 leaves them to the likelihood.
    over : {"votes", "items", "annotators"}
        What these folds hold out.
    seed : int, optional
        Of the folds, and of the annotators drawn where there are more than 50,000 rows.

    Returns
    -------
    WeakEffects

    References
    ----------
    MacKay: Bayesian interpolation. Wood and Fasiolo: A generalized Fellner-Schall method for
    smoothing parameter optimization.

    Examples
    --------
    >>> from prefpath import PreferenceModel, simulate_crowd
    >>> crowd = simulate_crowd(2_000, 20, 5, deviants=1, clickers=1, seed=0)
    >>> model = PreferenceModel(cv=0, n_times=10, t_ratio=20.0).fit(crowd.votes)
    >>> weak = fit_weak(model)
    >>> weak.strengths["scores"] > 0.3
    True
    """
    fitted = as_fitted(model)
    with blas_threads_for(fitted.problem.n_common):
        return _fit_weak(fitted, n_folds, over, seed)


def _fit_weak(fitted: Fitted, n_folds: int, over: Over, seed: int | None) -> WeakEffects:
    entered = Entered.on(fitted.path, fitted.t)
    chosen, shares = _strengths(fitted, entered, n_folds, over, seed)
    ballots = Ballots.of(fitted.problem)
    groups = groups_of(ballots, entered)
    posterior = chosen.posterior(ballots, groups)
    state = find_mode(posterior, np.zeros(len(groups.flat())))
    return WeakEffects.at(ballots, entered, chosen, posterior, state, shares)


def weak_margins(fitted: Fitted, effects: WeakEffects, comparisons: LabelledComparisons) -> Floats:
    """Margins of comparisons by label; an item without votes needs features."""
    asked, differ = coded_comparisons(comparisons, fitted.votes, fitted.item_features)
    return effects.margins(asked, differ)


def _strengths(
    fitted: Fitted, entered: Entered, n_folds: int, over: Over, seed: int | None
) -> tuple[Chosen, Shares]:
    sample = _sample(fitted.votes, seed)
    ballots = Ballots.of(fitted.problem, sample)
    groups = groups_of(ballots, entered)
    chosen = plain = choose_strengths(ballots, groups)
    if slopes_took_over(chosen):
        plain = choose_strengths(ballots, groups, attention=False)
    folds = _folds(ballots.votes, n_folds, over, seed)
    if not folds:
        return plain, Shares()
    nothing = np.zeros(len(groups.flat()))
    starts = [(nothing, chosen.tau)] * len(folds)
    each = [entered if sample is not None else _entered_in(fitted, fold) for fold in folds]
    parts = [
        FoldOfVotes(fold, own, groups_of(ballots, own))
        for fold, own in zip(folds, each, strict=True)
    ]
    held_out = HeldOut(ballots, parts, starts)
    tuned, judged = tune(held_out, better_of(held_out, plain, chosen))
    scale = scale_of_margins(fitted.loss, judged, held_out.choice)
    return tuned, judged.shares._replace(scale=scale)


def _entered_in(fitted: Fitted, fold: Fold) -> Entered:
    """Who has entered at the chosen time on the path of a fold's training votes."""
    problem = fitted.problem.with_weight(fold.train)
    grid = make_grid([fitted.t], 1, 1.0)
    path = solve(problem, grid, common=fitted.common, n_threads=fitted.n_threads)
    return Entered.on(path, fitted.t)


def _folds(votes: Votes, n_folds: int, over: Over, seed: int | None) -> Sequence[Fold]:
    """Folds, or none where there are too few votes for them."""
    if n_folds == 0:
        return []
    try:
        return make_folds(votes, n_folds, over=over, random_state=seed)
    except VoteError:
        return []


def _sample(votes: Votes, seed: int | None) -> BoolArray | None:
    """Annotators whose votes together have at most 50,000 rows, at random; None for all."""
    if votes.n_rows <= MOST_ROWS:
        return None
    each = np.diff(votes.offsets)
    order = np.random.default_rng(seed).permutation(votes.n_annotators)
    enough = int(np.searchsorted(np.cumsum(each[order]), MOST_ROWS, side="right"))
    chosen = np.zeros(votes.n_annotators, dtype=bool)
    chosen[order[: max(enough, _FEWEST_ANNOTATORS)]] = True
    return chosen
