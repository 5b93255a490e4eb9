"""Votes in shards: nothing is lost, whatever files and labels they come in."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest
from cluster_cases import small_crowd

from prefpath import SettingError, VoteError, Votes, VoteWarning, read_votes
from prefpath.distributed import ShardedVotes, shard_votes, shuffle
from prefpath.distributed.labels import hash_labels, pack_labels, unite_labels, unpack_labels
from prefpath.distributed.pieces import read_blocks
from prefpath.distributed.tasks import run_tasks
from prefpath.distributed.workers import check_shared_folder, connect
from prefpath.errors import MachineError
from prefpath.tables import write_table

pytestmark = pytest.mark.xdist_group("cluster")

COLUMNS = ("left", "right", "choice", "weight", "count", "position_known", "offsets")


def assert_same_votes(found: Votes, expected: Votes) -> None:
    np.testing.assert_array_equal(found.annotators.astype(str), expected.annotators.astype(str))
    np.testing.assert_array_equal(found.items.astype(str), expected.items.astype(str))
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_votes_come_back_as_they_were(client, tmp_path):
    votes = small_crowd()
    sharded = shard_votes(votes, client, tmp_path)
    assert len(sharded) == 4 and int(sharded.n_annotators.sum()) == votes.n_annotators
    assert_same_votes(ShardedVotes.open(tmp_path).collect(), votes)
    shards = [set(sharded.read(s).annotators.tolist()) for s in range(len(sharded))]
    assert sum(map(len, shards)) == len(set.union(*shards))


def write_files(folder, rows, n_files):
    folder.mkdir()
    for k in range(n_files):
        lines = ["annotator,left,right,choice", *(",".join(row) for row in rows[k::n_files])]
        (folder / f"part{k}.csv").write_text("\n".join(lines) + "\n")


def random_rows(seed, n=400, people=15):
    rng = np.random.default_rng(seed)
    names = rng.integers(0, people, n)
    pairs = np.array([rng.permutation(6)[:2] for _ in range(n)])
    choices = rng.choice(["left", "right", "tie"], n)
    return [
        (f"p{who}", f"item {a}", f"item {b}", choice)
        for who, (a, b), choice in zip(names, pairs, choices, strict=True)
    ]


@pytest.mark.parametrize("reading", [{}, {"ties": "drop"}, {"position_known": False}])
def test_many_files_are_read_as_one(client, tmp_path, reading):
    write_files(tmp_path / "votes", random_rows(0), 3)
    pattern = str(tmp_path / "votes" / "*.csv")
    sharded = shard_votes(pattern, client, tmp_path / "shards", **reading)
    expected = read_votes(pattern, **reading)
    assert_same_votes(sharded.collect(), expected)
    assert sharded.origin["votes"] == expected.origin["votes"]
    assert not list((tmp_path / "shards").glob("parts*"))


def test_numbers_in_one_file_and_names_in_another_are_names(client, tmp_path):
    folder = tmp_path / "votes"
    folder.mkdir()
    (folder / "a.csv").write_text("annotator,left,right,choice\n1,7,8,left\n2,8,7,left\n")
    (folder / "b.csv").write_text("annotator,left,right,choice\n1,7,8,right\nann,x,7,left\n")
    votes = shard_votes(folder, client, tmp_path / "shards").collect()
    assert votes.annotators.tolist() == ["1", "2", "ann"]
    assert votes.items.tolist() == ["7", "8", "x"]
    assert votes.n_votes == 4


def test_a_bad_row_is_named_with_its_file(client, tmp_path):
    rows = random_rows(1)
    rows[7] = ("p1", "item 1", "item 2", "banana")
    write_files(tmp_path / "votes", rows, 3)
    with pytest.raises(VoteError, match=r"part1\.csv") as error:
        shard_votes(tmp_path / "votes", client, tmp_path / "shards")
    assert "banana" in str(error.value) and error.value.rows == (3,)


def test_a_full_disk_is_said_and_leaves_nothing_half_done(client, tmp_path, monkeypatch):
    write_files(tmp_path / "votes", random_rows(0), 3)

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("prefpath.writing.os.fsync", full)
    with pytest.raises(MachineError, match=r"full|space"):
        shard_votes(tmp_path / "votes", client, tmp_path / "shards")
    assert not list((tmp_path / "shards").iterdir())


def test_blocks_that_were_damaged_on_the_way_are_refused(tmp_path):
    votes = small_crowd()
    index = shuffle.read_part(*_written(votes, tmp_path), {})[0]
    whole = read_blocks(index, np.arange(shuffle.N_BUCKETS))
    assert sum(int(block.sizes.sum()) for block in whole) == votes.n_rows
    file = Path(index.file)
    spoiled = bytearray(file.read_bytes())
    spoiled[len(spoiled) // 2] ^= 255
    file.write_bytes(bytes(spoiled))
    with pytest.raises(VoteError, match="not as it was written"):
        read_blocks(index, np.arange(shuffle.N_BUCKETS))


def _written(votes, folder):
    columns = {
        "annotator": votes.annotators[votes.annotator],
        "left": votes.items[votes.left],
        "right": votes.items[votes.right],
        "choice": votes.choice,
        "weight": votes.weight,
    }
    write_table(columns, folder / "votes.csv")
    return str(folder / "votes.csv"), str(folder / "blocks")


def test_what_workers_warn_of_is_said_here(client, tmp_path):
    rows = random_rows(2)
    rows[4] = ("p1", "item 1", "item 1", "left")
    write_files(tmp_path / "votes", rows, 2)
    with pytest.warns(VoteWarning, match="itself") as said:
        shard_votes(tmp_path / "votes", client, tmp_path / "shards")
    assert any(f"{tmp_path / 'votes'}: left out 1 row" in str(one.message) for one in said)


def test_the_number_of_shards_depends_on_the_votes_alone():
    assert [shuffle.number_of_shards(n) for n in (0, 10, 8_000_001, 10**9)] == [4, 4, 8, 512]


def test_labels_are_hashed_alike_everywhere():
    # From zlib.crc32: another value would put annotators of older shards elsewhere.
    assert hash_labels(np.array(["ann", "7"], dtype=object)).tolist() == [3877663347, 1790921346]
    assert hash_labels(np.array([7])).tolist() == [1790921346]


def test_labels_survive_packing():
    for labels in (np.array(["a", "ü 𝄞", ""], dtype=object), np.array([3, 1]), np.array([0.5])):
        found = unpack_labels(pack_labels(labels, "who"), "who")
        assert found.tolist() == labels.tolist()
    assert unite_labels([np.array([2, 1]), np.array([3])]).tolist() == [1, 2, 3]


def test_annotators_without_votes_are_kept(client, tmp_path):
    votes = Votes.from_arrays(["b"], ["x"], ["y"], [1], annotators=["a", "b", "c"])
    assert shard_votes(votes, client, tmp_path).collect().annotators.tolist() == ["a", "b", "c"]


def test_a_folder_without_shards_or_with_damaged_ones_is_refused(client, tmp_path):
    with pytest.raises(SettingError, match="no votes in shards"):
        ShardedVotes.open(tmp_path)
    sharded = shard_votes(small_crowd(), client, tmp_path)
    file = tmp_path / "shard-0001.npz"
    spoiled = bytearray(file.read_bytes())
    spoiled[len(spoiled) // 2] ^= 255
    file.write_bytes(bytes(spoiled))
    with pytest.raises(VoteError, match="damaged"):
        sharded.collect()
    record = json.loads((tmp_path / "sharded.json").read_text())
    (tmp_path / "sharded.json").write_text(json.dumps(record | {"format": 99}))
    with pytest.raises(SettingError, match="no votes in shards"):
        ShardedVotes.open(tmp_path)


def test_a_folder_that_workers_do_not_see_is_refused(client, tmp_path, monkeypatch):
    monkeypatch.setattr("prefpath.distributed.workers._sees", lambda _: False)
    with pytest.raises(SettingError, match="do not see"):
        check_shared_folder(client, tmp_path)


def test_an_error_in_a_task_is_raised_and_not_tried_again(client, tmp_path):
    tried = tmp_path / "tried"

    def fails(file):
        with Path(file).open("a") as log:
            log.write("once ")
        raise VoteError("no", rows=[3], remedy="yes")

    with pytest.raises(VoteError, match="no") as error:
        run_tasks(client, fails, [(str(tried),)])
    assert tried.read_text() == "once "
    assert error.value.rows == (3,) and error.value.remedy == "yes"


def test_no_scheduler_is_said(monkeypatch):
    monkeypatch.setattr("prefpath.distributed.workers.SECONDS_TO_CONNECT", 0.3)
    with pytest.raises(SettingError, match="no scheduler answers"):
        connect("tcp://127.0.0.1:9")
