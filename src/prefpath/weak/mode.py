"""The most probable coefficients under Gaussian priors: Newton's method, its steps by PCG."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from prefpath.model.design import Floats
from prefpath.weak.kernels import (
    Slope,
    Terms,
    add_curvature,
    add_product,
    add_pulls,
    fill_margins,
    fill_slopes,
    gather,
    spread,
)
from prefpath.weak.layout import Ballots, Coefficients

_MOST_NEWTON_STEPS = 50
_MOST_CG_STEPS = 300
_SHORTEST_STEP = 1e-12  # where no vote has curvature (Huber), a step is as long as a pull
_STEEP = 0.5
# Votes that nothing moves any more (all far beyond where Huber's loss bends) have no curvature
# either: a prior that were flat altogether would leave nothing to divide by.
_NEARLY_FLAT = 1e-6
_NOTHING = np.zeros(0)


class State(NamedTuple):
    """A point q, and what follows from it."""

    q: Floats
    values: Coefficients
    terms: Terms
    margin: Floats
    gap: Floats


@dataclass(frozen=True, eq=False)
class Posterior:
    """Minus the log posterior, as a function of whitened coefficients q.

    The coefficients themselves are `scale * q`, where q is standard normal before any vote: a
    scale of 0 switches a coefficient off. The common position effect has a flat prior.
    """

    ballots: Ballots
    scale: Coefficients

    @cached_property
    def _scale(self) -> Floats:
        return self.scale.flat()

    @cached_property
    def precision(self) -> Floats:
        """Of the prior of q: 1, and nearly 0 for the common position effect where there is one."""
        ones = Coefficients(*(np.ones_like(part) for part in self.scale))
        flat = np.where(self.scale.position > 0, _NEARLY_FLAT, 1.0)
        return ones._replace(position=flat).flat()

    def state(self, q: Floats) -> State:
        """Coefficients and margins at q."""
        values = self.scale.like(self._scale * q)
        terms = self._terms(values)
        margin, gap = np.empty((2, int(self.ballots.design.cells[-1])))
        fill_margins(self.ballots.design, terms, margin, gap)
        return State(q, values, terms, margin, gap)

    def value(self, state: State) -> float:
        """Weighted loss of all votes, plus the prior's part."""
        choice, weight = self.ballots.target
        cost = weight @ self.ballots.loss.value(state.margin, choice)
        return float(cost + 0.5 * self.precision @ state.q**2)

    def slopes(self, state: State) -> Slope:
        """Derivatives of the cells' losses."""
        loss, (choice, weight) = self.ballots.loss, self.ballots.target
        slope = Slope(np.empty_like(state.margin), np.empty_like(state.margin), state.gap)
        fill_slopes(loss.code, loss.parameter, state.margin, choice, weight, slope)
        return slope

    def gradient(self, state: State, pull: Floats) -> Floats:
        """Derivative in q, where `pull` is the cells' derivatives in their margins."""
        return self.pulled(state, pull) + self.precision * state.q

    def pulled(self, state: State, pull: Floats) -> Floats:
        """`J' pull`: what numbers of the cells are in q."""
        out = self._no_terms()
        attention = state.terms.attention
        position = add_pulls(self.ballots.design, attention, state.gap, pull, out)
        return self._scale * self._pull_back(out, position)

    def product(self, state: State, slope: Slope, way: Floats) -> Floats:
        """Gauss-Newton Hessian times a direction.

        The margin is bilinear in scores and attention; the part of the Hessian that this adds
        is left out, so that it stays positive.
        """
        terms, out = self._terms(self.scale.like(self._scale * way)), self._no_terms()
        attention = state.terms.attention
        position = add_product(self.ballots.design, attention, slope, terms, out)
        image = self._pull_back(out, position)
        image *= self._scale
        image += self.precision * way
        return image

    def diagonal(self, state: State, slope: Slope) -> Floats:
        """Diagonal of the Gauss-Newton Hessian."""
        out, zeros = self._no_terms(), self.ballots.zeros()
        common, taste = zeros.common, zeros.taste
        attention = state.terms.attention
        position = add_curvature(self.ballots.design, attention, slope, out, common, taste)
        curvature = Coefficients(
            common, out.theta, position, taste, out.own, out.lean, out.attention
        )
        return self._scale**2 * curvature.flat() + self.precision

    def _terms(self, values: Coefficients) -> Terms:
        theta, own = values.item, values.own
        if self.ballots.n_features:
            theta, own = theta + self.ballots.design.features @ values.common, own.copy()
            spread(self.ballots.design, values.taste, own)
        return Terms(theta, float(values.position[0]), own, values.lean, values.attention)

    def _pull_back(self, terms: Terms, position: Floats) -> Floats:
        """The transpose of `_terms`, flat."""
        common = taste = _NOTHING
        if self.ballots.n_features:
            taste = np.zeros_like(self.scale.taste)
            gather(self.ballots.design, terms.own, taste)
            common = self.ballots.design.features.T @ terms.theta
        return np.concatenate(
            (common, terms.theta, position, taste, terms.own, terms.lean, terms.attention)
        )

    def _no_terms(self) -> Terms:
        scale = self.scale
        zeros = [np.zeros(len(p)) for p in (scale.item, scale.own, scale.lean, scale.attention)]
        return Terms(zeros[0], 0.0, *zeros[1:])


def find_mode(posterior: Posterior, q: Floats, *, tolerance: float = 1e-6) -> State:
    """Newton steps from q until the next one gains less than `tolerance`, in log-likelihood."""
    state = posterior.state(q)
    slope = posterior.slopes(state)
    downhill = -posterior.gradient(state, slope.pull)
    for _ in range(_MOST_NEWTON_STEPS):
        step = solve_newton(posterior, state, slope, downhill)
        gain = float(downhill @ step)
        if gain < 2.0 * tolerance:
            break
        length = 1.0
        while True:
            tried = posterior.state(state.q + length * step)
            slope = posterior.slopes(tried)
            downhill = -posterior.gradient(tried, slope.pull)
            # past the valley, and as steep on the other side: too far
            if -float(downhill @ step) <= _STEEP * gain:
                break
            if length < _SHORTEST_STEP:  # nowhere to go: to go there all the same may run away
                return state
            length *= 0.5
        state = tried
    return state


def solve_newton(
    posterior: Posterior, state: State, slope: Slope, right: Floats, *, tolerance: float = 1e-2
) -> Floats:
    """Solve the Gauss-Newton system by conjugate gradients, to a share of the right side.

    In place throughout: of ten million votes each vector here has a hundred megabytes.
    """
    inverse = posterior.diagonal(state, slope)
    np.divide(1.0, inverse, out=inverse)
    solution, rest = np.zeros_like(right), right.copy()
    turned = inverse * rest
    way, size = turned.copy(), float(rest @ turned)
    enough = size * tolerance**2
    for _ in range(_MOST_CG_STEPS):
        if size <= enough or size == 0.0:
            break
        image = posterior.product(state, slope, way)
        length = size / float(way @ image)
        solution += length * way
        rest -= length * image
        np.multiply(inverse, rest, out=turned)
        before, size = size, float(rest @ turned)
        way *= size / before
        way += turned
    return solution
