"""Data sets and simulated crowds that more than one benchmark uses, and our model's settings."""

from __future__ import annotations

import inspect
import json
import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from prefpath import PreferenceModel, Simulation, Votes, VoteWarning, read_votes, simulate_crowd
from prefpath.model.features import ItemFeatures

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
FOLDER = Path(os.environ.get("PREFPATH_DATA", _BESIDE))

# 20 items with scores N(0, 1), 200 annotators with 50 votes each.
SIZE = (10_000, 200, 20)

CROWDS: dict[str, dict[str, Any]] = {
    "sparse": {"deviants": 0.1, "deviation_scale": 2.0},
    "all-deviate": {"deviants": 1.0, "deviation_scale": 0.5},
    "noisy-third": {"noisy": 1 / 3},
    "random-30": {"random": 0.3},
    "clickers": {"clickers": 0.2, "position_bias_scale": 2.0},
}
FILES = {
    "iqa": "iqa_ref1",
    "worldcollege": "worldcollege",
    "llmfao": "llmfao_crowd",
    "judges": "llm_position_bias",
    "movies": "movie_pami",
}
SETS = (*FILES, *CROWDS)

OURS: dict[str, dict[str, Any]] = {
    "0.1.0": {"attention": False, "weak": False},
    "default": {},
    "attention": {"attention": True},
}


class Data(NamedTuple):
    """Votes, and features of their items where there are any."""

    votes: Votes
    features: ItemFeatures | None


def simulate(seed: int, **odd: Any) -> Simulation:
    """A crowd of `SIZE` in which nobody is odd but those asked for."""
    settings = {"deviants": 0, "clickers": 0, **odd}
    return simulate_crowd(*SIZE, activity="even", seed=seed, **settings)


def load(name: str, seed: int) -> Data:
    """A data set by its name; a simulated crowd is drawn anew for each seed."""
    if name in CROWDS:
        return Data(simulate(seed, **CROWDS[name]).votes, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        # The movies' votes are of ratings, the winner first: nothing was shown on a side.
        known = False if name == "movies" else None
        votes = read_votes(FOLDER / f"{FILES[name]}.csv", position_known=known)
    return Data(votes, _movie_features(votes) if name == "movies" else None)


def _movie_features(votes: Votes) -> ItemFeatures:
    lines = (FOLDER / "movie_pami_items.csv").read_text("utf-8").splitlines()
    names = tuple(lines[0].split(",")[1:])
    row = {line.split(",")[0]: np.array(line.split(",")[1:], dtype=float) for line in lines[1:]}
    return ItemFeatures(votes.items, names, np.array([row[str(item)] for item in votes.items]))


def our_settings(given: Sequence[str] = ()) -> dict[str, dict[str, Any]]:
    """Settings of our model by name: `OURS`, or those given as NAME or NAME={"argument": ...}.

    What an argument of another version switches off is left out where there is none; a setting
    that asks for one is an error if it was asked for by name.
    """
    wanted = dict(OURS) if not given else {}
    for text in given:
        name, _, settings = text.partition("=")
        wanted[name] = json.loads(settings) if settings else OURS[name]
    known = set(inspect.signature(PreferenceModel).parameters)
    found = {}
    for name, settings in wanted.items():
        needed = {key: value for key, value in settings.items() if value is not False}
        if not given and not set(needed) <= known:
            print(f"left out: {name} (PreferenceModel has no {', '.join(set(needed) - known)})")
            continue
        found[name] = {
            key: value for key, value in settings.items() if key in known or key in needed
        }
    return found


def fit_ours(data: Data, settings: dict[str, Any]) -> PreferenceModel:
    """Our model with these settings; what it cannot know is not said once a split."""
    beside = {"features": data.features, "position_bias": False} if data.features else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        return PreferenceModel(**{"n_threads": 1, **beside, **settings}).fit(data.votes)


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error; no error of one value."""
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan
    return float(np.mean(values)), error


Scores = Callable[[Votes], np.ndarray]
