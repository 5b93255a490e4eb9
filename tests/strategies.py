"""Random crowds and settings for property tests, in one place."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from prefpath import Votes

LOSS_NAMES = ("linear", "bradley-terry", "thurstone-mosteller", "huber", "smooth-l1")
SEEDS = st.integers(0, 2**31 - 1)


def vote_columns(
    seed: int,
    *,
    n_votes: int = 150,
    n_annotators: int = 5,
    n_items: int = 4,
    ties: float = 0.1,
    weights: bool = True,
    position_known: float = 0.8,
) -> dict[str, Any]:
    """Votes of a random crowd as columns: half deviate, half lean to a side."""
    rng = np.random.default_rng(seed)
    who = rng.integers(0, n_annotators, n_votes)
    left = rng.integers(0, n_items, n_votes)
    right = (left + rng.integers(1, n_items, n_votes)) % n_items
    theta = rng.normal(size=n_items)
    deviation = 1.5 * rng.normal(size=(n_annotators, n_items))
    deviation *= rng.random((n_annotators, 1)) < 0.5
    bias = rng.normal(size=n_annotators) * (rng.random(n_annotators) < 0.5)
    own = theta + deviation
    margin = own[who, left] - own[who, right] + bias[who]
    choice = np.where(rng.random(n_votes) < 1 / (1 + np.exp(-margin)), 1.0, -1.0)
    choice[rng.random(n_votes) < ties] = 0.0
    return {
        "annotator": who,
        "left": left,
        "right": right,
        "choice": choice,
        "weight": rng.integers(1, 4, n_votes) / 2.0 if weights else None,
        "position_known": rng.random(n_votes) < position_known,
    }


def random_votes(seed: int, *, n_annotators: int = 5, n_items: int = 4, **how: Any) -> Votes:
    """Votes of a random crowd; every label is there, whether or not it was drawn."""
    columns = vote_columns(seed, n_annotators=n_annotators, n_items=n_items, **how)
    return Votes.from_arrays(
        **columns, items=np.arange(n_items), annotators=np.arange(n_annotators)
    )


def random_features(seed: int, n_items: int, n_features: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n_items, n_features))


@st.composite
def crowds(draw: st.DrawFn, **fixed: Any) -> Votes:
    """Random crowds of any shape: few or many ties, weights, unknown sides."""
    how: dict[str, Any] = {
        "n_votes": draw(st.integers(20, 150)),
        "n_annotators": draw(st.integers(1, 6)),
        "n_items": draw(st.integers(2, 6)),
        "ties": draw(st.sampled_from((0.0, 0.1, 0.5))),
        "weights": draw(st.booleans()),
        "position_known": draw(st.sampled_from((0.0, 0.7, 1.0))),
    }
    return random_votes(draw(SEEDS), **(how | fixed))


@st.composite
def settings_of(draw: st.DrawFn, n_items: int) -> dict[str, Any]:
    """Settings of a problem on so many items: any loss, penalty, features and position effect."""
    loss = draw(st.sampled_from(LOSS_NAMES))
    features = None
    if draw(st.booleans()):
        features = random_features(draw(SEEDS), n_items, draw(st.integers(1, 3)))
    return {
        "loss": loss,
        "penalty": draw(st.sampled_from(("group", "l1"))),
        "features": features,
        "position_bias": draw(st.booleans()),
        "common_position": draw(st.booleans()),
        "kappa": draw(st.sampled_from((5.0, 20.0))),
        "balance": draw(st.booleans()),
    }


def attentive_votes(seed: int, sight: tuple[float, ...], n_items: int = 5, each: int = 60) -> Votes:
    """Annotators who see the common scores with these attentions (1 is the crowd's)."""
    rng = np.random.default_rng(seed)
    theta = np.linspace(1.5, -1.5, n_items)
    who = np.repeat(np.arange(len(sight)), each)
    left = rng.integers(0, n_items, len(who))
    right = (left + rng.integers(1, n_items, len(who))) % n_items
    margin = np.array(sight)[who] * (theta[left] - theta[right])
    choice = np.where(rng.random(len(who)) < 1 / (1 + np.exp(-margin)), 1.0, -1.0)
    return Votes.from_arrays(
        who, left, right, choice, items=np.arange(n_items), annotators=np.arange(len(sight))
    )
