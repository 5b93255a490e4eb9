"""One self-contained HTML page about a fitted model."""

from prefpath.report.write import write_report

__all__ = ["write_report"]
