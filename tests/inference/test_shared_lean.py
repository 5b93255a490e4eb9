"""A lean that everybody shares: found, included and said; a few clickers are none."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import PreferenceModel, SettingError, Votes, simulate_crowd
from prefpath.inference.shared_lean import find_shared_lean
from prefpath.inference.words import describe_shared_lean


def crowd_at_home(
    lean: float, seed: int = 0, n_annotators: int = 40, each: int = 40, clickers: int = 0
) -> tuple[Votes, np.ndarray]:
    """Votes whose better items are on the left more often, with a lean everybody shares."""
    rng = np.random.default_rng(seed)
    n = n_annotators * each
    scores = rng.normal(size=8)
    pair = np.array([rng.choice(8, 2, replace=False) for _ in range(n)])
    better_left = rng.random(n) < 0.7
    low, high = np.take_along_axis(pair, np.argsort(scores[pair], axis=1), axis=1).T
    left, right = np.where(better_left, high, low), np.where(better_left, low, high)
    who = np.repeat(np.arange(n_annotators), each)
    own = np.where(who < clickers, 4.0, 0.0)
    chance = 1.0 / (1.0 + np.exp(-(scores[left] - scores[right] + lean + own)))
    choice = np.where(rng.random(n) < chance, 1, -1)
    names = np.array([f"p{u:03d}" for u in range(n_annotators)])
    items = np.array([f"i{k}" for k in range(8)])
    votes = Votes.from_arrays(names[who], items[left], items[right], choice, items=items)
    return votes, scores


def test_the_test_keeps_its_level_and_finds_a_lean():
    without = [find_shared_lean(crowd_at_home(0.0, seed)[0]).p_value for seed in range(60)]
    assert np.mean(np.array(without) < 0.05) < 0.12
    found = [find_shared_lean(crowd_at_home(0.5, seed)[0]) for seed in range(10)]
    assert all(one.is_there for one in found)
    assert np.mean([one.estimate for one in found]) == pytest.approx(0.5, abs=0.15)


def test_a_few_clickers_are_not_everybody():
    for seed in range(5):
        votes, _ = crowd_at_home(0.0, seed, n_annotators=100, clickers=10)
        assert not find_shared_lean(votes).is_there
    busy = simulate_crowd(3_000, 30, 6, clickers=1, position_bias_scale=5.0, seed=3).votes
    assert not find_shared_lean(busy).is_there


def with_leans(seed: int, each: int, mean: float) -> Votes:
    """Twenty annotators who all lean, each in a way of their own, by 0.4 about a mean."""
    rng = np.random.default_rng(seed)
    scores, own = rng.normal(size=8), mean + 0.4 * rng.normal(size=20)
    who = np.repeat(np.arange(20), each)
    left = rng.integers(8, size=len(who))
    right = (left + rng.integers(1, 8, size=len(who))) % 8
    chance = 1.0 / (1.0 + np.exp(-(scores[left] - scores[right] + own[who])))
    return Votes.from_arrays(who, left, right, np.where(rng.random(len(who)) < chance, 1, -1))


@pytest.mark.parametrize("each", [50, 500, 5_000])
def test_leans_that_differ_are_not_shared_however_well_they_are_known(each):
    """Whoever was near the middle agreed, and a third of crowds 'leant'."""
    found = [find_shared_lean(with_leans(seed, each, 0.0)) for seed in range(40)]
    assert sum(one.is_there for one in found) <= 3
    about_half = [find_shared_lean(with_leans(seed, each, 0.5)) for seed in range(10)]
    assert sum(one.is_there for one in about_half) >= 7


def test_one_in_the_middle_of_leans_known_to_the_last_digit_is_not_everybody():
    votes = with_leans(1, 30, 0.0)
    heavy = Votes.from_arrays(
        votes.annotator, votes.left, votes.right, votes.choice, weight=np.full(votes.n_rows, 1e9)
    )
    assert not find_shared_lean(heavy).is_there


def test_four_annotators_who_all_lean_share_it():
    votes, _ = crowd_at_home(0.4, 1, n_annotators=4, each=500)
    assert find_shared_lean(votes).is_there


def test_without_sides_or_decisions_there_is_none():
    blind = Votes.from_arrays(list("aabb"), list("xyxy"), list("yxyx"), [1, 1, 1, 1],
                              position_known=False)  # fmt: skip
    assert find_shared_lean(blind).p_value == 1.0
    ties = Votes.from_arrays(list("ab"), list("xy"), list("yx"), [0, 0])
    assert find_shared_lean(ties).p_value == 1.0


def test_the_model_includes_it_where_it_is_there_and_says_so():
    votes, _ = crowd_at_home(0.6)
    model = PreferenceModel(cv=0, n_times=4, t_ratio=3.0, n_threads=1).fit(votes)
    effect = model.position_effect()
    assert effect["low"] < 0.6 < effect["high"]
    assert "choose the left in" in describe_shared_lean(effect)
    without = PreferenceModel(cv=0, n_times=4, t_ratio=3.0, n_threads=1, common_position=False).fit(
        votes
    )
    with pytest.raises(SettingError, match="no common position effect"):
        without.position_effect()


def test_scores_are_freed_of_a_shared_lean():
    """Better items are on the left in 70 %: without the lean in the model they come out too far."""
    slopes = []
    for seed in range(8):
        votes, scores = crowd_at_home(0.8, seed)
        truth = scores - scores.mean()
        models = (
            PreferenceModel(cv=0, n_times=4, t_ratio=3.0, n_threads=1, common_position=how)
            for how in ("auto", False)
        )
        early = [m.fit(votes).stop_at(float(m.path_.times[0])) for m in models]
        found = [m.common_scores().about_average().score for m in early]
        slopes.append([score @ truth / (truth @ truth) - 1.0 for score in found])
    freed, not_freed = np.mean(slopes, axis=0)
    assert abs(freed) < 0.06
    assert not_freed > freed + 0.04


def test_nobody_shares_a_lean_in_a_balanced_crowd():
    votes = simulate_crowd(1_000, 20, 5, clickers=2, seed=0).votes
    model = PreferenceModel(cv=0, n_times=3, t_ratio=3.0).fit(votes)
    assert not model.fitted_.problem.common_position
    with pytest.raises(SettingError, match="common_position"):
        PreferenceModel(common_position="sometimes").fit(votes)


@pytest.mark.parametrize(("lean", "there"), [(0.6, True), (0.0, False)])
def test_the_lean_of_one_judge_is_that_of_all_votes(lean, there):
    rng = np.random.default_rng(2)
    left = rng.integers(5, size=900)
    right = (left + rng.integers(1, 5, size=900)) % 5
    won = rng.random(900) < 1 / (1 + np.exp(0.5 * (left - right) - lean))
    votes = Votes.from_arrays(["judge"] * 900, left, right, np.where(won, 1, -1))
    found = find_shared_lean(votes)
    assert found.is_there == there
    assert found.estimate == pytest.approx(lean, abs=0.25)


def against_a_baseline(seed: int, swapped: int = 0, by: int = 1) -> Votes:
    """A baseline on the left of everything; some votes of a few annotators with it on the right."""
    rng = np.random.default_rng(seed)
    n = 1_600
    who, other = rng.integers(0, 40, n), rng.integers(1, 10, n)
    scores = np.append(0.3, np.linspace(0.5, -0.5, 9))
    won = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(scores[other] - scores[0])), 1, -1)
    turned = np.isin(np.arange(n), np.flatnonzero(who < by)[:swapped])
    left, right = np.where(turned, other, 0), np.where(turned, 0, other)
    return Votes.from_arrays(who, left, right, np.where(turned, -won, won))


def test_where_every_item_kept_its_side_no_lean_is_seen():
    """What the ridge leaves unexplained is no evidence: it made every score unbounded."""
    found = [find_shared_lean(against_a_baseline(seed)) for seed in range(10)]
    assert all(one.p_value == 1.0 for one in found)


@pytest.mark.parametrize(("swapped", "by"), [(1, 1), (20, 1), (20, 3)])
def test_who_alone_saw_both_sides_is_not_everybody(swapped, by):
    found = [find_shared_lean(against_a_baseline(seed, swapped, by)) for seed in range(20)]
    assert sum(one.is_there for one in found) <= 1
