"""Rows of several people, one person after another, and sums over each person's rows."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from prefpath.model.design import Design, Floats, Ints
from prefpath.solver.light import ranges
from prefpath.votes.encode import BoolArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of a subclass are arrays with an entry for each row.

    Attributes
    ----------
    n : int
        How many people there are.
    owner : array of int
        Whose a row is: a number below n.
    """

    n: int
    owner: Ints

    def total(self, values: Floats) -> Floats:
        """Sum of each person's values, in the order of the rows."""
        return np.bincount(self.owner, weights=values, minlength=self.n).astype(np.float64)

    def of(self, keep: BoolArray) -> Self:
        """The rows of some of the people, who are counted anew."""
        if keep.all():
            return self
        chosen = np.flatnonzero(keep[self.owner])
        place = np.cumsum(keep) - 1
        columns = {each.name: getattr(self, each.name)[chosen] for each in fields(self)[2:]}
        return replace(self, n=int(keep.sum()), owner=place[self.owner[chosen]], **columns)


@dataclass(frozen=True, eq=False)
class CellRows(Rows):
    """Cells of some annotators, and the places of their items among the items all have seen.

    Attributes
    ----------
    cell : array of int
        Which cell of the design.
    left, right : array of int
        Places: the k-th person's begin where those of the one before end.
    """

    cell: Ints
    left: Ints
    right: Ints


@dataclass(frozen=True, eq=False)
class SeenRows(Rows):
    """Items some annotators have seen: places in the design's list of them."""

    seen: Ints


def cells_of(who: Ints, design: Design) -> tuple[CellRows, SeenRows]:
    """The cells of some annotators, in the design's order, and the items they have seen."""
    sizes, widths = np.diff(design.cells)[who], np.diff(design.seen)[who]
    people = np.arange(len(who))
    owner, cell = np.repeat(people, sizes), ranges(design.cells[who], sizes)
    begin = (np.cumsum(widths) - widths)[owner]
    left, right = begin + design.left_at[cell], begin + design.right_at[cell]
    seen = ranges(design.seen[who], widths)
    cells = CellRows(len(who), owner, cell, left.astype(np.int64), right.astype(np.int64))
    return cells, SeenRows(len(who), np.repeat(people, widths), seen)


def on_items(cells: CellRows, values: Floats, n_places: int, *, sign: float = -1.0) -> Floats:
    """Sum of values of the cells with an item on the left, `sign` times those on the right."""
    places = np.column_stack((cells.left, cells.right)).ravel()
    both = np.column_stack((values, sign * values)).ravel()
    return np.bincount(places, weights=both, minlength=n_places).astype(np.float64)
