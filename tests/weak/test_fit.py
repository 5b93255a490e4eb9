"""What the weak part predicts: gains, invariances, strangers, new items."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from prefpath import Votes, fit_path
from prefpath.fitted import Fitted
from prefpath.model.problem import Problem
from prefpath.predict import Comparisons, path_margins
from prefpath.selection.criteria import log_loss
from prefpath.weak import WeakEffects, fit_weak


def crowd(kind: str, n_votes: int = 4_000, seed: int = 0, n_annotators: int = 40):
    """Columns of votes of a crowd in which all deviate a little, are noisy, or just follow."""
    rng = np.random.default_rng(seed)
    n_items = 12
    theta, taste = rng.normal(size=n_items), np.zeros((n_annotators, n_items))
    slope, lean = np.ones(n_annotators), np.zeros(n_annotators)
    if kind == "all deviate":
        taste = rng.normal(0, 0.8, taste.shape)
        lean = rng.normal(0, 0.5, n_annotators)
    if kind == "noisy third":
        slope[: n_annotators // 3] = 0.2
    who = rng.integers(0, n_annotators, n_votes)
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    margin = slope[who] * (theta[left] - theta[right]) + lean[who]
    margin += taste[who, left] - taste[who, right]
    choice = np.where(rng.random(n_votes) < expit(margin), 1.0, -1.0)
    return who, left, right, choice


def fitted_to(columns, loss: str = "bradley-terry", **how) -> Fitted:
    votes = Votes.from_arrays(*columns)
    problem = Problem.build(votes, loss=loss, balance=True, **how)
    path = fit_path(votes, loss=loss, balance=True, n_times=8, t_ratio=4.0, n_threads=1, **how)
    return Fitted.of(problem, path)


def halves(columns):
    return tuple(c[::2] for c in columns), tuple(c[1::2] for c in columns)


def as_comparisons(fitted: Fitted, columns) -> Comparisons:
    votes = fitted.votes
    who, left, right = (
        np.searchsorted(labels, column)
        for labels, column in zip(
            (votes.annotators, votes.items, votes.items), columns[:3], strict=True
        )
    )
    return Comparisons(who, left, right, np.ones(len(left), dtype=bool))


def held_out(fitted: Fitted, weak: WeakEffects, test) -> tuple[float, float]:
    asked, weight = as_comparisons(fitted, test), np.ones(len(test[3]))
    sparse = path_margins(fitted.path, asked, fitted.t)
    return (
        log_loss(weak.margins(asked), test[3], weight, fitted.loss),
        log_loss(sparse, test[3], weight, fitted.loss),
    )


@pytest.mark.parametrize("kind", ["all deviate", "noisy third"])
def test_held_out_votes_are_predicted_better_where_many_deviate_a_little(kind: str) -> None:
    train, test = halves(crowd(kind))
    fitted = fitted_to(train)
    with_weak, without = held_out(fitted, fit_weak(fitted), test)
    assert with_weak < without - 0.005


def test_nothing_is_lost_where_all_follow_and_strengths_go_to_zero() -> None:
    train, test = halves(crowd("follow"))
    fitted = fitted_to(train)
    weak = fit_weak(fitted)
    with_weak, without = held_out(fitted, weak, test)
    assert with_weak < without + 0.002
    assert weak.strengths.get("tastes", 0.0) < 0.2
    assert weak.strengths.get("attention", 0.0) < 0.3


@pytest.mark.parametrize("n_items", [200, 400])
def test_where_items_have_few_votes_slopes_do_not_take_the_place_of_scores(n_items: int) -> None:
    """The likelihood had scores of 0 and slopes of any size: every prediction was a coin's."""
    rng = np.random.default_rng(1)
    theta = rng.normal(size=n_items)
    who, left = np.repeat(np.arange(60), 50), rng.integers(0, n_items, 3_000)
    right = (left + rng.integers(1, n_items, 3_000)) % n_items
    chance = expit(theta[left] - theta[right])
    votes = Votes.from_arrays(who, left, right, np.where(rng.random(3_000) < chance, 1.0, -1.0))
    problem = Problem.build(votes, balance=True)
    fitted = Fitted.of(problem, fit_path(votes, balance=True, n_times=3, t_ratio=2.0, n_threads=1))
    weak = fit_weak(fitted)
    assert weak.strengths["scores"] > 0.5
    assert weak.strengths.get("attention", 0.0) < 0.5
    asked = Comparisons(votes.annotator, votes.left, votes.right, votes.position_known)
    known = theta[votes.items.astype(int)]
    apart = known[votes.left] - known[votes.right]
    assert np.corrcoef(weak.margins(asked), apart)[0, 1] > 0.6


@pytest.mark.parametrize("loss", ["thurstone-mosteller", "linear", "huber"])
def test_other_losses_gain_too(loss: str) -> None:
    train, test = halves(crowd("all deviate"))
    fitted = fitted_to(train, loss)
    weak, asked = fit_weak(fitted), as_comparisons(fitted, test)
    right = np.mean(np.sign(weak.margins(asked)) == test[3])
    assert right > np.mean(np.sign(path_margins(fitted.path, asked, fitted.t)) == test[3])


def test_the_likelihood_finds_the_strengths_the_votes_were_drawn_with() -> None:
    fitted = fitted_to(crowd("all deviate", 20_000))
    weak = fit_weak(fitted.at(fitted.path.times[0]), n_folds=0)  # nobody has entered yet
    assert weak.strengths["scores"] == pytest.approx(1.0, rel=0.4)
    assert weak.strengths["tastes"] == pytest.approx(0.8, rel=0.15)
    assert weak.strengths["leans"] == pytest.approx(0.5, rel=0.3)


def test_relabelling_changes_nothing() -> None:
    columns = crowd("all deviate", 1_500)
    fitted = fitted_to(columns)
    order = np.random.default_rng(1).permutation(12)
    other = fitted_to((columns[0], order[columns[1]], order[columns[2]], columns[3]))
    one, two = fit_weak(fitted, n_folds=0), fit_weak(other, n_folds=0)
    np.testing.assert_allclose(one.scores, two.scores[order], atol=1e-3)
    np.testing.assert_allclose(one.personal_scores(3), two.personal_scores(3)[order], atol=1e-3)


def test_swapping_sides_changes_signs() -> None:
    who, left, right, choice = crowd("all deviate", 1_500)
    fitted, other = fitted_to((who, left, right, choice)), fitted_to((who, right, left, -choice))
    one, two = fit_weak(fitted, n_folds=0), fit_weak(other, n_folds=0)
    np.testing.assert_allclose(one.scores, two.scores, atol=1e-3)
    np.testing.assert_allclose(one.values.lean, -two.values.lean, atol=1e-3)


def test_weight_two_is_the_row_twice() -> None:
    columns = crowd("all deviate", 800)
    doubled = tuple(np.concatenate((c, c)) for c in columns)
    weighted = (*columns, np.full(800, 2.0))
    one, two = fit_weak(fitted_to(doubled), n_folds=0), fit_weak(fitted_to(weighted), n_folds=0)
    np.testing.assert_allclose(one.chosen.tau, two.chosen.tau, rtol=1e-3)
    np.testing.assert_allclose(one.scores, two.scores, atol=1e-4)


def test_a_stranger_is_predicted_less_surely_than_one_who_follows() -> None:
    fitted = fitted_to(crowd("all deviate"))
    weak = fit_weak(fitted)
    best, worst = int(weak.scores.argmax()), int(weak.scores.argmin())
    asked = Comparisons(*(np.array([k]) for k in (-1, best, worst)), np.ones(1, dtype=bool))
    margin = float(weak.margins(asked)[0])
    assert 0.0 < margin < weak.scores[best] - weak.scores[worst]


def test_new_items_follow_from_their_features() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(12, 3))
    who, left, right, _ = crowd("follow")
    score = features @ np.array([1.0, -1.0, 0.5])
    choice = np.where(rng.random(len(who)) < expit(score[left] - score[right]), 1.0, -1.0)
    weak = fit_weak(fitted_to((who, left, right, choice), features=features))
    new = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0]])
    asked = Comparisons(np.array([0, -1]), np.full(2, -1), np.full(2, 3), np.ones(2, dtype=bool))
    margin = weak.margins(asked, new - features[3])
    expected = (new - features[3]) @ np.array([1.0, -1.0, 0.5])
    np.testing.assert_allclose(margin, expected, atol=0.6)


def test_personal_scores_give_the_margins() -> None:
    fitted = fitted_to(crowd("all deviate", 1_500))
    weak = fit_weak(fitted, n_folds=0)
    u, i, j = 5, 2, 7
    scores = weak.personal_scores(u)
    asked = Comparisons(np.array([u]), np.array([i]), np.array([j]), np.zeros(1, dtype=bool))
    assert weak.moments(asked).mean[0] == pytest.approx(scores[i] - scores[j])
