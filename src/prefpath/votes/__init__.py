"""From anything a user has to `Votes`: read, check, encode."""

from prefpath.votes.ratings import ratings_to_votes
from prefpath.votes.read import read_votes
from prefpath.votes.votes import Votes

__all__ = ["Votes", "ratings_to_votes", "read_votes"]
