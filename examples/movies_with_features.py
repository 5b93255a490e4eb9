"""Movies with features: a new user and a film nobody has compared yet are predicted."""

from __future__ import annotations

import numpy as np
import pandas as pd

from prefpath import PreferenceModel

rng = np.random.default_rng(0)
films = pd.DataFrame(
    {
        "item": [f"film {k:02d}" for k in range(30)],
        "action": rng.integers(0, 2, 30),
        "drama": rng.integers(0, 2, 30),
        "stars": rng.normal(0, 1, 30).round(2),
    }
)
phi = films[["action", "drama", "stars"]].to_numpy()
crowd_taste = np.array([0.8, -0.4, 1.0])
fan_taste = np.array([-2.0, 2.5, 0.0])  # user 3 and user 7 love drama and loathe action

known = 27  # the last three films are new: they have features and no votes
rows = []
for _ in range(4_000):
    user = int(rng.integers(25))
    a, b = rng.choice(known, 2, replace=False)
    weights = crowd_taste + (fan_taste if user in (3, 7) else 0.0)
    won = rng.random() < 1 / (1 + np.exp(-(phi[a] - phi[b]) @ weights))
    rows.append((f"user {user:02d}", films["item"][a], films["item"][b], 1 if won else -1))
votes = pd.DataFrame(rows, columns=["annotator", "left", "right", "choice"])

model = PreferenceModel(features=films).fit(votes)
print("What the crowd weighs:", model.coefficients(), sep="\n")
print("What user 03 weighs:", model.coefficients("user 03"), sep="\n")

asked = pd.DataFrame(
    {
        "annotator": ["user 03", "user 04", "somebody new"],
        "left": ["film 28"] * 3,  # nobody has compared it
        "right": ["film 01"] * 3,
    }
)
asked["P(left)"] = model.predict_proba(asked)[:, 1].round(2)
print(asked.to_string(index=False))
truth = [
    1 / (1 + np.exp(-(phi[28] - phi[1]) @ (crowd_taste + w))) for w in (fan_taste, 0.0 * fan_taste)
]
print(f"Truth: {truth[0]:.2f} for user 03, {truth[1]:.2f} for everybody else")
