"""Which LLM judge favours the first answer, and what is the ranking without that?

Nine judges see every pair of eight models in both orders; three of them lean to one side.
"""

from __future__ import annotations

import numpy as np

from prefpath import PreferenceModel, Votes

rng = np.random.default_rng(4)
models = [f"model {letter}" for letter in "ABCDEFGH"]
quality = np.linspace(1.2, -1.2, len(models))
judges = [f"judge {k}" for k in range(1, 10)]
lean = dict.fromkeys(judges, 0.0) | {"judge 2": 1.5, "judge 5": 1.5, "judge 7": -1.5}

rows = []
for judge in judges:
    for left in range(len(models)):
        for right in range(len(models)):
            if left == right:
                continue
            for _ in range(4):  # four prompts for each pair and order
                chance = 1 / (1 + np.exp(quality[right] - quality[left] - lean[judge]))
                choice = 1 if rng.random() < chance else -1
                rows.append((judge, models[left], models[right], choice))

votes = Votes.from_arrays(*zip(*rows, strict=True))
model = PreferenceModel().fit(votes)

print("The ranking, leans taken out (95 % intervals about these judges):")
board = model.ranking_columns()
for rank, item, score, low, high in zip(
    board["rank"],
    board["item"],
    board["score"],
    board["score_low"],
    board["score_high"],
    strict=True,
):
    print(f"  {rank}. {item}  {score:+.2f}  ({low:+.2f} to {high:+.2f})")

print("The chance of choosing the first of two equal answers:")
people = model.annotator_columns()
for judge, first, verdict in zip(
    people["annotator"], people["first_if_equal"], people["verdict"], strict=True
):
    planted = " (planted)" if lean[judge] else ""
    print(f"  {judge}: {first:.0%}, {verdict}{planted}")
