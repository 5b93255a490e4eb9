"""Intervals, ranks, win probabilities and scales, as a user of the model meets them."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from prefpath import PreferenceModel, SettingError, VoteError, Votes, simulate_crowd
from prefpath.inference import common_scores, leverage
from prefpath.inference.bootstrap import bootstrap_coefficients
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.sandwich import cluster_covariance
from prefpath.inference.scales import ELO_POINTS
from prefpath.model.problem import Problem


def fitted(votes, **settings) -> PreferenceModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PreferenceModel(n_times=5, t_ratio=4.0, cv=0, n_threads=1, **settings).fit(votes)


@pytest.fixture(scope="module")
def model() -> PreferenceModel:
    return fitted(simulate_crowd(2500, 30, 6, seed=3).votes)


def evidence_at(model: PreferenceModel):
    return gather_evidence(model.fitted_)


@pytest.mark.parametrize("interval", ["sandwich", "bootstrap"])
def test_every_interval_holds_its_score_and_rank(model, interval):
    columns = model.ranking_columns(interval=interval, n_resamples=100)
    assert np.all(np.array(columns["score_low"]) < columns["score"])
    assert np.all(np.array(columns["score_high"]) > columns["score"])
    assert np.all(columns["rank_low"] <= columns["rank"])
    assert np.all(columns["rank"] <= columns["rank_high"])
    assert np.all(columns["bounded"])
    # Where most follow one ranking, what intervals are for is the path's own score.
    np.testing.assert_allclose(
        np.sort(columns["score"]), np.sort(model.path_.scores(model.t_)), atol=1e-3
    )


def test_a_handful_of_votes_is_not_surely_ranked_because_own_scores_fit_them_all():
    """Five votes of three annotators had a winner with 50 % won, "rank 1 to 2" and score 3.7."""
    votes = Votes.from_arrays(
        ["ann", "ann", "bob", "bob", "cy"], list("abaca"), list("bccbb"), [1, 1, -1, 1, 0]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PreferenceModel(n_threads=1).fit(votes)
    top = model.ranking_columns()
    assert list(top["rank_low"]) == [1, 1, 1]
    assert list(top["rank_high"]) == [3, 3, 3]
    assert np.abs(top["score"]).max() < 1.0


def test_without_intervals_scores_are_the_paths(model):
    columns = model.ranking_columns(interval=None)
    np.testing.assert_array_equal(np.sort(columns["score"]), np.sort(model.path_.scores(model.t_)))


def test_sandwich_and_bootstrap_agree(model):
    errors = [
        common_scores(model, method).covariance.diagonal() for method in ("sandwich", "bootstrap")
    ]
    np.testing.assert_allclose(np.sqrt(errors[1] / errors[0]), 1.0, atol=0.25)


def test_the_bootstrap_is_seeded_and_does_not_depend_on_threads(model):
    evidence = evidence_at(model)
    clustered = cluster_covariance(evidence)
    done: list[int] = []
    runs = [
        bootstrap_coefficients(
            evidence, clustered, n_resamples=30, n_threads=n, random_state=s, progress=done.append
        )
        for n, s in ((1, 5), (2, 5), (1, 6))
    ]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    assert sum(done) == 90


def test_a_resample_is_the_fit_of_the_votes_of_those_drawn():
    """With nobody active, drawing everybody twice and once is a fit of weighted votes."""
    votes = simulate_crowd(1500, 12, 5, deviants=0, clickers=0, seed=1).votes
    model = fitted(votes)
    model.stop_at(float(model.path_.times[0]) * 0.999)
    evidence = evidence_at(model)
    assert not evidence.active.any()
    from prefpath.inference.bootstrap import _solve_block
    from prefpath.inference.consensus import fit_consensus

    times = np.tile([0.0, 1.0, 3.0, 2.0], 3)[:, None]
    found = _solve_block(evidence, cluster_covariance(evidence), times)[0]
    problem = Problem.build(votes).with_weight(votes.weight * times[votes.annotator, 0])
    weighted = gather_evidence(replace(model.fitted_, problem=problem))
    np.testing.assert_allclose(found, fit_consensus(weighted).coefficient, atol=1e-5)


def test_copies_of_one_crowd_member_do_not_make_us_surer():
    """Every annotator's votes ten times over: clustered errors stay, naive ones shrink."""
    votes = simulate_crowd(1200, 25, 5, deviants=0, clickers=0, seed=2).votes
    who, left, right = votes.annotators[votes.annotator], votes.items, votes.items
    once = (who, left[votes.left], right[votes.right], votes.choice)
    tenfold = Votes.from_arrays(*once, votes.weight * 10.0)
    errors = []
    for given in (votes, tenfold):
        model = fitted(given)
        model.stop_at(float(model.path_.times[0]) * 0.999)
        errors.append(cluster_covariance(evidence_at(model)).covariance.diagonal())
    np.testing.assert_allclose(errors[1], errors[0], rtol=0.05)


def test_an_item_that_never_lost_has_null_bounds_and_says_so():
    votes = simulate_crowd(800, 12, 4, deviants=0, clickers=0, seed=0).votes
    who = votes.annotators[votes.annotator].tolist() + [str(a) for a in votes.annotators]
    left = votes.items[votes.left].tolist() + ["champion"] * 12
    right = votes.items[votes.right].tolist() + [str(votes.items[k % 4]) for k in range(12)]
    choice = votes.choice.tolist() + [1.0] * 12
    model = fitted(Votes.from_arrays(who, left, right, choice))
    for interval in ("sandwich", "bootstrap"):
        columns = model.ranking_columns(interval=interval, n_resamples=40)
        place = columns["item"].tolist().index("champion")
        assert columns["score_low"][place] is None and columns["score_high"][place] is None
        assert not columns["bounded"][place]
        # Were it no better than the best of the others, twelve wins would be a chance of 2 %.
        assert (columns["rank_low"][place], columns["rank_high"][place]) == (1, 1)
        assert all(low is not None for k, low in enumerate(columns["score_low"]) if k != place)
    chance = model.win_probability("champion", str(votes.items[0]))
    assert chance["probability"] > 0.5 and chance["low"] is None


def test_scales_are_one_ranking_seen_three_ways(model):
    natural, elo = model.ranking_columns(), model.ranking_columns(scale="elo")
    np.testing.assert_allclose(elo["score"], 1000 + ELO_POINTS * natural["score"])
    np.testing.assert_allclose(elo["score_low"], 1000 + ELO_POINTS * np.array(natural["score_low"]))
    chance = model.ranking_columns(scale="probability")
    assert np.all((np.array(chance["score_low"]) > 0) & (np.array(chance["score_high"]) < 1))
    np.testing.assert_allclose(chance["score"], 1 / (1 + np.exp(-natural["score"])), atol=1e-6)


def test_the_anchor_stands_still(model):
    label = model.votes_.items[2]
    columns = model.ranking_columns(scale="elo", anchor=(label, 1200))
    place = columns["item"].tolist().index(label)
    assert columns["score"][place] == pytest.approx(1200)
    # What the full fit lacks of where it would settle is the same for the anchor: no width.
    assert columns["score_low"][place] == pytest.approx(1200)
    assert columns["score_high"][place] == pytest.approx(1200)
    for other in range(len(place_free := columns["item"])):
        if other != place:
            assert columns["score_low"][other] < columns["score_high"][other], place_free


def test_win_probability_mirrors(model):
    a, b = model.votes_.items[:2]
    one, other = model.win_probability(a, b), model.win_probability(b, a)
    assert one["probability"] == pytest.approx(1 - other["probability"])
    assert one["low"] == pytest.approx(1 - other["high"])
    assert one["low"] < one["probability"] < one["high"]


def test_a_wider_level_is_a_wider_interval(model):
    narrow, wide = (model.ranking_columns(level=level) for level in (0.5, 0.99))
    assert np.all(np.array(narrow["score_low"]) > np.array(wide["score_low"]))
    assert np.all(narrow["rank_high"] <= wide["rank_high"])


def test_the_common_position_effect_is_found_with_its_interval():
    crowd = simulate_crowd(4000, 40, 5, deviants=0, clickers=0, seed=8)
    votes = crowd.votes
    flip = np.random.default_rng(0).random(votes.n_rows) < 0.2
    leaning = Votes.from_arrays(  # a fifth of the votes go to the left, whatever is there
        votes.annotators[votes.annotator],
        votes.items[votes.left],
        votes.items[votes.right],
        np.where(flip, 1.0, votes.choice),
    )
    model = fitted(leaning, common_position=True)
    effect = model.position_effect()
    assert 0 < effect["low"] < effect["position_effect"] < effect["high"]
    assert effect["first_probability"] > 0.5
    unknown = fitted(votes, common_position=True).position_effect()
    assert unknown["low"] < 0.1 and unknown["high"] > -0.1


def test_it_works_with_features():
    features = np.random.default_rng(3).standard_normal((10, 3))
    model = fitted(simulate_crowd(2000, 25, 10, features=features, seed=5).votes, features=features)
    for interval in ("sandwich", "bootstrap"):
        columns = model.ranking_columns(interval=interval, n_resamples=40, scale="probability")
        assert np.all(columns["bounded"])
        assert np.all(np.array(columns["score_low"]) < columns["score"])


def test_frames_have_nulls():
    who, left, right = ["u", "v", "u", "v"], list("abab"), list("baac")
    votes = Votes.from_arrays(who, left, right, [1, 1, 1, 1], self_comparisons="drop")
    model = fitted(votes)
    object.__setattr__(model.votes_, "frame_library", "polars")
    frame = model.ranking()
    assert isinstance(frame, pl.DataFrame)
    assert frame.filter(pl.col("item") == "c")["score_low"].is_null().all()
    object.__setattr__(model.votes_, "frame_library", "pandas")
    assert isinstance(model.ranking(), pd.DataFrame)


def test_bad_settings_are_named(model):
    with pytest.raises(VoteError, match="no item 'nothing'"):
        model.ranking(anchor="nothing")
    with pytest.raises(VoteError, match="no item 'nothing'"):
        model.win_probability("nothing", model.votes_.items[0])
    for level in (0.0, 1.0, 95, float("nan")):
        with pytest.raises(SettingError, match="level"):
            model.ranking(level=level)
    with pytest.raises(SettingError, match="scale"):
        model.ranking(scale="glicko")
    with pytest.raises(SettingError, match="interval"):
        model.ranking(interval="jackknife")
    with pytest.raises(SettingError, match="no common position"):
        model.position_effect()
    few = fitted(simulate_crowd(300, 4, 4, seed=0).votes)
    with pytest.raises(SettingError, match="bootstrap over 4 annotators"):
        few.ranking(interval="bootstrap")


def test_one_annotator_gets_the_intervals_of_their_votes():
    columns = fitted(simulate_crowd(400, 1, 4, deviants=0, clickers=0, seed=0).votes)
    table = columns.ranking_columns()
    assert all(low is not None for low in table["score_low"])


@pytest.mark.parametrize("common_position", [False, True])
def test_leverage_is_removed_from_few_votes_as_kernels_do(monkeypatch, common_position):
    votes = simulate_crowd(1500, 25, 6, clickers=2, seed=5).votes
    evidence = evidence_at(fitted(votes, common_position=common_position))
    few = cluster_covariance(evidence)
    monkeypatch.setattr(leverage, "_FEW_ANNOTATORS", 0)
    np.testing.assert_allclose(few.covariance, cluster_covariance(evidence).covariance, rtol=1e-9)
