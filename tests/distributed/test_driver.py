"""A driver that is killed: the next one goes on to the same bits, and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from cluster_cases import assert_same_path, small_crowd

from prefpath import PreferenceModel, SettingError, fit_path
from prefpath.distributed import collected, parts, shard_votes
from prefpath.distributed.collected import on_cluster, temporary_shards

pytestmark = pytest.mark.xdist_group("cluster")

GRID = {"n_times": 3, "t_ratio": 3.0}
DRIVER = """
import sys
from distributed import Client
from prefpath import fit_path
from prefpath.checkpoint import Checkpoint
from prefpath.distributed import ShardedVotes

address, shards, kept = sys.argv[1:]
fit_path(
    ShardedVotes.open(shards), client=Client(address), n_times=3, t_ratio=3.0,
    checkpoint=Checkpoint(kept, every=0.0),
)
"""


def fits_in_memory(client) -> set[str]:
    """Fits of which some worker holds a part."""

    def of_a_worker() -> list[str]:  # inside, so that it travels by value: workers know no tests
        return sorted({fit for fit, _ in parts._PARTS})

    return {fit for fits in client.run(of_a_worker).values() for fit in fits}


def kill_when_it_has_saved(driver: subprocess.Popen[bytes], folder) -> None:
    """Kill -9 by its pid, a few steps into the fit."""
    deadline = time.monotonic() + 240
    while not list(folder.glob("*.before.state.npz")):
        assert driver.poll() is None, driver.stderr.read().decode()
        assert time.monotonic() < deadline, "the driver saved nothing"
        time.sleep(0.002)
    os.kill(driver.pid, signal.SIGKILL)
    driver.wait(timeout=30)


def test_a_killed_driver_is_followed_by_one_that_comes_to_the_same_bits(
    processes, client, tmp_path
):
    sharded = shard_votes(small_crowd(), client, tmp_path / "shards")
    expected = fit_path(sharded, client=client, **GRID)
    kept = tmp_path / "kept"
    places = [processes.scheduler.address, str(tmp_path / "shards"), str(kept)]
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, *places], stderr=subprocess.PIPE)
    kill_when_it_has_saved(driver, kept)
    driver.stderr.close()
    assert driver.returncode == -signal.SIGKILL
    assert fits_in_memory(processes)  # workers do not know yet

    found = fit_path(sharded, client=processes, checkpoint=kept, **GRID)
    assert_same_path(found, expected)
    deadline = time.monotonic() + 10
    while fits_in_memory(processes) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not fits_in_memory(processes)  # neither its own nor the dead one's
    assert not list(kept.glob(".*.part"))


def test_shards_of_a_fit_that_was_killed_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(collected, "_JUST_MADE", -1.0)
    dead = tmp_path / "prefpath-shards-dead"
    dead.mkdir()
    (dead / "lock").touch()
    with temporary_shards() as first:
        assert not dead.exists()
        with temporary_shards() as second:
            assert {str(path) for path in tmp_path.iterdir()} == {first, second}
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fit", [fit_path, PreferenceModel().fit], ids=["path", "model"])
def test_a_checkpoint_that_cannot_be_written_is_refused_before_anything_is_read(
    client, tmp_path, fit
):
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match="cannot be written"):
        fit(tmp_path / "no votes.csv", client=client, checkpoint=tmp_path / "file" / "kept")


def test_a_fit_leaves_nothing_in_the_folder_of_the_shards(client, tmp_path):
    with on_cluster(client, small_crowd(), tmp_path) as cluster:
        before = sorted(path.name for path in tmp_path.iterdir())
        model = PreferenceModel(cv=2, n_times=2, t_ratio=1.5, weak=False)
        model.fit(cluster.sharded, client=client)
    assert sorted(path.name for path in tmp_path.iterdir()) == before
