"""The same fit on a Dask cluster: votes in shards of annotators, the path on the driver."""

from prefpath.distributed.shards import ShardedVotes
from prefpath.distributed.shuffle import shard_votes

__all__ = ["ShardedVotes", "shard_votes"]
