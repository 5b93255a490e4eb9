"""The estimator with weak effects: when they are used, and where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import PreferenceModel, SettingError, Votes, simulate_crowd
from prefpath.model.features import ItemFeatures

CROWD = simulate_crowd(1_500, 15, 6, deviants=2, clickers=1, seed=0)


@pytest.fixture(scope="module")
def model() -> PreferenceModel:
    return PreferenceModel(n_times=20).fit(CROWD.votes)


def test_predictions_are_those_of_the_weak_effects(model) -> None:
    assert model.weak_ is model.weak_  # once
    votes = model.votes_
    margin = model.decision_function(votes)
    assert not np.allclose(margin, PreferenceModel.decision_function(without(model), votes))
    left = model.predict_proba(votes)[:, 1]
    np.testing.assert_allclose(left, model.fitted_.loss.probability(margin))


def without(model: PreferenceModel) -> PreferenceModel:
    other = PreferenceModel(n_times=20, weak=False)
    other.fitted_ = model.fitted_
    return other


def test_they_are_computed_again_at_another_time(model) -> None:
    other = PreferenceModel(n_times=20)
    other.fitted_ = model.fitted_
    before = other.weak_
    other.stop_at(float(model.path_.times[0]))
    assert other.weak_ is not before
    assert not other.weak_.entered.taste.any()


def test_auto_is_off_without_cross_validation() -> None:
    plain = PreferenceModel(cv=0, n_times=10, t_ratio=10.0).fit(CROWD.votes)
    assert plain.weak_ is None
    with pytest.raises(SettingError, match="shrunk scores"):
        plain.ranking(shrunk=True)
    with pytest.raises(SettingError, match="weak is 'yes'"):
        PreferenceModel(weak="yes").fit(CROWD.votes)


def test_the_common_ranking_is_not_shrunk_unless_asked(model) -> None:
    common, shrunk = model.ranking_columns(interval=None), model.ranking_columns(shrunk=True)
    assert "shrunk" not in common and shrunk["shrunk"].all()
    np.testing.assert_allclose(np.sort(common["score"]), np.sort(model.fitted_.scores))
    assert np.std(shrunk["score"]) < np.std(common["score"])


def test_a_personal_ranking_is_by_personal_scores(model) -> None:
    label = CROWD.deviants[0]
    columns = model.ranking_columns(label)
    own = model.weak_.personal_scores(model.votes_.annotator_code(label))
    assert columns["item"].tolist() == model.votes_.items[np.argsort(-own)].tolist()
    personal = model.personal(label)
    assert list(personal["item"]) == columns["item"].tolist()


def test_who_stands_out_does_not_depend_on_them(model) -> None:
    ours, theirs = model.annotator_columns(), without(model).annotator_columns()
    for name, column in ours.items():
        np.testing.assert_array_equal(column, theirs[name])


def test_new_items_by_label() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(6, 2))
    crowd = simulate_crowd(2_000, 10, 6, deviants=0, clickers=0, features=phi, seed=1)
    labels = np.append(crowd.votes.items, "new")
    table = ItemFeatures(labels, ("x", "y"), np.vstack((phi, 3.0 * crowd.common)))
    model = PreferenceModel(features=table, n_times=10, cv=3).fit(crowd.votes)
    asked = pandas.DataFrame({"left": ["new"], "right": [labels[0]], "annotator": ["nobody"]})
    expected = float((3.0 * crowd.common - phi[0]) @ crowd.common)
    assert model.decision_function(asked)[0] == pytest.approx(expected, rel=0.3)


@pytest.mark.filterwarnings("ignore::prefpath.errors.VoteWarning")
@pytest.mark.parametrize("cv", [0, 3])
def test_a_position_effect_that_no_vote_tells_of_is_none(cv) -> None:
    """It was asked for, and no side is known; or only those of votes that weigh nothing."""
    crowd = simulate_crowd(600, 10, 4, seed=0).votes
    sided = np.arange(crowd.n_rows) < 3
    for known, weight in ((False, crowd.weight), (sided, np.where(sided, 0.0, crowd.weight))):
        votes = Votes.from_codes(
            *(crowd.annotator, crowd.left, crowd.right, crowd.choice, weight),
            annotators=crowd.annotators,
            items=crowd.items,
            position_known=known,
        )
        model = PreferenceModel(common_position=True, weak=True, cv=cv).fit(votes)
        left = model.predict_proba(votes)[:, 1]
        assert ((left > 0.0) & (left < 1.0)).all()
        assert not model.weak_.values.position.any()
