"""Files appear whole or not at all, and places that cannot be written to are refused first."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from prefpath import writing
from prefpath.errors import MachineError, SettingError
from prefpath.writing import (
    check_file,
    check_folder,
    only_writer,
    whole_file,
    whole_folder,
    write_text,
)


def test_a_file_is_as_it_was_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = write_text(tmp_path / "a.txt", "old")
    with pytest.raises(RuntimeError), whole_file(target) as part:
        part.write_text("half")
        assert target.read_text() == "old"
        raise RuntimeError
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]
    write_text(target, "new")
    assert target.read_text() == "new"


def test_mode_and_links_are_kept(tmp_path: Path) -> None:
    real, link = write_text(tmp_path / "real.txt", "old"), tmp_path / "link.txt"
    real.chmod(0o640)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_new_files_have_the_mode_everybody_elses_have(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        target = write_text(tmp_path / "a.txt", "x")
    finally:
        os.umask(old)
    assert stat.S_IMODE(target.stat().st_mode) == 0o644


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_said_to_be_full() -> None:
    with pytest.raises(MachineError, match="/dev/full cannot be written: the disk is full") as said:
        write_text("/dev/full", "x" * 100_000)
    assert said.value.exit_code == 74
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)  # and not replaced by a file


def test_a_file_name_with_no_folder(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no such folder"):
        write_text(tmp_path / "nowhere" / "a.txt", "x")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("folder", "is a folder"),
        ("no/a.html", "no such folder"),
        ("file/a.html", "is a file, not"),
        ("a" * 300, "too long"),
    ],
)
def test_places_for_a_file_are_refused_first(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "folder").mkdir()
    write_text(tmp_path / "file", "x")
    with pytest.raises(SettingError, match=says):
        check_file(tmp_path / name, "the report's file")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_places_for_a_folder_are_refused_first(tmp_path: Path, name: str) -> None:
    write_text(tmp_path / "file", "x")
    with pytest.raises(SettingError, match="is a file"):
        check_folder(tmp_path / name, "the folder for results")


def test_a_folder_whose_name_is_too_long_is_refused_first(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="too long"):
        check_folder(tmp_path / ("a" * 300), "the folder for results")


def test_checking_a_folder_does_not_make_it(tmp_path: Path) -> None:
    check_folder(tmp_path / "new" / "results", "the folder for results")
    assert list(tmp_path.iterdir()) == []


def test_a_new_folder_appears_with_all_of_its_files(tmp_path: Path) -> None:
    target = tmp_path / "new" / "results"
    with whole_folder(target, last="end") as part:
        (part / "a").write_text("a")
        (part / "end").write_text("end")
        assert not target.exists()
    assert {file.name for file in target.iterdir()} == {"a", "end"}
    assert [file.name for file in target.parent.iterdir()] == ["results"]


def test_an_old_folder_keeps_other_files_and_what_failed_changes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "results"
    target.mkdir()
    for name in ("a", "mine", "end"):
        (target / name).write_text("old")
    with pytest.raises(RuntimeError), whole_folder(target, last="end") as part:
        (part / "a").write_text("new")
        raise RuntimeError
    assert {file.read_text() for file in target.iterdir()} == {"old"}
    with whole_folder(target, last="end") as part:
        assert part.parent == target  # files are moved within one disk, whatever is mounted here
        (part / "a").write_text("new")
        (part / "end").write_text("new")
    found = {file.name: file.read_text() for file in target.iterdir()}
    assert found == {"a": "new", "mine": "old", "end": "new"}


_HOLDS = """
import sys
from prefpath.writing import only_writer
with only_writer(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(os.name == "nt", reason="no locks there")
@pytest.mark.parametrize("exists", [True, False])
def test_a_folder_has_one_writer_at_a_time(tmp_path: Path, exists: bool) -> None:
    target = tmp_path / "results"
    if exists:
        target.mkdir()
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDS, str(target)], stdin=pipe, stdout=pipe, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(SettingError, match="fit is writing to") as no, only_writer(target):
            pass
        assert no.value.remedy
        with only_writer(tmp_path / "other"):
            pass
        other.kill()
    with only_writer(target), whole_folder(target, last="end") as part:
        (part / "end").write_text("end")
    assert [file.name for file in target.iterdir()] == ["end"]
    with pytest.raises(OSError, match="mine"), only_writer(target):
        raise OSError("mine")


@pytest.mark.skipif(os.name == "nt", reason="no locks there")
def test_a_lock_that_the_last_writer_has_just_removed_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third could else make a file of its own, and both would write."""
    locked, ended = writing._locked, []

    def locked_when_the_other_ends(handle: int, *, wait: bool) -> bool:
        if not ended:
            ended.append([file.unlink() for file in tmp_path.glob(".prefpath-*.lock")])
        return locked(handle, wait=wait)

    monkeypatch.setattr(writing, "_locked", locked_when_the_other_ends)
    with only_writer(tmp_path):
        assert len(list(tmp_path.glob(".prefpath-*.lock"))) == len(ended[0]) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="no locks there")
def test_files_of_two_processes_do_not_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "results"
    target.mkdir()
    replace, started, others = Path.replace, threading.Event(), []

    def write(word: str) -> None:
        with whole_folder(target, last="end") as part:
            for name in ("a", "b", "end"):
                (part / name).write_text(word)

    def slowly(file: Path, new: Path) -> Path:
        if not started.is_set():
            started.set()
            others.append(threading.Thread(target=write, args=("second",)))
            others[0].start()
            others[0].join(0.3)  # would be done by then, between two files of the first
        return replace(file, new)

    monkeypatch.setattr(Path, "replace", slowly)
    write("first")
    others[0].join()
    assert {file.read_text() for file in target.iterdir()} == {"second"}


def test_a_new_folder_that_another_process_has_just_made_is_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "results"
    with whole_folder(target, last="end") as part:
        (part / "end").write_text("mine")
        target.mkdir()
        (target / "end").write_text("another's")
        there, exists = [False], Path.exists
        monkeypatch.setattr(
            Path, "exists", lambda path: exists(path) and (path != target or there.pop())
        )
    assert (target / "end").read_text() == "mine"


def test_a_folders_last_file_is_moved_after_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, moved = tmp_path / "results", []
    target.mkdir()
    replace = Path.replace
    monkeypatch.setattr(
        Path, "replace", lambda file, new: moved.append(new.name) or replace(file, new)
    )
    with whole_folder(target, last="b") as part:
        for name in ("a", "b", "c"):
            (part / name).write_text(name)
    assert moved == ["a", "c", "b"]


def test_a_file_is_on_the_disk_before_it_has_its_name_and_then_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[tuple[bool, bool]] = []
    target, sync = tmp_path / "a.txt", os.fsync

    def watched(handle: int) -> None:
        synced.append((stat.S_ISDIR(os.fstat(handle).st_mode), target.exists()))
        sync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    write_text(target, "x")
    assert synced == [(False, False), (True, True)]


def test_the_longest_name_a_system_allows_can_be_written(tmp_path: Path) -> None:
    assert write_text(tmp_path / ("a" * 250), "x").read_text() == "x"


def test_errors_while_writing_are_said_of_the_place(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match=r"a\.txt cannot be written: odd"), (
        whole_file(tmp_path / "a.txt")
    ):  # fmt: skip
        raise OSError("odd")
    with pytest.raises(MachineError, match="memory"), whole_file(tmp_path / "a.txt"):
        raise MemoryError
    with pytest.raises(MachineError, match="the disk is full"), whole_file(tmp_path / "a.txt"):
        raise OSError(errno.ENOSPC, "no space")
    with pytest.raises(SettingError, match="is a folder"):
        write_text(tmp_path, "x")


def test_what_is_no_regular_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_file(pipe, "the report's file")
        write_text(pipe, "x")
        assert os.read(reader, 10) == b"x"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_a_file_that_exists_may_be_written_again(tmp_path: Path) -> None:
    target = write_text(tmp_path / "a.txt", "old")
    check_file(target, "the report's file")
    check_folder(tmp_path, "the folder for results")
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_only_where_a_new_file_will_be_one_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    monkeypatch.setattr("prefpath.writing._try_writing", lambda target: tried.append(target.name))
    write_text(tmp_path / "old.txt", "old")
    os.mkfifo(tmp_path / "pipe")
    for name in ("old.txt", "new.txt", "pipe"):
        check_file(tmp_path / name, "the report's file")
    assert tried == ["old.txt", "new.txt"]


_SLOW_WRITER = """
import sys, time
from prefpath.writing import whole_file
with whole_file(sys.argv[1]) as part, part.open("w") as handle:
    handle.write("half"); handle.flush(); print("writing", flush=True); time.sleep(60)
"""


def test_kill_9_leaves_nothing_under_the_final_name(tmp_path: Path) -> None:
    target = tmp_path / "result.csv"
    process = subprocess.Popen(
        [sys.executable, "-c", _SLOW_WRITER, str(target)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not target.exists()
    assert all(file.name.endswith(".part") for file in tmp_path.iterdir())
