"""`prefpath fit --scheduler`: the same results from a cluster."""

from __future__ import annotations

import json

import pytest
from cluster_cases import small_crowd
from typer.testing import CliRunner

from prefpath.cli import app
from prefpath.distributed import ShardedVotes
from prefpath.export import verify_results
from prefpath.tables import write_table

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture
def pattern(tmp_path):
    """A crowd in two files."""
    votes = small_crowd()
    for k in range(2):
        rows = slice(k, None, 2)
        columns = {
            "annotator": votes.annotators[votes.annotator[rows]],
            "left": votes.items[votes.left[rows]],
            "right": votes.items[votes.right[rows]],
            "choice": votes.choice[rows],
            "times": votes.weight[rows],
        }
        write_table(columns, tmp_path / f"votes{k}.csv")
    return str(tmp_path / "votes*.csv")


def fit(pattern, *more):
    arguments = ["fit", pattern, "--weight", "times", "--cv", "0", "--t-ratio", "3", "--json"]
    found = CliRunner().invoke(app, [*arguments, *more])
    assert found.exit_code == 0, found.output + found.stderr
    return json.loads(found.stdout)


def test_a_scheduler_gives_the_same_answer(client, pattern, tmp_path):
    here = fit(pattern)
    address = client.scheduler.address
    shards = tmp_path / "shared"
    there = fit(pattern, "--scheduler", address, "--cluster-folder", str(shards))
    assert (shards / "sharded.json").exists()
    assert there["headline"] == here["headline"]
    assert [row["item"] for row in there["ranking"]] == [row["item"] for row in here["ranking"]]
    for found, expected in zip(there["ranking"], here["ranking"], strict=True):
        assert found["score"] == pytest.approx(expected["score"], rel=1e-9)


def test_votes_may_stay_on_the_cluster(client, pattern, tmp_path, monkeypatch):
    here = fit(pattern)
    monkeypatch.setattr(ShardedVotes, "collect_with_rows", None)
    out = tmp_path / "out"
    more = ("--scheduler", client.scheduler.address, "--no-collect", "--out", str(out))
    there = fit(pattern, *more)
    assert there["headline"]["by_verdict"] == here["headline"]["by_verdict"]
    assert there["trust"] == here["trust"]
    for found, expected in zip(there["ranking"], here["ranking"], strict=True):
        assert found["score_low"] == pytest.approx(expected["score_low"], rel=1e-6)
    manifest = verify_results(out)
    assert "annotators.csv" in manifest["files"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--no-collect"], "--scheduler"),
        (["--no-collect", "--scheduler", "tcp://127.0.0.1:1", "--followers"], "--followers"),
    ],
)
def test_what_cannot_stay_on_a_cluster_is_refused_before_anything_is_read(options, words):
    found = CliRunner().invoke(app, ["fit", "nothing.csv", *options])
    assert found.exit_code != 0 and words in str(found.exception) + found.output


def test_a_folder_without_a_scheduler_is_refused(pattern, tmp_path):
    found = CliRunner().invoke(app, ["fit", pattern, "--cluster-folder", str(tmp_path)])
    assert found.exit_code != 0 and "--scheduler" in str(found.exception) + found.output
