"""The plain ranking: every kind of input, ties, weights, groups, undefeated items, intervals."""

from __future__ import annotations

import json

import choix
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from typer.testing import CliRunner

from prefpath import SettingError, VoteError, Votes, rank, simulate_crowd
from prefpath.baselines import Borda, BradleyTerry
from prefpath.cli import app
from prefpath.inference.ranks import rank_intervals
from prefpath.model.losses import BradleyTerry as BradleyTerryLoss
from prefpath.pairs import fit_bounded
from prefpath.plain.arrays import CodedComparisons, encode_items
from prefpath.plain.standard_errors import annotator_gradients, score_errors


def crowd_votes(n_votes: int = 3_000) -> Votes:
    return simulate_crowd(n_votes, 40, 9, ties=0.1, seed=3).votes


def as_arrays(votes: Votes) -> tuple[np.ndarray, ...]:
    times = votes.count
    return (
        np.repeat(votes.annotators[votes.annotator], times),
        np.repeat(votes.items[votes.left], times),
        np.repeat(votes.items[votes.right], times),
        np.repeat(votes.choice, times),
    )


@pytest.fixture
def csv_file(tmp_path):
    file = tmp_path / "votes.csv"
    who, left, right, choice = as_arrays(crowd_votes())
    frame = pd.DataFrame({"annotator": who, "left": left, "right": right, "choice": choice})
    frame.to_csv(file, index=False)
    return file


def test_every_kind_of_input_gives_the_same_ranking(csv_file) -> None:
    votes = crowd_votes()
    expected = rank(votes)
    for x in (as_arrays(votes), str(csv_file), csv_file, pd.read_csv(csv_file)):
        found = rank(x)
        assert found.items.tolist() == expected.items.tolist()
        assert_allclose(found.scores, expected.scores, atol=1e-9)
        assert_allclose(found.bounds.score_low, expected.bounds.score_low, atol=1e-9)
        assert_array_equal(found.bounds.rank_high, expected.bounds.rank_high)


def test_scores_equal_choix_and_the_baseline() -> None:
    votes = crowd_votes()
    wins = np.zeros((votes.n_items, votes.n_items))
    for i, j, y, w in zip(votes.left, votes.right, votes.choice, votes.weight, strict=True):
        wins[i, j] += w * (1 + y) / 2
        wins[j, i] += w * (1 - y) / 2
    expected = choix.ilsr_pairwise_dense(wins, tol=1e-12)
    found = rank(votes, interval=None)
    assert found.bounds is None
    assert_allclose(found.scores, expected - expected.mean(), atol=1e-8)
    assert_allclose(found.scores, BradleyTerry().fit(votes).scores(), atol=1e-5)


def test_labels_of_any_kind() -> None:
    left, right = np.array([7, 900, 7]), np.array([900, 12, 12])
    numbers = rank((None, left, right, [1, 1, -1]), interval=None)
    words = rank((None, left.astype(str), right.astype(str), ["left", "left", "right"]))
    assert numbers.items.tolist() == [7, 12, 900]
    by_label = dict(zip(words.items.tolist(), words.scores, strict=True))
    for label, score in zip(numbers.items.tolist(), numbers.scores, strict=True):
        assert score == pytest.approx(by_label[str(label)], abs=1e-9)
    far = np.array([10**12, 5]), np.array([5, 10**12])
    assert encode_items(*far)[0].tolist() == [5, 10**12]


def test_weight_two_is_the_row_twice() -> None:
    _, left, right, choice = as_arrays(crowd_votes(300))
    weight = np.ones(len(left))
    weight[:50] = 2.0
    twice = [np.concatenate([column, column[:50]]) for column in (left, right, choice)]
    weighted = rank((None, left, right, choice), weight=weight)
    repeated = rank((None, *twice))
    assert_allclose(weighted.scores, repeated.scores, atol=1e-9)
    assert_allclose(weighted.bounds.score_low, repeated.bounds.score_low, atol=1e-9)


def test_undefeated_items_are_said_not_bounded() -> None:
    found = rank((None, list("abac"), list("babd"), [1, 1, -1, 1]))
    # a and b beat each other; c beat d only, apart from them
    assert found.bounded.tolist() == [True, True, False, False]
    assert found.component.tolist() == [0, 0, 1, 1]
    columns = found.columns()
    assert columns["component"].tolist() == [1, 1, 2, 2]
    assert columns["score_low"][2] is None
    assert any("2 groups" in note for note in found.notes)
    assert any("2 items (c, d)" in note for note in found.notes)
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("right", ["b", "bc"])
def test_votes_that_bound_no_score_are_ranked_and_said_to_bound_none(right: str) -> None:
    found = rank((None, list("ab")[: len(right)], list(right), [1] * len(right)))
    assert found.ranks.tolist() == list(range(1, len(right) + 2))
    assert not found.bounded.any() and set(found.columns()["score_low"]) == {None}


def test_what_scores_are_is_said_where_there_are_ties() -> None:
    votes = crowd_votes()
    assert any("a tie counts half a win" in note for note in rank(votes).notes)
    assert not any("a tie counts half a win" in note for note in rank(votes.without_ties()).notes)
    assert not any("a tie counts half a win" in note for note in rank(votes, method="linear").notes)


def test_an_undefeated_item_does_not_move_the_others() -> None:
    votes = crowd_votes(500)
    who, left, right, choice = as_arrays(votes)
    best = (np.append(who, who[0]), np.append(left, "the best"), np.append(right, right[0]),
            np.append(choice, 1.0))  # fmt: skip
    found, without = rank(best), rank((who, left, right, choice))
    assert 1 < found.ranks[-1] < len(found.items)  # one vote is no lead
    assert_allclose(found.scores[:-1], without.scores, atol=1e-8)
    assert found.bounds.rank_low[-1] == 1
    assert found.bounds.rank_high[-1] == len(found.items)


def test_gradients_of_annotators_are_those_of_their_votes() -> None:
    votes = CodedComparisons.of_votes(crowd_votes(400))
    loss = BradleyTerryLoss()
    fitted = fit_bounded(votes.counts, loss.derivatives, binary=True)
    gradient = annotator_gradients(votes, fitted, loss.derivatives).toarray()
    assert_allclose(gradient.sum(axis=0), 0.0, atol=1e-6)  # the scores are the best ones
    one = votes.annotator == 3
    shift = np.zeros(len(fitted.scores))
    for item in range(len(shift)):
        shift[:] = 0.0
        shift[item] = 1e-6

        def cost(scores: np.ndarray) -> float:
            margin = scores[votes.left[one]] - scores[votes.right[one]]
            return float(votes.weight[one] @ loss.value(margin, votes.choice[one]))

        slope = (cost(fitted.scores + shift) - cost(fitted.scores - shift)) / 2e-6
        assert gradient[3, item] == pytest.approx(slope, abs=1e-5)


def test_intervals_of_independent_votes_are_fishers() -> None:
    _, left, right, choice = as_arrays(crowd_votes())
    found = rank((None, left, right, choice))
    votes = CodedComparisons.of_arrays((None, left, right, choice), None)
    margin = found.scores[votes.left] - found.scores[votes.right]
    bend = BradleyTerryLoss().curvature(margin, votes.choice)
    apart = np.eye(9)[votes.left] - np.eye(9)[votes.right]
    variance = np.diag(np.linalg.pinv(apart.T @ (bend[:, None] * apart)))
    assert_allclose(found.bounds.score_high - found.scores, 1.959964 * np.sqrt(variance), rtol=1e-5)


def test_clustering_widens_intervals_of_repeated_voters() -> None:
    """Ten annotators who each cast the same ten votes twenty times know no more than ten."""
    rng = np.random.default_rng(0)
    left, right, choice = rng.integers(0, 4, 100), np.zeros(100, int), rng.choice([1, -1], 100)
    right = (left + 1 + rng.integers(0, 3, 100)) % 4
    who = np.repeat(np.arange(10), 10)
    columns = [np.tile(column, 20) for column in (who, left, right, choice)]
    clustered, independent = rank(tuple(columns)), rank((None, *columns[1:]))
    width = clustered.bounds.score_high - clustered.bounds.score_low
    assert (width > 2 * (independent.bounds.score_high - independent.bounds.score_low)).all()


def test_coverage_of_clustered_intervals() -> None:
    """Everybody follows one ranking: about 95 % of intervals of differences cover."""
    covered = []
    for seed in range(40):
        crowd = simulate_crowd(3_000, 60, 6, activity="even", deviants=0, clickers=0, seed=seed)
        votes = CodedComparisons.of_votes(crowd.votes)
        loss = BradleyTerryLoss()
        fitted = fit_bounded(votes.counts, loss.derivatives, binary=True)
        errors = score_errors(votes, fitted, loss.derivatives)
        centre, error = errors.difference(np.arange(1, 6), 0)
        truth = crowd.scores[1:] - crowd.scores[0]
        covered.append(np.abs(centre - truth) < 2.0 * error)
        assert (rank_intervals(errors, 0.95)[0] >= 1).all()
    assert 0.91 <= np.mean(covered) <= 0.99


@pytest.mark.parametrize("method", ["borda", "linear", "thurstone-mosteller"])
def test_other_methods(method: str) -> None:
    votes = crowd_votes()
    found = rank(votes, method=method)
    assert (found.bounds is None) == (method == "borda")
    best = rank(votes)
    assert np.corrcoef(found.scores, best.scores)[0, 1] > 0.95
    if method == "borda":
        assert_allclose(found.scores, Borda().fit(votes).scores())
        assert_allclose(rank(as_arrays(votes), method="borda").scores, found.scores)


def test_what_cannot_be_ranked_says_why() -> None:
    with pytest.raises(VoteError, match="compares an item with itself") as caught:
        rank((None, [1, 2], [2, 2], [1, 1]))
    assert caught.value.rows == (2,)
    with pytest.raises(VoteError, match="differ in length"):
        rank((None, [1, 2], [2], [1, 1]))
    with pytest.raises(VoteError, match="choices reach 3"):
        rank((None, [1, 2], [2, 3], [1, 3]))
    with pytest.raises(SettingError, match="no method"):
        rank(crowd_votes(100), method="none")
    with pytest.raises(SettingError, match="interval is 95"):
        rank(crowd_votes(100), interval=95)
    with pytest.raises(VoteError, match="a tuple of 3 arrays"):
        rank(([1], [2], [1]))


def test_command_line(csv_file) -> None:
    shown = CliRunner().invoke(app, ["rank", str(csv_file), "--json"])
    assert shown.exit_code == 0
    answer = json.loads(shown.stdout)
    expected = rank(crowd_votes()).columns()
    assert [row["item"] for row in answer["ranking"]] == expected["item"].tolist()
    assert answer["ranking"][0]["score_low"] == pytest.approx(expected["score_low"][0])
    plain = CliRunner().invoke(app, ["rank", str(csv_file), "--interval", "0", "--top", "3"])
    assert "and 6 more items" in plain.stdout


def test_repr_is_a_short_table() -> None:
    text = repr(rank(crowd_votes()))
    assert text.startswith("PlainRanking by bradley-terry\n    1 ")
    assert "Intervals include the sampling of annotators." in text
