"""Figures of the same data that the paper does not have."""

from __future__ import annotations

from functools import partial

import numpy as np

from prefpath import datasets, hodge_decompose, plots
from prefpath.experiments.figure_kit import TITLES, Figure, Finding, without_features


def position_clicks(name: str, quick: bool) -> Finding:
    """Clicks of the first ten to show position bias (the paper's Tables 5 and 7, drawn)."""
    columns = without_features(name, "bradley-terry", quick).annotator_columns()
    plots.position_clicks(columns)
    entered = [np.inf if t is None else float(t) for t in columns["position_bias_entered"]]
    first = np.argsort(entered, kind="stable")[:10]
    shown = {key: np.asarray(columns[key])[first] for key in ("annotator", "left", "right")}
    less, more = np.sort([shown["left"], shown["right"]], axis=0)
    uneven = int((more >= 2 * less).sum())
    words = f"{uneven} of the first 10 clicked one side at least twice as often as the other"
    return Finding(words, {key: values.tolist() for key, values in shown.items()})


def error_curve(name: str, quick: bool) -> Finding:
    """Held-out mismatch along the path."""
    model = without_features(name, "bradley-terry", quick)
    cv = model.cv_
    assert cv is not None
    plots.error_curve(cv, t=model.t_)
    words = f"held-out mismatch is {cv.mean[0]:.3f} at first, {cv.mean.min():.3f} at t_cv"
    columns = {"t": cv.times, "mismatch": cv.mean, "standard_error": cv.standard_error}
    return Finding(words, {key: values.tolist() for key, values in columns.items()})


def hodge_energies(_quick: bool) -> Finding:
    """How much of each crowd's votes is a ranking."""
    parts = {
        "IQA": hodge_decompose(datasets.load_iqa().votes),
        "WorldCollege": hodge_decompose(datasets.load_worldcollege().votes),
        "llmfao": hodge_decompose(datasets.load_llmfao().votes),
        "LLM judges": hodge_decompose(datasets.load_llm_judges().votes),
    }
    plots.hodge_energies(parts)
    shares = [part.cyclicity for part in parts.values()]
    words = ", ".join(f"{k} {v:.0%} in circles" for k, v in zip(parts, shares, strict=True))
    return Finding(words, {"data": list(parts), "cyclicity": shares})


def leaderboard(quick: bool) -> Finding:
    """IQA's leaderboard with intervals."""
    columns = without_features("iqa", "bradley-terry", quick).ranking_columns()
    plots.leaderboard(columns)
    table = {key: np.asarray(values).tolist() for key, values in columns.items()}
    return Finding(f"image {columns['item'][0]} leads", table)


def battles(which: str, _quick: bool) -> Finding:
    """Ten language models as nine others judge them."""
    votes = datasets.load_llm_judges().votes
    draw = plots.win_fractions if which == "wins" else plots.battle_counts
    draw(votes)
    model = [str(item) for item in votes.items]
    met = np.bincount(np.concatenate((votes.left, votes.right)),
                      np.tile(votes.weight, 2), votes.n_items)  # fmt: skip
    return Finding(f"{votes.n_votes:,} votes", {"model": model, "votes": met.tolist()})


OTHER_FIGURES = (
    *(
        figure
        for name, title in TITLES.items()
        for figure in (
            Figure(f"{name}-clicks", f"{title}, clicks of the first ten to show position bias",
                   partial(position_clicks, name), known="the paper has it as a table (5, 7)"),
            Figure(f"{name}-error", f"{title}, cross-validation with standard errors",
                   partial(error_curve, name)),
        )
    ),
    Figure("hodge-energies", "how much is a ranking, how much goes in circles", hodge_energies),
    Figure("leaderboard", "IQA, leaderboard with 95 % intervals", leaderboard),
    Figure("win-fractions", "LLM judges, who beats whom", partial(battles, "wins")),
    Figure("battle-counts", "LLM judges, votes on each pair", partial(battles, "counts")),
)  # fmt: skip
