"""Plain rankings: one score for each item from everybody's votes, fast and in one line."""

from prefpath.plain.ranking import PlainRanking
from prefpath.plain.scoring import rank

__all__ = ["PlainRanking", "rank"]
