"""Margins of comparisons from coefficients and their variances."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from prefpath.compiling import kernel
from prefpath.model.design import Codes, Floats, Ints
from prefpath.model.losses import Loss
from prefpath.model.scalar_losses import BRADLEY_TERRY, THURSTONE_MOSTELLER
from prefpath.predict import Comparisons
from prefpath.weak.layout import Coefficients

# A normal margin of variance v, averaged, is its mean over sqrt(1 + factor * v): exact for
# Thurstone-Mosteller, within 0.02 in probability for Bradley-Terry.
_FACTORS = {BRADLEY_TERRY: math.pi / 8.0, THURSTONE_MOSTELLER: 1.0}


class Seen(NamedTuple):
    """Which items each annotator has seen: `item[start[u]:start[u + 1]]`, ascending."""

    start: Ints
    item: Codes


class Asked(NamedTuple):
    """Comparisons by codes, -1 for a stranger or a new item, and how their features differ."""

    annotator: Ints
    left: Ints
    right: Ints
    position: Floats
    features: Floats

    @classmethod
    def of(cls, comparisons: Comparisons, turned: Floats) -> Asked:
        """Comparisons of items with these features, on their principal axes."""
        left, right = comparisons.left.astype(np.int64), comparisons.right.astype(np.int64)
        differ = turned[left] - turned[right] if turned.size else np.zeros((len(left), 0))
        who = comparisons.annotator.astype(np.int64)
        return cls(who, left, right, comparisons.position_known.astype(np.float64), differ)


def attenuation(loss: Loss, variance: Floats) -> Floats:
    """What a margin shrinks by when it is uncertain; 1 for losses without probabilities."""
    return 1.0 / np.sqrt(1.0 + _FACTORS.get(loss.code, 0.0) * variance)


class Moments(NamedTuple):
    """Mean of each margin, and its variance without that of the attention.

    `mixed` is the margin of the mean probability over the slopes an annotator may have; the mean
    itself where nobody asked for it.
    """

    mean: Floats
    additive: Floats
    mixed: Floats


def moments(
    values: Coefficients, variance: Coefficients, prior: Floats, seen: Seen, asked: Asked
) -> Moments:
    """Means and variances of known annotators' margins, coefficients taken as independent.

    `prior` is the prior variance of each annotator's taste for an item they have not seen, and
    last that of a new item's score.
    """
    u, n_features = asked.annotator, asked.features.shape[1]
    gap = _difference(values.item, asked) + asked.features @ values.common
    steep = 1.0 + values.attention[u]
    mean = steep * gap + asked.position * (values.position[0] + values.lean[u])
    new_item = np.append(variance.item, prior[-1])
    common = new_item[asked.left] + new_item[asked.right] + asked.features**2 @ variance.common
    additive = steep**2 * common + asked.position * variance.lean[u]
    for side, sign in ((asked.left, 1.0), (asked.right, -1.0)):
        at = find_seen(seen, u, side)
        mean += sign * np.append(values.own, 0.0)[at]
        additive += np.where(at >= 0, np.append(variance.own, 0.0)[at], prior[u])
    for d in range(n_features):
        mean += asked.features[:, d] * values.taste[u * n_features + d]
        additive += asked.features[:, d] ** 2 * variance.taste[u * n_features + d]
    return Moments(mean, additive, mean)


def common_difference(values: Coefficients, asked: Asked) -> Floats:
    """How much the common scores differ; a new item has what its features say."""
    return _difference(values.item, asked) + asked.features @ values.common


def _difference(score: Floats, asked: Asked) -> Floats:
    known = np.append(score, 0.0)
    difference: Floats = known[asked.left] - known[asked.right]
    return difference


@kernel()
def find_seen(seen: Seen, annotator: Ints, item: Ints) -> Ints:
    """Place of each item among what its annotator has seen; -1 where they have not."""
    place = np.full(len(item), -1, dtype=np.int64)
    for k in range(len(item)):
        low, high = seen.start[annotator[k]], seen.start[annotator[k] + 1]
        end = high
        while low < high:
            middle = (low + high) // 2
            if seen.item[middle] < item[k]:
                low = middle + 1
            else:
                high = middle
        if low < end and seen.item[low] == item[k]:
            place[k] = low
    return place
