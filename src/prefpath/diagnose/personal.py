"""Personal leaderboards: the ranking of an annotator, or of several, beside the common one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.diagnose.tastes import discordant_share
from prefpath.errors import VoteError
from prefpath.fitted import Fitted, HasFitted, as_fitted, order_within, rank_within
from prefpath.model.design import Floats, Ints
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, Labels
from prefpath.weak import WeakEffects


@dataclass(frozen=True, eq=False)
class PersonalRanking:
    """How one annotator, or a group of them, ranks the items at time `t`.

    Attributes
    ----------
    annotators : array
        Whose ranking it is.
    votes : float
        Weight of their votes.
    common, own : array (n_items,)
        Common scores, and the deviation from them; personal scores are their sum. The
        deviation of a group is the mean of its members', weighted by votes.
    shown : array (n_items,)
        Weight of their votes on each item: where it is 0, nothing of the rank is their own.
    component : array (n_items,)
        Ranks hold among items of one component.
    """

    annotators: Labels
    items: Labels
    t: float
    votes: float
    common: Floats
    own: Floats
    shown: Floats
    component: Ints

    @property
    def scores(self) -> Floats:
        """Personal score of each item."""
        result: Floats = self.common + self.own
        return result

    @property
    def own_share(self) -> float:
        """How much of the ranking is their own: 0 is the common one, 1 nothing but theirs.

        Of the variance of scores over the items they saw, the deviation's part:
        `var(own) / (var(common) + var(own))`.
        """
        seen = self.shown > 0
        own, common = float(self.own[seen].var()), float(self.common[seen].var())
        return own / (own + common) if own > 0 else 0.0

    @property
    def kendall_distance(self) -> float:
        """Share of pairs of items they saw that they order otherwise than the common ranking."""
        seen = self.shown > 0
        return float(discordant_share(self.common[seen], self.scores[seen]))

    def columns(self) -> dict[str, Any]:
        """Items from their best to their worst, with the common rank beside."""
        rank = rank_within(self.scores, self.component)
        common_rank = rank_within(self.common, self.component)
        order = order_within(self.scores, self.component)
        columns: dict[str, Any] = {
            "rank": rank,
            "item": self.items,
            "score": self.scores,
            "common_rank": common_rank,
            "common_score": self.common,
            "moved": common_rank - rank,
            "own": self.own,
            "votes": self.shown,
        }
        if self.component.max() > 0:
            columns["component"] = self.component + 1
        return {name: values[order] for name, values in columns.items()}


def personal_ranking(
    model: Fitted | HasFitted, annotators: Any, *, weak: WeakEffects | None = None
) -> PersonalRanking:
    """The ranking of an annotator, or of a group of annotators, at the chosen time.

    Parameters
    ----------
    model : fitted PreferenceModel, or Fitted
    annotators : label, or sequence of labels
        One annotator, or the members of a group.
    weak : WeakEffects, optional
        Everybody's own scores under a prior; without it, only those who have entered
        the path have anything of their own.

    Examples
    --------
    >>> from prefpath import PreferenceModel, simulate_crowd
    >>> crowd = simulate_crowd(2_000, 20, 5, deviants=1, clickers=0, seed=0)
    >>> model = PreferenceModel(cv=0, n_times=10, t_ratio=20.0).fit(crowd.votes)
    >>> personal_ranking(model, crowd.deviants[0]).own_share > 0.1
    True
    """
    fitted = as_fitted(model)
    votes = fitted.votes
    members = _member_codes(votes, annotators)
    weight = votes.annotator_weight[members]
    if weight.sum() <= 0:
        raise VoteError(
            f"{votes.annotators[members[0]]!r} has no votes",
            expected="at least one vote of the annotators asked for",
        )
    common, own = _two_parts(fitted, members, weight / weight.sum(), weak)
    return PersonalRanking(
        annotators=votes.annotators[members],
        items=votes.items,
        t=fitted.t,
        votes=float(weight.sum()),
        common=common,
        own=own,
        shown=_shown_to(fitted, members),
        component=np.asarray(fitted.component, dtype=np.int64),
    )


def _two_parts(
    fitted: Fitted, members: Ints, share: Floats, weak: WeakEffects | None
) -> tuple[Floats, Floats]:
    """Common scores, and what the members' own are beyond them, on average.

    Common are those of the leaderboard, never the weak effects': few annotators with many votes
    each predict best alone, and then nothing is left that is common.
    """
    if weak is not None:
        personal = np.array([weak.personal_scores(int(code)) for code in members])
        return fitted.placed_scores, share @ personal - fitted.placed_scores
    own = np.array([fitted.own_scores(int(code)) for code in members])
    return fitted.placed_scores, share @ own


def _member_codes(votes: Votes, annotators: Any) -> Ints:
    """Codes of the annotators named; each counts once."""
    several = isinstance(annotators, Sequence | np.ndarray) and not isinstance(annotators, str)
    labels = list(annotators) if several else [annotators]
    if not labels:
        raise VoteError("no annotator is named", expected="at least one annotator")
    return np.unique([votes.annotator_code(label) for label in labels]).astype(np.int64)


def _shown_to(fitted: Fitted, members: Ints) -> Floats:
    """Weight of the members' votes on each item."""
    votes, own = fitted.votes, np.isin(np.arange(fitted.votes.n_annotators), members)
    their = votes.take(own[votes.annotator]) if fitted.remote is None else _pooled_of(fitted, own)
    shown: Floats = np.zeros(votes.n_items)
    for side in (their.left, their.right):
        shown += np.bincount(side, their.weight, votes.n_items)
    return shown


def _pooled_of(fitted: Fitted, who: BoolArray) -> Votes:
    """The votes of some annotators, pooled where they are."""
    from prefpath.fitted.remote import pooled_votes_of

    return pooled_votes_of(fitted, who)
