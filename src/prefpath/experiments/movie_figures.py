"""The paper's figures of movies (1 and 5): occupations, ages and genres.

The votes' occupation codes are MovieLens's plus 1 (`tests/test_movie_subset.py`). The authors'
script marks codes 8, 18 and 2 as first to deviate and 16, 20 and 9 as last: executive, technician,
educator, and scientist, unemployed, farmer. The paper's text names farmer, tradesman, artist, and
self-employed, writer, homemaker: what MovieLens's list has at 8, 18, 2 and 16, 20, 9 if the 1 is
not taken off again.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from prefpath import PreferenceModel, plots
from prefpath.experiments.figure_kit import (
    AGES,
    OCCUPATIONS,
    Figure,
    Finding,
    as_known,
    compare_order,
    entry_order,
    genres,
    movie_groups,
)
from prefpath.model.design import Floats
from prefpath.plots.style import BLUE, PALE
from prefpath.plots.tally import top_feature_shares

N_TOP_COMMON, N_TOP_AGE = 50, 20

FIRST_OCCUPATIONS = (8, 18, 2)  # codes the authors' fig1_b.m draws in red
LAST_OCCUPATIONS = (16, 20, 9)  # and in blue
# Leading two genres among the 20 movies each age prefers, as the authors' bar_figure.m has them.
PUBLISHED_AGES = (
    (("Drama", 0.2826), ("Action", 0.15)),
    (("Drama", 0.25), ("Comedy", 0.18)),
    (("Comedy", 0.3953), ("Romance", 0.1860)),
    (("Drama", 0.25), ("Comedy", 0.1875)),
    (("Thriller", 0.2), ("Drama", 0.1667)),
    (("Action", 0.1429), ("Comedy", 0.1429)),
    (("Romance", 0.2264), ("Action", 0.13)),
)


def occupation(code: object) -> str:
    """The name of an occupation by the votes' code, which counts from 1.

    >>> occupation(9)
    'farmer'
    """
    return OCCUPATIONS[int(str(code)) - 1]


def genre_shares(scores: Floats, features: Floats, n_top: int) -> Floats:
    """Share of each genre among all genres of the movies with the highest scores."""
    mean = top_feature_shares(scores, features, n_top)
    return mean / mean.sum()


def genres_of(model: PreferenceModel) -> Floats:
    """The genres of the movies a model was fitted with, one row a movie."""
    features = model.path_.features
    assert features is not None
    return features


def common_genres(quick: bool) -> Finding:
    """Share of the 50 movies everybody prefers that have a genre."""
    model = movie_groups("occupation", quick)
    shares = top_feature_shares(model.path_.scores(model.t_), genres_of(model), N_TOP_COMMON)
    return _bars({"common": shares}, "share of the movies that have the genre")


def common_genre_marks(quick: bool) -> Finding:
    """The same as the share of all genre marks, as the authors' script counts."""
    model = movie_groups("occupation", quick)
    shares = genre_shares(model.path_.scores(model.t_), genres_of(model), N_TOP_COMMON)
    return _bars({"common": shares}, "share of all genres these movies have")


def _bars(shares: dict[str, Floats], what: str) -> Finding:
    names = genres()
    ax = plots.feature_shares(shares, names)
    ax.set_ylabel(what)
    first = ", ".join(
        f"{names[k]} {shares['common'][k]:.3f}" for k in np.argsort(-shares["common"])[:3]
    )
    words = f"most frequent among the {N_TOP_COMMON} movies: {first}; the paper prints no numbers"
    return Finding(
        words, {"genre": names, **{name: each.tolist() for name, each in shares.items()}}
    )


def occupation_paths(quick: bool) -> Finding:
    """How far each occupation is from the common preference along the path."""
    model = movie_groups("occupation", quick)
    plots.deviation_paths(model.path_, t=model.t_)
    order = entry_order(model, "deviation")
    entered = dict(zip(model.path_.annotators.tolist(), model.path_.entered.tolist(), strict=True))
    first = compare_order(order, FIRST_OCCUPATIONS)
    never = [code for code in entered if int(code) not in order]
    last = [*order, *map(int, never)][::-1]
    late = compare_order(last, LAST_OCCUPATIONS[::-1])
    words = (
        f"the first to deviate are {_names(order[:3])}: {first} with those the authors' script "
        f"draws as first; the last are {_names(last[:3])}: {late} "
        f"with those it draws as last. {_beside_the_authors_own_path(model)}"
    )
    codes = list(entered)
    columns = {
        "code": codes,
        "occupation": [occupation(code) for code in codes],
        "entered": [entered[code] for code in codes],
    }
    return Finding(words, columns)


def _names(codes: Sequence[object]) -> str:
    return ", ".join(occupation(code) for code in codes)


def _beside_the_authors_own_path(model: PreferenceModel) -> str:
    """Whether each occupation pops up where it does in the result the authors stored."""
    stored = Path(os.environ["PREFPATH_DATA"]).parent / "golden"
    file = stored / "movie_occupation21_BT_MATLAB.npz"
    if not file.exists():
        return "The authors' stored path is not here to compare with"
    with np.load(file) as golden:
        grid, theirs = golden["tlist"], golden["xi_first_t"]
    path = model.path_
    ours = {int(str(u)): t for u, t in zip(path.annotators, path.entered, strict=True)}
    reached = [code for code, t in enumerate(theirs, start=1) if t <= path.times[-1]]
    same = sum(
        int(np.searchsorted(grid, ours[code])) == int(np.searchsorted(grid, theirs[code - 1]))
        for code in reached
    )
    return (
        f"On the path the authors stored, {same} of the {len(reached)} occupations that our path "
        "reaches pop up in the same step of the grid as here"
    )


def occupation_genres(codes: Sequence[int], quick: bool) -> Finding:
    """Genres that some occupations prefer beside the common ones."""
    model = movie_groups("occupation", quick)
    path, t = model.path_, model.t_
    label = {int(str(own)): own for own in path.annotators}
    scores = {"common": path.scores(t)}
    scores |= {occupation(code): path.personal_scores(label[code], t) for code in codes}
    shares = {name: top_feature_shares(each, genres_of(model), N_TOP_COMMON)
              for name, each in scores.items()}  # fmt: skip
    found = _bars(shares, "share of the movies that have the genre")
    moved = (
        f"{name} {np.abs(shares[name] - shares['common']).sum():.2f}" for name in list(shares)[1:]
    )
    return Finding(f"distance of the shares from common: {', '.join(moved)}", found.columns)


def age_genres(quick: bool) -> Finding:
    """The two leading genres among the 20 movies each age prefers, beside the published ones."""
    model = movie_groups("age", quick)
    path, t, names = model.path_, model.t_, genres()
    label = {int(str(own)): own for own in path.annotators}
    rows: list[tuple[str, str, float, float | None]] = []
    for code, published in enumerate(PUBLISHED_AGES, start=1):
        scores = path.personal_scores(label[code], t)
        shares = genre_shares(scores, genres_of(model), N_TOP_AGE)
        theirs = dict(published)
        for k in np.argsort(-shares, kind="stable")[:2]:
            rows.append((AGES[code - 1], names[k], float(shares[k]), theirs.get(names[k])))
    _draw_ages(rows)
    same = [row for row in rows if row[3] is not None]
    off = max((abs(ours - theirs) for _, _, ours, theirs in same if theirs is not None), default=0)
    leads = sum(rows[2 * k][1] == PUBLISHED_AGES[k][0][0] for k in range(len(AGES)))
    words = (
        f"{leads} of 7 leading genres and {len(same)} of 14 genres are the published ones; the "
        f"largest difference of their shares is {off:.3f} (t_cv depends on the folds)"
    )
    age, genre, ours_, theirs_ = zip(*rows, strict=True)
    return Finding(words, {"age": age, "genre": genre, "share": ours_, "published": theirs_})


def _draw_ages(rows: Sequence[tuple[str, str, float, float | None]]) -> None:
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=(9.0, 4.2), layout="constrained")
    place = [k + k // 2 for k in range(len(rows))]  # a gap after each age
    ax.bar([p - 0.2 for p in place], [row[2] for row in rows], 0.38, color=BLUE, label="ours")
    known = [(p, row[3]) for p, row in zip(place, rows, strict=True) if row[3] is not None]
    ax.bar(
        [p + 0.2 for p, _ in known], [y for _, y in known], 0.38, color=PALE, label="the paper's"
    )
    ax.set_xticks(place, [f"{row[1]}\n{row[0]}" for row in rows], rotation=60, ha="right")
    ax.set_ylabel("share of all genres of the 20 movies")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)


MOVIE_FIGURES = (
    Figure(
        "movie-common", "genres among the 50 movies everybody prefers", common_genres, "1a",
        "we could not see the paper's figure 1a, for which the authors published no code; this is "
        "our figure of the common preference for genres",
    ),
    Figure(
        "movie-paths", "paths of the 21 occupations", occupation_paths, "1b",
        as_known("1b", "paths of 21 occupations and the common part, Bradley-Terry to ratio 100, "
                 "the first three in red and the last three in blue (the authors' fig1_b.m)"),
    ),
    Figure(
        "movie-genres", "genres among the 50 movies everybody prefers, of all their genres",
        common_genre_marks, "5a",
        as_known("5a", "bars of the genres' shares among the 50 movies with the highest common "
                 "score (the authors' fig5.m)"),
    ),
    Figure(
        "movie-ages", "the two leading genres of each age", age_genres, "5b",
        as_known("5b", "two leading genres among the 20 movies each of seven ages prefers, with "
                 "their shares (the authors' fig5b.m and bar_figure.m, which has the numbers)"),
    ),
    Figure("movie-first", "genres by the occupations that deviate first",
           lambda quick: occupation_genres(FIRST_OCCUPATIONS, quick)),
    Figure("movie-last", "genres by the occupations that deviate last",
           lambda quick: occupation_genres(LAST_OCCUPATIONS, quick)),
)  # fmt: skip
