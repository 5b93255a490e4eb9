"""Every rule of docs/annotators.md, by itself and on planted annotators."""

from __future__ import annotations

from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest

from prefpath import PreferenceModel, SettingError, Votes, VoteWarning, discover
from prefpath.diagnose import STANDING_OUT, UNREMARKABLE, VERDICTS, diagnose
from prefpath.diagnose.diagnosis import unlike_in_attention
from prefpath.diagnose.reasons import CrowdFacts, give_verdicts
from prefpath.diagnose.verdicts import Measures

CROWD = CrowdFacts(n_annotators=50, least_votes=5)


def measures(**values) -> Measures:
    """Of one annotator."""
    return Measures(**{name: np.array([value]) for name, value in values.items()})


def changed(of: Measures, **values) -> Measures:
    return replace(of, **{name: np.array([value]) for name, value in values.items()})


FOLLOWER = measures(
    decisive=100.0,
    left=52.0,
    right=48.0,
    agreement=0.8,
    tested=True,
    leans=False,
    deviates=False,
    unlike=False,
    p_lean=0.7,
    p_taste=0.6,
    p_attention=0.8,
    p_no_taste=np.nan,
    p_own_ranking=np.nan,
    correlation_high=-0.1,
    attention=1.0,
    attention_low=0.7,
    attention_high=1.4,
    lean=0.1,
    lean_low=-0.4,
    lean_high=0.6,
    first=0.52,
    first_low=0.4,
    first_high=0.65,
    one_order=False,
)
LEANER = changed(
    FOLLOWER, left=70.0, right=30.0, leans=True, p_lean=1e-4, lean=1.1, first=0.75, first_low=0.6
)
TASTE = changed(FOLLOWER, deviates=True, p_taste=1e-6, p_no_taste=1e-3, p_own_ranking=0.6)
NOISY = changed(
    FOLLOWER,
    unlike=True,
    p_attention=1e-5,
    p_no_taste=0.4,
    p_own_ranking=0.01,
    attention=0.4,
    attention_low=0.2,
    attention_high=0.7,
)
RANDOM = changed(NOISY, attention=0.0, attention_low=-0.2, attention_high=0.2)
CONTRARY = changed(NOISY, attention=-0.8, attention_low=-1.2, attention_high=-0.3)


@pytest.mark.parametrize(
    ("of", "word"),
    [
        (FOLLOWER, "follows the crowd"),
        (LEANER, "leans left"),
        (changed(LEANER, lean=-1.1, left=30.0, right=70.0), "leans right"),
        (changed(LEANER, left=90.0, right=10.0), "one-sided clicker"),
        (changed(LEANER, left=89.0, right=11.0), "leans left"),
        (TASTE, "own taste"),
        (NOISY, "noisy"),
        (RANDOM, "answers at random"),
        (CONTRARY, "contrary"),
        (changed(NOISY, attention=2.0, attention_low=1.4, attention_high=3.0), "sharper than the "
         "crowd"),
        # A word needs evidence for itself.
        (changed(RANDOM, p_own_ranking=0.2), "unlike the crowd, unclear why"),
        (changed(RANDOM, attention_high=0.45), "unlike the crowd, unclear why"),
        (changed(NOISY, p_own_ranking=0.2), "unlike the crowd, unclear why"),
        (changed(TASTE, p_no_taste=0.2), "unlike the crowd, unclear why"),
        (changed(FOLLOWER, attention_low=0.35), "goes with the crowd"),
        (changed(FOLLOWER, attention_high=2.3), "goes with the crowd"),
        (changed(FOLLOWER, p_taste=0.03), "goes with the crowd"),
        (changed(FOLLOWER, lean_high=1.3), "goes with the crowd"),
        (changed(FOLLOWER, attention_low=-0.1), "inconclusive"),
        (changed(FOLLOWER, tested=False), "too few votes to tell"),
        # What only those named can be, others are not, whatever else is known of them.
        (changed(FOLLOWER, attention=1.4, attention_low=1.1, attention_high=1.8), "follows the "
         "crowd"),
        (changed(FOLLOWER, attention_high=0.9, p_own_ranking=0.01), "follows the crowd"),
        (changed(FOLLOWER, p_no_taste=0.001), "follows the crowd"),
        (changed(FOLLOWER, attention=0.0, attention_low=-0.2, attention_high=0.2,
                 p_own_ranking=0.01), "inconclusive"),
        (changed(FOLLOWER, attention=-0.8, attention_low=-1.2, attention_high=-0.3),
         "inconclusive"),
        (changed(TASTE, p_no_taste=0.2, attention=1.4, attention_low=1.1), "unlike the crowd, "
         "unclear why"),
        # Sides are unknown: nothing is asked of a lean.
        (changed(FOLLOWER, lean=np.nan, lean_low=np.nan, lean_high=np.nan), "follows the crowd"),
        # Against the crowd is contrary, unless a taste explains it and it is not clear.
        (changed(CONTRARY, correlation_high=0.2, p_no_taste=0.001), "own taste"),
        (changed(CONTRARY, correlation_high=0.2), "unlike the crowd, unclear why"),
        (changed(CONTRARY, p_no_taste=0.001), "contrary"),
        (changed(RANDOM, p_lean=0.04), "unlike the crowd, unclear why"),
        # Both: the clearer one, but a one-sided clicker is one, and a leaner is not random.
        (changed(TASTE, leans=True, p_lean=1e-3, left=70.0, right=30.0), "own taste"),
        (changed(TASTE, leans=True, p_lean=1e-9, lean=1.0), "leans left"),
        (changed(TASTE, leans=True, p_lean=1e-3, left=96.0, right=4.0), "one-sided clicker"),
        (changed(RANDOM, leans=True, p_lean=1e-3, lean=1.0), "leans left"),
        (changed(CONTRARY, leans=True, p_lean=1e-9, lean=1.0), "contrary"),
    ],
)  # fmt: skip
def test_each_rule_gives_its_word(of, word):
    assert give_verdicts(of, CROWD)[0].word == word
    assert word in VERDICTS


SHARP = changed(NOISY, attention=2.0, attention_low=1.4, attention_high=3.0)


@pytest.mark.parametrize(
    ("at_the_end", "word", "beyond", "other"),
    [
        (changed(RANDOM, p_lean=0.0501), "answers at random",
         changed(RANDOM, p_lean=0.05), "unlike the crowd, unclear why"),
        (changed(RANDOM, attention_low=0.0), "answers at random",
         changed(RANDOM, attention=0.2, attention_low=0.15, attention_high=0.25), "noisy"),
        (changed(RANDOM, attention_high=0.0), "answers at random",
         changed(RANDOM, attention_high=-0.01), "contrary"),
        (changed(RANDOM, attention_high=0.299), "answers at random",
         changed(RANDOM, attention_high=0.3), "unlike the crowd, unclear why"),
        (changed(NOISY, p_own_ranking=0.03), "noisy",
         changed(NOISY, p_own_ranking=0.0301), "unlike the crowd, unclear why"),
        (changed(NOISY, attention_high=0.999), "noisy",
         changed(NOISY, attention_high=1.0), "unlike the crowd, unclear why"),
        (changed(TASTE, p_no_taste=0.015), "own taste",
         changed(TASTE, p_no_taste=0.0151), "unlike the crowd, unclear why"),
        (changed(CONTRARY, correlation_high=-0.001), "contrary",
         changed(CONTRARY, correlation_high=0.0), "unlike the crowd, unclear why"),
        (changed(SHARP, attention_low=1.001), "sharper than the crowd",
         changed(SHARP, attention_low=1.0), "unlike the crowd, unclear why"),
        # What looks like a taste to a sharp eye needs a name for it.
        (changed(SHARP, p_no_taste=1e-3), "sharper than the crowd",
         changed(SHARP, p_no_taste=1e-3, deviates=True), "own taste"),
        (changed(SHARP, p_no_taste=1e-3, attention_low=1.001), "sharper than the crowd",
         changed(SHARP, p_no_taste=1e-3, attention_low=1.0), "own taste"),
        (changed(FOLLOWER, attention_low=0.501), "follows the crowd",
         changed(FOLLOWER, attention_low=0.5), "goes with the crowd"),
        (changed(FOLLOWER, attention_high=1.999), "follows the crowd",
         changed(FOLLOWER, attention_high=2.0), "goes with the crowd"),
        (changed(FOLLOWER, p_taste=0.0501), "follows the crowd",
         changed(FOLLOWER, p_taste=0.05), "goes with the crowd"),
        (changed(FOLLOWER, lean_high=1.099), "follows the crowd",
         changed(FOLLOWER, lean_high=1.1), "goes with the crowd"),
        (changed(FOLLOWER, lean_low=-1.099), "follows the crowd",
         changed(FOLLOWER, lean_low=-1.1), "goes with the crowd"),
        (changed(FOLLOWER, attention=0.6, attention_low=0.101), "goes with the crowd",
         changed(FOLLOWER, attention=0.6, attention_low=0.1), "inconclusive"),
        (changed(TASTE, leans=True, p_lean=1.01e-6, lean=1.0), "own taste",
         changed(TASTE, leans=True, p_lean=1e-6, lean=1.0), "leans left"),
    ],
)  # fmt: skip
def test_each_rule_ends_where_the_guide_says(at_the_end, word, beyond, other):
    assert give_verdicts(at_the_end, CROWD)[0].word == word
    assert give_verdicts(beyond, CROWD)[0].word == other


def test_measures_of_sides_without_a_click_are_of_no_side():
    assert changed(FOLLOWER, left=0.0, right=0.0).one_side == [0.0]
    assert changed(FOLLOWER, left=0.0, right=1.0).one_side == [1.0]
    assert changed(FOLLOWER, left=30.0, right=90.0).one_side == [0.75]


def test_every_word_stands_out_or_does_not():
    assert set(STANDING_OUT) | set(UNREMARKABLE) == set(VERDICTS)
    assert not set(STANDING_OUT) & set(UNREMARKABLE)


def test_the_second_effect_is_in_the_notes():
    both = changed(TASTE, leans=True, p_lean=1e-3, lean=1.0)
    assert "leans left as well" in give_verdicts(both, CROWD)[0].notes[0]
    other = give_verdicts(changed(both, p_lean=1e-9), CROWD)[0]
    assert "own taste as well" in other.notes[0]
    coin = give_verdicts(changed(RANDOM, leans=True, lean=1.0), CROWD)[0]
    assert "the items matter less" in coin.notes[0]
    assert "one side only" in give_verdicts(changed(FOLLOWER, one_order=True), CROWD)[0].notes[-1]


def test_of_sides_that_never_changed_nobody_is_said_to_lean():
    fan = give_verdicts(changed(LEANER, left=97.0, right=3.0, one_order=True), CROWD)[0]
    assert fan.word == "unlike the crowd, unclear why"
    assert fan.also == ()
    assert "97 left and 3 right clicks" in fan.reason
    assert "a lean, or a taste for what stood there" in fan.reason
    assert not any("as well" in note for note in fan.notes)
    taste = give_verdicts(changed(TASTE, leans=True, p_lean=1e-9, one_order=True), CROWD)[0]
    assert (taste.word, taste.also) == ("own taste", ())


def test_reasons_hold_the_numbers_and_what_a_p_value_tests():
    assert "70 left and 30 right" in give_verdicts(LEANER, CROWD)[0].reason
    assert "; no lean: p = 0.0001)" in give_verdicts(LEANER, CROWD)[0].reason
    assert "80% of 100 votes" in give_verdicts(FOLLOWER, CROWD)[0].reason
    assert "attention 0.4 (95 % interval 0.2 to 0.7" in give_verdicts(NOISY, CROWD)[0].reason
    assert "that of the crowd, 1: p < 0.0001" in give_verdicts(NOISY, CROWD)[0].reason
    few = give_verdicts(changed(FOLLOWER, tested=False, decisive=1.0), CROWD)[0]
    assert few.reason == "1 vote that prefers an item; a test needs 5"


def test_nothing_is_said_of_leaning_where_sides_are_unknown():
    unknown = dict.fromkeys(("lean", "lean_low", "lean_high", "first", "p_lean"), np.nan)
    for of in (FOLLOWER, NOISY, RANDOM, CONTRARY, TASTE, changed(FOLLOWER, attention_low=-1.0)):
        found = give_verdicts(changed(of, left=0.0, right=0.0, **unknown), CROWD)[0]
        said = " ".join((found.reason, *found.notes)).replace("neither attention nor lean", "")
        assert "lean" not in said and "first" not in said


def test_a_lean_is_said_relative_to_the_one_everybody_shares():
    shared = CrowdFacts(50, 5, common_first=0.7)
    weakest = changed(LEANER, lean=-0.5, first=0.58, first_low=0.5, first_high=0.63)
    found = give_verdicts(weakest, shared)[0]
    assert found.word == "leans right"
    assert "less often than by everybody together (70%)" in found.reason
    assert "no lean beyond everybody's" in found.reason


def test_measures_can_be_taken_in_any_order():
    two = Measures(
        *(
            np.concatenate((getattr(FOLLOWER, f.name), getattr(RANDOM, f.name)))
            for f in fields(Measures)
        )
    )
    words = [verdict.word for verdict in give_verdicts(two.take(np.array([1, 0])), CROWD)]
    assert words == ["answers at random", "follows the crowd"]


# ---------------------------------------------------------------- planted annotators


def _vote(rng, name, n, margin, items):
    left = rng.integers(0, items, n)
    right = (left + rng.integers(1, items, n)) % items
    chance = 1 / (1 + np.exp(-margin(left, right)))
    return [name] * n, left, right, np.where(rng.random(n) < chance, 1, -1)


def planted_votes(seed: int) -> Votes:
    """Forty followers and one of each kind that the verdicts know."""
    rng = np.random.default_rng(seed)
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
        "noisy": (400, lambda i, j: 0.35 * crowd(i, j)),
        "sharp": (400, lambda i, j: 2.5 * crowd(i, j)),
        "silent": (3, crowd),
    }
    parts = [_vote(rng, f"follower {k}", 100, crowd, items) for k in range(40)]
    parts += [_vote(rng, name, n, margin, items) for name, (n, margin) in kinds.items()]
    who, left, right, choice = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Votes.from_arrays(who, left, right, choice)


@pytest.fixture(scope="module")
def planted():
    return diagnose(PreferenceModel(cv=0, n_times=8, t_ratio=6.0).fit(planted_votes(11)))


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("contrarian", "contrary"),
        ("own", "own taste"),
        ("left", "leans left"),
        ("right", "leans right"),
        ("always left", "one-sided clicker"),
        ("coin", "answers at random"),
        ("noisy", "noisy"),
        ("sharp", "sharper than the crowd"),
        ("silent", "too few votes to tell"),
    ],
)
def test_planted_annotators_get_their_word(planted, name, word):
    assert planted.of(name)["verdict"] == word


def test_most_followers_follow_and_whoever_stands_out_is_on_a_list(planted):
    words = [planted.of(f"follower {k}")["verdict"] for k in range(40)]
    assert words.count("follows the crowd") >= 25
    found = planted.discoveries
    named = set(
        planted.votes.annotators[found.leaning | found.deviating | found.unlike_in_attention]
    )
    assert set(planted.who(*STANDING_OUT)) <= named


def test_followers_are_a_tenth_of_each_list_at_most():
    """A rate bounds the mean over crowds of the false share of a list, not its count in one crowd.

    The mean over forty crowds may exceed the rate by chance: by 2.3 of its standard errors in
    one of a hundred studies of a list that keeps the rate, by 2.7 in three lists together.
    """
    q, shares = 0.1, []
    for seed in range(40):
        found = discover(planted_votes(seed), q=q)
        follows = np.char.startswith(found.annotators.astype(str), "follower")
        lists = (found.leaning, found.deviating, found.unlike_in_attention)
        shares.append([(one & follows).sum() / max(one.sum(), 1) for one in lists])
    standard_error = np.std(shares, axis=0, ddof=1) / np.sqrt(len(shares))
    assert (np.mean(shares, axis=0) <= q + 2.7 * standard_error).all()
    assert np.any(shares, axis=0).all()  # lists without an error would tell nothing of the rate


def test_one_headline_counts_what_the_table_shows(planted):
    headline, table = planted.headline, planted.columns()
    words, counts = np.unique(table["verdict"], return_counts=True)
    assert {w: n for w, n in headline.counts.items() if n} == dict(
        zip(words.tolist(), counts.tolist(), strict=True)
    )
    assert list(headline.counts) == list(VERDICTS)
    parts = (headline.n_standing_out, headline.n_following, headline.n_not_decided)
    assert sum(parts) == headline.n_annotators == 49
    deviating = sum(t is not None and t <= planted.t for t in table["deviation_entered"])
    assert headline.entered["deviation"] == deviating
    assert headline.as_dict()["by_verdict"] == headline.counts


def test_those_with_a_verdict_can_be_listed(planted):
    assert planted.who("contrary").tolist() == ["contrarian"]
    assert set(planted.who("leans left", "leans right")) == {"left", "right"}
    with pytest.raises(SettingError, match="no verdict 'odd'"):
        planted.who("odd")


def test_attention_is_near_the_truth(planted):
    for name, truth in (("contrarian", -1), ("coin", 0), ("noisy", 0.35), ("sharp", 2.5)):
        about = planted.of(name)
        reach = about["attention_high"] - about["attention_low"]
        assert abs(about["attention"] - truth) < 0.75 * reach


def test_sides_that_are_unknown_are_never_leaned_to():
    rng = np.random.default_rng(5)
    parts = [_vote(rng, f"u{k}", 60, lambda i, j: 0.3 * (i - j), 8) for k in range(20)]
    parts.append(_vote(rng, "contrarian", 150, lambda i, j: -0.3 * (i - j), 8))
    who, left, right, choice = (np.concatenate(column) for column in zip(*parts, strict=True))
    votes = Votes.from_arrays(who, left, right, choice, position_known=False)
    with pytest.warns(VoteWarning, match="unknown"):
        found = diagnose(PreferenceModel(cv=0, n_times=6, t_ratio=4.0).fit(votes))
    assert found.of("contrarian")["verdict"] == "contrary"
    for verdict in found.verdicts():
        assert "lean" not in verdict.reason.replace("nor lean", "")


@pytest.mark.parametrize(("n_sharper", "named"), [(2, 3), (6, 1)])
def test_where_most_would_be_sharper_than_the_crowd_they_are_the_crowd(n_sharper, named):
    low = np.where(np.arange(10) < n_sharper, 3.0, 0.4)
    unlike = np.arange(10) < n_sharper
    unlike[9] = True  # noisy
    found = SimpleNamespace(unlike_in_attention=unlike, attention=SimpleNamespace(low=low),
                            p_taste=np.ones(10))  # fmt: skip
    assert unlike_in_attention(found).sum() == named
