"""Units and origins of features change no answer; what no vote can tell is said."""

import numpy as np
import pytest

from prefpath import PreferenceModel, VoteError, Votes, VoteWarning
from prefpath.model.standardised import StandardisedFeatures
from prefpath.votes.features import ItemFeatures

N_ITEMS = 12
FAST = {"cv": 0, "n_times": 8, "t_ratio": 8.0}


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(0)
    phi = np.column_stack((rng.normal(size=N_ITEMS), rng.integers(0, 2, N_ITEMS)))
    who = np.repeat(np.arange(12), 50)
    left = rng.integers(0, N_ITEMS, len(who))
    right = (left + rng.integers(1, N_ITEMS, len(who))) % N_ITEMS
    beta = np.where(who[:, None] == 3, [-1.5, 1.0], [1.0, -0.5])
    margin = ((phi[left] - phi[right]) * beta).sum(axis=1)
    choice = np.where(rng.random(len(who)) < 1 / (1 + np.exp(-margin)), 1, -1)
    return Votes.from_arrays(who, left, right, choice), phi


def table(matrix, n=N_ITEMS):
    return ItemFeatures(np.arange(n), tuple(f"x{k}" for k in range(matrix.shape[1])), matrix)


@pytest.mark.parametrize(
    ("shift", "unit"), [(2000.0, 1.0), (1e8, 1.0), (0.0, 1e6), (1.7e9, 1e9), (0.0, 1e-9)]
)
def test_units_and_origins_change_no_answer(crowd, shift, unit):
    votes, phi = crowd
    plain = PreferenceModel(features=phi, **FAST).fit(votes)
    moved = phi.copy()
    moved[:, 0] = shift + unit * phi[:, 0]
    other = PreferenceModel(features=moved, **FAST).fit(votes)
    assert other.path_.n_evaluations <= 1.1 * plain.path_.n_evaluations  # as little work, too
    for name in ("score", "score_low", "score_high"):
        np.testing.assert_allclose(
            other.ranking_columns()[name], plain.ranking_columns()[name], atol=1e-5
        )
    np.testing.assert_allclose(
        other.coefficients()["coefficient"] * [unit, 1.0],
        plain.coefficients()["coefficient"],
        atol=1e-5,
    )


def test_coefficients_give_the_margins_of_features_as_given(crowd):
    votes, phi = crowd
    year = np.vstack((phi * [10.0, 3.0] + [2000.0, -1.0], [[2013.0, 2.0]]))
    model = PreferenceModel(features=table(year, N_ITEMS + 1), **FAST, weak=False).fit(votes)
    pandas = pytest.importorskip("pandas")
    asked = pandas.DataFrame({"annotator": [3, 99], "left": [12, 12], "right": [0, 0]})
    gap = year[12] - year[0]
    lean = model.path_.position_bias(model.t_)[3]
    expected = [
        gap @ model.coefficients(3)["coefficient"] + lean,
        gap @ model.coefficients()["coefficient"],
    ]
    np.testing.assert_allclose(model.decision_function(asked), expected, atol=1e-10)
    np.testing.assert_array_equal(model.features_.matrix, year)


def test_a_constant_column_is_left_out_and_said(crowd):
    votes, phi = crowd
    more = table(np.column_stack((phi, np.full(N_ITEMS, 7.3))))
    with pytest.warns(VoteWarning, match="1 feature is the same .* was left out: 'x2'"):
        model = PreferenceModel(features=more, **FAST).fit(votes)
    plain = PreferenceModel(features=phi, **FAST).fit(votes)
    np.testing.assert_allclose(model.ranking_columns()["score"], plain.ranking_columns()["score"])
    assert model.coefficients()["coefficient"][2] == 0.0
    assert model.n_features_in_ == 3
    with pytest.raises(VoteError, match="every feature is the same"):
        PreferenceModel(features=np.ones((N_ITEMS, 2)), **FAST).fit(votes)


def test_collinear_columns_are_said_and_have_intervals(crowd):
    votes, phi = crowd
    more = np.column_stack((phi, 3.0 * phi[:, 0] + 5.0))
    with pytest.warns(VoteWarning, match="2 numeric features are collinear"):
        model = PreferenceModel(features=more, **FAST).fit(votes)
    assert np.isfinite(model.ranking_columns()["score_low"]).all()
    items = np.arange(N_ITEMS)
    assert StandardisedFeatures.standardise(table(phi), items).cautions(items) == []


def test_more_columns_than_items(crowd):
    votes, _ = crowd
    many = np.random.default_rng(1).normal(size=(N_ITEMS, 20))
    with pytest.warns(VoteWarning, match="12 compared items tell 11 of them apart"):
        PreferenceModel(features=many, **FAST).fit(votes)
