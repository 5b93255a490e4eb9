"""Loaders: the user's folder, the cache, a download from a server of our own; pinned contents."""

from __future__ import annotations

import functools
import hashlib
import threading
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from prefpath import VoteError, datasets
from prefpath.datasets import fetch, movielens
from prefpath.datasets.fetch import PinnedFile, find_file

CONTENTS = b"annotator,left,right,choice\nann,x,y,1\n"
SHA256 = hashlib.sha256(CONTENTS).hexdigest()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """An empty data folder, cache and web site."""
    found = {name: tmp_path / name for name in ("data", "cache", "site")}
    for folder in found.values():
        folder.mkdir()
    monkeypatch.setenv("PREFPATH_DATA", str(found["data"]))
    monkeypatch.setenv("PREFPATH_CACHE", str(found["cache"]))
    monkeypatch.setenv("no_proxy", "127.0.0.1")  # the site is on this machine
    return found


@pytest.fixture
def site(folders: dict[str, Path]) -> Iterator[str]:
    """The address of a server for the site's folder."""
    handler = functools.partial(QuietHandler, directory=str(folders["site"]))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_the_users_folder_comes_before_the_cache(folders: dict[str, Path]) -> None:
    file = PinnedFile("votes.csv", SHA256)
    (folders["cache"] / "votes.csv").write_bytes(CONTENTS)
    assert find_file(file) == folders["cache"] / "votes.csv"
    (folders["data"] / "votes.csv").write_bytes(CONTENTS)
    assert find_file(file) == folders["data"] / "votes.csv"


def test_a_download_goes_to_the_cache_once(folders: dict[str, Path], site: str) -> None:
    (folders["site"] / "votes.csv").write_bytes(CONTENTS)
    file = PinnedFile("votes.csv", SHA256, site + "votes.csv")
    assert find_file(file) == folders["cache"] / "votes.csv"
    (folders["site"] / "votes.csv").unlink()
    assert find_file(file).read_bytes() == CONTENTS


@pytest.mark.parametrize("broken", [CONTENTS[:-1], b""])
def test_a_download_with_other_contents_is_refused(
    folders: dict[str, Path], site: str, broken: bytes
) -> None:
    (folders["site"] / "votes.csv").write_bytes(broken)
    with pytest.raises(VoteError, match="not the file it should be"):
        find_file(PinnedFile("votes.csv", SHA256, site + "votes.csv"))
    assert list(folders["cache"].iterdir()) == []


def test_a_file_in_the_folder_with_other_contents_is_refused(folders: dict[str, Path]) -> None:
    (folders["data"] / "votes.csv").write_bytes(b"tampered")
    with pytest.raises(VoteError, match=SHA256):
        find_file(PinnedFile("votes.csv", SHA256))


def test_offline_says_what_to_get_and_where_to_put_it(folders: dict[str, Path]) -> None:
    address = "http://127.0.0.1:9/votes.csv"  # nobody listens on the discard port
    with pytest.raises(VoteError, match="could not be downloaded") as caught:
        find_file(PinnedFile("votes.csv", SHA256, address))
    assert address in str(caught.value)
    assert str(folders["data"] / "votes.csv") in str(caught.value)
    assert list(folders["cache"].iterdir()) == []


def test_a_missing_page_is_said(folders: dict[str, Path], site: str) -> None:
    with pytest.raises(VoteError, match="404"):
        find_file(PinnedFile("votes.csv", SHA256, site + "votes.csv"))


def test_data_nobody_publishes_in_this_form_says_where_it_is_from(
    folders: dict[str, Path],
) -> None:
    with pytest.raises(VoteError, match=r"iqa_ref1\.csv is not on this machine") as caught:
        datasets.load_iqa()
    assert "the paper" in str(caught.value)


def test_the_cache_follows_the_users_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFPATH_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    assert fetch.cache_folder() == Path("somewhere/prefpath")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert fetch.cache_folder() == Path("~/.cache/prefpath").expanduser()
    monkeypatch.delenv("PREFPATH_DATA", raising=False)
    assert fetch.data_folder() is None


# A few lines in the layouts of the official archives (their README files describe them).
ML_1M = {
    "ml-1m/README": "terms",
    "ml-1m/ratings.dat": "1::1193::5::978300760\n1::661::3::978302109\n2::661::4::978298413\n"
    "2::1193::1::978298414\n",
    "ml-1m/users.dat": "1::F::1::10::48067\n2::M::56::16::70072\n",
    "ml-1m/movies.dat": "661::James (1996)::Animation|Children's|Musical\n"
    "1193::Caf\xe9 (1975)::Drama\n",
}
ZEROS = "|".join(["0"] * 18)
ML_100K = {
    "ml-100k/u.data": "1\t661\t3\t881250949\n1\t1193\t5\t891717742\n2\t661\t4\t878887116\n"
    "2\t1193\t1\t878887116\n",
    "ml-100k/u.user": "1|24|M|technician|85711\n2|53|F|other|94043\n",
    "ml-100k/u.item": "661|James (1996)|01-Jan-1996||http://x|0|0|0|1|1|0|0|0|0|0|0|0|1|0|0|0|0|0|0\n"
    f"1193|Caf\xe9 (1975)|01-Jan-1975||http://x|0|{ZEROS}\n",
}


def write_archive(path: Path, members: dict[str, str]) -> str:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text.encode("latin-1"))
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize(("size", "members"), [("1m", ML_1M), ("100k", ML_100K)])
def test_movielens_from_its_official_layout(
    folders: dict[str, Path],
    site: str,
    monkeypatch: pytest.MonkeyPatch,
    size: Any,
    members: dict[str, str],
) -> None:
    name = f"ml-{size}.zip"
    digest = write_archive(folders["site"] / name, members)
    monkeypatch.setitem(movielens.ARCHIVES, size, PinnedFile(name, digest, site + name))
    data = datasets.load_movielens(size)
    assert data.votes.items.tolist() == [661, 1193]
    # the first prefers 1193, the second 661: 661 is stored on the left, without a position
    assert data.votes.choice.tolist() == [-1.0, 1.0]
    assert not data.votes.position_known.any()
    assert data.features is not None
    on = {
        (int(item), name)
        for item, row in zip(data.features.items, data.features.matrix, strict=True)
        for name, flag in zip(data.features.names, row, strict=True)
        if flag
    }
    animation = {(661, "Animation"), (661, "Children's"), (661, "Musical")}
    assert on == (animation | {(1193, "Drama")} if size == "1m" else animation)
    genders = datasets.load_movielens(size, group="gender").votes
    assert genders.annotators.tolist() == ["F", "M"]


def test_an_archive_of_something_else(folders: dict[str, Path], tmp_path: Path) -> None:
    write_archive(tmp_path / "other.zip", {"readme": "hello"})
    with pytest.raises(VoteError, match="is not a MovieLens archive"):
        movielens.convert_archive(tmp_path / "other.zip", folders["cache"] / "other")


def test_unknown_size(folders: dict[str, Path]) -> None:
    with pytest.raises(VoteError, match="no MovieLens '25m'"):
        datasets.load_movielens("25m")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("loader", "counts"),
    [
        (datasets.load_iqa, (4_429, 172, 16)),
        (datasets.load_worldcollege, (8_823, 340, 261)),
        (datasets.load_paper_movies, (22_300, 420, 100)),
        (datasets.load_llmfao, (8_931, 124, 59)),
        (datasets.load_llm_judges, (9_042, 9, 10)),
    ],
)
def test_real_data_have_their_published_counts(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, loader: Any, counts: tuple[int, ...]
) -> None:
    monkeypatch.setenv("PREFPATH_DATA", str(data_dir))
    votes = loader().votes
    assert (votes.n_votes, votes.n_annotators, votes.n_items) == counts


def test_real_movielens_by_occupation(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFPATH_DATA", str(data_dir))
    data = datasets.load_movielens("1m", pairs_per_annotator=5, group="occupation")
    assert data.votes.n_votes == 6_040 * 5
    assert data.votes.annotators.tolist() == list(range(21))
    assert data.features is not None
    assert data.features.matrix.shape == (3_883, 18)
