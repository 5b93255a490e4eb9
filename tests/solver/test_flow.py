"""Flow against LBI at a fine step: the same path, whatever the loss, penalty and crowd."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefpath import Path, SettingError, Votes, VoteWarning, fit_path, simulate_crowd
from prefpath.model.problem import Problem
from prefpath.solver import executors, room
from prefpath.solver.executors import Serial
from prefpath.solver.flow import FlowSolver, solve_flow
from prefpath.solver.grid import FIRST_RATIO, make_grid
from prefpath.solver.lbi import default_step
from strategies import LOSS_NAMES, random_features, random_votes

N_ITEMS = 4


def fine_lbi(votes: Votes, times: np.ndarray, how: dict[str, Any], finer: float = 8.0) -> Path:
    """LBI at a step that many times finer than the paper's."""
    settings = {key: value for key, value in how.items() if key != "common"}
    problem = Problem.build(votes, **settings)
    common = how.get("common", "flow")
    step = default_step(problem, Serial(), common) / max(1.0, problem.loss.max_curvature) / finer
    return fit_path(votes, solver="lbi", times=times, step=step, **how)


def distances(path: Path, reference: Path) -> dict[str, float]:
    """Largest difference of each part over all times."""
    gaps: dict[str, list[float]] = {"common": [], "deviation": [], "bias": []}
    for k, t in enumerate(reference.times):
        gaps["common"].append(np.abs(path.common[k] - reference.common[k]).max())
        if reference.common_position is not None:
            gaps["common"].append(abs(path.common_position[k] - reference.common_position[k]))
        gaps["deviation"].append(abs(path.deviation(t) - reference.deviation(t)).max())
        gaps["bias"].append(np.abs(path.position_bias(t) - reference.position_bias(t)).max())
    return {part: max(values) for part, values in gaps.items()}


def sizes(path: Path) -> dict[str, float]:
    shared = 0.0 if path.common_position is None else np.abs(path.common_position).max()
    return {
        "common": max(np.abs(path.common).max(), shared),
        "deviation": max(abs(path.deviation(t)).max() for t in path.times),
        "bias": max(np.abs(path.position_bias(t)).max() for t in path.times),
    }


def assert_same_entries(path: Path, reference: Path, within: float) -> None:
    last = reference.times[-1]
    for kind in ("deviation", "position_bias"):
        ours, theirs = path.entry_times(kind), reference.entry_times(kind)
        both = np.isfinite(ours) & np.isfinite(theirs)
        np.testing.assert_allclose(ours[both], theirs[both], rtol=within)
        lone = np.fmin(ours, theirs)[np.isfinite(ours) != np.isfinite(theirs)]
        assert np.all(lone > (1 - within) * last)  # one of the two just reached the end


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "l1": {"penalty": "l1"},
    "no bias": {"position_bias": False},
    "home advantage": {"common_position": True},
    "home advantage alone": {"common_position": True, "position_bias": False},
    "features": {"features": random_features(3, N_ITEMS)},
    "features, group": {"features": random_features(4, N_ITEMS), "penalty": "group"},
    "balance": {"balance": True},
}
COMBINATIONS = [(loss, name) for loss in LOSS_NAMES for name in CASES if loss != "smooth-l1"] + [
    ("smooth-l1", "plain"),
    ("smooth-l1", "home advantage"),
]


@pytest.mark.parametrize(("loss", "case"), COMBINATIONS)
def test_flow_is_the_path_of_lbi(loss, case):
    """Issue 3: the common part to 0.5 % of its largest, personal ones to 1 %, entries to 1 %.

    The solver holds personal errors against the common scores, so that is the 1 % taken here;
    `test_flow_converges` holds each part against itself.
    """
    how = {"loss": loss, "kappa": 10.0, **CASES[case]}
    votes = random_votes(11, n_votes=200, n_items=N_ITEMS)
    path = fit_path(votes, n_times=12, t_ratio=12.0, **how)
    if loss == "smooth-l1":  # its curvature is a spike: at the default tolerance 0.54 %, not 0.5 %
        grid = make_grid(path.times, 12, 2.0)
        path = solve_flow(Problem.build(votes, **how), grid, tolerance=3e-3)
    reference = fine_lbi(votes, path.times, how)
    gap, size = distances(path, reference), sizes(reference)
    assert gap["common"] <= 0.005 * size["common"]
    assert gap["deviation"] <= 0.01 * max(size["deviation"], size["common"])
    assert gap["bias"] <= 0.01 * max(size["bias"], size["common"])
    assert_same_entries(path, reference, 0.01)
    assert max(size["deviation"], size["bias"]) > 0.1  # somebody popped up


@pytest.mark.parametrize("case", ["plain", "home advantage", "features"])
def test_flow_with_a_minimised_common_part(case):
    how = {"loss": "linear", "common": "minimise", **CASES[case]}
    votes = random_votes(11, n_votes=200, n_items=N_ITEMS)
    path = fit_path(votes, n_times=12, t_ratio=12.0, **how)
    # With the common part minimised LBI's own step is long: 64 times finer, where that is quick.
    reference = fine_lbi(votes, path.times, how, finer=16.0 if "features" in how else 64.0)
    gap, size = distances(path, reference), sizes(reference)
    assert gap["common"] <= 0.005 * size["common"]
    assert gap["deviation"] <= 0.01 * max(size["deviation"], size["common"])
    assert gap["bias"] <= 0.01 * max(size["bias"], size["common"])
    assert_same_entries(path, reference, 0.01)


@settings(max_examples=8)
@given(st.integers(0, 10_000), st.sampled_from(("bradley-terry", "thurstone-mosteller", "linear")))
def test_flow_converges(seed, loss):
    """With a finer tolerance every part agrees to 1 % (common: 0.5 %) of its own largest."""
    votes = random_votes(seed, n_votes=200, n_items=N_ITEMS)
    problem = Problem.build(votes, loss=loss)
    first = fit_path(votes, loss=loss, n_times=2, t_ratio=2.0).times[0]
    times = np.geomspace(first, 12.0 * first, 10)
    path = solve_flow(problem, make_grid(times, 10, 2.0), tolerance=1e-3)
    reference = fine_lbi(votes, times, {"loss": loss})
    gap, size = distances(path, reference), sizes(reference)
    assert gap["common"] <= 0.005 * size["common"]
    assert gap["deviation"] <= 0.01 * size["deviation"] + 1e-9
    assert gap["bias"] <= 0.01 * max(size["bias"], 0.1)


@pytest.mark.parametrize("kappa", [0.01, 0.1, 1.0, 100.0])
def test_any_kappa(kappa):
    """With a small kappa the first annotator pops up within the first steps."""
    votes = random_votes(11, n_votes=200, n_items=N_ITEMS)
    times = fit_path(votes, kappa=kappa, n_times=8, t_ratio=5.0).times
    path = solve_flow(Problem.build(votes, kappa=kappa), make_grid(times, 8, 2.0), tolerance=1e-3)
    finer = max(8.0, 20.0 / kappa)
    reference = fine_lbi(votes, path.times, {"kappa": kappa}, finer=finer)
    gap, size = distances(path, reference), sizes(reference)
    assert gap["common"] <= 0.005 * size["common"]
    assert gap["deviation"] <= 0.01 * max(size["deviation"], size["common"])
    assert_same_entries(path, reference, 0.01)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"loss": "thurstone-mosteller", "common_position": True},
        {"loss": "linear", "common": "minimise"},
        {"features": random_features(0, 6, 3), "penalty": "group"},
    ],
    ids=["plain", "tm", "minimise", "features"],
)
def test_large_mode_is_the_same_path_and_threads_change_nothing(monkeypatch, how):
    votes = random_votes(5, n_votes=900, n_annotators=30, n_items=6)
    small = fit_path(votes, n_times=6, t_ratio=10.0, **how)
    monkeypatch.setattr(room, "_LARGE", 0)
    monkeypatch.setattr(executors, "CELLS_A_SHARD", 10)
    one, two = (fit_path(votes, n_times=6, t_ratio=10.0, n_threads=n, **how) for n in (1, 2))
    np.testing.assert_array_equal(one.times, two.times)
    np.testing.assert_array_equal(one.common, two.common)
    for a, b in zip(one.knots, two.knots, strict=True):
        np.testing.assert_array_equal(a.z, b.z)
        np.testing.assert_array_equal(a.z_bias, b.z_bias)
    np.testing.assert_allclose(one.times, small.times, rtol=1e-3)
    # Sums in another order may turn a decision about a step: the paths then differ as two
    # integrations of one equation may, by the accuracy the solver promises.
    gap, size = distances(one, small), sizes(small)
    assert gap["common"] <= 0.005 * size["common"]
    assert gap["deviation"] <= 0.01 * max(size["deviation"], size["common"])


@pytest.mark.parametrize("with_features", [False, True])
def test_chunks_give_the_slope_that_one_pass_gives(monkeypatch, with_features):
    votes = random_votes(5, n_votes=900, n_annotators=30, n_items=6)
    features = random_features(0, 6, 3) if with_features else None
    problem = Problem.build(votes, features=features, common_position=True)
    monkeypatch.setattr(executors, "CELLS_A_SHARD", 10)
    with FlowSolver(problem, n_threads=2) as solver:
        solver.follow(solver.first_entry() * np.array([1.0, 3.0, 10.0]))
        assert len(solver.crowd.active_chunks) > 3 and len(solver.crowd.pool_chunks) > 1
        whole = solver.slope.at(solver.y.copy())
        solver.slope._large = True
        chunked = solver.slope.at(solver.y.copy())
    np.testing.assert_allclose(chunked, whole, rtol=1e-11, atol=1e-14)


def test_waiting_annotators_are_seen_in_time_in_a_larger_crowd():
    simulated = simulate_crowd(6_000, 150, 8, deviants=20, clickers=10, seed=1)
    path = fit_path(simulated.votes, n_times=8, t_ratio=12.0)
    reference = fine_lbi(simulated.votes, path.times, {}, finer=2.0)
    gap, size = distances(path, reference), sizes(reference)
    assert np.isfinite(reference.entry_times()).sum() > 10
    assert gap["common"] <= 0.005 * size["common"]
    assert gap["deviation"] <= 0.01 * size["deviation"]
    assert gap["bias"] <= 0.01 * size["bias"]
    assert_same_entries(path, reference, 0.01)
    assert path.n_evaluations * 5 < reference.n_evaluations


class TestTimes:
    def test_auto_goes_on_until_a_tenth_is_in(self):
        simulated = simulate_crowd(8_000, 800, 8, deviants=30, clickers=30, seed=1)
        path = fit_path(simulated.votes, t_ratio="auto", n_times=20)
        assert path.times[-1] >= 50.0 * path.times[0] * (1 - 1e-9)
        entered = np.minimum(path.entry_times("deviation"), path.entry_times("position_bias"))
        far_enough = np.isfinite(entered).mean() >= 0.1
        assert far_enough or path.times[-1] >= 2.0 * FIRST_RATIO * path.times[0]
        if path.times[-1] > 51.0 * path.times[0]:  # it went on, evenly in log t
            np.testing.assert_allclose(np.diff(np.log(path.times)), np.log(50) / 19, rtol=1e-6)

    def test_a_path_followed_further_is_the_path(self):
        votes = random_votes(3, n_votes=300)
        times = np.geomspace(10.0, 200.0, 8)
        with FlowSolver(Problem.build(votes)) as solver:
            solver.follow(times[:4])
            assert solver.time_of_last_knot == times[3]
            solver.follow(times[4:])
            path = solver.path()
        at_once = fit_path(votes, times=times)
        np.testing.assert_array_equal(path.common, at_once.common)

    def test_settings_are_checked(self):
        votes = random_votes(1)
        for wrong in ({"n_times": 1}, {"t_ratio": 1.0}, {"t_ratio": "long"}, {"t_ratio": np.inf}):
            with pytest.raises(SettingError):
                fit_path(votes, **wrong)
        for times in ([], [0.0, 1.0], [2.0, 1.0], [1.0, np.inf], [[1.0]]):
            with pytest.raises(SettingError, match="rising"):
                fit_path(votes, times=times)
        with pytest.raises(SettingError, match="step"):
            fit_path(votes, step=0.1)
        with pytest.raises(SettingError, match="tolerance"):
            solve_flow(Problem.build(votes), make_grid(None, 5, 5.0), tolerance=0.0)
        with pytest.raises(SettingError, match="'flow' or 'minimise'"):
            fit_path(votes, common="exact")

    def test_progress_is_told_at_every_knot(self):
        told: list[tuple[float, int]] = []
        votes = random_votes(1)
        path = fit_path(votes, n_times=5, t_ratio=5.0, progress=lambda t, n: told.append((t, n)))
        assert [t for t, _ in told] == path.times.tolist()
        assert all(0 <= n <= votes.n_annotators for _, n in told)


def test_nobody_differs():
    who = np.repeat(["u", "v", "w"], 8)
    votes = Votes.from_arrays(who, ["a"] * 24, ["b"] * 24, [1, 1, 1, -1] * 6)
    for how in ({}, {"loss": "linear", "common": "minimise"}):
        with pytest.warns(VoteWarning, match="nobody differs"):
            path = fit_path(votes, position_bias=False, n_times=4, **how)
        assert np.isinf(path.entry_times()).all()
        assert np.isfinite(path.common).all()


def test_everybody_ties_and_nothing_moves():
    votes = Votes.from_arrays(["u", "v"] * 3, ["a"] * 6, ["b"] * 6, [0] * 6)
    with pytest.warns(VoteWarning, match="nobody differs"):
        path = fit_path(votes, n_times=3)
    np.testing.assert_allclose(path.common, 0.0, atol=1e-12)


def test_separable_votes_stay_finite():
    votes = Votes.from_arrays(["u", "v"] * 6, ["a", "b", "a"] * 4, ["b", "c", "c"] * 4, [1] * 12)
    for loss in ("bradley-terry", "thurstone-mosteller"):
        with pytest.warns(VoteWarning, match="nobody differs"):
            path = fit_path(votes, loss=loss, n_times=5)
        assert np.isfinite(path.common).all()
        assert np.all(np.diff(path.scores(path.times[0])) < 0)
