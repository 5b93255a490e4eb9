"""Tests in NumPy against their compiled twins: the same numbers, from the same random streams."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import Votes, simulate_crowd
from prefpath.diagnose.attention_kernels import AttentionAsked, attention_shard
from prefpath.diagnose.attention_likelihood import AttentionCells
from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.beyond_kernels import Decided, SlopeFit, beyond_shard
from prefpath.diagnose.exponentials import make_room
from prefpath.diagnose.few.attention import attention_of_few
from prefpath.diagnose.few.beyond import beyond_of_few
from prefpath.diagnose.few.leans import estimate_few, lean_test_of_few
from prefpath.diagnose.few.margins import leave_out_of_few, log_chance_of_few, score_of_few
from prefpath.diagnose.few.tails import Terms, two_sided_ps
from prefpath.diagnose.few.taste import taste_of_few
from prefpath.diagnose.lean_kernels import Counts, estimate_shard
from prefpath.diagnose.lean_test import SideModel, lean_shard
from prefpath.diagnose.null_model import NullModel, log_chance_shard
from prefpath.diagnose.streams import MOST_ONE_BY_ONE
from prefpath.diagnose.tails import two_sided_p
from prefpath.diagnose.taste import N_REPORTED, Sequential, taste_shard
from prefpath.diagnose.without_own_kernels import leave_out_shard, score_of_pooled_slope
from prefpath.machine import FEW_ROWS

KINDS = {
    "single votes": {},
    "repeated votes": {"repeated": True},
    "probit": {"loss": "thurstone-mosteller", "repeated": True},
    "features": {"with_features": True},
}


def crowd_of(*, loss="bradley-terry", repeated=False, with_features=False) -> Ballots:
    """A busy few, many with one or a few votes, and sides that are not always known."""
    rng = np.random.default_rng(3)
    votes = simulate_crowd(500, 40, 7, deviants=3, clickers=3, seed=8).votes
    weight = rng.choice([1.0, 2.0, 5.0, MOST_ONE_BY_ONE], votes.n_rows, p=[0.6, 0.2, 0.15, 0.05])
    votes = Votes.from_codes(
        votes.annotator,
        votes.left,
        votes.right,
        votes.choice,
        weight if repeated else votes.weight,
        annotators=votes.annotators,
        items=votes.items,
        position_known=rng.random(votes.n_rows) < 0.8,
    )
    features = rng.normal(size=(votes.n_items, 2)) if with_features else None
    return Ballots.of(votes, loss=loss, features=features)


@pytest.fixture(params=KINDS, scope="module")
def ballots(request) -> Ballots:
    return crowd_of(**KINDS[request.param])


def null_of(ballots, margin) -> NullModel:
    p = ballots.probability(margin)
    rng = np.random.default_rng(1)
    error = rng.uniform(0.05, 0.6, ballots.votes.n_items)
    return NullModel(ballots.trials, ballots.wins, p, ballots.slope_at(margin, p), error)


def margin_of(ballots, seed=2):
    return np.random.default_rng(seed).normal(0, 1.2, len(ballots.trials))


def everybody(ballots):
    return np.arange(ballots.n_annotators)


def same(found, wanted, rtol=1e-9):
    assert np.isfinite(wanted).any()
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize(("n_draws", "enough"), [(60, 3), (450, 10)])
def test_tastes_are_drawn_alike(ballots, moved, n_draws, enough):
    null, n = null_of(ballots, margin_of(ballots)), ballots.n_annotators
    outside = np.arange(n) % 3 != 0 if moved else np.zeros(n, dtype=bool)
    how, who = Sequential(np.uint64(5), n_draws, enough), everybody(ballots)[::-1][1:]
    reports = [np.zeros((n, N_REPORTED)) for _ in range(2)]
    for test, report in zip((taste_shard, taste_of_few), reports, strict=True):
        test(np.sort(who), ballots.design, null, outside, ballots.draw_order, how, report)
    same(reports[1], reports[0])
    assert len(np.unique(reports[0][:, 1])) > 3  # they stop at different draws


def test_tastes_are_drawn_alike_where_one_has_more_votes_than_sixteen_bits_count():
    n_items, n = 280, 70_000
    left, right = (part.astype(np.int32) for part in np.divmod(np.arange(n_items**2), n_items))
    rows = np.flatnonzero(left != right)[:n]
    pairs, won = (left[rows], right[rows]), np.where(np.arange(n) % 3, 1.0, -1.0)
    named = {"annotators": np.array(["Ada"]), "items": np.arange(n_items).astype(str)}
    ballots = Ballots.of(Votes.from_codes(np.zeros(n, np.int32), *pairs, won, **named))
    # Whoever is on the left nearly always wins: left wins are many, with a sign.
    null, how = null_of(ballots, np.full(n, 5.0)), Sequential(np.uint64(5), 20, 20)
    reports = [np.zeros((1, N_REPORTED)) for _ in range(2)]
    for test, report in zip((taste_shard, taste_of_few), reports, strict=True):
        nobody = np.zeros(1, dtype=bool)
        test(np.zeros(1, int), ballots.design, null, nobody, ballots.draw_order, how, report)
    same(reports[1], reports[0])


@pytest.mark.parametrize("interval", [False, True])
def test_attention_is_measured_alike(ballots, interval):
    n, rng = ballots.n_annotators, np.random.default_rng(4)
    difference = margin_of(ballots)
    difference[: ballots.design.cells[3]] = 0.0  # the first three saw no difference
    design = ballots.design
    cells = AttentionCells(
        *(difference, ballots.trials, ballots.wins),
        *(design.position, design.left_at, design.right_at),
    )
    asked = AttentionAsked(rng.random(n) < 0.5, 0.3, ballots.probit, interval)
    variance = rng.uniform(0, 0.2, int(design.seen[-1]))
    variance[: design.seen[n // 2]] = 0.0
    found = [np.full((n, 6), np.nan) for _ in range(2)]
    for measure, out in zip((attention_shard, attention_of_few), found, strict=True):
        measure(everybody(ballots), design, cells, variance, asked, out)
    same(found[1], found[0], rtol=1e-8)


def test_what_slopes_do_not_explain_is_drawn_alike(ballots):
    n, rng = ballots.n_annotators, np.random.default_rng(6)
    fit = SlopeFit(
        slope=rng.normal(0.7, 0.5, n),
        lean=rng.normal(0, 0.4, n),
        own_lean=rng.random(n) < 0.5,
        difference=margin_of(ballots),
        score_variance=rng.uniform(0, 0.3, int(ballots.design.seen[-1])),
        correlation=rng.uniform(-0.9, 0.9, n),
        spread=0.8,
        probit=ballots.probit,
    )
    votes, drawing = Decided(ballots.trials, ballots.wins), (ballots.draw_order, np.uint64(7), 0.9)
    found = [np.full((n, 2), np.nan) for _ in range(2)]
    for look, out in zip((beyond_shard, beyond_of_few), found, strict=True):
        look(everybody(ballots)[1:], ballots.design, votes, fit, drawing, out)
    same(found[1], found[0])
    assert np.isnan(found[1][0]).all()
    assert ((found[0][1:] > 0) & (found[0][1:] < 0.1)).any()  # some are drawn to the end


@pytest.mark.parametrize("interval", [False, True])
def test_leans_are_estimated_alike(ballots, interval):
    counts = Counts(ballots.trials, ballots.wins, margin_of(ballots))
    found = [np.zeros((ballots.n_annotators, 3)) for _ in range(2)]
    for estimate, out in zip((estimate_shard, estimate_few), found, strict=True):
        estimate(everybody(ballots), ballots.design, counts, ballots.probit, interval, out)
    same(found[1], found[0])
    assert (np.abs(found[0]).max(axis=0) > 0.5).sum() == (3 if interval else 1)


@pytest.mark.parametrize("shared", [0.0, 0.6])
def test_leans_are_tested_alike(ballots, shared):
    margin = margin_of(ballots)
    p, swapped = ballots.probability(margin), ballots.probability(margin - 2.0 * shared)
    clicks_left = ballots.annotator % 2 == 0
    wins = np.where(clicks_left, ballots.trials, ballots.wins)
    model = SideModel(ballots.trials, wins, p, swapped)
    who = np.flatnonzero(ballots.sided > 0)
    found = [np.full(ballots.n_annotators, np.nan) for _ in range(2)]
    for test, out in zip((lean_shard, lean_test_of_few), found, strict=True):
        test(who, ballots.design, model, out)
    same(found[1], found[0], rtol=1e-7)
    assert np.nanmin(found[0]) < 1e-3  # saddlepoints are among them


def test_margins_without_own_votes_are_alike(ballots):
    null, n, design = null_of(ballots, margin_of(ballots)), ballots.n_annotators, ballots.design
    scores = np.random.default_rng(5).normal(size=ballots.votes.n_items)
    weight, who = np.where(np.arange(n) % 4, 1.0, 0.01), everybody(ballots)[2:]
    for prior in (0.0, 1.5):
        found = [(np.zeros(len(null.p)), np.zeros(int(design.seen[-1]))) for _ in range(2)]
        for leave_out, out in zip((leave_out_shard, leave_out_of_few), found, strict=True):
            leave_out(who, design, null, scores, weight, prior, out)
        same(found[1][0], found[0][0])
        same(found[1][1], found[0][1])


def test_sums_of_pooled_slopes_are_alike(ballots):
    counts = Counts(ballots.trials, ballots.wins, margin_of(ballots))
    asked = (0.8, 0.2, ballots.design, counts, ballots.probit, everybody(ballots) % 3 > 0)
    same(score_of_few(*asked), score_of_pooled_slope(*asked))


def test_chances_of_votes_are_alike(ballots):
    null, found = null_of(ballots, margin_of(ballots)), np.zeros((2, ballots.n_annotators))
    for chance, out in zip((log_chance_shard, log_chance_of_few), found, strict=True):
        chance(everybody(ballots), ballots.design, null, out)
    same(found[1], found[0])


def test_tail_probabilities_are_alike_in_the_middle_and_far_out():
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 40, 300)
    owner, n = np.repeat(np.arange(300), sizes), int(sizes.sum())
    step, p = rng.normal(size=n) * (rng.random(n) < 0.9), rng.uniform(0.02, 0.98, n)
    trials = rng.integers(0, 4, n).astype(float)
    wins = np.where(rng.random(300)[owner] < 0.5, rng.binomial(trials.astype(int), p), trials)
    extra = np.where(rng.random(300) < 0.5, 0.0, rng.uniform(0, 2, 300))
    observed = np.bincount(owner, step * (wins - trials * p), 300)
    observed[:20] = np.bincount(owner, trials * np.abs(step), 300)[:20]  # cannot be that far
    found = two_sided_ps(Terms(300, owner, step, trials, p), extra, observed)
    ends = np.concatenate(([0], np.cumsum(sizes)))
    room = make_room(40)
    for k in range(300):
        own = slice(ends[k], ends[k + 1])
        wanted = two_sided_p(step[own].copy(), trials[own], p[own], extra[k], observed[k], room)
        assert found[k] == pytest.approx(wanted, rel=1e-7, abs=1e-300), k
    assert found.min() < 1e-6 < 0.5 < found.max()


def test_votes_alone_say_whether_kernels_are_needed():
    few = crowd_of()
    assert few.are_few
    assert few.in_numpy_if_few(taste_shard, taste_of_few) is taste_of_few
    often = crowd_of(repeated=True)
    assert often.trials.sum() <= FEW_ROWS
    assert often.are_few
    once_more = Ballots(often.votes, often.design, often.trials + 1, often.wins, None, probit=False)
    assert not once_more.are_few
    many = Ballots(few.votes, few.design, np.full(500, 41.0), few.wins, None, probit=False)
    assert not many.are_few
