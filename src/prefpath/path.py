"""`Path`: from one social ranking to everybody alone, at any time t between."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any, Literal

import numpy as np
from scipy import sparse

from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Floats, Ints
from prefpath.model.penalties import Penalty, block_proxes, soft_thresholds
from prefpath.path_files import Knot as Knot
from prefpath.path_files import read_fields, write_fields
from prefpath.text import counted
from prefpath.votes.encode import CodeArray, Labels
from prefpath.votes.segments import sums_between

Kind = Literal["deviation", "position_bias", "attention"]


_ROUNDING = 1e-12  # of kappa times the threshold: deviations no larger are nothing
_NO_KNOT = Knot(np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Path:
    """A regularization path: common scores, sparse deviations and sparse position bias over t.

    Between knots `(eta, z)` is linear in t and `beta = kappa * prox(z)` is taken afterwards.
    Before the first knot the state grows linearly from zero; after the last one it stays.

    Attributes
    ----------
    times : array (n_times,)
        The knots.
    common : array (n_times, p)
        Coefficients of the common score at the knots (scores themselves without features).
    common_position : array (n_times,) or None
        Position effect that everybody shares, where it was asked for.
    step : float or None
        Step of the iteration (LBI), None where steps adapt.
    n_evaluations : int
        Gradient evaluations (passes over the votes, or what is worth one).
    attention_threshold : array (n_annotators,) or None
        None where annotators all see the common scores alike.
    attention_scale : float
        What a sigma of 1 is worth on the scale of a margin.

    Examples
    --------
    >>> from prefpath import fit_path, simulate_crowd
    >>> path = fit_path(simulate_crowd(400, 8, 4, seed=0).votes, n_times=5, attention=True)
    >>> t, who = path.times[-1], path.annotators[0]
    >>> path.n_times, path.scores(t).shape, path.common_at(t).shape, path.common_position_at(t)
    (5, (4,), (4,), 0.0)
    >>> path.deviation(t).shape, path.position_bias(t).shape, path.attention(t).shape
    ((8, 4), (8,), (8,))
    >>> path.active_count(t)[0] == len(path.active_deviations(t)[0]) >= path.attention_count(0.0)
    True
    >>> path.personal_scores(who, t).shape, path.entry_times("deviation").shape
    ((4,), (8,))
    >>> float(path.first_entry_times().min() / path.times[0])
    1.0
    >>> path.around(t).n_times, (path.around(t).scores(t) == path.scores(t)).all()
    (2, np.True_)
    >>> path.save(getfixture("tmp_path") / "path.npz")
    >>> (Path.load(getfixture("tmp_path") / "path.npz").scores(t) == path.scores(t)).all()
    np.True_
    """

    times: Floats
    common: Floats
    common_position: Floats | None
    knots: tuple[Knot, ...]
    entered: Floats
    entered_bias: Floats
    items: Labels
    annotators: Labels
    features: Floats | None
    blocks: Ints
    seen_item: CodeArray
    penalty: Penalty
    deviation_threshold: Floats
    position_threshold: Floats
    kappa: float
    loss: str
    solver: str
    step: float | None
    n_evaluations: int
    attention_threshold: Floats | None = None
    attention_scale: float = 1.0
    entered_attention: Floats | None = None

    @property
    def n_times(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return (
            f"Path({self.loss}, {self.solver}, {counted(self.n_times, 'time')} from "
            f"{self.times[0]:.4g} to {self.times[-1]:.4g}, {counted(len(self.items), 'item')}, "
            f"{counted(len(self.annotators), 'annotator')})"
        )

    def scores(self, t: float) -> Floats:
        """Common score of every item at time t."""
        return self._scores_of(self.common_at(t))

    def common_at(self, t: float) -> Floats:
        """Coefficients of the common score at time t."""
        low, high, share = self._between(t)
        before = self.common[low] if low >= 0 else np.zeros_like(self.common[0])
        return before + share * (self.common[high] - before)

    def common_position_at(self, t: float) -> float:
        """Position effect that everybody shares at time t; 0 where it was not asked for."""
        if self.common_position is None:
            return 0.0
        low, high, share = self._between(t)
        before = self.common_position[low] if low >= 0 else 0.0
        return float(before + share * (self.common_position[high] - before))

    def deviation(self, t: float) -> sparse.csr_matrix:
        """Deviation of every annotator at time t: sparse, n_annotators x p."""
        who, values = self.active_deviations(t)
        rows = [np.full(len(value), u) for u, value in zip(who, values, strict=True)]
        columns = [self._block_columns(u) for u in who]
        shape = (len(self.annotators), self.common.shape[1])
        if not rows:
            return sparse.csr_matrix(shape)
        matrix = sparse.coo_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape
        ).tocsr()
        matrix.eliminate_zeros()
        return sparse.csr_matrix(matrix)

    def active_deviations(self, t: float) -> tuple[list[int], list[Floats]]:
        """Annotators with a deviation at time t, and its coefficients on their block."""
        low, high, share = self._between(t)
        who = np.union1d(self._knot(low).who, self._knot(high).who)
        ends = np.concatenate(([0], np.cumsum(self.blocks[who + 1] - self.blocks[who])))
        before, after = (self._block_z(k, who, ends) for k in (low, high))
        z, threshold = before + share * (after - before), self.deviation_threshold[who]
        value, is_active = block_proxes(self.penalty.code, z, ends, threshold, self.kappa)
        # At the very time of an entry rounding alone decides whether a block is left of its ball.
        size = np.sqrt(sums_between(ends, value**2))
        places = np.flatnonzero(is_active & (size > _ROUNDING * self.kappa * threshold))
        return who[places].tolist(), [value[ends[k] : ends[k + 1]] for k in places]

    def position_bias(self, t: float) -> Floats:
        """Position bias of every annotator at time t; above 0 leans left."""
        return self._scalar(t, "bias", self.position_threshold)

    def attention(self, t: float) -> Floats:
        """Attention sigma of every annotator at time t: they see `1 + sigma` times the scores.

        0 sees as the crowd does, above 0 more sharply, -1 not at all (votes at random),
        below -1 contrarily. All 0 where attention was not asked for.
        """
        if self.attention_threshold is None:
            return np.zeros(len(self.annotators))
        return self._scalar(t, "attention", self.attention_threshold) / self.attention_scale

    def _scalar(self, t: float, kind: str, threshold: Floats) -> Floats:
        """`kappa * prox` of z of a scalar effect at time t, for every annotator."""
        low, high, share = self._between(t)
        z = (1.0 - share) * self._knot_scalar(low, kind) + share * self._knot_scalar(high, kind)
        return self.kappa * np.asarray(soft_thresholds(z, threshold))

    def personal_scores(self, annotator: Any, t: float) -> Floats:
        """Scores one annotator gives to every item at time t: `(1 + sigma)` common + deviation."""
        found = np.flatnonzero(self.annotators == annotator)
        if not len(found):
            raise VoteError(
                f"there is no annotator {annotator!r} on the path", expected="one of `annotators`"
            )
        own = np.asarray(self.deviation(t)[found[0]].todense()).ravel()
        return (1.0 + self.attention(t)[found[0]]) * self.scores(t) + self._scores_of(own)

    def entry_times(self, kind: Kind = "deviation") -> Floats:
        """When an effect of each annotator first left zero; inf is never."""
        if kind == "attention":
            never = np.full(len(self.annotators), np.inf)
            return never if self.entered_attention is None else self.entered_attention
        if kind not in ("deviation", "position_bias"):
            raise SettingError(
                f"kind is {kind!r}", expected="'deviation', 'position_bias' or 'attention'"
            )
        return self.entered if kind == "deviation" else self.entered_bias

    def first_entry_times(self) -> Floats:
        """When each annotator first left the crowd, by whatever effect; inf is never."""
        kinds: tuple[Kind, ...] = ("deviation", "position_bias", "attention")
        return np.min([self.entry_times(kind) for kind in kinds], axis=0)

    def active_count(self, t: float) -> tuple[int, int]:
        """Annotators with a deviation and with a position bias at time t."""
        return len(self.active_deviations(t)[0]), int(np.count_nonzero(self.position_bias(t)))

    def attention_count(self, t: float) -> int:
        """Annotators with an attention of their own at time t."""
        return int(np.count_nonzero(self.attention(t)))

    def around(self, t: float) -> Path:
        """The same with no knots but those on both sides of t, at which it is the same."""
        low, high, _ = self._between(t)
        kept = slice(max(low, 0), high + 1)
        return replace(
            self,
            times=self.times[kept],
            common=self.common[kept],
            common_position=None if self.common_position is None else self.common_position[kept],
            knots=self.knots[kept],
        )

    def _scores_of(self, coefficient: Floats) -> Floats:
        return coefficient if self.features is None else np.dot(self.features, coefficient)

    def _between(self, t: float) -> tuple[int, int, float]:
        """Knots on both sides of t and the share of the way; knot -1 is zero at t = 0."""
        if not np.isfinite(t) or t < 0:
            raise SettingError(f"t is {t}", expected="a time of at least 0")
        high = int(np.searchsorted(self.times, t))
        if high == self.n_times:
            return self.n_times - 1, self.n_times - 1, 1.0
        start = self.times[high - 1] if high else 0.0
        return high - 1, high, float((t - start) / (self.times[high] - start))

    def _knot(self, k: int) -> Knot:
        return self.knots[k] if k >= 0 else _NO_KNOT

    def _block_z(self, k: int, who: Ints, ends: Ints) -> Floats:
        """z of some annotators' deviations at a knot, one after another; 0 where not kept."""
        knot, z = self._knot(k), np.zeros(int(ends[-1]))
        width = self.blocks[knot.who + 1] - self.blocks[knot.who]
        shift = ends[np.searchsorted(who, knot.who)] - (np.cumsum(width) - width)
        z[np.repeat(shift, width) + np.arange(len(knot.z))] = knot.z
        return z

    def _knot_scalar(self, k: int, kind: str) -> Floats:
        """z of a scalar effect of every annotator at a knot."""
        z, knot = np.zeros(len(self.annotators)), self._knot(k)
        z[getattr(knot, f"who_{kind}")] = getattr(knot, f"z_{kind}")
        return z

    def _block_columns(self, u: int) -> CodeArray:
        if self.features is not None:
            return np.arange(self.common.shape[1], dtype=np.int32)
        return self.seen_item[self.blocks[u] : self.blocks[u + 1]]

    def save(self, file: str | FilePath) -> None:
        """Write the path to a `.npz` file of plain arrays; no pickle inside."""
        write_fields(FilePath(file), vars(self))

    @classmethod
    def load(cls, file: str | FilePath) -> Path:
        """Read a path that `save` wrote."""
        return cls(**read_fields(FilePath(file)))
