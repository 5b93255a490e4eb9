"""Exports of platforms that give voters, items and verdicts names of their own."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from same_votes import assert_same_votes

from prefpath import VoteError, Votes, read_votes

WHO = ["ann", "ann", "bob", "bob"]
LEFT = ["x", "y", "z", "z"]
RIGHT = ["y", "z", "x", "x"]
CHOICE = [1, -1, 1, -1]
EXPECTED = Votes.from_arrays(WHO, LEFT, RIGHT, CHOICE)


def table(header: str, *columns: list[str]) -> str:
    return "\n".join([header, *map(",".join, zip(*columns, strict=True))]) + "\n"


def coded(left: str, right: str) -> list[str]:
    return [left if choice > 0 else right for choice in CHOICE]


READ = {
    "Appen": table("_unit_id,_trust,_worker_id,which_image_is_better,image_a,image_b,"
                   "which_image_is_better_gold", list("1234"), ["0.9"] * 4, WHO,
                   coded("image_a", "image_b"), LEFT, RIGHT, [""] * 4),
    "Toloka": table("INPUT:image_left,INPUT:image_right,OUTPUT:result,GOLDEN:result,"
                    "ASSIGNMENT:worker_id,ASSIGNMENT:status", LEFT, RIGHT, coded("left", "right"),
                    [""] * 4, WHO, ["APPROVED"] * 4),
    "oTree": table("participant.code,participant.label,player.id_in_group,player.left_img,"
                   "player.right_img,player.choice", WHO, [""] * 4, list("1212"), LEFT, RIGHT,
                   coded("L", "R")),
    "Gorilla": table("Participant Private ID,Participant Public ID,Reaction Time,Response,"
                     "Spreadsheet: img_left,Spreadsheet: img_right", WHO, ["BLIND"] * 4,
                     ["1.5"] * 4, coded("left", "right"), LEFT, RIGHT),
    "an address": table("rater_email,task_id,Model A,Model B,better_model", WHO, list("1234"),
                        LEFT, RIGHT, coded("Model A", "Model B")),
    "a question": table("user,response_1,response_2,Which response is better?", WHO, LEFT, RIGHT,
                        coded("1", "2")),
    "a flag of the first": table("user,img1,img2,first_is_better", WHO, LEFT, RIGHT,
                                 coded("Yes", "No")),
    "responses counted from 0": table("user,response_0,response_1,better_response_id", WHO, LEFT,
                                      RIGHT, coded("0", "1")),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_names_of_platforms_are_understood(tmp_path: Path, name: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(READ[name])
    assert_same_votes(read_votes(path), EXPECTED)


def test_voters_under_another_name_are_said(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(READ["Appen"])
    assert "every _worker_id is one annotator" in read_votes(path).origin["read_as"]


def test_numbers_of_items_are_no_voters(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(table("worker_1,worker_2,user_count,choice", LEFT, RIGHT, list("1234"),
                          coded("1", "2")))  # fmt: skip
    assert list(read_votes(path).annotators) == ["everyone"]


# name: (file, the remedy that is printed)
REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "two flags of Mechanical Turk": (
        table("WorkerId,Input.image_A,Input.image_B,Answer.x.optionA,Answer.x.optionB", WHO, LEFT,
              RIGHT, coded("true", "false"), coded("false", "true")),
        {"scores": ("Answer.x.optionA", "Answer.x.optionB")}),
    "two flags that may be halves": (
        table("user_id,model_0,model_1,label_0,label_1", WHO, LEFT, RIGHT, coded("1.0", "0.0"),
              coded("0.0", "1.0")),
        {"scores": ("label_0", "label_1")}),
    "a share of votes": (
        table("rater, distorted image A, distorted image B, probability of preference for A", WHO,
              LEFT, RIGHT, coded("1", "0")),
        {"choice": "probability of preference for A", "choices": "probability"}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_the_remedy_as_printed_reads_it_right(tmp_path: Path, name: str) -> None:
    text, options = REFUSED[name]
    path = tmp_path / "votes.csv"
    path.write_text(text)
    with pytest.raises(VoteError) as caught:
        read_votes(path)
    typed = re.search(r": (--\w+ .*?) \(", str(caught.value.remedy))
    assert typed is not None
    words = shlex.split(typed[1])
    printed = {
        option.lstrip("-"): word for option, word in zip(words[::2], words[1::2], strict=True)
    }
    given = {key: ",".join(v) if isinstance(v, tuple) else v for key, v in options.items()}
    assert printed == given
    assert_same_votes(read_votes(path, **options), EXPECTED)


def test_lines_of_questions_and_ids_are_no_votes(tmp_path: Path) -> None:
    """Qualtrics writes them below the names of columns, in every part of an export."""
    names = "ResponseId,left_item,right_item,choice"
    questions = 'Response ID,"Shown, on\nthe left",Shown on the right,Which do you like?'
    ids = '"{""ImportId"":""_recordId""}","{""ImportId"":""l""}","{""ImportId"":""r""}",'
    body = table("", WHO, LEFT, RIGHT, coded("left_item", "right_item"))
    for part in ("1.csv", "2.csv"):
        (tmp_path / part).write_text(
            "\n".join([names, questions, ids + '"{""ImportId"":""Q""}"']) + body
        )
    votes = read_votes(tmp_path)
    assert_same_votes(votes, Votes.from_arrays(WHO * 2, LEFT * 2, RIGHT * 2, CHOICE * 2))
    assert "Qualtrics' two lines of questions and ids are no votes" in votes.origin["read_as"]
    assert votes.origin["rows"] == 8


@pytest.mark.parametrize(
    "above",
    ["\n\n", "# made by a tool\n", "# a tool, of version 3\n\n# again\n", "\nsep=,\n", "# x\n#"],
)
def test_lines_above_the_names_of_columns(tmp_path: Path, above: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(
        above + table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("1", "-1"))
    )
    given = {"annotator": "#annotator"} if above.endswith("#") else {}
    assert_same_votes(read_votes(path, **given), EXPECTED)


def test_lines_are_counted_with_those_above(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(
        "\n# a tool\n" + table("annotator,left,right,choice", WHO, LEFT, RIGHT, ["1"] * 4) + "u"
    )
    with pytest.raises(VoteError, match="in line 8: it has 1 field"):
        read_votes(path)


def test_a_title_above_the_names_is_said_to_be_one(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(
        "My survey\n" + table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("1", "-1"))
    )
    with pytest.raises(
        VoteError, match="it has 2 fields or more where the line of names has 1"
    ) as e:
        read_votes(path)
    assert "if lines stand above that of the names, such as a title, remove them" in str(e.value)


def test_json_of_columns_is_refused_with_what_to_write(tmp_path: Path) -> None:
    frame = pd.DataFrame({"annotator": WHO, "left": LEFT, "right": RIGHT, "choice": CHOICE})
    frame.to_json(tmp_path / "columns.json")
    with pytest.raises(VoteError, match='orient="records", lines=True'):
        read_votes(tmp_path / "columns.json")
    frame.to_json(tmp_path / "votes.jsonl", orient="records", lines=True)
    assert_same_votes(read_votes(tmp_path / "votes.jsonl"), EXPECTED)


def test_a_long_question_can_be_copied(tmp_path: Path) -> None:
    question = "In your opinion, what is the picture you would rather have in your living room?"
    path = tmp_path / "votes.csv"
    path.write_text(
        table(f'voter,left,right,"{question}"', WHO, LEFT, RIGHT, coded("left", "right"))
    )
    with pytest.raises(VoteError) as caught:
        read_votes(path)
    assert f"--choice '{question}' (" in str(caught.value.remedy)
    assert_same_votes(read_votes(path, choice=question), EXPECTED)


def test_several_questions_are_said_to_be_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    said = "all of category is read as one question (--group category compares them)"
    for values, is_said in (
        (["safe", "safe", "", "dull"], True),
        (["safe", "", "safe", ""], False),
    ):
        header = "left_id,right_id,winner,category"
        path.write_text(table(header, LEFT, RIGHT, coded("left", "right"), values))
        assert (said in read_votes(path).origin["read_as"]) is is_said
    path.write_text(
        table(header, LEFT, RIGHT, coded("left", "right"), ["safe", "safe", "dull", "dull"])
    )
    assert said not in read_votes(path, group="category").origin["read_as"]


def test_a_tie_beside_items_counted_from_0(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(table("user,response_0,response_1,choice", WHO, LEFT, RIGHT, list("0120")))
    with pytest.raises(VoteError, match="0, 1 or 2, which can mean") as caught:
        read_votes(path)
    assert "--choices 0=left,1=right,2=tie (" in str(caught.value.remedy)
    votes = read_votes(path, choices={0: "left", 1: "right", 2: "tie"})
    assert sorted(votes.choice) == [-1, 0, 1, 1]
