"""`taste.taste_shard` of all annotators at once, many draws at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from prefpath.diagnose.canonical import DrawOrder
from prefpath.diagnose.few.draws import (
    as_drawn,
    draw_normals,
    how_many,
    item_sums,
    one_by_one,
    rank_within,
    summing,
    turn_of_items,
)
from prefpath.diagnose.few.rows import CellRows, SeenRows, cells_of, on_items
from prefpath.diagnose.few.streams import StreamRows, Words, as_uniforms, begin_streams, draw_words
from prefpath.diagnose.null_model import NullModel
from prefpath.diagnose.taste import (
    AS_LARGE,
    CLEAR_AFTER,
    CLEAR_BY,
    DRAWN,
    EXCESS,
    NEARLY,
    NOTHING,
    OBSERVED,
    SOON,
    TENTH,
    Sequential,
)
from prefpath.model.design import Design, Floats, Ints
from prefpath.votes.encode import BoolArray

_LOW_BITS, _S32 = np.uint64(0xFFFFFFFF), np.uint64(32)


@dataclass(frozen=True, eq=False)
class _Deviations:
    """Scores in the deviations of some annotators, and what a lean explains of them."""

    cells: CellRows
    seen: SeenRows
    lean_score: Floats
    information: Floats
    features: Floats

    def sizes(self, score: Floats, position_score: Floats) -> Floats:
        """Squared norms beside a lean; scores are of items seen (rows) in draws (columns)."""
        known = self.information[:, None] > 0.0
        lean = np.where(
            known, position_score / np.where(known, self.information[:, None], 1.0), 0.0
        )
        rest = score - lean[self.seen.owner] * self.lean_score[:, None]
        return squared_norms(rest, self.seen, self.features)


def squared_norms(rest: Floats, seen: SeenRows, features: Floats) -> Floats:
    """Of each person's scores of items, or of what they are in coefficients of features."""
    own = summing(seen.owner, np.ones(len(seen.owner)), seen.n)
    if features.shape[0] == 0:
        return np.asarray(own @ (rest * rest))
    size = np.zeros((seen.n, rest.shape[1]))
    for d in range(features.shape[1]):
        size += (own @ (features[:, d, None] * rest)) ** 2
    return size


def _deviations(who: Ints, design: Design, null: NullModel) -> _Deviations:
    cells, seen = cells_of(who, design)
    at = cells.cell
    weight = design.position[at] * null.trials[at] * null.slope[at]
    features = design.features
    if features.shape[0]:
        features = features[design.seen_item[seen.seen]]
    lean_score = on_items(cells, weight, len(seen.seen))
    return _Deviations(cells, seen, lean_score, cells.total(weight), features)


def _score_of(of: _Deviations, design: Design, wins: Floats, trials: Floats) -> Floats:
    """Comparisons won of each item seen, then left wins of each person where sides matter."""
    at, n_places = of.cells.cell, len(of.seen.seen)
    won = np.bincount(of.cells.left, wins[at], n_places)
    won += np.bincount(of.cells.right, (trials - wins)[at], n_places)
    return np.concatenate((won, of.cells.total(design.position[at] * wins[at])))


@dataclass(frozen=True, eq=False)
class _Singles:
    """Cells of one vote: two are decided by one word, its low bits and its high ones."""

    word: StreamRows
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    high_of: Ints

    def won(self, start: Words, taken: Ints, first: int, n_draws: int) -> Floats:
        """Whether the item that comes first won: those of low bits, then those of high ones."""
        word = draw_words(self.word, start, taken, first, n_draws)
        low = (word & _LOW_BITS) < self.low[:, None]
        high = (word[self.high_of] >> _S32) < self.high[:, None]
        return np.concatenate((low, high)).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Plan:
    """All that draws of some annotators need.

    `adds` takes votes won (single ones of low bits, of high bits, then the others) to scores of
    items and left wins of persons, `base` is what these are if nothing is won. `pushes` takes
    errors of scores, those of `error_at` being drawn, to the same.
    """

    of: _Deviations
    start: Words
    taken: Ints
    singles: _Singles
    others: StreamRows
    p: Floats
    adds: sparse.csr_array
    base: Floats
    errors: StreamRows
    error_size: Floats
    pushes: sparse.csr_array

    @property
    def n_rows(self) -> int:
        return len(self.singles.low) * 2 + len(self.p) + 2 * len(self.error_size)

    def draw(self, first: int, n_draws: int) -> Floats:
        """Sizes of the draws from `first` on, in columns."""
        where = (self.start, self.taken, first, n_draws)
        others = as_uniforms(draw_words(self.others, *where)) < self.p[:, None]
        won = np.concatenate((self.singles.won(*where), others.astype(np.float64)))
        total = self.base[:, None] + self.adds @ won
        if len(self.error_size):
            shift = self.error_size[:, None] * draw_normals(self.errors, *where)
            total += self.pushes @ shift
        n_places = len(self.of.seen.seen)
        return self.of.sizes(total[:n_places], total[n_places:])


def _plan(
    who: Ints, design: Design, null: NullModel, order: DrawOrder, moved: BoolArray, seed: np.uint64
) -> _Plan:
    of = _deviations(who, design, null)
    cells = as_drawn(of.cells, order, later=null.trials != 1.0)
    at = cells.cell
    trials, turned = null.trials[at], order.turned[at] != 0
    p = np.where(turned, 1.0 - null.p[at], null.p[at])
    side = np.asarray(np.where(turned, -1.0, 1.0) * design.position[at], dtype=np.float64)
    widths = np.bincount(of.seen.owner, minlength=of.seen.n)
    begin = np.where(moved, 2 * widths, 0)
    single = trials == 1.0
    singles, low, high = _singles(cells, single, p, begin)
    n_single = np.bincount(cells.owner[single], minlength=cells.n)
    begin_others = begin + (n_single + 1) // 2
    rest = np.flatnonzero(~single)
    n_votes = trials[rest].astype(np.int64)
    others = one_by_one(cells.owner[rest], n_votes, begin_others, cells.n)
    votes = np.concatenate((low, high, np.repeat(rest, n_votes)))
    shift = _errors(of, design, null, cells, moved)
    return _Plan(
        of=of,
        start=begin_streams(seed, order.word[who]),
        taken=begin_others + np.bincount(others.owner, minlength=cells.n),
        singles=singles,
        others=others,
        p=np.repeat(p[rest], n_votes),
        adds=_adds(cells, side, votes, len(of.seen.seen)),
        base=_base(of, design, null, cells, order),
        errors=shift[0],
        error_size=shift[1],
        pushes=shift[2],
    )


def _singles(
    cells: CellRows, single: BoolArray, p: Floats, begin: Ints
) -> tuple[_Singles, Ints, Ints]:
    """Cells of one vote by the words that decide them, and which those of either half are."""
    place = np.flatnonzero(single)
    rank = rank_within(cells.owner[place], cells.n)
    low, high = place[rank % 2 == 0], place[rank % 2 == 1]
    word = StreamRows(cells.n, cells.owner[low], begin[cells.owner[low]] + rank[rank % 2 == 0] // 2)
    # The word of a high half is that of the cell before it.
    high_of = (np.cumsum(rank % 2 == 0) - 1)[rank % 2 == 1]
    below = (p * 4294967296.0).astype(np.uint64)
    return _Singles(word, below[low], below[high], high_of), low, high


def _adds(cells: CellRows, side: Floats, votes: Ints, n_places: int) -> sparse.csr_array:
    first, second, owner = cells.left[votes], cells.right[votes], cells.owner[votes]
    to_items = item_sums(first, second, n_places)
    return sparse.csr_array(sparse.vstack((to_items, summing(owner, side[votes], cells.n))))


def _base(
    of: _Deviations, design: Design, null: NullModel, cells: CellRows, order: DrawOrder
) -> Floats:
    """Scores of items and left wins, beyond those expected, if no item that comes first wins."""
    n_places, at = len(of.seen.seen), cells.cell
    lost = np.bincount(cells.right, null.trials[at], n_places)
    turned = order.turned[at] * design.position[at] * null.trials[at]
    expected = _score_of(of, design, null.trials * null.p, null.trials)
    return np.asarray(np.concatenate((lost, cells.total(turned))) - expected, dtype=np.float64)


def _errors(
    of: _Deviations, design: Design, null: NullModel, cells: CellRows, moved: BoolArray
) -> tuple[StreamRows, Floats, sparse.csr_array]:
    """Errors of the common scores that are drawn, and what they do to scores and left wins."""
    drawn = np.flatnonzero(moved[of.seen.owner])
    turn = turn_of_items(cells.left, cells.right, of.seen)
    rows = StreamRows(of.seen.n, of.seen.owner[drawn], 2 * turn[drawn])
    size = null.score_error[design.seen_item[of.seen.seen[drawn]]]
    n_places, at = len(of.seen.seen), of.cells.cell
    weight = null.trials[at] * null.slope[at]
    to_items = item_sums(of.cells.left, of.cells.right, n_places)
    to_lean = summing(of.cells.owner, design.position[at].astype(np.float64), of.cells.n)
    both = sparse.csr_array(sparse.vstack((to_items, to_lean)))
    pushes = both @ sparse.diags_array(-weight) @ to_items.T
    return rows, size, sparse.csr_array(sparse.csr_array(pushes)[:, drawn])


def _errors_matter(of: _Deviations, design: Design, null: NullModel) -> BoolArray:
    """Whether errors of the common scores add more than a hundredth to a deviation score."""
    at, seen = of.cells.cell, of.seen
    weight = null.trials[at] * null.slope[at]
    information = on_items(of.cells, weight, len(seen.seen), sign=1.0)
    added = (information * null.score_error[design.seen_item[seen.seen]]) ** 2
    matter: BoolArray = seen.total(added) > 0.01 * seen.total(information)
    return matter


def taste_of_few(
    who: Ints,
    design: Design,
    null: NullModel,
    outside: NDArray[np.bool_],
    order: DrawOrder,
    how: Sequential,
    report: Floats,
) -> None:
    """`taste_shard` in NumPy."""
    if not len(who):
        return
    of = _deviations(who, design, null)
    moved = outside[who] & _errors_matter(of, design, null)
    votes = _score_of(of, design, null.wins, null.trials)
    expected = _score_of(of, design, null.trials * null.p, null.trials)
    score, n_places = (votes - expected)[:, None], len(of.seen.seen)
    observed = of.sizes(score[:n_places], score[n_places:])[:, 0]
    state = _Sequence(how, observed)
    while len(state.going):
        going = state.going
        plan = _plan(who[going], design, null, order, moved[going], how.seed)
        while len(state.going) == len(going):
            n_draws = how_many(plan.n_rows, state.drawn, how.n_draws - state.drawn)
            state.add(plan.draw(state.drawn, n_draws))
    state.report(who, report)


class _Sequence:
    """Besag and Clifford's sequential test of many annotators, who have drawn equally often."""

    def __init__(self, how: Sequential, observed: Floats) -> None:
        n = len(observed)
        self.how, self.observed, self.drawn = how, observed, 0
        self.going = np.arange(n)
        self.draws = np.empty((n, how.n_draws))
        self.as_large = np.zeros(n, dtype=np.int64)
        self.ended = np.zeros(n, dtype=np.int64)

    def add(self, sizes: Floats) -> None:
        """More draws of who is going on, in columns; those for whom they are enough stop."""
        going, how = self.going, self.how
        self.draws[going, self.drawn : self.drawn + sizes.shape[1]] = sizes
        large = sizes >= self.observed[going, None] * NEARLY - NOTHING
        count = self.as_large[going, None] + np.cumsum(large, axis=1)
        number = self.drawn + 1 + np.arange(sizes.shape[1])
        soon = (2 * count >= how.enough) & (count >= SOON * number)
        stops = (count >= how.enough) | soon | (number == how.n_draws)
        stops |= (number == CLEAR_AFTER) & (count == 0) & self._is_clear(number)[:, None]
        stopped = stops.any(axis=1)
        last = np.where(stopped, stops.argmax(axis=1), len(number) - 1)
        self.as_large[going] = count[np.arange(len(going)), last]
        self.ended[going] = number[last]
        self.drawn += sizes.shape[1]
        self.going = going[~stopped]

    def _is_clear(self, number: Ints) -> BoolArray:
        """Nothing drawn came near the observed value: more draws would change nothing."""
        going = self.going
        if CLEAR_AFTER not in number:
            return np.zeros(len(going), dtype=bool)
        drawn = self.draws[going, :CLEAR_AFTER]
        away = self.observed[going] - drawn.mean(axis=1)
        clear: BoolArray = away > CLEAR_BY * drawn.std(axis=1)
        return clear

    def report(self, who: Ints, report: Floats) -> None:
        """Fill in the rows of the annotators, with where the largest tenth of draws begins."""
        report[who, OBSERVED], report[who, DRAWN] = self.observed, self.ended
        report[who, AS_LARGE] = self.as_large
        few = (2 * self.as_large < self.how.enough) | (self.ended == self.how.n_draws)
        for k in np.flatnonzero(few & (self.ended >= 10)):
            drawn, tenth = np.sort(self.draws[k, : self.ended[k]]), self.ended[k] // 10
            begin = drawn[-tenth - 1]
            report[who[k], TENTH], report[who[k], EXCESS] = begin, drawn[-tenth:].mean() - begin
