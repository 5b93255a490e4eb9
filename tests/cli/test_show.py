"""What a fit says of itself: plain English, and doubts with what to do."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from prefpath import PreferenceModel, Votes, VoteWarning, simulate_crowd
from prefpath.cli.before import check_memory
from prefpath.cli.show import held_out, personal
from prefpath.cli.show_people import Row, show_annotators, summary, who_differs
from prefpath.errors import MachineError
from prefpath.findings import find
from prefpath.findings.cautions import cautions


def fitted(votes: Votes, **settings: object):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        return PreferenceModel(n_threads=1, **settings).fit(votes).fitted_


def list_cautions(found) -> list[str]:
    return list(cautions(found))


@pytest.fixture(scope="module")
def votes() -> Votes:
    return simulate_crowd(1500, 12, 5, deviants=2, clickers=2, seed=1).votes


def test_a_good_fit_has_no_list_cautions(votes: Votes) -> None:
    assert list_cautions(fitted(votes, cv=3)) == []


def test_without_cross_validation_the_end_is_said_to_be_the_end(votes: Votes) -> None:
    found = fitted(votes, cv=0, t_ratio=5.0)
    assert "No cross-validation" in held_out(found)
    [said] = list_cautions(found)
    assert "end of the path" in said and "--cv 5" in said and "--t" in said
    assert list_cautions(found.at(0.5 * found.t)) == []


def test_a_path_that_is_too_short(votes: Votes) -> None:
    found = fitted(votes, cv=3, t_ratio=1.05, n_times=3)
    assert found.t == found.path.times[-1]
    assert any("--t-ratio" in said for said in list_cautions(found))


def test_a_path_that_ends_where_nothing_falls_any_more(votes: Votes) -> None:
    found = fitted(votes, cv=3, t_ratio=1.05, n_times=3)
    errors = found.cross_validation.errors
    object.__setattr__(
        found.cross_validation, "errors", np.broadcast_to(errors[:, -1:], errors.shape)
    )
    assert found.t == found.path.times[-1]
    assert not any("--t-ratio" in said for said in list_cautions(found))


def test_worse_than_a_coin(votes: Votes) -> None:
    found = fitted(votes, cv=3)
    object.__setattr__(found.cross_validation, "errors", found.cross_validation.errors + 1.0)
    assert found.held_out is not None and found.held_out.error > np.log(2.0)
    assert any("coin" in said and "prefpath check" in said for said in list_cautions(found))


def test_a_coin_is_better_by_what_the_time_was_chosen_by(votes: Votes) -> None:
    found = fitted(votes, cv=3)
    object.__setattr__(found.cross_validation, "errors", found.cross_validation.errors + 1.0)
    [said] = list_cautions(found)
    assert "its log-loss is 0.6931" in said and "half of them wrong" not in said


def printed_of_annotators(found) -> str:
    console = Console(width=300, record=True, quiet=False, file=io.StringIO())
    show_annotators(console, find(found), top=20)
    return console.export_text()


def test_one_annotator_is_not_judged_nor_said_to_have_too_few_votes() -> None:
    alone = simulate_crowd(300, 1, 4, deviants=0, clickers=0, seed=0).votes
    found = fitted(alone, cv=2, n_times=4, t_ratio=3.0)
    printed = printed_of_annotators(found)
    assert "one annotator, and nobody to differ from" in printed
    assert "Nobody leans" not in printed and "Verdicts" not in printed
    assert "anybody's own" not in held_out(found) and "one ranking" not in held_out(found)
    assert find(found).annotators["verdict"].tolist() == ["inconclusive"]


def test_nothing_but_ties_says_nothing_of_anybody() -> None:
    tied = Votes.from_arrays(list("aabbcc"), list("xyxyxy"), list("yzyzyz"), [0] * 6)
    found = fitted(tied, cv=2, n_times=4)
    assert "nobody is judged" in printed_of_annotators(found)
    assert "Every vote is a tie" in list_cautions(found)[0]
    assert find(found).meaning_of_intervals is None


def test_parts_that_predict_nothing_are_not_said_to_predict_best(votes: Votes) -> None:
    found = fitted(votes, cv=3)
    assert "; with one ranking for all, " in held_out(found)
    first = float(found.path.times[0])
    held = found.cross_validation
    by_first = replace(held, errors=np.tile(np.arange(held.errors.shape[1]), (3, 1)) + 0.5)
    alone = replace(found, t=first, cross_validation=by_first)
    assert held_out(alone).endswith("; nothing of anybody's own predicts better.")
    assert f"at t = {0.9 * found.t:.4g} as asked for" in held_out(found.at(0.9 * found.t))


def test_a_shared_lean_is_one_number_wherever_it_is_said() -> None:
    rng = np.random.default_rng(0)
    left = rng.integers(5, size=2500)
    right = (left + rng.integers(1, 5, size=2500)) % 5
    who = rng.integers(25, size=2500)
    margin = 0.4 * (left - right) - 0.7 + np.where(who == 0, -2.0, 0.0)
    choice = np.where(rng.random(2500) < 1 / (1 + np.exp(-margin)), 1, -1)
    findings = find(fitted(Votes.from_arrays(who, left, right, choice), cv=2, n_times=6))
    shared = findings.position_effect["first_probability"]
    assert findings.headline.common_first == shared
    assert f"the left in {shared:.1%}" in findings.meaning_of_position
    assert f"everybody together ({shared:.0%})" in findings.annotators["reason"][0]


def test_verdicts_are_counted_in_english(votes: Votes) -> None:
    headline = SimpleNamespace(
        n_annotators=34, n_standing_out=0, q=0.1, counts={"leans left": 1, "follows the crowd": 33}
    )
    people = {"also": [None] * 33 + ["own taste"]}
    told = SimpleNamespace(
        headline=headline, fitted=SimpleNamespace(votes=votes), annotators=people
    )
    said = summary(told)
    assert said == (
        "Verdicts on 34 annotators: follows the crowd 33; leans left 1. "
        "Beside another verdict: own taste 1."
    )
    headline.counts["goes with the crowd"] = 2
    assert "agrees beyond chance" in summary(told)


def test_what_does_not_fit_into_memory_is_refused_first(
    votes: Votes, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_memory(votes, 5)
    monkeypatch.setattr("prefpath.machine.free_memory", lambda: 10_000)
    with pytest.raises(MachineError, match="fitting 1,500 votes needs about 0 MB"):
        check_memory(votes, 5)


@pytest.mark.parametrize("shrunk", [True, False])
def test_a_personal_ranking_says_where_its_scores_are_not_the_leaderboards(shrunk, capsys) -> None:
    columns = {"rank": [1], "item": ["a"], "common_score": [2.12], "votes": [7.0]}
    personal(Console(width=300), "ann", columns, top=5, shrunk=shrunk)
    printed = capsys.readouterr().out
    assert ("differ a little from the leaderboard's" in printed) == shrunk
    assert "7.00" not in printed


@pytest.mark.parametrize(("verdict", "shown"), [("own taste", True), ("contrary", False)])
def test_items_are_shown_of_those_with_a_taste_only(
    votes: Votes, verdict: str, shown: bool
) -> None:
    people = {"annotator": ["b", "c"], "verdict": [verdict] * 2, "votes": [9.0, 9.0],
              "agreement": [0.4, 0.5], "most_up": ["a", "c"], "most_down": [None, "a"]}  # fmt: skip
    findings = SimpleNamespace(annotators=people, name=str, fitted=SimpleNamespace(votes=votes))
    listing = who_differs(findings, [Row(0, verdict), Row(1, verdict)])
    headings = [heading for heading, _ in listing.columns]
    assert ("likes more" in headings) == shown
    assert any("c (itself)" in row for row in listing.rows) == shown


def test_errors_that_print_alike_are_not_told_as_two() -> None:
    votes = Votes.from_arrays(list("uvw"), list("aba"), list("bac"), [1, 1, -1])
    errors = [SimpleNamespace(wrong=0.364, error=error) for error in (0.64411, 0.64412)]
    fitted = SimpleNamespace(
        held_out=errors[0], held_out_of_one_ranking=errors[1], criterion="log-loss", votes=votes,
        chosen_by_hand=False, t=1.0,
    )  # fmt: skip
    assert held_out(fitted).endswith("; nothing of anybody's own predicts better.")
