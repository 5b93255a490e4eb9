"""Answers of every kind on tiny crowds, all of them by kernels; as a script, into a file.

Small crowds would be answered in NumPy: `by_kernels` switches that off. The crowds are so small
that kernels can run as they are written, uncompiled, within seconds.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefpath import PreferenceModel, Votes, VoteWarning, fit_path, machine, simulate_crowd
from prefpath.diagnose import ballots, diagnose
from prefpath.inference import leverage
from prefpath.pairs import keys
from prefpath.selection import refinement
from prefpath.solver import small

Answers = dict[str, NDArray[Any]]
FEATURES = np.linspace(-1.0, 1.0, 10).reshape(5, 2) ** 2 * [1.0, -2.0]
_SHORT = {"n_times": 5, "t_ratio": 8.0, "n_threads": 1}
PATHS: dict[str, dict[str, Any]] = {
    "exponential": {},
    "exponential with attention": {"attention": True, "common_position": True},
    "thurstone": {"loss": "thurstone-mosteller", "balance": True},
    "linear": {"loss": "linear", "position_bias": False},
    "huber": {"loss": "huber", "common_position": True},
    "smooth l1": {"loss": "smooth-l1"},
    "l1": {"penalty": "l1"},
    # Later knots of this one move by 1e-5 if its features move by 1e-15.
    "features": {"features": FEATURES, "t_ratio": 4.0},
    "minimised": {"common": "minimise", "loss": "linear"},
    "lbi": {"solver": "lbi", "t_ratio": 3.0},
    "lbi with attention": {
        "solver": "lbi",
        "t_ratio": 3.0,
        "attention": True,
        "common_position": True,
    },
    "lbi features": {"solver": "lbi", "t_ratio": 2.0, "features": FEATURES},
    "lbi l1": {"solver": "lbi", "t_ratio": 3.0, "penalty": "l1", "loss": "thurstone-mosteller"},
}
VERDICTS: dict[str, dict[str, Any]] = {
    "verdicts": {"weak": True},
    "verdicts of features": {
        "weak": True,
        "features": FEATURES,
        "loss": "thurstone-mosteller",
        "common_position": True,
        "t_ratio": 4.0,
    },
}


def by_kernels(put: Callable[[object, str, int], None] = setattr) -> None:
    """Let nothing be computed in NumPy because it is small."""
    put(small, "MOST_CELLS", 0)
    for module in (machine, ballots, keys, leverage, refinement):
        put(module, "FEW_ROWS", 0)
    put(leverage, "_FEW_ANNOTATORS", 0)


def crowd() -> Votes:
    """Six people; one has a taste, one leans."""
    how = {"deviants": 1, "clickers": 1, "ties": 0.1, "activity": "even"}
    return simulate_crowd(160, 6, 5, seed=2, **how).votes


def odd_crowd() -> Votes:
    """Ten people, among them one of each kind that is told apart once somebody is named."""
    odd = {"deviants": 1, "clickers": 1, "contrary": 1, "random": 1, "ties": 0.05}
    return simulate_crowd(800, 10, 5, score_scale=1.5, activity="even", seed=3, **odd).votes


def path_of(how: dict[str, Any]) -> Answers:
    """The knots of one path: times, common scores, leans."""
    path = fit_path(crowd(), **{**_SHORT, **how})
    leans = np.stack([path.position_bias(t) for t in path.times])
    return {"times": path.times, "common": path.common, "leans": leans}


def verdicts(how: dict[str, Any]) -> Answers:
    """Of a fit with folds and weak effects: what is said of items, annotators and comparisons."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        model = PreferenceModel(**{"cv": 2, **_SHORT, **how})
        model.fit(odd_crowd())
        people = diagnose(model, n_draws=100)
        common = model.common_scores()
    found = {
        "t": np.array([model.t_]),
        "score": common.score,
        "error": np.sqrt(np.diag(common.covariance)),
        "chance": model.predict_proba(odd_crowd()),
        "word": people.words,
    }
    columns = {name: np.asarray(column) for name, column in people.columns().items()}
    return found | {name: one for name, one in columns.items() if one.dtype.kind in "fiub"}


def all_answers(kind: str) -> Answers:
    """Of all paths, or of all verdicts, each under the name of its case and its own."""
    by_kernels()
    found: Answers = {}
    cases, answer = (PATHS, path_of) if kind == "paths" else (VERDICTS, verdicts)
    for case, how in cases.items():
        found.update({f"{case}/{name}": value for name, value in answer(how).items()})
    return found


if __name__ == "__main__":
    np.savez(sys.argv[1], **all_answers(sys.argv[2]))
