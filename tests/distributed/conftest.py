"""One small cluster for all tests: workers are threads of this process, and rounds are quick."""

from __future__ import annotations

import pytest

distributed = pytest.importorskip("distributed", reason="a cluster needs Dask: extra dask")


@pytest.fixture(scope="session")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
