"""What compiled kernels take: the problem as they read it, parameters, and buffers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from prefpath.compiling import by_reference
from prefpath.model.design import Design, Floats, Target
from prefpath.model.problem import Problem

# Margins, slopes and sums are three loops over so many cells: the first two then have nothing
# to wait for.
CELLS_AT_ONCE = 256

# The effects an annotator may have: column of `Terms.threshold` and of tables of entry times.
DEVIATION, POSITION, ATTENTION = range(3)
# Scalar k of an annotator is effect k + 1: the block comes first.
FIRST_SCALAR = 1


@by_reference
class Terms(NamedTuple):
    """The terms of the objective: what kernels need to know of loss, penalty and kappa.

    `threshold[u, effect]` is where a dual variable of annotator u leaves its ball. Attention is
    measured on the scale of a margin: `sigma = attention_unit * b`. To the common part annotator u
    is `stands_for[u]` annotators: 1, but for a sample of them.
    """

    loss: int
    parameter: float
    penalty: int
    kappa: float
    total: float
    common_position: bool
    attention_unit: float
    threshold: Floats
    stands_for: Floats


@by_reference
class Inputs(NamedTuple):
    """What kernels read of a problem."""

    design: Design
    target: Target
    terms: Terms


class CommonPart(NamedTuple):
    """The part of a margin that everybody shares: scores of the items, and a position effect."""

    theta: Floats
    position: float


@by_reference
class Personal(NamedTuple):
    """A number for every sparse parameter of every annotator.

    `block` holds the deviations, one after another as in `Design.blocks`; `scalar[u, k]` is
    scalar k of annotator u.
    """

    block: Floats
    scalar: Floats

    def copy(self) -> Personal:
        return Personal(self.block.copy(), self.scalar.copy())

    def towards(self, other: Personal, share: float) -> Personal:
        """A share of the way from here to another."""
        return Personal(*(a + share * (b - a) for a, b in zip(self, other, strict=True)))


@by_reference
class Scratch(NamedTuple):
    """Buffers of one shard, so that no kernel allocates.

    Of the annotator at hand: `coefficient` and `scalar` are the values of their parameters,
    `score` what they think of the items they have seen, `score_gradient` and `scalar_gradient`
    the gradient of their votes. `item_gradient` is summed over the shard.
    """

    coefficient: Floats
    scalar: Floats
    score: Floats
    score_gradient: Floats
    scalar_gradient: Floats
    slope: Floats
    item_gradient: Floats


def terms_of(problem: Problem) -> Terms:
    """The problem's loss and penalty in the form the kernels read."""
    threshold = [problem.deviation_threshold, problem.position_threshold]
    if problem.attention:
        threshold.append(problem.attention_threshold)
    return Terms(
        loss=problem.loss.code,
        parameter=float(problem.loss.parameter),
        penalty=problem.penalty.code,
        kappa=problem.kappa,
        total=problem.total_weight,
        common_position=problem.common_position,
        attention_unit=1.0 / problem.attention_scale if problem.attention else 0.0,
        threshold=np.stack(threshold, axis=1),
        stands_for=_numbers_stood_for(problem),
    )


def _numbers_stood_for(problem: Problem) -> Floats:
    if problem.stands_for is None:
        return np.ones(len(problem.deviation_threshold))
    return np.array(problem.stands_for)


def inputs_of(problem: Problem) -> Inputs:
    """What kernels read of a problem."""
    return Inputs(problem.design, problem.target, terms_of(problem))


def zero_personal(problem: Problem) -> Personal:
    """Every sparse parameter at zero."""
    shape = problem.votes.n_annotators, problem.n_scalars
    return Personal(np.zeros(int(problem.design.blocks[-1])), np.zeros(shape))


def make_scratch(problem: Problem, *, with_items: bool = True) -> Scratch:
    """Buffers large enough for any annotator of a problem."""
    design = problem.design
    widest_block = int(np.diff(design.blocks).max(initial=1))
    widest_view = int(np.diff(design.seen).max(initial=1))
    return Scratch(
        coefficient=np.zeros(widest_block),
        scalar=np.zeros(problem.n_scalars),
        score=np.zeros(widest_view),
        score_gradient=np.zeros(widest_view),
        scalar_gradient=np.zeros(problem.n_scalars),
        slope=np.zeros(CELLS_AT_ONCE),
        item_gradient=np.zeros(problem.votes.n_items if with_items else 0),
    )
