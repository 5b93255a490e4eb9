"""Comparisons: honest splits, no leak from what is held out, summaries, failures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefpath import MissingExtra, SettingError, VoteError, Votes, simulate_crowd
from prefpath.compare import CONTENDERS, Comparison, Outcome, Summary, compare_methods, make_splits
from prefpath.compare.contenders import Prediction, Rival, Task
from prefpath.compare.run import judge
from prefpath.compare.splits import forget_items_without_votes, keep
from prefpath.plots.comparison import comparison, save_comparison
from prefpath.selection.folds import Fold

FAST = ["borda", "hodgerank"]


@pytest.fixture(scope="module")
def crowd() -> Votes:
    return simulate_crowd(3_000, 12, 8, deviants=4, clickers=2, ties=0.1, seed=4).votes


@pytest.fixture(scope="module")
def distinct() -> Votes:
    """Votes each cast once: a row is wholly in training or wholly held out."""
    votes = simulate_crowd(800, 6, 8, deviants=2, clickers=1, ties=0.1, seed=4).votes
    return replace(votes, count=np.ones_like(votes.count), weight=np.ones_like(votes.weight))


@given(seed=st.integers(0, 1_000), share=st.floats(0.1, 0.9))
def test_both_sides_of_a_split_make_up_the_votes(seed: int, share: float) -> None:
    votes = simulate_crowd(200, 3, 3, ties=0.2, seed=seed).votes  # many repeated votes
    (split,) = make_splits(votes, 1, test_share=share, random_state=seed)
    train, test = keep(votes, split.train), keep(votes, split.test)
    assert train.n_votes + test.n_votes == votes.n_votes == 200
    assert test.n_votes == round(share * 200)
    assert train.total_weight == pytest.approx(train.n_votes)
    assert np.all(train.count > 0)
    assert np.all(test.count > 0)


def test_the_first_splits_do_not_depend_on_their_number(crowd: Votes) -> None:
    few, many = make_splits(crowd, 2), make_splits(crowd, 5)
    for a, b in zip(few, many, strict=False):
        np.testing.assert_array_equal(a.test, b.test)
    assert not np.array_equal(many[0].test, many[1].test)


def test_no_training_vote_touches_a_held_out_item(crowd: Votes) -> None:
    (split,) = make_splits(crowd, 1, over="items", test_share=0.25)
    training = forget_items_without_votes(keep(crowd, split.train))
    assert len(training.items) == 6
    held_out = set(crowd.items) - set(training.items)
    touched = [
        {left, right} & held_out
        for left, right in zip(crowd.items[crowd.left], crowd.items[crowd.right], strict=True)
    ]
    np.testing.assert_array_equal([bool(t) for t in touched], split.test > 0)


def test_forgetting_items_keeps_every_vote_on_its_items(crowd: Votes) -> None:
    (split,) = make_splits(crowd, 1, over="items", test_share=0.25)
    before = keep(crowd, split.train)
    after = forget_items_without_votes(before)
    np.testing.assert_array_equal(before.items[before.left], after.items[after.left])
    np.testing.assert_array_equal(before.items[before.right], after.items[after.right])


@pytest.mark.parametrize("key", list(CONTENDERS))
def test_nothing_of_what_is_held_out_leaks_into_the_prediction(key: str, distinct: Votes) -> None:
    (split,) = make_splits(distinct, 1)
    flipped = replace(distinct, choice=np.where(split.test > 0, -1.0, 1.0) * distinct.choice)
    seen, unseen = (
        CONTENDERS[key].predict(Task(votes, split)).margin for votes in (distinct, flipped)
    )
    np.testing.assert_allclose(seen, unseen, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("key", ["ranksvm", "multi-level-bradley-terry"])
def test_newcomers_are_predicted_from_their_features(key: str) -> None:
    features = np.random.default_rng(0).standard_normal((20, 3))
    votes = simulate_crowd(
        4_000, 10, 20, features=features, score_scale=4.0, deviants=0, clickers=0, seed=1
    ).votes
    found = compare_methods(votes, features=features, over="items", methods=[key], n_splits=2)
    assert found.summaries()[0].mean < 0.3


def test_annotators_with_tastes_of_their_own_are_predicted_better() -> None:
    votes = simulate_crowd(2_000, 10, 6, deviants=5, deviation_scale=4.0, seed=5).votes
    methods = ["multi-level-bradley-terry", "hodgerank", "bradley-terry"]
    best, *others = compare_methods(votes, methods=methods, n_splits=2).summaries()
    assert best.method == "multi-level bradley-terry"
    assert best.mean < others[0].mean - 0.05
    assert best.log_loss is not None


def test_ties_are_half_an_error_whatever_is_predicted() -> None:
    votes = Votes.from_arrays(["u"] * 40, ["a", "b"] * 20, ["b", "c"] * 20, [0] * 40)
    found = compare_methods(votes, methods=FAST, n_splits=2)
    assert found.least_mismatch == 0.5
    assert {summary.mean for summary in found.summaries()} == {0.5}


def test_an_outcome_is_that_of_the_baseline_itself(crowd: Votes) -> None:
    (split,) = make_splits(crowd, 1)
    found = judge(Rival("bradley-terry"), Task(crowd, split))
    training, asked = keep(crowd, split.train), keep(crowd, split.test)
    from prefpath.baselines import BradleyTerry

    rival = BradleyTerry().fit(training)
    wrong = (1 - rival.predict(asked) * np.sign(asked.choice)) / 2
    probability, won = rival.predict_proba(asked), (1 + asked.choice) / 2
    assert probability is not None
    cost = -won * np.log(probability) - (1 - won) * np.log1p(-probability)
    assert found.mismatch == pytest.approx(np.average(wrong, weights=asked.weight))
    assert found.log_loss == pytest.approx(np.average(cost, weights=asked.weight), rel=1e-6)


def test_processes_give_the_same_outcomes(crowd: Votes) -> None:
    serial = compare_methods(crowd, methods=FAST, n_splits=2)
    spread = compare_methods(crowd, methods=FAST, n_splits=2, n_jobs=2)
    assert [(o.method, o.split, o.mismatch) for o in serial.outcomes] == [
        (o.method, o.split, o.mismatch) for o in spread.outcomes
    ]


@dataclass(frozen=True)
class _WithoutLibrary:
    name: str = "LightGBM's"
    is_ours: bool = False

    def predict(self, task: Task) -> Prediction:
        raise MissingExtra("lightgbm", "baselines", "GBDT")


def test_a_method_that_cannot_run_is_named_and_the_others_go_on(
    crowd: Votes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CONTENDERS, "gbdt", _WithoutLibrary())
    found = compare_methods(crowd, methods=["gbdt", "borda"], n_splits=2)
    assert [summary.method for summary in found.summaries()] == ["Borda"]
    assert "pip install 'prefpath[baselines]'" in found.failures["LightGBM's"]


def test_summary() -> None:
    outcomes = [Outcome("m", k, error, None, 2.0) for k, error in enumerate((0.1, 0.2, 0.6))]
    summary = Summary.of(outcomes)
    assert (summary.min, summary.max, summary.seconds) == (0.1, 0.6, 2.0)
    assert summary.mean == pytest.approx(0.3)
    assert summary.std == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1))
    assert summary.standard_error == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1) / 3**0.5)
    assert summary.log_loss is None
    assert Summary.of(outcomes[:1]).std is None


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"over": "items"}, "items held out without features"),
        ({"methods": ["ranksvn"]}, "there is no method 'ranksvn'"),
        ({"n_splits": 0}, "n_splits is 0"),
        ({"test_share": 1.5}, "test_share is 1.5"),
    ],
)
def test_bad_settings(crowd: Votes, settings: dict[str, object], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        compare_methods(crowd, **settings)  # type: ignore[arg-type]


def test_a_split_with_an_empty_side() -> None:
    votes = Votes.from_arrays(["u"], ["a"], ["b"], [1])
    with pytest.raises(VoteError, match="leaves one side empty"):
        make_splits(votes, 1)


def test_the_figure_shows_range_mean_and_what_was_published() -> None:
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    outcomes = (Outcome("a", 0, 0.2, None, 1.0), Outcome("a", 1, 0.4, None, 1.0))
    summaries = Comparison(outcomes).summaries()
    ax = comparison(summaries, Figure().subplots(), published={"a": 0.25})
    line, mean, diamond = ax.lines
    assert list(line.get_xdata()) == [0.2, 0.4]
    assert list(mean.get_xdata()) == pytest.approx([0.3])
    assert list(diamond.get_xdata()) == [0.25]


def test_the_figure_in_a_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "figure.svg"
    save_comparison(file, [Summary.of([Outcome("some method", 0, 0.2, None, 1.0)])])
    assert "</svg>" in file.read_text()


def test_a_fold_is_not_copied(crowd: Votes) -> None:
    (split,) = make_splits(crowd, 1)
    assert isinstance(split, Fold)
    np.testing.assert_allclose(split.train + split.test, crowd.weight)
