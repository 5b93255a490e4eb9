"""The same votes in every dialect of docs/reading.md are the same `Votes`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from same_votes import assert_same_votes

from prefpath import VoteError, Votes, read_votes
from prefpath.votes.dialects import DIALECTS

# Four votes of two judges: x beats y, z beats y, a tie of x and z, z beats x.
WHO = ["ann", "ann", "bob", "bob"]
LEFT = ["x", "y", "x", "z"]
RIGHT = ["y", "z", "z", "x"]
CHOICE = [1, -1, 0, 1]

EXPECTED = Votes.from_arrays(WHO, LEFT, RIGHT, CHOICE)

WITH_TIES = {
    "canonical, numbers": """\
annotator,left,right,choice
ann,x,y,1
ann,y,z,-1
bob,x,z,0
bob,z,x,1
""",
    "canonical, words": """\
annotator,left,right,choice
ann,x,y,left
ann,y,z,Right
bob,x,z, tie
bob,z,x,LEFT
""",
    "Chatbot Arena": """\
question_id,model_a,model_b,winner,judge,turn
1,x,y,model_a,ann,1
1,y,z,model_b,ann,1
1,x,z,tie,bob,1
1,z,x,model_a,bob,1
""",
    "Arena 55k": """\
id,model_a,model_b,prompt,winner_model_a,winner_model_b,winner_tie,judge
30192,x,y,"[""hi""]",1,0,0,ann
53567,y,z,"[""hi""]",0,1,0,ann
65089,x,z,"[""hi""]",0,0,1,bob
96401,z,x,"[""hi""]",1,0,0,bob
""",
    "evalica": """\
left,right,winner,judge
x,y,left,ann
y,z,right,ann
x,z,tie,bob
z,x,left,bob
""",
    "crowd-kit": """\
worker,left,right,label
ann,x,y,x
ann,y,z,z
bob,x,z,tie
bob,z,x,z
""",
    "Arena-Hard grades": """\
model_a,model_b,score,judge
x,y,A>B,ann
y,z,B>A,ann
x,z,A=B,bob
z,x,A>B,bob
""",
}

MT_BENCH = [
    ("ann", "x", "y", "model_1", "error"),
    ("ann", "z", "y", "error", "model_1"),
    ("bob", "x", "z", "tie", "model_2"),
]


def write(folder: Path, text: str, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", WITH_TIES)
def test_same_votes_in_every_dialect(tmp_path: Path, name: str) -> None:
    votes = read_votes(write(tmp_path, WITH_TIES[name]))
    assert_same_votes(votes, EXPECTED)
    assert votes.origin["read_as"].startswith(name.split(",")[0])


def test_mt_bench_pairs_are_two_votes_with_opposite_order(tmp_path: Path) -> None:
    lines = [
        {"question_id": 81, "model_1": a, "model_2": b, "g1_winner": g1, "g2_winner": g2,
         "judge": [who, "pair-v2"], "turn": 1}
        for who, a, b, g1, g2 in MT_BENCH
    ]  # fmt: skip
    path = write(tmp_path, "\n".join(json.dumps(line) for line in lines), "gpt-4_pair.jsonl")
    with pytest.warns(UserWarning, match="2 rows? without a verdict"):
        votes = read_votes(path)
    expected = Votes.from_arrays([f"{who}, pair-v2" for who in WHO], LEFT, RIGHT, CHOICE)
    assert_same_votes(votes, expected)
    assert votes.origin["rows"] == 6
    assert votes.origin["read_as"].startswith("MT-Bench")


@pytest.mark.parametrize("named", ["in a column", "by the caller"])
def test_arena_hard_judgments_are_two_votes_a_row(tmp_path: Path, named: str) -> None:
    """The baseline is A in the first game and B in the second."""
    rows = [
        {"question_id": "q1", "model": "y", "judge": "ann",
         "games": [{"score": "A>>B", "judgment": "..."}, {"score": "B>A", "judgment": "..."}]},
        {"question_id": "q2", "model": "y", "judge": "ann",
         "games": [{"score": "A=B", "judgment": "..."}, {"score": None, "judgment": "..."}]},
    ]  # fmt: skip
    if named == "in a column":
        rows = [row | {"baseline": "x"} for row in rows]
    path = write(tmp_path, "\n".join(json.dumps(row) for row in rows), "judgment.jsonl")
    with pytest.warns(UserWarning, match="1 rows? without a verdict"):
        votes = read_votes(path, baseline="x" if named == "by the caller" else None)
    mean = 5.0 / 3.0
    weight = [3.0 / mean, 1.0 / mean, 1.0 / mean]
    expected = Votes.from_arrays(["ann"] * 3, ["x", "y", "x"], ["y", "x", "y"], [1, -1, 0], weight)
    assert_same_votes(votes, expected)


def test_arena_hard_judgments_without_a_baseline_say_so(tmp_path: Path) -> None:
    row = {"model": "y", "judge": "ann", "games": [{"score": "A>B"}, {"score": "A>B"}]}
    with pytest.raises(VoteError, match="do not name the model they are against"):
        read_votes(write(tmp_path, json.dumps(row), "judgment.jsonl"))


@pytest.mark.parametrize(
    ("grades", "choice", "weight"),
    [
        (None, [1.0, 1.0, 0.0, -1.0, -1.0], [3.0 / 1.8, *[1.0 / 1.8] * 3, 3.0 / 1.8]),
        ("weight", [1.0, 1.0, 0.0, -1.0, -1.0], [3.0 / 1.8, *[1.0 / 1.8] * 3, 3.0 / 1.8]),
        ("strength", [1.0, 0.5, 0.0, -0.5, -1.0], [1.0] * 5),
    ],
)
def test_arena_hard_grades_are_weights_or_strengths(
    tmp_path: Path, grades: str | None, choice: list[float], weight: list[float]
) -> None:
    scores = ["A>>B", "A>B", "A=B", "B>A", "B>>A"]
    rows = "".join(f"j{i},x,y,{score}\n" for i, score in enumerate(scores))
    path = write(tmp_path, "judge,model_a,model_b,score\n" + rows)
    votes = read_votes(path, grades=grades)
    assert votes.choice.tolist() == choice
    assert votes.weight.tolist() == pytest.approx(weight)
    assert votes.total_weight == pytest.approx(5.0)  # five votes, however clear


@pytest.mark.parametrize(
    ("score", "strength"),
    [("A>>B", 1.0), ("B<<A", 1.0), ("A>B", 0.5), ("B<A", 0.5), ("A=B", 0.0), ("B=A", 0.0),
     ("B>A", -0.5), ("A<B", -0.5), ("B>>A", -1.0), ("A<<B", -1.0)],
)  # fmt: skip
def test_every_way_to_write_a_grade(tmp_path: Path, score: str, strength: float) -> None:
    path = write(tmp_path, f"judge,model_a,model_b,score\nj,x,y,{score}\nk,x,y,A>>B\n")
    votes = read_votes(path, grades="strength")
    assert votes.choice[0] == strength


def test_weights_of_grades_merge_into_one_row(tmp_path: Path) -> None:
    path = write(tmp_path, "judge,model_a,model_b,score\nj,x,y,A>>B\nj,x,y,A>B\n")
    votes = read_votes(path)
    assert (votes.n_rows, votes.n_votes, votes.weight.tolist()) == (1, 2, [2.0])


@pytest.mark.parametrize(
    ("grades", "choice", "weight"),
    [(None, [1.0, 0.5, 0.0, -1.0], [1.0] * 4), ("weight", [1.0, 1.0, 0.0, -1.0], [1, 0.5, 1, 1])],
)
def test_alpaca_eval_preferences(
    tmp_path: Path, grades: str | None, choice: list[float], weight: list[float]
) -> None:
    rows = [
        {"generator_1": "x", "generator_2": "y", "annotator": f"a{i}", "preference": preference}
        for i, preference in enumerate([1, 1.25, 1.5, 2.0])
    ]
    votes = read_votes(write(tmp_path, json.dumps(rows), "annotations.json"), grades=grades)
    assert votes.choice.tolist() == choice
    assert votes.weight.tolist() == weight
    assert not votes.position_known.any()


def test_pwcmp_in_both_forms(tmp_path: Path) -> None:
    expected = Votes.from_arrays([1, 1], ["x", "y"], ["y", "z"], [1, -1])
    first = "observer,condition_A,condition_B,is_A_selected\n1,x,y,1\n1,y,z,0\n"
    second = "Observer,Session,Scene,Condition_1,Condition_2,Selection\n1,1,s,x,y,1\n1,1,s,y,z,2\n"
    for text in (first, second):
        assert_same_votes(read_votes(write(tmp_path, text)), expected)


def test_chosen_and_rejected_have_no_position(tmp_path: Path) -> None:
    votes = read_votes(write(tmp_path, "chosen,rejected,annotator\ny,x,ann\nx,y,ann\ny,x,ann\n"))
    expected = Votes.from_arrays(
        ["ann"] * 3, ["y", "x", "y"], ["x", "y", "x"], [1, 1, 1], position_known=False
    )
    assert_same_votes(votes, expected)
    assert votes.count.tolist() == [2, 1]
    assert "position unknown" in votes.origin["read_as"]


def test_ratings_are_recognised(tmp_path: Path) -> None:
    votes = read_votes(write(tmp_path, "user,movie,rating\n1,a,5\n1,b,3\n1,c,3\n2,a,1\n2,b,2\n"))
    expected = Votes.from_arrays(
        [1, 1, 2], ["a", "a", "b"], ["b", "c", "a"], [1, 1, 1], position_known=False
    )
    assert_same_votes(votes, expected)


def test_votes_without_annotators_are_everyones(tmp_path: Path) -> None:
    votes = read_votes(write(tmp_path, "left,right,winner\nx,y,left\n"))
    assert votes.annotators.tolist() == ["everyone"]
    assert "one annotator's" in votes.origin["read_as"]


def test_columns_can_be_mapped(tmp_path: Path) -> None:
    text = "rater,first,second,verdict\n" + "".join(
        f"{who},{a},{b},{'model_a' if c > 0 else 'model_b' if c < 0 else 'tie'}\n"
        for who, a, b, c in zip(WHO, LEFT, RIGHT, CHOICE, strict=True)
    )
    votes = read_votes(
        write(tmp_path, text), annotator="rater", left="first", right="second", choice="verdict"
    )
    assert_same_votes(votes, EXPECTED)
    assert "first is left" in votes.origin["read_as"]


def test_only_the_annotator_mapped_keeps_the_dialect(tmp_path: Path) -> None:
    text = WITH_TIES["Chatbot Arena"].replace("judge", "rater")
    votes = read_votes(write(tmp_path, text), annotator="rater")
    assert_same_votes(votes, EXPECTED)


def test_a_dialect_can_be_forced(tmp_path: Path) -> None:
    """The table fits the canonical shape too; forced, the label is the winner's name."""
    text = "worker,left,right,choice,label\na,x,y,1,y\n"
    assert read_votes(write(tmp_path, text)).choice.tolist() == [1.0]
    assert read_votes(write(tmp_path, text), dialect="crowdkit").choice.tolist() == [-1.0]


def test_an_unknown_dialect_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(VoteError, match="there is no dialect 'elo'") as caught:
        read_votes(write(tmp_path, WITH_TIES["evalica"]), dialect="elo")
    assert all(dialect.key in str(caught.value) for dialect in DIALECTS)


def test_a_forced_dialect_that_does_not_fit_says_what_it_needs(tmp_path: Path) -> None:
    with pytest.raises(VoteError, match="generator_1, generator_2, preference"):
        read_votes(write(tmp_path, WITH_TIES["evalica"]), dialect="alpacaeval")


def test_no_known_shape_names_the_columns_there_are(tmp_path: Path) -> None:
    with pytest.raises(VoteError, match="its columns are red, green"):
        read_votes(write(tmp_path, "red,green\n1,2\n"))


def test_crowd_kit_label_of_a_third_item_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(
        VoteError, match="1 vote has a choice that names neither of the two items: 'z'"
    ) as caught:
        read_votes(write(tmp_path, "worker,left,right,label\na,x,y,x\na,x,y,z\n"))
    assert caught.value.rows == (2,)


def test_two_flags_of_one_hot_are_unknown(tmp_path: Path) -> None:
    header = "model_a,model_b,winner_model_a,winner_model_b,winner_tie\n"
    with pytest.raises(VoteError, match="unknown choice") as caught:
        read_votes(write(tmp_path, header + "x,y,1,0,0\nx,y,1,1,0\n"))
    assert caught.value.rows == (2,)


def test_an_unknown_verdict_of_the_second_game_is_quoted_as_written(tmp_path: Path) -> None:
    header = "model_1,model_2,g1_winner,g2_winner,judge\n"
    with pytest.raises(VoteError, match="1 vote has an unknown choice: 'Model B'") as caught:
        read_votes(write(tmp_path, header + "x,y,model_1,model_2,a\nx,y,model_1,Model B,a\n"))
    assert caught.value.rows == (2,)


def test_choices_of_one_and_two_are_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(VoteError, match="is 1 or 2, which can mean more than one thing"):
        read_votes(write(tmp_path, "annotator,left,right,choice\na,x,y,1\na,y,x,2\n"))


def test_strengths_are_kept(tmp_path: Path) -> None:
    votes = read_votes(
        write(tmp_path, "annotator,left,right,choice\na,x,y,0.25\na,y,x,-2.5\na,x,z,1e-3\n")
    )
    assert sorted(votes.choice.tolist()) == [-2.5, 0.001, 0.25]


@pytest.mark.parametrize("name", WITH_TIES)
def test_dialects_survive_parquet_and_frames(tmp_path: Path, name: str) -> None:
    import pandas as pd

    frame = pd.read_csv(write(tmp_path, WITH_TIES[name]))
    parquet = tmp_path / "votes.parquet"
    frame.to_parquet(parquet)
    assert_same_votes(read_votes(parquet), EXPECTED)
    votes = read_votes(frame)
    assert_same_votes(votes, EXPECTED)
    assert votes.frame_library == "pandas"


def test_every_dialect_is_tested_here() -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    for dialect in DIALECTS:
        for column in dialect.columns:
            assert column.lower() in source.lower(), f"{dialect.key}: {column}"
