"""The paper's movies from the full MovieLens 1M."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from prefpath import VoteError, datasets
from prefpath.datasets.movie_subset import (
    PAPER_MOVIES,
    Ratings,
    draw_movies,
    eligible_movies,
    read_ratings,
    select_ratings,
    subset_votes,
)
from prefpath.votes import Votes


def _ratings(rows: list[tuple[int, int, int]]) -> Ratings:
    return Ratings(*np.array(rows, dtype=np.int64).T)


def _rows(user: int, n_ratings: int) -> list[tuple[int, int, int]]:
    """A user who rated the movies 1, 2, ..., each with another rating than its neighbours."""
    return [(user, movie, movie % 5 + 1) for movie in range(1, n_ratings + 1)]


def test_users_need_20_to_100_ratings_and_more_than_10_of_the_movies() -> None:
    ratings = _ratings([*_rows(1, 19), *_rows(2, 20), *_rows(3, 100), *_rows(4, 101)])
    assert set(select_ratings(ratings, range(1, 12)).user) == {2, 3}
    assert set(select_ratings(ratings, range(10, 21)).user) == {2, 3}
    assert set(select_ratings(ratings, range(11, 22)).user) == {3}  # 2 rated ten of them
    assert set(select_ratings(ratings, range(1, 12)).movie) == set(range(1, 12))


def test_a_vote_is_two_movies_rated_differently() -> None:
    votes = subset_votes(_ratings(_rows(7, 20)), range(1, 12))
    rating = np.arange(1, 12) % 5
    differ = (rating[:, None] > rating).sum()
    assert votes.n_votes == differ
    assert not votes.position_known.any()


def test_movies_nobody_rated(tmp_path: Path) -> None:
    with pytest.raises(VoteError, match="nobody with 20 to 100 ratings"):
        subset_votes(_ratings(_rows(1, 20)), [500])
    with pytest.raises(VoteError, match="only 0 movies"):
        draw_movies(_ratings(_rows(1, 20)), seed=0)


def _named(
    votes: Votes, users: dict[int, int], movies: dict[int, int]
) -> set[tuple[int, int, int]]:
    """Votes as (user, winner, loser), with other numbers."""
    first = np.where(votes.choice > 0, votes.left, votes.right)
    second = np.where(votes.choice > 0, votes.right, votes.left)
    return {
        (users[int(votes.annotators[u])], movies[int(votes.items[i])], movies[int(votes.items[j])])
        for u, i, j in zip(votes.annotator, first, second, strict=True)
    }


def test_the_rule_gives_the_papers_own_votes(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All 420 users, 100 movies and 22,300 votes, one by one, and their occupations."""
    monkeypatch.setenv("PREFPATH_DATA", str(data_dir))
    ours, theirs = datasets.load_movielens_subset().votes, datasets.load_paper_movies().votes
    users = {int(label): k for k, label in enumerate(sorted(ours.annotators), start=1)}
    movies = {movie: k for k, movie in enumerate(PAPER_MOVIES, start=1)}
    identity = {k: k for k in range(1, 421)}
    assert (len(users), ours.n_votes, theirs.n_votes) == (420, 22_300, 22_300)
    assert _named(ours, users, movies) == _named(theirs, identity, identity)


def test_the_papers_movies_are_eligible(data_dir: Path) -> None:
    ratings = read_ratings(data_dir / "ml1m_ratings.parquet")
    among = eligible_movies(ratings)
    assert len(among) == 526
    assert set(PAPER_MOVIES) <= set(among.tolist())
    other = draw_movies(ratings, seed=1)
    assert len(set(other.tolist())) == 100
    assert set(other.tolist()) <= set(among.tolist())
    assert not np.array_equal(other, PAPER_MOVIES)


def test_occupations_of_the_subset_are_the_papers_codes_less_one(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The paper counts MovieLens's 21 occupations from 1, MovieLens counts them from 0."""
    monkeypatch.setenv("PREFPATH_DATA", str(data_dir))
    ours = datasets.load_movielens_subset(group="occupation").votes
    theirs = datasets.load_paper_movies(group="occupation").votes
    for_code = {int(label) + 1: _weight_of(ours, label) for label in ours.annotators}
    assert for_code == {int(label): _weight_of(theirs, label) for label in theirs.annotators}


def _weight_of(votes: Votes, label: object) -> float:
    code = votes.annotators.tolist().index(label)
    return float(votes.weight[votes.annotator == code].sum())
