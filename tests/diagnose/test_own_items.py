"""Does a judge favour its own?"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from judges import votes_of_judges
from prefpath import PreferenceModel, SettingError, Votes, VoteWarning, read_votes
from prefpath.diagnose import own_items, own_items_favoured
from prefpath.fitted import Fitted

FAMILIES = {"mixtral": "mistral", "mistral": "mistral", "gpt-4": "openai", "gpt-3.5": "openai"}


def fitted(votes: Votes, **settings: object) -> Fitted:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)  # some crowds are one ranking
        model = PreferenceModel(cv=0, n_times=2, t_ratio=1.1, attention=False, **settings)
        return model.fit(votes).fitted_


@pytest.fixture(scope="module")
def model() -> Fitted:
    return fitted(read_votes(votes_of_judges(favour=1.5, lean=1.5)))


def test_a_judge_that_favours_itself_is_named_and_nobody_else(model):
    found = own_items_favoured(model)
    assert found is not None
    columns = found.columns
    assert columns["annotator"] == ["claude-2", "gpt-4", "llama-70b"]  # mixtral is no item
    assert columns["verdict"] == ["no favour shown", "favours its own", "no favour shown"]
    assert columns["favour_low"][1] > 0.4
    assert columns["favour"][1] == pytest.approx(1.5, abs=0.75)
    for k in (0, 2):
        assert columns["favour_low"][k] < 0.0 < columns["favour_high"][k]
    assert columns["p_value"][1] < 0.001 < 0.05 < min(columns["p_value"][::2])
    chance = 1.0 / (1.0 + np.exp(-np.array(columns["favour"])))
    np.testing.assert_allclose(columns["own_if_equal"], chance)
    assert columns["won"][1] > columns["expected"][1] + 0.1


def test_shares_are_those_of_the_votes(model):
    votes, found = votes_of_judges(favour=1.5, lean=1.5), own_items_favoured(model)
    own = votes[(votes["annotator"] == "gpt-4") & (votes[["left", "right"]] == "gpt-4").any(axis=1)]
    won = (own["choice"] == "left") == (own["left"] == "gpt-4")
    assert found.columns["votes"][1] == len(own)
    assert found.columns["won"][1] == pytest.approx(won.mean())


def test_the_mean_is_of_judges_like_these(model):
    found = own_items_favoured(model)
    favour = np.array(found.columns["favour"])
    assert found.mean == pytest.approx(1.0 / (1.0 + np.exp(-favour.mean())))
    assert found.low < 0.5 < found.mean < found.high
    assert f"On average {found.mean:.0%} ({found.low:.0%} to {found.high:.0%} for" in found.meaning
    machine = found.as_dict()
    assert machine["mean_own_if_equal"] == found.mean
    assert [row["annotator"] for row in machine["annotators"]] == found.columns["annotator"]


def test_whoever_would_rather_have_others_win_is_named_too():
    found = own_items_favoured(fitted(read_votes(votes_of_judges(favour=-1.5))))
    assert found.columns["verdict"][1] == "against its own"


def test_families_make_items_ones_own(model):
    found = own_items_favoured(model, families=FAMILIES)
    own = dict(zip(found.columns["annotator"], found.items, strict=True))
    assert own["mixtral"] == ("mistral",)
    assert own["gpt-4"] == ("gpt-3.5", "gpt-4")
    assert found.columns["own_items"][1] == "gpt-3.5; gpt-4"
    with pytest.raises(SettingError, match="family of an item"):
        own_items_favoured(model, families={"somebody": "else"})


def test_strengths_have_a_favour_and_no_chances():
    found = own_items_favoured(fitted(read_votes(votes_of_judges(favour=2.0)), loss="linear"))
    assert found.columns["verdict"][1] == "favours its own"
    assert found.columns["expected"] == found.columns["own_if_equal"] == [None] * 3
    assert found.mean is None
    assert "On average" not in found.meaning


def test_intervals_widen_with_the_level(model):
    narrow, wide = (own_items_favoured(model, level=level).columns for level in (0.5, 0.99))
    assert wide["favour_low"][0] < narrow["favour_low"][0] < narrow["favour_high"][0]
    assert narrow["favour_high"][0] < wide["favour_high"][0]
    with pytest.raises(SettingError, match="q is 2"):
        own_items_favoured(model, q=2)


def test_nothing_is_said_where_nobody_votes_on_their_own(model, monkeypatch):
    others = model.votes.take(~np.isin(model.votes.annotator, (0, 1, 2)))
    assert own_items_favoured(fitted(others)) is None
    # Its own are compared with one another only, or weigh nothing.
    families = {"ann": "a", "x": "a", "y": "a"}
    votes = Votes.from_arrays(
        ["ann"] * 4 + ["bob"] * 2, list("xyxyxz"), list("yxyxzy"), [1, -1] * 3
    )
    assert own_items_favoured(fitted(votes), families=families) is None
    weight = [0.0] * 4 + [1.0] * 2
    votes = Votes.from_arrays(votes.annotators[[0, 0, 0, 0, 1, 1]], list("xzxzxz"),
                              list("zxzxzy"), [1, -1] * 3, weight=weight)  # fmt: skip
    assert own_items_favoured(fitted(votes), families={"ann": "a", "x": "a"}) is None


def test_nothing_is_said_of_crowds_whose_matrices_would_be_large(model, monkeypatch):
    """Three coefficients a judge, be they hundreds: a fit of players would take minutes."""
    monkeypatch.setattr(own_items, "_MOST_COEFFICIENTS", 6 + 3 * 4)
    assert own_items_favoured(model) is not None
    monkeypatch.setattr(own_items, "_MOST_COEFFICIENTS", 6 + 3 * 4 - 1)
    assert own_items_favoured(model) is None
