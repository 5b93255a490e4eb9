"""The times of a path: given, or from the first entry on, evenly in log t."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from prefpath.errors import SettingError, VoteWarning
from prefpath.model.design import Floats
from prefpath.settings import as_number, check_whole

TimeRatio = float | Literal["auto"]

# How far a path goes if nothing tells it where to stop, and by how much it is then drawn out.
FIRST_RATIO = 50.0
_EXTENSION = 2.0
# Where a path ends in any case: crowds whose held-out error falls for ever (everybody's own way
# is the best guess) get there, and coefficients a factor of 10,000 after the first are free.
LAST_RATIO = 10_000.0
# Beyond these a path would not end: every knot holds everybody's scores, and steps are as many as
# time is long.
_MOST_TIMES = 100_000
_LARGEST_RATIO = 1e9


@dataclass(frozen=True)
class Grid:
    """`times` as given, or `n_times` from the first entry t0 to `t0 * t_ratio`.

    Where the ratio is "auto", `n_times` go to 50 t0, and later ones as densely from there on.
    """

    times: Floats | None
    n_times: int
    t_ratio: TimeRatio

    @property
    def is_open(self) -> bool:
        """Whether the end is found under way."""
        return self.times is None and self.t_ratio == "auto"

    def settings(self) -> dict[str, Any]:
        """The grid as JSON has it."""
        times = None if self.times is None else self.times.tolist()
        return {"times": times, "n_times": self.n_times, "t_ratio": self.t_ratio}

    def from_first(self, first: float) -> Floats:
        """The times, once it is known when the first annotator pops up."""
        ratio = FIRST_RATIO if self.t_ratio == "auto" else self.t_ratio
        return np.geomspace(first, first * ratio, self.n_times)

    def further(self, last: float, ratio: float = _EXTENSION) -> Floats:
        """The next times of an open grid, after the last: on to about `ratio` times as far."""
        count = self.knots_within(ratio)
        return last * np.power(self.spacing, np.arange(1.0, count + 1.0))

    @property
    def spacing(self) -> float:
        """The factor between two times of an open grid."""
        return float(FIRST_RATIO ** (1.0 / (self.n_times - 1)))

    def knots_within(self, ratio: float) -> int:
        """How many knots of an open grid come within a factor of time, about; at least one."""
        return max(1, round(np.log(ratio) / np.log(self.spacing)))


def give_up_after(largest_share: float, largest_threshold: float) -> float:
    """When to stop waiting for a first entry, from the largest share of votes of an annotator.

    Whoever casts that share pops up at `threshold / share` if each of their votes pulls with
    slope 1, and by the time returned here if they pull with a thousandth of that. A balanced
    threshold is the largest of whoever voted most.
    """
    return 1000.0 * largest_threshold / largest_share


def say_nobody_enters() -> None:
    """Warn that the path is one ranking all along."""
    warnings.warn(
        "nobody differs enough from the common ranking to get a part of their own: the path is "
        "one ranking",
        VoteWarning,
        stacklevel=2,
    )


def make_grid(times: ArrayLike | None, n_times: int, t_ratio: TimeRatio) -> Grid:
    """Check the settings of a time grid."""
    if times is not None:
        given = np.asarray(times, dtype=np.float64)
        rising = given.ndim == 1 and len(given) > 0 and bool(np.all(np.diff(given) > 0))
        if not rising or not np.isfinite(given).all() or given[0] <= 0:
            raise SettingError("times cannot be used", expected="finite rising numbers above 0")
        return Grid(given, len(given), float(given[-1] / given[0]))
    n_times = check_whole("n_times", n_times, 2, _MOST_TIMES)
    if isinstance(t_ratio, str) and t_ratio == "auto":
        return Grid(None, n_times, "auto")
    ratio = as_number(t_ratio)
    if not 1 < ratio <= _LARGEST_RATIO:
        raise SettingError(
            f"t_ratio is {t_ratio!r}",
            expected=f'a number above 1 and at most {_LARGEST_RATIO:g}, or "auto"',
        )
    return Grid(None, n_times, ratio)
