"""No wait is for ever: whoever is stopped, cut off, retired or waits for itself, a fit ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from cluster_cases import assert_same_path, small_crowd

from prefpath import fit_path
from prefpath.cli.simulate import vote_columns
from prefpath.distributed import ShardedVotes, shard_votes, shuffle, tasks, workers
from prefpath.distributed.fleet import Fleet
from prefpath.errors import MachineError
from prefpath.tables import write_table

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.xdist_group("cluster")

GRID = {"n_times": 3, "t_ratio": 3.0}


@contextmanager
def threads(n_workers: int):
    """A cluster of workers of one thread each in this process."""
    with (
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def many_files(tmp_path) -> str:
    """A crowd in eight files."""
    columns = vote_columns(small_crowd())
    (tmp_path / "votes").mkdir()
    for k in range(8):
        part = {name: column[k::8] for name, column in columns.items()}
        write_table(part, tmp_path / "votes" / f"part{k}.csv")
    return str(tmp_path / "votes" / "*.csv")


@pytest.mark.parametrize("function", ["read_part", "merge_shard"])
@pytest.mark.parametrize("sign", [signal.SIGSTOP, signal.SIGKILL], ids=["stopped", "killed"])
def test_a_worker_is_lost_while_files_are_read(
    processes, client, many_files, tmp_path, monkeypatch, sign, function
):
    expected = shard_votes(many_files, client, tmp_path / "calm")
    monkeypatch.setattr(tasks, "SILENCE", 3.0)
    run, harmed = shuffle.run_tasks, []

    def harm_and_run(client, what, jobs):
        if what.__name__ == function:
            harmed.append(sorted(processes.run(os.getpid).values())[0])
            os.kill(harmed[0], sign)
        return run(client, what, jobs)

    monkeypatch.setattr(shuffle, "run_tasks", harm_and_run)
    start = time.monotonic()
    try:
        found = shard_votes(many_files, processes, tmp_path / "harmed")
    finally:
        if sign == signal.SIGSTOP:
            os.kill(harmed[0], signal.SIGCONT)
    assert time.monotonic() - start < 100  # Dask itself would wait for five minutes
    assert found.digest() == expected.digest()
    assert not (tmp_path / "harmed" / "parts").exists()


def test_a_fit_may_be_a_task_of_the_cluster_it_uses(client, tmp_path):
    """It frees the thread that its own parts wait for; an actor that calls an actor does not."""
    sharded = shard_votes(small_crowd(), client, tmp_path)
    expected = fit_path(sharded, client=client, **GRID)

    def fit_inside(folder: str):
        return fit_path(ShardedVotes.open(folder), client=distributed.get_client(), **GRID)

    with threads(1) as narrow:
        found = narrow.submit(fit_inside, str(tmp_path)).result(timeout=100)
    assert_same_path(found, expected)


def test_rounds_are_neither_tasks_nor_actors(client, tmp_path):
    """The scheduler has nothing to do for them, so that nothing in it can be lost or bound."""
    sharded = shard_votes(small_crowd(), client, tmp_path)

    def transitions(dask_scheduler) -> int:
        return dask_scheduler.transition_counter

    before = client.run_on_scheduler(transitions)
    fit_path(sharded, client=client, times=[20.0])
    assert client.run_on_scheduler(transitions) == before


def test_a_worker_is_retired_and_another_comes(client, tmp_path, monkeypatch):
    """Its address never answers again."""
    sharded = shard_votes(small_crowd(), client, tmp_path)
    expected = fit_path(sharded, client=client, **GRID)
    ask, gone, rebuilt = Fleet.ask_some, [], []

    def ask_and_retire(fleet, calls):
        if fleet.rounds.number == 10 and not gone:
            gone.append(workers.worker_addresses(fleet.client)[0])
            fleet.client.cluster.scale(3)
            fleet.client.wait_for_workers(3, timeout=30)
            fleet.client.retire_workers(gone)
        answers = ask(fleet, calls)
        rebuilt.append(fleet.rounds.rebuilt)
        return answers

    monkeypatch.setattr(Fleet, "ask_some", ask_and_retire)
    with threads(2) as own:
        found = fit_path(sharded, client=own, **GRID)
        assert gone[0] not in workers.worker_addresses(own)
    assert rebuilt[-1] > 0
    assert_same_path(found, expected)


@contextmanager
def scheduler_of_its_own(folder):
    """A scheduler and a worker as people start them, each a process: the scheduler, a client."""
    file, started = str(folder / "scheduler.json"), []
    try:
        for what, more in (("scheduler", ["--no-dashboard"]), ("worker", ["--no-nanny"])):
            options = ["--scheduler-file", file, *more]
            if what == "worker":
                options += ["--nthreads", "1", "--no-dashboard"]
            module = f"distributed.cli.dask_{what}"
            program = [sys.executable, "-m", module, *options]
            started.append(subprocess.Popen(program, cwd=folder, stderr=subprocess.DEVNULL))
            deadline = time.monotonic() + 60
            while not Path(file).exists() and time.monotonic() < deadline:
                time.sleep(0.05)
        with distributed.Client(scheduler_file=file, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=60)
            yield started[0], client
    finally:
        for process in started:
            process.kill()
            process.wait(timeout=30)


def test_a_scheduler_that_is_stopped_is_said(tmp_path, monkeypatch):
    def idle(_: int):  # inside, so that it travels by value: workers know no tests
        class Nothing:
            def answer(self, call):
                return None

        return Nothing()

    with scheduler_of_its_own(tmp_path) as (scheduler, client):
        asked = Fleet(client, 2, idle, lambda shard: [])
        asked.ask(1)
        monkeypatch.setattr(workers, "PATIENCE", 2.0)
        os.kill(scheduler.pid, signal.SIGSTOP)
        try:
            start = time.monotonic()
            with pytest.raises(MachineError, match="scheduler"):
                asked.ask(2)
            with pytest.raises(MachineError, match="scheduler"):
                tasks.run_tasks(client, abs, [(-1,)])
            assert time.monotonic() - start < 60
        finally:
            os.kill(scheduler.pid, signal.SIGCONT)
        asked.ask(3)
        asked.close()
