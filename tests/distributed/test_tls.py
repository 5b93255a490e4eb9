"""A cluster whose traffic is encrypted, reached as the command line does: by Dask's settings."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from cluster_cases import assert_same_path, small_crowd

from prefpath import fit_path
from prefpath.distributed import shard_votes
from prefpath.distributed.workers import connect

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture
def certificate(tmp_path):
    """A certificate that vouches for itself, and Dask's settings for it."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate, and is not here")
    key, file = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = "openssl req -x509 -nodes -newkey rsa:2048 -days 2 -subj /CN=prefpath"
    pair = ["-keyout", str(key), "-out", str(file)]
    subprocess.run([*command.split(), *pair], check=True, capture_output=True)
    tls = {"ca-file": str(file)}
    for role in ("scheduler", "worker", "client"):
        tls |= {f"{role}.cert": str(file), f"{role}.key": str(key)}
    settings = {f"distributed.comm.tls.{name}": value for name, value in tls.items()}
    with dask.config.set(settings | {"distributed.comm.require-encryption": True}):
        yield


@pytest.mark.usefixtures("certificate")
def test_a_fit_over_tls_is_the_same(client, tmp_path):
    sharded = shard_votes(small_crowd(), client, tmp_path / "shards")
    expected = fit_path(sharded, client=client, times=[20.0, 40.0])
    with (
        distributed.LocalCluster(
            n_workers=1,
            processes=False,
            protocol="tls://",
            security=distributed.Security(),
            dashboard_address=":0",
        ) as cluster,
        connect(cluster.scheduler_address) as encrypted,
    ):
        assert cluster.scheduler_address.startswith("tls://")
        found = fit_path(sharded, client=encrypted, times=[20.0, 40.0])
    assert_same_path(found, expected)
