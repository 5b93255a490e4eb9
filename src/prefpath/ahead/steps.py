"""Which kernels a first fit compiles, and in which order helpers take them.

The names alone: whoever only looks whether they are compiled need not load what builds samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from prefpath.compiling import is_kept

DONE = "done"  # what a helper says of a step
_SOLVER, _DIAGNOSE = "prefpath.solver", "prefpath.diagnose"

# Helpers take the long ones first, then what the fit itself comes to last: it compiles on its way,
# and two that work towards each other meet once.
VERDICTS = (
    f"{_DIAGNOSE}.taste.taste_shard",
    f"{_DIAGNOSE}.attention_kernels.attention_shard",
    f"{_DIAGNOSE}.beyond_kernels.beyond_shard",
    f"{_DIAGNOSE}.lean_test.lean_shard",
    f"{_SOLVER}.kernels.gradient_shard",
    f"{_DIAGNOSE}.lean_kernels.estimate_shard",
    f"{_DIAGNOSE}.without_own_kernels.leave_out_shard",
    f"{_DIAGNOSE}.without_own_kernels.score_of_pooled_slope",
)
# Of these a fit is in the first for a long time; the second is the longest of the others.
_LONG_OF_PATHS = (f"{_SOLVER}.active.run_stages", f"{_SOLVER}.waiting.refresh")
PATHS = (
    *_LONG_OF_PATHS,
    "prefpath.selection.held_out.held_out_margins",
    f"{_SOLVER}.relax_units.relax_scalars",
    f"{_SOLVER}.relax_units.unit_errors",
    f"{_SOLVER}.relax_units.bend_units",
    f"{_SOLVER}.relaxation.note_left_of_forces",
    f"{_SOLVER}.relax_units.relax_units",
    f"{_SOLVER}.relax_units.go_on",
    f"{_SOLVER}.curvature.add_modes",
    f"{_SOLVER}.curvature.pool_hessian",
    f"{_SOLVER}.curvature.unit_rates",
    f"{_SOLVER}.kernels.note_attention_curvatures",
    f"{_SOLVER}.active.any_entered",
    f"{_SOLVER}.pool.move_votes",
    f"{_SOLVER}.waiting.note_suspects",
)
# Whatever else may be compiled, found by fitting.
FITS = ("fit of many votes", "fit with attention", "fit with a report")

_GROUPS = (VERDICTS, PATHS)
_GROUP_OF = {name: group for group in _GROUPS for name in group}
_ORDER = (*_LONG_OF_PATHS, *VERDICTS, *PATHS[len(_LONG_OF_PATHS) :])


def group_of(name: str) -> tuple[str, ...]:
    """All kernels that will be compiled if this one is."""
    return _GROUP_OF.get(name, ())


def in_order(names: list[str]) -> list[str]:
    """As helpers take them; what is not a kernel last."""
    return sorted(names, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


def is_compiled(group: Sequence[str]) -> bool:
    """Whether all of these have been compiled on this machine, as they are written now."""
    return all(is_kept(kernel_named(name)) for name in group)


def kernel_named(name: str) -> Any:
    """The compiled function of a name."""
    module, _, function = name.rpartition(".")
    return getattr(import_module(module), function)
