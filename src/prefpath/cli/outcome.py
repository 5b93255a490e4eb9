"""What a fit says, as one value: written to files and for machines before anything is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prefpath.cli.followers import FollowersBoard
    from prefpath.findings import Findings

Columns = dict[str, Any]

_TABLES = (
    "ranking",
    "annotators",
    "own_items",
    "path",
    "features",
    "followers",
    "cross_validation",
)
_PATH_FILE = "path.npz"


def is_result(name: str, suffix: str) -> bool:
    """Whether a fit may write a file of this name into its folder of results.

    >>> is_result("ranking.csv", "csv"), is_result("ranking.csv", "json"), is_result("v.csv", "csv")
    (True, False, False)
    """
    from prefpath.export import MANIFEST

    stem, _, end = name.lower().rpartition(".")
    is_table = stem in _TABLES or stem.startswith("personal-")
    return name.lower() in (MANIFEST, _PATH_FILE) or (end == suffix and is_table)


@dataclass(frozen=True)
class Outcome:
    """What a fit found, and the rankings asked for beside it."""

    findings: Findings
    personal: Mapping[str, Columns]
    followers: FollowersBoard | None = None

    def as_json(self) -> dict[str, Any]:
        """Everything, for machines."""
        from prefpath.findings.findings import records

        return {
            **self.findings.as_json(),
            "personal": {name: records(columns) for name, columns in self.personal.items()},
            **({} if self.followers is None else {"followers": self.followers.as_json()}),
            "votes": dict(self.findings.fitted.votes.origin),
        }

    def write(self, folder: Path, suffix: str) -> None:
        """Tables, path and cross-validation into a folder, with a manifest."""
        from prefpath.export import file_names, path_columns, write_results

        fitted, names = self.findings.fitted, file_names(self.personal)
        own = {f"personal-{names[name]}": columns for name, columns in self.personal.items()}
        tables: dict[str, Any] = {
            "ranking": self.findings.ranking,
            "annotators": self.findings.annotator_parts(),
            "path": path_columns(fitted.path),
            **own,
        }
        if self.findings.own_items is not None:
            tables["own_items"] = self.findings.own_items.columns
        if self.findings.coefficients is not None:
            tables["features"] = self.findings.coefficients
        if self.followers is not None and self.followers.ranking:
            tables["followers"] = self.followers.ranking
        found = fitted.cross_validation
        if found is not None:
            errors = {f"fold {k + 1}": row for k, row in enumerate(found.errors)}
            tables["cross_validation"] = {"t": found.times, "mean": found.mean, **errors}
        write_results(
            folder,
            tables,
            suffix=suffix,
            files={_PATH_FILE: fitted.path.save},
            settings=self._settings(names),
        )

    def _settings(self, names: Mapping[str, str]) -> dict[str, Any]:
        fitted = self.findings.fitted
        return {
            "model": dict(fitted.settings),
            "t": fitted.t,
            "votes": dict(fitted.votes.origin),
            "personal": {f"personal-{part}": name for name, part in names.items()},
        }
