"""Whatever the bytes, reading gives `Votes` or a `VoteError`."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefpath import VoteError, Votes, VoteWarning, read_votes

PARQUET_SEED = pd.DataFrame(
    {"annotator": ["a", "b"], "left": ["x", "y"], "right": ["y", "z"], "choice": [1, -1]}
)
CSV_SEED = b'annotator,left,right,choice\nann,x,"y ""1""",1\nbob,z,x,-1\nann,x,z,tie\n'
JSON_SEED = b'{"judge":["a","b"],"model_1":"x","model_2":"y","g1_winner":"tie","g2_winner":"x"}\n'


def read_bytes(data: bytes, name: str, **options: Any) -> Votes | None:
    """Votes of a file with these bytes, None where they are a VoteError; anything else fails."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        path = Path(folder) / name
        path.write_bytes(data)
        try:
            votes = read_votes(path, **options)
        except VoteError as error:
            assert str(error)
            return None
        assert votes.n_votes > 0
        return votes


@st.composite
def damaged(draw: st.DrawFn, seed: bytes) -> bytes:
    """A good file with some bytes changed, cut out or put in."""
    data = bytearray(seed)
    for _ in range(draw(st.integers(1, 6))):
        place = draw(st.integers(0, len(data)))
        cut = draw(st.integers(0, 8))
        data[place : place + cut] = draw(st.binary(max_size=8))
    return bytes(data)


@given(data=st.binary(max_size=300), name=st.sampled_from(["v.csv", "v.jsonl", "v.tsv.gz"]))
def test_any_bytes(data: bytes, name: str) -> None:
    read_bytes(data, name)


@given(data=damaged(CSV_SEED))
def test_damaged_csv(data: bytes) -> None:
    read_bytes(data, "v.csv")


@given(data=damaged(JSON_SEED * 3))
def test_damaged_json(data: bytes) -> None:
    read_bytes(data, "v.jsonl")


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("fuzz") / "v.parquet"
    PARQUET_SEED.to_parquet(path)
    return path.read_bytes()


@given(data=st.data())
def test_damaged_parquet(parquet: bytes, data: st.DataObject) -> None:
    read_bytes(data.draw(damaged(parquet)), "v.parquet")


NAMES = st.sampled_from(
    ["annotator", "left", "right", "choice", "weight", "winner", "model_a", "model_b", "judge",
     "games", "model", "baseline", "item", "rating", "chosen", "rejected", "label",
     "position_known"]
)  # fmt: skip
CELLS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["x", "y", "left", "tie", "1", "-1", "0.5", "nan", "inf", "A>>B", ""]),
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), CELLS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(CELLS, inner, max_size=3),
    max_leaves=4,
)


@given(
    names=st.lists(NAMES, min_size=3, max_size=7),
    rows=st.lists(st.lists(CELLS, min_size=3, max_size=7), max_size=6),
)
def test_any_table_of_known_columns(names: list[str], rows: list[list[str]]) -> None:
    frame = pd.DataFrame([(row * 3)[: len(names)] for row in rows])
    text = frame.to_csv(header=names if len(rows) else False, index=False)
    read_bytes(text.encode("utf-8", "surrogatepass"), "v.csv")


@given(rows=st.lists(st.dictionaries(NAMES, VALUES, min_size=3), min_size=1, max_size=4))
def test_any_records_of_known_columns(rows: list[dict[str, Any]]) -> None:
    read_bytes("\n".join(map(json.dumps, rows)).encode(), "v.jsonl")


VERDICTS = st.sampled_from(
    ["1", "0", "2", "-1", "x", "y", "X ", "left", "A", "B", "tie", "0.7", "50%", "true", "", "1e9"]
)
ITEMS = st.sampled_from(["x", "y", "z", "1", "2", "A", "B", "NA", "x "])
OPTIONS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.sampled_from(["names", "probability", "percent", "strength", {1: "left"}]),
        "winner_first": st.booleans(),
        "position_known": st.booleans(),
        "unknown": st.sampled_from(["error", "drop"]),
        "ties": st.sampled_from(["half", "drop"]),
        "dialect": st.sampled_from([None, "canonical", "crowdkit"]),
    },
)


@given(
    rows=st.lists(st.tuples(ITEMS, ITEMS, VERDICTS), min_size=1, max_size=14),
    header=st.sampled_from(["left,right,choice", "item_1,item_2,winner", "winner,loser,note"]),
    options=OPTIONS,
)
def test_any_codes_with_any_options(
    rows: list[tuple[str, str, str]], header: str, options: dict[str, Any]
) -> None:
    """Every row of what is read is accounted for, whatever it was read as."""
    text = "\n".join([header, *(",".join(row) for row in rows)]) + "\n"
    votes = read_bytes(text.encode(), "v.csv", **options)
    if votes is not None:
        dropped = ("no_verdict", "self_comparisons", "unknown_labels", "missing_labels",
                   "ties_dropped", "both_bad_dropped")  # fmt: skip
        assert votes.origin["rows"] == votes.n_votes + sum(votes.origin[name] for name in dropped)
        assert votes.origin["read_as"]


@given(name=st.text(st.sampled_from("ab[]*?{}\\'\" "), min_size=1, max_size=6))
def test_any_name_of_a_file_is_that_file(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for place, item in ((name, "right"), ("a", "wrong"), ("b", "wrong")):
            (Path(folder) / f"{place}.csv").write_text(f"left,right,choice\n{item},other,1\n")
        (Path(folder) / f"{name}.csv").write_text("left,right,choice\nright,other,1\n")
        assert read_votes(Path(folder) / f"{name}.csv").items.tolist() == ["other", "right"]
