"""The simulated study of the paper."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from prefpath.errors import VoteError
from prefpath.simulate.draw import Model, Seed, Truth, check_sizes, draw_votes
from prefpath.simulate.labels import make_labels
from prefpath.simulate.simulation import Simulation
from prefpath.votes.encode import FloatArray


def simulate_paper(
    n_items: int = 20,
    n_features: int = 10,
    n_annotators: int = 100,
    *,
    common_density: float = 0.4,
    deviation_density: float = 0.4,
    position_bias_density: float = 0.4,
    common_scale: float = 1.0,
    deviation_scale: float = 1.0,
    position_bias_scale: float = 2.0,
    votes_per_annotator: tuple[int, int] = (50, 200),
    model: Model = "bradley-terry",
    seed: Seed = 0,
) -> Simulation:
    """The simulated study of the paper (section 4.1).

    Features are standard normal. Every entry of eta, xi and gamma is zero, or, with its
    density as probability, normal with its scale as standard deviation. Annotator `u` votes
    `N_u` times, uniform on the two numbers given and all between, each time on an ordered
    pair drawn anew, and chooses the left item with probability `F(margin)`, `F` the logistic
    (or normal) distribution function.

    The defaults are the settings of the published code, which draws a new simulation for each
    repeat of Table 1.

    Parameters
    ----------
    n_items, n_features, n_annotators : int
    common_density, deviation_density, position_bias_density : float
        Probability that an entry of eta, xi, gamma is not zero.
    common_scale, deviation_scale, position_bias_scale : float
        Standard deviation of the entries that are not.
    votes_per_annotator : (int, int)
        Least and greatest number of votes of an annotator.
    model : {"bradley-terry", "thurstone-mosteller"}
    seed : int, Generator or None

    References
    ----------
    Xu, Xiong, Cao, Huang, Yao: From Social to Individuals: a Parsimonious Path of Multi-level
    Models for Crowdsourced Preference Aggregation. IEEE TPAMI 41 (2019) 844-856.

    Examples
    --------
    >>> simulation = simulate_paper(seed=1)
    >>> simulation.deviation.shape
    (100, 10)
    """
    least, greatest = votes_per_annotator
    if not 0 <= least <= greatest or not greatest:
        raise VoteError(
            f"votes_per_annotator is {votes_per_annotator}",
            expected="two numbers, the least and the greatest, not both 0",
        )
    check_sizes(n_items, n_annotators)
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((n_items, n_features))
    common = _sparse_normal((n_features,), common_density, common_scale, rng)
    deviation = _sparse_normal((n_annotators, n_features), deviation_density, deviation_scale, rng)
    bias = _sparse_normal((n_annotators,), position_bias_density, position_bias_scale, rng)
    n_votes = rng.integers(least, greatest, size=n_annotators, endpoint=True)
    truth = Truth(
        scores=features @ common,
        tastes=deviation @ features.T,
        taste_of=np.arange(n_annotators),
        position_bias=bias,
        model=model,
    )
    labels = make_labels("numbered", n_annotators, n_items)
    votes = draw_votes(truth, n_votes, *labels, rng)
    return Simulation(votes, common, sparse.csr_array(deviation), bias, features)


def _sparse_normal(
    shape: tuple[int, ...], density: float, scale: float, rng: np.random.Generator
) -> FloatArray:
    kept = rng.random(shape) < density
    return np.where(kept, rng.normal(0.0, scale, shape), 0.0)
