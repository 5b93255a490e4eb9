"""The one count of verdicts that terminal, JSON and report show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prefpath.diagnose.verdicts import FOLLOWS, GOES_WITH, NOT_DECIDED, STANDING_OUT


@dataclass(frozen=True)
class Headline:
    """How many annotators have which verdict, and how many have entered the path.

    Two different counts: verdicts come from tests of the votes at false-discovery rate `q`, with
    the evidence their word needs; the path's come from where cross-validation stopped.

    Attributes
    ----------
    counts : dict
        Annotators by verdict, every word of `VERDICTS` in order, zeros included.
    q : float
        About this share of those who stand out may do so by chance.
    t : float
        Time at which the path was stopped.
    entered : dict
        Annotators whose effect has entered the path at t, by kind of effect.
    common_first : float or None
        How often everybody together chooses the first of two equal items, where that was fitted.

    Examples
    --------
    >>> found = Headline({FOLLOWS: 2, "noisy": 1, "inconclusive": 3}, 0.1, 4.0, {"deviation": 1})
    >>> found.n_annotators, found.n_standing_out, found.n_not_decided
    (6, 1, 3)
    """

    counts: dict[str, int]
    q: float
    t: float
    entered: dict[str, int]
    common_first: float | None = None

    @property
    def n_annotators(self) -> int:
        return sum(self.counts.values())

    @property
    def n_standing_out(self) -> int:
        return self.n_with(*STANDING_OUT)

    @property
    def n_following(self) -> int:
        """Who follows the crowd, or goes with it as far as the votes tell."""
        return self.n_with(FOLLOWS, GOES_WITH)

    @property
    def n_not_decided(self) -> int:
        return self.n_with(*NOT_DECIDED)

    def n_with(self, *words: str) -> int:
        """How many have one of some verdicts."""
        return sum(self.counts.get(word, 0) for word in words)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "n_annotators": self.n_annotators,
            "n_standing_out": self.n_standing_out,
            "n_following": self.n_following,
            "n_not_decided": self.n_not_decided,
            "by_verdict": dict(self.counts),
            "false_discovery_rate": self.q,
            "t": self.t,
            "entered_the_path": dict(self.entered),
            "common_first": self.common_first,
        }
