"""Files: formats, compression, folders and patterns; what is odd about real CSV files."""

from __future__ import annotations

import errno
import gzip
import os
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet
from same_votes import assert_same_votes

from prefpath import SettingError, VoteError, Votes, read_votes
from prefpath.votes.files import find_files

HEADER = "annotator,left,right,choice\n"
BODY = "ann,x,y,1\nann,y,z,-1\nbob,x,z,0\n"
EXPECTED = Votes.from_arrays(["ann", "ann", "bob"], ["x", "y", "x"], ["y", "z", "z"], [1, -1, 0])


def copy_to(path: Path, options: str) -> Path:
    """The votes as DuckDB writes them."""
    source = path.with_suffix(".source.csv")
    source.write_text(HEADER + BODY)
    duckdb.sql(f"COPY (FROM '{source}') TO '{path}' ({options})")
    source.unlink()
    return path


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("v.csv", "FORMAT csv, HEADER"),
        ("v.tsv", "FORMAT csv, HEADER, DELIMITER '\t'"),
        ("v.txt", "FORMAT csv, HEADER, DELIMITER ';'"),
        ("votes", "FORMAT csv, HEADER, DELIMITER '|'"),
        ("v.csv.gz", "FORMAT csv, HEADER, COMPRESSION gzip"),
        ("v.csv.zst", "FORMAT csv, HEADER, COMPRESSION zstd"),
        ("v.jsonl", "FORMAT json"),
        ("v.json", "FORMAT json, ARRAY true"),
        ("v.ndjson.gz", "FORMAT json, COMPRESSION gzip"),
        ("v.jsonl.zst", "FORMAT json, COMPRESSION zstd"),
        ("v.parquet", "FORMAT parquet"),
        ("v.pq", "FORMAT parquet, COMPRESSION zstd"),
        ("V.CSV", "FORMAT csv, HEADER"),
    ],
)
def test_every_format(tmp_path: Path, name: str, options: str) -> None:
    path = copy_to(tmp_path / name, options)
    assert_same_votes(read_votes(path), EXPECTED)
    assert_same_votes(read_votes(str(path)), EXPECTED)


def write_parts(folder: Path) -> None:
    folder.mkdir()
    (folder / "part-1.csv").write_text(HEADER + "ann,x,y,1\n")
    (folder / "part-2.csv").write_text("right,choice,annotator,left\nz,-1,ann,y\n")
    (folder / "part-3.csv.gz").write_bytes(gzip.compress((HEADER + "bob,x,z,0\n").encode()))
    (folder / "_SUCCESS").write_text("")
    (folder / ".part-1.csv.crc").write_text("junk")


def test_a_folder_of_parts_whose_columns_stand_in_any_order(tmp_path: Path) -> None:
    write_parts(tmp_path / "votes")
    votes = read_votes(tmp_path / "votes")
    assert_same_votes(votes, EXPECTED)
    assert votes.origin["source"] == str(tmp_path / "votes")


def test_a_pattern(tmp_path: Path) -> None:
    write_parts(tmp_path / "votes")
    assert_same_votes(read_votes(f"{tmp_path}/votes/part-*"), EXPECTED)


def test_parts_with_other_columns_are_an_error(tmp_path: Path) -> None:
    write_parts(tmp_path / "votes")
    (tmp_path / "votes" / "part-4.csv").write_text("annotator,left,right\nann,x,y\n")
    with pytest.raises(VoteError, match=r"the columns of part-4\.csv differ"):
        read_votes(tmp_path / "votes")


def test_a_folder_of_several_formats_is_an_error(tmp_path: Path) -> None:
    write_parts(tmp_path / "votes")
    (tmp_path / "votes" / "more.jsonl").write_text("{}")
    with pytest.raises(VoteError, match="different formats: csv, json"):
        read_votes(tmp_path / "votes")


@pytest.mark.parametrize("name", ["nothing.csv", "no/*.csv", "empty"])
def test_nothing_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(VoteError, match="there is no file of votes at"):
        read_votes(tmp_path / name)


@pytest.mark.parametrize("path", ["", "x" * 5000, "a\0b", "https://example.com/votes.csv"])
def test_what_is_no_path(path: str) -> None:
    with pytest.raises(VoteError, match="the path of a file"):
        read_votes(path)


def test_what_is_there_but_no_file_says_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("gone.csv")
    (tmp_path / "empty").mkdir()
    for name, words in (
        ("pipe", "a pipe or a device.*\n.*\n.*write them into a file first"),
        ("link", "a link to gone.csv, which is not there"),
        ("empty", "no file in this folder"),
        ("gone.csv", "correct the path"),
    ):
        with pytest.raises(VoteError, match=words):
            read_votes(tmp_path / name)
    for path, words in (("-", "pipe"), ("s3://bucket/votes.csv", "address.*\n.*\n.*download it")):
        with pytest.raises(VoteError, match=words):
            read_votes(path)


def test_a_file_name_with_brackets_and_quotes_is_no_pattern(tmp_path: Path) -> None:
    path = tmp_path / "it's [1]*.csv"
    path.write_text(HEADER + BODY)
    assert find_files(path) == [path]
    assert_same_votes(read_votes(path), EXPECTED)


def test_a_folder_that_exists_is_no_pattern_before_one(tmp_path: Path) -> None:
    for folder, who in (("run[1]", "ann"), ("run1", "bob")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "votes.csv").write_text(HEADER + f"{who},x,y,1\n{who},x,y,-1\n")
    assert read_votes(tmp_path / "run[1]" / "*.csv").annotators.tolist() == ["ann"]
    assert read_votes(tmp_path / "run[1]" / "**" / "v*.csv").annotators.tolist() == ["ann"]
    assert read_votes(tmp_path / "run[0-9]" / "*.csv").annotators.tolist() == ["bob"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_files_of_one_name_in_two_folders_are_two_files(tmp_path: Path, encoding: str) -> None:
    for who in ("ann", "bob"):
        (tmp_path / who).mkdir()
        text = HEADER + f"{who},x,y,1\n{who},x,y,-1\n"
        (tmp_path / who / "votes.csv").write_bytes(text.encode(encoding))
    assert read_votes(tmp_path).annotators.tolist() == ["ann", "bob"]


@pytest.mark.skipif(os.name == "nt", reason="names are bytes on POSIX")
def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"caf\xe9.csv")
    try:
        file.write_text(HEADER + BODY)
    except OSError:
        pytest.skip("this file system takes UTF-8 alone")
    assert_same_votes(read_votes(file), EXPECTED)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EISDIR])
def test_a_file_that_may_not_be_opened_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    file = tmp_path / "votes.csv"
    file.write_text(HEADER + BODY)

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), str(file))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(VoteError, match=f"votes.csv cannot be read: {os.strerror(number)}"):
        read_votes(file)


def test_row_numbers_count_through_the_parts(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(HEADER + "ann,x,y,1\nann,x,y,1\n")
    (tmp_path / "b.csv").write_text(HEADER + "ann,x,y,1\nann,x,y,huh\n")
    with pytest.raises(VoteError) as caught:
        read_votes(tmp_path / "*.csv")
    assert caught.value.rows == (4,)


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + (HEADER + BODY).encode(),
        (HEADER + BODY).encode("utf-16"),
        (HEADER + BODY).encode("utf-32"),
        (HEADER + BODY).replace("\n", "\r\n").encode(),
        (HEADER + BODY).replace("\n", "\r").encode(),
        (HEADER + BODY).rstrip().encode(),
        (HEADER + "\n" + BODY.replace("\n", "\n\n")).encode(),
        (HEADER.replace("annotator", '"annotator"') + BODY.replace("ann,", '"ann",')).encode(),
        (HEADER.upper() + BODY).encode(),
        (HEADER.replace(",", " , ") + BODY).encode(),
    ],
    ids=[
        "BOM",
        "UTF-16",
        "UTF-32",
        "CRLF",
        "CR",
        "no last newline",
        "blank lines",
        "quotes",
        "capitals",
        "blanks",
    ],
)
def test_harmless_oddities(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(data)
    assert_same_votes(read_votes(path), EXPECTED)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (HEADER.encode(), "there are no votes"),
        (b"annotator,left,right,choice\nann,x\xff,y,1\n", "not UTF-8"),
        (b"annotator,left,right,choice\nann,x,y\n", "in line 2: it has 3 fields where .* 4"),
        (b"annotator,left,right,choice\nann,x,y,1,2\n", "in line 2: it has 5 fields"),
        (b'annotator,left,right,choice\nann,"x,y,1\n', "in line 2: a quote is opened and never"),
        (b"annotator,left,right,choice,left\nann,x,y,1,z\n", "more than one column 'left'"),
        (b"annotator,left,left,choice\nann,x,y,1\n", "more than one column 'left'"),
        (b"\x00\x01\x02\x03", r"votes\.csv is not text, or UTF-16 without its mark"),
        (HEADER.encode("utf-16-le"), "UTF-16 without its mark"),
        (
            gzip.compress(HEADER.encode(), mtime=0),
            r"compressed by gzip, not CSV\n.*\n.*ends in \.gz",
        ),
        # A label may hold any words, those of other errors, too.
        (b"annotator,left,right,choice\nann,New Line Cinema,not utf-8\n", "it has 3 fields"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(data)
    with pytest.raises(VoteError, match=says):
        read_votes(path)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '"x"', "[[1, 2], [3, 4]]"])
def test_json_without_objects(tmp_path: Path, text: str) -> None:
    path = tmp_path / "votes.json"
    path.write_text(text)
    with pytest.raises(VoteError, match="holds no JSON objects"):
        read_votes(path)


@pytest.mark.parametrize("length", [3_000_000, 40_000_000])
def test_lines_longer_than_a_reader_holds(tmp_path: Path, length: int) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(HEADER + f"ann,{'x' * length},y,1\n" + BODY)
    with pytest.raises(VoteError, match="a line is longer than two million characters"):
        read_votes(path)


@pytest.mark.parametrize("column", ["annotator", "left", "right", "weight"])
def test_not_a_number_in_parquet_is_missing(tmp_path: Path, column: str) -> None:
    """Parquet's statistics leave NaN out, and a reader that trusts them finds none."""
    numbers = {"annotator": [1.0, 2.0, 3.0], "left": [1.0, 2.0, 3.0], "right": [4.0, 5.0, 6.0],
               "choice": [1.0, -1.0, 1.0], "weight": [1.0, 1.0, 2.0]}  # fmt: skip
    numbers[column] = [*numbers[column][:2], float("nan")]
    parquet.write_table(pa.table(numbers), tmp_path / "votes.parquet")
    with pytest.raises(VoteError, match=r"1 vote has (no|a weight that is missing)") as caught:
        read_votes(tmp_path / "votes.parquet")
    assert caught.value.rows == (3,)


def test_every_error_of_reading_has_a_remedy(tmp_path: Path) -> None:
    for name, data in {
        "cut.csv.gz": gzip.compress((HEADER + BODY * 500).encode())[:60],
        "plain.csv.gz": (HEADER + BODY).encode(),
        "junk.csv.zst": b"xxxx",
        "empty.parquet": b"",
        "junk.jsonl": b"no json\n",
        "twice.jsonl": b'{"left":"x","left":"y","right":"z","choice":1}\n',
        "ends.csv": (HEADER + "ann,x,y,1\rbob,x,y,1\n").encode(),
    }.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(VoteError, match=name.replace(".", r"\.")) as caught:
            read_votes(tmp_path / name)
        assert caught.value.expected and caught.value.remedy
        assert "auto_detect" not in str(caught.value)


def test_a_repeated_column_nobody_needs_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("annotator,left,right,choice,note,note\nann,x,y,1,a,b\n")
    assert read_votes(path).n_votes == 1


@pytest.mark.parametrize("name", ["v.parquet", "v.jsonl", "v.csv.gz", "v.csv.zst"])
def test_junk_in_other_formats(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x00junk\xff" * 10)
    with pytest.raises(VoteError, match=r"v\."):
        read_votes(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(HEADER + BODY)
    path.chmod(0)
    with pytest.raises(VoteError):
        read_votes(path)


def test_a_small_memory_limit_says_so_or_works(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(HEADER + BODY)
    assert_same_votes(read_votes(path, memory_limit="64MB"), EXPECTED)
    assert_same_votes(read_votes(path, memory_limit="0.1GB"), EXPECTED)


@pytest.mark.parametrize("limit", ["lots", "", "5", "-1GB", " -1", "0", "0GB", "0.0 MB", "00"])
def test_a_memory_limit_is_a_size(limit: str) -> None:
    with pytest.raises(SettingError, match=f"the memory limit is '{limit}'") as error:
        read_votes("votes.csv", memory_limit=limit)
    assert "1GB" in str(error.value)


def test_progress_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(HEADER + BODY)
    said: list[tuple[str, float]] = []
    read_votes(path, progress=lambda doing, share: said.append((doing, share)))
    assert {doing for doing, _ in said} >= {"collecting labels", "reading votes"}
    assert all(0.0 <= share <= 1.0 for _, share in said)
