"""Every rule of docs/annotators.md, by itself and on planted annotators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from prefpath import PreferenceModel, Votes
from prefpath.diagnose import VERDICTS, diagnose
from prefpath.diagnose.verdicts import Evidence, give_verdict

FOLLOWER = Evidence(
    decisive=100,
    left=52,
    right=48,
    agreement=0.8,
    leans=False,
    deviates=False,
    p_lean=0.7,
    p_taste=0.6,
    p_follows=1e-9,
    p_ignores=1e-8,
    first_if_equal=0.52,
    first_low=0.42,
    first_high=0.62,
    one_order=False,
)
LEANER = replace(FOLLOWER, left=70, right=30, leans=True, p_lean=1e-4, first_if_equal=0.75)
TASTE = replace(FOLLOWER, deviates=True, p_taste=1e-6, agreement=0.5)


@pytest.mark.parametrize(
    ("evidence", "word"),
    [
        (FOLLOWER, "follows the crowd"),
        (LEANER, "leans left"),
        (replace(LEANER, first_if_equal=0.2, left=30, right=70), "leans right"),
        (replace(LEANER, left=90, right=10), "one-sided clicker"),
        (replace(LEANER, left=89, right=11), "leans left"),
        (TASTE, "own taste"),
        (replace(TASTE, p_ignores=0.2), "answers at random"),
        (replace(FOLLOWER, p_follows=0.3, p_ignores=0.5), "too few votes to tell"),
        (replace(FOLLOWER, p_taste=None, p_lean=None), "too few votes to tell"),
        # Both: the clearer one, but a one-sided clicker is one, and chance is no taste.
        (replace(TASTE, leans=True, p_lean=1e-3, left=70, right=30), "own taste"),
        (replace(TASTE, leans=True, p_lean=1e-9, left=70, right=30), "leans left"),
        (replace(TASTE, leans=True, p_lean=1e-3, left=96, right=4), "one-sided clicker"),
        (replace(TASTE, leans=True, p_lean=1e-3, p_ignores=0.4), "leans left"),
    ],
)
def test_each_rule_gives_its_word(evidence, word):
    assert give_verdict(evidence).word == word
    assert word in VERDICTS


def test_the_second_word_is_in_the_notes():
    both = replace(TASTE, leans=True, p_lean=1e-3, left=70, right=30)
    assert "leans left as well" in give_verdict(both).notes[0]
    other = give_verdict(replace(both, p_lean=1e-9))
    assert "own taste as well" in other.notes[0]
    assert "one side only" in give_verdict(replace(FOLLOWER, one_order=True)).notes[-1]


def test_reasons_hold_the_numbers():
    assert "70 left and 30 right" in give_verdict(LEANER).reason
    assert "75% of the time (95 % interval 42% to 62%)" in give_verdict(LEANER).reason
    assert "80% of 100 votes" in give_verdict(FOLLOWER).reason
    assert "below 0.0001" in give_verdict(TASTE).reason


def _vote(rng, name, n, margin, items):
    left = rng.integers(0, items, n)
    right = (left + rng.integers(1, items, n)) % items
    chance = 1 / (1 + np.exp(-margin(left, right)))
    return [name] * n, left, right, np.where(rng.random(n) < chance, 1, -1)


@pytest.fixture(scope="module")
def planted():
    """Forty followers and one of each kind that the verdicts know."""
    rng = np.random.default_rng(11)
    items = 10
    score, own = rng.normal(0, 1.5, items), rng.normal(0, 2, items)

    def crowd(i, j):
        return score[i] - score[j]

    kinds = {
        "contrarian": (200, lambda i, j: -crowd(i, j)),
        "own": (200, lambda i, j: own[i] - own[j]),
        "left": (200, lambda i, j: crowd(i, j) + 1.5),
        "right": (200, lambda i, j: crowd(i, j) - 1.5),
        "always left": (60, lambda i, j: np.full(len(i), 9.0)),
        "coin": (200, lambda i, j: np.zeros(len(i))),
        "silent": (3, crowd),
    }
    parts = [_vote(rng, f"follower {k}", 100, crowd, items) for k in range(40)]
    parts += [_vote(rng, name, n, margin, items) for name, (n, margin) in kinds.items()]
    who, left, right, choice = (np.concatenate(column) for column in zip(*parts, strict=True))
    votes = Votes.from_arrays(who, left, right, choice)
    return diagnose(PreferenceModel(cv=0, n_times=15, t_ratio=15.0).fit(votes))


@pytest.mark.parametrize(
    ("who", "word"),
    [
        ("contrarian", "own taste"),
        ("own", "own taste"),
        ("left", "leans left"),
        ("right", "leans right"),
        ("always left", "one-sided clicker"),
        ("coin", "answers at random"),
        ("silent", "too few votes to tell"),
    ],
)
def test_planted_annotators_get_their_word(planted, who, word):
    assert planted.of(who)["verdict"] == word


def test_followers_follow(planted):
    words = [planted.of(f"follower {k}")["verdict"] for k in range(40)]
    assert words.count("follows the crowd") >= 37


def test_planted_leans_are_measured(planted):
    about = planted.of("left")
    assert about["gamma_low"] < 1.5 < about["gamma_high"]
    assert about["first_if_equal"] == pytest.approx(1 / (1 + np.exp(-about["gamma"])))
    assert planted.of("always left")["first_if_equal_low"] > 0.9
