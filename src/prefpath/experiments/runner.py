"""Runs the repeats of a table; every finished one is kept, so that a run can be resumed."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prefpath.compare import Outcome
from prefpath.compare.jobs import run_jobs
from prefpath.compare.run import judge
from prefpath.experiments.tables import TABLES, PaperTable, Ties

FIELDS = ("method", "ties", "repeat", "mismatch", "log_loss", "seconds", "setting")


@dataclass(frozen=True)
class Job:
    """One method on one repeat, with or without ties."""

    method: str
    ties: Ties
    repeat: int


Results = dict[Job, Outcome]


def run_table(
    table: PaperTable,
    methods: Sequence[str],
    n_repeats: int,
    store: Path,
    *,
    quick: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> Results:
    """Results of all jobs of a table: those in the store, and the others, which are added to it."""
    jobs = list_jobs(table, methods, n_repeats)
    settings = {key: table.fingerprint(key) for key in methods}
    results = {job: found for job, found in read_store(store, settings).items() if job in set(jobs)}
    missing = [job for job in jobs if job not in results]
    for job, outcome in run_jobs(partial(run_job, table.name, quick), missing, n_jobs):
        results[job] = outcome
        append_result(store, job, outcome, settings[job.method])
        if progress is not None:
            progress(table.name, len(results) / len(jobs))
    return results


def list_jobs(table: PaperTable, methods: Sequence[str], n_repeats: int) -> list[Job]:
    """All jobs of a table, each once: variants share what they can."""
    jobs: dict[Job, None] = {}
    for repeat in range(n_repeats):
        for variant in table.variants:
            for key in methods:
                ties: Ties = "drop" if key in variant.without_ties else "keep"
                jobs[Job(key, ties, repeat)] = None
    return list(jobs)


def run_job(name: str, quick: bool, job: Job) -> Outcome:
    """One job, in whatever process."""
    table = TABLES[name].quick() if quick else TABLES[name]
    return judge(table.contender(job.method), table.task(job.repeat, job.ties), job.repeat)


def append_result(store: Path, job: Job, outcome: Outcome, setting: str) -> None:
    """Add one line to the store; it is complete on disk before the next job's is begun."""
    store.parent.mkdir(parents=True, exist_ok=True)
    before = store.read_bytes()[-1:] if store.exists() else b""
    with store.open("a", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        if not before:
            writer.writerow(FIELDS)
        elif before != b"\n":  # a run was stopped in the middle of a line
            handle.write("\r\n")
        cost = "" if outcome.log_loss is None else repr(outcome.log_loss)
        row = (job.method, job.ties, job.repeat, repr(outcome.mismatch), cost)
        writer.writerow((*row, repr(outcome.seconds), setting))


def read_store(store: Path, settings: dict[str, str]) -> Results:
    """Stored results whose settings are those of today; a torn last line is passed over."""
    if not store.exists():
        return {}
    results: Results = {}
    with store.open(newline="", encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            if row["setting"] is None or settings.get(row["method"]) != row["setting"]:
                continue
            job = Job(
                row["method"], "drop" if row["ties"] == "drop" else "keep", int(row["repeat"])
            )
            cost = float(row["log_loss"]) if row["log_loss"] else None
            results[job] = Outcome(
                job.method, job.repeat, float(row["mismatch"]), cost, float(row["seconds"])
            )
    return results
