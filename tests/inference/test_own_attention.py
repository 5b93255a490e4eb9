"""Unequal attention: found in the votes, allowed for and said; tastes and leans are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm

from prefpath import PreferenceModel, SettingError, Votes, simulate_crowd
from prefpath.findings import find
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.own_attention import (
    allow_for_attention,
    find_unequal_attention,
    flattened,
)
from prefpath.model.losses import as_loss
from prefpath.model.problem import Problem

ORDINARY = {"deviants": 0, "clickers": 0, "activity": "even"}


def is_there(votes: Votes, **settings) -> bool:
    return find_unequal_attention(Problem.build(votes, **settings)).is_there


def share_found(n_votes: int, n_annotators: int, n_items: int, n: int = 10, **odd) -> float:
    settings = {**ORDINARY, **odd}
    crowds = (
        simulate_crowd(n_votes, n_annotators, n_items, seed=seed, **settings) for seed in range(n)
    )
    return float(np.mean([is_there(crowd.votes) for crowd in crowds]))


@pytest.mark.parametrize(
    ("odd", "least"),
    [({"random": 0.2}, 0.9), ({"contrary": 0.05}, 0.9), ({"noisy": 0.33}, 0.9)],
)
def test_odd_attention_is_found(odd, least):
    assert share_found(5_000, 100, 12, **odd) >= least


def test_contrary_people_with_six_votes_each_are_found():
    assert share_found(3_000, 500, 12, contrary=0.3) == 1.0


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"deviants": 1.0, "deviation_scale": 1.0},
        {"deviants": 0.1, "deviation_scale": 1.0},
        {"clickers": 0.2},
        {"ties": 0.3},
        {"activity": "zipf"},
    ],
    ids=str,
)
def test_tastes_leans_and_ties_are_no_attention(odd):
    assert share_found(4_000, 80, 12, n=12, **odd) <= 0.1


def test_strong_tastes_of_busy_people_are_no_attention():
    """They seem to see less sharply than they do: a taste flattens the mean of probabilities."""
    crowds = [simulate_crowd(40_000, 400, 60, seed=seed) for seed in range(8)]
    assert sum(is_there(crowd.votes) for crowd in crowds) <= 1


@pytest.mark.parametrize(
    ("loss", "link", "margin_of", "within"),  # a logistic curve is nearly a normal one
    [
        ("bradley-terry", expit, logit, 0.05),
        ("thurstone-mosteller", norm.cdf, norm.ppf, 0.005),
    ],
)
def test_a_taste_flattens_as_much_as_drawn_tastes_do(loss, link, margin_of, within):
    draws = np.random.default_rng(0).normal(size=400_000)
    loss = as_loss(loss)
    bend = float(loss.curvature(np.zeros(1), np.zeros(1))[0])
    for taste in (0.3, 1.0, 2.0):
        margins = np.sqrt(2.0) * taste * draws
        pull = -loss.gradient(np.zeros(1), np.ones(1))[0] * (2.0 * link(margins) - 1.0)
        measured = np.mean((pull / bend) ** 2) / 2.0  # as votes at equal scores show it
        drawn = margin_of(link(margins + 1.0).mean())  # of a difference of 1
        assert flattened(np.array([measured]), loss)[0] == pytest.approx(drawn, abs=within)


def test_one_random_judge_of_two_is_found_and_two_alike_are_not():
    settings = {**ORDINARY, "n_votes": 1_000, "n_annotators": 2, "n_items": 8}
    assert all(is_there(simulate_crowd(**settings, random=1, seed=s).votes) for s in range(5))
    assert not any(is_there(simulate_crowd(**settings, seed=s).votes) for s in range(10))


@pytest.mark.parametrize("loss", ["linear", "thurstone-mosteller", "huber"])
def test_every_loss_can_be_tested(loss):
    contrary = simulate_crowd(3_000, 60, 8, **ORDINARY, contrary=0.2, seed=1).votes
    plain = simulate_crowd(3_000, 60, 8, **ORDINARY, seed=1).votes
    assert is_there(contrary, loss=loss)
    assert not is_there(plain, loss=loss)


def test_labels_order_sides_and_weights_change_nothing():
    votes = simulate_crowd(1_500, 30, 8, **ORDINARY, random=0.2, seed=4).votes
    found = find_unequal_attention(Problem.build(votes))
    rows = np.random.default_rng(0).permutation(votes.n_rows)
    who, left, right = (
        votes.annotators[votes.annotator[rows]],
        votes.items[votes.left[rows]],
        votes.items[votes.right[rows]],
    )
    twice = Votes.from_arrays(
        np.char.add("z", (30 - votes.annotator[rows]).astype(str)),
        right,
        left,
        -votes.choice[rows],
        weight=votes.weight[rows],
    )
    other = find_unequal_attention(Problem.build(twice))
    assert other.variance == pytest.approx(found.variance, rel=1e-6)
    assert other.p_variance == pytest.approx(found.p_variance, rel=1e-6)
    split = Votes.from_arrays(
        np.repeat(who, 1), left, right, votes.choice[rows], weight=votes.weight[rows]
    )
    heavier = replace(votes, weight=2.0 * votes.weight)
    repeated = find_unequal_attention(Problem.build(heavier))
    assert find_unequal_attention(Problem.build(split)).variance == pytest.approx(found.variance)
    assert repeated.share > found.share


def test_features_groups_and_separate_items_can_be_tested():
    votes = simulate_crowd(3_000, 60, 8, **ORDINARY, contrary=0.2, seed=1).votes
    phi = np.random.default_rng(0).normal(size=(8, 3))
    crowd = simulate_crowd(3_000, 60, 8, **ORDINARY, contrary=0.2, features=phi, seed=1)
    assert is_there(crowd.votes, features=phi)
    apart = Votes.from_arrays(
        np.tile(votes.annotators[votes.annotator], 2),
        np.concatenate([np.char.add(s, votes.items[votes.left].astype(str)) for s in "ab"]),
        np.concatenate([np.char.add(s, votes.items[votes.right].astype(str)) for s in "ab"]),
        np.tile(votes.choice, 2),
    )
    assert is_there(apart)
    assert not is_there(Votes.from_arrays(["u"] * 4, list("abab"), list("baba"), [1, 1, 1, -1]))
    assert not is_there(Votes.from_arrays(list("uv"), list("ab"), list("ba"), [0, 0]))


def test_the_model_allows_for_it_where_it_is_there_and_says_so():
    votes = simulate_crowd(2_500, 50, 10, **ORDINARY, contrary=0.2, seed=1).votes
    settings = {"cv": 0, "n_times": 6, "t_ratio": 20.0, "n_threads": 1}
    model = PreferenceModel(**settings).fit(votes)
    assert model.fitted_.problem.attention
    found = find(model)
    assert found.as_json()["attention"] == {"annotators": model.path_.attention_count(model.t_)}
    assert found.meaning_of_attention == (
        "Not all annotators see the ranking equally sharply: the scores and intervals are of "
        "those who see it as most do."
    )
    code = int(np.argmin(model.fitted_.attention))
    own = model.fitted_.personal_scores(votes.annotators[code])
    assert np.corrcoef(own, model.fitted_.scores)[0, 1] < -0.5
    assert own == pytest.approx(model.path_.personal_scores(votes.annotators[code], model.t_))
    without = PreferenceModel(attention=False, **settings).fit(votes)
    assert not without.fitted_.problem.attention
    assert find(without).as_json()["attention"] is None


def test_a_mean_preference_is_not_said_to_be_that_of_those_who_see_as_most_do():
    """Who answers at random and was not found is in it: the scores are a fifth too near."""
    votes = simulate_crowd(2_000, 50, 8, **ORDINARY, random=0.3, seed=2).votes
    model = PreferenceModel(cv=3, n_threads=1, attention=True).fit(votes)
    found = find(model)
    assert "mean preference" in found.meaning_of_intervals
    assert found.meaning_of_attention.endswith("the scores allow for that.")


def test_where_the_model_cannot_have_it_it_is_off():
    votes = simulate_crowd(2_500, 50, 10, **ORDINARY, contrary=0.2, seed=1).votes
    problem = Problem.build(votes, loss="linear")
    assert not allow_for_attention("auto", problem, "minimise")
    assert allow_for_attention("auto", problem)
    model = PreferenceModel(loss="linear", common="minimise", cv=0, n_times=4, t_ratio=3.0)
    assert not model.fit(votes).fitted_.problem.attention
    with pytest.raises(SettingError, match="attention"):
        PreferenceModel(attention="sometimes").fit(votes)


def test_an_annotator_without_votes_is_nobody():
    votes = simulate_crowd(2_500, 50, 10, **ORDINARY, contrary=0.2, seed=1).votes
    missing = replace(votes, weight=np.where(votes.annotator == 3, 0.0, votes.weight))
    found = find_unequal_attention(Problem.build(missing))
    assert found.is_there
    assert not found.named[3]


def test_intervals_keep_half_of_the_votes_whoever_sees_otherwise():
    votes = simulate_crowd(600, 4, 6, **ORDINARY, random=1, contrary=1, seed=2).votes
    settings = {"cv": 0, "n_times": 8, "t_ratio": 50.0, "n_threads": 1}
    model = PreferenceModel(attention=True, **settings).fit(votes)
    assert np.count_nonzero(model.fitted_.attention) >= 3
    used = gather_evidence(model.fitted_).problem
    assert used.weight.sum() >= 0.5 * votes.total_weight
    assert model.common_scores().bounded.all()
