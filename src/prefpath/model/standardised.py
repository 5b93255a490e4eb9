"""Features centred and scaled, so that units and origins (years, bytes) change no answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from prefpath.errors import VoteError
from prefpath.model.design import Floats
from prefpath.text import agreeing, counted, quoted
from prefpath.votes.encode import Labels
from prefpath.votes.features import ItemFeatures

# Spreads below this share of the values themselves are rounding, not a feature.
_ROUNDING = 1e-12
_NAMED = 5


@dataclass(frozen=True, eq=False)
class StandardisedFeatures(ItemFeatures):
    """Features around the compared items' mean, in units of their spread.

    Only differences between items enter a model, so the origin is free. A column of two values
    is divided by their difference, any other by its standard deviation. Columns that are the
    same for all compared items are left out: no vote tells anything about them.

    Attributes
    ----------
    given : ItemFeatures
        As the user gave them.
    kept : array of bool
        Columns of `given` that are here.
    scale : array
        What each kept column was divided by.

    Examples
    --------
    >>> years = np.array([[2001.0, 1.0], [2005.0, 1.0]])
    >>> table = ItemFeatures(np.array(["a", "b"]), ("year", "kind"), years)
    >>> found = StandardisedFeatures.standardise(table, table.items)
    >>> found.matrix.tolist(), found.left_out
    ([[-0.5], [0.5]], ['kind'])
    >>> found.as_given(np.array([2.0])).tolist()
    [0.5, 0.0]
    """

    given: ItemFeatures
    kept: NDArray[np.bool_]
    scale: Floats

    @classmethod
    def standardise(cls, given: ItemFeatures, compared: Labels) -> StandardisedFeatures:
        """Features standardised by the items that were compared; others use the same numbers.

        Raises
        ------
        VoteError
            If no column differs between the compared items.
        """
        seen = given.of(compared)
        # Powers of two divide exactly, and keep sums of values near the largest double finite.
        size = np.ldexp(1.0, np.minimum(np.frexp(np.abs(seen).max(axis=0))[1], 1023))
        middle = (seen / size).mean(axis=0)
        spread = _spread(seen / size - middle)
        kept = spread > _ROUNDING
        if not kept.any():
            raise VoteError(
                "every feature is the same for all compared items",
                expected="at least one feature in which the items differ",
                remedy="add such a column, or fit without features",
            )
        names = tuple(np.array(given.names, dtype=object)[kept])
        with np.errstate(over="ignore"):
            matrix = (given.matrix / size - middle)[:, kept] / spread[kept]
        return cls(given.items, names, matrix, given, kept, spread[kept] * size[kept])

    @property
    def left_out(self) -> list[Any]:
        """Names of the columns that are the same for all compared items."""
        return [name for name, kept in zip(self.given.names, self.kept, strict=True) if not kept]

    def as_given(self, coefficient: Floats) -> Floats:
        """Coefficients for the features as given; 0 for what was left out."""
        result = np.zeros(len(self.kept))
        result[self.kept] = coefficient / self.scale
        return result

    def cautions(self, compared: Labels) -> list[str]:
        """What a user must know of these features."""
        told = [_left_out_sentence(self.left_out)] if self.left_out else []
        numbers = self.of(compared)[:, _is_number(self.given.of(compared)[:, self.kept])]
        n_columns = numbers.shape[1]
        rank = int(np.linalg.matrix_rank(numbers)) if n_columns else 0
        if rank < n_columns:
            told.append(
                f"the {n_columns} numeric features are collinear: the {len(compared)} compared "
                f"items tell {rank} of them apart; scores and predictions hold, coefficients are "
                "one choice of many"
            )
        return told


def _spread(centred: Floats) -> Floats:
    """Distance of the values of columns of two values, standard deviation of others."""
    width: Floats = np.ptp(centred, axis=0)
    result: Floats = np.where(_is_number(centred), centred.std(axis=0), width)
    return result


def _is_number(columns: Floats) -> NDArray[np.bool_]:
    """Which columns have more than two values."""
    return np.array([len(np.unique(column)) > 2 for column in columns.T], dtype=bool)


def _left_out_sentence(names: list[Any]) -> str:
    shown = ", ".join(map(quoted, names[:_NAMED]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    n = len(names)
    return (
        f"{counted(n, 'feature')} {agreeing(n, 'is', 'are')} the same for all compared items and "
        f"{agreeing(n, 'was', 'were')} left out: {shown}{more}"
    )
