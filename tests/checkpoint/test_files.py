"""Files of a checkpoint: as they were written, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath.checkpoint import files
from prefpath.checkpoint.files import read_arrays, write_arrays
from prefpath.errors import VoteError


@pytest.fixture
def file(tmp_path):
    file = tmp_path / "path.state.npz"
    arrays = {"y": np.arange(40.0), "who": np.arange(3), "none": np.zeros((0, 2)), "t": np.array(1)}
    write_arrays(file, arrays)
    return file


def test_arrays_come_back_as_they_were(file):
    found = read_arrays(file)
    np.testing.assert_array_equal(found["y"], np.arange(40.0))
    assert found["who"].dtype == np.int64
    assert found["none"].shape == (0, 2)
    assert found["t"].shape == ()


def test_every_damage_is_refused(file):
    whole = file.read_bytes()
    rng = np.random.default_rng(0)
    for k in range(150):
        spoiled = bytearray(whole)
        where = int(rng.integers(len(whole)))
        if k % 3 == 0:
            del spoiled[where:]
        else:
            spoiled[where] ^= 1 + int(rng.integers(255))
        file.write_bytes(spoiled)
        try:
            found = read_arrays(file)
        except VoteError:
            continue
        # What zip does not read (a date, a flag) may differ; no number may.
        np.testing.assert_array_equal(found["y"], np.arange(40.0))
        np.testing.assert_array_equal(found["who"], np.arange(3))


def test_a_pickle_is_not_run(file):
    np.savez(file, y=np.array([print], dtype=object))
    with pytest.raises(VoteError, match="no checkpoint, or damaged"):
        read_arrays(file)


def test_another_format_is_refused(file, monkeypatch):
    monkeypatch.setattr(files, "FORMAT", 2)
    with pytest.raises(VoteError, match="has format 1"):
        read_arrays(file)


def test_names_shapes_and_kinds_are_part_of_the_checksum(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    write_arrays(one, {"y": np.arange(6.0)})
    for arrays in ({"z": np.arange(6.0)}, {"y": np.arange(6.0).reshape(2, 3)}):
        write_arrays(other, arrays)
        with np.load(one) as first, np.load(other) as second:
            kept = {**second, "checksum": first["checksum"]}
        with other.open("wb") as handle:
            np.savez(handle, **kept)
        with pytest.raises(VoteError, match="its checksum is another"):
            read_arrays(other)
