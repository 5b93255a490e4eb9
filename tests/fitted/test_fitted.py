"""One frozen value, one answer to each question, the same through every face."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from prefpath import PreferenceModel, SettingError, Votes, VoteWarning, calibrated_entry
from prefpath.cli.show import held_out
from prefpath.diagnose import diagnose, personal_ranking
from prefpath.findings import find
from prefpath.fitted import Fitted, as_fitted, rank_within
from prefpath.inference import common_scores, leaderboard_columns
from prefpath.report.data import Heading, Limits, gather
from prefpath.simulate import simulate_crowd


@pytest.fixture(scope="module")
def model() -> PreferenceModel:
    crowd = simulate_crowd(2000, 20, 5, deviants=2, clickers=1, seed=0)
    return PreferenceModel(cv=3, n_times=12, t_ratio=20.0, n_threads=1).fit(crowd.votes)


def two_groups() -> Votes:
    first = simulate_crowd(300, 8, 4, deviants=2, seed=1).votes
    who = first.annotators[first.annotator].tolist()
    left, right = first.items[first.left].tolist(), first.items[first.right].tolist()
    other = [f"other {item}" for item in left], [f"other {item}" for item in right]
    choice = first.choice.tolist()
    return Votes.from_arrays(who * 2, left + other[0], right + other[1], choice * 2)


def test_the_model_is_a_face_of_its_fitted_value(model):
    fitted = model.fitted_
    assert model.votes_ is fitted.votes
    assert model.path_ is fitted.path
    assert model.cv_ is fitted.cross_validation
    assert model.t_ == fitted.t == fitted.cross_validation.t_cv
    assert model.component_ is fitted.component
    assert model.balanced_ is fitted.balanced is True
    assert as_fitted(model) is as_fitted(fitted) is fitted


def test_a_fitted_value_is_frozen_and_another_time_is_another_value(model):
    fitted = model.fitted_
    with pytest.raises(AttributeError):
        fitted.t = 1.0
    start = float(fitted.path.times[0])
    early = fitted.at(start)
    assert (early.t, fitted.t) == (start, model.t_)
    np.testing.assert_array_equal(early.scores, fitted.path.scores(start))
    assert early.problem is fitted.problem
    for t in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(SettingError):
            fitted.at(t)


def test_held_out_error_is_linear_in_log_t_between_knots_and_constant_outside(model):
    fitted, found = model.fitted_, model.cv_
    for k in (0, 3, -1):
        at_knot = fitted.at(found.times[k]).held_out
        assert at_knot.error == pytest.approx(found.mean[k], rel=1e-12)
        assert at_knot.wrong == pytest.approx(found.mean_wrong[k], rel=1e-12)
    middle = fitted.at(np.sqrt(found.times[3] * found.times[4])).held_out
    assert middle.error == pytest.approx((found.mean[3] + found.mean[4]) / 2)
    assert fitted.at(found.times[-1] * 7).held_out.error == pytest.approx(found.mean[-1])
    assert fitted.held_out_of_one_ranking.error == pytest.approx(found.mean[0])


def test_terminal_json_and_report_say_the_same_error_between_knots(model):
    found = model.cv_
    fitted = model.fitted_.at(0.3 * found.times[2] + 0.7 * found.times[3])
    report = gather(find(fitted), Limits(), Heading("t", "", None), {})
    machine = report.findings.as_json()
    assert machine["held_out_error"] == report.journey.error[report.journey.chosen]
    assert machine["held_out_wrong"] == report.journey.wrong[report.journey.chosen]
    assert f"log-loss {machine['held_out_error']:.4f}" in held_out(fitted)
    assert held_out(fitted).startswith(f"{machine['held_out_wrong']:.1%} of")


def test_without_cross_validation_no_error_is_made_up():
    votes = simulate_crowd(300, 5, 4, seed=0).votes
    fitted = PreferenceModel(cv=0, n_times=3, t_ratio=3.0).fit(votes).fitted_
    assert fitted.held_out is None
    assert fitted.held_out_of_one_ranking is None
    assert fitted.criterion is None
    assert not fitted.chosen_by_hand


def test_ranks_hold_within_components_everywhere():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        model = PreferenceModel(cv=0, n_times=4, t_ratio=30.0).fit(two_groups())
    fitted = model.fitted_
    assert fitted.n_components == 2
    for c in (0, 1):
        assert sorted(fitted.ranks[fitted.component == c]) == [1, 2, 3, 4]
    columns = model.ranking_columns()
    assert columns["rank"].tolist() == [1, 2, 3, 4] * 2
    assert columns["item"].tolist() == fitted.votes.items[fitted.order].tolist()
    who = int(np.flatnonzero(np.diff(fitted.deviation.indptr))[0])
    own = personal_ranking(fitted, fitted.votes.annotators[who])
    np.testing.assert_array_equal(
        fitted.personal_ranks(who), rank_within(own.scores, own.component)
    )
    report = gather(find(fitted), Limits(), Heading("t", "", None), {})
    np.testing.assert_array_equal(report.personal.common_rank, fitted.ranks)
    np.testing.assert_array_equal(report.personal.own_rank[who], fitted.personal_ranks(who))


def test_what_is_computed_from_a_model_is_computed_from_its_fitted_value(model):
    fitted = model.fitted_
    assert common_scores(model) is common_scores(fitted)
    assert common_scores(model.fitted_.at(model.t_)) is not common_scores(model)
    of_model, of_value = diagnose(model).columns(), diagnose(fitted).columns()
    assert list(of_model) == list(of_value)
    assert of_model["verdict"].tolist() == of_value["verdict"].tolist()
    np.testing.assert_array_equal(
        model.ranking_columns()["score"], leaderboard_columns(fitted)["score"]
    )
    first, second = (calibrated_entry(m, n_copies=1) for m in (model, fitted))
    assert first.time == second.time


def test_an_unfitted_model_is_refused():
    for ask in (as_fitted, diagnose, common_scores):
        with pytest.raises(NotFittedError, match="not fitted"):
            ask(PreferenceModel())


def test_a_fitted_value_survives_pickle(model):
    again = pickle.loads(pickle.dumps(model))
    assert isinstance(again.fitted_, Fitted)
    np.testing.assert_array_equal(again.fitted_.scores, model.fitted_.scores)
    np.testing.assert_array_equal(
        again.predict_proba(model.votes_), model.predict_proba(model.votes_)
    )
