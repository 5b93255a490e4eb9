"""Path: between knots, before the first, after the last, and to disk and back."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefpath import Path, SettingError, VoteError, Votes, fit_path
from prefpath.errors import MachineError
from prefpath.model.penalties import L1Penalty
from prefpath.model.problem import Problem
from prefpath.path import Knot
from strategies import crowds, random_features, random_votes, vote_columns


def two_knots() -> Path:
    """One annotator of two, two items, knots at 1 and 3; z is easy to follow by hand."""
    return Path(
        times=np.array([1.0, 3.0]),
        common=np.array([[1.0, -1.0], [2.0, -2.0]]),
        common_position=np.array([0.5, 1.0]),
        knots=(
            Knot(np.array([1]), np.array([0.5, 0.0]), np.array([0]), np.array([-0.8])),
            Knot(np.array([1]), np.array([2.5, -1.0]), np.array([0]), np.array([-2.8])),
        ),
        entered=np.array([np.inf, 1.5]),
        entered_bias=np.array([1.2, np.inf]),
        items=np.array(["x", "y"]),
        annotators=np.array(["u", "v"]),
        features=None,
        blocks=np.array([0, 0, 2]),
        seen_item=np.array([0, 1], dtype=np.int32),
        penalty=L1Penalty(),
        deviation_threshold=np.array([1.0, 1.0]),
        position_threshold=np.array([1.0, 1.0]),
        kappa=10.0,
        loss="linear",
        solver="lbi",
        step=0.5,
        n_evaluations=7,
    )


def test_between_knots_z_is_linear_and_the_prox_comes_after():
    path = two_knots()
    np.testing.assert_allclose(path.scores(2.0), [1.5, -1.5])
    assert path.common_position_at(2.0) == 0.75
    # z = (1.5, -0.5) half way: only the first entry is beyond the threshold
    np.testing.assert_allclose(path.deviation(2.0).toarray(), [[0, 0], [5.0, 0]])
    np.testing.assert_allclose(path.position_bias(2.0), [-8.0, 0.0])
    np.testing.assert_allclose(path.personal_scores("v", 2.0), [6.5, -1.5])
    assert path.deviation(2.0).nnz == 1
    assert path.active_count(2.0) == (1, 1)


def test_before_the_first_knot_everything_grows_from_zero():
    path = two_knots()
    np.testing.assert_allclose(path.scores(0.5), [0.5, -0.5])
    assert path.common_position_at(0.5) == 0.25
    assert path.active_count(0.5) == (0, 0)
    np.testing.assert_allclose(path.scores(0.0), 0.0)


def test_what_rounding_leaves_at_the_time_of_an_entry_is_no_deviation():
    """It named an item that somebody "likes more", at the very point where one ranking is best."""
    path = two_knots()
    entering = Knot(np.array([1]), np.array([1.0 + 4e-16, 0.0]), np.array([0]), np.array([0.0]))
    path = replace(path, knots=(entering, path.knots[1]))
    assert path.deviation(1.0).nnz == 0
    assert path.deviation(1.0 + 1e-9).nnz == 1


def test_after_the_last_knot_nothing_moves():
    path = two_knots()
    for t in (3.0, 3.1, 1e9):
        np.testing.assert_allclose(path.scores(t), [2.0, -2.0])
        np.testing.assert_allclose(path.deviation(t).toarray(), [[0, 0], [15.0, 0]])
        np.testing.assert_allclose(path.position_bias(t), [-18.0, 0.0])


def test_unusable_questions_are_refused():
    path = two_knots()
    for t in (-1.0, np.nan, np.inf):
        with pytest.raises(SettingError, match="at least 0"):
            path.scores(t)
    with pytest.raises(SettingError, match="position_bias"):
        path.entry_times("bias")
    with pytest.raises(VoteError, match="no annotator 'w'"):
        path.personal_scores("w", 1.0)
    assert repr(path).startswith("Path(linear, lbi, 2 times from 1 to 3")


def knot_blocks(path: Path, k: int) -> dict[int, np.ndarray]:
    """z of the deviations that a knot keeps, by annotator."""
    knot = path.knots[k]
    widths = path.blocks[knot.who + 1] - path.blocks[knot.who]
    parts = np.split(knot.z, np.cumsum(widths)[:-1]) if len(knot.who) else []
    return dict(zip(knot.who.tolist(), parts, strict=True))


@settings(max_examples=15)
@given(crowds(), st.sampled_from(("flow", "lbi")), st.booleans(), st.floats(0.0, 1.0))
def test_a_denser_path_passes_through_the_same_points(votes, solver, has_features, share):
    """What is kept of z is enough: dropping knots changes a path only by interpolation."""
    features = random_features(0, votes.n_items) if has_features else None
    times = np.geomspace(20.0, 400.0, 9)
    dense = fit_path(votes, features=features, solver=solver, times=times)
    k = 3
    low, high = dense.times[k], dense.times[k + 1]
    t = low + share * (high - low)
    who_low, who_high = knot_blocks(dense, k), knot_blocks(dense, k + 1)
    threshold = Problem.build(votes, features=features).deviation_threshold
    for u in range(votes.n_annotators):
        width = int(dense.blocks[u + 1] - dense.blocks[u])
        a, b = (z.get(u, np.zeros(width)) for z in (who_low, who_high))
        z = (1 - (t - low) / (high - low)) * a + (t - low) / (high - low) * b
        expected = 20.0 * dense.penalty.prox(z, threshold[u])
        row = dense.deviation(t)[u].toarray().ravel()
        np.testing.assert_allclose(row[dense._block_columns(u)], expected, atol=1e-9)


@pytest.mark.parametrize("solver", ["flow", "lbi"])
def test_zero_at_both_knots_but_not_between_cannot_happen(solver):
    """An annotator who pops up between two knots is there at the second, wherever we look."""
    votes = random_votes(3, n_votes=400)
    coarse = fit_path(votes, solver=solver, n_times=4, t_ratio=30.0)
    fine = fit_path(
        votes, solver=solver, times=np.unique(np.append(coarse.times, coarse.times[1:] * 0.97))
    )
    for t in coarse.times:
        gap = coarse.deviation(t).toarray() - fine.deviation(t).toarray()
        assert np.abs(gap).max() < 1e-6 if solver == "lbi" else np.abs(gap).max() < 2e-2


LABELS = {
    "int": np.arange(10, 14),
    "str": np.array(["a", "b", "c", "d"]),
    "unicode": np.array(["ä", "Πυθία", "中文", '🏆 "quoted", comma']),
    "object": np.array(["a", "b", "c", "d"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("how", [{}, {"features": random_features(0, 4), "common_position": True}])
def test_saved_and_loaded_it_is_the_same(tmp_path, labels, how):
    columns = vote_columns(3, n_annotators=4)
    for name in ("annotator", "left", "right"):
        columns[name] = labels[columns[name]]
    votes = Votes.from_arrays(**columns)
    path = fit_path(votes, n_times=6, t_ratio=20.0, **how)
    path.save(tmp_path / "it.npz")
    with np.load(tmp_path / "it.npz", allow_pickle=False) as archive:
        assert all(archive[name].dtype != object for name in archive.files)
    again = Path.load(str(tmp_path / "it.npz"))
    assert again.items.tolist() == path.items.tolist()
    assert again.annotators.tolist() == path.annotators.tolist()
    for t in (0.5 * path.times[0], path.times[2], 0.9 * path.times[4], path.times[-1]):
        np.testing.assert_array_equal(again.scores(t), path.scores(t))
        np.testing.assert_array_equal(again.deviation(t).toarray(), path.deviation(t).toarray())
        np.testing.assert_array_equal(again.position_bias(t), path.position_bias(t))
        assert again.common_position_at(t) == path.common_position_at(t)
    np.testing.assert_array_equal(again.entry_times(), path.entry_times())
    assert (again.step, again.loss, again.solver) == (path.step, path.loss, path.solver)
    assert again.n_evaluations == path.n_evaluations
    assert again.penalty == path.penalty
    who = path.annotators[1]
    np.testing.assert_array_equal(
        again.personal_scores(who, path.times[-1]), path.personal_scores(who, path.times[-1])
    )


def test_labels_that_mix_numbers_and_text_come_back_as_they_were(tmp_path):
    path = two_knots()
    mixed = Path(**{**vars(path), "items": np.array([1, "1"], dtype=object)})
    mixed.save(tmp_path / "it.npz")
    assert Path.load(tmp_path / "it.npz").items.tolist() == [1, "1"]


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return (
        content[:middle]
        + bytes(b ^ 0xFF for b in content[middle : middle + 200])
        + content[middle + 200 :]
    )


@pytest.mark.parametrize("spoil", [truncated, flipped, lambda c: b"", lambda c: b"no path" * 9])
def test_spoiled_files_are_said_to_be_so(tmp_path, spoil):
    path = fit_path(random_votes(1), n_times=6)
    file = tmp_path / "it.npz"
    path.save(file)
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(VoteError, match="not a saved path"):
        Path.load(file)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    """A few megabytes can unpack to many gigabytes."""
    file = tmp_path / "zeros.npz"
    np.savez_compressed(file, times=np.zeros(1_000_000))
    assert file.stat().st_size < 50_000
    monkeypatch.setattr("prefpath.machine.free_memory", lambda: 1_000_000)
    with pytest.raises(MachineError, match=r"reading .*zeros.npz needs about 8"):
        Path.load(file)


def test_an_array_said_to_be_of_petabytes_is_damage(tmp_path):
    """It was a `MemoryError`."""
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    np.lib.format.write_array_header_1_0(header, shape)
    with zipfile.ZipFile(tmp_path / "it.npz", "w") as archive:
        archive.writestr("times.npy", header.getvalue() + bytes(80))
    with pytest.raises(VoteError, match="not a saved path"):
        Path.load(tmp_path / "it.npz")


def test_any_flipped_bit_of_flags_and_method_is_an_error_or_changes_nothing(tmp_path):
    """A bit makes a compressed file an encrypted one, or one compressed as nobody does."""
    path = fit_path(random_votes(1), n_times=3)
    file = tmp_path / "it.npz"
    path.save(file)
    sound = file.read_bytes()
    listed = sound.rindex(b"PK\1\2") + 8
    for place in (*range(6, 10), *range(listed, listed + 4)):
        for bit in range(8):
            spoiled = bytearray(sound)
            spoiled[place] ^= 1 << bit
            file.write_bytes(spoiled)
            try:
                np.testing.assert_array_equal(Path.load(file).common, path.common)
            except VoteError as error:
                assert "not a saved path" in str(error)


@pytest.mark.parametrize(
    "name",
    ["times", "common", "entered", "deviation_threshold", "position_threshold", "knot_z",
     "knot_z_bias"],
)  # fmt: skip
def test_numbers_that_are_none_are_refused(tmp_path, name):
    fit_path(random_votes(1), n_times=6).save(tmp_path / "it.npz")
    with np.load(tmp_path / "it.npz") as archive:
        arrays = dict(archive)
    arrays[name] = np.array(arrays[name])
    arrays[name].flat[0] = np.nan
    np.savez(tmp_path / "spoiled.npz", **arrays)
    with pytest.raises(VoteError, match=r"not a saved path: (its times are|.*not finite)"):
        Path.load(tmp_path / "spoiled.npz")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("times", lambda t: t[::-1]),
        ("times", lambda t: np.full_like(t, t[0])),
        ("times", lambda t: t - t[-1]),
        ("common", lambda common: common[1:]),
        ("blocks", lambda blocks: blocks[1:]),
        ("knot_who", lambda who: who + 1_000),
        ("knot_who_bias", lambda who: who - 1_000),
    ],
)
def test_what_no_path_can_be_is_refused(tmp_path, name, change):
    fit_path(random_votes(1), n_times=6).save(tmp_path / "it.npz")
    with np.load(tmp_path / "it.npz") as archive:
        arrays = dict(archive)
    np.savez(tmp_path / "spoiled.npz", **arrays | {name: change(arrays[name])})
    with pytest.raises(VoteError, match=r"not a saved path: (its times|.*not as many)"):
        Path.load(tmp_path / "spoiled.npz")


def test_files_that_are_something_else_are_said_to_be_so(tmp_path):
    with pytest.raises(VoteError, match="not a saved path"):
        Path.load(tmp_path / "nowhere.npz")
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "other.npz", times=np.zeros(3))
    text = np.frombuffer(json.dumps({"format": 1}).encode(), dtype=np.uint8)
    np.savez(tmp_path / "hollow.npz", meta=text)
    for name in ("array.npy", "other.npz", "hollow.npz"):
        with pytest.raises(VoteError, match="not a saved path"):
            Path.load(tmp_path / name)
    newer = np.frombuffer(json.dumps({"format": 99}).encode(), dtype=np.uint8)
    np.savez(tmp_path / "newer.npz", meta=newer)
    with pytest.raises(VoteError, match="format 99"):
        Path.load(tmp_path / "newer.npz")


def test_a_file_of_version_0_1_0_loads(tmp_path):
    """Format 1: as today's, without a word of attention."""
    path = fit_path(random_votes(1, n_votes=300), n_times=4, t_ratio=20.0)
    path.save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as archive:
        arrays = {name: part for name, part in archive.items() if "attention" not in name}
    meta = json.loads(arrays["meta"].tobytes())
    del meta["attention_scale"]
    arrays["meta"] = np.frombuffer(json.dumps(meta | {"format": 1}).encode(), dtype=np.uint8)
    np.savez(tmp_path / "old.npz", **arrays)
    old, t = Path.load(tmp_path / "old.npz"), path.times[-1]
    np.testing.assert_array_equal(old.deviation(t).toarray(), path.deviation(t).toarray())
    np.testing.assert_array_equal(old.position_bias(t), path.position_bias(t))
    assert not old.attention(t).any()


def test_counts_of_one_are_singular() -> None:
    votes = Votes.from_arrays(["u"] * 3, ["a", "b", "a"], ["b", "a", "b"], [1, -1, -1])
    assert "2 items, 1 annotator)" in repr(fit_path(votes, n_times=5, t_ratio=5.0))
