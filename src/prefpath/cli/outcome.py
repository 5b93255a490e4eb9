"""What a fit says, as one value: written to files and for machines before anything is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prefpath.fitted import Fitted

Columns = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """A fit with its tables: the ranking, everybody, and the rankings of those asked for."""

    fitted: Fitted
    ranking: Columns
    people: Columns
    personal: Mapping[str, Columns]

    def as_json(self) -> dict[str, Any]:
        """Everything, for machines."""
        return {
            "t": self.fitted.t,
            "balanced": self.fitted.balanced,
            **self._held_out(),
            "intervals": self.interval_meaning(),
            "ranking": records(self.ranking),
            "annotators": records(self.people),
            "personal": {name: records(columns) for name, columns in self.personal.items()},
            "votes": dict(self.fitted.votes.origin),
        }

    def interval_meaning(self) -> str | None:
        """What the intervals of the scores are about; None where there are none."""
        from prefpath.leaderboard import interval_meaning

        if "score_low" not in self.ranking:
            return None
        return interval_meaning(self.fitted.votes.n_annotators, self.fitted.active_count[0])

    def _held_out(self) -> dict[str, Any]:
        """Errors on held-out votes at the chosen t, and with one ranking for all."""
        found, common = self.fitted.held_out, self.fitted.held_out_of_one_ranking
        return {
            "criterion": self.fitted.criterion,
            "held_out_error": None if found is None else found.error,
            "held_out_error_of_one_ranking": None if common is None else common.error,
            "held_out_wrong": None if found is None else found.wrong,
            "held_out_wrong_of_one_ranking": None if common is None else common.wrong,
        }

    def write(self, folder: Path, suffix: str) -> None:
        """Tables, path and cross-validation into a folder, with a manifest."""
        from prefpath.export import file_names, path_columns, write_results

        names = file_names(self.personal)
        own = {f"personal-{names[name]}": columns for name, columns in self.personal.items()}
        tables = {
            "ranking": self.ranking,
            "annotators": self.people,
            "path": path_columns(self.fitted.path),
            **own,
        }
        found = self.fitted.cross_validation
        if found is not None:
            errors = {f"fold {k + 1}": row for k, row in enumerate(found.errors)}
            tables["cross_validation"] = {"t": found.times, "mean": found.mean, **errors}
        write_results(
            folder,
            tables,
            suffix=suffix,
            files={"path.npz": self.fitted.path.save},
            settings=self._settings(names),
        )

    def _settings(self, names: Mapping[str, str]) -> dict[str, Any]:
        return {
            "model": dict(self.fitted.settings),
            "t": self.fitted.t,
            "votes": dict(self.fitted.votes.origin),
            "personal": {f"personal-{part}": name for name, part in names.items()},
        }


def records(columns: Columns) -> list[dict[str, Any]]:
    """Columns as rows."""
    names = list(columns)
    rows = zip(*(columns[name] for name in names), strict=True)
    return [dict(zip(names, row, strict=True)) for row in rows]
