"""All figures of the paper, and a page that says what each shows and whether it agrees.

    python -m experiments.figures                  # all of them, into out/figures/
    python -m experiments.figures iqa-paths losses # some of them
    python -m experiments.figures --list

Data come from PREFPATH_DATA, or from ../shared/data. The paper's figures are pictures: what can
be compared is what its text, its tables and its published code say (orders of annotators).
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path as FilePath

import numpy as np

from prefpath import PreferenceModel, Votes, VoteWarning, datasets, fit_path, hodge_decompose, plots
from prefpath.plots.tally import top_feature_shares

OCCUPATIONS = (
    "other", "academic/educator", "artist", "clerical/admin", "college/grad student",
    "customer service", "doctor/health care", "executive/managerial", "farmer", "homemaker",
    "K-12 student", "lawyer", "programmer", "retired", "sales/marketing", "scientist",
    "self-employed", "technician/engineer", "tradesman/craftsman", "unemployed", "writer",
)  # fmt: skip
N_TOP_MOVIES = 50

# Orders the paper prints, and its published code gives on the same votes.
IQA_LEANING = (259, 334, 177, 103, 29, 2, 260, 23, 207, 287)
WORLDCOLLEGE_LEANING = (268, 209, 156, 320, 87, 270, 267, 276, 166)
WORLDCOLLEGE_TASTE = (320, 52, 53, 106, 4, 114, 156, 24, 83)
FIRST_OCCUPATIONS = ("farmer", "tradesman/craftsman", "artist")
LAST_OCCUPATIONS = ("self-employed", "writer", "homemaker")


@dataclass(frozen=True)
class Figure:
    """A figure: its name, what it shows, and a function that draws it and says what it found."""

    name: str
    shows: str
    draw: Callable[[], str]


# ---------------------------------------------------------------- the models


@cache
def without_features(name: str) -> PreferenceModel:
    """Bradley-Terry with position bias, as in the paper's Tables 4 and 6: ties left out."""
    votes = {"iqa": datasets.load_iqa, "worldcollege": datasets.load_worldcollege}[name]().votes
    return _fitted(PreferenceModel(t_ratio=50.0), votes.without_ties())


@cache
def occupations() -> PreferenceModel:
    """Movies by genre, one block for each occupation; position is unknown."""
    data = datasets.load_paper_movies(group="occupation")
    assert data.features is not None
    place = {str(item): k for k, item in enumerate(data.features.items)}
    rows = [place[str(item)] for item in data.votes.items]
    features = data.features.matrix[rows]
    return _fitted(PreferenceModel(features=features, t_ratio=100.0, cv=4), data.votes)


def _fitted(model: PreferenceModel, votes: Votes) -> PreferenceModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)  # one order only, position unknown: known
        return model.fit(votes)


def _occupation(label: object) -> str:
    return OCCUPATIONS[int(str(label)) - 1]


def _order(model: PreferenceModel, kind: str) -> list[int]:
    """Annotators in the order in which they pop up."""
    entered = model.path_.entry_times(kind)  # type: ignore[arg-type]
    return [int(str(label)) for label in model.path_.annotators[np.argsort(entered, kind="stable")]]


def _compare(found: Sequence[object], published: Sequence[object], what: str) -> str:
    n = len(published)
    same = list(found[:n]) == list(published)
    shared = len(set(found[:n]) & set(published))
    verdict = "agrees" if shared == n else "differs"
    order = "in the same order" if same else "in another order"
    return f"{verdict}: {shared} of the paper's {n} {what} are our first {n}, {order}"


# ---------------------------------------------------------------- the figures


def losses() -> str:
    plots.losses()
    return "agrees: these are the three formulas"


def movie_common() -> str:
    model = occupations()
    names = _genres()
    shares = top_feature_shares(model.path_.scores(model.t_), model.path_.features, N_TOP_MOVIES)
    plots.feature_shares({"common": shares}, names)
    first = ", ".join(names[k] for k in np.argsort(-shares)[:3])
    return f"not compared (the paper prints no numbers): the most frequent genres are {first}"


def _genres() -> tuple[str, ...]:
    features = datasets.load_paper_movies().features
    assert features is not None
    return features.names


def movie_paths() -> str:
    model = occupations()
    plots.deviation_paths(model.path_, t=model.t_)
    order = [_occupation(label) for label in _order(model, "deviation")]
    first = _compare(order, FIRST_OCCUPATIONS, "occupations that deviate first")
    return f"{first}. {_beside_the_authors_own_path(model)}"


def _beside_the_authors_own_path(model: PreferenceModel) -> str:
    """Whether each occupation pops up where it does in the result the authors stored."""
    stored = FilePath(os.environ["PREFPATH_DATA"]).parent / "golden"
    file = stored / "movie_occupation21_BT_MATLAB.npz"
    if not file.exists():
        return "The authors' stored path is not here to compare with"
    with np.load(file) as golden:
        grid, theirs = golden["tlist"], golden["xi_first_t"]
    ours = {
        int(str(u)): t for u, t in zip(model.path_.annotators, model.path_.entered, strict=True)
    }
    same = sum(
        int(np.searchsorted(grid, ours[code])) == int(np.searchsorted(grid, t))
        for code, t in enumerate(theirs, start=1)
    )
    order = ", ".join(OCCUPATIONS[k] for k in np.argsort(theirs, kind="stable")[:3])
    return (
        f"On the path the authors stored, {same} of {len(theirs)} occupations pop up in the same "
        f"step of the grid as here; its first are {order}"
    )


def movie_groups(wanted: Sequence[str]) -> str:
    model = occupations()
    code = {_occupation(label): label for label in model.path_.annotators}
    scores = {"common": model.path_.scores(model.t_)}
    for name in wanted:
        scores[name] = model.path_.personal_scores(code[name], model.t_)
    features = model.path_.features
    shares = {
        name: top_feature_shares(score, features, N_TOP_MOVIES) for name, score in scores.items()
    }
    plots.feature_shares(shares, _genres())
    moved = {name: np.abs(shares[name] - shares["common"]).sum() for name in wanted}
    said = ", ".join(f"{name} {size:.2f}" for name, size in moved.items())
    return f"not compared (the paper prints no numbers): distance of the shares from common: {said}"


def deviation_paths(name: str) -> str:
    model = without_features(name)
    plots.deviation_paths(model.path_, t=model.t_)
    order = _order(model, "deviation")
    if name == "worldcollege":
        return _compare(order, WORLDCOLLEGE_TASTE, "personalised annotators")
    return f"not compared: the first to deviate are {', '.join(map(str, order[:5]))}"


def position_paths(name: str) -> str:
    model = without_features(name)
    plots.position_bias_paths(model.path_, t=model.t_)
    published = IQA_LEANING if name == "iqa" else WORLDCOLLEGE_LEANING
    return _compare(_order(model, "position_bias"), published, "position-biased annotators")


def position_clicks(name: str) -> str:
    model = without_features(name)
    columns = model.annotator_columns()
    plots.position_clicks(columns)
    entered = [np.inf if t is None else float(t) for t in columns["position_bias_entered"]]
    first = np.argsort(entered, kind="stable")[:10]
    left, right = np.asarray(columns["left"])[first], np.asarray(columns["right"])[first]
    uneven = int((np.maximum(left, right) >= 2 * np.minimum(left, right)).sum())
    return f"{uneven} of the first 10 clicked one side at least twice as often as the other"


def error_curve(name: str) -> str:
    model = without_features(name)
    assert model.cv_ is not None
    plots.error_curve(model.cv_, t=model.t_)
    social, best = model.cv_.mean[0], model.cv_.mean.min()
    verdict = "agrees" if best < social else "differs"
    return (
        f"{verdict}: held-out mismatch falls from {social:.3f} to {best:.3f} at t_cv, as it should"
    )


def personal_rankings(name: str) -> str:
    model = without_features(name)
    path, t = model.path_, float(model.path_.times[-1])
    order = np.argsort(path.entered, kind="stable")
    middle = len(order) // 2
    groups = np.concatenate((order[:5], order[middle - 2 : middle + 3], order[-5:]))
    plots.personal_rankings(path, t, list(path.annotators[groups]), n_items=25)
    own = [
        np.abs(path.personal_scores(path.annotators[u], t) - path.scores(t)).max() for u in groups
    ]
    first, middle_five, last = (np.mean(part) for part in np.split(np.array(own), 3))
    verdict = "agrees" if first > middle_five > last else "differs"
    return (
        f"{verdict}: the largest deviation is {first:.2f} for the first five, {middle_five:.2f} "
        f"for five in the middle and {last:.2f} for the last five (means, end of the path)"
    )


def speed_up() -> str:
    """The paper's iteration over threads: the beginning of a path, three times each."""
    votes = datasets.load_worldcollege().votes
    threads = list(range(1, (os.cpu_count() or 1) + 1))[:16]
    seconds = [[_seconds(votes, n) for _ in range(3)] for n in threads]
    plots.speed_up(threads, seconds)
    ratio = np.median(seconds[0]) / np.median(seconds[-1])
    return f"{ratio:.2f} times as fast with {threads[-1]} threads of this machine (SynPar-LBI)"


def _seconds(votes: Votes, n_threads: int) -> float:
    start = time.perf_counter()
    fit_path(votes, solver="lbi", n_times=3, t_ratio=2.0, n_threads=n_threads)
    return time.perf_counter() - start


def hodge_energies() -> str:
    parts = {
        "IQA": hodge_decompose(datasets.load_iqa().votes),
        "WorldCollege": hodge_decompose(datasets.load_worldcollege().votes),
        "llmfao": hodge_decompose(datasets.load_llmfao().votes),
        "LLM judges": hodge_decompose(datasets.load_llm_judges().votes),
    }
    plots.hodge_energies(parts)
    return "not in the paper: " + ", ".join(
        f"{k} {v.cyclicity:.0%} in circles" for k, v in parts.items()
    )


def leaderboard() -> str:
    columns = without_features("iqa").ranking_columns()
    plots.leaderboard(columns)
    return f"not in the paper: image {columns['item'][0]} leads"


def battles(which: str) -> str:
    votes = datasets.load_llm_judges().votes
    draw = plots.win_fractions if which == "wins" else plots.battle_counts
    draw(votes)
    return "not in the paper: ten language models as nine others judge them"


FIGURES: tuple[Figure, ...] = (
    Figure("losses", "The three losses (Fig. 2)", losses),
    Figure("movie-common", "Genres among the 50 movies everybody prefers (Fig. 1a)", movie_common),
    Figure("movie-paths", "Paths of the 21 occupations", movie_paths),
    Figure("movie-first", "Genres by the occupations that deviate first (Fig. 5a)",
           lambda: movie_groups(FIRST_OCCUPATIONS)),
    Figure("movie-last", "Genres by the occupations that deviate last (Fig. 5b)",
           lambda: movie_groups(LAST_OCCUPATIONS)),
    *(
        figure
        for name, title, heat in (("iqa", "IQA", 8), ("worldcollege", "WorldCollege", 11))
        for figure in (
            Figure(f"{name}-paths", f"{title}: paths of the deviations",
                   lambda name=name: deviation_paths(name)),
            Figure(f"{name}-position", f"{title}: paths of the position bias",
                   lambda name=name: position_paths(name)),
            Figure(f"{name}-clicks", f"{title}: clicks of the first ten to show position bias",
                   lambda name=name: position_clicks(name)),
            Figure(f"{name}-error", f"{title}: cross-validation with standard errors",
                   lambda name=name: error_curve(name)),
            Figure(f"{name}-rankings", f"{title}: common and personal rankings (Fig. {heat})",
                   lambda name=name: personal_rankings(name)),
        )
    ),
    Figure("speed-up", "WorldCollege: speed-up over threads", speed_up),
    Figure("hodge-energies", "How much is a ranking, how much goes in circles", hodge_energies),
    Figure("leaderboard", "IQA: leaderboard with 95 % intervals", leaderboard),
    Figure("win-fractions", "LLM judges: who beats whom", lambda: battles("wins")),
    Figure("battle-counts", "LLM judges: votes on each pair", lambda: battles("counts")),
)  # fmt: skip


def draw_figure(figure: Figure, out: FilePath) -> str:
    """Draw one figure into a folder; what it shows and whether it agrees, in words."""
    import matplotlib.pyplot as plt

    found = figure.draw()
    plt.gcf().savefig(out / f"{figure.name}.png", dpi=150)
    plt.close("all")
    return found


def write_page(found: dict[str, str], out: FilePath) -> None:
    """A page beside the figures: each with what it shows and whether it agrees."""
    shows = {figure.name: figure.shows for figure in FIGURES}
    lines = ["# Figures of the paper, drawn anew", ""]
    for name, words in found.items():
        lines += [f"## {shows[name]}", "", f"![{shows[name]}]({name}.png)", "", f"{words}.", ""]
    (out / "README.md").write_text("\n".join(lines), encoding="utf-8")


def main() -> None:
    """Draw the figures named, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *(figure.name for figure in FIGURES)])
    parser.add_argument("--out", type=FilePath, default=FilePath("out") / "figures")
    parser.add_argument("--list", action="store_true", help="only say which there are")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{figure.name:22}{figure.shows}" for figure in FIGURES))
        return
    beside = FilePath(__file__).resolve().parents[2] / "shared" / "data"
    if beside.is_dir():
        os.environ.setdefault("PREFPATH_DATA", str(beside))
    import matplotlib

    matplotlib.use("Agg")
    options.out.mkdir(parents=True, exist_ok=True)
    found = {}
    for figure in FIGURES:
        if not options.names or figure.name in options.names:
            found[figure.name] = draw_figure(figure, options.out)
            print(f"{figure.name}: {found[figure.name]}", flush=True)
    write_page(found, options.out)
    print(f"written to {options.out}/")


if __name__ == "__main__":
    main()
