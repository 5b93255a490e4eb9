"""An arena: many voters with few votes, ties, Elo points with one model fixed."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np

from prefpath import PreferenceModel, read_votes

rng = np.random.default_rng(1)
names = np.array(["ada", "bard", "clio", "dante", "eliza", "fable"])
strength = np.array([1.0, 0.6, 0.3, 0.0, -0.4, -0.9])

# The file Chatbot Arena writes: judge, model_a, model_b, winner.
rows = []
for _ in range(6_000):
    a, b = rng.choice(len(names), 2, replace=False)
    won = rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
    tied = rng.random() < 0.4 * np.exp(-abs(strength[a] - strength[b]))
    word = "tie" if tied else "model_a" if won else "model_b"
    rows.append((f"voter {rng.integers(300)}", names[a], names[b], word))

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "arena.csv"
    with file.open("w", newline="") as handle:
        table = csv.writer(handle)
        table.writerow(["judge", "model_a", "model_b", "winner"])
        table.writerows(rows)
    votes = read_votes(file)  # the dialect is recognised: model_a is left

print(votes.origin["read_as"])
model = PreferenceModel().fit(votes)
board = model.ranking_columns(scale="elo", anchor="dante")
print("Elo points, dante fixed at 1000; a tie is half a win each:")
for item, score, low, high, best, worst in zip(
    board["item"],
    board["score"],
    board["score_low"],
    board["score_high"],
    board["rank_low"],
    board["rank_high"],
    strict=True,
):
    print(f"  {item:<6} {score:5.0f} ({low:.0f} to {high:.0f}), rank {best} to {worst}")

chance = model.win_probability("ada", "bard")
print(f"ada beats bard: {chance['probability']:.2f} ({chance['low']:.2f} to {chance['high']:.2f})")
