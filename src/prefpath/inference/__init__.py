"""How sure one can be of the common scores: intervals, ranks and win probabilities."""

from prefpath.inference.intervals import CommonScores, Method, estimate_common
from prefpath.inference.ranks import rank_intervals
from prefpath.inference.scales import Scale, rescale

__all__ = ["CommonScores", "Method", "Scale", "estimate_common", "rank_intervals", "rescale"]
