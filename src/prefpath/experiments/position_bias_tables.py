"""Who leans to one side: the paper's two tables, nine LLM judges, and two crowd workers.

    python -m prefpath.experiments.position_bias_tables NAME

iqa and worldcollege: the paper's top ten of image quality and of universities; judges: gamma
beside the swap counts; llmfao: workers w20 and w32. Without a name: all four.

Data are read from PREFPATH_DATA (in a clone, also from ../shared/data).
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

from prefpath import PreferenceModel, Votes, VoteWarning, datasets, fit_path, read_votes
from prefpath.datasets.fetch import find_file
from prefpath.diagnose import diagnose
from prefpath.experiments.data import look_beside_the_clone
from prefpath.leaderboard import side_clicks

LOSSES = ("linear", "bradley-terry", "thurstone-mosteller")

# The order of the tables as the authors' code gives it on these data (../shared/golden). It
# is also the published one, up to neighbours that Bradley-Terry swaps.
PUBLISHED = {
    "iqa": [259, 334, 177, 103, 29, 2, 260, 23, 207, 287],
    "worldcollege": [268, 209, 156, 320, 87, 270, 267, 276, 166, 115],
}
PUBLISHED_BRADLEY_TERRY = {
    "iqa": [259, 334, 177, 103, 29, 2, 260, 207, 23, 287],
    "worldcollege": [268, 209, 156, 320, 87, 270, 267, 276, 166, 245],
}
FILES = {
    "iqa": datasets.IQA,
    "worldcollege": datasets.WORLDCOLLEGE,
    "judges": datasets.LLM_JUDGES,
    "llmfao": datasets.LLMFAO,
}


def data_file(name: str) -> Path:
    """The file of a data set, with the contents it should have."""
    look_beside_the_clone()
    return find_file(FILES[name])


def top_ten(name: str) -> None:
    """The first ten to enter with a position bias, and their clicks, for each loss."""
    votes = read_votes(data_file(name))
    left, right, _ = side_clicks(votes)
    for loss in LOSSES:
        order = _entry_order(votes, loss)[:10]
        shown = [int(votes.annotators[u]) for u in order]
        published = (PUBLISHED_BRADLEY_TERRY if loss == LOSSES[1] else PUBLISHED)[name]
        print(f"\n{name}, {loss}: the first ten to enter with a position bias")
        print("annotator " + " ".join(f"{label:>5}" for label in shown))
        print("left      " + " ".join(f"{left[u]:>5.0f}" for u in order))
        print("right     " + " ".join(f"{right[u]:>5.0f}" for u in order))
        print(_compare(shown, published))


def _entry_order(votes: Votes, loss: str) -> np.ndarray:
    """Annotators by the first knot with a position bias, ties by id: the paper's settings."""
    if loss == "linear":  # the paper keeps ties here, and minimises the common part exactly
        path = fit_path(votes, loss=loss, solver="lbi", common="minimise", t_ratio=50.0)
    else:
        path = fit_path(votes.without_ties(), loss=loss, t_ratio=50.0)
    active = np.array([path.position_bias(float(t)) != 0 for t in path.times])
    first = np.where(active.any(axis=0), active.argmax(axis=0), path.n_times)
    return np.lexsort((votes.annotators.astype(int), first))


def _compare(shown: list[int], published: list[int]) -> str:
    if shown == published:
        return "the authors' order: the same"
    same = len(set(shown) & set(published))
    return f"the authors' order: {published} ({same} of 10 the same, order differs)"


def swap_counts(file: Path) -> dict[str, tuple[int, int]]:
    """How often each judge chose the first both times, and the second both times.

    Every pair of answers was shown in both orders; a judge who chooses the same side twice
    follows the side, not the answer.
    """
    asked: dict[tuple[str, ...], list[float]] = defaultdict(list)
    with file.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            pair = sorted((row["left"], row["right"]))
            keys = (row[k] for k in ("annotator", "bench", "task", "question", "repetition"))
            asked[(*keys, *pair)].append(float(row["choice"]))
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    for key, choices in asked.items():
        if len(choices) == 2 and choices[0] == choices[1] != 0:
            counts[key[0]][int(choices[0])] += 1
    return {judge: (count[1], count[-1]) for judge, count in counts.items()}


def judges() -> None:
    """Gamma of nine LLM judges with its interval, beside their swap counts."""
    found = diagnose(_model("judges"))
    print("\nnine judges: gamma > 0 leans to the first answer")
    print(
        f"{'judge':<26} {'first':>6} {'second':>6} {'clear':>6}   {'gamma (95 % interval)':<24} "
        f"{'first if equal':<22} sign"
    )
    disagree = 0
    for judge, (first, second) in sorted(swap_counts(data_file("judges")).items()):
        about = found.of(judge)
        clear = binomtest(first, first + second).pvalue < 0.05
        agrees = (about["gamma"] > 0) == (first > second)
        disagree += clear and not agrees
        interval = (
            f"{about['gamma']:+.2f} ({about['gamma_low']:+.2f} to {about['gamma_high']:+.2f})"
        )
        chance = " to ".join(f"{about['first_if_equal_' + end]:.0%}" for end in ("low", "high"))
        print(
            f"{judge:<26} {first:>6} {second:>6} {'yes' if clear else 'no':>6}   {interval:<24} "
            f"{about['first_if_equal']:.0%} ({chance})".ljust(92)
            + ("agrees" if agrees else "DISAGREES")
        )
    print(f"judges with clear swap counts whose gamma has the other sign: {disagree}")


def llmfao() -> None:
    """What is said of workers w20 (204 left, 86 right) and w32 (21, 0)."""
    found = diagnose(_model("llmfao"))
    print()
    for worker in ("w20", "w32"):
        about = found.of(worker)
        print(f"{worker}: {about['verdict']} (biased: {about['biased']}). {about['reason']}.")
        if about["notes"]:
            print(f"     {about['notes']}.")


def _model(name: str) -> PreferenceModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        return PreferenceModel().fit(read_votes(data_file(name)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(FILES))
    asked = parser.parse_args().names or list(FILES)
    for name in asked:
        if name not in FILES:
            parser.error(f"{name!r} is not one of {', '.join(FILES)}")
        if name in PUBLISHED:
            top_ten(name)
        elif name == "judges":
            judges()
        else:
            llmfao()


if __name__ == "__main__":
    main()
