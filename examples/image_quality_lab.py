"""An image-quality lab: Thurstone-Mosteller scores, observers who do not look, circles."""

from __future__ import annotations

from prefpath import PreferenceModel, hodge_decompose, simulate_crowd, trust_panel

# Forty observers, nine versions of a picture; three click one side and three answer at random.
lab = simulate_crowd(
    6_000,
    40,
    9,
    activity="even",
    deviants=0,
    clickers=3,
    random=3,
    model="thurstone-mosteller",
    seed=2,
)

print("Before any model:")
for check in trust_panel(lab.votes).checks:
    print(f"  {check.status:<6} {check.name}: {check.finding}")

circles = hodge_decompose(lab.votes)
print(f"Share of the votes that goes in circles: {circles.cyclicity:.1%}")

model = PreferenceModel(loss="thurstone-mosteller").fit(lab.votes)
board = model.ranking_columns()
print("Scores in probits:")
for item, score, low, high in zip(
    board["item"], board["score"], board["score_low"], board["score_high"], strict=True
):
    print(f"  {item}: {score:+.2f} ({low:+.2f} to {high:+.2f})")

people = model.annotator_columns()
print("Observers to look at:")
for name, verdict, reason in zip(
    people["annotator"], people["verdict"], people["reason"], strict=True
):
    if verdict not in ("follows the crowd", "goes with the crowd", "inconclusive"):
        print(f"  {name}: {verdict} ({reason})")
print("Planted clickers:", ", ".join(lab.clickers))
