"""What comes after the path, of votes that stay in the shards: the same as on one machine."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from cluster_cases import model_with, small_crowd

from prefpath import PreferenceModel, SettingError, Votes, simulate_crowd
from prefpath.diagnose import Diagnosis, diagnose, personal_ranking
from prefpath.distributed import ShardedVotes, parts, shard_votes
from prefpath.distributed.collected import Cluster
from prefpath.distributed.fleet import Fleet
from prefpath.distributed.remote import count_votes
from prefpath.findings import find
from prefpath.findings import findings as findings_module
from prefpath.inference.evidence import gather_evidence
from prefpath.inference.own_attention import find_unequal_attention
from prefpath.inference.remote import evidence_elsewhere
from prefpath.inference.remote_settings import (
    find_shared_lean_elsewhere,
    find_unequal_attention_elsewhere,
)
from prefpath.inference.sandwich import cluster_covariance
from prefpath.inference.shared_lean import find_shared_lean
from prefpath.model.problem import Problem
from prefpath.report import write_report

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.xdist_group("cluster")

SHORT = {"cv": 0, "n_times": 6, "t_ratio": 6.0}
FEATURES = np.random.default_rng(0).normal(size=(6, 2))
MODELS = {
    "as it comes": {},
    "shared position, attention": {"common_position": True, "attention": True},
    "features": {"features": FEATURES, "attention": False},
    "probit": {"loss": "thurstone-mosteller", "attention": False, "balance": False},
}


def mixed_crowd() -> Votes:
    """A crowd with ties, and votes whose sides nobody knows."""
    votes = small_crowd()
    vote = np.repeat(np.arange(votes.n_rows), votes.count)
    row = np.arange(len(vote))
    return Votes.from_codes(
        votes.annotator[vote],
        votes.left[vote],
        votes.right[vote],
        np.where(row % 9 == 0, 0.0, votes.choice[vote]),
        annotators=votes.annotators,
        items=votes.items,
        position_known=row % 5 > 0,
    )


@pytest.fixture(scope="module", autouse=True)
def _never_collected():
    """Whoever collects votes on this machine fails."""

    def collected(self):
        raise AssertionError("all votes came to the driver")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ShardedVotes, "collect_with_rows", collected)
        yield


@pytest.fixture(scope="module")
def sharded(client, tmp_path_factory):
    return shard_votes(mixed_crowd(), client, tmp_path_factory.mktemp("shards"))


@pytest.fixture(scope="module", params=MODELS)
def both(request, client, sharded):
    """The same fit with votes here, on the path that was followed with votes elsewhere."""
    settings = SHORT | MODELS[request.param]
    there = PreferenceModel(**settings).fit(sharded, client=client, collect=False).fitted_
    here = PreferenceModel(**settings).fit(mixed_crowd()).fitted_
    model, found = here.problem, there.problem
    assert (model.attention, model.common_position) == (found.attention, found.common_position)
    design = here.problem.design
    path = replace(there.path, blocks=design.blocks, seen_item=design.seen_item)
    return replace(here, path=path, t=there.t), there


def assert_same_columns(found, expected, tolerance: float) -> None:
    assert list(found) == list(expected)
    for name, column in expected.items():
        if all(value is None or isinstance(value, float) for value in column):
            values = (np.array(part, dtype=float) for part in (found[name], column))
            np.testing.assert_allclose(*values, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            assert list(found[name]) == list(column), name


def test_everything_that_is_said_is_the_same(both, tmp_path):
    here, there = both
    expected, found = find(here), find(there)
    assert "score_low" in found.ranking
    assert_same_columns(found.ranking, expected.ranking, 1e-8)
    assert_same_columns(found.annotators, expected.annotators, 1e-8)
    assert found.trust == expected.trust
    assert found.cautions == expected.cautions
    assert found.meaning_of_intervals == expected.meaning_of_intervals
    assert found.headline.counts == expected.headline.counts
    assert found.meaning_of_scores == expected.meaning_of_scores


def on(fitted, client, sharded):
    """The same fit, its shards asked through another cluster."""
    return replace(fitted, remote=replace(fitted.remote, cluster=Cluster(client, sharded)))


@pytest.fixture(scope="module")
def plain(client, sharded):
    model = PreferenceModel(common_position=True, attention=True, weak=False, **SHORT)
    return model.fit(sharded, client=client, collect=False)


def said_of(fitted):
    found = find(fitted)
    return {**found.ranking, **found.annotators}


def assert_same_bits(found, expected) -> None:
    assert {name: list(part) for name, part in found.items()} == {
        name: list(part) for name, part in expected.items()
    }


@pytest.mark.parametrize("n_workers", [1, 4])
def test_the_size_of_the_cluster_changes_no_bit(plain, sharded, n_workers):
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as other,
    ):
        assert_same_bits(said_of(on(plain.fitted_, other, sharded)), said_of(plain.fitted_))


def test_shards_that_are_lost_are_told_again(plain, client, sharded, monkeypatch):
    """Whenever it happens: after every third call what the workers hold is forgotten."""
    expected, ask, asked = said_of(plain.fitted_), Fleet.ask_some, []

    def ask_and_lose(fleet, calls):
        answers = ask(fleet, calls)
        asked.append(1)
        if len(asked) % 3 == 0:
            parts.forget(fleet.fit)
        return answers

    monkeypatch.setattr(Fleet, "ask_some", ask_and_lose)
    assert_same_bits(said_of(on(plain.fitted_, client, sharded)), expected)
    assert len(asked) > 30


def test_ranks_of_an_undefeated_item_are_the_same(client, tmp_path):
    votes = mixed_crowd()
    best = np.where(votes.right == 0, -1.0, np.where(votes.left == 0, 1.0, votes.choice))
    votes = replace(votes, choice=best)
    model = PreferenceModel(attention=False, common_position=False, **SHORT)
    expected = model.fit(votes).ranking_columns()
    sharded = shard_votes(votes, client, tmp_path)
    found = model.fit(sharded, client=client, collect=False).ranking_columns()
    assert not all(found["bounded"])
    for name in ("item", "rank_low", "rank_high"):
        assert list(found[name]) == list(expected[name])


def test_who_cast_most_votes_and_deviates_is_one_voice_there_as_here(client, tmp_path):
    """The mean preference counts a share of their votes, known only once all are counted."""
    crowd = simulate_crowd(2_400, 24, 6, activity="even", seed=4).votes
    votes = np.repeat(np.arange(crowd.n_rows), crowd.count)
    busy = crowd.annotator[votes] == 0
    votes = np.concatenate([votes, np.repeat(votes[busy], 8)])
    choice = np.where(crowd.annotator[votes] == 0, -crowd.choice[votes], crowd.choice[votes])
    codes = (crowd.annotator[votes], crowd.left[votes], crowd.right[votes], choice)
    votes = Votes.from_codes(*codes, annotators=crowd.annotators, items=crowd.items)
    model = PreferenceModel(attention=False, common_position=False, **SHORT)
    here, sharded = model.fit(votes).fitted_, shard_votes(votes, client, tmp_path)
    evidence = gather_evidence(here, tastes=False)
    assert evidence.problem.weight.sum() < 0.9 * here.problem.weight.sum()
    expected = cluster_covariance(evidence)
    there = model.fit(sharded, client=client, collect=False).fitted_
    with evidence_elsewhere(there, tastes=False) as (evidence, annotators):
        found = cluster_covariance(evidence, annotators)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=0.02)


def test_a_cross_validated_fit_leaves_the_votes_where_they_are(client, sharded):
    model = PreferenceModel(cv=2, n_times=6, t_ratio=4.0)
    model.fit(sharded, client=client, collect=False)
    assert model.cv_.errors.shape == (2, 6)
    assert model.weak_ is None
    assert model.score(mixed_crowd()) > 0.55
    assert "annotator" in repr(model.votes_)


def test_personal_rankings_and_a_report_need_no_votes_here(plain, tmp_path):
    votes = mixed_crowd()
    label = plain.path_.annotators[0]
    found = personal_ranking(plain, label)
    own = votes.take(votes.annotator == votes.annotator_code(label))
    assert found.shown.sum() == 2.0 * own.total_weight
    assert label in plain.report(tmp_path / "page.html").read_text("utf-8")


def test_what_needs_the_votes_is_refused_with_the_remedy(plain, client, sharded):
    for asked in ({"interval": "bootstrap"}, {"about": "these"}):
        with pytest.raises(SettingError, match="collect=True"):
            plain.ranking(**asked)
    with pytest.raises(SettingError, match="on the cluster"):
        _ = diagnose(plain).followers
    with pytest.raises(SettingError, match="in shards"):
        PreferenceModel(**SHORT).fit(small_crowd(), client=client, collect=False)
    with pytest.raises(SettingError, match="cv_over"):
        by_person = PreferenceModel(cv=2, cv_over="annotators")
        by_person.fit(sharded, client=client, collect=False)
    with pytest.raises(SettingError, match="weak=False"):
        _ = PreferenceModel(weak=True, **SHORT).fit(sharded, client=client, collect=False).weak_


def test_votes_decide_what_a_model_allows_for_as_on_one_machine(client, tmp_path):
    """A crowd some of whom are contrary, and all of whom lean."""
    votes = simulate_crowd(3_000, 30, 6, contrary=0.1, activity="even", seed=1).votes
    leaning = np.where(np.arange(votes.n_rows) % 4 == 0, 1.0, votes.choice)
    votes = replace(votes, choice=leaning)
    elsewhere = count_votes(Cluster(client, shard_votes(votes, client, tmp_path)))
    lean, expected = find_shared_lean_elsewhere(*elsewhere), find_shared_lean(votes)
    np.testing.assert_allclose(lean, expected, rtol=1e-8)
    assert lean.is_there
    for settings in ({"common_position": True}, {"features": FEATURES, "loss": "linear"}):
        problem = Problem.build(votes, **settings)
        here = find_unequal_attention(problem)
        there = find_unequal_attention_elsewhere(model_with(**settings), *elsewhere)
        np.testing.assert_array_equal(there.named, here.named)
        np.testing.assert_allclose(
            (there.variance, there.p_variance, there.share),
            (here.variance, here.p_variance, here.share),
            rtol=1e-7,
            atol=1e-12,
        )


def test_weights_that_are_whole_in_some_shards_only_are_refused(client, tmp_path):
    votes = small_crowd()
    weight = votes.weight.copy()
    weight[0] = 0.5
    sharded = shard_votes(replace(votes, weight=weight), client, tmp_path)
    with pytest.raises(SettingError, match="whole"):
        count_votes(Cluster(client, sharded))


def test_the_table_of_annotators_is_written_some_rows_at_a_time(
    plain, client, tmp_path, monkeypatch
):
    """What comes to the driver at once is few rows; what is written is the whole table."""
    expected = find(plain.fitted_).annotators
    monkeypatch.setattr(findings_module, "MOST_ROWS_FROM_ELSEWHERE", 5)
    found = find(plain.fitted_)
    assert found.n_annotators_listed == found.as_json()["annotators_listed"] == 5
    assert found.headline.n_annotators == 24
    parts = list(found.annotator_parts())
    assert [len(part["annotator"]) for part in parts] == [5, 5, 5, 5, 4]
    together = {name: [value for part in parts for value in part[name]] for name in expected}
    assert_same_bits(together, expected)
    page = write_report(found, tmp_path / "page.html").read_text("utf-8")
    assert "Save the first 5 annotators" in page
    found.diagnosis.close()
    again = found.diagnosis.rows(found.diagnosis.standing_out_first[:2])  # made anew
    assert_same_bits(again, {name: column[:2] for name, column in expected.items()})


def test_workers_forget_a_diagnosis_that_nobody_holds(plain, client):
    found = find(plain.fitted_)
    fit = found.diagnosis._shards.fleet.fit
    assert any(name[0] == fit for name in parts._PARTS)
    del found
    deadline = time.monotonic() + 10
    while any(name[0] == fit for name in parts._PARTS) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(name[0] == fit for name in parts._PARTS)


def test_a_whole_diagnosis_comes_if_it_is_asked_for(plain):
    found, there = diagnose(plain), find(plain.fitted_)
    assert isinstance(found, Diagnosis)
    assert found.counts == there.headline.counts
    assert_same_bits(found.rows(found.standing_out_first), there.annotators)
    assert found.discoveries.attention.estimate.shape == (24,)
