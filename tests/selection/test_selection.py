"""Criteria by hand, folds by their sums, rules by their definitions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefpath import (
    PreferenceModel,
    SettingError,
    VoteError,
    Votes,
    VoteWarning,
    fit_path,
    simulate_crowd,
)
from prefpath.model.losses import as_loss
from prefpath.model.problem import Problem
from prefpath.predict import Comparisons, path_margins
from prefpath.selection.criteria import criterion_for, log_loss, mismatch_ratio
from prefpath.selection.cross_validation import (
    CrossValidation,
    cross_validate,
    follow_until_settled,
    held_out_errors,
)
from prefpath.selection.folds import make_folds, split_votes
from prefpath.selection.held_out import KnotScorer
from prefpath.selection.stopping import RiseWatch, Stopping, stands_still, surely_above
from prefpath.solver.flow import FlowSolver
from prefpath.solver.grid import make_grid
from strategies import crowds, random_features, random_votes


class TestCriteria:
    def test_mismatch_by_hand(self):
        margin = np.array([2.0, -1.0, 0.0, 3.0, -1.0])
        choice = np.array([1.0, 1.0, 1.0, 0.0, -0.2])
        weight = np.array([1.0, 2.0, 3.0, 1.0, 1.0])
        # right 0, wrong 2, margin 0: 1.5, tie: 0.5, right: 0
        assert mismatch_ratio(margin, choice, weight) == pytest.approx(4.0 / 8.0)

    def test_log_loss_by_hand(self):
        bt = as_loss("bradley-terry")
        margin, choice = np.array([np.log(3.0), 0.0]), np.array([1.0, 0.0])
        weight = np.array([1.0, 3.0])
        expected = (-np.log(0.75) + 3.0 * np.log(2.0)) / 4.0
        assert log_loss(margin, choice, weight, bt) == pytest.approx(expected)
        far = log_loss(np.array([-1e6]), np.array([1.0]), np.ones(1), bt)
        assert np.isfinite(far)

    def test_the_criterion_fits_the_loss_unless_it_is_named(self):
        linear, tm = as_loss("linear"), as_loss("thurstone-mosteller")
        assert criterion_for("auto", linear) == "mismatch"
        assert criterion_for("auto", tm) == "log-loss"
        assert criterion_for("log-loss", linear) == "log-loss"
        assert criterion_for("mismatch", tm) == "mismatch"
        with pytest.raises(SettingError, match="auto, mismatch or log-loss"):
            criterion_for("auc", linear)


class TestFolds:
    @given(crowds(), st.integers(2, 5), st.sampled_from(("votes", "annotators")))
    def test_every_vote_is_held_out_once(self, votes, n_folds, over):
        whole = (votes.weight % 1 == 0).all()
        units = votes.weight.sum() if whole else votes.n_votes
        units = units if over == "votes" else votes.n_annotators
        if n_folds > units:
            with pytest.raises(VoteError, match=r"folds? over"):
                make_folds(votes, n_folds, over=over)
            return
        folds = make_folds(votes, n_folds, over=over, random_state=3)
        for fold in folds:
            np.testing.assert_allclose(fold.train + fold.test, votes.weight)
            assert fold.train.min() >= 0
            assert fold.test.any()
        if len(folds) == n_folds:
            np.testing.assert_allclose(sum(fold.test for fold in folds), votes.weight)

    def test_the_first_of_the_folds_are_those_of_all(self):
        votes = simulate_crowd(300, 6, 4, seed=0).votes
        some, every = make_folds(votes, 5, most=2), make_folds(votes, 5)
        assert len(some) == 2
        for one, same in zip(some, every, strict=False):
            np.testing.assert_array_equal(one.test, same.test)

    def test_of_very_many_votes_some_of_the_folds_say_where_to_stop(self, monkeypatch):
        monkeypatch.setattr("prefpath.selection.folds._ENOUGH_HELD_OUT", 700)
        votes = simulate_crowd(4_000, 20, 20, seed=0).votes
        model = PreferenceModel(n_threads=1).fit(votes)
        assert model.cv_.errors.shape[0] == 2
        assert model.cv_.standard_error.all()
        by_annotator = PreferenceModel(cv_over="annotators", n_threads=1).fit(votes)
        assert by_annotator.cv_.errors.shape[0] == 5

    def test_a_row_of_identical_votes_is_split(self):
        votes = Votes.from_arrays(["u"] * 10, ["a"] * 10, ["b"] * 10, [1] * 10)
        assert votes.n_rows == 1
        folds = make_folds(votes, 5)
        assert [fold.test.tolist() for fold in folds] == [[2.0]] * 5

    def test_a_weight_is_as_many_votes(self):
        heavy = Votes.from_arrays(["u", "v"], ["a", "a"], ["b", "b"], [1, 1], [7, 1])
        tests = np.array([fold.test for fold in make_folds(heavy, 4)])
        np.testing.assert_allclose(tests.sum(axis=0), heavy.weight)
        assert sorted(tests[:, 0]) == [1.0, 2.0, 2.0, 2.0]
        assert sorted(tests[:, 1]) == [0.0, 0.0, 0.0, 1.0]

    def test_a_vote_of_broken_weight_is_held_out_whole(self):
        weight = np.random.default_rng(0).uniform(0.2, 3.0, 60)
        who, right = np.repeat(list("abcde"), 12), list("yz" * 6) * 5
        votes = Votes.from_arrays(who, ["x"] * 60, right, np.tile([1, 1, -1, -1], 15), weight)
        assert votes.count.max() > 1  # merged votes are still held out one by one
        folds = make_folds(votes, 4)
        for fold in folds:
            n_held = fold.test * votes.count / votes.weight
            np.testing.assert_allclose(n_held, np.rint(n_held), atol=1e-9)
        np.testing.assert_allclose(sum(fold.test for fold in folds), votes.weight)

    def test_weights_that_are_no_counts_do_not_make_tastes(self):
        crowd = simulate_crowd(900, 30, 6, activity="even", deviants=0, clickers=0, seed=0).votes
        weight = np.random.default_rng(0).uniform(0.5, 3.0, crowd.n_rows)
        problem = Problem.build(replace(crowd, weight=weight), balance=True)
        path, found = follow_until_settled(
            problem, make_folds(problem.votes, 3), make_grid(None, 8, "auto"), n_threads=1
        )
        assert path.active_count(found.t_cv)[0] <= 3

    def test_sizes_of_folds_over_votes_differ_by_one_at_most(self):
        votes = random_votes(0, n_votes=103, weights=False)
        sizes = [fold.test.sum() for fold in make_folds(votes, 5)]
        assert max(sizes) - min(sizes) <= 1.0 + 1e-9

    def test_over_items_a_vote_is_out_if_it_touches_one(self):
        votes = random_votes(0, n_items=6)
        for fold in make_folds(votes, 3, over="items"):
            out = fold.test > 0
            inside = set(votes.left[~out]) | set(votes.right[~out])
            held = set(range(6)) - inside
            assert len(held) == 2
            assert np.all(
                np.isin(votes.left[out], list(held)) | np.isin(votes.right[out], list(held))
            )

    def test_over_annotators_all_their_votes_are_out(self):
        votes = random_votes(0, n_annotators=7)
        for fold in make_folds(votes, 3, over="annotators"):
            for u in range(7):
                rows = votes.annotator == u
                assert (fold.test[rows] > 0).all() or not fold.test[rows].any()

    def test_folds_with_nothing_to_learn_from_are_an_error(self):
        two = Votes.from_arrays(["u"] * 4, ["a"] * 4, ["b"] * 4, [1, -1, 1, 1])
        with pytest.raises(VoteError, match="no fold over items"):
            make_folds(two, 2, over="items")

    def test_seeds_and_settings(self):
        votes = random_votes(0)
        a, b, c = (make_folds(votes, 3, random_state=seed)[0].test for seed in (1, 1, 2))
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)
        with pytest.raises(SettingError, match="votes, items or annotators"):
            make_folds(votes, 3, over="pairs")
        with pytest.raises(VoteError, match="1 fold over"):
            make_folds(votes, 1)

    def test_one_split(self):
        votes = random_votes(0, n_votes=100, weights=False)
        split = split_votes(votes, 0.3, random_state=1)
        assert split.test.sum() == pytest.approx(30.0)
        np.testing.assert_allclose(split.train + split.test, votes.weight)
        with pytest.raises(SettingError, match="between 0 and 1"):
            split_votes(votes, 1.0)


def by_mismatch(times: np.ndarray, errors: np.ndarray) -> CrossValidation:
    return CrossValidation(times, errors, "mismatch", errors)


class TestRules:
    found = by_mismatch(
        np.array([1.0, 2.0, 4.0, 8.0, 16.0]),
        np.array([[0.5, 0.31, 0.2, 0.2, 0.3], [0.5, 0.29, 0.3, 0.3, 0.4]]),
    )

    def test_the_first_least_mean_wins(self):
        np.testing.assert_allclose(self.found.mean, [0.5, 0.3, 0.25, 0.25, 0.35])
        assert self.found.t_cv == 4.0
        assert self.found.choose("best") == 4.0

    def test_one_standard_error_takes_the_first_within_it(self):
        # standard error at the best time: 0.0707 / sqrt 2 = 0.05; 0.3 is just within
        np.testing.assert_allclose(self.found.standard_error[2], 0.05)
        nudge = np.array([0.0, 0.001, 0.0, 0.0, 0.0])
        times, errors = self.found.times, self.found.errors
        wider = by_mismatch(times, errors - nudge)
        narrower = by_mismatch(times, errors + nudge)
        assert wider.t_one_standard_error == 2.0
        assert narrower.t_one_standard_error == 4.0
        assert wider.choose("one-standard-error") == 2.0
        with pytest.raises(SettingError, match="one-standard-error"):
            wider.choose("median")

    def test_one_fold_has_no_standard_error(self):
        lone = by_mismatch(self.found.times, self.found.errors[:1])
        np.testing.assert_array_equal(lone.standard_error, 0.0)


@pytest.mark.parametrize("solver", ["flow", "lbi"])
def test_a_fold_is_a_path_of_the_training_votes(solver):
    """Errors of a fold by weights equal those of votes that were really taken out."""
    votes = random_votes(4, n_votes=300, weights=False, position_known=1.0)
    problem = Problem.build(votes)
    path = fit_path(votes, solver=solver, n_times=6, t_ratio=8.0)
    folds = make_folds(votes, 3)
    found = cross_validate(problem, path, folds, solver=solver)
    assert found.errors.shape == (3, 6)
    for fold, errors, wrong in zip(folds, found.errors, found.wrong, strict=True):
        kept = Votes.from_codes(
            votes.annotator, votes.left, votes.right, votes.choice, fold.train,
            annotators=votes.annotators, items=votes.items,
        )  # fmt: skip
        trained = fit_path(kept, solver=solver, times=path.times, step=path.step)
        for k, t in enumerate(path.times):
            margin = path_margins(trained, Comparisons.of(votes, np.arange(votes.n_rows)), t)
            share = mismatch_ratio(margin, votes.choice, fold.test)
            cost = log_loss(margin, votes.choice, fold.test, problem.loss)
            assert wrong[k] == pytest.approx(share, abs=1e-9)
            assert errors[k] == pytest.approx(cost, abs=1e-6)


def test_threads_do_not_change_cross_validation():
    votes = random_votes(4, n_votes=300)
    problem, path = Problem.build(votes), fit_path(votes, n_times=5, t_ratio=8.0)
    folds = make_folds(votes, 4)
    told: list[int] = []
    one = cross_validate(problem, path, folds, n_threads=1, criterion="log-loss")
    two = cross_validate(
        problem, path, folds, n_threads=2, criterion="log-loss", progress=told.append
    )
    np.testing.assert_array_equal(one.errors, two.errors)
    assert told == [1] * 4
    assert one.criterion == "log-loss"


def test_held_out_errors_at_chosen_times():
    votes = random_votes(4, n_votes=300)
    problem, path = Problem.build(votes), fit_path(votes, n_times=5, t_ratio=8.0)
    all_times = held_out_errors(problem, path, votes.weight, "log-loss")
    two = held_out_errors(problem, path, votes.weight, "log-loss", path.times[1:3])
    np.testing.assert_array_equal(two.error, all_times.error[1:3])
    np.testing.assert_array_equal(two.wrong, all_times.wrong[1:3])
    signs = held_out_errors(problem, path, votes.weight, "mismatch")
    np.testing.assert_array_equal(signs.error, all_times.wrong)


class TestScoringUnderWay:
    @pytest.mark.parametrize("criterion", ["log-loss", "mismatch"])
    @pytest.mark.parametrize(
        ("how", "seed"),
        [
            ({}, 4),
            ({"common_position": True, "loss": "thurstone-mosteller"}, 5),
            ({"features": random_features(0, 4)}, 4),
            ({"loss": "linear", "penalty": "l1", "position_bias": False}, 6),
        ],
    )
    def test_the_state_at_a_knot_costs_what_the_path_costs_there(self, how, seed, criterion):
        votes = random_votes(seed, n_votes=300)
        problem = Problem.build(votes, **how)
        test = make_folds(votes, 3)[0].test
        times = fit_path(votes, n_times=6, t_ratio=30.0, **how).times
        scorer = KnotScorer(problem, test, criterion)
        FlowSolver(problem, recorder=scorer).follow(times)
        kept = FlowSolver(problem)
        kept.follow(times)
        expected = held_out_errors(problem, kept.path(), test, criterion)
        np.testing.assert_allclose(scorer.errors, expected.error, rtol=1e-12)
        np.testing.assert_allclose(scorer.wrong, expected.wrong, rtol=1e-12)
        by_annotator = np.bincount(votes.annotator, weights=test)[scorer.held_out.who]
        assert (by_annotator > 0).all()
        np.testing.assert_allclose(
            [cost.sum() / test.sum() for cost in scorer.costs], expected.error, rtol=1e-12
        )

    def test_a_solver_that_only_scores_has_no_path(self):
        votes = random_votes(4, n_votes=60)
        problem = Problem.build(votes)
        solver = FlowSolver(problem, recorder=KnotScorer(problem, votes.weight, "mismatch"))
        with pytest.raises(TypeError, match="keeps no path"):
            solver.path()


class TestStopping:
    def test_a_rise_of_many_is_sure_and_one_of_few_is_not(self):
        before = np.ones(40)
        assert surely_above(before + 0.1, before, 2.0)
        assert not surely_above(before, before, 2.0)
        few = before.copy()
        few[:3] += 100.0
        assert not surely_above(few, before, 2.0)
        mixed = before + np.where(np.arange(40) % 2 == 0, 1.0, -0.9)
        assert not surely_above(mixed, before, 2.0)

    def test_sure_knots_are_counted_from_the_best_one_on(self):
        class Scorer:
            def __init__(self):
                self.costs, self.errors = [], []
                self.held_out = type("Who", (), {"who": np.arange(9)})

            def passes(self, costs):
                self.costs += [np.full(9, cost) for cost in costs]
                self.errors += costs
                return self

            def forget(self):
                self.costs = []

        scorer, watch = Scorer(), RiseWatch(9)
        watch.see([scorer.passes([3.0, 2.0, 1.0, 1.5, 2.0])], 2.0)
        assert watch.n_sure == 2
        watch.see([scorer.passes([2.5])], 2.0)
        assert watch.n_sure == 3
        other = RiseWatch(9)  # goes on where the first stood, and sees a knot again
        other.restore(watch.state())
        scorer.costs = [np.full(9, 2.5)]
        for one in (watch, other):
            one.see([scorer.passes([1.5] if one is watch else [])], 2.0)
            assert (one.n_seen, one.n_sure) == (7, 4)
            scorer.costs = [np.full(9, cost) for cost in (2.5, 1.5)]
        watch.see([scorer.passes([0.5])], 2.0)
        assert watch.n_sure == 0

    def test_standing_still(self):
        times = np.array([1.0, 2.0, 4.0, 8.0])
        assert stands_still(times, np.array([2.0, 1.5, 1.0, 1.0]), 1e-4)
        assert not stands_still(times, np.array([2.0, 1.5, 1.1, 1.0]), 1e-4)
        assert not stands_still(times[:1], np.ones(1), 1e-4)


class TestOpenPaths:
    def test_it_stops_soon_after_the_error_has_risen_and_chooses_as_if_it_went_far(self):
        simulated = simulate_crowd(4_000, 60, 6, seed=2)
        votes = simulated.votes
        problem, folds, grid = (
            Problem.build(votes, balance=True),
            make_folds(votes, 3),
            make_grid(None, 30, "auto"),
        )
        path, found = follow_until_settled(problem, folds, grid)
        assert found.errors.shape == (3, path.n_times)
        np.testing.assert_array_equal(found.times, path.times)
        _, far = follow_until_settled(
            problem, folds, grid, stopping=Stopping(first_ratio=100.0, last_ratio=0.0)
        )
        assert path.times[-1] < 0.5 * far.times[-1]
        assert found.t_cv == pytest.approx(far.t_cv, rel=1e-9)

    def test_one_busy_annotator_does_not_end_the_path_before_the_others_come_in(self):
        """Nine of ten votes are one person's, who leans left; the others have tastes."""
        rng = np.random.default_rng(0)
        who = np.where(rng.random(4_000) < 0.9, 0, rng.integers(1, 21, 4_000))
        left = rng.integers(0, 5, 4_000)
        right = (left + rng.integers(1, 5, 4_000)) % 5
        taste = rng.normal(0.0, 3.0, (21, 5)) * (np.arange(21) > 0)[:, None]
        margin = taste[who, left] - taste[who, right] + (who == 0)
        choice = np.where(rng.random(4_000) < 1 / (1 + np.exp(-margin)), 1, -1)
        votes = Votes.from_arrays(who, left, right, choice)
        path, found = follow_until_settled(
            Problem.build(votes), make_folds(votes, 5), make_grid(None, 15, "auto")
        )
        assert found.t_cv > 20.0 * path.times[0]
        assert np.isfinite(path.entry_times("deviation")[1:]).sum() >= 15

    def test_it_goes_on_while_the_error_falls(self):
        """A crowd of two camps: only far along the path does everybody have their own way."""
        rng = np.random.default_rng(0)
        who = rng.integers(0, 40, 3_000)
        left = rng.integers(0, 5, 3_000)
        right = (left + rng.integers(1, 5, 3_000)) % 5
        camp = np.where(who % 2 == 0, 1, -1)
        votes = Votes.from_arrays(who, left, right, np.sign(right - left) * camp)
        path, found = follow_until_settled(
            Problem.build(votes), make_folds(votes, 3), make_grid(None, 15, "auto")
        )
        assert found.mean[0] > 0.4
        assert found.mean.min() < 0.02
        assert path.times[-1] <= 1.1e4 * path.times[0]

    def test_it_ends_where_it_takes_too_long_and_says_so(self):
        """The same crowd of camps, whose error falls on and on."""
        rng = np.random.default_rng(0)
        who, left = rng.integers(0, 8, 400), rng.integers(0, 5, 400)
        right = (left + rng.integers(1, 5, 400)) % 5
        choice = np.sign(right - left) * np.where(who % 2 == 0, 1, -1)
        problem = Problem.build(Votes.from_arrays(who, left, right, choice))
        folds, grid = make_folds(problem.votes, 2), make_grid(None, 15, "auto")
        usual, _ = follow_until_settled(problem, folds, grid)
        stopping = Stopping(most_evaluations=usual.n_evaluations // 2)
        with pytest.warns(VoteWarning, match=r"evaluations and ends before .*--t-ratio"):
            path, found = follow_until_settled(problem, folds, grid, stopping=stopping)
        assert path.times[-1] < usual.times[-1]
        np.testing.assert_array_equal(path.times, usual.times[: path.n_times])
        assert len(found.mean) == path.n_times

    def test_it_ends_with_features_and_a_minimised_common_part(self):
        votes = random_votes(4, n_votes=120)
        for how in ({"features": random_features(0, 4)}, {}):
            path, found = follow_until_settled(
                Problem.build(votes, loss="linear", **how),
                make_folds(votes, 2),
                make_grid(None, 8, "auto"),
                common="minimise",
            )
            assert len(found.mean) == path.n_times
