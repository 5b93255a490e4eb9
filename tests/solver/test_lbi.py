"""LBI against a dense implementation of Algorithm 1; its step, its threads, its minimiser."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import dense_design, dense_lbi, shrink
from scipy.optimize import brentq

from prefpath import SettingError, Votes, VoteWarning, fit_path
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver import executors, minimiser
from prefpath.solver.executors import Serial, Threads, check_threads, split_annotators, split_evenly
from prefpath.solver.lbi import default_step
from prefpath.solver.minimiser import CommonMinimiser, common_hessian
from prefpath.solver.spectral import design_norm_squared, largest_eigenvalue
from strategies import crowds, random_features, random_votes, settings_of


def beta_at(path: Path, t: float) -> np.ndarray:
    return np.concatenate((path.deviation(t).toarray().ravel(), path.position_bias(t)))


def step_of(votes: Votes, how: dict) -> float:
    problem = Problem.build(votes, **how)
    return default_step(problem, Serial()) / max(1.0, problem.loss.max_curvature)


@settings(max_examples=30)
@given(st.data())
def test_iteration_is_algorithm_1(data):
    votes = data.draw(crowds())
    how = data.draw(settings_of(votes.n_items))
    step = step_of(votes, how)
    iterations = np.array([1, 2, 3, 10, 40, 150])
    path = fit_path(votes, solver="lbi", times=step * iterations, step=step, **how)
    threshold = Problem.build(votes, **how).deviation_threshold
    plain = {key: value for key, value in how.items() if key != "balance"}
    eta, beta = dense_lbi(votes, step=step, n_iterations=150, threshold=threshold, **plain)
    for k, iteration in enumerate(iterations):
        common = path.common[k]
        if path.common_position is not None:
            common = np.append(common, path.common_position[k])
        np.testing.assert_allclose(common, eta[iteration], rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(
            beta_at(path, path.times[k]), beta[iteration], rtol=1e-7, atol=1e-8
        )


def test_reference_sees_deviations_and_biases():
    """The comparison above would mean little if nobody ever popped up."""
    votes = random_votes(1, n_votes=300)
    step = step_of(votes, {})
    _, beta = dense_lbi(votes, step=step, n_iterations=3000)
    blocks, bias = np.split(beta[-1], [votes.n_annotators * votes.n_items])
    assert np.count_nonzero(blocks) > 4
    assert np.count_nonzero(bias) > 0
    path = fit_path(votes, solver="lbi", times=[3000 * step], step=step)
    np.testing.assert_allclose(beta_at(path, 3000 * step), beta[-1], rtol=1e-8, atol=1e-9)


def test_times_between_iterations_are_interpolated_before_the_prox():
    votes = random_votes(1, n_votes=300)
    step = step_of(votes, {})
    whole = fit_path(votes, solver="lbi", times=step * np.array([400, 401]), step=step)
    between = fit_path(votes, solver="lbi", times=step * np.array([400.3, 400.6]), step=step)
    np.testing.assert_allclose(
        between.common[0], 0.7 * whole.common[0] + 0.3 * whole.common[1], rtol=1e-10
    )
    np.testing.assert_allclose(
        beta_at(between, step * 400.6), beta_at(whole, step * 400.6), rtol=1e-9, atol=1e-11
    )


def test_entry_times_are_where_the_dual_leaves_the_ball():
    votes = random_votes(2, n_votes=300)
    step = step_of(votes, {})
    path = fit_path(votes, solver="lbi", times=[6000 * step], step=step)
    _, beta = dense_lbi(votes, step=step, n_iterations=6000)
    n, p = votes.n_annotators, votes.n_items
    active = np.concatenate(
        (np.abs(beta[:, : n * p]).reshape(-1, n, p).sum(axis=2) > 0, beta[:, n * p :] != 0), axis=1
    )
    assert active.any(axis=0).sum() >= 4
    first = np.where(active.any(axis=0), active.argmax(axis=0), np.inf)
    entered = np.concatenate((path.entry_times("deviation"), path.entry_times("position_bias")))
    finite = np.isfinite(first)
    np.testing.assert_array_equal(np.isfinite(entered), finite)
    assert np.all(entered[finite] <= first[finite] * step * (1 + 1e-12))
    assert np.all(entered[finite] >= (first[finite] - 1) * step * (1 - 1e-12))


def test_grid_starts_at_the_first_entry_and_is_even_in_log_t():
    path = fit_path(random_votes(1), solver="lbi", n_times=7, t_ratio=9.0)
    first = min(path.entry_times("deviation").min(), path.entry_times("position_bias").min())
    np.testing.assert_allclose(path.times, np.geomspace(first, 9.0 * first, 7), rtol=1e-12)
    assert path.active_count(path.times[0] * (1 - 1e-9)) == (0, 0)
    assert sum(path.active_count(path.times[1])) > 0


@given(st.data())
def test_norm_is_the_largest_singular_value(data):
    votes = data.draw(crowds())
    how = data.draw(settings_of(votes.n_items))
    problem = Problem.build(votes, **how)
    a, x = dense_design(votes, how["features"], how["position_bias"], how["common_position"])
    root = np.sqrt(votes.weight)[:, None]
    both = np.linalg.norm(root * np.hstack((a, x)), 2) ** 2
    alone = np.linalg.norm(root * x, 2) ** 2
    assert design_norm_squared(problem, Serial()) == pytest.approx(both, rel=1e-5)
    found = design_norm_squared(problem, Serial(), with_common=False)
    assert found == pytest.approx(alone, rel=1e-5)


def test_lanczos_on_a_known_spectrum():
    values = np.concatenate((np.linspace(0, 1, 300), [1.001, 1.0011]))
    assert largest_eigenvalue(lambda v: values * v, len(values)) == pytest.approx(1.0011, rel=1e-5)
    assert largest_eigenvalue(lambda v: 3.0 * v, 1) == pytest.approx(3.0)
    assert largest_eigenvalue(lambda v: 3.0 * v, 20) == pytest.approx(3.0)


@pytest.mark.parametrize("loss", ["linear", "bradley-terry", "smooth-l1"])
def test_step_is_the_papers_and_unstable_ones_are_refused(loss):
    votes = random_votes(1)
    problem = Problem.build(votes, loss=loss)
    norm2 = design_norm_squared(problem, Serial())
    paper = votes.total_weight / (20.0 * norm2)
    curvature = problem.loss.max_curvature
    path = fit_path(votes, loss=loss, solver="lbi", n_times=3, t_ratio=2.0)
    assert path.step == pytest.approx(paper / max(1.0, curvature))
    limit = 2.0 * paper / curvature
    fit_path(votes, loss=loss, solver="lbi", n_times=2, t_ratio=1.1, step=0.99 * limit)
    for step in (1.01 * limit, 0.0, -1.0, np.nan):
        with pytest.raises(SettingError, match="not stable"):
            fit_path(votes, loss=loss, solver="lbi", n_times=2, step=step)


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(executors, "CELLS_A_SHARD", 40)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"loss": "thurstone-mosteller", "penalty": "l1", "common_position": True},
        {"loss": "linear", "common": "minimise"},
        {"features": random_features(0, 6, 3)},
    ],
    ids=["plain", "tm", "minimise", "features"],
)
def test_threads_change_nothing_not_even_the_last_bit(small_shards, how):
    votes = random_votes(5, n_votes=600, n_annotators=20, n_items=6)
    assert len(split_annotators(Problem.build(votes).design.cells)) > 3
    one, two = (
        fit_path(votes, solver="lbi", n_times=6, t_ratio=3.0, n_threads=n, **how) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.times, two.times)
    np.testing.assert_array_equal(one.common, two.common)
    for kind in ("deviation", "position_bias"):
        np.testing.assert_array_equal(one.entry_times(kind), two.entry_times(kind))
    for a, b in zip(one.knots, two.knots, strict=True):
        np.testing.assert_array_equal(a.who, b.who)
        np.testing.assert_array_equal(a.z, b.z)
        np.testing.assert_array_equal(a.z_bias, b.z_bias)


def test_shards_cover_everybody_once_in_order(small_shards):
    cells = np.concatenate(([0], np.cumsum(np.random.default_rng(0).integers(0, 50, 100))))
    shards = split_annotators(cells)
    assert len(shards) > 10
    assert np.concatenate(shards).tolist() == list(range(100))
    sizes = [int((cells[s + 1] - cells[s]).sum()) for s in shards]
    assert max(sizes) <= cells[-1] / len(shards) + 50
    who = np.array([3, 50, 51, 99])
    assert np.concatenate(split_annotators(cells, who)).tolist() == who.tolist()
    assert split_evenly(np.zeros(0, dtype=np.int64)) in ([], [(0, 0)])


def test_executors_keep_the_order_and_raise_what_a_shard_raises():
    with Threads(2) as threads:
        assert threads.map(lambda k: k * k, range(20)) == Serial().map(lambda k: k * k, range(20))
        with pytest.raises(ZeroDivisionError):
            threads.map(lambda k: 1 // k, [1, 0])
    assert check_threads(None) >= 1
    with pytest.raises(SettingError, match="at least 1"):
        check_threads(0)


class TestMinimisedCommonPart:
    """`common="minimise"`: the common part is the exact minimiser at every step."""

    how: ClassVar = {"loss": "linear", "common": "minimise", "solver": "lbi"}

    @pytest.mark.parametrize("common_position", [False, True])
    @pytest.mark.parametrize("features", [None, random_features(1, 4, 2)], ids=["items", "phi"])
    def test_path_against_dense_least_squares(self, features, common_position):
        votes = random_votes(7, n_votes=250)
        a, x = dense_design(votes, features, True, common_position)
        weight, y, m, p = votes.weight, votes.choice, votes.total_weight, a.shape[1]
        p -= int(common_position)
        group, ones = features is None, np.ones(votes.n_annotators)
        root = np.sqrt(weight)

        def minimiser_at(beta):
            return np.linalg.lstsq(root[:, None] * a, root * (y - x @ beta), rcond=1e-10)[0]

        def slope(z):
            beta = shrink(z, group, ones, 20.0, p)
            residual = a @ minimiser_at(beta) + x @ beta - y
            return -(x.T @ (weight * residual)) / m

        rate = slope(np.zeros(x.shape[1]))
        start = brentq(
            lambda t: np.abs(shrink(t * rate, group, ones, 20.0, p)).max() - 1e-13, 0.1, 1e4
        )
        path = fit_path(
            votes,
            features=features,
            common_position=common_position,
            n_times=4,
            t_ratio=3.0,
            **self.how,
        )
        assert path.times[0] == pytest.approx(start, rel=1e-9)
        z = start * rate
        t, k = start, 0
        for k in range(int((path.times[-1] - start) / path.step) + 1):
            before, z = z, z + path.step * slope(z)
            t = start + (k + 1) * path.step
        share = (path.times[-1] - (t - path.step)) / path.step
        expected = shrink(before + share * (z - before), group, ones, 20.0, p)
        np.testing.assert_allclose(beta_at(path, path.times[-1]), expected, rtol=1e-6, atol=1e-8)
        assert np.abs(expected).max() > 0.1

    def test_entry_times_are_all_there(self):
        votes = random_votes(7, n_votes=250)
        path = fit_path(votes, n_times=30, t_ratio=20.0, **self.how)
        last = path.times[-1]
        deviates = np.asarray(np.abs(path.deviation(last)).sum(axis=1)).ravel() > 0
        assert deviates.sum() >= 3
        assert np.isfinite(path.entry_times("deviation")[deviates]).all()
        leans = path.position_bias(last) != 0
        assert np.isfinite(path.entry_times("position_bias")[leans]).all()

    def test_before_the_first_entry_only_z_moves(self):
        votes = random_votes(7, n_votes=250)
        first = fit_path(votes, n_times=2, t_ratio=1.01, **self.how).times[0]
        path = fit_path(votes, times=[0.25 * first, 0.5 * first, 1.2 * first], **self.how)
        np.testing.assert_allclose(path.common[0], path.common[1], rtol=1e-12)
        assert path.active_count(0.5 * first) == (0, 0)
        assert sum(path.active_count(1.2 * first)) >= 1

    def test_only_the_linear_loss_has_an_easy_minimiser(self):
        with pytest.raises(SettingError, match="linear loss"):
            fit_path(random_votes(1), common="minimise", solver="lbi")
        with pytest.raises(SettingError, match="'flow' or 'minimise'"):
            fit_path(random_votes(1), common="exact", solver="lbi")

    @pytest.mark.parametrize("common_position", [False, True])
    def test_sparse_solver_equals_the_pseudo_inverse(self, monkeypatch, common_position):
        votes = random_votes(3, n_votes=60, n_annotators=3, n_items=8)
        apart = votes.take((votes.left < 4) == (votes.right < 4))  # two components
        problem = Problem.build(apart, loss="linear", common_position=common_position)
        gradient = common_hessian(problem) @ np.random.default_rng(0).normal(
            size=8 + int(common_position)
        )
        dense = CommonMinimiser(problem).step(gradient)
        monkeypatch.setattr(minimiser, "_DENSE_UP_TO", 0)
        np.testing.assert_allclose(CommonMinimiser(problem).step(gradient), dense, atol=1e-9)

    def test_sparse_solver_bears_items_that_a_fold_leaves_alone(self, monkeypatch):
        votes = random_votes(3, n_votes=60, n_annotators=3, n_items=5)
        weight = np.where((votes.left == 2) | (votes.right == 2), 0.0, votes.weight)
        problem = Problem.build(votes, loss="linear").with_weight(weight)
        gradient = common_hessian(problem) @ np.arange(5.0)
        dense = CommonMinimiser(problem).step(gradient)
        monkeypatch.setattr(minimiser, "_DENSE_UP_TO", 0)
        np.testing.assert_allclose(CommonMinimiser(problem).step(gradient), dense, atol=1e-9)


def test_nobody_differs_is_said():
    votes = Votes.from_arrays(["u", "v"] * 4, ["a"] * 8, ["b"] * 8, [1, 1, -1, -1] * 2)
    for how in ({}, {"loss": "linear", "common": "minimise"}):
        with pytest.warns(VoteWarning, match="one ranking"):
            path = fit_path(votes, solver="lbi", n_times=3, t_ratio=1.1, **how)
        assert np.isinf(path.entry_times()).all()
        assert path.active_count(path.times[-1]) == (0, 0)


def test_auto_needs_flow():
    with pytest.raises(SettingError, match="auto"):
        fit_path(random_votes(1), solver="lbi", t_ratio="auto")
    with pytest.raises(SettingError, match="flow, lbi"):
        fit_path(random_votes(1), solver="newton")
