"""A folder of results: whole, checked, and with a name for everybody."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest

from prefpath import SettingError, VoteError, __version__
from prefpath.export import MANIFEST, file_names, verify_results, write_results

TABLES = {"ranking": {"item": ["=1+1", "b"], "score": [-1.0, 2.0]}, "people": {"who": ["ann"]}}


def test_the_manifest_names_version_settings_and_checksums(tmp_path: Path) -> None:
    folder = write_results(
        tmp_path / "out", TABLES, settings={"kappa": 20.0},
        files={"note.txt": lambda file: file.write_text("x")},
    )  # fmt: skip
    manifest = verify_results(folder)
    assert manifest["prefpath"] == __version__
    assert manifest["settings"] == {"kappa": 20.0}
    assert set(manifest["files"]) == {"ranking.csv", "people.csv", "note.txt"}
    assert {file.name for file in folder.iterdir()} == {*manifest["files"], MANIFEST}


def test_a_changed_or_missing_file_is_noticed(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "out", TABLES)
    (folder / "ranking.csv").write_text("item\n")
    with pytest.raises(VoteError, match=r"ranking\.csv is not the file"):
        verify_results(folder)
    write_results(folder, TABLES)
    (folder / "people.csv").unlink()
    with pytest.raises(VoteError, match=r"people\.csv is not the file"):
        verify_results(folder)


def test_a_folder_without_a_manifest_is_not_complete(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "out", TABLES)
    (folder / MANIFEST).unlink()
    with pytest.raises(VoteError, match="not complete"):
        verify_results(folder)


def test_what_fails_half_way_leaves_the_old_results_whole(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "out", TABLES)
    before = {file.name: file.read_bytes() for file in folder.iterdir()}

    def fail(file: Path) -> None:
        file.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_results(folder, TABLES | {"ranking": {"item": ["c"]}}, files={"path.npz": fail})
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert [file.name for file in tmp_path.iterdir()] == ["out"]


def test_formulas_are_text_in_csv_and_labels_as_they_are_in_json(tmp_path: Path) -> None:
    csv = (write_results(tmp_path / "csv", TABLES) / "ranking.csv").read_text()
    assert csv.splitlines()[1] == "'=1+1,-1.0"
    folder = write_results(tmp_path / "json", TABLES, suffix="json")
    assert json.loads((folder / "ranking.json").read_text())[0] == {"item": "=1+1", "score": -1.0}


def test_a_format_is_refused_before_the_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="no format 'xlsx'"):
        write_results(tmp_path / "out", TABLES, suffix="xlsx")
    assert list(tmp_path.iterdir()) == []


def test_no_two_labels_share_a_file_name() -> None:
    labels = ["a/b", "a.b", "a b", "a_b", "A_B", "ann", "Ünal", "x" * 300, "x" * 299, "..", ""]
    labels += ["a_b-c14cddc0", "A_B-C14CDDC0"]  # what "a/b" is called
    labels += ["\uac00", "\u1100\u1161", "K1", "\u212a1", "stra\xdfe", "strasse"]  # alike to a Mac
    names = file_names(labels)
    assert len({_alike_to_a_mac(name) for name in names.values()}) == len(labels)
    assert names["ann"] == "ann" and names["Ünal"] == "Ünal"
    assert all(len(name.encode()) < 200 and "/" not in name for name in names.values())


def _alike_to_a_mac(name: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
