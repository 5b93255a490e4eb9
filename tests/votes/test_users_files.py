"""Files as users have them: each is read right, and how is said, or refused with the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from same_votes import assert_same_votes

from prefpath import VoteError, Votes, VoteWarning, read_votes
from prefpath.comparisons import votes_of_frame
from prefpath.votes.choices import parse_choices

# x beats y, z beats y, z beats x, x beats z: four votes of two people, both sides win.
WHO = ["ann", "ann", "bob", "bob"]
LEFT = ["x", "y", "z", "z"]
RIGHT = ["y", "z", "x", "x"]
CHOICE = [1, -1, 1, -1]
EXPECTED = Votes.from_arrays(WHO, LEFT, RIGHT, CHOICE)
UNKNOWN_POSITION = Votes.from_arrays(WHO, LEFT, RIGHT, CHOICE, position_known=False)
WINNER = ["x", "z", "z", "x"]
LOSER = ["y", "y", "x", "z"]


def table(header: str, *columns: list[str], separator: str = ",") -> str:
    rows = [separator.join(row) for row in zip(*columns, strict=True)]
    return "\n".join([header, *rows]) + "\n"


def coded(left: str, right: str) -> list[str]:
    return [left if choice > 0 else right for choice in CHOICE]


def codes_of(labels: list[str], first: int = 901) -> list[str]:
    return [str(first + "xyz".index(label)) for label in labels]


# name: (file, what is said of it)
READ = {
    "left and right in words": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("left", "right")), "as shown"),
    "a German table with the winner's name": (
        table("Bewerter;A;B;Gewinner", WHO, LEFT, RIGHT, WINNER, separator=";"),
        "names the winner"),
    "A and B": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("A", "B")), "'a' is left"),
    "first and second": (
        table("rater,item_1,item_2,preferred", WHO, LEFT, RIGHT, coded("First", "Second")),
        "'first' is left"),
    "1 and 2 where the columns say what they are": (
        table("rater,option_1,option_2,choice", WHO, LEFT, RIGHT, coded("1", "2")), "'1' is left"),
    "the column's name": (
        table("rater,response_a,response_b,preference", WHO, LEFT, RIGHT,
              coded("response_a", "response_b")), "response_a is left"),
    "names of winners": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, WINNER), "choice names the winner"),
    "names of winners in other case and with blanks": (
        table("annotator,left,right,winner", WHO, LEFT, RIGHT, [f" {w.upper()}" for w in WINNER]),
        "winner names the winner (4 votes in other case or blanks)"),
    "Winner ID of a survey tool": (
        table("Participant,Item A,Item B,Winner ID", WHO, LEFT, RIGHT, WINNER),
        "Winner ID names the winner"),
    "Label Studio, CSV": (
        table("id,annotator,text1,text2,comparison,lead_time", list("1234"), WHO, LEFT, RIGHT,
              coded("left", "right"), ["3.5"] * 4), "text1 is left"),
    "football results": (
        table("Div,HomeTeam,AwayTeam,FTHG,FTAG,FTR,judge", ["E0"] * 4, LEFT, RIGHT,
              ["2", "0", "1", "0"], ["1", "1", "0", "3"], coded("H", "A"), WHO),
        "'h' is left"),
    "home and away in words": (
        table("judge,home,away,result", WHO, LEFT, RIGHT, coded("home", "away")), "home is left"),
    "semicolons": (
        table("annotator;left;right;choice", WHO, LEFT, RIGHT, coded("1", "-1"), separator=";"),
        "as shown"),
    "tabs": (
        table("annotator\tleft\tright\tchoice", WHO, LEFT, RIGHT, coded("1", "-1"),
              separator="\t"), "as shown"),
    "numbers with a decimal point": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("1.0", "-1.0")), "as shown"),
    "Excel's first line": (
        "sep=;\n" + table("annotator;left;right;choice", WHO, LEFT, RIGHT, coded("1", "-1"),
                          separator=";"), "as shown"),
    "a byte order mark": (
        "\ufeff" + table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("1", "-1")),
        "as shown"),
    "commas below a spreadsheet's table": (
        table("annotator,left,right,choice,comment", WHO, LEFT, RIGHT, coded("1", "-1"),
              ["fine"] * 4) + ",,,,\n,,,,\n\n", "as shown"),
    "customers": (
        table("customer_id,left,right,choice", WHO, LEFT, RIGHT, coded("1", "-1")), "as shown"),
    "judges' brackets": (
        table("judge,model_a,model_b,winner", WHO, LEFT, RIGHT, coded("[[A]]", "[[B]]")),
        "'[[a]]' is left"),
    "columns nobody knows, and a column of confidence": (
        table("user,confidence,model_a,model_b,score_a,winner", WHO, list("1234"), LEFT, RIGHT,
              list("5678"), coded("model_a", "model_b")), "model_a is left"),
    "Mechanical Turk": (
        table("HITId,WorkerId,Input.left,Input.right,Answer.choice,Approve", list("1234"), WHO,
              LEFT, RIGHT, coded("left", "right"), [""] * 4), "Input.left is left"),
    "Mechanical Turk, images": (
        table("HITId,WorkerId,Input.image_a,Input.image_b,Answer.preference", list("1234"), WHO,
              LEFT, RIGHT, coded("imageA", "imageB")), "'imagea' is left"),
    "All Our Ideas": (
        table("Vote ID,Session ID,Left Choice ID,Left Choice Text,Right Choice ID,Winner ID",
              list("1234"), WHO, LEFT, ["long text"] * 4, RIGHT, WINNER),
        "every Session ID is one annotator"),
    "All Our Ideas, as it is exported": (
        table("Vote ID,Session ID,Winner ID,Winner Text,Loser ID,Loser Text,Left Choice ID,"
              "Right Choice ID", list("1234"), WHO, codes_of(WINNER), WINNER,
              codes_of(LOSER), LOSER,
              codes_of(LEFT), codes_of(RIGHT)),
        "items are called as in Winner Text and Loser Text; Winner ID names the winner"),
    "All Our Ideas, with the ideas of both sides": (
        table("Vote ID,Session ID,Left Choice,Left Choice ID,Right Choice,Right Choice ID,"
              "Winner ID,Loser ID", list("1234"), WHO, LEFT, codes_of(LEFT), RIGHT,
              codes_of(RIGHT), codes_of(WINNER), codes_of(LOSER)),
        "items are called as in Left Choice and Right Choice; Winner ID names the winner"),
    "ids of winners beside ids and names of items": (
        table("user,left_id,left_name,right_id,right_name,winner_id", WHO, codes_of(LEFT), LEFT,
              codes_of(RIGHT), RIGHT, codes_of(WINNER)),
        "items are called as in left_name and right_name; winner_id names the winner"),
    "ids as low as codes, and names in other columns": (
        table("user,item_1_id,item_2_id,item_1_title,item_2_title,winner_id", WHO,
              codes_of(LEFT, 1), codes_of(RIGHT, 1), LEFT, RIGHT, codes_of(WINNER, 1)),
        "items are called as in item_1_title and item_2_title"),
    "results of both sides": (
        table("judge,home,away,score", WHO, LEFT, RIGHT, ["2:1", "0:3", "10:9", "0 - 1"]),
        "score is the score of both, home's first"),
    "German, with a button of its own name": (
        table("Teilnehmer;Variante links;Variante rechts;Auswahl", WHO, LEFT, RIGHT,
              coded("links", "rechts"), separator=";"), "'links' is left"),
    "chess": (
        table("judge,White,Black,Result,WhiteElo,BlackElo", WHO, LEFT, RIGHT, coded("1-0", "0-1"),
              ["2800"] * 4, ["2700"] * 4), "'1-0' is left"),
    "German": (
        table("Teilnehmer;links;rechts;Wahl", WHO, LEFT, RIGHT, coded("links", "rechts"),
              separator=";"), "links is left"),
    "French": (
        table("annotateur;gauche;droite;choix", WHO, LEFT, RIGHT, coded("Gauche", "Droite"),
              separator=";"), "gauche is left"),
    "French, of a person and a winner": (
        table("Évaluateur;Gauche;Droite;Préféré", WHO, LEFT, RIGHT, WINNER, separator=";"),
        "Préféré names the winner"),
    "Prolific": (
        table("PROLIFIC_PID,stim_left,stim_right,response", WHO, LEFT, RIGHT,
              coded("left", "right")), "stim_left is left"),
    "a flag of the left side": (
        table("user,left,right,left_wins", WHO, LEFT, RIGHT, coded("True", "False")),
        "left_wins says whether left won"),
    "a flag of the right side": (
        table("user,img_a,img_b,is_b_better", WHO, LEFT, RIGHT, coded("no", "yes")),
        "is_b_better says whether img_b won"),
    "a difference of scores": (
        table("user,left,right,score_diff", WHO, LEFT, RIGHT, coded("1", "-1")), "as shown"),
    "a margin beside a confidence": (
        table("user,model_a,model_b,confidence,win_margin", WHO, LEFT, RIGHT, list("3251"),
              coded("1", "-1")), "model_a is left"),
    "a strength": (
        table("user,left,right,strength", WHO, LEFT, RIGHT, coded("1", "-1")), "as shown"),
    "a grade in Arena-Hard's signs": (
        table("user,left,right,grade", WHO, LEFT, RIGHT, coded("A>B", "B>A")), "as shown"),
    "quoted names and blank columns": (
        table('"annotator", "left", "right", "choice"', WHO, [f'"{x}"' for x in LEFT], RIGHT,
              coded("1", "-1")), "as shown"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_is_read_right_and_said(tmp_path: Path, name: str) -> None:
    text, said = READ[name]
    path = tmp_path / "votes.csv"
    path.write_text(text, encoding="utf-8")
    votes = read_votes(path)
    assert_same_votes(votes, EXPECTED)
    assert said in votes.origin["read_as"]


OUTCOMES = {
    "winner and loser": "user,winner,loser",
    "winner's and loser's names": "user,winner_name,loser_name",
    "chosen and rejected": "user,chosen,rejected",
    "better and worse": "user,better_item,worse_item",
}


def test_models_are_ranked_where_texts_are_chosen(tmp_path: Path) -> None:
    """RLHF: every chosen text is seen once, the models behind them often."""
    path = tmp_path / "votes.jsonl"
    frame = pd.DataFrame({
        "prompt": ["q"] * 4, "chosen": [[{"role": "assistant", "content": f"{k}"}] for k in "abcd"],
        "rejected": [[{"role": "assistant", "content": f"{k}"}] for k in "efgh"],
        "chosen_model": WINNER, "rejected_model": LOSER, "annotator_id": WHO,
        "chosen_rating": [5.0] * 4, "rejected_rating": [2.0] * 4,
    })  # fmt: skip
    frame.to_json(path, orient="records", lines=True)
    votes = read_votes(path)
    assert_same_votes(votes, UNKNOWN_POSITION)
    assert "chosen_model over rejected_model" in votes.origin["read_as"]


def test_ratings_under_other_names(tmp_path: Path) -> None:
    path = tmp_path / "wine.csv"
    path.write_text("taster,wine,score\nann,x,90\nann,y,80\nbob,x,70\nbob,y,85\n")
    with pytest.raises(VoteError, match="--dialect ratings --left ITEM --choice 'score'"):
        read_votes(path)
    votes = read_votes(path, dialect="ratings", left="wine", choice="score")
    expected = Votes.from_arrays(["ann", "bob"], ["x", "y"], ["y", "x"], [1, 1],
                                 position_known=False)  # fmt: skip
    assert_same_votes(votes, expected)
    path.write_text("user;item;rating\nann;x;9,5\nann;y;8,5\n")
    with pytest.raises(VoteError, match="decimal comma") as caught:
        read_votes(path)
    assert "left" not in str(caught.value.remedy)


def test_records_within_records_are_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "votes.json"
    path.write_text('[{"id": 1, "data": {"answer1": "x"}, "annotations": [{"id": 2}]}]')
    with pytest.raises(VoteError, match="Label Studio: export as CSV"):
        read_votes(path)
    path.write_text(  # Label Studio's short form
        '[{"text1": "x", "text2": "y", "comparison": {"type": "pairwise", "selected": "left"}}]'
    )
    with pytest.raises(VoteError, match="the verdicts in 'comparison' of") as caught:
        read_votes(path)
    assert "pandas.json_normalize" in str(caught.value.remedy)


@pytest.mark.parametrize("name", OUTCOMES)
def test_winners_and_losers_have_no_position(tmp_path: Path, name: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(table(OUTCOMES[name], WHO, WINNER, LOSER))
    votes = read_votes(path)
    assert_same_votes(votes, UNKNOWN_POSITION)
    assert "position unknown" in votes.origin["read_as"]


# name: (file, words of the error, options of the remedy that reads it right)
REFUSED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "0 and 1, 1 is left": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("1", "0")),
        "'choice' is 0 or 1", {"choices": parse_choices("1=left,0=right")}),
    "0 and 1, 0 is the first": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("0", "1")),
        "'choice' is 0 or 1", {"choices": {0: "left", 1: "right"}}),
    "1 and 2": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("1", "2")),
        "'choice' is 1 or 2", {"choices": parse_choices("1=left,2=right")}),
    "true and false": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("True", "False")),
        "unknown choice: 'False', 'True'", {"choices": {"true": "left", "false": "right"}}),
    "words of a language": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, coded("links", "rechts")),
        "unknown choice: 'links', 'rechts'", {"choices": {"links": "left", "rechts": "right"}}),
    "probabilities": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, ["1.0", "0.0", "1.0", "0"]),
        "'choice' is 0 or 1", {"choices": "probability"}),
    "percentages": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, ["100", "0", "100", "0"]),
        "holds numbers from 0 to 100, none below 0", {"choices": "percent"}),
    "percentages with their sign": (
        table("annotator,left,right,choice", WHO, LEFT, RIGHT, ["100%", "0 %", "100%", "0%"]),
        "unknown choice", {"choices": "percent"}),
    "a score beside the verdict": (
        table("annotator,model_a,model_b,score,better_one", WHO, LEFT, RIGHT, list("3152"),
              coded("A", "B")),
        "unknown choice: '1', '2', '3', '5'", {"choice": "better_one"}),
    "scores of both teams": (
        table("judge,home_team,away_team,home_goals,away_goals", WHO, LEFT, RIGHT,
              ["2", "0", "10", "0"], ["1", "1", "9", "3"]),
        "--scores home_goals,away_goals", {"scores": ("home_goals", "away_goals")}),
    "two columns that may be the verdict": (
        table("judge,item_a,item_b,result,label", WHO, LEFT, RIGHT, coded("A", "B"), ["q"] * 4),
        "may hold the verdict: 'result', 'label'", {"choice": "result"}),
    "a verdict beside a label of something else": (
        table("voter,item1,item2,winner,label", WHO, LEFT, RIGHT, WINNER, ["ok"] * 4),
        "--choice 'winner' or --choice 'label'", {"choice": "winner"}),
    "a question as the name": (
        table("participant,Option A,Option B,Your opinion?", WHO, LEFT, RIGHT, coded("A", "B")),
        "no column is named like a verdict", {"choice": "Your opinion?"}),
    "time stamps": (
        table("annotator,left,right,choice,who_won", WHO, LEFT, RIGHT,
              ["1700000000", "1700000100", "1700000200", "1700000300"], WINNER),
        "which are no verdicts", {"choice": "who_won"}),
    "dates": (
        table("annotator,left,right,choice,who_won", WHO, LEFT, RIGHT, ["2024-01-05"] * 4, WINNER),
        "unknown choice: '2024-01-05'", {"choice": "who_won"}),
    "a confidence": (
        table("annotator,left,right,choice,who_won", WHO, LEFT, RIGHT,
              ["0.9", "0.55", "0.7", "0.8"], WINNER),
        "none below 0", {"choice": "who_won"}),
    "ratings of one to five": (
        table("annotator,left,right,preference,who_won", WHO, LEFT, RIGHT, list("4315"), WINNER),
        "holds numbers from 1 to 5, none below 0", {"choice": "who_won"}),
    "a scale that may have the right item above 0 (HelpSteer's has)": (
        table("user,response_1,response_2,preference_strength", WHO, LEFT, RIGHT,
              coded("-1", "1")),
        "the column 'preference_strength' is graded from -1 to 1, and nothing says which item",
        {"choices": "strength-of-right"}),
    "a scale that has the left item above 0": (
        table("user,left,right,overall_preference", WHO, LEFT, RIGHT, coded("1", "-1")),
        "if left is better above 0: --choices strength", {"choices": "strength"}),
    "a rating of two items": (
        table("user,left,right,rating", WHO, LEFT, RIGHT, ["1", "5", "2", "4"]),
        "if 1 is clearly left and 5 clearly right: --choices 1=left,2=left,3=tie,4=right,5=right",
        {"choices": parse_choices("1=left,2=left,3=tie,4=right,5=right")}),
    "two grades": (
        table("user,left,right,margin,rating", WHO, LEFT, RIGHT, coded("1", "-1"), list("1234")),
        "--choice 'margin' or --choice 'rating'", {"choice": "margin"}),
    "a column of which nothing is known": (
        table("user,left,right,seconds,hooray", WHO, LEFT, RIGHT, list("1234"), WINNER),
        "name the column of the verdicts with --choice 'hooray' (", {"choice": "hooray"}),
    "a button nobody knows, among other columns": (
        table("user,left,right,when,knob,age,remark,city", WHO, LEFT, RIGHT, ["1.5.2025"] * 4,
              coded("left", "right"), ["33"] * 4, ["fine"] * 4, ["Bonn"] * 4),
        "name the column of the verdicts with --choice 'knob' (", {"choice": "knob"}),
    "sides and words of which nothing is known": (
        table("user,left,right,verdict", WHO, LEFT, RIGHT, ["A", "C", "A", "B"]),
        "--choices A=left,B=right,C=tie (choices={", {}),
    "a square table of counts": (
        ",x,y,z\nx,0,3,1\ny,1,0,2\nz,4,1,0\n", "columns winner, loser and weight", {}),
    "a square table of counts without names": (
        "0,3,1\n1,0,2\n4,1,0\n", "columns winner, loser and weight", {}),
    "best and worst of several": (
        table("user,item1,item2,item3,best,worst", WHO, LEFT, RIGHT, ["w"] * 4, WINNER, LOSER),
        "--left 'best' --right 'worst' --winner-first", {}),
    "best and worst of every task": (
        table("user,Q1_best,Q1_worst,Q2_best,Q2_worst", WHO, WINNER, LOSER, WINNER, LOSER),
        "pandas.wide_to_long", {}),
    "no names of columns": (
        table("ann,x,y,left", WHO, LEFT, RIGHT, coded("left", "right")),
        "put a line of names above it", {}),
    "numbers without names of columns": (
        "7,3,8,1\n2,3,8,2\n1,2,3,1\n", "put a line of names above it", {}),
    "items 1 and 2 without names of columns": (
        "5,1,2,1\n6,3,4,1\n5,2,1,-1\n", "put a line of names above it", {}),
    "columns nobody knows": (
        table("who,thing,other,who_won", WHO, LEFT, RIGHT, WINNER), "not votes in any known shape",
        {"annotator": "who", "left": "thing", "right": "other", "choice": "who_won"}),
    "no verdict at all": (
        table("annotator,left,right,seconds", WHO, LEFT, RIGHT, list("1234")),
        "no column is named like a verdict", {}),
    "a column for every annotator": (
        table("system_a,system_b,Anna,Ben,Carla", LEFT, RIGHT, *[coded("A", "B")] * 3),
        "pandas.melt", {}),
    "a column for every question": (
        table("StartDate,ResponseId,Q1,Q2", ["2023"] * 4, WHO, LEFT, RIGHT),
        "if every question of a survey has a column of its own", {}),
    "a decimal comma": (
        table("annotator;left;right;choice", WHO, LEFT, RIGHT, coded("0,5", "-1,25"),
              separator=";"),
        "decimal comma: write them with a decimal point", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_is_refused_and_the_remedy_reads_it_right(tmp_path: Path, name: str) -> None:
    text, words, remedy = REFUSED[name]
    path = tmp_path / "votes.csv"
    path.write_text(text)
    with pytest.raises(VoteError) as caught:
        read_votes(path)
    assert words in str(caught.value)
    assert caught.value.remedy
    assert caught.value.expected
    if remedy:
        assert_same_votes(read_votes(path, **remedy), EXPECTED)


def test_ids_of_winners_are_read_as_winners(tmp_path: Path) -> None:
    number = {"x": 17, "y": 4, "z": 230}
    frame = pd.DataFrame({
        "annotator": WHO, "left": [number[x] for x in LEFT], "right": [number[x] for x in RIGHT],
        "Winner ID": [number[x] for x in WINNER],
    })  # fmt: skip
    expected = Votes.from_arrays(WHO, frame["left"], frame["right"], CHOICE)
    path = tmp_path / "votes.csv"
    frame.to_csv(path, index=False)
    for source in (path, frame, frame.astype({"Winner ID": float})):
        votes = read_votes(source)
        assert_same_votes(votes, expected)
        assert "Winner ID names the winner" in votes.origin["read_as"]


def test_words_that_are_given_a_meaning_leave_plain_sides_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(table("annotator,left,right,choice", WHO, LEFT, RIGHT, ["A", "B", "C", "D"]))
    with pytest.warns(VoteWarning, match="1 row without a verdict"):
        votes = read_votes(path, choices={"C": "tie", "D": "none"})
    assert_same_votes(votes, Votes.from_arrays(WHO[:3], LEFT[:3], RIGHT[:3], [1, -1, 0]))
    with pytest.raises(VoteError, match="unknown choice: 'B'") as caught:
        read_votes(path, choices={"A": "left", "C": "tie", "D": "none"})
    assert "--choices A=left,C=tie,B=right" in str(caught.value)


def test_ids_that_may_be_first_and_second_are_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("annotator,left,right,winner\na,1,2,1\na,2,1,1\nb,2,1,2\n")
    with pytest.raises(VoteError, match="names of items and may also be sides; in 2 votes") as e:
        read_votes(path)
    assert "--choices names" in str(e.value)
    named = read_votes(path, choices="names")
    assert_same_votes(named, Votes.from_arrays(["a", "a", "b"], [1, 2, 2], [2, 1, 1], [1, -1, 1]))
    sided = read_votes(path, choices={1: "left", 2: "right"})
    assert_same_votes(sided, Votes.from_arrays(["a", "a", "b"], [1, 2, 2], [2, 1, 1], [1, 1, -1]))


def test_items_called_a_and_b_always_on_their_own_side_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("annotator,left,right,choice\nu,A,B,A\nv,A,B,B\n")
    votes = read_votes(path)
    assert_same_votes(votes, Votes.from_arrays(["u", "v"], ["A", "A"], ["B", "B"], [1, -1]))


def test_ids_as_low_as_the_codes_of_choices_are_no_winners(tmp_path: Path) -> None:
    """Items 0 to 3, and 1, -1 and 0 for left, right and tie."""
    path = tmp_path / "votes.csv"
    path.write_text("annotator,left,right,choice\na,1,2,1\na,3,0,-1\na,0,1,0\na,2,3,1\n")
    votes = read_votes(path)
    assert votes.origin["ties"] == 1
    assert_same_votes(
        votes, Votes.from_arrays(["a"] * 4, [1, 3, 0, 2], [2, 0, 1, 3], [1, -1, 0, 1])
    )


def test_a_winner_that_is_neither_item_is_named_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("annotator,left,right,winner\na,x,y,x\na,y,z,z\na,x,z,w\n")
    with pytest.raises(VoteError, match="names neither of the two items: 'w'") as caught:
        read_votes(path)
    assert caught.value.rows == (3,)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "votes.csv"
    text = table("annotator\tleft\tright\tchoice", WHO, LEFT, RIGHT, coded("1", "-1"),
                 separator="\t").replace("ann\t", "Zoë\t")  # fmt: skip
    mark = "" if encoding == "utf-16" else "\ufeff"
    path.write_bytes((mark + text).encode(encoding))
    assert read_votes(path).annotators.tolist() == ["Zoë", "bob"]


def test_names_with_commas_and_quotes(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text('annotator,left,right,choice\nu,"Smith, J.","O""Neil",1\nv,a,"Smith, J.",-1\n')
    assert read_votes(path).items.tolist() == ['O"Neil', "Smith, J.", "a"]


def test_decimal_commas_are_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("annotator;left;right;choice;weight\nu;x;y;1;0,5\nu;y;x;-1;1\n")
    with pytest.raises(VoteError, match="weight that is missing") as caught:
        read_votes(path)
    assert caught.value.rows == (1,)
    assert "decimal point" in str(caught.value)


ZIP, OLD_OFFICE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


@pytest.mark.parametrize(
    ("name", "head"), [("votes.xlsx", ZIP), ("votes.zip", ZIP), ("votes.xls", OLD_OFFICE)]
)
def test_spreadsheets_are_refused_with_the_remedy(tmp_path: Path, name: str, head: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(head + bytes(range(200)))
    with pytest.raises(VoteError, match="CSV") as caught:
        read_votes(path)
    assert "save" in str(caught.value.remedy) or "unpack" in str(caught.value.remedy)


def test_classes_of_scikit_learn_are_not_taken_for_ties() -> None:
    frame = pd.DataFrame({"annotator": WHO, "left": LEFT, "right": RIGHT})
    with pytest.raises(VoteError, match="0 or 1") as caught:
        votes_of_frame(frame, [1, 0, 1, 0], None, None)
    assert "2 * y - 1" in str(caught.value)
    assert_same_votes(votes_of_frame(frame, CHOICE, None, None), EXPECTED)


@pytest.mark.parametrize(
    "names",
    [
        {"7": "Tea", "8": "Tea", "9": "Milk"},  # two items of one name
        {"7": "Tea", "8": "Coffee", "9": None},  # no name, but for one row
    ],
)
def test_names_that_do_not_tell_items_apart_are_not_taken(tmp_path: Path, names: Any) -> None:
    rows = [("7", "8", "7"), ("8", "9", "9"), ("9", "7", "7"), ("7", "8", "8")]
    lines = ["user,left_id,left_name,right_id,right_name,winner_id"]
    for k, (left, right, won) in enumerate(rows):
        called = [names[item] or ("Milk" if k == 1 else "") for item in (left, right)]
        lines.append(f"u{k % 2},{left},{called[0]},{right},{called[1]},{won}")
    file = tmp_path / "votes.csv"
    file.write_text("\n".join(lines) + "\n")
    votes = read_votes(file)
    assert votes.items.tolist() == [7, 8, 9]
    assert "items are called as in left_id and right_id" in votes.origin["read_as"]
    assert votes.n_votes == 4
