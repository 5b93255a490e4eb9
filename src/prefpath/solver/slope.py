"""The right-hand side of the path's equation, its stiffness, and one Chebyshev step of it."""

from __future__ import annotations

import math

import numpy as np

from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.solver.active import (
    Active,
    Equation,
    active_gradient,
    any_entered,
    common_slope,
    evaluate_serial,
    stages_serial,
)
from prefpath.solver.arguments import FIRST_SCALAR, CommonPart, Scratch
from prefpath.solver.corners import (
    Corner,
    Scalars,
    entering_rate,
    largest_coefficients,
    next_corner,
    step_errors,
)
from prefpath.solver.crowd import Crowd
from prefpath.solver.executors import Serial, Threads, stop_if_cancelled
from prefpath.solver.interpolation import StepEnds
from prefpath.solver.kernels import attention_curvatures, common_scores
from prefpath.solver.minimiser import CommonMinimiser
from prefpath.solver.moments import Pooled, evaluate_moments, moments_pay
from prefpath.solver.pool import pool_gradient
from prefpath.solver.rkc import Stage, chebyshev, next_stage
from prefpath.solver.small import SmallEquation, attention_curvatures_of_few
from prefpath.solver.spectral import rounded_up, weighted_norm
from prefpath.solver.state import SlopeState, random_from_words, random_words
from prefpath.solver.work import Common, Work

# The power method stops at 3 % and comes from below: what it finds is taken for so much more.
_RADIUS_SAFETY = 1.15
# Errors are held against the common scores; against personal ones only where those are far larger.
_PERSONAL_SCALE = 0.1
# A minimised common part follows at once: the personal part must be as good for both.
_STRICTER_WHEN_MINIMISED = 4.0
# An attention multiplies every margin of its annotator, the widest too.
_STRICTER_WITH_ATTENTION = 1.5
# Below this a coefficient is nothing: where everybody ties, nothing is small beside it.
_NOTHING = 1e-8
# The power method: how many images at most, when it is content, the size of its differences.
_MOST_IMAGES, _CONTENT, _DIFFERENCE = 20, 0.03, 1e-6


class Slope:
    """y' at y for a crowd; counts what it costs."""

    def __init__(
        self,
        problem: Problem,
        crowd: Crowd,
        common: Common,
        executor: Serial | Threads,
        work: Work,
    ) -> None:
        self.problem, self.crowd, self.work = problem, crowd, work
        self.executor = executor
        self.theta = np.zeros(problem.votes.n_items)
        self._scratch: list[Scratch] = []
        self._large = crowd.is_large
        self._small: SmallEquation | None = None
        self._small_of: Active | None = None
        self._whole: Equation | None = None
        self._moments = None if crowd.is_small or not moments_pay(problem) else Pooled(problem)
        self.minimiser = CommonMinimiser(problem) if common == "minimise" else None
        self.position_at = problem.n_common if problem.common_position else -1
        self._largest_threshold = crowd.largest_threshold
        self._attention_radius = np.zeros(crowd.n_units)
        self._scalars: Scalars | None = None
        self._direction = np.zeros(0)
        self._last_radius = 0.0
        self._rng = np.random.default_rng(0)

    @property
    def n_minimised(self) -> int:
        """Entries at the head of y that do not move by their slope (a minimised common part)."""
        return self.crowd.n_common if self.minimiser is not None else 0

    def first_point(self) -> Floats:
        """y at time 0."""
        return np.zeros(self.crowd.n_common)

    def at(self, y: Floats) -> Floats:
        """y' at y; a minimised common part of y is brought up to date in place."""
        f = np.empty_like(y)
        self._evaluate(y, f)
        if self.minimiser is not None:
            n = self.crowd.n_common
            y[:n] += self.minimiser.step(f[:n] / self.problem.kappa)
            self._evaluate(y, f)
            f[:n] = 0.0
        return f

    def theta_of(self, y: Floats) -> Floats:
        """Scores of the items, and the common bias if there is one, of a vector like y."""
        n = self.problem.n_common
        if n == self.crowd.n_common:
            return np.array(self.problem.scores(y[:n]))
        return np.append(self.problem.scores(y[:n]), y[n : self.crowd.n_common])

    def after_joining(self, y: Floats, f: Floats) -> Floats:
        """y' at y once annotators have joined whose values are all zero, from y' before: f.

        Their votes have left the pool for places of their own, and pull as they did.
        """
        active = self.crowd.active
        inputs, first = self.crowd.inputs, int(np.searchsorted(active.at, len(f)))
        alike = self.minimiser is None and self._moments is None and not self.crowd.is_small
        if not alike or any_entered(first, active, y, inputs.terms):
            return self.at(y)
        return np.append(f, self._newcomers(first, y))

    def while_waiting(self, n_known: int, y: Floats) -> Floats:
        """y' of those who joined after the first `n_known` places, had they waited at y.

        Nothing of theirs was in y then: it depends on the common part alone.
        """
        active = self.crowd.active
        waited = np.zeros(active.at[-1])
        waited[: self.crowd.n_common] = y[: self.crowd.n_common]
        return self._newcomers(int(np.searchsorted(active.at, n_known)), waited)

    def _newcomers(self, first: int, y: Floats) -> Floats:
        """y' of the active annotators from number `first` on."""
        active, inputs = self.crowd.active, self.crowd.inputs
        if not self._large:  # by the kernel that evaluates all: another would have to be compiled
            return evaluate_serial(y, self._equation_from(first))[active.at[first] :]
        slope = np.zeros(len(y))
        common_scores(y, inputs.design, self.theta)
        common = CommonPart(self.theta, self._position(y))
        scratch = self._scratch_of(0)
        active_gradient(first, len(active.who), active, inputs, common, y, slope, scratch)
        return slope[active.at[first] :]

    def rkc_step(self, y0: Floats, f0: Floats, step: float, n_stages: int) -> tuple[Floats, Floats]:
        """y after one step with `n_stages` stages, and y' there."""
        coefficients = chebyshev(n_stages)
        if self.crowd.is_small and self.minimiser is None:
            stop_if_cancelled()
            self.work.evaluations += n_stages
            with np.errstate(over="ignore", invalid="ignore"):  # a step too long: it is rejected
                return self._small_equation().stages(y0, f0, step, coefficients)
        if self.minimiser is None and self._moments is None and not self._large:
            stop_if_cancelled()
            self.work.evaluations += n_stages
            return stages_serial(y0, f0, step, coefficients, self._equation())
        older, newer = y0.copy(), y0 + coefficients.first * step * f0
        for j in range(2, n_stages + 1):
            f = self.at(newer)
            next_stage(older, Stage(y0, f0, newer, f, older), coefficients, j, step)
            older, newer = newer, older
        return newer, self.at(newer)

    def error(self, ends: StepEnds) -> float:
        """Largest estimated local error of a step, relative to the largest coefficient."""
        common, personal = step_errors(ends.as_ends(), self.crowd.n_common, self.scalars())
        personal *= self.problem.kappa
        if self.minimiser is not None:
            common, personal = 0.0, _STRICTER_WHEN_MINIMISED * personal
        if self.problem.attention:
            personal *= _STRICTER_WITH_ATTENTION
        return max(common, personal) / self.scale(ends.y1)

    def spectral_radius(self, y: Floats, f: Floats) -> float:
        """Largest eigenvalue of the equation at y, by a nonlinear power method.

        In the coordinates (eta / sqrt(kappa), sqrt(kappa) z) the equation's matrix is nearly
        symmetric; that is the norm taken here.
        """
        n, kappa = self.crowd.n_common, self.problem.kappa
        self.update_attention_radius(y, self.crowd.active.who)
        direction = self._rng.standard_normal(len(y))
        direction[:n] *= kappa
        direction *= 0.1 / weighted_norm(direction, n, kappa)
        stiffest, at = self._stiffest_scalar(y)
        if stiffest > self._last_radius:  # it is new: what was the stiffest before does not matter
            direction[at] += math.copysign(1.0 / math.sqrt(kappa), y[at])
        else:
            direction[: len(self._direction)] += self._direction
        size = _DIFFERENCE * (1.0 + weighted_norm(y, n, kappa))
        radius = 0.0
        for _ in range(_MOST_IMAGES):
            direction *= size / weighted_norm(direction, n, kappa)
            image = self.at(y + direction) - f
            before, radius = radius, weighted_norm(image, n, kappa) / size
            if radius == 0.0:
                break
            # Turned round, since eigenvalues are negative: a scalar that has just entered is
            # pushed outward again and again; inward it would be back at zero, and not stiff.
            direction = -image
            if abs(radius - before) <= _CONTENT * radius:
                break
        self._direction = direction / weighted_norm(direction, n, kappa)
        self._last_radius = rounded_up(max(_RADIUS_SAFETY * radius, 1e-12))
        return self._last_radius

    def _stiffest_scalar(self, y: Floats) -> tuple[float, int]:
        """The stiffness of the stiffest scalar that has entered, and its place in y."""
        who, n_scalars = self.crowd.active.who, self.problem.n_scalars
        at = self.scalars().at[:, None] + np.arange(n_scalars)
        entered = np.abs(y[at]) > self.crowd.inputs.terms.threshold[who, FIRST_SCALAR:]
        if not entered.any():
            return 0.0, 0
        stiffness = np.where(entered, self.own_radius(who), 0.0).ravel()
        stiffest = int(np.argmax(stiffness))
        return float(stiffness[stiffest]), int(at.ravel()[stiffest])

    def scalars(self) -> Scalars:
        """The active annotators' scalars."""
        crowd, problem = self.crowd, self.problem
        if self._scalars is not None and self._scalars.who is crowd.active.who:
            return self._scalars
        self._scalars = Scalars(
            who=crowd.active.who,
            at=crowd.active.at[1:] - problem.n_scalars,
            threshold=crowd.inputs.terms.threshold,
            share=crowd.share,
            attention_rate=self._attention_radius,
            position_rate=problem.kappa * problem.loss.max_curvature,
            kappa=problem.kappa,
        )
        return self._scalars

    def next_corner(self, y: Floats, f: Floats, step: float, tolerance: float) -> Corner:
        """When the next scalar of an active annotator leaves zero and a step would notice."""
        return next_corner(y, f, step, tolerance * self.scale(y), self.scalars())

    def radius_within(self, y: Floats, f: Floats, step: float) -> float:
        """What scalars that may enter within the step will add to the stiffness.

        They have not entered, so the spectral radius at y does not know of them.
        """
        return _RADIUS_SAFETY * entering_rate(y, f, step, self.scalars())

    def scale(self, y: Floats) -> float:
        """The largest coefficient: what errors are measured by."""
        common, personal = largest_coefficients(y, self.crowd.n_common)
        beyond = self.problem.kappa * (personal - self._largest_threshold)
        return max(common, _PERSONAL_SCALE * beyond, _NOTHING)

    def own_radius(self, who: Ints) -> Floats:
        """What each scalar of these annotators may add to the spectral radius by itself."""
        share = self.crowd.share[who]
        radius = [self.problem.kappa * self.problem.loss.max_curvature * share]
        if self.problem.attention:
            radius.append(self._attention_radius[who])
        return np.stack(radius, axis=1)

    def update_attention_radius(self, y: Floats, who: Ints) -> None:
        """Take the stiffness of attentions again: it grows as the common scores do."""
        if self.problem.attention and len(who):
            n_new = self.crowd.n_units - len(self._attention_radius)  # none but on a cluster
            self._attention_radius = np.append(self._attention_radius, np.zeros(n_new))
            self._scalars = None
            theta = self.problem.scores(y[: self.problem.n_common])
            inputs, position = self.crowd.inputs, self._position(y)
            if self.crowd.is_small:
                args = self.problem, inputs, theta, position, who
                curvature = attention_curvatures_of_few(*args)
            else:
                curvature = attention_curvatures(who, inputs, CommonPart(theta, position))
            self._attention_radius[who] = self.problem.kappa * curvature

    def _position(self, y: Floats) -> float:
        return float(y[self.position_at]) if self.position_at >= 0 else 0.0

    def _evaluate(self, y: Floats, f: Floats) -> None:
        stop_if_cancelled()
        self.work.evaluations += 1
        if self.crowd.is_small:
            f[:] = self._small_equation().slope(y)
            return
        if self._moments is not None:
            each, pool = self._moments.each, self._moments.without(self.crowd.active)
            evaluate_moments(y, f, self.crowd.active, each, pool, self.crowd.inputs.terms)
            return
        if self._large:
            self._evaluate_in_chunks(y, f)
            return
        f[:] = evaluate_serial(y, self._equation())

    def _small_equation(self) -> SmallEquation:
        if self._small is None or self._small_of is not self.crowd.active:
            self._small, self._small_of = self.crowd.small_equation(), self.crowd.active
        return self._small

    def _equation(self) -> Equation:
        """For who is active now: laid out for kernels once, not at every call."""
        known, crowd = self._whole, self.crowd
        if known is None or known.active is not crowd.active or known.inputs is not crowd.inputs:
            known = self._whole = self._equation_from(0)
        return known

    def _equation_from(self, first: int) -> Equation:
        crowd, scratch = self.crowd, self._scratch_of(0)
        votes = crowd.active, crowd.index, crowd.pool, crowd.inputs
        return Equation(self.position_at, *votes, self.theta, scratch, first)

    def _evaluate_in_chunks(self, y: Floats, f: Floats) -> None:
        """The same over an executor: chunks of the active annotators, then chunks of the pool."""
        crowd, inputs = self.crowd, self.crowd.inputs
        common_scores(y, inputs.design, self.theta)
        common = CommonPart(self.theta, self._position(y))
        n_active = len(crowd.active_chunks)
        chunks = [*crowd.active_chunks, *crowd.pool_chunks]
        self._scratch_of(len(chunks) - 1)

        def chunk_gradient(k: int) -> float:
            (start, stop), scratch = chunks[k], self._scratch[k]
            scratch.item_gradient[:] = 0.0
            if k >= n_active:
                index, pool = crowd.index, crowd.pool
                return pool_gradient(start, stop, index, pool, inputs.terms, common, scratch)
            return active_gradient(start, stop, crowd.active, inputs, common, y, f, scratch)

        position_gradient = sum(self.executor.map(chunk_gradient, range(len(chunks))))
        item_gradient = np.zeros(self.problem.votes.n_items)
        for scratch in self._scratch[: len(chunks)]:
            item_gradient += scratch.item_gradient
        common_slope(f, item_gradient, position_gradient, inputs)

    def state(self) -> SlopeState:
        """What the next estimate of the spectral radius goes on from, as plain arrays."""
        radius = self._attention_radius.copy()
        return SlopeState(self._direction, self._last_radius, radius, random_words(self._rng))

    def restore(self, state: SlopeState) -> None:
        """Go on from a state of the same problem."""
        self._direction, self._last_radius = state.direction, state.last_radius
        self._attention_radius = state.attention_radius.copy()
        self._scalars = None
        self._rng = random_from_words(state.random)

    def _scratch_of(self, k: int) -> Scratch:
        while len(self._scratch) <= k:
            self._scratch.append(self.crowd.scratch())
        return self._scratch[k]
