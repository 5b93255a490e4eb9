"""`Fitted`: the frozen value after selection, which everything to its right reads."""

from prefpath.fitted.fitted import Fitted, HasFitted, as_fitted
from prefpath.fitted.held_out import HeldOutCurve, HeldOutError
from prefpath.fitted.ranks import order_within, rank_within

__all__ = [
    "Fitted",
    "HasFitted",
    "HeldOutCurve",
    "HeldOutError",
    "as_fitted",
    "order_within",
    "rank_within",
]
