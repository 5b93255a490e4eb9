"""How much of an annotator's votes counts in the common scores and their intervals.

The mean preference is how often one of the annotators, whoever it is, prefers an item. Those who
follow say the same, so that each of their votes may count. Who was found to have another taste
is one of them: with half of all votes they would otherwise be half of the mean.
"""

from __future__ import annotations

import numpy as np

from prefpath.model.design import Floats
from prefpath.votes.encode import BoolArray


def one_voice_each(weight: Floats, otherwise: BoolArray, deviates: BoolArray) -> Floats:
    """Share of each annotator's votes that counts where tastes are pooled with the others'.

    None of those left out (`otherwise`), and of who deviates as much as of one who follows, were
    all of these as busy; all of the others'. Where half deviate there is nobody to measure by.

    Examples
    --------
    >>> import numpy as np
    >>> nobody, first = np.zeros(4, dtype=bool), np.arange(4) == 0
    >>> one_voice_each(np.array([60.0, 10.0, 20.0, 30.0]), nobody, first).round(2).tolist()
    [0.33, 1.0, 1.0, 1.0]
    """
    share = np.where(otherwise, 0.0, 1.0)
    present = (weight > 0.0) & ~otherwise
    found, others = present & deviates, present & ~deviates
    if 2 * np.count_nonzero(found) < np.count_nonzero(present):
        share[found] = np.minimum(1.0, weight[others].mean() / weight[found])
    return share


def without_majority(weight: Floats, otherwise: BoolArray) -> Floats:
    """Weights of the annotators' votes; of one `otherwise` who cast most, the mean of the others'.

    Half of the votes can then stay in without theirs.

    Examples
    --------
    >>> import numpy as np
    >>> without_majority(np.array([60.0, 10.0, 20.0]), np.array([True, False, False])).tolist()
    [15.0, 10.0, 20.0]
    """
    others = weight.sum() - weight
    alone = otherwise & (weight > others) & (others > 0.0)
    return np.where(alone, others / max(len(weight) - 1, 1), weight)
