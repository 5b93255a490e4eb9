"""A path and where to stop on it, with folds drawn in the shards: no vote comes to the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from prefpath.checkpoint import Place, keeping
from prefpath.distributed.collected import on_cluster
from prefpath.distributed.paths import as_model, follow_on
from prefpath.distributed.settings import FoldOf, Model
from prefpath.errors import SettingError
from prefpath.path import Path
from prefpath.selection.criteria import Criterion
from prefpath.selection.cross_validation import CrossValidation
from prefpath.solver.grid import make_grid
from prefpath.solver.work import Progress

if TYPE_CHECKING:
    from distributed import Client

_DEFAULTS: dict[str, Any] = {
    "loss": "bradley-terry",
    "penalty": None,
    "features": None,
    "position_bias": True,
    "common_position": False,
    "kappa": 20.0,
    "balance": False,
    "attention": False,
}


def cross_validated_path(
    source: Any,
    client: Client,
    *,
    cv: int = 5,
    seed: int = 0,
    criterion: Criterion = "auto",
    n_times: int = 50,
    progress: Progress | None = None,
    checkpoint: Place | None = None,
    **model: Any,
) -> tuple[Path, CrossValidation]:
    """The path of votes on a cluster, followed until the held-out error has settled.

    For votes that are too many to be collected, as `PreferenceModel` does. Folds are drawn in
    each shard from the seed, hence not the folds of `PreferenceModel`.

    Parameters
    ----------
    source : path, pattern, Votes or ShardedVotes
    client : distributed.Client
    cv : int
        Folds.
    seed : int
        Of the folds.
    criterion : {"auto", "log-loss", "mismatch"}
        What t is chosen by.
    n_times : int
        Knots from the first entry to 50 times it.
    progress, checkpoint
        As in `fit_path`.
    **model
        The model as `fit_path` takes it: loss, features, penalty, position_bias, common_position,
        kappa, balance, attention.

    Returns
    -------
    path : Path
    cross_validation : CrossValidation
        `path.common_at(cross_validation.t_cv)` are the common scores.
    """
    _check(cv, model)
    grid = make_grid(None, n_times, "auto")
    with keeping(checkpoint) as keeper, on_cluster(client, source) as cluster:
        known = as_model(_DEFAULTS | model, len(cluster.sharded.items))
        if keeper is not None:
            asked = {"cv": cv, "seed": seed, "criterion": criterion, "model": repr(known)}
            keeper.claim(cluster.sharded.digest(), asked | grid.settings())
        folds = [FoldOf(cv, seed, k) for k in range(cv)]
        how: dict[str, Any] = {"progress": progress, "checkpoint": keeper}
        return follow_on(cluster, known, folds, grid, criterion=criterion, **how)


def _check(cv: int, model: dict[str, Any]) -> None:
    if cv < 2:
        raise SettingError(
            f"cv is {cv}", expected="at least 2 folds", remedy="fit_path follows a path without"
        )
    unknown = sorted(set(model) - set(Model.__dataclass_fields__))
    if unknown:
        raise SettingError(
            f"{unknown[0]} is no setting of the model", expected=", ".join(sorted(_DEFAULTS))
        )
