"""HodgeRank: what a crowd agrees on, and the cycles that no ranking can explain."""

from prefpath.hodge.decomposition import (
    HodgeDecomposition,
    HodgeEnergy,
    InconsistentTriangle,
    hodge_decompose,
    hodge_rank,
)

__all__ = [
    "HodgeDecomposition",
    "HodgeEnergy",
    "InconsistentTriangle",
    "hodge_decompose",
    "hodge_rank",
]
