"""The trust panel: each check says passed where all is well, and finds what is planted."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefpath import Votes, read_votes
from prefpath.caveats import caveats
from prefpath.trust import TrustPanel, trust_panel
from prefpath.trust.circles import check_circles
from prefpath.trust.meetings import Meetings
from prefpath.votes.graph import connected_components

NAMES = [
    "rows left out", "one scale", "votes per item", "never won", "never lost", "finite scores",
    "votes per annotator", "enough annotators", "many voices", "ties", "both orders",
    "sides seen", "sides chosen", "circles",
]  # fmt: skip


def healthy(**changes: Any) -> Votes:
    """Twenty annotators, six items in both orders, votes by one Bradley-Terry ranking."""
    generator = np.random.default_rng(5)
    n = 3000
    left = generator.integers(0, 6, n)
    right = (left + generator.integers(1, 6, n)) % 6
    chance = 1 / (1 + np.exp(0.8 * (left - right)))
    choice = np.where(generator.random(n) < chance, 1.0, -1.0)
    columns = {
        "annotator": [f"a{i}" for i in generator.integers(0, 20, n)],
        "left": [f"i{i}" for i in left],
        "right": [f"i{i}" for i in right],
        "choice": choice,
    }
    return Votes.from_arrays(**{**columns, **changes})


def with_more(votes: Votes, *rows: tuple[str, str, str, float]) -> Votes:
    """The votes and some more."""
    repeat = np.repeat(np.arange(votes.n_rows), votes.count)
    more = list(zip(*rows, strict=True))
    return Votes.from_arrays(
        [*votes.annotators[votes.annotator[repeat]], *more[0]],
        [*votes.items[votes.left[repeat]], *more[1]],
        [*votes.items[votes.right[repeat]], *more[2]],
        [*votes.choice[repeat], *more[3]],
    )


def statuses(panel: TrustPanel) -> dict[str, str]:
    return {check.name: check.status for check in panel.checks}


def test_every_check_is_shown_and_healthy_votes_pass_all() -> None:
    panel = trust_panel(healthy())
    assert list(statuses(panel)) == NAMES
    assert statuses(panel) == dict.fromkeys(NAMES, "passed")
    assert panel.status == "passed"
    assert (panel.n_votes, panel.n_annotators, panel.n_items, panel.n_pairs) == (3000, 20, 6, 15)
    assert all(check.finding and not check.advice for check in panel.checks)
    with pytest.raises(FrozenInstanceError):
        panel.n_votes = 0  # type: ignore[misc]


def test_a_champion_that_mostly_stands_on_the_left_is_told() -> None:
    """A taste for it looks like a lean to the left, though every pair was shown in both orders."""
    rng = np.random.default_rng(2)
    left, right = rng.integers(0, 6, 900), rng.integers(1, 6, 900)
    left = np.where(rng.random(900) < 0.7, 0, left)
    right = np.where(left == 0, right, (left + right) % 6)
    choice = np.where(rng.random(900) < 0.5, 1, -1)
    votes = Votes.from_arrays(np.arange(900) % 30, left, right, choice)
    check = trust_panel(votes)["both orders"]
    assert check.status == "warn"
    assert check.finding.startswith("0 stood on the left in 9")
    assert "seems to lean" in check.advice
    assert check.concerned == (0,)
    few = votes.take(np.arange(votes.n_rows) < 4)
    assert "stood on the" not in trust_panel(few)["both orders"].finding


def test_a_disconnected_graph_fails() -> None:
    panel = trust_panel(with_more(healthy(), ("a1", "p", "q", 1.0), ("a1", "q", "p", 1.0)))
    check = panel["one scale"]
    assert (check.status, panel.status) == ("fail", "fail")
    assert "2 groups" in check.finding
    assert check.concerned == ("p", "q")
    assert panel["finite scores"].status == "passed"


def test_items_with_few_votes_that_never_won_or_lost() -> None:
    votes = with_more(healthy(), ("a1", "loser", "i0", -1.0), ("a2", "i1", "winner", -1.0))
    panel = trust_panel(votes)
    assert panel["votes per item"].concerned == ("loser", "winner")
    assert panel["never won"].concerned == ("loser",)
    assert panel["never lost"].concerned == ("winner",)
    assert panel["finite scores"].status == "warn"
    assert "3 tiers" in panel["finite scores"].finding
    assert panel.status == "warn"


def test_a_tie_is_neither_win_nor_loss_but_makes_scores_finite() -> None:
    panel = trust_panel(with_more(healthy(), *[("a1", "draws", "i0", 0.0)] * 20))
    assert panel["never won"].concerned == panel["never lost"].concerned == ("draws",)
    assert panel["finite scores"].status == "passed"


def test_annotators_with_few_votes() -> None:
    votes = healthy(annotator=[f"a{i}" for i in range(3000)])
    assert trust_panel(votes)["votes per annotator"].status == "warn"


def test_a_dominant_annotator() -> None:
    votes = healthy(annotator=["boss"] * 2000 + [f"a{i % 9}" for i in range(1000)])
    check = trust_panel(votes)["many voices"]
    assert (check.status, check.concerned) == ("warn", ("boss",))
    assert "67%" in check.finding
    long = Votes.from_arrays(
        np.array(["boss" * 9] * 8 + ["a", "b"], dtype=object), ["x"] * 10, ["y"] * 10, [1] * 10
    )
    assert trust_panel(long)["many voices"].concerned == ("boss" * 9,)
    alone = trust_panel(healthy(annotator=["boss"] * 3000))["many voices"]
    assert alone.finding == "there is only one annotator"


def test_many_ties() -> None:
    votes = with_more(healthy(), *[("a1", "i0", "i1", 0.0)] * 3001)
    assert trust_panel(votes)["ties"].status == "warn"


def test_orders_of_pairs() -> None:
    sorted_pairs = Votes.from_arrays(
        ["a"] * 6, list("xxyxxy"), list("yzzyzz"), [1, 1, 1, -1, -1, -1]
    )
    check = trust_panel(sorted_pairs)["both orders"]
    assert (check.status, check.finding) == ("warn", "0 of 3 pairs were shown in both orders")
    unknown = trust_panel(healthy(position_known=False))
    assert unknown["both orders"].finding == "no vote says which item was on the left"
    for name in ("sides seen", "sides chosen"):
        assert unknown[name].status == "unchecked"
        assert "cannot be checked: no vote says which item" in unknown[name].finding


def test_sides_that_are_sorted_or_never_change_are_not_checked() -> None:
    votes = healthy()
    swap = votes.left > votes.right
    left, right = np.where(swap, votes.right, votes.left), np.where(swap, votes.left, votes.right)
    sorted_sides = Votes.from_arrays(
        votes.annotator, left, right, np.where(swap, -votes.choice, votes.choice)
    )
    panel = trust_panel(sorted_sides)
    for name in ("sides seen", "sides chosen"):
        assert panel[name].status == "unchecked"
        assert "sides look sorted" in panel[name].finding
        assert "--position-unknown" in panel[name].advice
    baseline = Votes.from_arrays(["a", "b"] * 20, ["base"] * 40, list("xy") * 20, [1, -1] * 20)
    assert trust_panel(baseline)["sides chosen"].status == "unchecked"
    assert trust_panel(baseline)["sides seen"].status == "warn"
    ties = Votes.from_arrays(["a", "b"] * 20, list("xy") * 20, list("yx") * 20, [0] * 40)
    assert trust_panel(ties)["sides chosen"].status == "unchecked"


def test_annotators_who_saw_every_item_on_one_side() -> None:
    rows = [("biased", "i0", "i1", 1.0), ("biased", "i2", "i3", -1.0)] * 5
    votes = with_more(healthy(), *rows)
    assert trust_panel(votes)["sides seen"].concerned == ("biased",)
    said = " ".join(caveats(votes, connected_components(votes), has_features=False,
                            position_bias=True))  # fmt: skip
    assert "1 annotator (biased) saw every item on one side only" in said
    few = with_more(healthy(), *rows[:9])
    assert trust_panel(few)["sides seen"].status == "passed"


def test_few_votes_on_many_items_keep_their_sides_by_chance() -> None:
    """Every answer is judged once: sides were random, and a lean is no taste."""
    rows = [("ann", f"a{k}", f"b{k}", 1.0) for k in range(40)]
    assert trust_panel(with_more(healthy(), *rows))["sides seen"].status == "passed"
    star = [("ann", "base", f"b{k}", 1.0) for k in range(40)]
    assert trust_panel(with_more(healthy(), *star))["sides seen"].concerned == ("ann",)


def test_a_judge_who_leans_is_named_with_the_share() -> None:
    """650 of 838 on the left is not always, and far beyond chance."""
    pairs = [("i0", "i1"), ("i1", "i0")]
    judge = [("judge", *pairs[i % 2], 1.0 if i < 650 else -1.0) for i in range(838)]
    check = trust_panel(with_more(healthy(), *judge))["sides chosen"]
    assert check.concerned == ("judge",)
    assert "judge (left 650 of 838)" in check.finding


def test_wins_lead_everywhere_within_groups_only() -> None:
    groups = [("a", f"{g}1", f"{g}2", side) for g in "pq" for side in (1.0, -1.0)]
    who, left, right, choice = zip(*groups, strict=True)
    finding = trust_panel(Votes.from_arrays(who, left, right, choice))["finite scores"].finding
    assert finding == "wins lead from every item to every other of its group, in both groups"


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_annotators_who_always_chose_one_side(side: float) -> None:
    """With 22 annotators, 2 * 2^-n < 0.05 / 22 from n = 10 on; 9 in a row may be chance."""
    pairs = [("i0", "i1"), ("i1", "i0")]
    clicker = [("clicker", *pairs[i % 2], side) for i in range(10)]
    lucky = [("lucky", *pairs[i % 2], side) for i in range(9)]
    panel = trust_panel(with_more(healthy(), *clicker, *lucky))
    assert panel["sides chosen"].concerned == ("clicker",)


def test_circles_beyond_chance() -> None:
    """Half the crowd turns one way round rock, paper, scissors; nobody turns the other way."""
    rows = [("r", "s"), ("s", "p"), ("p", "r")]
    left, right = zip(*rows * 100, strict=True)
    votes = Votes.from_arrays([f"a{i % 30}" for i in range(300)], left, right, [1] * 300)
    check = trust_panel(votes)["circles"]
    assert check.status == "warn"
    assert "hold 100%" in check.finding


def test_circles_of_pure_chance_pass() -> None:
    """Where every vote is a coin, circles are what chance gives; seeds are not picked."""
    generator = np.random.default_rng(0)
    for _ in range(20):
        n = 2000
        left = generator.integers(0, 30, n)
        right = (left + generator.integers(1, 30, n)) % 30
        votes = Votes.from_arrays([1] * n, left, right, generator.choice([-1.0, 1.0], n))
        assert trust_panel(votes)["circles"].status == "passed"


def test_few_circles_of_one_ranking_pass() -> None:
    """Six items have ten circles, whose energy varies by half: 1.5 times it is no news."""
    passed = 0
    for seed in range(100):
        generator = np.random.default_rng(seed)
        left = generator.integers(0, 6, 300)
        right = (left + generator.integers(1, 6, 300)) % 6
        chance = 1.0 / (1.0 + np.exp(0.4 * (left - right)))
        choice = np.where(generator.random(300) < chance, 1.0, -1.0)
        who = generator.integers(0, 10, 300)
        passed += check_circles(Votes.from_arrays(who, left, right, choice)).status == "passed"
    assert passed >= 97


def test_ties_by_chance_bend_no_circle() -> None:
    """Ties halve the mean choice of far and of near pairs alike: no scores would do that."""
    generator = np.random.default_rng(3)
    n = 200_000
    left = generator.integers(0, 8, n)
    right = (left + generator.integers(1, 8, n)) % 8
    chance = 1.0 / (1.0 + np.exp(0.9 * (left - right)))
    choice = np.where(generator.random(n) < chance, 1.0, -1.0)
    choice[generator.random(n) < 0.5] = 0.0
    votes = Votes.from_arrays(generator.integers(0, 50, n), left, right, choice)
    assert check_circles(votes).status == "passed"


def test_strong_preferences_are_no_circles() -> None:
    """Mean choices of a steep ranking bend; with a million votes that is not chance any more."""
    generator = np.random.default_rng(1)
    n = 1_000_000
    left = generator.integers(0, 8, n)
    right = (left + generator.integers(1, 8, n)) % 8
    chance = 1 / (1 + np.exp(1.5 * (left - right)))
    votes = Votes.from_arrays(
        [1] * n, left, right, np.where(generator.random(n) < chance, 1.0, -1.0)
    )
    check = trust_panel(votes)["circles"]
    assert check.status == "passed"


def test_rows_left_out(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("annotator,left,right,choice\na,x,y,1\na,x,x,1\na,x,y,\n")
    with pytest.warns(UserWarning):
        votes = read_votes(path)
    check = trust_panel(votes)["rows left out"]
    assert check.status == "warn"
    assert "1 row without a verdict, 1 comparing an item with itself (of 3)" in check.finding


def test_long_labels_are_shortened_in_words_but_not_in_the_list() -> None:
    label = "x" * 500
    panel = trust_panel(with_more(healthy(), ("a1", label, "i0", -1.0)))
    assert len(panel["never won"].finding) < 200
    assert panel["never won"].concerned == (label,)


def test_real_votes(data_dir: Path) -> None:
    """Image quality: the smaller id is always left; the known clickers are found."""
    panel = trust_panel(read_votes(data_dir / "iqa_ref1.csv"))
    assert panel["both orders"].finding == "0 of 120 pairs were shown in both orders"
    assert {2, 23, 29, 177} <= set(panel["sides chosen"].concerned)
    judges = trust_panel(read_votes(data_dir / "llm_position_bias.csv"))
    assert judges.status == "fail"
    assert judges["both orders"].status == "passed"


def test_meetings_are_the_distinct_votes() -> None:
    votes = with_more(healthy(), ("a1", "i0", "i1", 0.0))
    met = Meetings.of(votes)
    found = set(zip(met.left, met.right, met.side, met.known, strict=True))
    side = np.sign(votes.choice).astype(int)
    assert len(found) == len(met.left)
    assert found == set(zip(votes.left, votes.right, side, votes.position_known, strict=True))


def test_one_pair_of_one_annotator_in_plain_words() -> None:
    votes = Votes.from_arrays(["a"] * 20, ["x"] * 20, ["y"] * 20, [1.0] * 19 + [-1.0])
    panel = trust_panel(votes)
    assert panel["both orders"].finding == "0 of 1 pair was shown in both orders"
    assert panel["votes per annotator"].finding == "20 votes"
    assert panel["circles"].status == "unchecked"


def test_a_tier_of_one_vote_is_not_to_be_trusted() -> None:
    panel = trust_panel(with_more(healthy(), ("a1", "newcomer", "i3", 1.0)))
    assert "read the rank intervals" in panel["finite scores"].advice


def test_where_everybody_agrees_there_is_no_circle() -> None:
    left, right = np.triu_indices(6, 1)
    agreed = Votes.from_arrays(["a"] * 15 + ["b"] * 15, [*left, *right], [*right, *left],
                               [1.0] * 15 + [-1.0] * 15)  # fmt: skip
    check = trust_panel(agreed)["circles"]
    assert check.status == "passed"
    assert check.finding == "what most prefer has no circle (a over b over c over a)"
    around = with_more(agreed, *[("c", 5, 0, 1.0)] * 4)
    assert "circles (a over b over c over a) hold" in trust_panel(around)["circles"].finding


def test_what_few_votes_cannot_tell_is_not_said_to_have_passed() -> None:
    three = trust_panel(Votes.from_arrays(list("xyz"), list("aba"), list("bcc"), [1.0] * 3))
    assert three["sides seen"].finding == "cannot be checked: nobody cast 10 votes"
    assert three["sides chosen"].status == "unchecked"
    assert "3 votes may go to one side by chance" in three["sides chosen"].finding
    many = trust_panel(healthy(annotator=list(range(3000))))["sides chosen"]
    assert many.status == "passed"
    assert many.finding.endswith("nobody alone cast enough votes to tell")


@pytest.mark.parametrize(("shown", "is_told"), [(1, True), (4, False)])
def test_texts_shown_once_are_told_of_their_models(shown: int, is_told: bool) -> None:
    left, right = (np.repeat(np.arange(start, 40, 2), shown) for start in (0, 1))
    choice = np.where(np.arange(len(left)) % 2, 1.0, -1.0)
    panel = trust_panel(Votes.from_arrays(["ann"] * len(left), left, right, choice))
    advice = {check.name: check.advice for check in panel.checks}["votes per item"]
    assert ("rank the models: --left, --right" in advice) is is_told
