"""Rivals of the multi-level models, behind one contract: see `Baseline`."""

from prefpath.baselines.base import Baseline
from prefpath.baselines.boosted_trees import DART, GBDT
from prefpath.baselines.borda import Borda
from prefpath.baselines.bradley_terry import BradleyTerry
from prefpath.baselines.crowd_bt import CrowdBT
from prefpath.baselines.elo import Elo
from prefpath.baselines.hierarchical import L1, BTSigma, HeterogeneousJudges, Ridge, RidgeSlopes
from prefpath.baselines.hodge_rank import HodgeRank
from prefpath.baselines.rank_boost import RankBoost
from prefpath.baselines.rank_centrality import RankCentrality
from prefpath.baselines.rank_net import RankNet
from prefpath.baselines.rank_svm import RankSVM
from prefpath.baselines.registry import BASELINES, make_baseline
from prefpath.baselines.urlr import URLR

__all__ = [
    "BASELINES",
    "DART",
    "GBDT",
    "L1",
    "URLR",
    "BTSigma",
    "Baseline",
    "Borda",
    "BradleyTerry",
    "CrowdBT",
    "Elo",
    "HeterogeneousJudges",
    "HodgeRank",
    "RankBoost",
    "RankCentrality",
    "RankNet",
    "RankSVM",
    "Ridge",
    "RidgeSlopes",
    "make_baseline",
]
