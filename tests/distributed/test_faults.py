"""Workers that are killed or stopped in the middle of a fit: nothing hangs, and no bit changes."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from cluster_cases import assert_same_path, small_crowd

from prefpath import fit_path
from prefpath.distributed import fleet, parts, shard_votes, workers
from prefpath.distributed.fleet import Fleet
from prefpath.distributed.tasks import run_tasks
from prefpath.errors import MachineError

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.xdist_group("cluster")

GRID = {"n_times": 3, "t_ratio": 3.0}


class Saboteur:
    """Does something to a worker process when a fit has had so many rounds."""

    def __init__(self, monkeypatch, client, harm, at_rounds):
        self.done = []
        ask = Fleet.ask_some

        def ask_and_harm(fleet_of_fit, calls):
            if (
                len(self.done) < len(at_rounds)
                and fleet_of_fit.rounds.number == at_rounds[len(self.done)]
            ):
                pids = client.run(os.getpid)
                self.done.append(sorted(pids.values())[0])
                harm(self.done[-1])
            answers = ask(fleet_of_fit, calls)
            self.rebuilt = fleet_of_fit.rounds.rebuilt
            return answers

        monkeypatch.setattr(Fleet, "ask_some", ask_and_harm)


def test_killed_workers_change_no_bit(processes, client, tmp_path, monkeypatch):
    sharded = shard_votes(small_crowd(), client, tmp_path)
    expected = fit_path(sharded, client=client, **GRID)
    saboteur = Saboteur(
        monkeypatch, processes, lambda pid: os.kill(pid, signal.SIGKILL), at_rounds=[5, 30]
    )
    found = fit_path(sharded, client=processes, **GRID)
    assert len(saboteur.done) == 2 and saboteur.rebuilt > 0
    assert_same_path(found, expected)


def test_a_stopped_worker_is_done_without(processes, client, tmp_path, monkeypatch):
    sharded = shard_votes(small_crowd(), client, tmp_path)
    expected = fit_path(sharded, client=client, **GRID)
    monkeypatch.setattr(fleet, "SILENCE", 3.0)
    saboteur = Saboteur(
        monkeypatch, processes, lambda pid: os.kill(pid, signal.SIGSTOP), at_rounds=[10]
    )
    try:
        found = fit_path(sharded, client=processes, **GRID)
    finally:
        for pid in saboteur.done:
            os.kill(pid, signal.SIGCONT)
    assert saboteur.rebuilt > 0
    assert_same_path(found, expected)


def test_two_fits_at_once_do_not_disturb_each_other(client, tmp_path):
    votes = [small_crowd(seed) for seed in (0, 1)]
    sharded = [shard_votes(one, client, tmp_path / str(k)) for k, one in enumerate(votes)]
    expected = [fit_path(one, client=client, **GRID) for one in sharded]
    found: dict[int, object] = {}

    def fit(k: int) -> None:
        found[k] = fit_path(sharded[k], client=client, **GRID)

    threads = [threading.Thread(target=fit, args=(k,)) for k in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    for k in (0, 1):
        assert_same_path(found[k], expected[k])


def test_nothing_stays_on_the_workers(client, tmp_path):
    sharded = shard_votes(small_crowd(), client, tmp_path)
    fit_path(sharded, client=client, times=[20.0])
    deadline = time.monotonic() + 10
    while parts._PARTS and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not parts._PARTS


class Broken:
    """A part whose kernel fails."""

    def answer(self, call):
        raise ZeroDivisionError(f"asked {call}")


def test_an_error_in_a_part_is_raised(client):
    broken = Fleet(client, 2, lambda shard: Broken(), lambda shard: [])
    with pytest.raises(ZeroDivisionError, match="asked 7"):
        broken.ask(7)
    broken.close()


def test_a_cluster_without_workers_is_said(monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        lonely = Fleet(client, 2, lambda shard: Broken(), lambda shard: [])
        with pytest.raises(MachineError, match="no workers"):
            lonely.ask(1)
        with pytest.raises(MachineError, match="no workers"):
            run_tasks(client, abs, [(-1,)])


class Idle:
    """A part that has nothing to say."""

    def answer(self, call):
        return None


def test_a_scheduler_that_is_gone_is_said():
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        cluster = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            protocol="tcp",
            dashboard_address=":0",
        )
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            asked = Fleet(client, 2, lambda shard: Idle(), lambda shard: [])
            asked.ask(1)
            cluster.close()
            with pytest.raises(MachineError, match="scheduler"):
                asked.ask(2)
            asked.close()


class Counting:
    """A part that adds up what it is told."""

    def __init__(self):
        self.total = 0

    def answer(self, call):
        self.total += call or 0
        return self.total


def test_a_call_that_comes_twice_is_done_once():
    order = parts.Order("twice", 1, {0: 5}, {0: [1, 2]})
    recipe = lambda shard: Counting()  # noqa: E731
    assert parts.obey(order, recipe) == {0: 8}
    again = parts.Order("twice", 1, {0: 5}, {})
    assert parts.obey(again, recipe) == {0: 8}
    assert parts.obey(parts.Order("twice", 3, {0: 5}, {}), recipe) == {0: parts.Missing(0)}
    assert parts.obey(parts.Order("twice", 2, {0: 1}, {}), recipe) == {0: 9}
    assert parts.obey(parts.Order("never", 2, {0: 1}, {}), recipe) == {0: parts.Missing(0)}
    assert parts.forget("twice") == 1
