"""What a crowd prefers, and who in it sees things differently, from pairwise votes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from prefpath.errors import MissingExtra, PrefpathError, SettingError, VoteError, VoteWarning
from prefpath.version import __version__

if TYPE_CHECKING:
    from prefpath.diagnose import calibrated_entry as calibrated_entry
    from prefpath.diagnose import discover as discover
    from prefpath.estimators import PreferenceModel as PreferenceModel
    from prefpath.fit import fit_path as fit_path
    from prefpath.hodge import HodgeDecomposition as HodgeDecomposition
    from prefpath.hodge import hodge_decompose as hodge_decompose
    from prefpath.hodge import hodge_rank as hodge_rank
    from prefpath.model.features import ItemFeatures as ItemFeatures
    from prefpath.path import Path as Path
    from prefpath.plain import PlainRanking as PlainRanking
    from prefpath.plain import rank as rank
    from prefpath.simulate import Simulation as Simulation
    from prefpath.simulate import simulate_crowd as simulate_crowd
    from prefpath.simulate import simulate_paper as simulate_paper
    from prefpath.trust import trust_panel as trust_panel
    from prefpath.votes import Votes as Votes
    from prefpath.votes import ratings_to_votes as ratings_to_votes
    from prefpath.votes import read_votes as read_votes

# Names are imported when they are first used: reading a file need not wait for scikit-learn.
_HOME = {
    "HodgeDecomposition": "prefpath.hodge",
    "ItemFeatures": "prefpath.model.features",
    "Path": "prefpath.path",
    "PlainRanking": "prefpath.plain",
    "PreferenceModel": "prefpath.estimators",
    "Simulation": "prefpath.simulate",
    "Votes": "prefpath.votes",
    "discover": "prefpath.diagnose.discovery",
    "calibrated_entry": "prefpath.diagnose.entry",
    "fit_path": "prefpath.fit",
    "hodge_decompose": "prefpath.hodge",
    "hodge_rank": "prefpath.hodge",
    "rank": "prefpath.plain",
    "ratings_to_votes": "prefpath.votes",
    "read_votes": "prefpath.votes",
    "simulate_crowd": "prefpath.simulate",
    "simulate_paper": "prefpath.simulate",
    "trust_panel": "prefpath.trust",
}

__all__ = [
    "HodgeDecomposition",
    "ItemFeatures",
    "MissingExtra",
    "Path",
    "PlainRanking",
    "PreferenceModel",
    "PrefpathError",
    "SettingError",
    "Simulation",
    "VoteError",
    "VoteWarning",
    "Votes",
    "__version__",
    "calibrated_entry",
    "discover",
    "fit_path",
    "hodge_decompose",
    "hodge_rank",
    "rank",
    "ratings_to_votes",
    "read_votes",
    "simulate_crowd",
    "simulate_paper",
    "trust_panel",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'prefpath' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
