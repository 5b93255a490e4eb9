"""Whose items are whose."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import Votes, read_votes
from prefpath.errors import SettingError
from prefpath.votes.families import own_items, without_family


def votes_of(annotators: list[str], items: list[str]) -> Votes:
    n = len(annotators) * len(items)
    who = np.repeat(annotators, len(items))
    left = np.tile(items, len(annotators))
    return Votes.from_arrays(who, left, np.tile(np.roll(items, 1), len(annotators)), np.ones(n))


def owned(votes: Votes, families: dict[str, str] | None = None) -> dict[str, list[str]]:
    found = own_items(votes, families)
    return {
        str(votes.annotators[u]): [str(x) for x in votes.items[own]] for u, own in found.items()
    }


@pytest.mark.parametrize(
    "judge", ["gpt-4o", "GPT 4o", "gpt_4o-judge", "judge: gpt-4o", "gpt-4o (LLM as a judge)"]
)
def test_a_judge_is_an_item_of_its_name(judge):
    assert owned(votes_of([judge, "ann"], ["gpt-4o", "gpt-4o-mini"])) == {judge: ["gpt-4o"]}


@pytest.mark.parametrize("judge", ["gpt", "gpt-4", "gpt-4o-mini-2", "judge", "4o"])
def test_other_names_are_others(judge):
    assert owned(votes_of([judge, "ann"], ["gpt-4o", "llm", "the model"])) == {}


def test_two_items_that_differ_in_case_only_are_both_ones_own():
    found = owned(votes_of(["Gemma", "ann"], ["gemma", "GEMMA", "x"]))
    assert found == {"Gemma": ["GEMMA", "gemma"]}


def test_families_are_added_to_names():
    votes = votes_of(["claude", "gpt", "ann"], ["claude", "opus", "gpt", "x"])
    families = {"claude": "a", "opus": "a", "ann": "o", "gpt": "o", "elsewhere": "a"}
    assert owned(votes, families) == {
        "ann": ["gpt"],
        "claude": ["claude", "opus"],
        "gpt": ["gpt"],
    }


@pytest.mark.parametrize("left_open", ["", "  ", None, float("nan")])
def test_no_family_is_no_family_of_its_own(left_open):
    votes = votes_of(["claude", "human"], ["opus", "x", "y"])
    families = {"claude": "a", "opus": "a ", "human": left_open, "x": left_open}
    assert owned(votes, families) == {"claude": ["opus"]}
    assert without_family(votes, families) == ["x", "y"]


def test_families_of_nobody_are_refused():
    votes = votes_of(["ann", "bob"], ["x", "y"])
    for families in ({}, {"ann": "a"}, {"x": "a", "ann": "b"}, {"Ann": "a", "x": "a"}):
        with pytest.raises(SettingError, match="no annotator is of the family of an item") as error:
            own_items(votes, families)
        assert "ann, bob" in str(error.value)


def test_votes_of_nobody_known_have_no_owners(tmp_path):
    lines = "left,right,choice\nsomebody,opus,left\nopus,somebody,left\n"
    unknown = tmp_path / "unknown.csv"
    unknown.write_text(lines)
    (label,) = read_votes(unknown).annotators
    unknown.write_text(lines.replace("somebody", str(label)))
    assert owned(read_votes(unknown)) == {}


@pytest.mark.parametrize("labels", [["1", "2"], ["a", "b"], ["01", "2.5"], ["judge 1", "judge 2"]])
def test_numbers_and_single_letters_are_nobodys_names(labels):
    assert owned(votes_of(labels, labels)) == {}


def test_a_short_name_is_one():
    assert owned(votes_of(["o1", "ann"], ["o1", "o3"])) == {"o1": ["o1"]}
