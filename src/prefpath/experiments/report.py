"""Tables and figures of the repeats, beside the paper's figures."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from prefpath.compare import Summary
from prefpath.experiments.published import Published
from prefpath.experiments.runner import Results
from prefpath.experiments.tables import OURS, PaperTable, Variant
from prefpath.text import counted
from prefpath.writing import whole_file


@dataclass(frozen=True)
class Line:
    """One method in one reading of a table."""

    key: str
    summary: Summary
    published: Published | None

    @property
    def verdict(self) -> str:
        """Ours against the paper's mean, by the standard error of the difference."""
        if self.published is None or self.summary.standard_error is None:
            return ""
        error = math.hypot(self.summary.standard_error, self.published.standard_error)
        away = self.summary.mean - self.published.mean
        if abs(away) <= 2.0 * error:
            return f"within 2 standard errors of the paper ({away:+.4f} ± {error:.4f})"
        side = "lower" if away < 0 else "higher"
        return f"{side} than the paper by {abs(away) / error:.1f} standard errors ({away:+.4f})"


def lines_of(
    table: PaperTable, variant: Variant, results: Results, methods: Sequence[str]
) -> list[Line]:
    """One line a method, the least mean first."""
    lines = []
    for key in methods:
        ties = "drop" if key in variant.without_ties else "keep"
        found = [one for job, one in results.items() if (job.method, job.ties) == (key, ties)]
        if found:
            summary = replace(Summary.of(found), method=table.contender(key).name)
            lines.append(Line(key, summary, variant.published.get(key)))
    return sorted(lines, key=lambda line: line.summary.mean)


def show(table: PaperTable, variant: Variant, lines: Sequence[Line], console: Console) -> None:
    """Print one reading of a table, and what became of each published figure."""
    n_repeats = max((line.summary.n_splits for line in lines), default=0)
    console.print(f"\n{table.title}", style="bold", highlight=False)
    console.print(f"{variant.title}; {counted(n_repeats, 'repeat')}", highlight=False)
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    shown.add_column("method", no_wrap=True)
    for heading in ("paper", "min", "mean", "max", "std", "CPU s"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        one = line.summary
        shown.add_row(
            f"[bold]{one.method}[/]" if line.key in OURS else one.method,
            "n/a" if line.published is None else f"{line.published.mean:.4f}",
            *(_number(value) for value in (one.min, one.mean, one.max, one.std)),
            f"{one.seconds:.2f}",
        )
    console.print(shown, highlight=False)
    for line in lines:
        if line.verdict:
            console.print(f"{line.summary.method}: {line.verdict}", highlight=False)
    if any(line.published is None for line in lines):
        console.print("n/a: not in the paper", style="dim", highlight=False)


def paired_difference(
    results: Results, variant: Variant, first: str, second: str
) -> tuple[float, float] | None:
    """Mean of `first - second` over repeats on equal seeds, and its standard error."""
    found = []
    for key in (first, second):
        ties = "drop" if key in variant.without_ties else "keep"
        found.append(
            {
                job.repeat: one.mismatch
                for job, one in results.items()
                if (job.method, job.ties) == (key, ties)
            }
        )
    both = sorted(set(found[0]) & set(found[1]))
    if len(both) < 2:
        return None
    away = [found[0][repeat] - found[1][repeat] for repeat in both]
    mean = sum(away) / len(away)
    spread = sum((value - mean) ** 2 for value in away) / (len(away) - 1)
    return mean, float((spread / len(away)) ** 0.5)


def write_summary(path: Path, lines: Sequence[Line]) -> None:
    """The table as CSV."""
    with whole_file(path) as part, part.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(
            ("method", "paper_mean", "repeats", "min", "mean", "max", "std", "log_loss", "verdict")
        )
        for line in lines:
            one = line.summary
            numbers = (one.min, one.mean, one.max, one.std, one.log_loss)
            cells = ("" if value is None else f"{value:.6f}" for value in numbers)
            published = "" if line.published is None else line.published.mean
            writer.writerow((one.method, published, one.n_splits, *cells, line.verdict))


def write_figure(path: Path, title: str, lines: Sequence[Line]) -> None:
    """The table as a figure; diamonds are the paper's means."""
    from prefpath.plots.comparison import save_comparison

    save_comparison(
        path,
        [line.summary for line in lines],
        title=title,
        emphasised={line.summary.method for line in lines if line.key in OURS},
        published={
            line.summary.method: line.published.mean for line in lines if line.published is not None
        },
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
