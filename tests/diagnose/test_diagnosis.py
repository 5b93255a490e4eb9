"""The annotators' table: columns, order, frames, and votes that allow little."""

from __future__ import annotations

import numpy as np
import pytest

from prefpath import PreferenceModel, SettingError, VoteError, Votes, VoteWarning, simulate_crowd
from prefpath.diagnose import diagnose
from prefpath.diagnose.tastes import agreement_with, discordant_share
from prefpath.trust import trust_panel


@pytest.fixture(scope="module")
def crowd():
    return simulate_crowd(
        6_000, 60, 8, activity="even", deviants=3, clickers=3, labels="readable", seed=1
    )


@pytest.fixture(scope="module")
def model(crowd):
    return PreferenceModel(cv=0, n_times=12, t_ratio=8.0).fit(crowd.votes)


@pytest.fixture(scope="module")
def found(model):
    return diagnose(model)


def test_who_entered_first_comes_first(found):
    columns = found.columns()
    when = [
        min(np.inf if t is None else t for t in pair)
        for pair in zip(
            columns["deviation_entered"],
            columns["position_bias_entered"],
            columns["attention_entered"],
            strict=True,
        )
    ]
    assert when == sorted(when)


def test_planted_annotators_are_named(crowd, found):
    for label in crowd.deviants:
        about = found.of(label)
        assert about["deviates"] and about["kendall_distance"] > 0
        assert about["most_up"] in crowd.votes.items and about["most_down"] in crowd.votes.items
    for label in crowd.clickers:
        about = found.of(label)
        truth = crowd.position_bias[crowd.votes.annotator_code(label)]
        assert about["biased"] and np.sign(about["gamma"]) == np.sign(truth)
        standard_error = (about["gamma_high"] - about["gamma_low"]) / 3.92
        assert abs(about["gamma"] - truth) < 3 * standard_error


def test_unknown_is_none_and_nothing_is_nan(found):
    for name, values in found.columns().items():
        assert len(values) == 60, name
        for value in values:
            assert not (isinstance(value, float) and not np.isfinite(value)), name


def test_clicks_add_up(crowd, found):
    columns = found.columns()
    total = columns["left"] + columns["right"] + columns["ties"]
    np.testing.assert_array_equal(total, columns["votes"])


def test_agreement_is_the_share_of_votes_that_go_with_the_scores():
    votes = Votes.from_arrays(list("aaab"), list("xxyx"), list("yzzy"), [1, 1, -1, 0])
    share = agreement_with(votes, np.array([2.0, 1.0, 1.0]))
    assert share[0] == pytest.approx((1 + 1 + 0.5) / 3)
    assert np.isnan(share[1])


def test_discordant_share_of_opposite_rankings_is_1():
    up = np.arange(5.0)
    assert discordant_share(up, -up) == 1.0
    assert discordant_share(up, up) == 0.0
    assert discordant_share(np.zeros(1), np.zeros(1)) == 0.0


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_the_table_comes_in_the_users_library(model, library):
    object.__setattr__(model.votes_, "frame_library", library)
    frame = model.annotators()
    assert type(frame).__module__.startswith(library)
    assert frame.shape[0] == 60
    if library == "polars":
        assert frame["position_bias_entered"].null_count() > 0
        assert not frame["gamma"].is_nan().any()


def test_the_linear_loss_has_logits_too(crowd):
    model = PreferenceModel(loss="linear", cv=0, n_times=10, t_ratio=8.0).fit(crowd.votes)
    found = diagnose(model)
    for label in crowd.clickers:
        truth = crowd.position_bias[crowd.votes.annotator_code(label)]
        assert found.of(label)["gamma"] == pytest.approx(truth, abs=1.0)


def test_without_sides_nobody_leans():
    crowd = simulate_crowd(2_000, 20, 6, activity="even", clickers=0, deviants=2, seed=3)
    v = crowd.votes
    votes = Votes.from_arrays(
        v.annotators[v.annotator], v.items[v.left], v.items[v.right], v.choice, position_known=False
    )
    with pytest.warns(VoteWarning, match="unknown"):
        model = PreferenceModel(cv=0, n_times=8, t_ratio=5.0).fit(votes)
    columns = diagnose(model).columns()
    assert columns["gamma"] == [None] * 20
    assert not columns["biased"].any()


def test_one_annotator_gets_a_table_and_nobody_to_differ_from():
    votes = Votes.from_arrays(["a"] * 8, list("xyxyxyxy"), list("yxyxyxyx"), [1] * 8)
    with pytest.warns(VoteWarning, match="one annotator"):
        model = PreferenceModel(cv=0, n_times=5, t_ratio=3.0).fit(votes)
    about = diagnose(model).of("a")
    assert about["reason"] == "there is nobody to differ from"


@pytest.mark.parametrize("crowded", [False, True])
def test_whom_nobody_else_can_be_compared_with_does_not_go_with_the_crowd(crowded):
    """Prompts of one annotator each: their own votes are all that their items' scores rest on."""
    rng = np.random.default_rng(0)
    prompt, n = np.repeat(np.arange(240), 6), 240 * 6
    first, second = (np.tile(k, 240) for k in np.triu_indices(4, 1))
    score = rng.normal(0, 1.5, (240, 4))
    gap = score[prompt, first] - score[prompt, second]
    left, right = (np.char.add(prompt.astype(str), np.char.mod("-%d", k)) for k in (first, second))
    choice = np.where(rng.random(n) < 1 / (1 + np.exp(-gap)), 1, -1)
    votes = Votes.from_arrays(prompt % (60 if crowded else 12), left, right, choice)
    with pytest.warns(VoteWarning, match="groups"):
        model = PreferenceModel(cv=0, n_times=3, t_ratio=1.5).fit(votes)
    assert set(model.annotator_columns()["verdict"]) == {"inconclusive"}
    assert trust_panel(votes)["many voices"].finding == "no two annotators judged the same item"


def test_bad_questions_are_answered_clearly(model, found):
    with pytest.raises(SettingError, match="q is 2"):
        model.annotators(q=2)
    with pytest.raises(VoteError, match="no annotator 'nobody'"):
        found.of("nobody")


def test_the_first_rows_are_those_of_the_whole_table(found):
    whole, first = found.columns(), found.columns(7)
    for name, values in whole.items():
        assert list(first[name]) == list(values[:7]), name


def test_someone_whose_lean_explains_every_vote_neither_follows_nor_opposes():
    """One comparison over and over: a lean fits it, and the common scores explain nothing more."""
    crowd = simulate_crowd(2_000, 20, 6, activity="even", deviants=0, clickers=0, seed=3).votes
    names, items = crowd.annotators[crowd.annotator], crowd.items
    votes = Votes.from_arrays(
        [*names, *["one pair"] * 9],
        [*items[crowd.left], *[items[0]] * 9],
        [*items[crowd.right], *[items[1]] * 9],
        [*crowd.choice, *[1, 1, 1, 1, 1, 1, 1, -1, -1]],
    )
    found = diagnose(PreferenceModel(cv=0, n_times=5, t_ratio=3.0).fit(votes))
    assert found.of("one pair")["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("left", "left"),
        ("right", "right"),
        ("agreement", "agreement"),
        ("decisive", "votes"),
        ("entered_deviation", "deviation_entered"),
        ("entered_bias", "position_bias_entered"),
    ],
)
def test_attributes_of_0_1_0_warn_and_have_the_values_of_the_table(found, name, column):
    with pytest.warns(DeprecationWarning, match=rf"Diagnosis\.{name} is .* since 0\.2"):
        values = getattr(found, name)[found.order]
    shown = [np.inf if value is None else value for value in found.columns()[column]]
    np.testing.assert_array_equal(values, shown)  # a crowd without ties: all votes are decisive


def test_first_if_equal_and_one_order_of_0_1_0_warn(found):
    with pytest.warns(DeprecationWarning, match="measures.first, .first_low and .first_high"):
        first = found.first_if_equal
    columns, order = found.columns(), found.order
    np.testing.assert_array_equal(first.estimate[order], columns["first_if_equal"])
    np.testing.assert_array_equal(first.low[order], columns["first_if_equal_low"])
    np.testing.assert_array_equal(first.high[order], columns["first_if_equal_high"])
    with pytest.warns(DeprecationWarning, match="measures.one_order"):
        assert not found.one_order.any()


def test_the_ranking_of_those_who_follow_is_the_majoritys():
    """A third share the contrary taste; without them the common ranking is the others'."""
    rng = np.random.default_rng(5)
    scores = np.array([1.5, 0.8, 0.0, -0.8, -1.5])
    who = np.repeat(np.arange(30), 120)
    left = rng.integers(0, 5, len(who))
    right = (left + rng.integers(1, 5, len(who))) % 5
    apart = np.where(who < 9, -0.8, 1.0) * (scores[left] - scores[right])
    choice = np.where(rng.random(len(who)) < 1 / (1 + np.exp(-apart)), 1, -1)
    model = PreferenceModel(cv=0, n_times=4, t_ratio=2.0).fit(
        Votes.from_arrays(who, left, right, choice)
    )
    followers = diagnose(model).followers
    assert 19 <= followers.n_annotators <= 21
    assert set(followers.annotators.astype(int)) <= set(range(9, 30))
    assert followers.n_votes == 120 * followers.n_annotators
    alone = PreferenceModel(cv=0, n_times=4, t_ratio=2.0).fit(followers)
    low, high = alone.common_scores().about_average().interval(0.95)
    truth = scores[followers.items.astype(int)]
    assert np.mean((low <= truth) & (truth <= high)) >= 0.8
