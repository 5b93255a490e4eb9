"""Plain rankings: one score for each item from everybody's votes, fast and in one line."""

from prefpath.plain.scoring import rank
from prefpath.plain.ranking import PlainRanking

__all__ = ["PlainRanking", "rank"]
