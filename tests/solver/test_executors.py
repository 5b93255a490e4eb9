"""Executors: order, and how soon workers stop when nobody waits for them any more."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pytest

from prefpath import simulate_crowd
from prefpath.model.problem import Problem
from prefpath.selection.cross_validation import follow_until_settled
from prefpath.selection.folds import make_folds
from prefpath.solver.executors import Cancelled, Threads, _worker, stop_if_cancelled
from prefpath.solver.grid import make_grid
from prefpath.solver.lbi import solve_lbi


def test_results_come_in_the_order_of_the_shards():
    with Threads(3) as executor:
        assert executor.map(lambda k: k * k, range(20)) == [k * k for k in range(20)]


def test_an_error_in_one_worker_stops_the_others():
    stopped: list[int] = []

    def work(k: int) -> None:
        if k == 1:
            raise ValueError("one")
        try:
            while True:
                stop_if_cancelled()
        except Cancelled:
            stopped.append(k)
            raise

    with pytest.raises(ValueError, match="one"), Threads(2) as executor:
        executor.map(work, [1, 0])
    assert stopped in ([], [0])  # stopped under way, or never begun


def test_nothing_stops_outside_of_workers():
    stop_if_cancelled()


class Interrupt:
    """Ctrl-C at the first knot, and how many knots there were after it was heard."""

    def __init__(self) -> None:
        self.heard, self.knots_after = threading.Event(), 0

    def __enter__(self) -> Interrupt:
        self._old = signal.signal(signal.SIGINT, signal.default_int_handler)
        return self

    def at_a_knot(self, _time: float, _n_active: int) -> None:
        if self.heard.is_set():
            self.knots_after += 1
            return
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        _worker.cancelled.wait()  # of a worker: in the main thread we are gone by now
        self.heard.set()

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._old)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_cross_validation_obeys_ctrl_c(n_threads):
    votes = simulate_crowd(4_000, 200, 20, deviants=0.5, clickers=0.5, seed=0).votes
    problem, folds = Problem.build(votes, balance=True), make_folds(votes, 5)
    with Interrupt() as pressed, pytest.raises(KeyboardInterrupt):
        follow_until_settled(
            problem, folds, make_grid(None, 50, "auto"), n_threads=n_threads,
            progress=pressed.at_a_knot,
        )  # fmt: skip
    assert pressed.knots_after <= 1  # whoever was at a knot, too
    deadline = time.monotonic() + 60
    while workers_alive() and time.monotonic() < deadline:
        time.sleep(0.02)  # one that was just being started is not waited for, but ends
    assert not workers_alive()


def workers_alive() -> list[threading.Thread]:
    named = (one for one in threading.enumerate() if one.name.startswith("prefpath"))
    return [one for one in named if one.is_alive()]


def test_a_long_stretch_of_lbi_obeys_ctrl_c_and_slices_change_nothing(monkeypatch):
    votes = simulate_crowd(2_000, 20, 6, seed=0).votes
    problem, grid = Problem.build(votes), make_grid(None, 4, 8.0)
    whole = solve_lbi(problem, grid, n_threads=1)
    monkeypatch.setattr("prefpath.solver.stepper._CELLS_A_CALL", 5_000)
    sliced = solve_lbi(problem, grid, n_threads=1)
    np.testing.assert_array_equal(whole.common, sliced.common)
    np.testing.assert_array_equal(whole.entry_times("deviation"), sliced.entry_times("deviation"))
