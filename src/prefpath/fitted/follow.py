"""From a problem to its path and the held-out errors along it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from prefpath.checkpoint import Checkpoint, Place, keeping, slot_in
from prefpath.errors import SettingError
from prefpath.machine import blas_threads_for
from prefpath.model.design import Floats
from prefpath.model.fingerprint import problem_settings, votes_digest
from prefpath.model.problem import Problem
from prefpath.path import Path
from prefpath.selection.criteria import Criterion
from prefpath.selection.cross_validation import (
    CrossValidation,
    Rule,
    cross_validate,
    follow_until_settled,
)
from prefpath.selection.folds import Fold, Over, enough_folds, make_folds
from prefpath.selection.sampling import Sampling, plan_sampling
from prefpath.settings import check_word
from prefpath.solver.grid import TimeRatio, make_grid
from prefpath.solver.solve import PATH_SLOT, Solver, solve
from prefpath.solver.work import Common, Progress

if TYPE_CHECKING:
    from prefpath.distributed.collected import Cluster, Collected
    from prefpath.distributed.settings import Model
    from prefpath.votes.remote import RemoteVotes


@dataclass(frozen=True)
class PathSettings:
    """How a path is followed; as in `fit_path`."""

    solver: Solver = "flow"
    common: Common = "flow"
    n_times: int = 50
    t_ratio: TimeRatio = "auto"
    n_threads: int | None = None


@dataclass(frozen=True)
class StopSettings:
    """How the time is chosen.

    Attributes
    ----------
    n_folds : int
        0 takes no cross-validation and stops at the end of the path.
    over : {"votes", "items", "annotators"}
        What is held out.
    criterion, rule
        As in `cross_validate` and `CrossValidation.choose`.
    seed : int or None
        Of the folds.
    """

    n_folds: int = 5
    over: Over = "votes"
    criterion: Criterion = "auto"
    rule: Rule = "best"
    seed: int | None = 0

    def __post_init__(self) -> None:
        check_word("cv_over", self.over, get_args(Over))
        check_word("criterion", self.criterion, get_args(Criterion))
        check_word("rule", self.rule, get_args(Rule))

    def n_followed(self, n_rows: int) -> int:
        """How many of the folds are followed: of very many votes a few say the same."""
        return enough_folds(n_rows, self.n_folds) if self.over == "votes" else self.n_folds

    def sampling(
        self, activity: Floats, n_rows: int, n_items: int, settings: PathSettings
    ) -> Sampling | None:
        """Whom of very many annotators the folds follow; None follows all."""
        if self.over != "votes" or (settings.solver, settings.common) != ("flow", "flow"):
            return None
        return plan_sampling(activity, n_rows, n_items, self.n_followed(n_rows))

    def time_on(self, path: Path, found: CrossValidation | None) -> float:
        """The time these settings choose."""
        return float(path.times[-1]) if found is None else found.choose(self.rule)


def is_balanced(balance: bool | Literal["auto"]) -> bool:
    """Whether the penalty grows with the root of an annotator's votes: yes, unless asked not to."""
    check_switch(balance, "balance")
    return bool(balance)


def check_switch(value: Any, name: str) -> None:
    """Refuse what is neither yes, no nor to be decided by the data."""
    if not isinstance(value, bool | np.bool_) and value != "auto":
        raise SettingError(f"{name} is {value!r}", expected="True, False or auto")


def check_yes_or_no(value: Any, name: str) -> None:
    """Refuse what is neither: "no" in quotes would be taken for yes."""
    if not isinstance(value, bool | np.bool_):
        raise SettingError(f"{name} is {value!r}", expected="True or False")


def follow(
    problem: Problem,
    settings: PathSettings,
    stop: StopSettings,
    progress: Progress | None = None,
    checkpoint: Place | None = None,
    collected: Collected | None = None,
) -> tuple[Path, CrossValidation | None]:
    """The path of a problem, and held-out errors along it; None without folds.

    `collected` are the same votes on a cluster, which is then to follow it.
    """
    with blas_threads_for(problem.n_common), keeping(checkpoint) as keeper:
        if keeper is not None:
            how = {**asdict(settings), **asdict(stop), **problem_settings(problem)}
            del how["n_threads"]  # changes nothing
            keeper.claim(votes_digest(problem.votes), how)
            stop = replace(stop, seed=keeper.seed if stop.seed is None else stop.seed)
        if collected is not None:
            return _follow_on(collected, problem, settings, stop, progress, keeper)
        return _follow(problem, settings, stop, progress, keeper)


def _follow_on(
    collected: Collected,
    problem: Problem,
    settings: PathSettings,
    stop: StopSettings,
    progress: Progress | None,
    keeper: Checkpoint | None,
) -> tuple[Path, CrossValidation | None]:
    from prefpath.distributed import paths

    _check_for_cluster(settings)
    folds = _folds(problem, settings, stop) if stop.n_folds else []
    path, found = paths.follow_collected(
        collected,
        paths.model_of(problem),
        folds,
        make_grid(None, settings.n_times, settings.t_ratio),
        criterion=stop.criterion,
        progress=progress,
        checkpoint=keeper,
    )
    # On the cluster only those who became active have a place for coefficients.
    design = problem.design
    return replace(path, blocks=design.blocks, seen_item=design.seen_item), found


def follow_elsewhere(
    cluster: Cluster,
    votes: RemoteVotes,
    model: Model,
    settings: PathSettings,
    stop: StopSettings,
    progress: Progress | None = None,
    checkpoint: Place | None = None,
) -> tuple[Path, CrossValidation | None]:
    """The same where the votes stay on a cluster: folds are drawn in the shards."""
    from prefpath.distributed.paths import follow_folds
    from prefpath.distributed.settings import FoldOf

    _check_for_cluster(settings)
    if stop.n_folds and stop.over != "votes":
        raise SettingError(
            f"folds over {stop.over} of votes that stay on the cluster",
            expected='cv_over="votes"',
            remedy="fit with collect=True, if this machine can hold the votes",
        )
    n_rows = int(cluster.sharded.n_rows.sum())
    sampling = stop.sampling(votes.annotator_weight, n_rows, votes.n_items, settings)
    with keeping(checkpoint) as keeper:
        seed = (keeper.seed if keeper is not None else 0) if stop.seed is None else stop.seed
        if keeper is not None:
            how = {**asdict(settings), **asdict(stop), "model": repr(model), "collect": False}
            del how["n_threads"]
            keeper.claim(cluster.sharded.digest(), how)
        return follow_folds(
            cluster,
            model,
            [FoldOf(stop.n_folds, seed, k, None, sampling) for k in range(stop.n_followed(n_rows))],
            make_grid(None, settings.n_times, settings.t_ratio),
            criterion=stop.criterion,
            progress=progress,
            checkpoint=keeper,
        )


def _check_for_cluster(settings: PathSettings) -> None:
    from prefpath.distributed.paths import refuse_minimised

    refuse_minimised(settings.common)
    if settings.solver == "lbi":
        raise SettingError(
            'a cross-validated fit with solver "lbi" on a cluster',
            expected='solver="flow"; fit_path(..., solver="lbi", client=client) has no folds',
        )


def _follow(
    problem: Problem,
    settings: PathSettings,
    stop: StopSettings,
    progress: Progress | None,
    keeper: Checkpoint | None,
) -> tuple[Path, CrossValidation | None]:
    grid = make_grid(None, settings.n_times, settings.t_ratio)
    solver = settings.solver
    how: dict[str, Any] = {"common": settings.common, "n_threads": settings.n_threads}
    folds = _folds(problem, settings, stop) if stop.n_folds else []
    if folds and grid.is_open and solver == "flow":
        how |= {"criterion": stop.criterion, "progress": progress, "checkpoint": keeper}
        return follow_until_settled(problem, folds, grid, **how)
    slot = slot_in(keeper, PATH_SLOT)
    path = solve(problem, grid, solver=solver, progress=progress, slot=slot, **how)
    if not folds:
        return path, None
    how |= {"criterion": stop.criterion, "solver": solver, "checkpoint": keeper}
    return path, cross_validate(problem, path, folds, **how)


def _folds(problem: Problem, settings: PathSettings, stop: StopSettings) -> list[Fold]:
    if stop.over == "items" and problem.features is None:
        raise SettingError(
            "folds over items without features",
            expected="features of the items, from which a new item's score follows",
            remedy='pass features=..., or cv_over="votes"',
        )
    votes, most = problem.votes, stop.n_followed(problem.votes.n_rows)
    return make_folds(
        votes,
        stop.n_folds,
        over=stop.over,
        random_state=stop.seed,
        most=most,
        sampling=stop.sampling(votes.annotator_weight, votes.n_rows, votes.n_items, settings),
    )
