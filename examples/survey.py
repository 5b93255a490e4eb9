"""A wiki survey: many ideas, few votes on each, visitors in groups with a taste of their own."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np

from prefpath import PreferenceModel, read_votes

rng = np.random.default_rng(5)
ideas = [f"idea {k:02d}" for k in range(1, 25)]
quality = rng.normal(0, 1, len(ideas))
cycling = np.arange(len(ideas)) % 6 == 0  # what cyclists put first
groups = ["resident", "shopkeeper", "commuter", "cyclist", "visitor"]

rows = []
for visitor in range(400):
    group = groups[visitor % len(groups)]
    taste = quality + (2.0 * cycling if group == "cyclist" else 0.0)
    for _ in range(12):
        a, b = rng.choice(len(ideas), 2, replace=False)
        won = rng.random() < 1 / (1 + np.exp(taste[b] - taste[a]))
        rows.append((f"visitor {visitor}", group, ideas[a], ideas[b], "left" if won else "right"))

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "survey.csv"
    with file.open("w", newline="") as handle:
        table = csv.writer(handle)
        table.writerow(["annotator", "occupation", "left", "right", "choice"])
        table.writerows(rows)
    votes = read_votes(file, group="occupation")  # groups in the place of persons

model = PreferenceModel().fit(votes)
board = model.ranking_columns()
print("The first five, with the ranks their votes allow:")
for k in range(5):
    print(f"  {board['item'][k]}: rank {board['rank_low'][k]} to {board['rank_high'][k]}")

people = model.annotator_columns()
for group, verdict, up in zip(
    people["annotator"], people["verdict"], people["most_up"], strict=True
):
    print(f"{group}: {verdict}" + (f", most of all up: {up}" if group == "cyclist" else ""))
print("What cyclists were made to like:", ", ".join(np.array(ideas)[cycling]))
