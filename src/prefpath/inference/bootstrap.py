"""Cluster bootstrap by counts: whole annotators are drawn again, their votes only reweighted.

A resample is a vector of how often each annotator was drawn. One pass over the votes pools the
weights of several resamples at once; the common score is then solved anew on the pooled
comparisons, from the consensus on. No vote is copied. Annotators with something of their own
take part by their gradient, and by the curvature their own part leaves (see `absorption`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from prefpath.errors import SettingError
from prefpath.inference.consensus import common_gradient, common_hessian, invert
from prefpath.inference.evidence import Evidence, pooled_target
from prefpath.inference.sandwich import Clustered
from prefpath.machine import one_blas_thread
from prefpath.model.design import Floats, Ints
from prefpath.solver.executors import Serial, Threads, check_threads
from prefpath.text import counted

FEWEST_ANNOTATORS = 5
RESAMPLES_A_PASS = 8
_MOST_ITERATIONS = 40
_SMALL_STEP = 1e-5  # far below what resampling itself leaves uncertain
_LONGEST_STEP = 3.0
_RUN_AWAY = 12.0  # logits from the consensus: in this resample the item never won or never lost

Progress = Callable[[int], None]


def bootstrap_coefficients(
    evidence: Evidence,
    clustered: Clustered,
    *,
    n_resamples: int = 1_000,
    random_state: int | None = 0,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Floats:
    """Common coefficients in each resample of whole annotators; seeded, in threads.

    Parameters
    ----------
    progress : callable, optional
        Called with the number of resamples just finished.

    Returns
    -------
    array (n_resamples, n_coefficients)
        NaN for an item nobody drawn has seen; infinite where it ran away.

    Raises
    ------
    SettingError
        With fewer than five annotators: drawing among so few says nothing of the crowd.
    """
    present = np.flatnonzero(np.diff(evidence.problem.design.cells) > 0)
    check_resampling(len(present), n_resamples)
    sizes = _block_sizes(n_resamples)
    seeds = np.random.SeedSequence(random_state).spawn(len(sizes))
    threads = min(check_threads(n_threads), len(sizes))

    def one_block(index: int) -> Floats:
        rng = np.random.default_rng(seeds[index])
        times = _draw_annotators(present, evidence.problem.votes.n_annotators, sizes[index], rng)
        solved = _solve_block(evidence, clustered, times)
        if progress is not None:
            progress(sizes[index])
        return solved

    # Resamples are what runs side by side; BLAS's own threads would only wait for each other.
    with (
        one_blas_thread(),
        Threads(threads) if threads > 1 else Serial() as executor,
    ):
        blocks = executor.map(one_block, range(len(sizes)))
    return np.concatenate(blocks)


def check_resampling(n_annotators: int, n_resamples: int) -> None:
    """Are there enough annotators to draw among, and enough draws?"""
    if n_annotators < FEWEST_ANNOTATORS:
        raise SettingError(
            f"a bootstrap over {counted(n_annotators, 'annotator')}",
            expected=f"at least {FEWEST_ANNOTATORS} annotators to draw among",
            remedy='pass interval="sandwich", or None',
        )
    if n_resamples < 20:
        raise SettingError(f"n_resamples is {n_resamples}", expected="at least 20")


def _block_sizes(n_resamples: int) -> list[int]:
    whole, rest = divmod(n_resamples, RESAMPLES_A_PASS)
    return [RESAMPLES_A_PASS] * whole + ([rest] if rest else [])


def _draw_annotators(
    present: Ints, n_annotators: int, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """How often each annotator is drawn in each resample."""
    share = np.full(len(present), 1.0 / len(present))
    times = np.zeros((n_annotators, n_resamples))
    times[present] = rng.multinomial(len(present), share, size=n_resamples).T
    return times


def _solve_block(evidence: Evidence, clustered: Clustered, times: Floats) -> Floats:
    follows = times * ~evidence.active[:, None]
    total, pull = pooled_target(evidence, follows)
    # Less what they add up to once each: at the consensus itself nothing pulls.
    own = clustered.gradient.T @ (times * evidence.active[:, None])
    own -= np.asarray(clustered.gradient.sum(axis=0))[:, None]
    result = np.empty((times.shape[1], evidence.n_coefficients))
    for r in range(times.shape[1]):
        weight = np.ascontiguousarray(total[:, r])
        choice = np.divide(pull[:, r], weight, out=np.zeros_like(weight), where=weight > 0)
        result[r] = _solve(evidence, clustered, weight, choice, own[:, r])
    return result


def _solve(
    evidence: Evidence, clustered: Clustered, weight: Floats, choice: Floats, own: Floats
) -> Floats:
    """Chord method: one factorisation at the consensus, a new one where it stops helping."""
    start = clustered.consensus.coefficient
    limit = _peel_one_sided(evidence, clustered, weight, choice)
    fixed = limit != 0.0
    moved = np.zeros_like(start)
    solve, before = None, np.inf
    for _ in range(_MOST_ITERATIONS):
        at = start + moved
        if solve is None:
            hessian = common_hessian(evidence, at, weight, choice) + clustered.held
            solve = _solver(evidence, hessian)
        gradient = common_gradient(evidence, at, weight, choice) + own + clustered.held @ moved
        gradient[fixed] = 0.0
        step = solve(gradient)
        step[fixed] = 0.0
        size = float(np.abs(step).max(initial=0.0))
        moved -= step * min(1.0, _LONGEST_STEP / max(size, 1e-300))
        if size < _SMALL_STEP or np.abs(moved).max() > _RUN_AWAY:
            break
        if size > 0.6 * before:
            solve = None
        before = size
    ran_away = np.abs(moved) > 0.5 * _RUN_AWAY
    result = np.where(ran_away, np.copysign(np.inf, moved), start + moved)
    result[fixed] = np.inf * limit[fixed]
    return result


def _peel_one_sided(
    evidence: Evidence, clustered: Clustered, weight: Floats, choice: Floats
) -> Floats:
    """1 (-1) for items that never lost (won) in a resample, NaN for those nobody drawn saw.

    Not where the active annotators tell as much of an item as a vote would.

    The weights of their comparisons are set to 0 in place, so that the others' scores are
    solved without them; that may leave others one-sided, until nobody is.
    """
    problem, slots = evidence.problem, evidence.slots
    limit = np.zeros(evidence.n_coefficients)
    if problem.features is not None or not problem.loss.binary:
        return limit
    n_items = problem.votes.n_items
    told = np.diag(clustered.held)[:n_items] > problem.loss.max_curvature
    open_items = evidence.bounded & ~told
    while True:
        share = weight * (1.0 + choice) / 2.0
        won = np.bincount(slots.left, share, n_items)
        won += np.bincount(slots.right, weight - share, n_items)
        shown = np.bincount(slots.left, weight, n_items)
        shown += np.bincount(slots.right, weight, n_items)
        lost = shown - won
        side = np.where(won <= 1e-12 * shown, -1.0, np.where(lost <= 1e-12 * shown, 1.0, 0.0))
        side[shown == 0.0] = np.nan
        found = open_items & (side != 0.0)
        if not found.any():
            return limit
        limit[:n_items][found] = side[found]
        open_items &= ~found
        weight[found[slots.left] | found[slots.right]] = 0.0


def _solver(evidence: Evidence, hessian: Floats) -> Callable[[Floats], Floats]:
    if evidence.problem.features is not None:
        inverse = invert(evidence, hessian)
        return lambda gradient: inverse @ gradient
    free, level = evidence.free, evidence.level
    inner = hessian[np.ix_(free, free)] if not free.all() else hessian
    scale = float(np.diag(inner).mean())
    inner = inner + scale * level
    inner.flat[:: len(inner) + 1] += 1e-9 * scale  # an item nobody drawn has seen stays put
    factor = linalg.cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)

    def solve(gradient: Floats) -> Floats:
        step = np.zeros(len(gradient))
        step[free] = linalg.cho_solve(factor, gradient[free], check_finite=False)
        return step

    return solve
