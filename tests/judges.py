"""Judges that are judged themselves, the first of which favours its own."""

from __future__ import annotations

import numpy as np
import pandas as pd

JUDGES = ("gpt-4", "claude-2", "llama-70b", "mixtral")
MODELS = ("gpt-4", "gpt-3.5", "claude-2", "llama-70b", "vicuna", "mistral")


def votes_of_judges(*, favour: float, lean: float = 0.0, pairs: int = 300) -> pd.DataFrame:
    """Judges who see both orders; the first favours itself and the first place."""
    rng = np.random.default_rng(5)
    scores = np.linspace(-1.0, 1.0, len(MODELS))
    itself = favour * np.array([name == JUDGES[0] for name in MODELS])
    rows = []
    for judge in JUDGES:
        for _ in range(pairs):
            pair = rng.choice(len(MODELS), 2, replace=False)
            for left, right in (pair, pair[::-1]):
                margin = scores[left] - scores[right]
                if judge == JUDGES[0]:
                    margin += itself[left] - itself[right] + lean
                side = "left" if rng.random() < 1 / (1 + np.exp(-margin)) else "right"
                rows.append((judge, MODELS[left], MODELS[right], side))
    return pd.DataFrame(rows, columns=["annotator", "left", "right", "choice"])
