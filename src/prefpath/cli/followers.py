"""`prefpath fit --followers`: the ranking of those who are not shown to rank otherwise."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from prefpath.errors import VoteWarning
from prefpath.text import counted

if TYPE_CHECKING:
    from prefpath.estimators import PreferenceModel
    from prefpath.findings import Findings


@dataclass(frozen=True)
class FollowersBoard:
    """Their leaderboard; without columns where it would be everybody's, or nobody's."""

    ranking: Mapping[str, Any]
    n_followers: int
    n_annotators: int
    voter: str
    intervals: str | None

    @property
    def meaning(self) -> str:
        """Whose ranking it is."""
        if self.n_followers == self.n_annotators:
            return (
                "Nobody is shown to rank otherwise: the ranking of those who follow is the "
                "leaderboard above."
            )
        left_out = counted(self.n_annotators - self.n_followers, self.voter)
        if not self.ranking:
            return f"All {left_out} are shown to rank otherwise: there is nobody who follows."
        return (
            f"Fitted to the votes of {self.n_followers:,} of {self.n_annotators:,} {self.voter}s, "
            f"without {left_out} shown to rank otherwise (own taste, contrary, at random, noisy, "
            "one-sided or unclear why)."
        )

    def as_json(self) -> dict[str, Any]:
        """The same, for machines."""
        from prefpath.findings.findings import records

        return {
            "annotators": self.n_followers,
            "of": self.n_annotators,
            "meaning": self.meaning,
            "intervals": self.intervals,
            "ranking": records(self.ranking),
        }


def rank_followers(findings: Findings, model: PreferenceModel) -> FollowersBoard:
    """Fit the votes of those who follow by themselves, with the settings of the first fit."""
    from prefpath.inference import leaderboard_columns
    from prefpath.inference.words import describe_intervals
    from prefpath.leaderboard import with_names

    votes, n = findings.diagnosis.followers, findings.fitted.votes.n_annotators
    n_followers, voter = votes.n_annotators, findings.fitted.votes.voter
    if n_followers in (0, n):
        return FollowersBoard({}, n_followers, n, voter, None)
    again = type(model)(**model.get_params())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)  # said of all votes already
        fitted = again.fit(votes).fitted_
    how = findings.intervals
    ranking = leaderboard_columns(fitted, how, scale=findings.scale, anchor=findings.anchor)
    ranking = with_names(ranking, findings.names)
    return FollowersBoard(ranking, n_followers, n, voter, describe_intervals(fitted, how.about))
