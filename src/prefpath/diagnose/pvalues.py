"""P-values of single annotators: drawn where they are large, read off a tail where small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.few.leans import lean_test_of_few
from prefpath.diagnose.few.margins import log_chance_of_few
from prefpath.diagnose.few.taste import taste_of_few
from prefpath.diagnose.lean_test import SideModel, lean_shard
from prefpath.diagnose.null_model import NullModel, log_chance_shard
from prefpath.diagnose.taste import (
    AS_LARGE,
    DRAWN,
    EXCESS,
    N_REPORTED,
    OBSERVED,
    TENTH,
    Sequential,
    taste_shard,
)
from prefpath.model.design import Floats, Ints
from prefpath.solver.executors import make_executor, split_annotators
from prefpath.votes.encode import BoolArray

# Draws stop once this many are as large as the observed value: a p-value within a third or so.
_ENOUGH = 10
_HARDLY = 10  # below this many, the tail says more than the draws
_QUICK_DRAWS, _QUICK_ENOUGH = 60, 3


@dataclass(frozen=True)
class Draws:
    """How many draws, from which seed, on how many threads."""

    n_draws: int
    seed: int
    n_threads: int | None = None
    enough: int = _ENOUGH

    def quick(self) -> Draws:
        """Few draws: enough to find who to set aside, not to name anybody."""
        return replace(self, n_draws=min(self.n_draws, _QUICK_DRAWS), enough=_QUICK_ENOUGH)


def taste_p_values(
    ballots: Ballots,
    margin: Floats,
    score_error: Floats,
    outside: BoolArray,
    tested: BoolArray,
    draws: Draws,
) -> Floats:
    """P-value of each annotator's deviation score under choices drawn with these margins.

    Where fewer than 10 draws were as large, the tail falls exponentially beyond the largest
    tenth of the draws, and never below the probability of exactly these votes.
    """
    report: Floats = np.zeros((ballots.n_annotators, N_REPORTED))
    p = ballots.probability(margin)
    slope = ballots.slope_at(margin, p, ballots.for_a_moment)
    model = NullModel(ballots.trials, ballots.wins, p, slope, score_error)
    how = Sequential(np.uint64(draws.seed), draws.n_draws, draws.enough)
    order = ballots.draw_order

    shard = ballots.in_numpy_if_few(taste_shard, taste_of_few)

    def one_shard(who: Ints) -> None:
        shard(who, ballots.design, model, outside, order, how, report)

    over_shards(one_shard, ballots, tested, draws.n_threads)
    rare = tested & ((report[:, DRAWN] >= draws.n_draws) | (report[:, AS_LARGE] == 0))
    tail = np.fmax(_exponential_tail(report), _probability_of_votes(ballots, model, rare))
    return _drawn_or_tail(report, tail, tested, draws)


def lean_p_values(
    ballots: Ballots,
    margin: Floats,
    tested: BoolArray,
    n_threads: int | None = None,
    *,
    shared: float = 0.0,
    p: Floats | None = None,
) -> Floats:
    """P-value of each annotator's lean under sides swapped at random; nothing is drawn.

    `shared` is the lean of all, part of `margin` wherever sides are known; `p` are the margins'
    probabilities, if these are known.
    """
    result: Floats = np.full(ballots.n_annotators, np.nan)
    p = ballots.probability(margin) if p is None else p
    swapped = p if shared == 0.0 else ballots.probability(margin - 2.0 * shared)
    model = SideModel(ballots.trials, ballots.wins, p, swapped)
    shard = ballots.in_numpy_if_few(lean_shard, lean_test_of_few)
    over_shards(lambda who: shard(who, ballots.design, model, result), ballots, tested, n_threads)
    return result


def over_shards(
    one_shard: Callable[[Ints], None], ballots: Ballots, tested: BoolArray, n_threads: int | None
) -> None:
    """Run a kernel on the annotators to be tested, in shards."""
    shards = [who[tested[who]] for who in split_annotators(ballots.design.cells)]
    with make_executor(n_threads, len(shards)) as executor:
        executor.map(one_shard, shards)


def _drawn_or_tail(report: Floats, tail: Floats, tested: BoolArray, draws: Draws) -> Floats:
    """The share of draws as large as the observed value; the tail where it was hardly drawn."""
    drawn, as_large = np.fmax(report[:, DRAWN], 1.0), report[:, AS_LARGE]
    stopped = drawn < draws.n_draws  # at the last of them: their share is the sequential p-value
    share = np.where(stopped & (as_large > 0), as_large / drawn, (1.0 + as_large) / (1.0 + drawn))
    soon = stopped & (as_large > 1) & (as_large < draws.enough)  # no small p-value: no bias either
    share = np.where(soon, (as_large - 1.0) / np.fmax(drawn - 1.0, 1.0), share)
    often = 2 * as_large >= draws.enough
    p = np.where(often & (stopped | (as_large >= _HARDLY)), share, tail)
    return np.where(tested, np.fmin(p, 1.0), np.nan)


def _exponential_tail(report: Floats) -> Floats:
    """Upper tail beyond the largest tenth of the draws.

    It falls exponentially, by the mean excess of that tenth. A squared norm's tail falls no
    slower than that (its mean excess shrinks further out), so p-values err upwards.
    """
    excess = report[:, EXCESS]
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = 0.1 * np.exp(-(report[:, OBSERVED] - report[:, TENTH]) / excess)
    return np.where(excess > 0, np.fmin(tail, 1.0), 1.0)


def _probability_of_votes(ballots: Ballots, model: NullModel, wanted: BoolArray) -> Floats:
    """Probability of exactly an annotator's votes: no event that contains them is rarer.

    Where not `wanted`, 1.
    """
    log_chance: Floats = np.zeros(ballots.n_annotators)
    shard = ballots.in_numpy_if_few(log_chance_shard, log_chance_of_few)
    shard(np.flatnonzero(wanted), ballots.design, model, log_chance)
    result: Floats = np.exp(log_chance)
    return result
