"""Votes on a cluster and, for all that comes after the path, on this machine as well."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from prefpath.distributed.shards import ShardedVotes
from prefpath.distributed.shuffle import shard_votes
from prefpath.distributed.workers import step_aside
from prefpath.errors import SettingError
from prefpath.model.design import Ints
from prefpath.votes import Votes

if TYPE_CHECKING:
    from distributed import Client

# Rows one machine can diagnose: some 100 bytes each.
MOST_COLLECTED = 200_000_000
_TEMPORARY, _LOCK = "prefpath-shards-", "lock"
# Seconds within which a folder may be one whose lock is just about to be held.
_JUST_MADE = 60.0


class Cluster(NamedTuple):
    """A Dask cluster with votes in shards that all of its workers see."""

    client: Client
    sharded: ShardedVotes


class Collected(NamedTuple):
    """The votes of a cluster on this machine, too; `rows[r]` is the row of the shards that r is."""

    votes: Votes
    cluster: Cluster
    rows: Ints


@contextmanager
def on_cluster(
    client: Client | None, source: Any, folder: str | Path | None = None, **reading: Any
) -> Iterator[Cluster]:
    """Votes in shards for the time of a fit; shards in a folder that was named stay."""
    if client is None:
        raise SettingError("votes in shards without a cluster", remedy="pass client=...")
    step_aside()
    if isinstance(source, ShardedVotes):
        yield Cluster(client, source)
    elif folder is not None:
        yield Cluster(client, shard_votes(source, client, folder, **reading))
    else:
        with temporary_shards() as own:
            yield Cluster(client, shard_votes(source, client, own, **reading))


@contextmanager
def temporary_shards() -> Iterator[str]:
    """A folder of this machine for the time of a fit; those of fits that were killed are removed.

    Whoever uses a folder holds the lock of a file in it, which the system frees however the
    process ends.
    """
    for old in Path(tempfile.gettempdir()).glob(f"{_TEMPORARY}*"):
        with suppress(OSError), (old / _LOCK).open("rb") as handle:
            if time.time() - old.stat().st_mtime > _JUST_MADE:
                _hold(handle)
                shutil.rmtree(old, ignore_errors=True)
    with (
        tempfile.TemporaryDirectory(prefix=_TEMPORARY, ignore_cleanup_errors=True) as own,
        (Path(own) / _LOCK).open("wb") as handle,
    ):
        with suppress(OSError):
            _hold(handle)
        yield own


def _hold(file: IO[bytes]) -> None:
    """Hold a file's lock, or raise OSError because another process does."""
    try:
        import fcntl
    except ImportError as error:  # not on Windows
        raise OSError("no locks here") from error
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def collect(cluster: Cluster) -> Collected:
    """Take the votes to this machine.

    Raises
    ------
    SettingError
        Where they are too many for it.
    """
    n_rows = int(cluster.sharded.n_rows.sum())
    if n_rows > MOST_COLLECTED:
        raise SettingError(
            f"{n_rows:,} distinct votes are too many for intervals and verdicts on one machine",
            expected=f"at most {MOST_COLLECTED:,}",
            remedy="fit(sharded, client=client, collect=False) asks the shards instead",
        )
    votes, rows = cluster.sharded.collect_with_rows()
    return Collected(votes, cluster, rows)


def check_shards_stay(source: Any) -> None:
    """Refuse votes that would be gone after the fit, when the shards are asked about them."""
    if not isinstance(source, ShardedVotes):
        raise SettingError(
            "collect=False, and votes that are not in shards: these are asked after the fit",
            expected="votes in shards in a folder that stays",
            remedy="shard_votes(votes, client, folder), and fit what it returns",
        )
