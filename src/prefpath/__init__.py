"""What a crowd prefers, and who in it sees things differently, from pairwise votes."""

from prefpath.errors import MissingExtra, PrefpathError, VoteError, VoteWarning
from prefpath.votes import Votes, read_votes

__version__ = "0.1.0"

__all__ = [
    "MissingExtra",
    "PrefpathError",
    "VoteError",
    "VoteWarning",
    "Votes",
    "read_votes",
]
