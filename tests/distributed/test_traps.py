"""What goes wrong on real clusters, from the command line to the kernels: no bit changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cluster_cases import assert_same_path, small_crowd

from prefpath import SettingError, fit_path
from prefpath.cli.simulate import vote_columns
from prefpath.distributed import parts, shard_votes
from prefpath.distributed.fleet import Fleet
from prefpath.export import verify_results
from prefpath.solver.room import WaitingRoom
from prefpath.tables import write_table

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.xdist_group("cluster")

GRID = {"n_times": 3, "t_ratio": 3.0}
PATIENCE = 240.0

# The program as people start it, except that it saves five times a second.
KEEN = """
from prefpath.checkpoint import Checkpoint
Checkpoint.__init__.__kwdefaults__["every"] = 0.2
from prefpath.__main__ import main
main()
"""


@pytest.fixture
def votes_files(tmp_path) -> str:
    """A crowd in two files."""
    columns = vote_columns(small_crowd())
    (tmp_path / "votes").mkdir()
    for k in range(2):
        part = {name: column[k::2] for name, column in columns.items()}
        write_table(part, tmp_path / "votes" / f"part{k}.csv")
    return str(tmp_path / "votes" / "*.csv")


class Program:
    """`prefpath fit` on a cluster in a folder of its own, with a folder for temporary files."""

    def __init__(self, folder: Path, pattern: str, address: str) -> None:
        self.folder, self.kept, self.out = folder, folder / "kept", folder / "out"
        self.temporary = folder / "tmp"
        self.temporary.mkdir(parents=True)
        self._fit = ["fit", pattern, "--scheduler", address, "--cluster-folder", "shards"]
        self._fit += ["--no-collect", "--cv", "2", "--json"]
        self._fit += ["--out", "out", "--checkpoint", "kept"]

    def fit(self) -> subprocess.Popen[str]:
        return self._start("-c", KEEN, *self._fit)

    def resume(self) -> subprocess.Popen[str]:
        return self._start("-m", "prefpath", "resume", str(self.kept))

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=os.environ | {"TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def results(self) -> dict[str, bytes]:
        """All files of the results; when they were written is left out."""
        verify_results(self.out)
        files = {file.name: file.read_bytes() for file in self.out.iterdir()}
        manifest = json.loads(files.pop("manifest.json"))
        return files | {"manifest": json.dumps(manifest | {"written": None}).encode()}


def wait_until(holds, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.005)


def finished(process: subprocess.Popen[str]) -> str:
    said, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors
    return said


def kill_a_worker(client) -> None:
    # One that was killed before may not be gone for the scheduler yet.
    alive = client.run(os.getpid, on_error="ignore")
    os.kill(sorted(alive.values())[0], signal.SIGKILL)


def test_workers_and_the_driver_are_killed_and_the_fit_is_resumed(processes, votes_files, tmp_path):
    """Two workers and the driver, each by its pid and with kill -9."""
    address = processes.scheduler.address
    calm = Program(tmp_path / "calm", votes_files, address)
    expected = finished(calm.fit())

    program = Program(tmp_path / "killed", votes_files, address)
    first = program.fit()
    wait_until(lambda: list(program.kept.glob("*.before.state.npz")), first)
    kill_a_worker(processes)
    saved = max(file.stat().st_mtime_ns for file in program.kept.glob("*.state.npz"))

    def has_gone_on() -> bool:
        return any(f.stat().st_mtime_ns > saved for f in program.kept.glob("*.state.npz"))

    wait_until(has_gone_on, first)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert not program.out.exists()

    second = program.resume()
    kill_a_worker(processes)
    assert finished(second) == expected
    assert program.results() == calm.results()
    for one in (calm, program):
        assert not list(one.temporary.glob("prefpath*"))
        assert sorted(file.name for file in one.kept.iterdir()) == ["fit.json", "lock"]
        assert not list((one.folder / "shards").glob("parts*"))
        assert not list(one.folder.rglob(".*.part"))


def test_a_worker_over_its_memory_limit_is_replaced(processes, client, tmp_path, monkeypatch):
    """Its nanny kills it, as in real life; the limit is what is not real."""
    sharded = shard_votes(small_crowd(), client, tmp_path)
    expected = fit_path(sharded, client=client, **GRID)
    nanny = next(iter(processes.cluster.workers.values()))
    watched, pid, limit = nanny.memory_manager, nanny.pid, nanny.memory_manager.memory_limit
    ask, killed = Fleet.ask_some, []

    def ask_and_lower(fleet, calls):
        if fleet.rounds.number == 10 and not killed:
            watched.memory_limit = 2**20
            deadline = time.monotonic() + 60
            while nanny.pid == pid and time.monotonic() < deadline:
                time.sleep(0.05)
            watched.memory_limit = limit
            killed.append(pid)
        return ask(fleet, calls)

    monkeypatch.setattr(Fleet, "ask_some", ask_and_lower)
    found = fit_path(sharded, client=processes, **GRID)
    assert killed and nanny.pid != pid
    assert_same_path(found, expected)


def test_workers_without_shards_have_nothing_to_do(client, tmp_path):
    sharded = shard_votes(small_crowd(), client, tmp_path)
    expected = fit_path(sharded, client=client, **GRID)
    with (
        distributed.LocalCluster(
            n_workers=len(sharded) + 2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as many,
    ):
        assert_same_path(fit_path(sharded, client=many, **GRID), expected)


def test_an_error_in_a_kernel_is_raised_once_and_nothing_stays(client, tmp_path, monkeypatch):
    sharded = shard_votes(small_crowd(), client, tmp_path)
    before, tried = set(parts._PARTS), []
    look = WaitingRoom.about_to_enter

    def fails(room, sight, moment):
        if sight.now > 3:
            tried.append(id(room))
            raise FloatingPointError("a kernel divides by zero")
        return look(room, sight, moment)

    monkeypatch.setattr(WaitingRoom, "about_to_enter", fails)
    with pytest.raises(FloatingPointError, match="a kernel divides by zero"):
        fit_path(sharded, client=client, **GRID)
    assert len(tried) == len(set(tried))  # no room was asked again
    deadline = time.monotonic() + 10
    while set(parts._PARTS) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not set(parts._PARTS) - before


def test_a_folder_for_shards_that_cannot_be_written_is_refused_before_reading(client, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match="shards"):
        shard_votes(tmp_path / "no votes*.csv", client, tmp_path / "file")


def test_no_process_stays_when_a_cluster_is_closed(tmp_path):
    psutil = pytest.importorskip("psutil")
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        fit_path(small_crowd(), client=client, times=[20.0])
        assert {child.pid for child in psutil.Process().children(recursive=True)} - before
    gone = [p for p in psutil.Process().children(recursive=True) if p.pid not in before]
    _, alive = psutil.wait_procs(gone, timeout=10)
    left = [p for p in alive if "resource_tracker" not in " ".join(p.cmdline())]
    assert not left
