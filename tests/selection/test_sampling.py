"""A sample of the annotators stands for all of them: who is drawn, and what it changes."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import PreferenceModel, simulate_crowd
from prefpath.model.problem import Problem
from prefpath.selection import sampling as rules
from prefpath.selection.folds import make_folds
from prefpath.selection.sampling import Sampling, plan_sampling
from prefpath.solver.flow import FlowSolver
from prefpath.votes import Votes

_ACTIVITY = np.concatenate((np.full(10, 1_000.0), np.full(990, 10.0)))


def _keys(n: int) -> np.ndarray:
    return np.random.default_rng(0).permutation(n).astype(np.uint64)


def test_who_voted_much_is_always_followed_and_all_votes_are_stood_for() -> None:
    sampling = Sampling(certain=1_000.0, n_folds=2)
    drawn = [sampling.stands_for(_ACTIVITY, _keys(1_000), k) for k in range(2)]
    for stands_for in drawn:
        assert (stands_for[:10] == 1.0).all()
        assert np.count_nonzero(stands_for[10:]) == pytest.approx(99, abs=1)
        assert np.sum(stands_for * _ACTIVITY) == pytest.approx(_ACTIVITY.sum())
    assert not np.any((drawn[0][10:] > 0) & (drawn[1][10:] > 0))


def test_chances_are_kept_over_many_draws() -> None:
    sampling = Sampling(certain=1_000.0, n_folds=2)
    rng, times = np.random.default_rng(1), np.zeros(1_000)
    for _ in range(400):
        times += sampling.stands_for(_ACTIVITY, rng.permutation(1_000).astype(np.uint64), 0) > 0
    assert np.abs(times / 400 - sampling.chance(_ACTIVITY)).max() < 0.08


def test_few_votes_are_all_followed() -> None:
    assert plan_sampling(np.full(10_000, 100.0), 1_000_000, 300, 3) is None
    assert plan_sampling(np.full(20, 500_000.0), 10_000_000, 1_000, 2) is None


def test_many_votes_of_many_are_sampled() -> None:
    activity = np.full(100_000, 100.0)
    found = plan_sampling(activity, 10_000_000, 300, 2)
    assert found is not None
    assert np.sum(found.chance(activity) * activity) == pytest.approx(1e6, rel=1e-6)


@pytest.mark.parametrize(("n_votes", "attention"), [(700, False), (6_000, False), (6_000, True)])
def test_one_who_stands_for_two_is_two_alike(n_votes: int, attention: bool) -> None:
    """Everybody twice is the same path as everybody once, each for two; scores and tastes."""
    votes = simulate_crowd(n_votes, 30, 6, seed=3).votes
    both = Votes.from_arrays(
        np.concatenate((votes.annotator, votes.annotator + 30)),
        np.tile(votes.left, 2),
        np.tile(votes.right, 2),
        np.tile(votes.choice, 2),
        weight=np.tile(votes.weight, 2),
    )
    twice = Problem.build(both, common_position=True, attention=attention)
    once = Problem.build(votes, common_position=True, attention=attention)
    once = once.with_weight(votes.weight, np.full(30, 2.0))
    assert once.total_weight == twice.total_weight
    paths = []
    for problem in (once, twice):
        with FlowSolver(problem, n_threads=1, tolerance=1e-4) as solver:
            first = solver.first_entry()
            solver.follow(first * np.array([1.0, 2.0, 8.0, 20.0]))
            paths.append(solver.path())
    mine, theirs = paths
    np.testing.assert_allclose(mine.common, theirs.common, atol=2e-3 * np.abs(mine.common).max())
    same = np.isfinite(mine.entered) == np.isfinite(theirs.entered[:30])
    assert same.all() and np.isfinite(mine.entered).sum() > 3
    np.testing.assert_allclose(
        mine.entered[np.isfinite(mine.entered)],
        theirs.entered[:30][np.isfinite(mine.entered)],
        rtol=5e-3,
    )


@pytest.mark.filterwarnings("ignore::prefpath.errors.VoteWarning")
def test_a_sample_chooses_as_everybody_does(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = simulate_crowd(60_000, 1_500, 20, seed=5).votes
    whole = PreferenceModel(attention=False, n_threads=1).fit(votes)
    monkeypatch.setattr(rules, "_FEW_ROWS", 10_000)
    monkeypatch.setattr(rules, "_LEAST_ANNOTATORS", 500)
    monkeypatch.setattr(rules, "_LEAST_VOTES", 30_000)
    sampled = PreferenceModel(attention=False, n_threads=1).fit(votes)
    mean, error = whole.cv_.mean, whole.cv_.standard_error
    best = int(np.argmin(mean))
    inside = whole.cv_.times[mean <= mean[best] + error[best]]
    assert not np.array_equal(sampled.cv_.errors[0, :3], whole.cv_.errors[0, :3])
    assert inside[0] * 0.999 <= sampled.t_ <= inside[-1] * 1.001


def test_folds_of_a_sample_train_on_it_alone() -> None:
    votes = simulate_crowd(5_000, 200, 8, seed=1).votes
    certain = float(votes.annotator_weight.max())
    fold = make_folds(votes, 5, most=2, sampling=Sampling(certain, 2))[0]
    assert fold.stands_for is not None
    left_out = fold.stands_for[votes.annotator] == 0.0
    assert left_out.any() and not fold.train[left_out].any() and not fold.test[left_out].any()
    count = fold.test[~left_out] / fold.stands_for[votes.annotator][~left_out]
    assert np.allclose(fold.train[~left_out] + count, votes.weight[~left_out])
