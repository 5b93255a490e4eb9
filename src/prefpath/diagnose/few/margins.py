"""The kernels of `without_own` and `null_model` in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from prefpath.diagnose.consensus import RIDGE
from prefpath.diagnose.few.leans import slopes_and_information
from prefpath.diagnose.few.rows import CellRows, cells_of, on_items
from prefpath.diagnose.lean_kernels import Counts
from prefpath.diagnose.null_model import NullModel
from prefpath.diagnose.without_own_kernels import NOTHING
from prefpath.model.design import Design, Floats, Ints


def leave_out_of_few(
    who: Ints,
    design: Design,
    null: NullModel,
    scores: Floats,
    weight: Floats,
    prior: float,
    out: tuple[Floats, Floats],
) -> None:
    """`leave_out_shard` in NumPy."""
    difference, variance = out
    cells, seen = cells_of(who, design)
    item = design.seen_item[seen.seen]
    own = scores[item]
    if prior != 0.0:
        score, information = _own_parts(cells, null, len(item))
        mine = weight[who][seen.owner]
        known = null.score_error[item] ** -2.0
        others = np.fmax(known - mine * information, 0.0)
        own = (others * own - mine * score) / (others + prior)
        own[others - RIDGE <= NOTHING * known] = 0.0
        variance[seen.seen] = 1.0 / (others + prior)
    difference[cells.cell] = own[cells.left] - own[cells.right]


def _own_parts(cells: CellRows, null: NullModel, n_places: int) -> tuple[Floats, Floats]:
    """Everybody's part of the score and of the information on each common score."""
    at = cells.cell
    p, slope, trials = null.p[at], null.slope[at], null.trials[at]
    factor = slope / np.fmax(p * (1.0 - p), 1e-12)
    score = on_items(cells, factor * (null.wins[at] - trials * p), n_places)
    return score, on_items(cells, factor * slope * trials, n_places, sign=1.0)


def score_of_few(
    slope: float,
    position: float,
    design: Design,
    counts: Counts,
    probit: bool,
    followers: NDArray[np.bool_],
) -> tuple[float, float]:
    """`score_of_pooled_slope` in NumPy."""
    d, wins = counts.offset, counts.wins
    margin = slope * d + design.position * position
    gradient, curvature = slopes_and_information(margin, wins, counts.trials - wins, probit)
    follows = np.repeat(followers, np.diff(design.cells))
    return float(np.sum((d * gradient)[follows])), float(np.sum((d * d * curvature)[follows]))


def log_chance_of_few(who: Ints, design: Design, null: NullModel, out: Floats) -> None:
    """`log_chance_shard` in NumPy."""
    cells, _ = cells_of(who, design)
    n, won, p = null.trials[cells.cell], null.wins[cells.cell], null.p[cells.cell]
    ways = gammaln(n + 1.0) - gammaln(won + 1.0) - gammaln(n - won + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_wins = np.where(won > 0.0, won * np.log(p), 0.0)
        of_losses = np.where(won < n, (n - won) * np.log(1.0 - p), 0.0)
    out[who] = cells.total(ways + of_wins + of_losses)
