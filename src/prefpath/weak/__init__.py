"""Small dense effects for everybody below the sparse ones, for prediction."""

from prefpath.weak.effects import Shares, WeakEffects
from prefpath.weak.fit import fit_weak, weak_margins

__all__ = ["Shares", "WeakEffects", "fit_weak", "weak_margins"]
