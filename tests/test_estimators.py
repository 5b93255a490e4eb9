"""PreferenceModel: scikit-learn's manners, frames of three libraries, and awkward crowds."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from prefpath import (
    ItemFeatures,
    PreferenceModel,
    SettingError,
    VoteError,
    Votes,
    VoteWarning,
    fit_path,
)
from prefpath.model.losses import as_loss
from prefpath.predict import Comparisons, path_margins
from prefpath.selection.criteria import mismatch_ratio
from prefpath.simulate import simulate_crowd
from strategies import random_features, random_votes, vote_columns

LIBRARIES = ("pandas", "polars", "pyarrow")
PEOPLE = np.array(["ann", "bob", "cem", "dee", "eve"])
THINGS = np.array(["kiwi", "lime", "mango", "nut"])


def make_frame(library: str, columns: dict[str, Any]) -> Any:
    module = importlib.import_module(library)
    return module.table(columns) if library == "pyarrow" else module.DataFrame(columns)


def named_columns(seed: int = 3, n_votes: int = 400) -> dict[str, Any]:
    columns = vote_columns(seed, n_votes=n_votes, ties=0.05, weights=False, position_known=1.0)
    return {
        "annotator": PEOPLE[columns["annotator"]],
        "left": THINGS[columns["left"]],
        "right": THINGS[columns["right"]],
        "choice": columns["choice"],
    }


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    return named_columns()


@pytest.fixture(scope="module")
def fitted(columns) -> PreferenceModel:
    return PreferenceModel(cv=3).fit(Votes.from_arrays(**columns))


@pytest.fixture(scope="module")
def without_weak(columns) -> PreferenceModel:
    return PreferenceModel(cv=3, weak=False).fit(Votes.from_arrays(**columns))


class TestManners:
    def test_parameters_go_in_and_come_out(self):
        model = PreferenceModel(loss="linear", cv=3, kappa=10.0)
        settings = model.get_params()
        assert settings["loss"] == "linear"
        assert settings["kappa"] == 10.0
        again = clone(model)
        assert again.get_params() == settings
        assert again.set_params(cv=0, rule="one-standard-error").cv == 0
        with pytest.raises(ValueError, match="Invalid parameter"):
            model.set_params(speed=9)

    def test_fit_leaves_the_parameters_alone(self, columns):
        phi = random_features(0, 4)
        model = PreferenceModel(cv=2, features=phi, n_times=10, t_ratio=10.0)
        before = {name: id(value) for name, value in model.get_params().items()}
        model.fit(Votes.from_arrays(**columns))
        assert {name: id(value) for name, value in model.get_params().items()} == before
        assert model.n_features_in_ == 2
        clone(model)

    def test_refit_forgets_the_features(self, columns):
        votes = Votes.from_arrays(**columns)
        model = PreferenceModel(cv=0, features=random_features(0, 4), n_times=5, t_ratio=5.0)
        model.fit(votes)
        model.set_params(features=None).fit(votes)
        assert not hasattr(model, "n_features_in_")

    def test_nothing_is_said_before_fit(self, columns):
        votes = Votes.from_arrays(**columns)
        model = PreferenceModel()
        for ask in (model.predict, model.predict_proba, model.score, model.decision_function):
            with pytest.raises(NotFittedError):
                ask(votes)
        for tell in (model.ranking, model.annotators):
            with pytest.raises(NotFittedError):
                tell()

    def test_seeds_decide_the_folds(self, columns):
        votes = Votes.from_arrays(**columns)
        one, same, other = (
            PreferenceModel(cv=3, random_state=seed, n_times=10).fit(votes).cv_.errors
            for seed in (0, 0, 1)
        )
        np.testing.assert_array_equal(one, same)
        assert one.shape != other.shape or not np.array_equal(one, other)

    def test_cross_val_score_of_scikit_learn(self, columns):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(columns)
        scores = cross_val_score(
            PreferenceModel(cv=0, t_ratio=20.0, n_times=10),
            frame.drop(columns="choice"),
            frame["choice"],
            cv=3,
            error_score="raise",
        )
        assert scores.shape == (3,)
        assert np.all((scores > 0.5) & (scores < 1.0))

    # Its manners are its own (prefpath/manners.py): to inherit would cost two seconds of import.
    @pytest.mark.filterwarnings("ignore:Estimator PreferenceModel does not inherit")
    def test_checks_of_scikit_learn(self):
        """`check_estimator`'s checks that need no numeric matrix X.

        A vote is a triple of labels, so X is a table of annotators and items, not of numbers;
        every check that fits random matrices does not apply, and only those are left out.
        """
        passed = set()
        for model, check in estimator_checks_generator(PreferenceModel(cv=0)):
            name = check.func.__name__
            if name in APPLICABLE:
                check(model)
                passed.add(name)
        assert passed == APPLICABLE


APPLICABLE = {
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
}


class TestInputs:
    @pytest.mark.parametrize("library", LIBRARIES)
    def test_three_ways_in_are_one_and_results_come_back_in_the_users_library(
        self, library, columns, fitted
    ):
        frame = make_frame(library, columns)
        without = make_frame(library, {k: v for k, v in columns.items() if k != "choice"})
        by_frame = PreferenceModel(cv=3).fit(frame)
        by_y = PreferenceModel(cv=3).fit(without, columns["choice"])
        for model in (by_frame, by_y):
            assert model.t_ == fitted.t_
            np.testing.assert_array_equal(model.path_.common, fitted.path_.common)
            for table in (model.ranking(), model.annotators()):
                assert type(table).__module__.split(".")[0] == library
        np.testing.assert_array_equal(
            by_frame.decision_function(without), fitted.decision_function(without)
        )
        assert by_y.score(without, columns["choice"]) == pytest.approx(by_frame.score(frame))

    def test_words_for_choices(self, columns, fitted):
        pandas = pytest.importorskip("pandas")
        words = np.array(["right", "tie", "left"])[columns["choice"].astype(int) + 1]
        frame = pandas.DataFrame(columns).drop(columns="choice")
        model = PreferenceModel(cv=3).fit(frame, words)
        np.testing.assert_array_equal(model.path_.common, fitted.path_.common)
        assert model.score(frame, words) == fitted.score(frame, columns["choice"])

    def test_weights_with_y(self, columns):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(columns).drop(columns="choice")
        weight = np.random.default_rng(0).integers(1, 3, len(frame))
        twice = np.repeat(np.arange(len(frame)), weight)
        how = {"cv": 0, "n_times": 5, "t_ratio": 5.0}
        with pytest.warns(VoteWarning, match="a weight of 2 counts as two votes"):
            weighed = PreferenceModel(**how).fit(frame, columns["choice"], weight.astype(float))
        repeated = PreferenceModel(**how).fit(frame.iloc[twice], columns["choice"][twice])
        np.testing.assert_allclose(weighed.path_.common, repeated.path_.common, rtol=1e-9)

    def test_weights_beside_votes_are_refused_not_ignored(self, columns):
        votes = Votes.from_arrays(**columns)
        with pytest.raises(SettingError, match="sample_weight"):
            PreferenceModel(cv=0).fit(votes, sample_weight=np.ones(votes.n_rows))

    def test_missing_columns_are_named(self, columns, fitted):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(columns)
        with pytest.raises(VoteError, match="no column 'annotator'"):
            PreferenceModel().fit(frame[["left", "right"]], frame["choice"])
        with pytest.raises(VoteError, match="no column 'right'"):
            fitted.predict(frame[["annotator", "left"]])

    def test_a_matrix_of_numbers_is_no_table_of_votes(self, fitted):
        with pytest.raises(VoteError, match="data frame"):
            PreferenceModel().fit(np.zeros((5, 3)), np.ones(5))
        with pytest.raises(VoteError, match="data frame"):
            fitted.predict(np.zeros((5, 3)))

    def test_groups_of_people_vote_as_one(self, columns):
        pandas = pytest.importorskip("pandas")
        job = {"ann": "cook", "bob": "cook", "cem": "baker", "dee": "baker", "eve": "clerk"}
        frame = pandas.DataFrame(columns)
        frame["occupation"] = frame["annotator"].map(job)
        model = PreferenceModel(group="occupation", cv=0, t_ratio=100.0).fit(frame)
        assert sorted(model.votes_.annotators) == ["baker", "clerk", "cook"]
        direct = PreferenceModel(cv=0, t_ratio=100.0).fit(
            frame.drop(columns="annotator").rename(columns={"occupation": "annotator"})
        )
        np.testing.assert_array_equal(model.path_.common, direct.path_.common)
        # who deviates is known by occupation: so must the questions be
        np.testing.assert_array_equal(
            model.decision_function(frame), model.decision_function(model_rows(frame))
        )
        assert np.ptp(model.path_.position_bias(model.t_)) > 0
        with_y = PreferenceModel(group="occupation", cv=0, t_ratio=100.0).fit(
            frame.drop(columns="choice"), frame["choice"]
        )
        np.testing.assert_array_equal(with_y.path_.common, model.path_.common)


def model_rows(frame: Any) -> Votes:
    """The rows of a frame as votes of occupations, none merged and none moved."""
    return UnmergedVotes(frame)


class UnmergedVotes(Votes):
    """Votes whose rows are those of a frame, one by one."""

    def __init__(self, frame: Any) -> None:
        whose, who = np.unique(frame["occupation"], return_inverse=True)
        what, pair = np.unique(np.append(frame["left"], frame["right"]), return_inverse=True)
        order = np.arange(len(frame))
        object.__setattr__(self, "annotators", whose.astype(str))
        object.__setattr__(self, "items", what.astype(str))
        object.__setattr__(self, "left", pair[: len(order)])
        object.__setattr__(self, "right", pair[len(order) :])
        object.__setattr__(self, "position_known", np.ones(len(order), dtype=bool))
        object.__setattr__(self, "_who", who)

    @property
    def annotator(self) -> Any:
        return self._who


class TestPredictions:
    def test_margins_are_common_plus_personal_plus_positional(self, without_weak):
        fitted = without_weak
        votes, path, t = fitted.votes_, fitted.path_, fitted.t_
        own = {u: path.personal_scores(u, t) for u in votes.annotators}
        bias = dict(zip(votes.annotators, path.position_bias(t), strict=True))
        expected = [
            own[u][i] - own[u][j] + bias[u]
            for u, i, j in zip(
                votes.annotators[votes.annotator], votes.left, votes.right, strict=True
            )
        ]
        np.testing.assert_allclose(fitted.decision_function(votes), expected, atol=1e-12)
        asked = Comparisons.of(votes, np.arange(votes.n_rows))
        np.testing.assert_allclose(path_margins(path, asked, t), expected, atol=1e-12)

    def test_predict_is_the_sign_and_probabilities_follow_the_loss(self, fitted):
        votes = fitted.votes_
        margin = fitted.decision_function(votes)
        np.testing.assert_array_equal(fitted.predict(votes), np.sign(margin))
        p = fitted.predict_proba(votes)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_allclose(p[:, 1], as_loss("bradley-terry").probability(margin))
        assert fitted.classes_.tolist() == [-1, 1]

    def test_score_is_one_minus_the_mismatch(self, fitted):
        votes = fitted.votes_
        margin = fitted.decision_function(votes)
        expected = 1.0 - mismatch_ratio(margin, votes.choice, votes.weight)
        assert fitted.score(votes) == expected
        flat = np.ones(votes.n_rows)
        assert fitted.score(votes, sample_weight=flat) == pytest.approx(
            1.0 - mismatch_ratio(margin, votes.choice, flat)
        )

    def test_what_is_no_choice_or_weight_of_each_row_is_refused(self, columns, fitted):
        pandas = pytest.importorskip("pandas")
        frame, choice = pandas.DataFrame(columns).drop(columns="choice"), columns["choice"]
        one = np.ones(len(frame))
        assert fitted.score(frame, choice, 2.0 * one) == fitted.score(frame, choice, one)
        for y in (choice[:1], choice[:, np.newaxis]):
            with pytest.raises(VoteError, match="y has shape"):
                fitted.score(frame, y)
        for weight in (one[:1], -one, np.where(one > 0, np.nan, one)):
            with pytest.raises(VoteError, match="weight"):
                fitted.score(frame, choice, weight)

    def test_ids_that_are_numbers_on_one_side_and_text_on_the_other_are_the_same(self):
        pandas = pytest.importorskip("pandas")
        crowd = simulate_crowd(1_500, 15, 5, clickers=3, activity="even", seed=0).votes
        ids = crowd.annotator + 1, crowd.left + 1, crowd.right + 1
        numbers = pandas.DataFrame(dict(zip(("annotator", "left", "right"), ids, strict=True)))
        texts = numbers.astype(str)
        how = {"cv": 0, "t_ratio": 200.0}
        by_number = PreferenceModel(**how).fit(numbers, crowd.choice)
        by_text = PreferenceModel(**how).fit(texts, crowd.choice)
        expected = by_number.decision_function(numbers)
        assert not np.allclose(
            expected, by_number.decision_function(numbers.drop(columns="annotator"))
        )
        np.testing.assert_array_equal(by_number.decision_function(texts), expected)
        np.testing.assert_array_equal(
            by_text.decision_function(numbers), by_text.decision_function(texts)
        )
        strangers = np.array([None, "None", "01", "1.0", 1.5, True], dtype=object)
        nobody = texts.assign(annotator=np.resize(strangers, len(texts)))
        np.testing.assert_array_equal(
            by_text.decision_function(nobody), by_text.decision_function(texts[["left", "right"]])
        )

    def test_a_stranger_gets_the_common_score(self, without_weak):
        fitted = without_weak
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"left": THINGS[:2], "right": THINGS[2:]})
        scores = fitted.path_.scores(fitted.t_)
        common = [scores[0] - scores[2], scores[1] - scores[3]]
        np.testing.assert_allclose(fitted.decision_function(frame), common)
        for stranger in ("zoe", None, np.nan):
            asked = frame.assign(annotator=[stranger] * 2)
            np.testing.assert_allclose(fitted.decision_function(asked), common)

    def test_an_item_nobody_knows_is_named(self, fitted):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"left": ["kiwi", "kiwi"], "right": ["lime", "plum"]})
        with pytest.raises(VoteError, match="'plum' is not in the fitted votes") as error:
            fitted.predict(frame)
        assert error.value.rows == (2,)

    def test_new_items_are_predicted_from_their_features(self, columns):
        pandas = pytest.importorskip("pandas")
        phi = np.vstack((random_features(0, 4), [[0.3, -0.7]]))
        table = ItemFeatures(np.append(THINGS, "plum"), ("x", "y"), phi)
        votes = Votes.from_arrays(**columns)
        model = PreferenceModel(features=table, cv=0, t_ratio=50.0).fit(votes)
        asked = pandas.DataFrame(
            {"annotator": ["ann", "zoe"], "left": ["plum", "kiwi"], "right": ["kiwi", "plum"]}
        )
        path, t = model.path_, model.t_
        gap = phi[4] - phi[0]
        common = model.coefficients()["coefficient"]
        own = model.coefficients("ann")["coefficient"] - common
        bias = path.position_bias(t)[votes.annotator_code("ann")]
        expected = [gap @ (common + own) + bias, -gap @ common]
        np.testing.assert_allclose(model.decision_function(asked), expected, atol=1e-12)
        assert np.abs(own).max() > 0
        with pytest.raises(VoteError, match="'pear'"):
            model.predict(asked.assign(left="pear"))

    @pytest.mark.parametrize("library", LIBRARIES)
    def test_features_may_come_as_a_frame(self, library, columns):
        phi = random_features(0, 4)
        order = [2, 0, 3, 1]
        frame = make_frame(library, {"item": THINGS[order], "x": phi[order, 0], "y": phi[order, 1]})
        votes = Votes.from_arrays(**columns)
        how = {"cv": 0, "n_times": 5, "t_ratio": 5.0}
        by_frame = PreferenceModel(features=frame, **how).fit(votes)
        by_array = PreferenceModel(features=phi, **how).fit(votes)
        np.testing.assert_allclose(by_frame.path_.common, by_array.path_.common)
        assert by_frame.features_.names == ("x", "y")


class TestChoiceOfTime:
    def test_the_time_is_the_one_cross_validation_picks(self, columns):
        votes = Votes.from_arrays(**columns)
        best = PreferenceModel(cv=4).fit(votes)
        careful = PreferenceModel(cv=4, rule="one-standard-error").fit(votes)
        assert best.t_ == best.cv_.t_cv
        assert careful.t_ == careful.cv_.t_one_standard_error <= best.t_

    def test_without_folds_the_path_ends_where_it_ends(self, columns):
        model = PreferenceModel(cv=0, t_ratio=7.0).fit(Votes.from_arrays(**columns))
        assert model.cv_ is None
        assert model.t_ == model.path_.times[-1] == pytest.approx(7.0 * model.path_.times[0])

    def test_stop_at_moves_everything(self, columns):
        model = PreferenceModel(cv=0).fit(Votes.from_arrays(**columns))
        early = model.path_.times[0]
        late = model.decision_function(model.votes_)
        model.stop_at(early)
        assert model.t_ == early
        assert not np.allclose(model.decision_function(model.votes_), late)
        for t in (0.0, -1.0, np.nan):
            with pytest.raises(SettingError, match="above 0"):
                model.stop_at(t)

    def test_the_same_path_as_fit_path(self, columns):
        votes = Votes.from_arrays(**columns)
        how = {"loss": "linear", "t_ratio": 10.0, "n_times": 9}
        for balance in (False, True):
            model = PreferenceModel(cv=0, balance=balance, **how).fit(votes)
            path = fit_path(votes, balance=balance, **how)
            np.testing.assert_array_equal(model.path_.common, path.common)

    def test_the_penalty_is_balanced_unless_asked_not_to(self, columns):
        votes = Votes.from_arrays(**columns)
        model = PreferenceModel(cv=0, t_ratio=3.0, n_times=4)
        assert model.fit(votes).balanced_
        assert not PreferenceModel(cv=0, t_ratio=3.0, n_times=4, balance=False).fit(votes).balanced_
        with pytest.raises(SettingError, match="True, False or auto"):
            PreferenceModel(balance="often").fit(votes)

    @pytest.mark.parametrize(
        ("setting", "says"),
        [
            ({"position_bias": "no"}, "True or False"),
            ({"standardise": "no"}, "True or False"),
            ({"cv_over": "people"}, "votes, items or annotators"),
            ({"criterion": "accuracy"}, "auto, mismatch or log-loss"),
            ({"rule": "worst"}, "best or one-standard-error"),
        ],
    )
    @pytest.mark.parametrize("cv", [0, 2])
    def test_words_nobody_knows_are_refused_before_the_fit(self, columns, setting, says, cv):
        def work(*_):
            pytest.fail("the fit has begun")

        with pytest.raises(SettingError, match=says):
            PreferenceModel(cv=cv, **setting).fit(Votes.from_arrays(**columns), progress=work)

    @pytest.mark.parametrize("solver", ["flow", "lbi"])
    def test_both_solvers_cross_validate(self, columns, solver):
        votes = Votes.from_arrays(**columns)
        model = PreferenceModel(solver=solver, cv=3, t_ratio=20.0, n_times=10).fit(votes)
        assert model.cv_.errors.shape == (3, 10)
        assert model.cv_.mean_wrong.min() < 0.4

    def test_new_items_need_features_to_be_held_out(self, columns):
        votes = Votes.from_arrays(**columns)
        with pytest.raises(SettingError, match="without features"):
            PreferenceModel(cv_over="items").fit(votes)
        model = PreferenceModel(
            cv_over="items", cv=4, features=random_features(0, 4), n_times=8, t_ratio=5.0
        ).fit(votes)
        assert model.cv_.errors.shape[0] == 4
        model = PreferenceModel(cv_over="annotators", cv=5, n_times=8, t_ratio=5.0).fit(votes)
        assert model.cv_.errors.shape[0] == 5


class TestAwkwardCrowds:
    def test_items_that_were_never_compared(self):
        rng = np.random.default_rng(0)
        first, second = np.array(["a", "b", "c"]), np.array(["x", "y"])
        left, right, who = [], [], []
        for k in range(120):
            pick = rng.permutation(first if k % 3 else second)[:2]
            left.append(pick[0])
            right.append(pick[1])
            who.append(f"u{k % 4}")
        votes = Votes.from_arrays(who, left, right, rng.choice([-1, 1], 120))
        with pytest.warns(VoteWarning, match="2 groups that were never compared"):
            model = PreferenceModel(cv=0, n_times=5, t_ratio=5.0).fit(votes)
        table = model.ranking_columns(interval=None)
        component = dict(zip(table["item"], table["component"], strict=True))
        assert [component[i] for i in "abcxy"] == [1, 1, 1, 2, 2]
        assert sorted(table["rank"]) == [1, 1, 2, 2, 3]

    def test_one_annotator(self):
        votes = random_votes(1, n_annotators=1, n_votes=60, ties=0.0, position_known=1.0)
        # Of their lean it is known that everybody has it: nothing is left for a part of their own.
        with (
            pytest.warns(VoteWarning, match="one annotator"),
            pytest.warns(VoteWarning, match="nobody differs enough"),
        ):
            model = PreferenceModel(cv=2, n_times=5, t_ratio=5.0).fit(votes)
        assert len(model.ranking_columns(interval=None)["item"]) == 4

    def test_one_item(self):
        with pytest.raises(VoteError):
            PreferenceModel().fit(
                Votes.from_arrays(["u"], ["a"], ["a"], [1], self_comparisons="drop")
            )

    def test_nobody_differs(self):
        who = np.repeat(["u", "v", "w"], 8)
        votes = Votes.from_arrays(who, ["a"] * 24, ["b"] * 24, [1, 1, 1, -1] * 6)
        with pytest.warns(VoteWarning, match="nobody differs"):
            model = PreferenceModel(cv=0, position_bias=False).fit(votes)
        assert np.isinf(model.path_.entry_times()).all()
        assert list(model.ranking_columns(interval=None)["item"]) == ["a", "b"]
        assert model.predict_proba(votes)[0, 1] == pytest.approx(0.75, abs=1e-3)

    def test_everybody_always_clicks_left(self):
        """No item is better, so the common score stays zero; only sides matter."""
        pairs = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("a", "c"), ("c", "a")]
        who = np.repeat(["u", "v", "w"], 24)
        left, right = np.array(pairs * 12).T
        votes = Votes.from_arrays(who, left, right, np.ones(72))
        model = PreferenceModel(cv=0, t_ratio=20.0).fit(votes)
        np.testing.assert_allclose(model.path_.scores(model.t_), 0.0, atol=1e-9)
        assert np.all(model.path_.position_bias(model.t_) > 1.0)
        assert model.path_.n_evaluations < 2_000  # LBI needs 3,200

    def test_an_annotator_who_only_ever_saw_one_order(self, columns):
        extra = {
            "annotator": np.repeat("zoe", 12),
            "left": np.repeat("kiwi", 12),
            "right": np.repeat("lime", 12),
            "choice": np.array([1.0] * 9 + [-1.0] * 3),
        }
        both = {name: np.append(columns[name], extra[name]) for name in columns}
        with pytest.warns(VoteWarning, match=r"1 annotator \(zoe\) saw every item on one side"):
            PreferenceModel(cv=0, n_times=5, t_ratio=5.0).fit(Votes.from_arrays(**both))

    def test_sides_nobody_knows(self):
        votes = random_votes(1, position_known=0.0)
        with pytest.warns(VoteWarning, match="left and right are unknown"):
            model = PreferenceModel(cv=0, n_times=5, t_ratio=5.0).fit(votes)
        assert not model.path_.position_bias(model.t_).any()


def test_tables_hold_the_users_labels_and_add_up(fitted):
    ranking = fitted.ranking_columns(interval=None)
    assert sorted(ranking["item"]) == sorted(THINGS)
    assert ranking["rank"].tolist() == [1, 2, 3, 4]
    assert np.all(np.diff(ranking["score"]) <= 0)
    assert ranking["votes"].sum() == 2 * fitted.votes_.total_weight
    mean_rate = np.average(ranking["win_rate"], weights=ranking["votes"])
    assert mean_rate == pytest.approx(0.5)
    table = fitted.annotator_columns()
    assert sorted(table["annotator"]) == sorted(PEOPLE)
    np.testing.assert_allclose(table["left"] + table["right"] + table["ties"], table["votes"])


def test_a_personal_ranking_is_the_persons(without_weak):
    fitted = without_weak
    for person in PEOPLE:
        table = fitted.ranking_columns(person)
        own = fitted.path_.personal_scores(person, fitted.t_)
        order = np.argsort(-own)
        assert table["item"].tolist() == fitted.votes_.items[order].tolist()
    with pytest.raises(VoteError, match="no annotator 'zoe'"):
        fitted.ranking_columns("zoe")
