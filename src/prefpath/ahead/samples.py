"""Arguments of every kernel, as a fit has them: a tiny crowd gives their types, and nothing runs.

To Numba a read-only array is of another type than a writable one, so everything is built by the
functions that build it in a fit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import typeof

from prefpath.ahead.steps import kernel_named
from prefpath.diagnose.attention import Attention, measure_attention
from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.beyond import look_beyond_slope
from prefpath.diagnose.consensus import Consensus
from prefpath.diagnose.examined import VotesHere
from prefpath.diagnose.lean import estimate_leans
from prefpath.diagnose.pvalues import Draws, lean_p_values, taste_p_values
from prefpath.diagnose.without_own import CommonMargins, MarginsHere
from prefpath.model.design import Floats, Ints
from prefpath.model.problem import Problem
from prefpath.selection.held_out import KnotState, held_out_votes
from prefpath.simulate import simulate_crowd
from prefpath.solver.active import Equation
from prefpath.solver.arguments import CommonPart, make_scratch, zero_personal
from prefpath.solver.crowd import Crowd
from prefpath.solver.curvature import Rates
from prefpath.solver.executors import Serial
from prefpath.solver.interpolation import Ends
from prefpath.solver.relax_units import Point, Points
from prefpath.solver.rkc import chebyshev
from prefpath.votes.encode import BoolArray

_STEP = 0.1


class _Sample(NamedTuple):
    """A path at its beginning, where nobody has entered."""

    problem: Problem
    crowd: Crowd
    y: Floats
    common: CommonPart
    rates: Rates
    nobody: Ints


@cache
def _sample() -> _Sample:
    votes = simulate_crowd(60, 4, 4, seed=0).votes
    problem = Problem.build(votes)
    crowd, theta = Crowd(problem, Serial()), np.zeros(votes.n_items)
    rates = Rates(np.zeros((0, problem.n_scalars)), np.zeros(0))
    nobody = np.zeros(0, dtype=np.int64)
    return _Sample(problem, crowd, np.zeros(crowd.n_common), CommonPart(theta, 0.0), rates, nobody)


def _of_stages() -> tuple[Any, ...]:
    _, crowd, y, common, _, _ = _sample()
    pool, theta, scratch = crowd.pool, common.theta, crowd.scratch()
    equation = Equation(-1, crowd.active, crowd.index, pool, crowd.inputs, theta, scratch)
    return y, y, y, y, y, _STEP, chebyshev(2), equation


def _of_refresh() -> tuple[Any, ...]:
    problem, crowd, _, _, _, nobody = _sample()
    history, now, bounds = crowd.sight
    scratch = make_scratch(problem, with_items=False)
    return nobody, crowd.room.waiting, history, now, crowd.inputs, bounds, scratch


def _of_suspects() -> tuple[Any, ...]:
    crowd = _sample().crowd
    history, _, bounds = crowd.sight
    return crowd.room.waiting, history, crowd.inputs.terms, bounds, 0.0, 0.0, 0.0, _sample().nobody


def _of_moving_votes() -> tuple[Any, ...]:
    crowd, nobody = _sample().crowd, _sample().nobody
    design, target = crowd.inputs.design, crowd.inputs.target
    return nobody, design, target, crowd.index.pair_of, -1.0, crowd.pool


def _of_entering() -> tuple[Any, ...]:
    crowd = _sample().crowd
    return 0, crowd.active, _sample().y, crowd.inputs.terms


def _of_curvatures() -> tuple[Any, ...]:
    return _sample().nobody, _sample().crowd.inputs, _sample().common, _sample().y


def _of_unit_rates() -> tuple[Any, ...]:
    _, crowd, y, common, rates, nobody = _sample()
    return nobody, crowd.active, crowd.inputs, common, y, np.zeros((0, 0)), rates, y


def _of_pool_hessian() -> tuple[Any, ...]:
    crowd = _sample().crowd
    return crowd.index, crowd.pool, crowd.inputs.terms, _sample().common, np.zeros((0, 0))


def _of_relaxing() -> tuple[Any, ...]:
    _, crowd, y, _, rates, _ = _sample()
    now = Point(y, y)
    return y, now, now, crowd.active, crowd.inputs.terms, rates, _STEP


def _of_going_on() -> tuple[Any, ...]:
    point = Point(_sample().y, _sample().y)
    return point, point, point, *_entered_scalars(), _STEP


def _of_bending() -> tuple[Any, ...]:
    return _sample().y, *_of_errors()


def _of_errors() -> tuple[Any, ...]:
    _, crowd, y, _, rates, _ = _sample()
    now = Point(y, y)
    points = Points(now, now, now, now)
    return points, crowd.active, crowd.inputs.terms, rates, _STEP, _STEP


def _of_scalars() -> tuple[Any, ...]:
    y = _sample().y
    return y, Ends(0.0, _STEP, y, y, y, y), _STEP, *_entered_scalars()


def _entered_scalars() -> tuple[Any, ...]:
    crowd = _sample().crowd
    return crowd.active, crowd.inputs.terms, _sample().rates


def _of_held_out() -> tuple[Any, ...]:
    problem, crowd, y, common, _, _ = _sample()
    held_out = held_out_votes(problem, np.ones(problem.votes.n_rows))
    place = np.full(problem.votes.n_annotators, -1, dtype=np.int64)
    state, margin = KnotState(y, crowd.active, place), np.empty(len(held_out.left))
    scratch = make_scratch(problem, with_items=False)
    return held_out, state, crowd.inputs, common, scratch, margin


def _of_gradients() -> tuple[Any, ...]:
    problem, crowd, _, common, _, nobody = _sample()
    value = zero_personal(problem)
    return nobody, crowd.inputs, common, value, value.copy(), crowd.scratch()


class _Verdicts(NamedTuple):
    """Votes to be tested, of nobody: kernels are compiled for them and have nothing to do."""

    ballots: Ballots
    votes: VotesHere
    margin: Floats
    consensus: Consensus
    nobody: BoolArray
    draws: Draws


@cache
def _verdicts() -> _Verdicts:
    ballots = Ballots.of_problem(_sample().problem)
    vars(ballots)["are_few"] = False  # as where kernels test them
    n_items = ballots.votes.n_items
    consensus = Consensus(np.zeros(n_items), np.ones(n_items), 0.0)
    votes, nobody = VotesHere(ballots), np.zeros(ballots.n_annotators, dtype=bool)
    n_cells, n_seen = len(ballots.trials), int(ballots.design.seen[-1])
    votes.margins = CommonMargins(np.zeros(n_cells), np.zeros(n_seen), 1.0)
    return _Verdicts(ballots, votes, np.zeros(n_cells), consensus, nobody, Draws(100, 0, 1))


def _taste() -> None:
    ballots, _, margin, consensus, nobody, draws = _verdicts()
    taste_p_values(ballots, margin, consensus.score_error, nobody, nobody, draws)


def _attention() -> None:
    ballots, votes, *_, nobody, _ = _verdicts()
    measure_attention(ballots, votes.margins, nobody, own_lean=nobody, n_threads=1)


def _beyond() -> None:
    ballots, votes, *_, nobody, draws = _verdicts()
    nothing = np.zeros(ballots.n_annotators)
    attention = Attention(nothing, nothing, nothing, nothing, nothing, nothing, nobody)
    look_beyond_slope(ballots, votes.margins, attention, nobody, draws)


def _lean_test() -> None:
    lean_p_values(_verdicts().ballots, _verdicts().margin, _verdicts().nobody, 1)


def _lean() -> None:
    estimate_leans(_verdicts().ballots, _verdicts().margin, n_threads=1)


def _leave_out() -> None:
    ballots, _, _, consensus, nobody, _ = _verdicts()
    MarginsHere(ballots, 1).leave_out(consensus, np.ones(len(nobody)), nobody, 1.0)


def _pooled_slope() -> None:
    _verdicts().votes.slope_terms(1.0, 0.0, _verdicts().nobody)


# By the last part of the kernel's name: those that are called through what prepares their
# arguments, and those whose arguments are here.
_CALLED: dict[str, Callable[[], None]] = {
    "taste_shard": _taste,
    "attention_shard": _attention,
    "beyond_shard": _beyond,
    "lean_shard": _lean_test,
    "estimate_shard": _lean,
    "leave_out_shard": _leave_out,
    "score_of_pooled_slope": _pooled_slope,
}
_ARGUMENTS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "run_stages": _of_stages,
    "refresh": _of_refresh,
    "note_suspects": _of_suspects,
    "move_votes": _of_moving_votes,
    "any_entered": _of_entering,
    "note_attention_curvatures": _of_curvatures,
    "unit_rates": _of_unit_rates,
    "pool_hessian": _of_pool_hessian,
    "add_modes": lambda: (np.zeros((1, 1)), np.zeros(1), np.zeros(1)),
    "note_left_of_forces": lambda: (np.zeros(1), np.zeros((3, 1))),
    "relax_units": _of_relaxing,
    "go_on": _of_going_on,
    "bend_units": _of_bending,
    "unit_errors": _of_errors,
    "relax_scalars": _of_scalars,
    "held_out_margins": _of_held_out,
    "gradient_shard": _of_gradients,
}


def compile_kernel(name: str) -> None:
    """Compile a kernel of `steps` as a fit would, unless it is in Numba's folder."""
    last = name.rpartition(".")[2]
    if last in _CALLED:
        _CALLED[last]()
    else:
        types = tuple(typeof(value) for value in _ARGUMENTS[last]())  # type: ignore[no-untyped-call]
        kernel_named(name).compile(types)
