"""Whose fit a folder holds, who may go on with it, and what is left in the end."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from prefpath.checkpoint import Checkpoint, keeping
from prefpath.errors import SettingError, VoteWarning

SETTINGS = {"kappa": 20.0, "seed": 0}


def snapshot(number: float):
    return lambda: {"y": np.array([number])}


def anything(_):
    return True


def saved(folder: Path, *numbers: float) -> None:
    """A fit that saved some states and was killed."""
    checkpoint = Checkpoint(folder, every=0.0)
    checkpoint.claim("votes", SETTINGS)
    for number in numbers:
        checkpoint.slot("path").tick(snapshot(number))
    checkpoint.close()


def reached(folder: Path) -> float | None:
    checkpoint = Checkpoint(folder)
    try:
        checkpoint.claim("votes", SETTINGS)
        kept = checkpoint.slot("path").load(anything)
        return None if kept is None else float(kept["y"][0])
    finally:
        checkpoint.close()


def test_the_same_fit_goes_on_from_the_last_state(tmp_path):
    saved(tmp_path, 1.0, 2.0, 3.0)
    assert reached(tmp_path) == 3.0
    assert reached(tmp_path) == 3.0  # reading takes nothing away


@pytest.mark.parametrize(
    ("votes", "settings", "words"),
    [
        ("others", SETTINGS, "holds a fit of other votes"),
        ("votes", {**SETTINGS, "kappa": 7.0}, "with kappa 20.0, and now it is 7.0"),
        ("votes", {"seed": 0}, "with kappa 20.0, and now it is null"),
    ],
)
def test_another_fit_is_refused_until_the_first_has_finished(tmp_path, votes, settings, words):
    saved(tmp_path, 1.0)
    checkpoint = Checkpoint(tmp_path)
    with pytest.raises(SettingError, match=words):
        checkpoint.claim(votes, settings)
    checkpoint.claim("votes", SETTINGS)
    checkpoint.finish()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["fit.json", "lock"]
    again = Checkpoint(tmp_path)
    assert not again.claim(votes, settings)
    again.close()


def test_another_version_is_refused(tmp_path):
    saved(tmp_path, 1.0)
    record = json.loads((tmp_path / "fit.json").read_text())
    (tmp_path / "fit.json").write_text(json.dumps(record | {"prefpath": "9.9"}))
    with pytest.raises(SettingError, match=r"of prefpath 9\.9, and this is"):
        reached(tmp_path)
    (tmp_path / "fit.json").write_text(json.dumps(record | {"format": 99}))
    with pytest.raises(SettingError, match="it has format 99"):
        reached(tmp_path)
    (tmp_path / "fit.json").write_text("{")
    with pytest.raises(SettingError, match="it is damaged"):
        reached(tmp_path)


def test_a_damaged_state_is_said_and_the_one_before_it_used(tmp_path):
    saved(tmp_path, 1.0, 2.0)
    (tmp_path / "path.state.npz").write_bytes(b"PK\x03\x04 nonsense")
    with pytest.warns(VoteWarning, match="damaged.*going on from before it"):
        assert reached(tmp_path) == 1.0
    (tmp_path / "path.before.state.npz").write_bytes(b"")
    with pytest.warns(VoteWarning, match="damaged"):
        assert reached(tmp_path) is None


def test_a_folder_in_use_is_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path)
    with pytest.raises(SettingError, match="another fit is using"):
        Checkpoint(tmp_path)
    checkpoint.close()
    Checkpoint(tmp_path).close()


def test_a_place_where_nothing_can_be_written_is_refused_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="is a file"):
        Checkpoint(tmp_path / "file")
    with pytest.raises(SettingError, match="cannot be written"):
        Checkpoint("/proc/nothing")


def test_what_cannot_be_written_later_is_said_once_and_stops_nothing(tmp_path, monkeypatch):
    checkpoint = Checkpoint(tmp_path, every=0.0)
    checkpoint.claim("votes", SETTINGS)
    slot = checkpoint.slot("path")
    slot.tick(snapshot(1.0))

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("prefpath.checkpoint.files.np.savez", full)
    with pytest.warns(VoteWarning, match="the fit goes on without: .*the disk is full") as said:
        slot.tick(snapshot(2.0))
        slot.tick(snapshot(3.0))
    assert len(said) == 1
    monkeypatch.undo()
    checkpoint.close()
    assert reached(tmp_path) == 1.0


def test_memory_that_is_lacking_for_a_save_stops_nothing(tmp_path):
    checkpoint = Checkpoint(tmp_path, every=0.0)
    checkpoint.claim("votes", SETTINGS)

    def too_large():
        raise MemoryError

    with pytest.warns(VoteWarning, match="the fit goes on without"):
        checkpoint.slot("path").tick(too_large)
    checkpoint.close()


def test_the_clock_decides_when_and_who_stands_still_is_saved_first(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("prefpath.checkpoint.slots.time.monotonic", lambda: now[0])
    checkpoint = Checkpoint(tmp_path, every=20.0)
    checkpoint.claim("votes", SETTINGS)
    first, second = checkpoint.slot("first"), checkpoint.slot("second")
    first.end(snapshot(1.0))
    for now[0] in (5.0, 19.0):
        second.tick(snapshot(now[0]))
    assert checkpoint.n_saved == 0
    now[0] = 20.0
    second.tick(snapshot(20.0))
    assert checkpoint.n_saved == 2
    written = [(tmp_path / f"{name}.state.npz").stat().st_mtime_ns for name in ("first", "second")]
    assert written == sorted(written)
    first.begin()  # it moves again: what it showed no longer holds
    now[0] = 40.0
    second.tick(snapshot(40.0))
    assert checkpoint.n_saved == 3
    checkpoint.close()


def test_writing_slowly_takes_a_quarter_of_the_time_at_most(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("prefpath.checkpoint.slots.time.monotonic", lambda: now[0])

    def slow():
        now[0] += 10.0
        return {"y": np.zeros(1)}

    checkpoint = Checkpoint(tmp_path, every=20.0)
    checkpoint.claim("votes", SETTINGS)
    slot = checkpoint.slot("path")
    saves = []
    for _ in range(200):
        before = checkpoint.n_saved
        slot.tick(slow)
        now[0] += 1.0
        if checkpoint.n_saved > before:
            saves.append(now[0])
    assert np.diff(saves)[1:].min() >= 40.0
    checkpoint.close()


class TestLazy:
    def test_a_short_fit_leaves_no_trace(self, tmp_path):
        folder = tmp_path / "out.checkpoint"
        checkpoint = Checkpoint(folder, lazy=60.0)
        assert not checkpoint.claim("votes", SETTINGS)
        checkpoint.slot("path").end(snapshot(1.0))
        checkpoint.flush()
        checkpoint.finish()
        assert not folder.exists()

    def test_a_long_one_can_be_gone_on_with_and_leaves_none_in_the_end(self, tmp_path):
        folder = tmp_path / "out.checkpoint"
        checkpoint = Checkpoint(folder, lazy=0.0, every=0.0)
        checkpoint.claim("votes", SETTINGS)
        checkpoint.slot("path").tick(snapshot(1.0))
        checkpoint.close()
        (folder / ".path.state.npz.0f.part").write_bytes(b"half")
        (folder / ".fit.json.0f.part").write_bytes(b"half")
        again = Checkpoint(folder, lazy=0.0)
        assert again.claim("votes", SETTINGS)
        assert again.slot("path").load(anything) is not None
        again.finish()
        assert not folder.exists()

    def test_another_fit_takes_the_folder(self, tmp_path):
        saved(tmp_path, 1.0)
        other = Checkpoint(tmp_path, lazy=60.0)
        assert not other.claim("others", SETTINGS)
        assert other.slot("path").load(anything) is None
        other.close()

    def test_a_folder_in_use_is_left_alone(self, tmp_path):
        first = Checkpoint(tmp_path, every=0.0)
        first.claim("votes", SETTINGS)
        first.slot("path").tick(snapshot(1.0))
        second = Checkpoint(tmp_path, lazy=0.0, every=0.0)
        assert not second.claim("votes", SETTINGS)
        with pytest.warns(VoteWarning, match="another fit is using"):
            second.slot("path").tick(snapshot(9.0))
        second.finish()
        first.close()
        assert reached(tmp_path) == 1.0

    def test_a_folder_that_cannot_be_written_stops_nothing(self, tmp_path, monkeypatch):
        saved(tmp_path, 1.0)
        checkpoint = Checkpoint(tmp_path, lazy=0.0, every=0.0)

        def denied(*_):
            raise SettingError("not allowed here")

        monkeypatch.setattr("prefpath.checkpoint.folder.write_text", denied)
        with pytest.warns(VoteWarning, match="not allowed here"):
            checkpoint.claim("votes", SETTINGS)
            checkpoint.finish()


def test_a_command_is_kept_and_another_one_refused(tmp_path):
    command = {"arguments": ["votes.csv"], "folder": "here"}
    checkpoint = Checkpoint(tmp_path, every=0.0)
    assert not checkpoint.of_command(command)
    checkpoint.claim("votes", SETTINGS)
    checkpoint.slot("path").tick(snapshot(1.0))
    checkpoint.close()
    again = Checkpoint(tmp_path)
    with pytest.raises(SettingError, match="begun with other options"):
        again.of_command({**command, "folder": "there"})
    assert again.of_command(command)
    again.claim("votes", SETTINGS)
    again.finish()
    third = Checkpoint(tmp_path)
    assert not third.of_command({**command, "folder": "there"})
    third.close()


def test_a_seed_left_to_chance_is_drawn_once_for_a_fit(tmp_path):
    seeds = set()
    for _ in range(2):
        checkpoint = Checkpoint(tmp_path)
        checkpoint.claim("votes", SETTINGS)
        seeds.add(checkpoint.seed)
        checkpoint.close()
    assert len(seeds) == 1
    checkpoint = Checkpoint(tmp_path)
    checkpoint.claim("votes", SETTINGS)
    checkpoint.finish()
    other = Checkpoint(tmp_path)
    other.claim("others", SETTINGS)
    assert other.seed not in seeds
    other.close()


class TestKeeping:
    def test_a_folder_keeps_what_was_reached_and_is_let_go(self, tmp_path):
        with keeping(tmp_path) as checkpoint:
            checkpoint.claim("votes", SETTINGS)
            checkpoint.slot("path").end(snapshot(4.0))
        assert json.loads((tmp_path / "fit.json").read_text())["finished"]
        assert reached(tmp_path) == 4.0

    def test_an_interrupt_saves_what_stands_still_only(self, tmp_path):
        with pytest.raises(KeyboardInterrupt), keeping(tmp_path) as checkpoint:
            checkpoint.claim("votes", SETTINGS)
            checkpoint.slot("path").end(snapshot(4.0))
            checkpoint.slot("fold").end(snapshot(5.0))
            checkpoint.slot("fold").begin()
            raise KeyboardInterrupt
        assert [file.name for file in tmp_path.glob("*.npz")] == ["path.state.npz"]
        assert not json.loads((tmp_path / "fit.json").read_text())["finished"]

    def test_a_checkpoint_given_stays_its_owners(self, tmp_path):
        mine = Checkpoint(tmp_path)
        with keeping(mine) as checkpoint:
            assert checkpoint is mine
            checkpoint.claim("votes", SETTINGS)
        with pytest.raises(SettingError, match="another fit is using"):
            Checkpoint(tmp_path)
        mine.finish()

    def test_none_is_none(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with keeping(None) as checkpoint:
                assert checkpoint is None
