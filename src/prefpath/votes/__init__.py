"""From anything a user has to `Votes`: read, check, encode."""

from prefpath.votes.read import read_votes
from prefpath.votes.votes import Votes

__all__ = ["Votes", "read_votes"]
