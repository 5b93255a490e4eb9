"""A path on a cluster is the path of one machine, and has the same bits on every cluster."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pandas
import pytest
from cluster_cases import assert_same_path, model_with, small_crowd

from prefpath import PreferenceModel, SettingError, fit_path
from prefpath.checkpoint import Checkpoint
from prefpath.distributed import shard_votes
from prefpath.distributed.collected import Cluster
from prefpath.distributed.fleet import Fleet
from prefpath.distributed.flow import begin_path
from prefpath.distributed.paths import cross_validate_on
from prefpath.distributed.selected import cross_validated_path
from prefpath.distributed.settings import FoldOf, fold_of_shard, held_out_weight
from prefpath.selection import sampling

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.xdist_group("cluster")

FEATURES = np.random.default_rng(0).normal(size=(6, 2))
GRID = {"n_times": 4, "t_ratio": 3.0}


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"balance": True, "common_position": True},
        {"features": FEATURES, "position_bias": False},
        {"loss": "thurstone-mosteller", "attention": True},
        {"loss": "linear"},
    ],
    ids=["plain", "balanced, shared position", "features", "probit, attention", "linear"],
)
def test_flow_agrees_with_one_machine(client, model):
    votes = small_crowd()
    found = fit_path(votes, client=client, **model, **GRID)
    expected = fit_path(votes, n_threads=1, **model, **GRID)
    assert (found.active_count(found.times[-1])[0]) > 0
    assert_same_path(found, expected, tolerance=1e-10)


@pytest.fixture(scope="module")
def sizes():
    """Clusters of one worker and of four."""
    with ExitStack() as opened:
        found = []
        for n in (1, 4):
            settings = {"threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
            cluster = opened.enter_context(distributed.LocalCluster(n_workers=n, **settings))
            client = distributed.Client(cluster, set_as_default=False)
            found.append(opened.enter_context(client))
        yield found


@pytest.mark.parametrize("solver", ["flow", "lbi"])
@pytest.mark.parametrize(
    "model",
    [
        {"common_position": True},
        {"loss": "thurstone-mosteller", "features": FEATURES, "balance": True},
        {"loss": "linear", "position_bias": False},
    ],
    ids=["shared position", "probit, features, balance", "linear, no position"],
)
def test_the_size_of_the_cluster_changes_no_bit(client, sizes, tmp_path, solver, model):
    """Two workers of two threads each, one of one, four of one."""
    sharded = shard_votes(small_crowd(), client, tmp_path)
    times = [40.0, 80.0] if solver == "flow" else [0.01, 0.1]
    settings = {"solver": solver, "times": times, **model}
    expected = fit_path(sharded, client=client, **settings)
    assert np.abs(expected.common[-1]).max() > 0
    for other in sizes:
        assert_same_path(fit_path(sharded, client=other, **settings), expected)


def test_the_linear_loss_with_features_agrees_although_one_machine_uses_moments(client):
    votes, model = small_crowd(), {"loss": "linear", "features": FEATURES}
    found, expected = (fit_path(votes, client=where, **model, **GRID) for where in (client, None))
    assert_same_path(found, expected, tolerance=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"features": FEATURES, "common_position": True},
        {"loss": "thurstone-mosteller"},
        {"loss": "linear", "position_bias": False},
    ],
    ids=["plain", "features, shared position", "probit", "linear, no position"],
)
def test_lbi_agrees_with_one_machine(client, model):
    votes = small_crowd()
    step = fit_path(votes, solver="lbi", times=[1e-3], **model).step
    settings = {"solver": "lbi", "times": step * np.array([3.0, 14.5]), "balance": True, **model}
    found = fit_path(votes, client=client, **settings)
    expected = fit_path(votes, **settings)
    assert found.step == pytest.approx(expected.step, rel=1e-10)
    assert_same_path(found, expected, tolerance=1e-10)
    assert found.n_evaluations == expected.n_evaluations


def test_lbi_refuses_a_step_that_is_not_stable(client):
    with pytest.raises(SettingError, match="not stable"):
        fit_path(small_crowd(), client=client, solver="lbi", step=1e9, times=[1.0])


def test_a_cross_validated_model_says_the_same(client):
    votes = small_crowd()
    settings = {"cv": 2, "weak": False, "n_times": 12}
    here = PreferenceModel(**settings).fit(votes)
    there = PreferenceModel(**settings).fit(votes, client=client)
    assert there.fitted_.problem.attention == here.fitted_.problem.attention
    assert there.t_ == pytest.approx(here.t_, rel=1e-10)
    np.testing.assert_allclose(there.cv_.errors, here.cv_.errors, rtol=1e-10)
    for table in ("ranking", "annotators"):
        found, expected = getattr(there, table)(), getattr(here, table)()
        # When somebody entered is found by bisection, to 1e-7 or so.
        pandas.testing.assert_frame_equal(found, expected, rtol=1e-6)


def unsampled_errors(votes, settings):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sampling, "_FEW_ROWS", 10**9)
        return PreferenceModel(**settings).fit(votes).cv_.errors


@pytest.fixture
def sampled(monkeypatch):
    """Folds follow a sample of the annotators of even the smallest crowd."""
    monkeypatch.setattr(sampling, "_FEW_ROWS", 0)
    monkeypatch.setattr(sampling, "_LEAST_ANNOTATORS", 12)
    monkeypatch.setattr(sampling, "_LEAST_VOTES", 300)
    monkeypatch.setattr(sampling, "_VOTES_AN_ITEM", 0)


def test_folds_of_a_sample_are_those_of_one_machine(client, sampled):
    votes, settings = small_crowd(), {"cv": 2, "weak": False, "n_times": 12}
    here = PreferenceModel(**settings).fit(votes)
    there = PreferenceModel(**settings).fit(votes, client=client)
    assert there.t_ == pytest.approx(here.t_, rel=1e-10)
    # When somebody entered is found by bisection, to 1e-7 or so.
    np.testing.assert_allclose(there.cv_.errors, here.cv_.errors, rtol=1e-7)
    assert not np.allclose(here.cv_.errors[:, 0], unsampled_errors(votes, settings)[:, 0])


def test_shards_draw_samples_that_stand_for_all_of_their_votes(client, tmp_path, sampled):
    votes = small_crowd()
    sharded = shard_votes(votes, client, tmp_path)
    plan = sampling.plan_sampling(votes.annotator_weight, votes.n_rows, votes.n_items, 2)
    assert plan is not None
    for shard in range(len(sharded)):
        part = sharded.read(shard)
        fold = fold_of_shard(part, shard, FoldOf(2, 7, 0, None, plan))
        assert fold.stands_for @ part.annotator_weight == pytest.approx(part.total_weight)
    model = PreferenceModel(cv=2, weak=False, n_times=12).fit(sharded, client=client, collect=False)
    assert 0.2 < model.cv_.mean.min() < np.log(2.0)


def test_given_times_are_cross_validated_too(client):
    votes, settings = small_crowd(), {"cv": 2, "t_ratio": 1.5, "n_times": 2, "weak": False}
    here = PreferenceModel(**settings).fit(votes)
    there = PreferenceModel(**settings).fit(votes, client=client)
    np.testing.assert_allclose(there.cv_.errors, here.cv_.errors, rtol=1e-9)
    assert_same_path(there.path_, here.path_, tolerance=1e-10)


def test_folds_can_be_drawn_in_the_shards(client, tmp_path):
    sharded = shard_votes(small_crowd(), client, tmp_path)
    weights = [
        np.array([held_out_weight(sharded.read(s), s, FoldOf(3, 7, k)).sum() for k in range(3)])
        for s in range(len(sharded))
    ]
    for shard, weight in enumerate(weights):
        votes = sharded.read(shard)
        assert weight.sum() == pytest.approx(votes.total_weight)
        assert np.ptp(weight) <= 1.0  # dealt out in turn
    cluster, folds = Cluster(client, sharded), [FoldOf(3, 7, k) for k in range(3)]
    found = cross_validate_on(cluster, model_with(), folds, np.array([60.0, 90.0]))
    assert found.errors.shape == (3, 2)
    assert 0.2 < found.mean[-1] < np.log(2.0)


def test_where_to_stop_is_found_without_collecting_votes(client, tmp_path, monkeypatch):
    sharded = shard_votes(small_crowd(), client, tmp_path)
    monkeypatch.setattr(type(sharded), "collect_with_rows", None)
    path, found = cross_validated_path(sharded, client, cv=3, n_times=8)
    folds = [FoldOf(3, 0, k) for k in range(3)]
    times = found.times[[0, -1]]
    expected = cross_validate_on(Cluster(client, sharded), model_with(), folds, times)
    # Folds beside a path are followed less closely, and tell the same.
    np.testing.assert_allclose(found.errors[:, [0, -1]], expected.errors, rtol=2e-3)
    assert path.times[0] <= found.t_cv <= path.times[-1]
    with pytest.raises(SettingError, match="weak"):
        cross_validated_path(sharded, client, weak=True)
    with pytest.raises(SettingError, match="cv"):
        cross_validated_path(sharded, client, cv=1)


def test_a_new_driver_goes_on_where_the_last_one_stopped(client, tmp_path):
    votes = small_crowd()
    sharded = shard_votes(votes, client, tmp_path / "shards")
    expected = fit_path(sharded, client=client, **GRID)

    class Stop(Exception):
        pass

    stops = []
    for after in (3, 40, 90):

        def stop(n: int, after: int = after) -> None:
            if n == after:
                raise Stop

        keeper = Checkpoint(tmp_path / "kept", every=0.0, after_save=stop)
        try:
            found = fit_path(sharded, client=client, checkpoint=keeper, **GRID)
        except Stop:
            stops.append(after)
        finally:
            keeper.close()
    assert stops, "it was never stopped"
    found = fit_path(sharded, client=client, checkpoint=tmp_path / "kept", **GRID)
    assert_same_path(found, expected)


def test_no_more_is_lost_with_a_driver_than_since_its_last_save(client, tmp_path, monkeypatch):
    """Counted in rounds of steps; a new driver also asks anew who is there, and begins."""
    sharded = shard_votes(small_crowd(), client, tmp_path / "shards")
    ask, asked = Fleet.ask_some, []

    def ask_and_count(fleet, calls):
        if any(type(call).__name__ in ("Watch", "EndStep", "Leave") for call in calls.values()):
            asked.append(1)
        return ask(fleet, calls)

    monkeypatch.setattr(Fleet, "ask_some", ask_and_count)
    expected = fit_path(sharded, client=client, **GRID)
    n_undisturbed = len(asked)
    asked.clear()

    class Stop(Exception):
        pass

    at_saves = []

    def stop(n: int) -> None:
        at_saves.append(len(asked))
        if n == 30:
            raise Stop

    keeper = Checkpoint(tmp_path / "kept", every=0.0, after_save=stop)
    with pytest.raises(Stop):
        fit_path(sharded, client=client, checkpoint=keeper, **GRID)
    keeper.close()
    found = fit_path(sharded, client=client, checkpoint=tmp_path / "kept", **GRID)
    assert_same_path(found, expected)
    assert 5 < at_saves[-1] < n_undisturbed
    assert len(asked) == n_undisturbed


def test_rooms_that_are_lost_are_told_everything_again(client, tmp_path):
    """Whenever it happens: after every call all parts of a fit are forgotten."""
    from prefpath.distributed import parts

    sharded = shard_votes(small_crowd(), client, tmp_path)
    expected = fit_path(sharded, client=client, n_times=3, t_ratio=2.0)
    under_way = begin_path(client, sharded, model_with())
    fleet, ask = under_way.rooms.fleet, under_way.rooms.fleet.ask_some
    lost = []

    def ask_and_lose(calls):
        answers = ask(calls)
        if len(lost) % 3 == 0:
            parts.forget(fleet.fit)
        lost.append(1)
        return answers

    fleet.ask_some = ask_and_lose
    under_way.solver.follow(expected.times)
    assert fleet.rounds.rebuilt > len(sharded)
    assert_same_path(under_way.path(), expected)
    under_way.close()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "huber"}, "pool by pair"),
        ({"common": "minimise", "loss": "linear"}, "minimise"),
        ({"solver": "lbi", "attention": True}, "attention"),
        ({"step": 0.1}, "steps adapt"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(client, settings, words):
    with pytest.raises(SettingError, match=words):
        fit_path(small_crowd(), client=client, **settings)


def test_cross_validated_lbi_and_shards_without_a_cluster_are_refused(client, tmp_path):
    with pytest.raises(SettingError, match="lbi"):
        PreferenceModel(solver="lbi", t_ratio=2.0).fit(small_crowd(), client=client)
    with pytest.raises(SettingError, match="client"):
        fit_path(shard_votes(small_crowd(), client, tmp_path))
