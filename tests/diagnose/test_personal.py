"""Personal leaderboards of annotators and groups."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from prefpath import PreferenceModel, VoteError, simulate_crowd
from prefpath.diagnose import personal_ranking


@pytest.fixture(scope="module")
def crowd():
    return simulate_crowd(5_000, 30, 8, activity="even", deviants=2, clickers=0, seed=1)


@pytest.fixture(scope="module")
def model(crowd):
    return PreferenceModel(cv=0, n_times=12, t_ratio=4.0).fit(crowd.votes)


def test_a_deviants_ranking_is_closer_to_their_own_truth(crowd, model):
    label = crowd.deviants[0]
    u = crowd.votes.annotator_code(label)
    truth = crowd.scores + crowd.deviation[[u]].toarray().ravel()
    found = personal_ranking(model, label)
    assert np.corrcoef(found.scores, truth)[0, 1] > np.corrcoef(found.common, truth)[0, 1]
    assert found.own_share > 0.2 and found.kendall_distance > 0


def test_a_follower_has_the_common_ranking(crowd, model):
    active = set(model.path_.active_deviations(model.t_)[0])
    quiet = next(u for u in range(30) if u not in active)
    found = personal_ranking(model, crowd.votes.annotators[quiet])
    columns = found.columns()
    assert found.own_share == 0.0 and found.kendall_distance == 0.0
    np.testing.assert_array_equal(columns["rank"], columns["common_rank"])


def test_columns_agree_with_the_models_own_ranking(crowd, model):
    label = crowd.deviants[1]
    columns = personal_ranking(model, label).columns()
    own = model.ranking_columns(label)
    common = model.ranking_columns(interval=None)
    np.testing.assert_array_equal(columns["item"], own["item"])
    np.testing.assert_allclose(columns["score"], own["score"])
    ranks = dict(zip(common["item"], common["rank"], strict=True))
    assert [ranks[item] for item in columns["item"]] == columns["common_rank"].tolist()
    np.testing.assert_array_equal(columns["moved"], columns["common_rank"] - columns["rank"])


def test_a_group_is_the_mean_of_its_members_by_votes(crowd, model):
    pair = list(crowd.deviants)
    group = personal_ranking(model, pair)
    one, two = (personal_ranking(model, label) for label in pair)
    mean = (one.votes * one.own + two.votes * two.own) / (one.votes + two.votes)
    np.testing.assert_allclose(group.own, mean)
    np.testing.assert_allclose(group.shown, one.shown + two.shown)
    twice = personal_ranking(model, [pair[0], pair[0]])
    np.testing.assert_allclose(twice.own, one.own)


def test_features_carry_a_taste_to_items_never_seen():
    phi = np.random.default_rng(0).normal(size=(12, 2))
    crowd = simulate_crowd(3_000, 20, 12, deviants=1, clickers=0, features=phi, seed=2)
    model = PreferenceModel(features=phi, cv=0, n_times=10, t_ratio=20.0).fit(crowd.votes)
    found = personal_ranking(model, crowd.deviants[0])
    expected = model.path_.personal_scores(crowd.deviants[0], model.t_)
    np.testing.assert_allclose(found.scores, expected)


def test_the_frame_has_a_row_for_each_item(model, crowd):
    assert len(model.personal(crowd.deviants[0])) == 8


@pytest.mark.parametrize("who", ["nobody", ["nobody"]])
def test_an_annotator_not_in_the_votes_is_an_error(model, who):
    with pytest.raises(VoteError, match="no annotator 'nobody'"):
        personal_ranking(model, who)


def test_no_annotator_is_an_error(model):
    with pytest.raises(VoteError, match="no annotator is named"):
        personal_ranking(model, [])


def test_the_common_ranks_beside_are_the_leaderboards(model):
    """Whatever is common to weak effects: where few predict best alone, that is nothing."""
    fitted = model.fitted_
    weak = SimpleNamespace(scores=0.0 * fitted.scores, personal_scores=lambda _: -fitted.scores)
    found = personal_ranking(fitted, fitted.votes.annotators[0], weak=weak)
    assert np.array_equal(found.common, fitted.scores)
    assert np.allclose(found.scores, -fitted.scores)
