"""What a crowd prefers, and who in it sees things differently, from pairwise votes."""

from prefpath.errors import MissingExtra, PrefpathError, SettingError, VoteError, VoteWarning
from prefpath.estimators import PreferenceModel
from prefpath.fit import fit_path
from prefpath.hodge import hodge_decompose, hodge_rank
from prefpath.model.features import ItemFeatures
from prefpath.path import Path
from prefpath.simulate import simulate_crowd, simulate_paper
from prefpath.votes import Votes, ratings_to_votes, read_votes

__version__ = "0.1.0"

__all__ = [
    "ItemFeatures",
    "MissingExtra",
    "Path",
    "PreferenceModel",
    "PrefpathError",
    "SettingError",
    "VoteError",
    "VoteWarning",
    "Votes",
    "fit_path",
    "hodge_decompose",
    "hodge_rank",
    "ratings_to_votes",
    "read_votes",
    "simulate_crowd",
    "simulate_paper",
]
