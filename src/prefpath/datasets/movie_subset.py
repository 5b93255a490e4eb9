"""The paper's movies, selected from the full MovieLens 1M.

The paper says: 100 movies and 420 users, with at least 20 ratings a user and at least 10 users
a movie. That does not name a subset, but its published votes, set beside MovieLens, fit exactly
one (`tests/test_movie_subset.py` checks it):

1. Light users are those with 20 to 100 ratings (everybody in MovieLens has at least 20).
2. The 100 movies are drawn from the 526 that at least 80 light users rated.
3. The users are the light ones who rated more than 10 of these movies: 420.
4. Every two movies that one of them rated differently are a vote: 22,300.

Step 2 is a random draw whose seed nobody published, so the paper's movies are listed here. What
is a rule is the rest.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from prefpath.errors import VoteError
from prefpath.tables import write_table
from prefpath.votes import Votes, ratings_to_votes

Integers = NDArray[np.int64]

N_MOVIES = 100
LEAST_RATINGS, MOST_RATINGS = 20, 100  # of a user, over all movies
LEAST_USERS = 80  # light ones, of a movie
LEAST_OWN_MOVIES = 11  # of a user, among those chosen

PAPER_MOVIES = (
    1, 3, 25, 32, 47, 144, 162, 235, 380, 480, 497, 500, 593, 594, 720, 736, 778, 785, 902, 924,
    968, 969, 1035, 1093, 1148, 1200, 1203, 1207, 1228, 1230, 1231, 1234, 1266, 1270, 1296, 1307,
    1320, 1358, 1394, 1408, 1517, 1552, 1569, 1584, 1676, 1722, 1917, 1923, 1952, 2011, 2021, 2023,
    2054, 2078, 2081, 2085, 2160, 2194, 2336, 2427, 2428, 2433, 2485, 2542, 2580, 2605, 2628, 2671,
    2692, 2713, 2719, 2797, 2826, 2863, 2915, 2916, 2987, 2997, 3033, 3037, 3072, 3104, 3157, 3174,
    3175, 3186, 3256, 3285, 3484, 3510, 3534, 3535, 3555, 3593, 3617, 3744, 3751, 3868, 3897, 3916,
)  # fmt: skip
"""MovieLens's numbers of the paper's 100 movies, in the order of the paper's own."""


class Ratings(NamedTuple):
    """Who rated what, one entry each."""

    user: Integers
    movie: Integers
    rating: Integers


def read_ratings(path: Path) -> Ratings:
    """Ratings from a Parquet file with columns user, movie and rating."""
    import duckdb

    with duckdb.connect() as database:
        found = database.execute(
            "SELECT user, movie, rating FROM read_parquet(?) ORDER BY user, movie", [str(path)]
        ).fetchnumpy()
    return Ratings(*(np.asarray(found[name], dtype=np.int64) for name in Ratings._fields))


def light_ratings(ratings: Ratings) -> Ratings:
    """The ratings of light users: step 1."""
    total = np.bincount(ratings.user)
    light = (total >= LEAST_RATINGS) & (total <= MOST_RATINGS)
    return _where(ratings, light[ratings.user])


def eligible_movies(ratings: Ratings) -> Integers:
    """The movies that enough light users rated: those that step 2 draws from.

    Examples
    --------
    >>> user = np.repeat(np.arange(80), 20)  # 80 users, 20 movies each
    >>> movie = np.tile(np.arange(20), 80)
    >>> movie[0] = 20  # the first user rated another movie instead of movie 0
    >>> eligible_movies(Ratings(user, movie, movie)).tolist() == list(range(1, 20))
    True
    """
    return np.flatnonzero(np.bincount(light_ratings(ratings).movie) >= LEAST_USERS)


def draw_movies(ratings: Ratings, seed: int, n_movies: int = N_MOVIES) -> Integers:
    """Other movies by the same rule: a random draw of those that are eligible.

    Raises
    ------
    VoteError
        There are not so many.
    """
    among = eligible_movies(ratings)
    if len(among) < n_movies:
        raise VoteError(
            f"only {len(among)} movies have {LEAST_USERS} raters with at most {MOST_RATINGS} "
            f"ratings",
            expected=f"at least {n_movies} such movies",
            remedy="use the ratings of MovieLens 1M",
        )
    return np.sort(np.random.default_rng(seed).choice(among, n_movies, replace=False))


def select_ratings(ratings: Ratings, movies: Sequence[int] | Integers) -> Ratings:
    """Ratings of the movies by the light users who rated enough of them: step 3."""
    light = light_ratings(ratings)
    chosen = _where(light, np.isin(light.movie, movies))
    own = np.bincount(chosen.user)
    return _where(chosen, own[chosen.user] >= LEAST_OWN_MOVIES)


def subset_votes(
    ratings: Ratings,
    movies: Sequence[int] | Integers,
    *,
    group: str | None = None,
    annotators: Path | None = None,
) -> Votes:
    """The votes of the subset, with MovieLens's own numbers of users and movies: step 4."""
    chosen = select_ratings(ratings, movies)
    if not len(chosen.user):
        raise VoteError(
            f"nobody with {LEAST_RATINGS} to {MOST_RATINGS} ratings rated "
            f"{LEAST_OWN_MOVIES} of these movies",
            expected="numbers of movies in MovieLens 1M",
        )
    with tempfile.TemporaryDirectory() as folder:
        file = write_table(chosen._asdict(), Path(folder) / "ratings.parquet")
        return ratings_to_votes(file, group=group, annotators=annotators)


def _where(ratings: Ratings, kept: NDArray[np.bool_]) -> Ratings:
    return Ratings(*(column[kept] for column in ratings))
