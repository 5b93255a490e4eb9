"""How much of what the items differ by their features say."""

from __future__ import annotations

import numpy as np
from scipy.special import chdtri

from prefpath.fitted import Fitted
from prefpath.model.attention import fit_pooled
from prefpath.model.design import Floats

_BY_CHANCE = 1e-3  # how often features that say all would be said to leave something


def explained_by_features(fitted: Fitted) -> float | None:
    """Share of the loss that scores of the items' own would save that features save.

    None without features, and where what is left may be chance. Of all votes pooled: a ranking of
    everybody by features, by free scores, and none.
    """
    problem = fitted.problem
    if problem.features is None or fitted.remote is not None:
        return None
    pooled = problem.pooled_votes
    n_items, (pairs, weight, choice) = problem.votes.n_items, pooled
    own = fit_pooled(pooled, problem.loss, n_items, None).scores

    def cost(scores: Floats) -> float:
        margin = scores[pairs.first] - scores[pairs.second]
        return float(weight @ problem.loss.value(margin, choice))

    nothing, by_features = cost(np.zeros(n_items)), cost(problem.pooled_fit.scores)
    left, saved = by_features - cost(own), nothing - cost(own)
    free = n_items - len(np.unique(fitted.component)) - problem.n_common
    if free < 1 or saved <= 0.0 or 2.0 * left <= float(chdtri(free, _BY_CHANCE)):
        return None
    return float(np.clip(1.0 - left / saved, 0.0, 1.0))
