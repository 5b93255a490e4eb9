"""Two small clusters for all tests: of threads, whose rounds are quick, and of processes."""

from __future__ import annotations

import pytest

distributed = pytest.importorskip("distributed", reason="a cluster needs Dask: extra dask")


@pytest.fixture(scope="session")
def client():
    """Not the process's default client: whoever gives another must get it."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def processes():
    """Two worker processes, which a nanny starts again when they die."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
