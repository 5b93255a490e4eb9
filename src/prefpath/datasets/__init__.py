"""Real votes: the paper's data, MovieLens and crowds that compare language models.

None of them is part of this package (their terms are their owners'). They are found in the
folder that the environment variable PREFPATH_DATA names, in the cache, or, where an address is
known, downloaded into the cache. Every file is checked against a SHA-256 pinned here.
"""

from __future__ import annotations

from dataclasses import dataclass

from prefpath.datasets.fetch import PinnedFile, find_file
from prefpath.datasets.movie_subset import (
    PAPER_MOVIES as PAPER_MOVIE_NUMBERS,
)
from prefpath.datasets.movie_subset import draw_movies, read_ratings, subset_votes
from prefpath.datasets.movielens import Size, movielens_tables
from prefpath.votes import Votes, ratings_to_votes, read_votes
from prefpath.votes.features import ItemFeatures, read_feature_table

__all__ = [
    "Dataset",
    "load_iqa",
    "load_llm_judges",
    "load_llmfao",
    "load_movielens",
    "load_movielens_subset",
    "load_paper_movies",
    "load_worldcollege",
]

_PAPER = "the data package of the paper (MovieLens terms apply to its movies)"

IQA = PinnedFile(
    "iqa_ref1.csv",
    "6afbde7f8959f5374ad37a4ee9a48fa88d046c0876952d971e831e53ac602b6b",
    obtain=_PAPER,
)
WORLDCOLLEGE = PinnedFile(
    "worldcollege.csv",
    "35a7be60db5dec5de182d62029aedee3b4b80d4819064c5a2eed4a5248b8d2e3",
    obtain="the authors' package for ICML 2016 (All Our Ideas, MIT licence)",
)
PAPER_MOVIES = PinnedFile(
    "movie_pami.csv",
    "9c64e0cbdd65790419863a0ecd08ba15876cb91d463f0b7183125c01959fb3cf",
    obtain=_PAPER,
)
PAPER_MOVIE_GENRES = PinnedFile(
    "movie_pami_items.csv",
    "30515a01997f35605279611c87c514268f506404595b08e33a60e41a4a598799",
    obtain=_PAPER,
)
LLMFAO = PinnedFile(
    "llmfao_crowd.csv",
    "aa6a7d074accb96d9b1bedab1f3a11e3c5e6e910b3a719c274ed310c67724daf",
    obtain="the crowd's comparisons in github.com/dustalov/llmfao (CC BY 4.0), with columns "
    "annotator, left, right, choice, prompt, id",
)
LLM_JUDGES = PinnedFile(
    "llm_position_bias.csv",
    "9d8c4274467b036d955158ef167fca987daa2700e6b4627eb48913dffb61fcc6",
    obtain="github.com/Slimshilin/Position-Bias-Analyzer (MIT), with columns annotator, left, "
    "right, choice, raw, bench, task, question, repetition",
)


@dataclass(frozen=True)
class Dataset:
    """Votes, and features of the items where the data have them."""

    votes: Votes
    features: ItemFeatures | None = None


def load_iqa() -> Dataset:
    """Image quality, reference image 1 (LIVE and IVC): 4,429 votes, 172 annotators, 16 items.

    The smaller id is always on the left, and 371 votes are ties.
    """
    return Dataset(read_votes(find_file(IQA)))


def load_worldcollege() -> Dataset:
    """Which university would you rather attend: 8,823 votes, 340 annotators, 261 items."""
    return Dataset(read_votes(find_file(WORLDCOLLEGE)))


def load_paper_movies(group: str | None = None) -> Dataset:
    """The paper's MovieLens subset: 22,300 votes, 420 annotators, 100 movies, 18 genres.

    The pairs come from ratings, so position is unknown, although the winner stands left.

    Parameters
    ----------
    group : {"gender", "age", "occupation"}, optional
        Groups in the annotators' place.
    """
    votes = read_votes(find_file(PAPER_MOVIES), group=group, position_known=False)
    return Dataset(votes, read_feature_table(find_file(PAPER_MOVIE_GENRES)))


def load_llmfao() -> Dataset:
    """Crowd workers compare answers of 59 language models: 8,931 votes, 124 annotators."""
    return Dataset(read_votes(find_file(LLMFAO)))


def load_llm_judges() -> Dataset:
    """Nine language models judge ten others, every pair in both orders: 9,042 votes."""
    return Dataset(read_votes(find_file(LLM_JUDGES)))


def load_movielens(
    size: Size = "1m",
    *,
    pairs_per_annotator: int | None = 100,
    seed: int = 0,
    group: str | None = None,
) -> Dataset:
    """MovieLens: pairs of movies one person rated differently, and the movies' genres.

    Parameters
    ----------
    size : {"100k", "1m"}
        100,000 ratings of 943 people, or 1,000,209 of 6,040.
    pairs_per_annotator, seed : int
        At most so many pairs of each person, drawn at random. All pairs of the larger one are
        137 million.
    group : {"gender", "age", "occupation", "zip"}, optional
        Groups in the annotators' place.

    References
    ----------
    Harper, Konstan: The MovieLens datasets: history and context. ACM TiiS 5 (2015) 19.
    """
    tables = movielens_tables(size)
    votes = ratings_to_votes(
        tables.ratings,
        group=group,
        annotators=None if group is None else tables.annotators,
        pairs_per_annotator=pairs_per_annotator,
        seed=seed,
    )
    features = read_feature_table(tables.items, columns=tables.genres)
    return Dataset(votes, features)


def load_movielens_subset(*, seed: int | None = None, group: str | None = None) -> Dataset:
    """The paper's 22,300 votes from the full MovieLens 1M, or another subset by the same rule.

    Users have 20 to 100 ratings and rated more than 10 of the 100 movies; every two movies that
    one of them rated differently are a vote. Users and movies keep MovieLens's numbers; the
    votes are those of `load_paper_movies`.

    Parameters
    ----------
    seed : int, optional
        Draw 100 other movies among those that at least 80 users with at most 100 ratings
        rated, as the paper's were; None for the paper's own.
    group : {"gender", "age", "occupation", "zip"}, optional
        Groups in the annotators' place, in MovieLens's codes.
    """
    tables = movielens_tables("1m")
    ratings = read_ratings(tables.ratings)
    movies = PAPER_MOVIE_NUMBERS if seed is None else draw_movies(ratings, seed)
    people = None if group is None else tables.annotators
    votes = subset_votes(ratings, movies, group=group, annotators=people)
    return Dataset(votes, read_feature_table(tables.items, columns=tables.genres))
