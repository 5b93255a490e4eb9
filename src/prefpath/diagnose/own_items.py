"""Does a judge favour its own? What annotators make of items that are theirs, beside the others.

All votes are fitted at once, by the model

    (1 + sigma_u)(theta_i - theta_j) + gamma_u + favour_u * (own_i - own_j)

with a slope and a lean for each annotator who has items of their own (for everybody where
annotators are few): who sees more sharply than others, or clicks left, favours nobody by that.
The scores are everybody's, so that a judge's favour is not in what it is measured against.

Judges differ on all items a little. A verdict asks for more: a favour beyond the tastes they have
for items that are not their own, whose variance is estimated from the same fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.diagnose.favours import (
    FavourFit,
    FavourRows,
    contested,
    fit_favours,
    usual_taste,
    who_has_effects,
)
from prefpath.diagnose.multiplicity import benjamini_hochberg, check_rate
from prefpath.distributions import (
    normal_quantile,
    normal_tail,
    student_quantile,
    student_tail,
)
from prefpath.fitted import Fitted, HasFitted, as_fitted
from prefpath.model.design import Floats, Ints
from prefpath.model.losses import Loss
from prefpath.text import one
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray
from prefpath.votes.families import own_items

# Matrices are dense: of more items, and annotators with items of their own, nothing is said.
_MOST_COEFFICIENTS = 2_000
# Of so many annotators with items of their own there is a mean.
_FEWEST = 3
# Usual tastes below this are not worth a sentence.
_NOTICED = 0.005

FAVOURS, AGAINST, NEITHER = "favours its own", "against its own", "no favour shown"


@dataclass(frozen=True, eq=False)
class OwnItems:
    """What annotators make of their own items.

    Attributes
    ----------
    columns : dict
        A row an annotator: `own_items`, `votes` (of one's own against others), `won` (the share
        one's own won), `expected` (the share it would win without favour), `own_if_equal` (how
        often one's own is chosen of two equal items) with its interval, `favour` on the scale of
        scores with its interval, `p_value` of none beyond usual tastes, and a `verdict`.
    items : tuple
        The labels of each annotator's own items.
    usual : float
        Standard deviation of tastes for items that are not one's own, on the scale of scores.
    mean, low, high : float or None
        The mean of `own_if_equal`, made from the mean favour; its interval is for judges like
        these, and there is none of fewer than three.
    """

    columns: dict[str, Any]
    items: tuple[tuple[Any, ...], ...]
    usual: float
    mean: float | None
    low: float | None
    high: float | None
    voter: str

    def as_dict(self) -> dict[str, Any]:
        """Everything, for machines."""
        rows = zip(*self.columns.values(), strict=True)
        return {
            "annotators": [dict(zip(self.columns, row, strict=True)) for row in rows],
            "mean_own_if_equal": self.mean,
            "mean_own_if_equal_low": self.low,
            "mean_own_if_equal_high": self.high,
            "usual_taste": self.usual,
        }

    @property
    def meaning(self) -> str:
        """How to read it, in two sentences."""
        said = (
            f"Beyond what all {self.voter}s make of these items, each with a lean and an attention "
            f'of its own; "if equal" is how often {one(self.voter)} picks its own of two equal '
            "items."
        )
        if self.usual >= _NOTICED:
            said += (
                f" A verdict asks for more than the tastes these {self.voter}s have for other "
                f"items (standard deviation {self.usual:.2f})."
            )
        if self.mean is None or self.low is None or self.high is None:
            return said
        return (
            f"{said} On average {self.mean:.0%} ({self.low:.0%} to {self.high:.0%} for "
            f"{self.voter}s like these)."
        )


def own_items_favoured(
    model: Fitted | HasFitted,
    *,
    families: Mapping[Any, Any] | None = None,
    level: float = 0.95,
    q: float = 0.1,
) -> OwnItems | None:
    """What annotators make of items of their own name or family; None where nobody has any.

    Nor is anything said where votes stayed on a cluster, or beyond 2,000 coefficients: one for each
    item, and three for each annotator with items of their own.

    Parameters
    ----------
    model : Fitted, or a fitted PreferenceModel
    families : mapping, optional
        The family of annotators and of items, by their labels: all items of an annotator's family
        are its own. Items of an annotator's own name are without it.
    level : float
        How often an interval is to hold.
    q : float
        Target false-discovery rate of the verdicts.
    """
    check_rate(q)
    fitted = as_fitted(model)
    if fitted.remote is not None or fitted.votes.n_items > _MOST_COEFFICIENTS:
        return None
    votes = fitted.votes
    owned = own_items(votes, families)
    owners = {u: own for u, own in owned.items() if _has_contested(votes, u, own)}
    n_coefficients = votes.n_items + 3 * len(who_has_effects(votes, owners))
    if not owners or n_coefficients > _MOST_COEFFICIENTS:
        return None
    found = fit_favours(FavourRows.of(votes, owners), fitted.loss)
    items = tuple(tuple(votes.items[own].tolist()) for own in owners.values())
    columns = {
        "annotator": [votes.annotators[u] for u in owners],
        "own_items": ["; ".join(map(str, own)) for own in items],
        **_won(found, fitted.loss),
        **_sizes(found, fitted.loss, level),
    }
    usual = usual_taste(found, fitted.loss)
    columns["p_value"] = _p_values(found, votes, np.array([len(own) for own in items]), usual)
    columns["verdict"] = _verdicts(found.favour, benjamini_hochberg(columns["p_value"], q))
    in_lists = {name: np.asarray(part).tolist() for name, part in columns.items()}
    mean = _mean(found.favour, fitted.loss, level)
    return OwnItems(in_lists, items, usual, *mean, voter=votes.voter)


def _has_contested(votes: Votes, u: int, own: Ints) -> bool:
    weight = votes.weight[votes.offsets[u] : votes.offsets[u + 1]]
    return bool((weight[contested(votes, u, own) != 0] > 0.0).any())


def _won(found: FavourFit, loss: Loss) -> dict[str, Any]:
    """Votes of one's own against others: how many, the share one's own won, and would have."""
    rows, margin = found.rows, found.margin_without_favour()
    weight = rows.weight * (rows.own != 0.0)
    n = rows.sums(weight)
    columns = {"votes": n, "won": rows.sums(0.5 * weight * (1.0 + np.sign(rows.choice) * rows.own))}
    columns["won"] /= n
    if not loss.binary:
        return columns | {"expected": [None] * len(n)}
    return columns | {"expected": rows.sums(weight * loss.probability(margin * rows.own)) / n}


def _sizes(found: FavourFit, loss: Loss, level: float) -> dict[str, Any]:
    """Favours, and how often one's own of two equal items is chosen, with intervals."""
    reach = float(normal_quantile((1.0 - level) / 2.0)) * found.error
    ends = {"": found.favour, "_low": found.favour - reach, "_high": found.favour + reach}
    nothing = [None] * len(reach)
    chances = {
        f"own_if_equal{end}": loss.probability(size) if loss.binary else nothing
        for end, size in ends.items()
    }
    return chances | {f"favour{end}": size for end, size in ends.items()}


def _p_values(found: FavourFit, votes: Votes, n_own: Ints, usual: float) -> Floats:
    """P-values of no favour but a taste such as annotators have for other items.

    One's own items are held against all others, and one annotator against all others.
    """
    others, rest = max(votes.n_annotators - 1, 1), np.maximum(votes.n_items - n_own, 1)
    tastes = usual**2 * (1.0 / n_own + 1.0 / rest) * (1.0 + 1.0 / others)
    z = np.abs(found.favour) / np.sqrt(found.error**2 + tastes)
    if usual == 0.0:
        return 2.0 * normal_tail(z)
    # The tastes' variance is known from so many differences.
    freedom = max(found.rows.n_known - 1, 1) * max(votes.n_items - 1, 1)
    return 2.0 * student_tail(z, freedom)


def _verdicts(favour: Floats, named: BoolArray) -> list[str]:
    words = np.where(favour > 0.0, FAVOURS, AGAINST)
    return [str(word) for word in np.where(named, words, NEITHER)]


def _mean(
    favour: Floats, loss: Loss, level: float
) -> tuple[float | None, float | None, float | None]:
    """The mean favour as a chance, and its interval for annotators like these."""
    n = len(favour)
    if n < _FEWEST or not loss.binary:
        return None, None, None
    mean, error = float(favour.mean()), float(favour.std(ddof=1)) / np.sqrt(n)
    reach = float(student_quantile((1.0 - level) / 2.0, n - 1)) * error
    ends = loss.probability(np.array([mean, mean - reach, mean + reach]))
    return float(ends[0]), float(ends[1]), float(ends[2])
