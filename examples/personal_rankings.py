"""Personal rankings: one annotator's beside the common one, and what it predicts for them."""

from __future__ import annotations

import numpy as np

from prefpath import PreferenceModel, simulate_crowd

crowd = simulate_crowd(
    5_000, 40, 8, activity="even", deviants=3, clickers=0, labels="readable", seed=6
)
model = PreferenceModel().fit(crowd.votes)

someone = str(crowd.deviants[0])
print(f"{someone} was given a taste of their own:")
print(model.personal(someone))

# The truth is known here: is the personal ranking nearer to it than the common one?
place = {name: k for k, name in enumerate(crowd.votes.annotators.tolist())}
own = crowd.scores + crowd.deviation[[place[someone]]].toarray()[0]
board = model.ranking_columns(someone, interval=None)
common = model.ranking_columns(interval=None)
for name, columns in (("personal", board), ("common", common)):
    order = dict(zip(columns["item"], columns["score"], strict=True))
    scores = np.array([order[item] for item in crowd.votes.items.tolist()])
    print(f"correlation of the {name} scores with the truth: {np.corrcoef(scores, own)[0, 1]:.2f}")

# Along the path more and more people have a ranking of their own.
entered = np.array(
    [np.inf if t is None else t for t in model.annotator_columns()["deviation_entered"]]
)
for t in np.linspace(model.path_.times[0], model.path_.times[-1], 4):
    own_too = int((entered <= t).sum())
    print(f"at t = {t:.1f}: {own_too} of {crowd.votes.n_annotators}; chosen was t = {model.t_:.1f}")
