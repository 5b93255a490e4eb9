"""The equation of a small problem in NumPy: nothing is compiled, and nothing is loaded either.

What kernels do annotator by annotator is here one pass over flat arrays. Every score that somebody
holds has a place in one vector:

    [common scores | common position effect | the 1st's items, bias | the 2nd's items, bias | ...]

An active annotator's entry is the common one (`item` says which; a bias adds to the common
position effect) plus the value of their own parameter; what pulls at it pulls at the common one,
too. With attention, common scores are seen times `1 + sigma`, and after each bias comes an entry
for it that no vote reads. The votes of who waits are at the common places. Size alone decides who
comes here (`is_small`), so that a result depends on neither threads nor caches; kernels agree with
it to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.model.design import Floats, Ints
from prefpath.model.losses import Loss
from prefpath.model.penalties import GROUP
from prefpath.model.pool_index import PoolIndex
from prefpath.model.problem import Problem
from prefpath.solver.arguments import Inputs
from prefpath.solver.pool import Pool
from prefpath.solver.rkc import Chebyshev
from prefpath.votes.encode import BoolArray

# Up to so many cells a fit in a new process is as fast as with kernels, which take seconds to load.
# With attention kernels are ahead earlier: their exponential steps need a third of the evaluations.
MOST_CELLS, _MOST_WITH_ATTENTION = 4_000, 1_000
_NOTHING = 1e-300


def is_small(problem: Problem, n_cells: int | None = None) -> bool:
    """Whether NumPy is used instead of compiled kernels.

    `n_cells` is how many cells all shards have, where the problem is of one of them.
    """
    n_cells = len(problem.design.left_at) if n_cells is None else n_cells
    most = min(MOST_CELLS, _MOST_WITH_ATTENTION) if problem.attention else MOST_CELLS
    return problem.features is None and n_cells <= most


class Cells(NamedTuple):
    """Votes by the places of their scores: a margin is `left - right + side * bias`."""

    left: Ints
    right: Ints
    bias: Ints
    side: Floats
    choice: Floats
    weight: Floats

    def margins(self, scores: Floats) -> Floats:
        """Margins where scores are so."""
        return scores[self.left] - scores[self.right] + self.side * scores[self.bias]

    def pulls(self, loss: Loss, margin: Floats, n_places: int) -> Floats:
        """Gradient in every score where margins are so."""
        slope = self.weight * loss.gradient(margin, self.choice)
        places = np.concatenate((self.left, self.right, self.bias))
        slopes = np.concatenate((slope, -slope, self.side * slope))
        return np.bincount(places, weights=slopes, minlength=n_places).astype(float)


class Everybody(NamedTuple):
    """The cells of all annotators: whose they are, their items, and their places in a unit."""

    owner: Ints
    first: Ints
    second: Ints
    left_at: Ints
    right_at: Ints
    side: Floats
    choice: Floats
    weight: Floats

    def of(self, rows: NDArray[Any]) -> Everybody:
        """Some of the cells."""
        parts: list[Any] = [part[rows] for part in self]
        return Everybody(*parts)


def everybody(inputs: Inputs) -> Everybody:
    """The cells of a problem that have weight: what a fold holds out is not there."""
    design, target, _ = inputs
    owner = np.repeat(np.arange(len(design.cells) - 1), np.diff(design.cells))
    voted = np.flatnonzero(target.weight > 0.0)
    owner, left, right = owner[voted], design.left_at[voted], design.right_at[voted]
    return Everybody(
        owner,
        design.seen_item[design.seen[owner] + left].astype(np.int64),
        design.seen_item[design.seen[owner] + right].astype(np.int64),
        left.astype(np.int64),
        right.astype(np.int64),
        design.position[voted].astype(np.float64),
        target.choice[voted],
        target.weight[voted],
    )


@dataclass(frozen=True, eq=False)
class Held:
    """The scores that everybody holds, by their places, with some annotators active.

    Those of the k-th begin at `at[k]`, the last are their scalars, the bias first. `item` is the
    common place each of their entries adds to; entries of one parameter (a block, or a scalar)
    begin at `starts` and leave zero at `threshold`. An entry's annotator stands for `stands_for`.
    """

    n_items: int
    n_common: int
    n_scalars: int
    kappa: float
    attention_unit: float
    at: Ints
    item: Ints
    stands_for: Floats
    starts: Ints
    widths: Ints
    threshold: Floats

    @property
    def bias_at(self) -> Ints:
        """The place of each active annotator's bias."""
        return self.at[1:] - self.n_scalars

    def scores(self, y: Floats) -> Floats:
        """All scores where the solver's state is y."""
        return self.scores_and_attention(y)[0]

    def scores_and_attention(self, y: Floats) -> tuple[Floats, Floats]:
        """All scores, and with what factor each entry of the active sees the common one."""
        common = np.zeros(self.n_items + 1)
        common[: self.n_common] = y[: self.n_common]
        z = y[self.n_common :]
        if not len(z):
            return common, z
        size = np.sqrt(np.add.reduceat(z * z, self.starts))
        share = self.kappa * np.maximum(1.0 - self.threshold / np.maximum(size, _NOTHING), 0.0)
        value = np.repeat(share, self.widths) * z
        if self.n_scalars == 1:
            return np.concatenate((common, common[self.item] + value)), np.ones_like(z)
        sigma = self.attention_unit * value[self.attention_at]
        factor = 1.0 + np.where(self._is_score, np.repeat(sigma, self._entries), 0.0)
        return np.concatenate((common, factor * common[self.item] + value)), factor

    def attention_pulls(self, pull: Floats, common: Floats) -> Floats:
        """Gradient in the attention of each active annotator, from that in their entries."""
        at_scores = np.where(self._is_score, pull * common[self.item], 0.0)
        begin = self.at[:-1] - self.at[0]
        return self.attention_unit * np.add.reduceat(at_scores, begin)

    @cached_property
    def attention_at(self) -> Ints:
        """The entry of each active annotator's attention, counted from the first of them."""
        return self.at[1:] - self.at[0] - 1

    @cached_property
    def _is_score(self) -> BoolArray:
        return self.item < self.n_items

    @cached_property
    def _entries(self) -> Ints:
        return np.diff(self.at)


def held_scores(problem: Problem, inputs: Inputs, who: Ints) -> Held:
    """Places with annotators `who` active; y holds them in this order."""
    design, n_items = inputs.design, problem.votes.n_items
    widths = np.diff(design.seen)[who]
    scalars = np.full(problem.n_scalars, n_items)
    item = [np.append(design.seen_item[design.seen[u] : design.seen[u + 1]], scalars) for u in who]
    sizes = np.column_stack((widths, np.ones((len(who), len(scalars)), dtype=np.int64))).ravel()
    threshold = inputs.terms.threshold[who].ravel()
    if problem.penalty.code != GROUP:  # every entry is a parameter by itself
        sizes, threshold = np.ones(sizes.sum(), dtype=np.int64), np.repeat(threshold, sizes)
    return Held(
        n_items=n_items,
        n_common=problem.n_common + int(problem.common_position),
        n_scalars=problem.n_scalars,
        kappa=problem.kappa,
        attention_unit=inputs.terms.attention_unit,
        at=n_items + 1 + np.concatenate(([0], np.cumsum(widths + problem.n_scalars))),
        item=np.concatenate([np.zeros(0, dtype=np.int64), *item]).astype(np.int64),
        stands_for=np.repeat(inputs.terms.stands_for[who], widths + problem.n_scalars),
        starts=np.cumsum(sizes) - sizes,
        widths=sizes,
        threshold=threshold,
    )


@dataclass(frozen=True, eq=False)
class SmallEquation:
    """y' with a given set of active annotators."""

    held: Held
    cells: Cells
    loss: Loss
    total: float

    def slope(self, y: Floats) -> Floats:
        """y' at y."""
        held, n = self.held, self.held.n_items + 1
        scores, attention = held.scores_and_attention(y)
        pull = self.cells.pulls(self.loss, self.cells.margins(scores), len(scores))
        own = pull[n:]
        pull[:n] += np.bincount(held.item, weights=held.stands_for * attention * own, minlength=n)
        if held.n_scalars > 1 and len(own):
            own[held.attention_at] = held.attention_pulls(own, scores)
        common = -held.kappa / self.total * pull[: held.n_common]
        return np.concatenate((common, own / -self.total))

    def stages(
        self, y0: Floats, f0: Floats, step: float, coefficients: Chebyshev
    ) -> tuple[Floats, Floats]:
        """All stages of one step: y after it, and y' there."""
        first, mu, nu, mu_tilde, gamma_tilde = coefficients
        older, newer = y0, y0 + first * step * f0
        for j in range(2, len(mu)):
            fixed = (1.0 - mu[j] - nu[j]) * y0 + step * gamma_tilde[j] * f0
            moved = mu[j] * newer + step * mu_tilde[j] * self.slope(newer)
            older, newer = newer, fixed + moved + nu[j] * older
        return newer, self.slope(newer)


def small_equation(
    problem: Problem, inputs: Inputs, pairs: PoolIndex, pool: Pool, who: Ints
) -> SmallEquation:
    """The equation with annotators `who` active: the pool at the common places, and their votes."""
    held, voted = held_scores(problem, inputs, who), pool.weight > 0.0
    pooled = Cells(
        left=pairs.first[voted].astype(np.int64),
        right=pairs.second[voted].astype(np.int64),
        bias=np.full(int(voted.sum()), held.n_items),
        side=pairs.side[voted].astype(np.float64),
        choice=pool.choice[voted],
        weight=pool.weight[voted],
    )
    parts = zip(pooled, _own_cells(inputs, who, held), strict=True)
    cells = Cells(*(np.concatenate(part) for part in parts))
    return SmallEquation(held, cells, problem.loss, problem.total_weight)


def _own_cells(inputs: Inputs, who: Ints, held: Held) -> Cells:
    all_cells = everybody(inputs)
    place = np.full(len(inputs.design.cells) - 1, -1)
    place[who] = np.arange(len(who))
    own = all_cells.of(place[all_cells.owner] >= 0)
    k = place[own.owner]
    left, right = held.at[k] + own.left_at, held.at[k] + own.right_at
    return Cells(left, right, held.bias_at[k], own.side, own.choice, own.weight)


def take_out(who: Ints, inputs: Inputs, pairs: PoolIndex, pool: Pool) -> None:
    """Take the votes of some annotators out of the pool."""
    design, target, terms = inputs
    cell = np.concatenate([np.arange(design.cells[u], design.cells[u + 1]) for u in who])
    ahead = np.where(design.left_at[cell] < design.right_at[cell], 1.0, -1.0)
    number = np.repeat(terms.stands_for[who], np.diff(design.cells)[who])
    weight, n_pairs = number * target.weight[cell], len(pool.weight)
    pull = ahead * weight * target.choice[cell]
    total = pool.weight - np.bincount(pairs.pair_of[cell], weights=weight, minlength=n_pairs)
    pulled = pool.weight * pool.choice
    pulled -= np.bincount(pairs.pair_of[cell], weights=pull, minlength=n_pairs)
    left = total > 0.0
    pool.choice[:] = np.divide(pulled, total, out=np.zeros(n_pairs), where=left)
    pool.weight[:] = np.where(left, total, 0.0)


def attention_curvatures_of_few(
    problem: Problem, inputs: Inputs, theta: Floats, position: float, who: Ints
) -> Floats:
    """`kernels.attention_curvatures`: of everybody, then of those asked for."""
    cells, terms = everybody(inputs), inputs.terms
    apart = theta[cells.first] - theta[cells.second]
    curvature = problem.loss.curvature(apart + cells.side * position, cells.choice)
    each = cells.weight * curvature * apart * apart
    total = np.bincount(cells.owner, weights=each, minlength=len(inputs.design.cells) - 1)
    return np.asarray(terms.attention_unit**2 / terms.total * total[who])
