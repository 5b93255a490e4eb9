"""Our models beside their rivals, on the user's own votes."""

from prefpath.compare.contenders import CONTENDERS, Contender, MultiLevel, Rival, find_contenders
from prefpath.compare.results import Comparison, Outcome, Summary
from prefpath.compare.run import compare_methods
from prefpath.compare.splits import make_splits

__all__ = [
    "CONTENDERS",
    "Comparison",
    "Contender",
    "MultiLevel",
    "Outcome",
    "Rival",
    "Summary",
    "compare_methods",
    "find_contenders",
    "make_splits",
]
