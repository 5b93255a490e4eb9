"""Crowds in which (nearly) everybody has a taste of their own, and what leverage they have."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize

from prefpath import PreferenceModel, Votes, fit_path, simulate_crowd
from prefpath.fitted import Fitted
from prefpath.inference import common_scores
from prefpath.inference.absorption import absorb, balanced_sizes, own_hessian
from prefpath.inference.consensus import fit_consensus
from prefpath.inference.evidence import Evidence, gather_evidence
from prefpath.inference.gradients import annotator_gradients
from prefpath.inference.leverage import remove_leverage
from prefpath.inference.sandwich import cluster_covariance
from prefpath.inference.words import describe_intervals
from prefpath.leaderboard import interval_meaning
from prefpath.model.problem import Problem
from prefpath.pairs import fit_bradley_terry, pool_votes


def judges(seed: int, n_annotators: int = 9, scale: float = 1.0):
    return simulate_crowd(
        300 * n_annotators,
        n_annotators,
        6,
        activity="even",
        deviants=1.0,
        clickers=0,
        deviation_scale=scale,
        seed=seed,
    )


def fitted_of(votes: Votes, ratio: float, **settings) -> Fitted:
    path = fit_path(votes, n_times=3, t_ratio=ratio, n_threads=1, **settings)
    problem = Problem.build(votes, **settings)
    return Fitted.of(problem, path)


def evidence_of(votes: Votes, ratio: float, **settings) -> Evidence:
    return gather_evidence(fitted_of(votes, ratio, **settings))


def test_where_everybody_is_fitted_alone_scores_are_what_the_votes_come_to():
    """Votes made from ratings predict each other: nothing on the path holds a middle taste."""
    generator = np.random.default_rng(3)
    rating = np.linspace(1.0, -1.0, 8) + generator.normal(0.0, 0.7, (30, 8))
    left, right = np.triu_indices(8, 1)
    who = np.repeat(np.arange(30), len(left))
    choice = np.sign(rating[:, left] - rating[:, right]).ravel()
    votes = Votes.from_arrays(
        who, np.tile(left, 30), np.tile(right, 30), choice, position_known=False
    )
    fitted = fitted_of(votes, 1e5)
    assert fitted.active_count[0] == 30
    found = common_scores(fitted, about="annotators").about_average()
    plain = fit_bradley_terry(pool_votes(votes)).scores
    assert found.bounded.all() and found.unseen_tastes
    assert found.score == pytest.approx(plain - plain.mean(), abs=0.01)
    assert "mean preference" in describe_intervals(fitted)


def test_nine_judges_who_all_deviate_have_intervals_and_they_hold_the_mean_taste():
    held, ratio = [], []
    for seed in range(25):
        drawn = judges(seed)
        fitted = fitted_of(drawn.votes, 8.0, position_bias=False)
        assert fitted.active_count[0] >= 8
        common = common_scores(fitted, about="annotators").about_average()
        truth = drawn.scores - drawn.scores.mean()
        low, high = common.interval(0.95)
        assert common.bounded.all() and not np.isnan(low).any()
        held.append(np.mean((low <= truth) & (truth <= high)))
        ratio.append([np.mean((common.score - truth) ** 2), np.mean(common.standard_error**2)])
    # 25 draws of six scores: the standard error of the share is about 2 %.
    assert 0.89 <= np.mean(held) <= 0.99
    error, variance = np.mean(ratio, axis=0)
    assert 0.8 < np.sqrt(error / variance) < 1.25


def test_an_item_that_never_lost_stays_unbounded_among_them():
    votes = judges(3).votes
    names = votes.annotators.tolist()
    who = votes.annotators[votes.annotator].tolist() + names
    left = votes.items[votes.left].tolist() + ["champion"] * len(names)
    right = votes.items[votes.right].tolist() + [votes.items[0]] * len(names)
    choice = votes.choice.tolist() + [1.0] * len(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PreferenceModel(cv=0, n_times=4, t_ratio=8.0, n_threads=1).fit(
            Votes.from_arrays(who, left, right, choice)
        )
    columns = model.ranking_columns()
    place = columns["item"].tolist().index("champion")
    assert [k for k, known in enumerate(columns["bounded"]) if not known] == [place]


def test_a_deviations_size_is_that_of_the_penalised_fit():
    """One Newton step from the path's deviation against the minimiser itself."""
    evidence = evidence_of(judges(1).votes, 6.0, position_bias=False)
    coefficient = fit_consensus(evidence).coefficient
    blocks, _ = annotator_gradients(evidence, coefficient)
    sizes = balanced_sizes(evidence, coefficient, blocks)
    found, expected = [], []
    for u in np.flatnonzero(evidence.active):
        found.append(sizes[u])
        expected.append(np.linalg.norm(penalised_deviation(evidence, int(u), coefficient)))
    own = [np.linalg.norm(own_block(evidence, u)) for u in np.flatnonzero(evidence.active)]
    error, naive = (np.abs(np.array(x) - expected) for x in (found, own))
    assert np.median(error) < 0.25 * np.median(naive)


def own_block(evidence: Evidence, u: int) -> np.ndarray:
    return evidence.own[evidence.path.blocks[u] : evidence.path.blocks[u + 1]]


def penalised_deviation(evidence: Evidence, u: int, coefficient: np.ndarray) -> np.ndarray:
    """Minimise u's loss and the penalty at rate m / t, straight from the rows."""
    votes, loss = evidence.problem.votes, evidence.problem.loss
    design = evidence.problem.design
    seen = design.seen_item[design.seen[u] : design.seen[u + 1]]
    rows = np.flatnonzero(votes.annotator == u)
    theta = evidence.scores(coefficient)
    price = evidence.penalty_rate * evidence.problem.deviation_threshold[u]

    def objective(own: np.ndarray) -> float:
        score = theta.copy()
        score[seen] += own
        margin = score[votes.left[rows]] - score[votes.right[rows]]
        total = (votes.weight[rows] * loss.value(margin, votes.choice[rows])).sum()
        return float(total + price * np.linalg.norm(own))

    best = minimize(objective, own_block(evidence, u), tol=1e-10)
    return np.asarray(best.x)


def test_who_has_only_just_entered_leaves_what_a_follower_would():
    """Across the deviation; along it the penalty no longer holds them."""
    evidence = evidence_of(judges(2).votes, 6.0, position_bias=False)
    coefficient = fit_consensus(evidence).coefficient
    u = int(np.flatnonzero(evidence.active)[0])
    whole = own_hessian(evidence, u, coefficient)[:-1, :-1]
    along = own_block(evidence, u) / np.linalg.norm(own_block(evidence, u))
    across = np.random.default_rng(0).standard_normal(len(along))
    across -= across.mean()
    # A direction that the whole curvature does not couple with the deviation.
    across -= along * (along @ whole @ across) / (along @ whole @ along)
    left = absorb(evidence, u, coefficient, 1e-9).matrix()
    assert across @ left @ across == pytest.approx(across @ whole @ across, rel=1e-3)
    far = absorb(evidence, u, coefficient, 1e3).matrix()
    assert across @ far @ across < 0.05 * (across @ whole @ across)


@pytest.mark.parametrize("common_position", [False, True])
@pytest.mark.parametrize("with_features", [False, True])
def test_leverage_by_series_is_leverage_solved(common_position, with_features):
    features = np.random.default_rng(0).standard_normal((8, 3)) if with_features else None
    votes = simulate_crowd(3000, 60, 8, features=features, seed=4).votes
    evidence = evidence_of(votes, 3.0, features=features, common_position=common_position)
    assert evidence.active.any() and not evidence.active.all()
    clustered = cluster_covariance(evidence)
    coefficient, bread = clustered.consensus.coefficient, clustered.inverse
    blocks, sideways = annotator_gradients(evidence, coefficient)
    sizes = balanced_sizes(evidence, coefficient, blocks)
    before, side_before = blocks.copy(), sideways.copy()
    remove_leverage(evidence, coefficient, sizes, bread, blocks, sideways)
    ends, design = evidence.path.blocks, evidence.problem.design
    for u in range(votes.n_annotators):
        block = slice(int(ends[u]), int(ends[u + 1]))
        touched = design.seen_item[design.seen[u] : design.seen[u + 1]].astype(int)
        if with_features:
            touched = np.arange(3)
        gradient = before[block]
        if common_position:
            touched = np.append(touched, evidence.problem.n_common)
            gradient = np.append(gradient, side_before[u])
        if evidence.active[u]:
            curvature = absorb(evidence, u, coefficient, float(sizes[u])).matrix()
        else:
            whole = own_hessian(evidence, u, coefficient)
            curvature = whole[: len(touched), : len(touched)]
        moved = np.eye(len(touched)) - curvature @ bread[np.ix_(touched, touched)]
        expected = np.linalg.solve(moved, gradient)
        found = np.append(blocks[block], sideways[u]) if common_position else blocks[block]
        scale = np.linalg.norm(gradient)
        np.testing.assert_allclose(found, expected, atol=2e-3 * max(scale, 1e-12))


def test_the_leaderboard_says_what_its_intervals_are_about():
    assert "most annotators follow" in interval_meaning(100, 49)
    assert "gives all 9 a taste of their own" in interval_meaning(9, 9)
    assert "gives 8 of them a taste of their own" in interval_meaning(9, 8)
    assert "one annotator" in interval_meaning(1, 0)
