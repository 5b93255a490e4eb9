"""The times of a path: given, or from the first entry on, evenly in log t."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from prefpath.errors import SettingError
from prefpath.model.design import Floats


@dataclass(frozen=True)
class Grid:
    """`times` as given, or `n_times` from the first entry t0 to `t0 * t_ratio`."""

    times: Floats | None
    n_times: int
    t_ratio: float

    def from_first(self, first: float) -> Floats:
        """The times, once it is known when the first annotator pops up."""
        return np.geomspace(first, first * self.t_ratio, self.n_times)


def make_grid(times: ArrayLike | None, n_times: int, t_ratio: float) -> Grid:
    """Check the settings of a time grid."""
    if times is not None:
        given = np.asarray(times, dtype=np.float64)
        rising = given.ndim == 1 and len(given) > 0 and bool(np.all(np.diff(given) > 0))
        if not rising or not np.isfinite(given).all() or given[0] <= 0:
            raise SettingError("times cannot be used", expected="finite rising numbers above 0")
        return Grid(given, len(given), float(given[-1] / given[0]))
    if n_times < 2:
        raise SettingError(f"n_times is {n_times}", expected="at least 2")
    if not (np.isfinite(t_ratio) and t_ratio > 1):
        raise SettingError(f"t_ratio is {t_ratio}", expected="a number above 1")
    return Grid(None, int(n_times), float(t_ratio))
