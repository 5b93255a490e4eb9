"""What a fit says of itself: plain English, and doubts with what to do."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from prefpath import PreferenceModel, Votes, VoteWarning, simulate_crowd
from prefpath.cli.before import check_memory
from prefpath.cli.show import held_out, personal, summary
from prefpath.errors import MachineError
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


def test_worse_than_a_coin(votes: Votes) -> None:
    found = fitted(votes, cv=3)
    object.__setattr__(found.cross_validation, "errors", found.cross_validation.errors + 1.0)
    assert found.held_out is not None and found.held_out.error > np.log(2.0)
    assert any("coin" in said and "prefpath check" in said for said in list_cautions(found))


def test_verdicts_are_counted_in_english() -> None:
    headline = SimpleNamespace(n_annotators=34, counts={"leans left": 1, "follows the crowd": 33})
    said = summary(SimpleNamespace(headline=headline))
    assert said == "Verdicts on 34 annotators: follows the crowd 33, leans left 1."


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
