"""How far each annotator leans to one side: one parameter each, unpenalised, with interval."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.few.leans import estimate_few
from prefpath.diagnose.lean_kernels import Counts, estimate_shard
from prefpath.model.design import Floats, Ints
from prefpath.solver.executors import make_executor, split_annotators


@dataclass(frozen=True, eq=False)
class Leans:
    """Lean of each annotator in the units of the margin; above 0 leans left."""

    estimate: Floats
    low: Floats
    high: Floats

    def map(self, function: Callable[[Floats], Floats]) -> Leans:
        """The same of all three parts."""
        return Leans(function(self.estimate), function(self.low), function(self.high))


def estimate_leans(
    ballots: Ballots, offset: Floats, *, interval: bool = True, n_threads: int | None = None
) -> Leans:
    """Maximum-likelihood lean of each annotator, the margins without it being known.

    Half a click to each side at equal quality is added. The interval is the 95 % likelihood-
    ratio interval of the same likelihood.

    Parameters
    ----------
    offset : array (n_cells,)
        Margin of each cell without the lean.
    interval : bool
        Without, `low` and `high` are zero.
    """
    out: Floats = np.zeros((ballots.n_annotators, 3))
    counts = Counts(ballots.trials, ballots.wins, offset)
    shards = split_annotators(ballots.design.cells)

    shard = ballots.in_numpy_if_few(estimate_shard, estimate_few)

    def one_shard(who: Ints) -> None:
        shard(who, ballots.design, counts, ballots.probit, interval, out)

    with make_executor(n_threads, len(shards)) as executor:
        executor.map(one_shard, shards)
    return Leans(out[:, 0], out[:, 1], out[:, 2])
