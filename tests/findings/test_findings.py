"""One object behind terminal, JSON, files and report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from prefpath import PreferenceModel, Votes, read_votes, simulate_crowd
from prefpath.diagnose import STANDING_OUT
from prefpath.findings import cautions, find
from prefpath.findings.boards import boards_of

pytestmark = pytest.mark.filterwarnings("ignore::prefpath.VoteWarning")


@pytest.fixture(scope="module")
def model() -> PreferenceModel:
    crowd = simulate_crowd(3000, 30, 6, deviants=2, clickers=2, ties=0.1, seed=1)
    return PreferenceModel(cv=3).fit(crowd.votes)


def two_groups() -> Votes:
    """Two groups of items that never met; each has one clear winner."""
    left, right = ["a", "b", "a"] * 20, ["b", "c", "c"] * 20
    other_left, other_right = ["x", "y", "x"] * 10, ["y", "z", "z"] * 10
    who = [f"u{k % 12}" for k in range(90)]
    rng = np.random.default_rng(0)
    choice = np.where(rng.random(90) < 0.8, 1, -1)
    return Votes.from_arrays(who, left + other_left, right + other_right, choice)


def test_a_board_for_each_group() -> None:
    findings = find(PreferenceModel(cv=2, n_times=5, t_ratio=5.0).fit(two_groups()))
    assert [board.number for board in findings.boards] == [1, 2]
    assert [set(findings.ranking["item"][board.rows]) for board in findings.boards] == [
        {"a", "b", "c"},
        {"x", "y", "z"},
    ]
    assert [group["items"] for group in findings.as_json()["groups"]] == [3, 3]


def test_a_board_without_intervals_says_nothing_of_certainty() -> None:
    board = boards_of({"item": ["a", "b"]})[0]
    assert (board.leader, board.rivals, board.certain) == ("a", None, False)


def test_counts_are_those_of_the_table(model: PreferenceModel) -> None:
    findings = find(model)
    verdicts = list(findings.annotators["verdict"])
    assert all(verdicts.count(word) == n for word, n in findings.headline.counts.items())
    assert findings.headline.n_annotators == len(verdicts) == 30


def test_ties_are_explained_where_there_are_any(model: PreferenceModel) -> None:
    assert "shares of points" in (find(model).meaning_of_scores or "")
    plain = PreferenceModel(cv=0, n_times=4, t_ratio=4.0).fit(simulate_crowd(400, 8, 4).votes)
    assert find(plain).meaning_of_scores is None


def test_worse_than_a_coin_is_said(model: PreferenceModel) -> None:
    fitted = model.fitted_
    assert list(cautions(fitted)) == []
    found = fitted.cross_validation
    assert found is not None
    bad = replace(fitted, cross_validation=replace(found, errors=np.full(found.errors.shape, 0.8)))
    assert any("A coin would predict" in sentence for sentence in cautions(bad))


def thin_votes(n_items: int, spread: float, clicker: int | None = None) -> Votes:
    """Few votes an item, by 50 annotators, one of whom may click left."""
    rng = np.random.default_rng(10)
    who, left = rng.integers(0, 50, 5_000), rng.integers(0, n_items, 5_000)
    right = (left + rng.integers(1, n_items, 5_000)) % n_items
    scores = spread * rng.normal(size=n_items)
    won = rng.random(5_000) < 1.0 / (1.0 + np.exp(scores[right] - scores[left]))
    return Votes.from_arrays(who, left, right, np.where(won | (who == clicker), 1.0, -1.0))


def test_where_votes_are_coins_nobody_is_said_to_be_unlike_the_others() -> None:
    """Of so few votes an item scores are nothing but error; tests that trust them named many."""
    fitted = PreferenceModel(random_state=0).fit(thin_votes(3_700, 0.0, clicker=7)).fitted_
    assert fitted.knows_nothing
    assert any("nobody is said to be unlike" in sentence for sentence in cautions(fitted))
    found = find(fitted)
    assert found.meaning_of_attention is None
    assert found.diagnosis.who(*STANDING_OUT).tolist() == [7]
    assert found.diagnosis.who("one-sided clicker").tolist() == [7]
    assert not len(found.diagnosis.who("follows the crowd", "goes with the crowd"))
    rows = found.diagnosis.rows(np.arange(50))
    assert all("nan" not in reason for reason in rows["reason"])


def test_thin_votes_on_one_ranking_are_no_coins() -> None:
    """A coin would lose less of these, too; but far more than half are predicted right."""
    fitted = PreferenceModel(random_state=0).fit(thin_votes(1_000, 0.5)).fitted_
    assert fitted.worse_than_a_coin
    assert not fitted.knows_nothing


def test_the_end_of_the_path_is_said() -> None:
    votes = simulate_crowd(400, 8, 4).votes
    by_hand = PreferenceModel(cv=0, n_times=4, t_ratio=4.0).fit(votes)
    assert any("Nothing was held out" in sentence for sentence in cautions(by_hand.fitted_))
    assert list(cautions(by_hand.fitted_.at(by_hand.path_.times[1]))) == []


def test_nearly_everybody_alone_is_said() -> None:
    """Votes made from ratings: each person's are in one order of their own."""
    rng = np.random.default_rng(2)
    who, left, right = [], [], []
    for u in range(12):
        taste = rng.permutation(8)
        for i, j in zip(*np.triu_indices(8, 1), strict=True):
            first, second = (i, j) if taste[i] > taste[j] else (j, i)
            who.append(f"u{u}")
            left.append(f"film {first}")
            right.append(f"film {second}")
    votes = Votes.from_arrays(who, left, right, [1] * len(who), position_known=False)
    model = PreferenceModel(cv=3, n_times=12, attention=False).fit(votes)
    assert model.fitted_.active_count[0] >= 11
    assert any("nearly alone" in sentence for sentence in cautions(model.fitted_))


def test_verdicts_on_votes_made_from_ratings_are_said_to_name_too_many():
    """Pairs that share a rating repeat each other: most of one taste were "own taste"."""
    rng = np.random.default_rng(0)
    quality = np.linspace(-1.5, 1.5, 30)
    ratings = pd.DataFrame(
        {
            "user": np.repeat([f"u{u}" for u in range(12)], 30),
            "item": [f"film {k}" for k in range(30)] * 12,
            "rating": np.clip(np.rint(3 + np.tile(quality, 12) + rng.normal(size=360)), 1, 5),
        }
    )
    settings = {"cv": 0, "n_times": 3, "t_ratio": 1.5, "attention": False}
    said = []
    for pairs in (None, 15):
        votes = read_votes(ratings, pairs_per_annotator=pairs)
        said.append(" ".join(cautions(PreferenceModel(**settings).fit(votes).fitted_)))
    assert "pairs of 360 ratings" in said[0]
    assert "--pairs-per-annotator 15 " in said[0]
    assert "ratings" not in said[1]
