"""Arrays that grow at their end, for the votes of annotators who become active on the driver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from prefpath.distributed.room_part import UnitVotes
from prefpath.model.design import Design, Floats, Ints, Target


class Growing:
    """An array that is appended to; what is there moves only when the room doubles."""

    def __init__(self, dtype: DTypeLike, *columns: int, first: Any = None) -> None:
        self._room = np.zeros((64, *columns), dtype=dtype)
        self._n = 0
        if first is not None:
            self.append(np.asarray(first))

    def append(self, values: NDArray[Any]) -> None:
        last = self._n + len(values)
        if last > len(self._room):
            longer = np.zeros((2 * last, *self._room.shape[1:]), dtype=self._room.dtype)
            longer[: self._n] = self._room[: self._n]
            self._room = longer
        self._room[self._n : last] = values
        self._n = last

    def values(self) -> NDArray[Any]:
        return self._room[: self._n]

    def frozen(self) -> NDArray[Any]:
        """The same, read-only: to the compiler, another type."""
        view = self.values()
        view.setflags(write=False)
        return view


class ActiveVotes:
    """The votes of those who have left their rooms, as the kernels read them."""

    def __init__(self, n_effects: int, features: Floats | None) -> None:
        self.labels: list[Any] = []
        self._features = np.zeros((0, 0)) if features is None else np.ascontiguousarray(features)
        self._cells, self._seen = Growing(np.int64, first=[0]), Growing(np.int64, first=[0])
        self._seen_item = Growing(np.int32)
        self._left_at, self._right_at = Growing(np.uint32), Growing(np.uint32)
        self._position = Growing(np.int8)
        self._choice, self._weight = Growing(np.float64), Growing(np.float64)
        self._threshold, self._share = Growing(np.float64, n_effects), Growing(np.float64)
        self._stands_for = Growing(np.float64)

    def append(self, units: list[UnitVotes]) -> Design:
        """Add annotators; returns the design of these alone, numbered from 0."""
        cells = np.cumsum([0, *(len(unit.left_at) for unit in units)])
        seen = np.cumsum([0, *(len(unit.seen_item) for unit in units)])
        self._cells.append(self._cells.values()[-1] + cells[1:])
        self._seen.append(self._seen.values()[-1] + seen[1:])
        for name in ("seen_item", "left_at", "right_at", "position", "choice", "weight"):
            growing: Growing = getattr(self, f"_{name}")
            growing.append(np.concatenate([getattr(unit, name) for unit in units]))
        self._threshold.append(np.array([unit.threshold for unit in units]))
        self._share.append(np.array([unit.share for unit in units]))
        self._stands_for.append(np.array([unit.stands_for for unit in units]))
        self.labels.extend(unit.label for unit in units)
        return self._last(cells, seen)

    def _last(self, cells: Ints, seen: Ints) -> Design:
        whole = self.design()
        first_cell, first_seen = len(whole.left_at) - cells[-1], len(whole.seen_item) - seen[-1]
        return whole._replace(
            cells=cells,
            seen=seen,
            blocks=seen,
            seen_item=whole.seen_item[first_seen:],
            left_at=whole.left_at[first_cell:],
            right_at=whole.right_at[first_cell:],
            position=whole.position[first_cell:],
        )

    def design(self) -> Design:
        """Who compared what."""
        seen, width = self._seen.values(), self._features.shape[1]
        blocks = np.arange(len(seen), dtype=np.int64) * width if width else seen
        return Design(
            cells=self._cells.values(),
            seen=seen,
            seen_item=self._seen_item.values(),
            left_at=self._left_at.values(),
            right_at=self._right_at.values(),
            position=self._position.values(),
            blocks=blocks,
            features=self._features,
        )

    def target(self) -> Target:
        """What they chose."""
        return Target(self._choice.frozen(), self._weight.frozen())

    @property
    def threshold(self) -> Floats:
        return self._threshold.values()

    @property
    def stands_for(self) -> Floats:
        return self._stands_for.values()

    @property
    def share(self) -> Floats:
        return self._share.values()
