"""Would an implicit step pay? What a Newton system costs, in evaluations of the gradient.

    python benchmarks/implicit.py

The Hessian of the path is an arrow: one common block and one small block for each active
annotator. An implicit step of second order needs at least two Newton systems; a Chebyshev step
needs as many evaluations as it has stages. This prints both in the same unit, at the end of the
two stiffest paths we know: the paper's simulation and the movies by occupation (simulated with
the same shape: 21 groups, 100 items, 18 features).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from prefpath.model.problem import Problem
from prefpath.simulate import simulate_crowd, simulate_paper
from prefpath.solver.flow import FlowSolver

Floats = NDArray[np.float64]


def main() -> None:
    genres = (np.random.default_rng(0).random((100, 18)) < 0.15).astype(float)
    movies = simulate_crowd(22_300, 21, 100, features=genres, deviants=21, clickers=0, seed=0)
    cases = {
        "the paper's simulation": (simulate_paper(seed=0), True),
        "21 groups, 18 features": (movies, False),
    }
    print(f"{'':28}{'evaluations a step':>20}{'two Newton systems':>20}")
    for name, (crowd, position_bias) in cases.items():
        problem = Problem.build(crowd.votes, features=crowd.features, position_bias=position_bias)
        with FlowSolver(problem, n_threads=1) as solver:
            solver.follow(solver.first_entry() * np.geomspace(1.0, 100.0, 50))
            a_step = solver.work.evaluations / solver.work.steps
            gradient = _median_time(lambda s=solver: s.slope.at(s.y))
            newton = gradient + _median_time(lambda p=problem: solve_arrow(p))
        print(f"{name:28}{a_step:20.1f}{2 * newton / gradient:20.1f}")


def solve_arrow(problem: Problem) -> Floats:
    """One Newton system with everybody active, by Schur complement on the common block."""
    design, target = problem.design, problem.target
    phi = design.features
    d = phi.shape[1]
    schur = np.eye(d)
    for u in range(problem.votes.n_annotators):
        cells = slice(design.cells[u], design.cells[u + 1])
        seen = design.seen_item[design.seen[u] : design.seen[u + 1]]
        rows = phi[seen[design.left_at[cells]]] - phi[seen[design.right_at[cells]]]
        rows = np.column_stack((rows, design.position[cells]))
        hessian = rows.T @ (rows * (0.25 * target.weight[cells, None] / problem.total_weight))
        own = hessian + np.eye(d + 1)
        coupling = hessian[:, :d]
        schur += hessian[:d, :d] - coupling.T @ np.linalg.solve(own, coupling)
    return np.linalg.solve(schur, np.ones(d))


def _median_time(call: Callable[[], object], repeats: int = 15) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


if __name__ == "__main__":
    main()
