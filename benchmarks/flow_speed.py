"""How much faster flow is than our own LBI, on the same threads of the same machine.

    python benchmarks/flow_speed.py            WorldCollege, the simulation, 10 million votes
    python benchmarks/flow_speed.py --quick    WorldCollege, and a crowd of 1 million votes

Bradley-Terry throughout. What is compared is run turn and turn about; medians are taken. LBI
is run whole on WorldCollege. On the simulation it needs 1.6 million iterations: a number of
them is timed and multiplied. On the crowd, the whole path by flow is measured in LBI iterations.
"""

from __future__ import annotations

import argparse
import os

from checks import Check, LbiIterations, golden_problem, interleave
from checks import print_checks as finish

from prefpath import simulate_crowd
from prefpath.model.problem import Problem
from prefpath.solver.executors import check_threads
from prefpath.solver.flow import solve_flow
from prefpath.solver.grid import make_grid
from prefpath.solver.lbi import solve_lbi

_SIMULATION_ITERATIONS = 20_000


def world_college(repeats: int) -> Check:
    """Whole paths of both to ratio 50, from the problem on."""
    problem, _ = golden_problem("univer_BT_full")
    grid = make_grid(None, 50, 50.0)
    works = (
        lambda: solve_lbi(problem, grid, n_threads=1),
        lambda: solve_flow(problem, grid, n_threads=1),
    )
    solve_flow(problem, make_grid(None, 2, 1.5), n_threads=1)  # compiled
    lbi, flow = interleave(repeats, *works)
    print(f"WorldCollege: LBI {lbi:.2f} s, flow {flow:.2f} s", flush=True)
    return Check("WorldCollege, flow against LBI", lbi / flow, 5, "times", at_least=True)


def paper_simulation(repeats: int) -> Check:
    """The path to ratio 100; LBI's time from a stretch of its iterations."""
    problem, _ = golden_problem("sim_short_BT_full")
    lbi = LbiIterations(problem, 1)
    lbi.advance(1)
    grid = make_grid(None, 50, 100.0)
    last = solve_flow(problem, grid, n_threads=1).times[-1]
    stretch, flow = interleave(
        repeats,
        lambda: lbi.advance(_SIMULATION_ITERATIONS),
        lambda: solve_flow(problem, grid, n_threads=1),
    )
    n_iterations = last / lbi.step
    whole = stretch / _SIMULATION_ITERATIONS * n_iterations
    print(
        f"simulation: LBI {whole:.0f} s ({n_iterations:,.0f} iterations, "
        f"{_SIMULATION_ITERATIONS:,} of them timed), flow {flow:.2f} s",
        flush=True,
    )
    return Check("the paper's simulation, flow against LBI", whole / flow, 50, "times", True)


def large_crowd(n_votes: int, n_threads: int) -> Check:
    """The whole path to ratio 50 in units of LBI iterations, timed before and after it."""
    crowd = simulate_crowd(n_votes, n_votes // 100, 1_000, deviants=0.02, clickers=0.02, seed=0)
    problem = Problem.build(crowd.votes)
    lbi = LbiIterations(problem, n_threads)
    lbi.advance(1)
    ten = interleave(1, lambda: lbi.advance(10))[0]
    path = []
    flow = interleave(
        1,
        lambda: path.append(solve_flow(problem, make_grid(None, 50, 50.0), n_threads=n_threads)),
    )[0]
    ten = (ten + interleave(1, lambda: lbi.advance(10))[0]) / 2.0
    needs = path[0].times[-1] / lbi.step
    print(
        f"{n_votes:,} votes, {n_threads} threads: LBI iteration {ten / 10:.3f} s ({needs:,.0f} "
        f"needed), flow {flow:.1f} s, {path[0].n_evaluations:,} evaluations",
        flush=True,
    )
    return Check(f"crowd of {n_votes:,} votes, whole path", flow / (ten / 10), 60, "iterations")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smaller crowd, no simulation")
    parser.add_argument("--votes", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    checks = [world_college(asked.repeats)]
    if not asked.quick:
        checks.append(paper_simulation(asked.repeats))
    checks.append(large_crowd(1_000_000 if asked.quick else asked.votes, check_threads(None)))
    finish(checks)


if __name__ == "__main__":
    main()
