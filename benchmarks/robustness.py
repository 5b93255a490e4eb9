"""How far odd annotators move the common scores: RMSE, Kendall's tau, coverage of the truth.

    python benchmarks/robustness.py --crowds 10
    python benchmarks/robustness.py --ours default --rivals Bradley-Terry CrowdBT
    python benchmarks/robustness.py --ours 'attention={"attention": true}' --shares 0.3
    python benchmarks/robustness.py --ours default --rivals --shares 0.1   # coverage

Crowds: 20 items with scores N(0, 1), 200 annotators with 50 votes each, of whom a share answers
at random, contrarily (slope -1), or clicks one side (left or right, lean 4). Methods: plain
Bradley-Terry, CrowdBT, "set aside and refit" (those `discover` names are left out and
Bradley-Terry is fitted to the others), ridge with slopes, and our model. Scores are centred. The
standard error over crowds is printed beside each mean. "held" is the share of items whose true
score lies in the 95 % interval of our leaderboard; rivals have none. Ours are two: the leaderboard,
made from those who see as most do, and the path's scores, in which all are, as sharply as they see.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from crowds import Data, Scores, fit_ours, mean_and_error, our_settings, simulate
from scipy.stats import kendalltau

from prefpath import Votes, VoteWarning, discover, rank
from prefpath.baselines import make_baseline

KINDS = {
    "random": lambda share: {"random": share},
    "contrary": lambda share: {"contrary": share},
    "one-sided": lambda share: {"clickers": share, "position_bias_scale": 4.0},
}


def plain(votes: Votes) -> np.ndarray:
    return rank(votes, interval=None).scores


def set_aside(votes: Votes) -> np.ndarray:
    """Bradley-Terry without those who are named."""
    kept = ~discover(votes).set_aside
    return plain(replace(votes, weight=votes.weight * kept[votes.annotator]))


def rival(key: str) -> Scores:
    return lambda votes: make_baseline(key, criterion="log-loss").fit(votes).scores()


RIVALS: dict[str, Scores] = {
    "Bradley-Terry": plain,
    "CrowdBT": rival("crowdbt"),
    "set aside and refit": set_aside,
    "ridge with slopes": rival("ridge-slopes"),
}


class Found(NamedTuple):
    """How far scores are from the truth, and the share of intervals that hold it."""

    rmse: float
    tau: float
    held: float


Method = Callable[[Votes, np.ndarray], Found]


def found_by(scores: Scores) -> Method:
    """A rival: scores alone."""
    return lambda votes, truth: Found(*errors(scores(votes), truth), np.nan)


def ours(settings: dict[str, object]) -> Method:
    """Our leaderboard."""

    def found(votes: Votes, truth: np.ndarray) -> Found:
        board = fit_ours(Data(votes, None), dict(settings)).ranking_columns()
        true = dict(zip(votes.items, truth - truth.mean(), strict=True))
        wanted = np.array([true[item] for item in board["item"]])
        low, high = (np.asarray(board[end], dtype=float) for end in ("score_low", "score_high"))
        held = float(np.mean((low <= wanted) & (wanted <= high)))
        return Found(*errors(np.asarray(board["score"], dtype=float), wanted), held)

    return found


def ours_on_the_path(settings: dict[str, object]) -> Method:
    """Our path's common scores at the time chosen: who sees otherwise is in them, allowed for."""

    def scores(votes: Votes) -> np.ndarray:
        fitted = fit_ours(Data(votes, None), dict(settings)).fitted_
        return fitted.path.scores(fitted.t)

    return found_by(scores)


def errors(scores: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """RMSE of centred scores, and Kendall's tau."""
    apart = (scores - scores.mean()) - (truth - truth.mean())
    return float(np.sqrt(np.mean(apart**2))), float(kendalltau(scores, truth).statistic)


def show(kind: str, share: float, found: dict[str, list[Found]]) -> None:
    """A line for each method: means over crowds, each with its standard error."""
    print(f"\n{f'{share:.0%} {kind}':>32}" + "".join(
        f"{part:>8}{'error':>8}" for part in Found._fields))  # fmt: skip
    for name, values in found.items():
        parts = [mean_and_error(part) for part in zip(*values, strict=True)]
        print(f"{name:>32}" + "".join(f"{m:>8.3f}{e:>8.3f}" for m, e in parts), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crowds", type=int, default=10)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--shares", nargs="+", type=float, default=[0.05, 0.1, 0.3])
    parser.add_argument("--ours", action="append", default=[], help='NAME or NAME={"argument": 1}')
    parser.add_argument("--rivals", nargs="*", default=list(RIVALS), choices=RIVALS)
    parser.add_argument("--json", help="write every crowd's figures to this file")
    given = parser.parse_args()
    warnings.simplefilter("ignore", VoteWarning)
    methods: dict[str, Method] = {name: found_by(RIVALS[name]) for name in given.rivals}
    for name, settings in our_settings(given.ours).items():
        methods |= {name: ours(settings), f"{name}, on the path": ours_on_the_path(settings)}
    written = []
    for kind in given.kinds:
        for share in given.shares:
            found: dict[str, list[Found]] = {name: [] for name in methods}
            for seed in range(given.crowds):
                crowd = simulate(seed, **KINDS[kind](share))
                for name, method in methods.items():
                    found[name].append(method(crowd.votes, crowd.scores))
            show(kind, share, found)
            written += [
                {"kind": kind, "share": share, "method": name, "values": values}
                for name, values in found.items()
            ]
    if given.json:
        Path(given.json).write_text(json.dumps(written, indent=1), "utf-8")


if __name__ == "__main__":
    main()
