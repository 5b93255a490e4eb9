"""What every baseline owes: one suite for all of them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kendalltau

from prefpath import Votes
from prefpath.baselines import BASELINES, Baseline, make_baseline
from prefpath.errors import PrefpathError, SettingError, VoteError

# One setting each, so that an equivalence is not blurred by what the folds chose.
FIXED: dict[str, dict[str, Any]] = {
    "ranksvm": {"C": 0.1},
    "rankboost": {"rounds": 100},
    "ranknet": {"decay": 1e-3, "epochs": 150},
    "gbdt": {"n_leaves": 8, "rounds": 40},
    "dart": {"n_leaves": 8, "rounds": 40},
    "urlr": {"share": 0.1},
    "rank-centrality": {"smoothing": 1.0},
    "elo": {"K": 16.0},
    "crowdbt": {"virtual": 0.3},
    "ridge": {"score": 0.01, "taste": 30.0, "lean": 10.0},
    "ridge-slopes": {"score": 0.01, "taste": 30.0, "lean": 10.0, "slope": 10.0},
    "l1": {"score": 0.01, "penalty": 5.0},
    "bt-sigma": {"score": 0.01, "discrimination": 10.0},
    "heterogeneous-judges": {"score": 0.01, "taste": 30.0, "sensitivity": 10.0},
}
# The order of the rows (Elo's games) or of the items (RankNet's initial weights) is part of
# what is random in these: another order is another seed.
DEPENDS_ON_ORDER = {"elo", "ranknet"}
# They know left from right: votes on swapped sides are other votes.
LEANS = {"ridge", "ridge-slopes", "l1"}

every_baseline = pytest.mark.parametrize("name", list(BASELINES))


def fixed(name: str, **more: Any) -> Baseline:
    return make_baseline(name, **FIXED.get(name, {}), **more)


@pytest.fixture(scope="module")
def tuned(votes: Votes) -> Callable[[str], Baseline]:
    """The baseline as users have it, its setting chosen by its folds; once for all that look."""
    return functools.cache(lambda name: make_baseline(name).fit(votes))


def assert_same_scores(name: str, found: np.ndarray, expected: np.ndarray) -> None:
    if name in DEPENDS_ON_ORDER:
        assert np.corrcoef(found, expected)[0, 1] > 0.995
    else:
        assert_allclose(found, expected, atol=1e-4 * np.ptp(expected))


@every_baseline
def test_recovers_a_planted_ranking(
    name: str, votes: Votes, true_scores: np.ndarray, tuned: Callable[[str], Baseline]
) -> None:
    scores = tuned(name).scores()
    assert scores.shape == (votes.n_items,)
    assert scores.dtype == np.float64
    assert kendalltau(scores, true_scores).statistic > 0.9


@every_baseline
def test_same_seed_same_scores(name: str, votes: Votes, tuned: Callable[[str], Baseline]) -> None:
    first = tuned(name)
    second = make_baseline(name).fit(votes)
    assert_array_equal(first.scores(), second.scores())
    assert first.setting == second.setting


@every_baseline
def test_global_random_state_is_neither_read_nor_written(name: str, votes: Votes) -> None:
    np.random.seed(1)  # noqa: NPY002 -- the legacy generator is what is being guarded
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = fixed(name).fit(votes).scores()
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert_array_equal(fixed(name).fit(votes).scores(), first)


@every_baseline
def test_parameters_are_frozen_and_fit_leaves_them_alone(
    name: str, votes: Votes, tuned: Callable[[str], Baseline]
) -> None:
    baseline = fixed(name)
    assert baseline.fit(votes) is baseline
    assert baseline == fixed(name)
    assert tuned(name) == make_baseline(name)
    with pytest.raises(FrozenInstanceError):
        baseline.n_folds = 3  # type: ignore[misc]
    unfitted = dataclasses.replace(baseline)
    with pytest.raises(PrefpathError, match="not fitted"):
        unfitted.scores()


@every_baseline
def test_weight_two_is_the_row_twice(name: str, votes: Votes) -> None:
    chosen = np.arange(votes.n_rows) % 3 == 0
    weight = np.where(chosen, 2.0, 1.0) * votes.weight
    twice = np.concatenate([np.arange(votes.n_rows), np.flatnonzero(chosen)])
    rows = np.repeat(twice, votes.count[twice])
    repeated = Votes.from_codes(
        votes.annotator[rows],
        votes.left[rows],
        votes.right[rows],
        votes.choice[rows],
        annotators=votes.annotators,
        items=votes.items,
    )
    weighted = make_baseline(name, n_folds=2).fit(votes, weight=weight)
    plain = make_baseline(name, n_folds=2).fit(repeated)
    assert_allclose(weighted.scores(), plain.scores(), atol=1e-9)
    assert weighted.setting == plain.setting


@every_baseline
def test_weight_zero_is_the_row_absent(name: str, votes: Votes) -> None:
    kept = np.random.default_rng(0).random(votes.n_rows) < 0.7
    masked = make_baseline(name, n_folds=2).fit(votes, weight=votes.weight * kept)
    taken = make_baseline(name, n_folds=2).fit(votes.take(kept))
    assert_allclose(masked.scores(), taken.scores(), atol=1e-9)


@every_baseline
def test_renaming_items_permutes_scores(name: str, votes: Votes) -> None:
    new_code = np.random.default_rng(5).permutation(votes.n_items).astype(np.int32)
    rows = np.repeat(np.arange(votes.n_rows), votes.count)
    renamed = Votes.from_codes(
        votes.annotator[rows],
        new_code[votes.left[rows]],
        new_code[votes.right[rows]],
        votes.choice[rows],
        annotators=votes.annotators,
        items=votes.items,
    )
    original = fixed(name).fit(votes).scores()
    assert_same_scores(name, fixed(name).fit(renamed).scores()[new_code], original)


@every_baseline
def test_swapping_sides_changes_nothing(name: str, votes: Votes) -> None:
    rows = np.repeat(np.arange(votes.n_rows), votes.count)
    swap = np.random.default_rng(6).random(len(rows)) < 0.5
    swapped = Votes.from_codes(
        votes.annotator[rows],
        np.where(swap, votes.right[rows], votes.left[rows]),
        np.where(swap, votes.left[rows], votes.right[rows]),
        np.where(swap, -1.0, 1.0) * votes.choice[rows],
        annotators=votes.annotators,
        items=votes.items,
    )
    original = fixed(name).fit(votes).scores()
    found = fixed(name).fit(swapped).scores()
    if name in LEANS:
        assert np.corrcoef(found, original)[0, 1] > 0.995
    else:
        assert_same_scores(name, found, original)


@every_baseline
def test_mirrored_votes_turn_the_ranking_round(name: str, votes: Votes) -> None:
    mirrored = dataclasses.replace(votes, choice=-votes.choice)
    baseline = fixed(name)
    upright = baseline.fit(votes).margin(votes)
    turned = fixed(name).fit(mirrored).margin(votes)
    if name == "rank-centrality":  # a walk to winners is not the walk to losers played backwards
        assert np.corrcoef(turned, upright)[0, 1] < -0.98
    else:
        assert_same_scores(name, turned, -upright)


@every_baseline
def test_only_some_tell_annotators_apart(name: str, votes: Votes) -> None:
    rows = np.repeat(np.arange(votes.n_rows), votes.count)
    who = np.random.default_rng(8).integers(3, size=len(rows)).astype(np.int32)
    reassigned = Votes.from_codes(
        who,
        votes.left[rows],
        votes.right[rows],
        votes.choice[rows],
        annotators=np.array(["x", "y", "z"]),
        items=votes.items,
    )
    found = fixed(name).fit(reassigned).scores()
    original = fixed(name).fit(votes).scores()
    if BASELINES[name].uses_annotators:
        assert np.abs(found - original).max() > 1e-3
    else:
        assert_same_scores(name, found, original)


@every_baseline
def test_predictions_agree_with_scores(name: str, votes: Votes) -> None:
    baseline = fixed(name).fit(votes)
    scores, margin = baseline.scores(), baseline.margin(votes)
    assert_array_equal(baseline.predict(votes), np.sign(margin))
    if baseline.personal:  # a taste or a lean of one's own may decide
        assert np.corrcoef(margin, scores[votes.left] - scores[votes.right])[0, 1] > 0.9
        return
    # The planted annotators are reliable, so that CrowdBT's signs are those of the scores too.
    assert_array_equal(np.sign(margin), np.sign(scores[votes.left] - scores[votes.right]))


@every_baseline
def test_probabilities_where_there_is_a_model(name: str, votes: Votes) -> None:
    baseline = fixed(name).fit(votes)
    probability = baseline.predict_proba(votes)
    if not baseline.probabilistic:
        assert probability is None
        return
    assert probability is not None
    assert ((probability > 0) & (probability < 1)).all()
    decided = votes.choice != 0
    # Better than a coin on its own votes: mean log loss below log 2.
    won = votes.choice[decided] > 0
    likelihood = np.where(won, probability[decided], 1 - probability[decided])
    assert -np.average(np.log(likelihood), weights=votes.weight[decided]) < np.log(2)


@every_baseline
def test_items_are_matched_by_label(name: str, votes: Votes) -> None:
    baseline = fixed(name).fit(votes)
    part = votes.take(np.arange(votes.n_rows) < 40)
    recoded = Votes.from_arrays(
        part.annotators[part.annotator],
        part.items[part.left],
        part.items[part.right],
        part.choice,
        items=part.items[::-1],
    )
    by_pair = {
        (recoded.items[i], recoded.items[j], recoded.annotators[u]): margin
        for i, j, u, margin in zip(
            recoded.left, recoded.right, recoded.annotator, baseline.margin(recoded), strict=True
        )
    }
    expected = {
        (part.items[i], part.items[j], part.annotators[u]): margin
        for i, j, u, margin in zip(
            part.left, part.right, part.annotator, baseline.margin(part), strict=True
        )
    }
    assert by_pair == expected


@every_baseline
def test_an_unknown_item_is_an_error_with_its_name(name: str, votes: Votes) -> None:
    baseline = fixed(name).fit(votes)
    stranger = Votes.from_arrays(["u0"], ["item 01"], ["nobody's"], [1])
    with pytest.raises(VoteError, match="nobody's"):
        baseline.margin(stranger)
    numbers = Votes.from_arrays(["u0"], [1], [2], [1])
    with pytest.raises(VoteError, match="not fitted"):
        baseline.margin(numbers)


@every_baseline
def test_features_score_items_nobody_compared(name: str, planted_votes: Any) -> None:
    rng = np.random.default_rng(11)
    features = rng.normal(size=(40, 3))
    truth = features @ np.array([1.5, -1.0, 0.0])
    votes = planted_votes(truth, n_votes=4000, seed=2)
    newcomer = np.arange(40) >= 30
    unseen = newcomer[votes.left] | newcomer[votes.right]
    baseline = make_baseline(name).fit(votes, features, weight=votes.weight * ~unseen)
    scores = baseline.scores()
    assert scores.shape == (40,)
    if baseline.uses_features:
        assert kendalltau(scores[newcomer], truth[newcomer]).statistic > 0.5
    else:
        assert np.ptp(scores[newcomer]) == 0
        assert_array_equal(scores, dataclasses.replace(baseline).fit(votes.take(~unseen)).scores())


@every_baseline
def test_nothing_but_ties_decides_nothing(name: str) -> None:
    votes = Votes.from_arrays(["u"] * 6, list("aabbcc"), list("bcacab"), [0] * 6)
    baseline = make_baseline(name).fit(votes)
    assert_allclose(baseline.margin(votes), 0, atol=1e-6)


@every_baseline
def test_one_vote_is_enough(name: str) -> None:
    votes = Votes.from_arrays(["u"], ["a"], ["b"], ["right"])
    baseline = make_baseline(name).fit(votes)
    assert baseline.predict(votes).tolist() == [-1]


@every_baseline
def test_unbeaten_items_and_separate_groups_stay_finite(name: str) -> None:
    left, right = list("aaab") + list("xx"), list("bbcc") + list("yy")
    votes = Votes.from_arrays(["u"] * 6, left, right, [1] * 6, items=list("abcxyz"))
    assert np.isfinite(make_baseline(name).fit(votes).scores()).all()
    scores = fixed(name).fit(votes).scores()
    a, b, c, x, y, _ = scores
    assert a > b > c
    assert x > y


@every_baseline
def test_strengths_count_by_their_sign_at_least(name: str, votes: Votes) -> None:
    graded = dataclasses.replace(votes, choice=votes.choice * 0.5)
    found, original = fixed(name).fit(graded).scores(), fixed(name).fit(votes).scores()
    linear = name in ("hodgerank", "urlr")
    assert_allclose(found, original * 0.5 if linear else original, atol=1e-5)


@every_baseline
@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((9, 2)), r"shape \(9, 2\)"),
        (np.ones(10), r"shape \(10,\)"),
        (np.full((10, 1), np.nan), "not a number"),
    ],
)
def test_bad_features_are_refused(
    name: str, votes: Votes, features: np.ndarray, message: str
) -> None:
    with pytest.raises(VoteError, match=message):
        fixed(name).fit(votes, features)


@every_baseline
def test_constant_features_decide_nothing(name: str, votes: Votes) -> None:
    baseline = fixed(name).fit(votes, np.ones((votes.n_items, 2)))
    if baseline.uses_features:
        assert_allclose(baseline.scores(), 0, atol=1e-9)


@every_baseline
def test_bad_weights_are_refused(name: str, votes: Votes) -> None:
    with pytest.raises(VoteError, match="weight has shape"):
        fixed(name).fit(votes, weight=np.ones(3))
    with pytest.raises(VoteError, match="every vote has weight 0"):
        fixed(name).fit(votes, weight=np.zeros(votes.n_rows))


def test_unknown_names_and_settings_are_refused() -> None:
    with pytest.raises(SettingError, match="ranksvm, rankboost"):
        make_baseline("rank-svn")
    with pytest.raises(TypeError, match="gamma"):
        make_baseline("ranksvm", gamma=1.0)
    with pytest.raises(SettingError, match="n_folds"):
        make_baseline("elo", n_folds=1)
    with pytest.raises(SettingError, match="folds"):
        make_baseline("elo", folds="users")
    with pytest.raises(SettingError, match="K is"):
        make_baseline("elo", K=())
