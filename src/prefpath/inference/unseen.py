"""Tastes too faint to have been found: how large they are.

Among those who seem to follow the crowd many differ a little. With unseen deviations of variance
tau^2 in each coefficient two votes of one annotator go together: with `s` the slope of a vote's
loss and `c` its curvature, for two different votes r and q of one annotator

    E[s_r s_q]  =  tau^2 c_r c_q x_r.x_q  -  c_r c_q x_r.P x_q

(the second term: the consensus was fitted to both). A vote's own square tells nothing of tau^2:
for a single binary vote it is `p (1 - p)` at its mean, whatever the tastes are. So

    tau^2  =  sum_u e_u / sum_u n_u,
    e_u    =  ||g_u||^2 - own squares  +  tr(A_u P A_u) - own products,
    n_u    =  ||A_u||^2 - own squares,

summed over annotators of like activity; the classes count by what their votes tell, because
light voters' tastes stay unseen for longest. What follows for the scores: `attenuation`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from prefpath.inference.curvatures import curvatures_of
from prefpath.inference.evidence import Evidence
from prefpath.model.design import Codes, Floats, Ints
from prefpath.votes.encode import BoolArray
from prefpath.votes.segments import rows_of
from prefpath.votes.trials import trials_of_rows

_MOST_SAMPLED = 2_000  # followers the variance is estimated from
_ALLOWED = 2.0  # standard errors
_TOO_SMALL_TO_MATTER = 0.07  # squared logits: flattens scores by 2 or 3 %
_LEAST_TOLD = 1e-12  # votes no two of which share an item tell nothing of it


class UnseenVariance(NamedTuple):
    """`tau^2` of the deviations nobody has found, and its standard error over annotators."""

    value: float
    error: float

    @property
    def may_matter(self) -> bool:
        """Whether the votes leave it open that it is large enough to matter."""
        return self.value + _ALLOWED * self.error > _TOO_SMALL_TO_MATTER


def unseen_variance(
    evidence: Evidence, coefficient: Floats, bread: Floats, gradient: sparse.csr_array
) -> UnseenVariance:
    """`tau^2` among followers, weighted by what their votes tell; 0 where nothing shows."""
    who = followers_to_ask(np.diff(evidence.problem.design.cells), evidence.active)
    return variance_of(told_by(evidence, coefficient, bread, gradient, who))


class Told(NamedTuple):
    """What single followers tell of it: `e_u`, `n_u`, the trace of A_u, and their comparisons."""

    excess: Floats
    norm: Floats
    trace: Floats
    n_cells: Ints


def told_by(
    evidence: Evidence,
    coefficient: Floats,
    bread: Floats,
    gradient: sparse.csr_array,
    who: Ints,
) -> Told:
    """What the votes of some followers tell."""
    itself = _own_products(evidence, who, coefficient, bread)
    bent = curvatures_of(evidence, coefficient, bread, who)
    excess, width = np.empty(len(who)), np.diff(evidence.problem.design.blocks)
    for k, u in enumerate(who):
        # Rows hold the coefficients touched, in this order; the position, if common, after them
        # (but where no side is known: a sparse row has no 0 of it).
        pull = gradient.data[gradient.indptr[u] : gradient.indptr[u] + width[u]]
        excess[k] = pull @ pull - itself.squares[u] + bent.fitted[k] - itself.fitted[u]
    n_cells = np.diff(evidence.problem.design.cells)[who]
    return Told(excess, bent.norm - itself.norm[who], bent.trace, n_cells)


def variance_of(told: Told) -> UnseenVariance:
    """`tau^2` from what followers tell.

    Ratio of sums in classes of like activity (powers of two), weighted by what they tell.
    """
    excess, norm = told.excess, told.norm
    which = np.log2(np.maximum(told.n_cells, 1)).astype(np.int64)
    above, below, weight = (np.bincount(which, values) for values in told[:3])
    weight = np.where(below > _LEAST_TOLD * weight, weight, 0.0)
    if not weight.any():
        return UnseenVariance(0.0, 0.0)
    share = weight / weight.sum()
    ratio = np.divide(above, below, out=np.zeros_like(above), where=share > 0)
    each = np.divide(share, below, out=np.zeros_like(below), where=share > 0)[which]
    apart = each * (excess - ratio[which] * norm)
    value = float(share @ ratio)
    return UnseenVariance(max(value, 0.0), float(np.sqrt((apart**2).sum())))


class _OwnProducts(NamedTuple):
    """Products of each vote with itself, summed over an annotator's votes."""

    squares: Floats  # (w s)^2 x.x
    norm: Floats  # (w c x.x)^2
    fitted: Floats  # (w c)^2 x.x x.P x


def _own_products(evidence: Evidence, of: Ints, coefficient: Floats, bread: Floats) -> _OwnProducts:
    """Of some followers; nothing of anybody else."""
    problem = evidence.problem
    votes = problem.votes
    rows = rows_of(votes.offsets, np.sort(of))
    rows = rows[evidence.bounded[votes.left[rows]] & evidence.bounded[votes.right[rows]]]
    left, right, choice = votes.left[rows], votes.right[rows], votes.choice[rows]
    theta = evidence.scores(coefficient)
    margin = theta[left] - theta[right]
    position = votes.position_known[rows].astype(float)
    margin += evidence.common_bias(coefficient) * position
    # A row of n votes that weigh w together has n squares of weight w / n.
    weight = problem.weight[rows] ** 2 / np.maximum(trials_of_rows(votes)[rows], 1e-300)
    slope, curvature = problem.loss.gradient(margin, choice), problem.loss.curvature(margin, choice)
    size, known = lengths_of_comparisons(evidence, left, right, position, bread)
    who, n = votes.annotator[rows], votes.n_annotators
    return _OwnProducts(
        *(
            np.bincount(who, weight * each, n).astype(float)
            for each in (
                slope**2 * size,
                curvature**2 * size**2,
                curvature**2 * size * known,
            )
        )
    )


def lengths_of_comparisons(
    evidence: Evidence, left: Codes, right: Codes, position: Floats, bread: Floats
) -> tuple[Floats, Floats]:
    """`x.x` of comparisons, and `x.P x` with the common position effect in x."""
    problem = evidence.problem
    phi, n_common = problem.features, problem.n_common
    by_item, across = bread[:n_common, :n_common], bread[:n_common, -1]
    if phi is not None:
        by_item, across = phi @ by_item @ phi.T, phi @ across
    spread = np.diag(by_item)
    known: Floats = spread[left] + spread[right] - 2.0 * by_item[left, right]
    if problem.common_position:
        known += 2.0 * position * (across[left] - across[right]) + position**2 * bread[-1, -1]
    apart = 2.0 if phi is None else ((phi[left] - phi[right]) ** 2).sum(axis=1)
    return np.broadcast_to(apart, known.shape), known


def followers_to_ask(n_cells: Ints, active: BoolArray) -> Ints:
    """Followers with comparisons: all, or evenly many of each activity."""
    followers = np.flatnonzero(~active & (n_cells > 0))
    if len(followers) > _MOST_SAMPLED:
        order = np.argsort(n_cells[followers], kind="stable")
        chosen = np.linspace(0, len(followers) - 1, _MOST_SAMPLED).astype(np.int64)
        followers = followers[order[chosen]]
    return followers.astype(np.int64)
