"""A general crowd, of any size, with planted deviants and clickers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from prefpath.errors import VoteError
from prefpath.simulate.draw import Model, Seed, Truth, check_sizes, draw_votes
from prefpath.simulate.labels import LabelKind, make_labels
from prefpath.simulate.simulation import Simulation
from prefpath.text import counted
from prefpath.votes.encode import FloatArray, IntArray

_NOISY = 1.0 / 3.0  # how sharply the noisy see what others see


def simulate_crowd(
    n_votes: int = 5_000,
    n_annotators: int = 50,
    n_items: int = 10,
    *,
    activity: Literal["zipf", "even"] = "zipf",
    deviants: int | float = 0.1,
    clickers: int | float = 0.1,
    noisy: int | float = 0,
    random: int | float = 0,
    contrary: int | float = 0,
    ties: float = 0.0,
    features: ArrayLike | None = None,
    score_scale: float = 1.0,
    deviation_scale: float = 2.0,
    position_bias_scale: float = 2.0,
    model: Model = "bradley-terry",
    labels: LabelKind = "numbered",
    seed: Seed = 0,
) -> Simulation:
    """A crowd in which a few have their own taste and a few lean to one side.

    Deviants add normal deviations to the common scores, clickers lean left or right (even
    odds) by `position_bias_scale`. The noisy see differences of scores a third as sharply, the
    random not at all, the contrary the wrong way round. Nobody is two of these. Pairs are drawn
    evenly. Votes are made in pieces, sorted by annotator: beyond the votes themselves this holds
    a million at a time (or those of the busiest annotator), and one number for each deviant and
    item.

    Parameters
    ----------
    n_votes, n_annotators, n_items : int
        Everyone votes at least once.
    activity : {"zipf", "even"}
        Zipf: the k-th busiest annotator votes about 1/k as often as the busiest.
    deviants, clickers, noisy, random, contrary : int or float
        Number of annotators (int) or their share (float).
    ties : float
        Probability that a vote is a tie, whatever the items.
    features : array-like, n_items x p, optional
        Scores and deviations are then linear in these.
    score_scale, deviation_scale : float
        Standard deviation of common scores and of deviations (with features: where these
        are standard normal).
    position_bias_scale : float
    model : {"bradley-terry", "thurstone-mosteller"}
    labels : {"numbered", "readable"}
        Annotators and items are "annotator 07" and "item 3", or first names and fruit.
    seed : int, Generator or None

    Examples
    --------
    >>> crowd = simulate_crowd(2_000, 20, 5, deviants=1, clickers=2, labels="readable", seed=3)
    >>> len(crowd.deviants), len(crowd.clickers), crowd.votes.n_votes
    (1, 2, 2000)
    >>> crowd.votes.items.tolist()
    ['apple', 'apricot', 'banana', 'blackberry', 'blueberry']
    """
    check_sizes(n_items, n_annotators)
    rng = np.random.default_rng(seed)
    design = None if features is None else _check_features(features, n_items)
    n_columns = n_items if design is None else design.shape[1]
    spread = 1.0 if design is None else np.sqrt(n_columns)
    common = rng.normal(0.0, score_scale / spread, n_columns)
    amounts = {
        "deviants": deviants,
        "clickers": clickers,
        "noisy": noisy,
        "random": random,
        "contrary": contrary,
    }
    deviant, clicker, *odd = _choose_planted(amounts, n_annotators, rng)
    attention = np.ones(n_annotators)
    for who, slope in zip(odd, (_NOISY, 0.0, -1.0), strict=True):
        attention[who] = slope
    rows = rng.normal(0.0, deviation_scale / spread, (len(deviant), n_columns))
    bias = np.zeros(n_annotators)
    bias[clicker] = rng.choice([-position_bias_scale, position_bias_scale], len(clicker))
    taste_of = np.full(n_annotators, -1)
    taste_of[deviant] = np.arange(len(deviant))
    truth = Truth(
        scores=common if design is None else design @ common,
        tastes=rows if design is None else rows @ design.T,
        taste_of=taste_of,
        position_bias=bias,
        attention=attention if (attention != 1.0).any() else None,
        model=model,
        ties=ties,
    )
    each = _share_out(n_votes, n_annotators, activity, rng)
    votes = draw_votes(truth, each, *make_labels(labels, n_annotators, n_items), rng)
    deviation = _place_rows(rows, deviant, n_annotators)
    return Simulation(votes, common, deviation, bias, design, attention)


def _share_out(
    n_votes: int, n_annotators: int, activity: str, rng: np.random.Generator
) -> IntArray:
    """How often each annotator votes: once, and then by their activity."""
    if n_votes < n_annotators:
        raise VoteError(
            f"{counted(n_votes, 'vote')} cannot be shared by {n_annotators:,} annotators",
            expected="at least one vote for each annotator",
        )
    if activity == "even":
        each = np.full(n_annotators, n_votes // n_annotators)
        each[: n_votes % n_annotators] += 1
        return each
    if activity != "zipf":
        raise VoteError(f"activity is {activity!r}", expected="zipf or even")
    share = 1.0 / rng.permutation(np.arange(1, n_annotators + 1))
    return 1 + rng.multinomial(n_votes - n_annotators, share / share.sum())


def _choose_planted(
    amounts: Mapping[str, int | float], n_annotators: int, rng: np.random.Generator
) -> list[IntArray]:
    """Codes of each kind of annotators: at random, in order, nobody twice."""
    sizes = [_count_of(amount, name, n_annotators) for name, amount in amounts.items()]
    if sum(sizes) > n_annotators:
        listed = [f"{size} {name}" for name, size in zip(amounts, sizes, strict=True) if size]
        raise VoteError(
            f"{' and '.join(listed)} are more than {counted(n_annotators, 'annotator')}",
            expected="together at most the number of annotators (nobody is both)",
        )
    order, ends = rng.permutation(n_annotators), np.cumsum(sizes)
    return [np.sort(order[end - size : end]) for end, size in zip(ends, sizes, strict=True)]


def _count_of(amount: int | float, name: str, n_annotators: int) -> int:
    is_share = isinstance(amount, float)
    if not 0 <= amount <= (1 if is_share else n_annotators):
        raise VoteError(
            f"{name} is {amount}",
            expected=f"a share from 0.0 to 1.0 or a whole number from 0 to {n_annotators}",
        )
    return round(amount * n_annotators) if is_share else int(amount)


def _place_rows(rows: FloatArray, place: IntArray, n_annotators: int) -> sparse.csr_array:
    """The given rows at the given places of a sparse array that is otherwise empty."""
    n_columns = rows.shape[1]
    per_row = np.zeros(n_annotators + 1, np.int64)
    per_row[place + 1] = n_columns
    columns = np.tile(np.arange(n_columns, dtype=np.int32), len(rows))
    return sparse.csr_array(
        (rows.ravel(), columns, np.cumsum(per_row)), shape=(n_annotators, n_columns)
    )


def _check_features(features: ArrayLike, n_items: int) -> FloatArray:
    design = np.asarray(features, dtype=np.float64)
    if design.ndim != 2 or len(design) != n_items or not np.isfinite(design).all():
        raise VoteError(
            f"features has shape {design.shape}"
            + ("" if np.isfinite(design).all() else " and entries that are not finite"),
            expected=f"finite numbers, one row for each of {n_items} items",
        )
    return design
