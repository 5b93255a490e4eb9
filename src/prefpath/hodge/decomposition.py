"""`hodge_decompose`: gradient, local cycles and harmonic cycles of the votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from prefpath.errors import VoteError
from prefpath.hodge.flow import PairFlow, Transform, flow_of_votes, transformed_flow
from prefpath.hodge.gradient import find_components, fit_scores, gradient_of
from prefpath.hodge.local import local_part
from prefpath.hodge.triangles import Triangles, curls_of, energies_of, greatest_energies
from prefpath.votes import Votes
from prefpath.votes.encode import CodeArray, FloatArray, Labels


@dataclass(frozen=True)
class HodgeEnergy:
    """Weighted sums of squares of a flow and of its three parts, which add up to it."""

    total: float
    gradient: float
    local: float
    harmonic: float

    @property
    def cyclicity(self) -> float:
        """Share of the energy that no scores explain; 0 where there is no energy."""
        return (self.local + self.harmonic) / self.total if self.total else 0.0


@dataclass(frozen=True)
class InconsistentTriangle:
    """Three items in a circle: the first is preferred to the second, that to the third, and
    that to the first, on balance by `curl`; `energy` is what this circle alone explains."""

    items: tuple[Any, Any, Any]
    curl: float
    energy: float


@dataclass(frozen=True, eq=False)
class HodgeDecomposition:
    """A flow on compared pairs as gradient + local cycles + harmonic cycles.

    Attributes
    ----------
    items : array
        Labels.
    scores : array of n_items
        HodgeRank's scores; they sum to zero within each component.
    component : array of n_items
        Scores are comparable only between items of the same component.
    pairs : array, n_pairs x 2
        Labels of the compared pairs. A positive flow prefers the first.
    weight : array of n_pairs
        What the votes on each pair weigh together.
    flow, gradient, local, harmonic : array of n_pairs
        The flow and its parts: `flow = gradient + local + harmonic`.
    energy : HodgeEnergy
    transform : str

    Examples
    --------
    >>> votes = Votes.from_arrays(["u"] * 3, list("abc"), list("bca"), [1, 1, 1])
    >>> found = hodge_decompose(votes)
    >>> found.cyclicity, found.n_components, found.pairs.shape
    (1.0, 1, (3, 2))
    >>> found.inconsistent_triangles()[0].items
    ('a', 'b', 'c')
    """

    items: Labels
    scores: FloatArray
    component: CodeArray
    first: CodeArray
    second: CodeArray
    weight: FloatArray
    flow: FloatArray
    gradient: FloatArray
    local: FloatArray
    harmonic: FloatArray
    energy: HodgeEnergy
    transform: Transform

    @property
    def pairs(self) -> Labels:
        return np.column_stack([self.items[self.first], self.items[self.second]])

    @property
    def n_components(self) -> int:
        return int(self.component.max()) + 1

    @property
    def cyclicity(self) -> float:
        """Share of the energy that no ranking explains, from 0 to 1."""
        return self.energy.cyclicity

    def inconsistent_triangles(self, n: int = 10) -> list[InconsistentTriangle]:
        """The `n` triangles whose votes contradict each other most, greatest energy first."""
        if n < 1:
            raise VoteError(f"n is {n}", expected="at least one triangle")
        flow = PairFlow(len(self.items), self.first, self.second, self.weight, self.flow)
        graph = Triangles.of(flow)
        value, variance = graph.to_edges(self.flow), 1.0 / self.weight[graph.pair]
        worst = greatest_energies(graph, value, variance, n)
        corners = self.items[graph.corners(worst)].tolist()
        curls = curls_of(worst, value).tolist()
        energies = energies_of(worst, value, variance).tolist()
        return [
            InconsistentTriangle(_cycle(labels, curl), abs(curl), energy)
            for labels, curl, energy in zip(corners, curls, energies, strict=True)
        ]


def hodge_decompose(votes: Votes, transform: Transform = "uniform") -> HodgeDecomposition:
    """Split what the crowd prefers into a ranking and two kinds of contradiction.

    Votes pool into a flow `Y_ij = -Y_ji` on the compared pairs, weighted by the number of
    votes, and the flow splits into three orthogonal parts:

    - gradient: `score_i - score_j`, the ranking (weighted least squares);
    - local cycles: sums of flows round triangles, "a over b over c over a";
    - harmonic cycles: circles of four or more that no triangles fill in.

    With `p` the share of wins of `i` over `j`, ties counting half, the flow is

    =====================  =============================
    uniform                `2 p - 1`, the mean choice
    bradley-terry          `log(p / (1 - p))`
    thurstone-mosteller    normal quantile of `p`
    angular                `arcsin(2 p - 1)`
    =====================  =============================

    The second and third are infinite where one side won every vote: for these two, every
    pair is given half a vote for either side, `p = (wins + 1/2) / (n + 1)`.

    Position bias and annotators are not looked at: this is the crowd as one voter.

    Parameters
    ----------
    votes : Votes
    transform : {"uniform", "bradley-terry", "thurstone-mosteller", "angular"}

    Returns
    -------
    HodgeDecomposition

    Raises
    ------
    VoteError
        Where choices are beyond -1 to 1 and the transform is not uniform.

    References
    ----------
    Jiang, Lim, Yao, Ye: Statistical ranking and combinatorial Hodge theory. Mathematical
    Programming 127 (2011) 203-244.

    Examples
    --------
    >>> votes = Votes.from_arrays(["ann"] * 3, ["rock", "scissors", "paper"],
    ...                           ["scissors", "paper", "rock"], ["left"] * 3)
    >>> parts = hodge_decompose(votes)
    >>> parts.cyclicity
    1.0
    >>> parts.inconsistent_triangles(1)[0].items
    ('paper', 'rock', 'scissors')
    """
    flow = transformed_flow(votes, transform)
    component = find_components(flow)
    scores = fit_scores(flow, component)
    gradient = gradient_of(flow, scores)
    cyclic = flow.value - gradient
    local = local_part(flow, cyclic, component)
    harmonic = cyclic - local
    return HodgeDecomposition(
        items=votes.items,
        scores=scores,
        component=component,
        first=flow.first,
        second=flow.second,
        weight=flow.weight,
        flow=flow.value,
        gradient=gradient,
        local=local,
        harmonic=harmonic,
        energy=HodgeEnergy(*(_energy(flow, x) for x in (flow.value, gradient, local, harmonic))),
        transform=transform,
    )


def hodge_rank(votes: Votes) -> FloatArray:
    """Scores of the items by least squares on the votes themselves.

    Minimises `sum w (choice - (score_left - score_right))^2`: the model before anybody
    deviates (`t = 0`). Scores sum to zero within each connected component.

    Examples
    --------
    >>> votes = Votes.from_arrays(["ann"] * 3, ["x", "y", "x"], ["y", "z", "z"], [1, 1, 1])
    >>> hodge_rank(votes).round(3).tolist()
    [0.667, 0.0, -0.667]
    """
    flow = flow_of_votes(votes)  # the mean choice and the votes differ by a constant only
    return fit_scores(flow, find_components(flow))


def _energy(flow: PairFlow, part: FloatArray) -> float:
    return float(flow.weight @ part**2)


def _cycle(trio: list[Any], curl: float) -> tuple[Any, Any, Any]:
    """The corners in the direction of the flow, the first label in order first."""
    a, b, c = trio if curl >= 0 else trio[::-1]
    return min((a, b, c), (b, c, a), (c, a, b), key=lambda turned: turned[0])
