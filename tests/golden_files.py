"""Paths of the paper's published code, and ours at the same step and times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from prefpath import Path, Votes, fit_path

LOSSES = {"linear": "linear", "BT": "bradley-terry", "TM": "thurstone-mosteller"}
OCCUPATIONS = "movie_occupation21_BT_MATLAB"
NAMES = tuple(
    f"{data}_{model}_full"
    for data in ("iqa", "univer", "sim_short", "movie_short")
    for model in LOSSES
)


@dataclass(frozen=True)
class Golden:
    """One golden file: votes, settings, and its dense coefficients at `times`."""

    name: str
    votes: Votes
    settings: dict[str, Any]
    times: np.ndarray
    common: np.ndarray
    deviation: np.ndarray
    position_bias: np.ndarray | None
    arrays: dict[str, np.ndarray]

    @property
    def common_is_one_step_old(self) -> bool:
        """The linear files without features store `s` of the step before (their README)."""
        return self.settings.get("common") == "minimise"

    def fit(self, n_columns: int = 49, weight: np.ndarray | None = None) -> Path:
        """Our LBI at the file's own step, at its first times."""
        times = self.times[:n_columns]
        return fit_path(self.votes, solver="lbi", times=times, **self.settings)

    def errors(self, path: Path) -> dict[str, float]:
        """Largest difference in each part, relative to the largest coefficient of its kind."""
        found: dict[str, list[float]] = {"common": [], "deviation": [], "position bias": []}
        for k, t in enumerate(path.times):
            found["common"].append(_largest(path.common[k] - self.common[:, k]))
            dense = path.deviation(t).toarray()
            found["deviation"].append(_largest(dense - self.deviation[:, :, k]))
            if self.position_bias is not None:
                gap = path.position_bias(t) - self.position_bias[:, k]
                found["position bias"].append(_largest(gap))
        scale = {
            "common": _largest(self.common),
            "deviation": _largest(self.deviation),
            "position bias": 1.0 if self.position_bias is None else _largest(self.position_bias),
        }
        return {part: max(gaps) / scale[part] for part, gaps in found.items() if gaps}


def load_golden(folder: FilePath, name: str) -> Golden:
    """Read a golden file; ids become labels, in their own order."""
    with np.load(folder / f"{name}.npz") as archive:
        arrays = {key: archive[key] for key in archive.files}
    model = str(arrays["model"])
    n_items = int(arrays.get("n_item", len(arrays.get("Phi", ()))))
    n_users = int(arrays.get("n_user", arrays["user"].max()))
    has_bias = "gamma_path" in arrays
    votes = Votes.from_arrays(
        *(arrays[key].ravel() for key in ("user", "item_i", "item_j", "y")),
        position_known=has_bias,
        items=np.arange(1, n_items + 1),
        annotators=np.arange(1, n_users + 1),
    )
    settings: dict[str, Any] = {
        "loss": LOSSES[model],
        "kappa": float(arrays["kappa"]),
        "step": float(arrays["alpha"]),
        "position_bias": has_bias,
    }
    if "Phi" in arrays:
        settings["features"] = arrays["Phi"].astype(float)
    elif model == "linear":
        settings["common"] = "minimise"
    return Golden(
        name=name,
        votes=votes,
        settings=settings,
        times=arrays["tlist"].ravel().astype(float),
        common=next(arrays[key] for key in ("s_path", "eta_path", "eta") if key in arrays),
        deviation=_deviation(arrays),
        position_bias=arrays.get("gamma_path"),
        arrays=arrays,
    )


def _deviation(arrays: dict[str, np.ndarray]) -> np.ndarray:
    for key in ("xi_path", "xi"):
        if key in arrays:
            return arrays[key]
    dense = np.zeros(tuple(int(size) for size in arrays["xi_shape"]))
    place = tuple(arrays[f"xi_nz_{axis}"].astype(int) - 1 for axis in ("user", "item", "k"))
    dense[place] = arrays["xi_nz_val"]
    return dense


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max())
