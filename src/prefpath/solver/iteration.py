"""One iteration of the paper's Algorithm 1, compiled: for a shard, and many in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from prefpath.compiling import inner_kernel, kernel
from prefpath.model.design import Floats, Ints
from prefpath.model.penalties import dual_norm
from prefpath.model.problem import Problem
from prefpath.solver.arguments import (
    DEVIATION,
    FIRST_SCALAR,
    CommonPart,
    Inputs,
    Personal,
    Scratch,
    zero_personal,
)
from prefpath.solver.kernels import (
    add_to_block,
    common_scores,
    unit_gradient,
    value_block,
    value_scalars,
)


class Dual(NamedTuple):
    """The dual variables z, and when each annotator's effects left zero (column: effect)."""

    z: Personal
    entered: Floats


class Clock(NamedTuple):
    """Iteration k is at time `start + k * step`."""

    start: float
    step: float
    iteration: int

    def time(self) -> float:
        return self.start + self.iteration * self.step


@dataclass
class State:
    """Where the iteration stands; plain arrays, so that it can be copied, sent and stored."""

    common: Floats
    dual: Dual
    iteration: int = 0

    @classmethod
    def zero(cls, problem: Problem) -> State:
        z = zero_personal(problem)
        n_annotators, n_scalars = z.scalar.shape
        return cls(
            common=np.zeros(problem.n_common + int(problem.common_position)),
            dual=Dual(z, np.full((n_annotators, FIRST_SCALAR + n_scalars), np.inf)),
        )

    def before(self) -> State:
        """A copy to interpolate from; entry times are shared, since they only become known."""
        return State(
            self.common.copy(), Dual(self.dual.z.copy(), self.dual.entered), self.iteration
        )

    @property
    def first_entry(self) -> float:
        return float(self.dual.entered.min())


@kernel()
def lbi_shard(
    who: Ints,
    inputs: Inputs,
    common: CommonPart,
    dual: Dual,
    time: float,
    step: float,
    scratch: Scratch,
) -> float:
    """One step of Algorithm 1 for a shard of annotators.

    Reads `(theta, z)` of this iteration, moves `z` to the next, leaves the shard's gradient
    in the items' scores in the scratch and returns the one in the common position effect.
    """
    scratch.item_gradient[:] = 0.0
    position_gradient = 0.0
    for index in range(len(who)):
        u = who[index]
        start, stop = inputs.design.blocks[u], inputs.design.blocks[u + 1]
        deviates = value_block(u, dual.z.block, start, stop, inputs.terms, scratch)
        value_scalars(u, dual.z.scalar[u], inputs.terms, scratch)
        unit_gradient(u, inputs, common, deviates, scratch)
        position_gradient += inputs.terms.stands_for[u] * scratch.scalar_gradient[0]
        _move_block(u, inputs, dual, time, step, scratch)
        _move_scalars(u, inputs, dual, time, step, scratch)
    return position_gradient


@inner_kernel(allocates=False)
def _move_block(
    u: int, inputs: Inputs, dual: Dual, time: float, step: float, scratch: Scratch
) -> None:
    """`z -= step * gradient` of u's deviation; notes when it enters."""
    design, terms, z = inputs.design, inputs.terms, dual.z.block
    start, stop = design.blocks[u], design.blocks[u + 1]
    waits = dual.entered[u, DEVIATION] == np.inf
    before = dual_norm(terms.penalty, z, start, stop) if waits else 0.0
    add_to_block(u, design, scratch.score_gradient, -step / terms.total, z, start)
    if waits:
        after, threshold = dual_norm(terms.penalty, z, start, stop), terms.threshold[u, DEVIATION]
        if after > threshold:
            dual.entered[u, DEVIATION] = time + step * _crossing(before, after, threshold)


@inner_kernel(allocates=False)
def _move_scalars(
    u: int, inputs: Inputs, dual: Dual, time: float, step: float, scratch: Scratch
) -> None:
    """`z -= step * gradient` of u's scalars; notes when they enter."""
    factor = -step / inputs.terms.total
    for k in range(dual.z.scalar.shape[1]):
        before = abs(dual.z.scalar[u, k])
        dual.z.scalar[u, k] += factor * scratch.scalar_gradient[k]
        after = abs(dual.z.scalar[u, k])
        effect = FIRST_SCALAR + k
        threshold = inputs.terms.threshold[u, effect]
        if dual.entered[u, effect] == np.inf and after > threshold:
            dual.entered[u, effect] = time + step * _crossing(before, after, threshold)


@inner_kernel(allocates=False)
def _crossing(before: float, after: float, threshold: float) -> float:
    """Share of a step after which a quantity that grew past the threshold reached it."""
    if before >= threshold or after <= before:
        return 0.0
    return (threshold - before) / (after - before)


@kernel()
def move_common(
    common: Floats, item_gradient: Floats, position_gradient: float, inputs: Inputs, move: float
) -> None:
    """`eta += move * Phi^T gradient`, and the common position effect with it."""
    features = inputs.design.features
    if features.shape[0] == 0:
        for i in range(len(item_gradient)):
            common[i] += move * item_gradient[i]
    else:
        for d in range(features.shape[1]):
            total = 0.0
            for i in range(len(item_gradient)):
                total += features[i, d] * item_gradient[i]
            common[d] += move * total
    if inputs.terms.common_position:
        common[-1] += move * position_gradient


@kernel()
def iterate_serial(
    n_iterations: int,
    bounds: Ints,
    inputs: Inputs,
    common: Floats,
    dual: Dual,
    clock: Clock,
    theta: Floats,
    scratch: Scratch,
) -> None:
    """Many iterations in one call: on small data, the calls would cost more than the work."""
    everybody = np.arange(bounds[-1])
    item_gradient = np.zeros(len(theta))
    move = -inputs.terms.kappa * clock.step / inputs.terms.total
    for iteration in range(clock.iteration, clock.iteration + n_iterations):
        common_scores(common, inputs.design, theta)
        shared = CommonPart(theta, common[-1] if inputs.terms.common_position else 0.0)
        item_gradient[:] = 0.0
        position_gradient = 0.0
        time = clock.start + iteration * clock.step
        for s in range(len(bounds) - 1):
            who = everybody[bounds[s] : bounds[s + 1]]
            position_gradient += lbi_shard(who, inputs, shared, dual, time, clock.step, scratch)
            item_gradient += scratch.item_gradient
        move_common(common, item_gradient, position_gradient, inputs, move)
