"""The part of a cyclic flow that goes round triangles."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from prefpath.compiling import kernel
from prefpath.errors import VoteWarning
from prefpath.hodge.flow import PairFlow
from prefpath.hodge.triangles import Triangles
from prefpath.votes.encode import CodeArray, FloatArray

_TOLERANCE = 1e-11
_MAX_ITERATIONS = 10_000
_MAX_HELD = 4_000_000  # triangles kept in memory


def local_part(flow: PairFlow, cyclic: FloatArray, component: CodeArray) -> FloatArray:
    """Project a flow without divergence on the span of flows round one triangle.

    Where every component has an item compared with all others (a complete graph, say), every
    cycle is a sum of triangles through that item: all of the cyclic flow is local.

    Where there are more triangles than are kept, an even sample of them comes first. It
    nearly always spans what all of them span; whether it does is checked against all
    triangles, listed anew, and these finish the work where it does not.
    """
    if _all_cones(flow, component):
        return cyclic.copy()
    triangles = Triangles.of(flow)
    root = np.sqrt(flow.weight)
    scaled = triangles.to_edges(root * cyclic)
    root_of_edge = root[triangles.pair]
    kept = _keep(triangles)
    left = _remove_curl(_Curl.of(lambda: [kept], root_of_edge), scaled, scaled)
    if len(kept) < triangles.n_triangles:
        left = _remove_curl(_Curl.of(triangles.batches, root_of_edge), left, scaled)
    return triangles.to_pairs(scaled - left) / root


def _all_cones(flow: PairFlow, component: CodeArray) -> bool:
    degree = np.bincount(np.concatenate([flow.first, flow.second]), minlength=flow.n_items)
    size = np.bincount(component)
    is_apex = degree == size[component] - 1
    return len(np.unique(component[is_apex])) == len(size)


def _keep(triangles: Triangles) -> CodeArray:
    """All triangles, or every so manieth."""
    stride = max(1, -(-triangles.n_triangles // _MAX_HELD))
    # Copies: a view would keep its whole batch in memory.
    return np.concatenate([batch[::stride].copy() for batch in triangles.batches()])


@dataclass(frozen=True, eq=False)
class _Curl:
    """The curl of a flow scaled by the roots of the weights, and its adjoint.

    `crowding` is what the triangles at an edge add up to in the normal equations. Dividing a
    triangle by that of its three edges changes the span of none, and halves the iterations
    where a few hubs have most triangles.
    """

    batches: Callable[[], Iterable[CodeArray]]
    root: FloatArray
    crowding: FloatArray

    @classmethod
    def of(cls, batches: Callable[[], Iterable[CodeArray]], root: FloatArray) -> _Curl:
        touching = np.zeros(len(root))
        for batch in batches():
            _add_sides(batch, touching)
        return cls(batches, root, touching / root**2)

    def energy_and_descent(self, scaled: FloatArray) -> tuple[float, FloatArray]:
        """Energy of the curl of a flow, and the adjoint of that curl."""
        value = scaled / self.root
        back = np.zeros_like(value)
        energy = 0.0
        for batch in self.batches():
            energy += _add_curl(batch, value, self.crowding, back)
        back /= self.root
        return energy, back


def _remove_curl(curl: _Curl, flow: FloatArray, original: FloatArray) -> FloatArray:
    """What is left of a flow without its part round triangles: least squares by CGLS.

    With `A` the adjoint of the curl, CGLS on `min |flow - A phi|` needs `A p` and `|A' r|`
    only, never `phi` or `p` themselves, which have an entry for each triangle. What it has
    removed is orthogonal to what is left at every iteration: energies add up by Pythagoras.
    """
    left = flow.copy()
    energy, descent = curl.energy_and_descent(left)
    target = _TOLERANCE**2 * (energy if flow is original else curl.energy_and_descent(original)[0])
    direction = descent
    for _ in range(_MAX_ITERATIONS):
        if energy <= target:
            return left
        # Not `@`: on a busy machine the threads of BLAS wait for each other far longer.
        left -= energy / np.einsum("i,i", direction, direction) * direction
        previous = energy
        energy, descent = curl.energy_and_descent(left)
        direction = descent + energy / previous * direction
    warnings.warn(
        f"local and harmonic cycles were not told apart fully after {_MAX_ITERATIONS:,} "
        f"iterations: {np.sqrt(energy / target) * _TOLERANCE:.1e} of the curl is left",
        VoteWarning,
        stacklevel=4,
    )
    return left


@kernel()
def _add_curl(
    triangles: CodeArray, flow: FloatArray, crowding: FloatArray, back: FloatArray
) -> float:
    energy = 0.0
    for row in range(len(triangles)):
        ab, bc, ac = triangles[row]
        curl = flow[ab] + flow[bc] - flow[ac]
        share = curl / (crowding[ab] + crowding[bc] + crowding[ac])
        energy += share * curl
        back[ab] += share
        back[bc] += share
        back[ac] -= share
    return energy


@kernel()
def _add_sides(triangles: CodeArray, touching: FloatArray) -> None:
    for row in range(len(triangles)):
        for side in range(3):
            touching[triangles[row, side]] += 1.0
