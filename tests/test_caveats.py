"""What votes cannot tell is said when a model is fitted, and nothing else."""

import numpy as np

from prefpath import Votes
from prefpath.caveats import caveats
from prefpath.plain import rank
from prefpath.trust import trust_panel


def votes_of(choice, weight=None, n_annotators=12):
    rng = np.random.default_rng(0)
    n = 20 * n_annotators
    left = rng.integers(0, 4, n)
    right = (left + rng.integers(1, 4, n)) % 4
    who = np.arange(n) % n_annotators
    return Votes.from_arrays(who, left, right, np.resize(choice, n), weight)


def said(votes):
    component = np.zeros(votes.n_items, dtype=np.int32)
    return list(caveats(votes, component, has_features=False, position_bias=True))


def test_votes_of_whole_weights_say_that_they_count_as_several():
    plain, heavy = votes_of([1, -1, 1]), votes_of([1, -1, 1], np.full(240, 3.0))
    assert said(plain) == []
    (sentence,) = said(heavy)
    assert "240 votes weigh 720 together" in sentence
    assert "divide them by their mean" in sentence
    assert "in intervals and verdicts too" in sentence
    (sentence,) = said(votes_of([1, -1, 1], np.resize([2.5, 3.1], 240)))
    assert "in intervals too" in sentence  # verdicts count the votes that were cast
    assert said(votes_of([1, -1, 1], np.resize([0.5, 1.5], 240))) == []


def test_ties_alone_say_that_nothing_tells_the_items_apart():
    assert any("every vote is a tie" in sentence for sentence in said(votes_of([0])))


def test_ties_keep_scores_finite_in_every_check():
    panel = trust_panel(votes_of([0]))
    assert panel["finite scores"].status == "passed"
    for name in ("never won", "never lost"):
        assert panel[name].advice.startswith("only ties keep their scores")


def test_a_share_below_half_a_percent_is_not_none():
    panel = trust_panel(votes_of([1, -1, 1], n_annotators=300))
    assert "under 1% of the votes" in panel["many voices"].finding


def test_rank_does_not_speak_for_others_from_three_annotators():
    few, many = (rank(votes_of([1, -1, 1], n_annotators=n)).notes[-1] for n in (3, 12))
    assert "3 are too few to speak for others" in few
    assert many == "Intervals include the sampling of annotators."
