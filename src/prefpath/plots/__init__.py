"""Figures: each takes `ax` and returns it, draws what was computed, and computes nothing itself."""

from prefpath.plots.bars import feature_shares, hodge_energies, position_clicks
from prefpath.plots.curves import error_curve, losses, speed_up
from prefpath.plots.heatmaps import battle_counts, personal_rankings, win_fractions
from prefpath.plots.leaderboard import leaderboard
from prefpath.plots.paths import deviation_paths, position_bias_paths

__all__ = [
    "battle_counts",
    "deviation_paths",
    "error_curve",
    "feature_shares",
    "hodge_energies",
    "leaderboard",
    "losses",
    "personal_rankings",
    "position_bias_paths",
    "position_clicks",
    "speed_up",
    "win_fractions",
]
