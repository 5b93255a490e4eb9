"""The inner cross-validation: folds, what is held out, and that it chooses well."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from prefpath import Votes
from prefpath.baselines import RankSVM
from prefpath.baselines.base import Fit
from prefpath.baselines.training import Training
from prefpath.baselines.tuning import _held_out_rows, cross_validate


def score_margins(fit: Fit, training: Training, rows: np.ndarray) -> np.ndarray:
    return fit.scores[training.votes.left[rows]] - fit.scores[training.votes.right[rows]]


def test_folds_over_votes_hold_out_each_row_once(votes: Votes) -> None:
    training = Training.from_votes(votes)
    masks = np.array(list(_held_out_rows(training, 5, "auto", 0)))
    assert_array_equal(masks.sum(axis=0), 1)
    assert np.ptp(masks.sum(axis=1)) <= 1


def test_folds_over_items_hold_out_every_vote_on_them(votes: Votes) -> None:
    training = Training.from_votes(votes, np.eye(votes.n_items))
    masks = list(_held_out_rows(training, 5, "auto", 0))
    for held_out in masks:
        kept = set(votes.left[~held_out]) | set(votes.right[~held_out])
        touched = np.isin(votes.left, list(kept)) & np.isin(votes.right, list(kept))
        assert_array_equal(touched, ~held_out)
        assert len(kept) == votes.n_items - 2


def test_rows_of_weight_zero_are_in_no_fold(votes: Votes) -> None:
    weight = votes.weight * (np.arange(votes.n_rows) % 2)
    masks = list(_held_out_rows(Training.from_votes(votes, weight=weight), 4, "votes", 0))
    assert not np.any(np.array(masks)[:, weight == 0])


def test_the_held_out_error_is_by_hand() -> None:
    votes = Votes.from_arrays(
        list("uvwx"), ["a"] * 4, ["b"] * 4, [1, 1, -1, 0], weight=[1.0, 2.0, 4.0, 8.0]
    )
    constant = [Fit(np.array([1.0, 0.0])), Fit(np.array([0.0, 0.0]))]
    tuning = cross_validate(
        lambda _: constant,
        score_margins,
        Training.from_votes(votes),
        n_folds=4,
        folds="votes",
        random_state=0,
    )
    assert tuning is not None
    assert tuning.n_folds == 3  # the tie's fold judges nothing
    assert_allclose(tuning.errors, [1 / 3, 1 / 2])
    assert tuning.best == 0


def test_the_first_of_equal_settings_wins(votes: Votes) -> None:
    model = RankSVM(C=(0.5, 0.5)).fit(votes)
    assert model.tuning is not None
    assert model.tuning.errors[0] == model.tuning.errors[1]
    assert model.tuning.best == 0


def test_nothing_is_held_out_where_there_is_nothing_to_choose(
    votes: Votes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*args: object, **kwargs: object) -> None:
        raise AssertionError("cross-validated one setting")

    monkeypatch.setattr("prefpath.baselines.base.cross_validate", never)
    assert RankSVM(C=1.0).fit(votes).tuning is None


def test_tuning_avoids_a_setting_that_learns_nothing(planted_votes) -> None:
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.normal(size=60), rng.normal(size=(60, 25))])
    votes = planted_votes(2 * features[:, 0], n_votes=400, seed=5)
    grid = (1e-4, 1e-2, 100.0)
    errors = RankSVM(C=grid).fit(votes, features).tuning.errors
    chosen = RankSVM(C=grid).fit(votes, features)
    truth = planted_votes(2 * features[:, 0], n_votes=20_000, seed=6, tie_share=0.0)

    def fresh_error(model: RankSVM) -> float:
        return float(np.average(model.predict(truth) != truth.choice, weights=truth.weight))

    each = [fresh_error(RankSVM(C=C).fit(votes, features)) for C in grid]
    assert np.argmin(errors) == grid.index(chosen.setting["C"])
    assert fresh_error(chosen) < max(each) - 0.01
