"""Whose votes they are, in a word, wherever it is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from prefpath import VoteWarning, rank, read_votes
from prefpath.trust import trust_panel


@pytest.fixture(scope="module")
def survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People with an occupation compare screens, in columns no dialect knows."""
    rng = np.random.default_rng(0)
    lines = ["participant,occupation,screen_left,screen_right,response"]
    for k in range(120):
        i, j = rng.choice(4, 2, replace=False)
        side = "left" if rng.random() < 1 / (1 + np.exp(i - j)) else "right"
        lines.append(f"P{k % 20},{['nurse', 'doctor', 'clerk'][k % 3]},S{i},S{j},{side}")
    file = tmp_path_factory.mktemp("survey") / "votes.csv"
    file.write_text("\n".join(lines))
    return file


def test_groups_are_called_by_the_name_of_their_column(survey: Path) -> None:
    people, groups = read_votes(survey), read_votes(survey, group="occupation")
    assert (people.voter, people.n_annotators) == ("annotator", 20)
    assert (groups.voter, groups.n_annotators) == ("occupation", 3)
    panel = trust_panel(groups)
    said = " ".join(f"{check.name} {check.finding} {check.advice}" for check in panel.checks)
    assert "votes per occupation" in said and "3 occupations" in said
    assert "annotator" not in said
    assert "annotator" not in " ".join(rank(groups).notes)


def test_a_column_that_cannot_be_counted_is_a_group(survey: Path) -> None:
    renamed = survey.with_name("renamed.csv")
    renamed.write_text(survey.read_text().replace("occupation", "job title", 1))
    assert read_votes(renamed, group="job title").voter == "group"


def test_votes_of_nobody_are_anonymous(survey: Path) -> None:
    without = survey.with_name("anonymous.csv")
    without.write_text("\n".join(line.split(",", 2)[2] for line in survey.read_text().split("\n")))
    votes = read_votes(without)
    assert votes.anonymous and not read_votes(survey).anonymous
    assert trust_panel(votes)["many voices"].finding == "nothing says who voted"
    assert rank(votes).notes[-1].startswith("Intervals take votes as independent")


@pytest.mark.filterwarnings("ignore", category=VoteWarning)
def test_measures_of_two_sides_are_no_items(tmp_path: Path) -> None:
    file = tmp_path / "times.csv"
    file.write_text("user,seconds_left,seconds_right,response\nu,1,2,left\n")
    with pytest.raises(ValueError, match="not votes in any known shape"):
        read_votes(file)
