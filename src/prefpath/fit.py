"""`fit_path`: votes in, regularization path out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from prefpath.checkpoint import Place, keeping, slot_in
from prefpath.machine import blas_threads_for
from prefpath.model.fingerprint import problem_settings, votes_digest
from prefpath.model.losses import Loss
from prefpath.model.penalties import Penalty
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.solver.grid import TimeRatio, make_grid
from prefpath.solver.solve import PATH_SLOT, Solver
from prefpath.solver.solve import solve as solve
from prefpath.solver.work import Common, Progress
from prefpath.votes import Votes

if TYPE_CHECKING:
    from distributed import Client

    from prefpath.distributed import ShardedVotes


def fit_path(
    votes: Votes | ShardedVotes,
    *,
    loss: str | Loss = "bradley-terry",
    features: ArrayLike | None = None,
    penalty: str | Penalty | None = None,
    position_bias: bool = True,
    common_position: bool = False,
    kappa: float = 20.0,
    balance: bool = False,
    attention: bool = False,
    solver: Solver = "flow",
    common: Common = "flow",
    step: float | None = None,
    times: ArrayLike | None = None,
    n_times: int = 50,
    t_ratio: TimeRatio = 50.0,
    n_threads: int | None = None,
    progress: Progress | None = None,
    checkpoint: Place | None = None,
    client: Client | None = None,
) -> Path:
    """The regularization path from one social ranking to everybody alone.

    Solves `eta' = -kappa grad_eta L`, `z' = -grad_beta L`, `beta = kappa prox(z)` from zero,
    where `L` is the mean loss of the votes' margins `theta_i - theta_j + delta_i^u - delta_j^u +
    gamma^u` and `beta` holds every annotator's deviation and position bias.

    Parameters
    ----------
    votes : Votes
    loss : {"bradley-terry", "thurstone-mosteller", "linear", "huber", "smooth-l1"} or Loss
    features : array (n_items, d), optional
        In the order of `votes.items`; scores are then linear in them.
    penalty : {"group", "l1"}, optional
        None: group without features (an annotator deviates as a whole), l1 with them.
    position_bias : bool
        Whether annotators may lean to one side.
    common_position : bool
        Whether everybody may share a position effect (home advantage).
    kappa : float
        Larger is less biased.
    balance : bool
        Thresholds that grow with the root of an annotator's votes, so that heavy voters do
        not enter first only because they vote a lot.
    attention : bool
        Whether annotators may see the common scores more or less sharply than the crowd:
        the margin is then `(1 + sigma^u)(theta_i - theta_j) + ...`, sigma sparse as gamma is
        (docs/attention.md).
    solver : {"flow", "lbi"}
        "flow" integrates the equation adaptively; "lbi" is the paper's iteration, to the letter.
    common : {"flow", "minimise"}
        Whether the common score moves by gradient or is minimised exactly (linear loss).
    step : float, optional
        LBI's alpha; the default is `m / (kappa ||design||^2)`. Flow's steps adapt.
    times : array, optional
        Knots of the path; else `n_times` from the first entry t0 to `t0 * t_ratio`, evenly in
        log t. "auto" goes to 50 t0, and on until a tenth of the annotators have popped up, at
        most to 100 t0.
    n_threads : int, optional
        The default is one for each processor; results do not depend on it.
    progress : callable, optional
        Called as `progress(t, active_annotators)` at every knot.
    checkpoint : str, Path or Checkpoint, optional
        Folder that keeps what the path has reached, every 20 seconds: after a kill, the same
        call goes on from there, and ends as if nothing had happened (docs/resume.md).

    client : distributed.Client, optional
        A Dask cluster that holds who waits, while the path is followed here; `votes` may then be
        anything `read_votes` takes, or `ShardedVotes` (docs/clusters.md). The path is the same.

    Returns
    -------
    Path

    References
    ----------
    Xu, Xiong, Cao, Huang, Yao: From Social to Individuals: a Parsimonious Path of Multi-level
    Models for Crowdsourced Preference Aggregation.

    Examples
    --------
    >>> votes = Votes.from_arrays(["ann"] * 6 + ["bob"] * 2, list("aabaabba"), list("bccbccab"),
    ...                           [1, 1, 1, 1, 1, 1, 1, -1], self_comparisons="drop")
    >>> path = fit_path(votes, n_times=5, t_ratio=4.0)
    >>> [str(path.items[k]) for k in (-path.scores(path.times[0])).argsort()]
    ['a', 'b', 'c']
    """
    model: dict[str, Any] = {
        "loss": loss,
        "penalty": penalty,
        "features": features,
        "position_bias": position_bias,
        "common_position": common_position,
        "kappa": kappa,
        "balance": balance,
        "attention": attention,
    }
    grid = make_grid(times, n_times, t_ratio)
    if client is not None or not isinstance(votes, Votes):
        from prefpath.distributed.paths import HowFollowed, fit_path_on

        followed = HowFollowed(solver, common, step, progress)
        return fit_path_on(client, votes, model, grid, followed, checkpoint)
    problem = Problem.build(votes, **model)
    with blas_threads_for(problem.n_common), keeping(checkpoint) as keeper:
        if keeper is not None:
            how = {"solver": solver, "common": common, "step": step, **grid.settings()}
            keeper.claim(votes_digest(votes), problem_settings(problem) | how)
        return solve(
            problem,
            grid,
            solver=solver,
            common=common,
            step=step,
            n_threads=n_threads,
            progress=progress,
            slot=slot_in(keeper, PATH_SLOT),
        )
