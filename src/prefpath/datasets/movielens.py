"""MovieLens 100K and 1M from their official archives, as uniform tables."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from prefpath.datasets.fetch import PinnedFile, cache_folder, data_folder, find_file
from prefpath.errors import VoteError
from prefpath.tables import write_table

Size = Literal["100k", "1m"]
Columns = dict[str, NDArray[np.object_] | NDArray[np.int64]]

_SITE = "https://files.grouplens.org/datasets/movielens/"
ARCHIVES: dict[str, PinnedFile] = {
    "100k": PinnedFile(
        "ml-100k.zip",
        "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
        _SITE + "ml-100k.zip",
    ),
    "1m": PinnedFile(
        "ml-1m.zip",
        "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
        _SITE + "ml-1m.zip",
    ),
}
# The same tables, already uniform, where the user's folder has them.
UNIFORM_1M = (
    PinnedFile(
        "ml1m_ratings.parquet",
        "99e620eebb008a3cc7e0aaa35ec01eb234da392710683c042f0b39691a12e838",
    ),
    PinnedFile(
        "ml1m_annotators.csv", "3368bb38c321dc821776f073b7be1460b25e0e43304ec94f73b2aeddf829f110"
    ),
    PinnedFile(
        "ml1m_items.csv", "15c2ba1a076eeb163f5b3ca6480a6d2030d7ce07f485050a6df4acd84f707ab3"
    ),
)
GENRES = (
    "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime", "Documentary", "Drama",
    "Fantasy", "Film-Noir", "Horror", "Musical", "Mystery", "Romance", "Sci-Fi", "Thriller",
    "War", "Western",
)  # fmt: skip


@dataclass(frozen=True)
class MovieLensTables:
    """Files with columns user, movie, rating; annotator, gender, ...; item, title, genres."""

    ratings: Path
    annotators: Path
    items: Path
    genres: tuple[str, ...] = GENRES


def movielens_tables(size: Size) -> MovieLensTables:
    """The tables of a MovieLens data set; made from its archive once, and kept in the cache."""
    if size not in ARCHIVES:
        raise VoteError(f"there is no MovieLens {size!r} here", expected="100k or 1m")
    folder = data_folder()
    if size == "1m" and folder and all((folder / file.name).is_file() for file in UNIFORM_1M):
        ratings, annotators, items = (find_file(file) for file in UNIFORM_1M)
        return MovieLensTables(ratings, annotators, items)
    return convert_archive(find_file(ARCHIVES[size]), cache_folder() / f"ml-{size}")


def convert_archive(archive: Path, folder: Path) -> MovieLensTables:
    """Uniform tables in `folder` from an archive of either layout.

    MovieLens 1M has `ratings.dat`, `users.dat` and `movies.dat` with "::" between fields;
    100K has `u.data` with tabs, and `u.user` and `u.item` with bars. Text is Latin-1.
    """
    tables = MovieLensTables(
        folder / "ratings.parquet", folder / "annotators.parquet", folder / "items.parquet"
    )
    if tables.items.is_file():  # written last
        return tables
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with zipfile.ZipFile(archive) as members:
            names = {Path(name).name: name for name in members.namelist()}

            def read(name: str) -> str:
                return members.read(names[name]).decode("latin-1")

            parsed = _parse_1m(read) if "ratings.dat" in names else _parse_100k(read)
    except (zipfile.BadZipFile, KeyError, ValueError, IndexError) as error:
        raise VoteError(
            f"{archive} is not a MovieLens archive: {error}",
            expected="ratings.dat, users.dat and movies.dat, or u.data, u.user and u.item",
        ) from error
    for columns, path in zip(
        parsed, (tables.ratings, tables.annotators, tables.items), strict=True
    ):
        write_table(columns, path)
    return tables


def _parse_1m(read: Callable[[str], str]) -> tuple[Columns, Columns, Columns]:
    users = [line.split("::") for line in read("users.dat").splitlines()]
    movies = [line.split("::") for line in read("movies.dat").splitlines()]
    genres = [set(movie[2].split("|")) for movie in movies]
    return (
        _ratings(read("ratings.dat").replace("::", " ")),
        _people([(user[0], user[1], user[2], user[3], user[4]) for user in users]),
        _items(
            [movie[0] for movie in movies],
            [movie[1] for movie in movies],
            [[int(name in own) for name in GENRES] for own in genres],
        ),
    )


def _parse_100k(read: Callable[[str], str]) -> tuple[Columns, Columns, Columns]:
    users = [line.split("|") for line in read("u.user").splitlines()]
    movies = [line.split("|") for line in read("u.item").splitlines()]
    flags = [[int(flag) for flag in movie[-len(GENRES) :]] for movie in movies]
    return (
        _ratings(read("u.data")),
        _people([(user[0], user[2], user[1], user[3], user[4]) for user in users]),
        _items([movie[0] for movie in movies], [movie[1] for movie in movies], flags),
    )


def _ratings(text: str) -> Columns:
    """User, movie, rating and time, four numbers a line."""
    numbers = np.array(text.split(), dtype=np.int64).reshape(-1, 4)
    return {"user": numbers[:, 0], "movie": numbers[:, 1], "rating": numbers[:, 2]}


def _people(rows: Sequence[tuple[str, str, str, str, str]]) -> Columns:
    number, gender, age, occupation, postcode = zip(*rows, strict=True)
    return {
        "annotator": np.array(number, dtype=np.int64),
        "gender": np.array(gender, dtype=object),
        "age": np.array(age, dtype=np.int64),
        "occupation": np.array(occupation, dtype=object),
        "zip": np.array(postcode, dtype=object),
    }


def _items(numbers: Sequence[str], titles: Sequence[str], flags: list[list[int]]) -> Columns:
    matrix = np.array(flags, dtype=np.int64)
    columns: Columns = {
        "item": np.array(numbers, dtype=np.int64),
        "title": np.array(titles, dtype=object),
    }
    return columns | {name: matrix[:, place] for place, name in enumerate(GENRES)}
