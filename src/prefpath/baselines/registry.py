"""Every baseline by name."""

from __future__ import annotations

from typing import Any

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
from prefpath.baselines.urlr import URLR
from prefpath.errors import SettingError

BASELINES: dict[str, type[Baseline]] = {
    "ranksvm": RankSVM,
    "rankboost": RankBoost,
    "ranknet": RankNet,
    "gbdt": GBDT,
    "dart": DART,
    "urlr": URLR,
    "hodgerank": HodgeRank,
    "bradley-terry": BradleyTerry,
    "rank-centrality": RankCentrality,
    "borda": Borda,
    "elo": Elo,
    "crowdbt": CrowdBT,
    "ridge": Ridge,
    "ridge-slopes": RidgeSlopes,
    "l1": L1,
    "bt-sigma": BTSigma,
    "heterogeneous-judges": HeterogeneousJudges,
}


def make_baseline(name: str, **params: Any) -> Baseline:
    """A baseline by its name, in any case.

    Examples
    --------
    >>> make_baseline("RankSVM", C=1.0)
    RankSVM(n_folds=5, folds='auto', random_state=0, criterion='mismatch', C=1.0)
    """
    factory = BASELINES.get(name.lower())
    if factory is None:
        raise SettingError(
            f"there is no baseline {name!r}", expected=f"one of {', '.join(BASELINES)}"
        )
    return factory(**params)
