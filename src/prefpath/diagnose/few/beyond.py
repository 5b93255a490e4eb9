"""`beyond_kernels.beyond_shard` of all annotators at once, many draws at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.beyond_kernels import (
    COMPARISONS_DRAWN,
    ENOUGH,
    FEWEST_DRAWS,
    MOST_DRAWS,
    Decided,
    SlopeFit,
)
from prefpath.diagnose.canonical import DrawOrder
from prefpath.diagnose.few.attention import probability_and_slope
from prefpath.diagnose.few.draws import (
    as_drawn,
    draw_normals,
    how_many,
    item_sums,
    one_by_one,
    summing,
    turn_of_items,
)
from prefpath.diagnose.few.rows import CellRows, SeenRows, cells_of
from prefpath.diagnose.few.streams import StreamRows, as_uniforms, begin_streams, draw_words
from prefpath.diagnose.few.taste import squared_norms
from prefpath.diagnose.taste import NEARLY, NOTHING
from prefpath.model.design import Design, Floats, Ints


@dataclass(frozen=True, eq=False)
class _Asked:
    """Some annotators' cells and what slope and lean expect there: the numbers of each cell."""

    who: Ints
    cells: CellRows
    seen: SeenRows
    trials: Floats
    difference: Floats
    side: Floats
    lean: Floats
    leaning: Floats
    expected: Floats
    weight: Floats
    features: Floats

    def sizes(self, residual: Floats) -> Floats:
        """Squared norms of scores in deviations beside slope and lean; draws are columns."""
        lean, slope = self._steps(residual)
        owner, d, weight = self.cells.owner, self.difference[:, None], self.weight[:, None]
        rest = residual - weight * (lean[owner] * self.side[:, None] + slope[owner] * d)
        score = item_sums(self.cells.left, self.cells.right, len(self.seen.seen)) @ rest
        return squared_norms(score, self.seen, self.features)

    def _steps(self, residual: Floats) -> tuple[Floats, Floats]:
        """One Newton step of leans (of those who have one fitted) and slopes on the residuals."""
        cells, d, some = self.cells, self.difference, self.leaning
        aa = cells.total(d * d * self.weight)[:, None]
        bb = cells.total(some * self.weight)[:, None]
        ab = cells.total(some * d * self.weight)[:, None]
        a = summing(cells.owner, d, cells.n) @ residual
        b = summing(cells.owner, some, cells.n) @ residual
        leans, divisor = bb > 0.0, np.where(bb > 0.0, bb, 1.0)
        shared = np.where(leans, ab / divisor, 0.0)
        information = aa - shared * ab
        known = information > 1e-9 * aa
        slope = np.where(known, (a - shared * b) / np.where(known, information, 1.0), 0.0)
        return np.where(leans, (b - ab * slope) / divisor, 0.0), slope


def _asked(who: Ints, design: Design, votes: Decided, fit: SlopeFit) -> _Asked:
    cells, seen = cells_of(who, design)
    at, u = cells.cell, who[cells.owner]
    side, lean = design.position[at].astype(np.float64), fit.lean[u]
    margin = fit.slope[u] * fit.difference[at] + side * lean
    p, slope = probability_and_slope(margin, fit.probit)
    features = design.features
    if features.shape[0]:
        features = features[design.seen_item[seen.seen]]
    return _Asked(
        *(who, cells, seen, votes.trials[at], fit.difference[at], side, lean),
        leaning=side * fit.own_lean[u],
        expected=votes.trials[at] * p,
        weight=votes.trials[at] * slope,
        features=features,
    )


def beyond_of_few(
    who: Ints,
    design: Design,
    votes: Decided,
    fit: SlopeFit,
    drawing: tuple[DrawOrder, np.uint64, float],
    out: Floats,
) -> None:
    """`beyond_shard` in NumPy."""
    if not len(who):
        return
    asked = _asked(who, design, votes, fit)
    observed = asked.sizes((votes.wins[asked.cells.cell] - asked.expected)[:, None])[:, 0]
    affordable = COMPARISONS_DRAWN // np.fmax(np.diff(design.cells)[who], 1)
    most = np.clip(affordable, FEWEST_DRAWS, MOST_DRAWS)
    for own_ranking in (False, True):
        as_far, drawn = np.zeros(len(who), dtype=np.int64), np.zeros(len(who), dtype=np.int64)
        going, n = np.arange(len(who)), 0
        while len(going):
            some = _asked(who[going], design, votes, fit)
            drawer = _Drawer(some, fit, design, drawing, own_ranking)
            n_draws = how_many(drawer.n_rows, n, int(most[going].max()) - n)
            size, seen = some.sizes(drawer.residuals(n, n_draws)), observed[going, None]
            far = (
                size <= seen / NEARLY + NOTHING if own_ranking else size >= seen * NEARLY - NOTHING
            )
            count = as_far[going, None] + np.cumsum(far, axis=1)
            number = n + 1 + np.arange(n_draws)
            stops = (count >= ENOUGH) | (number == most[going, None])
            stopped = stops.any(axis=1)
            last = np.where(stopped, stops.argmax(axis=1), n_draws - 1)
            as_far[going], drawn[going] = count[np.arange(len(going)), last], number[last]
            going, n = going[~stopped], n + n_draws
        share = np.where(as_far >= ENOUGH, as_far / drawn, (1.0 + as_far) / (1.0 + drawn))
        out[who, int(own_ranking)] = share


class _Drawer:
    """Draws votes again: with a ranking of their own, or with errors of the common scores."""

    def __init__(
        self,
        of: _Asked,
        fit: SlopeFit,
        design: Design,
        drawing: tuple[DrawOrder, np.uint64, float],
        own_ranking: bool,
    ) -> None:
        order, seed, self.per_coefficient = drawing
        self.of, self.by_features = of, own_ranking and design.features.shape[1] > 0
        with np.errstate(over="ignore"):
            self.start = begin_streams(seed + np.uint64(own_ranking), order.word[of.who])
        drawn = as_drawn(of.cells, order)
        self._set_scores(fit, drawn, own_ranking)
        self._set_votes(order, drawn)
        u = of.who[of.cells.owner]
        self.along = (fit.correlation if own_ranking else fit.slope)[u]
        apart = fit.spread * np.sqrt(np.fmax(1.0 - self.along**2, 0.0))
        self.across = apart if own_ranking else fit.slope[u]
        self.probit = fit.probit

    def _set_scores(self, fit: SlopeFit, drawn: CellRows, own_ranking: bool) -> None:
        """Where in a draw the normals are that scores are made of."""
        seen, n = self.of.seen, self.of.seen.n
        if self.by_features:
            n_features = self.of.features.shape[1]
            people = np.repeat(np.arange(n), n_features)
            self.scores = StreamRows(n, people, 2 * np.tile(np.arange(n_features), n))
            self.n_scores = np.full(n, n_features)
            self.size = np.full(len(people), self.per_coefficient)
            return
        turn = turn_of_items(drawn.left, drawn.right, seen)
        self.scores = StreamRows(n, seen.owner, 2 * turn)
        self.n_scores = np.bincount(seen.owner, minlength=n)
        self.size = np.ones(len(turn)) if own_ranking else np.sqrt(fit.score_variance[seen.seen])

    def _set_votes(self, order: DrawOrder, drawn: CellRows) -> None:
        """Which word decides which vote, and whose wins it adds to."""
        cell = self.of.cells.cell
        place = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.int64)
        place[cell] = np.arange(len(cell))
        in_turn = place[drawn.cell]
        trials = self.of.trials[in_turn].astype(np.int64)
        self.votes = one_by_one(drawn.owner, trials, 2 * self.n_scores, drawn.n)
        self.vote_of = np.repeat(in_turn, trials)
        self.taken = 2 * self.n_scores + np.bincount(self.votes.owner, minlength=drawn.n)
        self.turned = (order.turned[cell] != 0)[:, None]
        self.counts = summing(self.vote_of, np.ones(len(self.vote_of)), len(cell))

    @property
    def n_rows(self) -> int:
        return 2 * len(self.size) + 3 * len(self.vote_of)

    def residuals(self, first: int, n_draws: int) -> Floats:
        """Votes of the draws from `first` on, less what slope and lean expect of them."""
        of, where = self.of, (self.start, self.taken, first, n_draws)
        own = self.size[:, None] * draw_normals(self.scores, *where)
        if self.by_features:
            coefficient = own.reshape(of.seen.n, -1, n_draws)
            own = np.einsum("jd,jdb->jb", of.features, coefficient[of.seen.owner])
        apart = own[of.cells.left] - own[of.cells.right]
        fixed = self.along * of.difference + of.side * of.lean
        margin = fixed[:, None] + self.across[:, None] * apart
        p, _ = probability_and_slope(margin, self.probit)
        chance = np.where(self.turned, 1.0 - p, p)
        won = as_uniforms(draw_words(self.votes, *where)) < chance[self.vote_of]
        wins, trials = self.counts @ won.astype(np.float64), of.trials[:, None]
        return np.where(self.turned, trials - wins, wins) - of.expected[:, None]
