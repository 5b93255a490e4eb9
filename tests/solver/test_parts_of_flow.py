"""What flow is made of: the pool, the watch over who waits, interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reference import dense_design
from scipy.integrate import quad

from prefpath.model import attention
from prefpath.model.problem import Problem
from prefpath.solver import heaviest
from prefpath.solver.arguments import CommonPart, make_scratch, terms_of
from prefpath.solver.crowd import Crowd
from prefpath.solver.executors import Serial
from prefpath.solver.interpolation import StepEnds, hermite
from prefpath.solver.pool import fill_pool, move_votes, pool_gradient
from prefpath.solver.room import Moment
from strategies import SEEDS, crowds, random_features, random_votes, settings_of

# ---------------------------------------------------------------- the pool


@settings(max_examples=25)
@given(st.data())
def test_the_pool_votes_like_everybody_in_it(data):
    votes = data.draw(crowds())
    how = data.draw(settings_of(votes.n_items))
    problem = Problem.build(votes, **how)
    index = problem.pool_index
    pool = fill_pool(problem)
    rng = np.random.default_rng(0)
    who = np.flatnonzero(rng.random(votes.n_annotators) < 0.4)
    move_votes(who, problem.design, problem.target, index.pair_of, -1.0, pool)
    theta, bias = rng.normal(size=votes.n_items), 0.7 * how["common_position"]
    scratch = make_scratch(problem)
    position_gradient = pool_gradient(
        0, len(index.first), index, pool, terms_of(problem), CommonPart(theta, bias), scratch
    )
    a, _ = dense_design(votes, None, False, how["common_position"])
    waits = ~np.isin(votes.annotator, who)
    eta = np.append(theta, bias) if how["common_position"] else theta
    slope = votes.weight * waits * problem.loss.gradient(a @ eta, votes.choice)
    np.testing.assert_allclose(scratch.item_gradient, (a.T @ slope)[: votes.n_items], atol=1e-9)
    if how["common_position"]:
        assert position_gradient == pytest.approx((a.T @ slope)[-1], abs=1e-9)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(votes=crowds())
def test_many_votes_are_counted_as_few_are(monkeypatch, votes):
    few = Problem.build(votes)
    pooled, most = few.pooled_votes, heaviest.heaviest_items(few.design, few.target)
    with monkeypatch.context() as patched:
        patched.setattr(attention, "_MANY_CELLS", 0)
        patched.setattr(heaviest, "_MANY_CELLS", 0)
        many = Problem.build(votes)
        for part, other in zip(pooled[1:], many.pooled_votes[1:], strict=True):
            np.testing.assert_array_equal(part, other)
        np.testing.assert_allclose(heaviest.heaviest_items(many.design, many.target), most)


@given(crowds())
def test_taking_votes_out_and_putting_them_back_changes_nothing(votes):
    problem = Problem.build(votes)
    index = problem.pool_index
    pool, untouched = fill_pool(problem), fill_pool(problem)
    who = np.arange(votes.n_annotators)[::2]
    for sign in (-1.0, 1.0):
        move_votes(who, problem.design, problem.target, index.pair_of, sign, pool)
    np.testing.assert_allclose(pool.weight, untouched.weight, rtol=1e-12)
    np.testing.assert_allclose(pool.choice, untouched.choice, atol=1e-9)
    everybody = np.arange(votes.n_annotators)
    move_votes(everybody, problem.design, problem.target, index.pair_of, -1.0, pool)
    np.testing.assert_allclose(pool.weight, 0.0, atol=1e-9)


@pytest.mark.parametrize("loss", ["bradley-terry", "huber"])
def test_pairs_are_numbered_alike_with_and_without_a_table(monkeypatch, loss):
    votes = random_votes(2, n_votes=200, n_items=6)
    problem = Problem.build(votes, loss=loss, common_position=True)
    by_table = problem.pool_index
    monkeypatch.setattr("prefpath.pairs.keys.by_table", lambda *_: False)
    by_sorting = Problem.build(votes, loss=loss, common_position=True).pool_index
    for a, b in zip(by_table, by_sorting, strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype


# ---------------------------------------------------------------- who waits


class StraightCrowd:
    """A crowd that nobody leaves, while the common part moves by given steps.

    `ends` are the ends of the steps; `slope(t)` is z' of everybody by dense algebra.
    """

    def __init__(self, problem: Problem, seed: int, n_steps: int = 12) -> None:
        rng = np.random.default_rng(seed)
        self.problem, self.crowd = problem, Crowd(problem, Serial())
        self.ends = np.cumsum(rng.uniform(0.05, 0.4, n_steps))
        self._points = np.cumsum(0.06 * rng.normal(size=(n_steps + 1, self.crowd.n_common)), axis=0)
        self._starts = np.concatenate(([0.0], self.ends[:-1]))
        self._design = dense_design(
            problem.votes, problem.features, problem.position_bias, problem.common_position
        )

    def advance(self, first: int, last: int) -> None:
        """Make the steps from `first` to before `last`."""
        for k in range(first, last):
            before, after = self._points[k], self._points[k + 1]
            length = self.ends[k] - self._starts[k]
            straight = (after - before) / length
            step = StepEnds(self._starts[k], length, before, after, straight, straight)
            self.crowd.note_step(step, self._theta(after), self._theta(before))

    def slope(self, t: float) -> np.ndarray:
        common, personal = self._design
        votes = self.problem.votes
        slope = votes.weight * self.problem.loss.gradient(common @ self._eta(t), votes.choice)
        return -(personal.T @ slope) / votes.total_weight

    def _eta(self, t: float) -> np.ndarray:
        k = min(int(np.searchsorted(self.ends, t)), len(self.ends) - 1)
        share = (t - self._starts[k]) / (self.ends[k] - self._starts[k])
        return self._points[k] + share * (self._points[k + 1] - self._points[k])

    def _theta(self, y: np.ndarray) -> np.ndarray:
        n = self.problem.n_common
        return np.append(self.problem.scores(y[:n]), y[n:])


def integral(slope: Any, ends: np.ndarray) -> np.ndarray:
    """Gauss-Legendre on every step: exact for what is smooth inside it."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    starts = np.concatenate(([0.0], ends[:-1]))
    return sum(
        0.5 * (b - a) * w * slope(0.5 * (a + b) + 0.5 * (b - a) * s)
        for a, b in zip(starts, ends, strict=True)
        for s, w in zip(nodes, weights, strict=True)
    )


def dense_block(problem: Problem, z: np.ndarray, u: int) -> np.ndarray:
    p = problem.n_common
    block = z[u * p : (u + 1) * p]
    if problem.features is not None:
        return block
    design = problem.design
    return block[design.seen_item[design.seen[u] : design.seen[u + 1]]]


@settings(max_examples=20)
@given(SEEDS, st.sampled_from(("linear", "bradley-terry", "thurstone-mosteller")), st.booleans())
def test_a_refreshed_z_is_the_integral_of_its_slope(seed, loss, has_features):
    votes = random_votes(seed, n_votes=80)
    features = random_features(seed, votes.n_items) if has_features else None
    problem = Problem.build(votes, loss=loss, features=features, common_position=seed % 2 == 0)
    straight = StraightCrowd(problem, seed)
    straight.advance(0, 12)
    crowd, everybody = straight.crowd, np.arange(votes.n_annotators)
    crowd.room.refresh(crowd.sight, everybody)
    z = integral(straight.slope, straight.ends)
    tolerance = 1e-12 if loss == "linear" else 1e-3  # the quadrature is exact for the linear loss
    for u in everybody:
        found = crowd.room.waiting.z.block[problem.design.blocks[u] : problem.design.blocks[u + 1]]
        np.testing.assert_allclose(found, dense_block(problem, z, u), atol=tolerance)
    np.testing.assert_allclose(
        crowd.room.waiting.z.scalar[:, 0],
        z[votes.n_annotators * problem.n_common :],
        atol=tolerance,
    )


@settings(max_examples=40)
@given(
    SEEDS,
    st.sampled_from(("linear", "bradley-terry", "thurstone-mosteller", "huber")),
    st.sampled_from(("group", "l1")),
    st.booleans(),
    st.floats(0.01, 0.5),
)
def test_nobody_pops_up_unsuspected(seed, loss, penalty, has_features, threshold):
    """Whoever is over a threshold at the end is among the suspects, looked at before or not."""
    votes = random_votes(seed, n_votes=80)
    features = random_features(seed, votes.n_items) if has_features else None
    problem = Problem.build(votes, loss=loss, features=features, penalty=penalty)
    problem.deviation_threshold[:] = threshold
    problem.position_threshold[:] = threshold
    straight = StraightCrowd(problem, seed)
    crowd, end = straight.crowd, straight.ends[-1]
    looked_at = np.random.default_rng(seed).random(votes.n_annotators) < 0.6
    straight.advance(0, 6)
    crowd.room.refresh(crowd.sight, np.flatnonzero(looked_at))
    straight.advance(6, 12)
    drift, travel = crowd.moved()
    # Each of the two measures of how far theta moved must do by itself.
    moments = Moment(end, drift, 1e300), Moment(end, 1e300, travel), Moment(end, drift, travel)
    suspects = set.intersection(*(set(crowd.room.suspects(crowd.sight, m)) for m in moments))
    z = integral(straight.slope, straight.ends)
    bias = z[votes.n_annotators * problem.n_common :]
    for u in range(votes.n_annotators):
        block = dense_block(problem, z, u)
        size = problem.penalty.dual_norm(block)
        if max(size, abs(bias[u])) > threshold * (1 + 1e-3):
            assert u in suspects


def test_the_watch_lets_most_of_a_large_crowd_sleep():
    votes = random_votes(0, n_votes=3_000, n_annotators=300)
    crowd = Crowd(Problem.build(votes), Serial())
    sure = crowd.nobody_enters_before()
    room, sight = crowd.room, crowd.sight
    assert not len(room.suspects(sight, Moment(0.99 * sure, 0.0, 0.0)))
    assert 0 < len(room.suspects(sight, Moment(1.5 * sure, 0.0, 0.0))) < 100


def test_what_a_refresh_changed_can_be_taken_back():
    problem = Problem.build(random_votes(1, n_votes=80))
    straight = StraightCrowd(problem, 1)
    straight.advance(0, 12)
    crowd = straight.crowd
    before = waiting_arrays(crowd)
    who = np.array([0, 2, 3])
    saved = crowd.room._save(who)
    crowd.room.refresh(crowd.sight, who)
    assert not np.array_equal(crowd.room.waiting.z.block, before["block"])
    crowd.room._restore(who, saved)
    for name, part in waiting_arrays(crowd).items():
        np.testing.assert_array_equal(part, before[name])


def waiting_arrays(crowd: Crowd) -> dict[str, np.ndarray]:
    """Copies of all that is known of who waits."""
    parts = {**crowd.room.waiting._asdict(), **crowd.room.waiting.z._asdict()}
    return {name: part.copy() for name, part in parts.items() if name != "z"}


# ---------------------------------------------------------------- inside a step


def cubic_step() -> tuple[StepEnds, Any]:
    coefficients = np.array([[0.3, -1.0, 0.5, 2.0], [1.0, 0.2, -0.7, 0.4]])
    curve = [np.polynomial.Polynomial(c) for c in coefficients]

    def at(t: float, derivative: int = 0) -> np.ndarray:
        return np.array([(p.deriv(derivative) if derivative else p)(t) for p in curve])

    return StepEnds(1.0, 0.5, at(1.0), at(1.5), at(1.0, 1), at(1.5, 1)), at


def test_hermite_is_exact_for_cubics():
    step, at = cubic_step()
    for t in (1.0, 1.1, 1.37, 1.5):
        np.testing.assert_allclose(step.at(t), at(t), rtol=1e-12)
    y = hermite(step.y0, step.y1, step.f0, step.f1, step.length, 0.5)
    np.testing.assert_allclose(y, at(1.25), rtol=1e-12)


def test_integral_of_a_step_is_the_integral_of_its_interpolant():
    step, at = cubic_step()
    for t in (1.0, 1.2, 1.5):
        expected = [quad(lambda s, k=k: at(s)[k], 1.0, t)[0] for k in range(2)]
        np.testing.assert_allclose(step.integral(t, 2), expected, atol=1e-12)
    assert step.integral(1.5, 1).shape == (1,)


def test_a_minimised_part_is_linear_in_between():
    smooth, _ = cubic_step()
    step = StepEnds(1.0, 0.5, smooth.y0, smooth.y1, 0 * smooth.f0, smooth.f1, n_minimised=1)
    np.testing.assert_allclose(step.at(1.25)[0], 0.5 * (smooth.y0[0] + smooth.y1[0]))
    assert step.integral(1.5, 1)[0] == pytest.approx(0.25 * (smooth.y0[0] + smooth.y1[0]))
