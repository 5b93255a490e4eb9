"""Short paths of Algorithm 1 by dense NumPy alone: nothing of the package is imported here.

`python tests/solver/small_golden.py` writes `tests/data/small_paths.npz`: votes of a random crowd
with ties and weights, and for three losses the common scores, deviations and position biases after
some iterations. A clone without the published code's golden paths checks the mathematics by it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.special import expit, log_ndtr

FILE = Path(__file__).parents[1] / "data" / "small_paths.npz"
KAPPA, N_ITEMS, N_ANNOTATORS, N_VOTES = 20.0, 5, 6, 240
ITERATIONS = np.array([1, 2, 10, 100, 500, 1500, 3000])


def small_votes() -> dict[str, np.ndarray]:
    """Six annotators on five items: two with a taste of their own, one who leans left."""
    rng = np.random.default_rng(20240711)
    who = rng.integers(0, N_ANNOTATORS, N_VOTES)
    left = rng.integers(0, N_ITEMS, N_VOTES)
    right = (left + rng.integers(1, N_ITEMS, N_VOTES)) % N_ITEMS
    score = np.tile(np.linspace(1.5, -1.5, N_ITEMS), (N_ANNOTATORS, 1))
    score[0], score[1] = score[0, ::-1], np.roll(score[1], 2)
    lean = np.zeros(N_ANNOTATORS)
    lean[2] = 2.0
    margin = score[who, left] - score[who, right] + lean[who]
    choice = np.where(rng.random(N_VOTES) < expit(margin), 1.0, -1.0)
    choice[rng.random(N_VOTES) < 0.1] = 0.0
    weight = rng.integers(1, 4, N_VOTES) / 2.0
    return {"annotator": who, "left": left, "right": right, "choice": choice, "weight": weight}


def linear(margin: np.ndarray, choice: np.ndarray) -> np.ndarray:
    return margin - choice


def bradley_terry(margin: np.ndarray, choice: np.ndarray) -> np.ndarray:
    return expit(margin) - (1.0 + choice) / 2.0


def thurstone_mosteller(margin: np.ndarray, choice: np.ndarray) -> np.ndarray:
    def hazard(x: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * x**2 - 0.5 * np.log(2.0 * np.pi) - log_ndtr(x))

    return (1.0 - choice) / 2.0 * hazard(-margin) - (1.0 + choice) / 2.0 * hazard(margin)


GRADIENTS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "linear": linear,
    "bradley-terry": bradley_terry,
    "thurstone-mosteller": thurstone_mosteller,
}


def small_path(loss: str) -> dict[str, np.ndarray]:
    """Algorithm 1 with the group penalty: what it holds after `ITERATIONS`."""
    votes, gradient = small_votes(), GRADIENTS[loss]
    d = np.eye(N_ITEMS)[votes["left"]] - np.eye(N_ITEMS)[votes["right"]]
    own = np.eye(N_ANNOTATORS)[votes["annotator"]]
    x = np.hstack(((own[:, :, None] * d[:, None, :]).reshape(N_VOTES, -1), own))
    weight, total = votes["weight"], votes["weight"].sum()
    norm = np.linalg.norm(np.sqrt(weight)[:, None] * np.hstack((d, x)), 2)
    step = total / (KAPPA * norm**2)
    theta, z = np.zeros(N_ITEMS), np.zeros(x.shape[1])
    kept = []
    for iteration in range(ITERATIONS[-1] + 1):
        deviation, lean = shrink(z)
        if iteration in ITERATIONS:
            kept.append((theta.copy(), deviation, lean))
        margin = d @ theta + x @ np.concatenate((deviation.ravel(), lean))
        slope = weight * gradient(margin, votes["choice"]) / total
        theta = theta - KAPPA * step * (d.T @ slope)
        z = z - step * (x.T @ slope)
    common, deviations, leans = (np.array(part) for part in zip(*kept, strict=True))
    return {"step": np.array(step), "common": common, "deviation": deviations, "lean": leans}


def shrink(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`kappa * prox(z)`: groups of items, then single leans."""
    blocks, lean = z[: N_ANNOTATORS * N_ITEMS].reshape(N_ANNOTATORS, N_ITEMS), z[-N_ANNOTATORS:]
    size = np.sqrt((blocks**2).sum(axis=1, keepdims=True))
    factor = np.where(size > 1.0, 1.0 - 1.0 / np.maximum(size, 1.0), 0.0)
    return KAPPA * factor * blocks, KAPPA * np.sign(lean) * np.maximum(np.abs(lean) - 1.0, 0.0)


if __name__ == "__main__":
    parts = {f"{loss}/{name}": v for loss in GRADIENTS for name, v in small_path(loss).items()}
    np.savez_compressed(FILE, **small_votes(), **parts)
