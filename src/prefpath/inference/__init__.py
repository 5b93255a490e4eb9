"""How sure one can be of the common scores: intervals, ranks and win probabilities."""

from prefpath.inference.board import IntervalSettings, leaderboard_columns
from prefpath.inference.common import common_scores, estimate_common
from prefpath.inference.intervals import CommonScores, Method
from prefpath.inference.ranks import rank_intervals
from prefpath.inference.scales import Scale, rescale

__all__ = [
    "CommonScores",
    "IntervalSettings",
    "Method",
    "Scale",
    "common_scores",
    "estimate_common",
    "leaderboard_columns",
    "rank_intervals",
    "rescale",
]
