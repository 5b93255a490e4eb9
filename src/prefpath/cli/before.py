"""Everything that can be refused is refused before the work: outputs, settings, labels, memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Any, get_args

from prefpath.cli.failures import say_warning
from prefpath.cli.outcome import is_result
from prefpath.errors import MissingExtra, SettingError, VoteError, VoteWarning
from prefpath.machine import require_memory
from prefpath.settings import check_number
from prefpath.text import counted, listed
from prefpath.votes import Votes
from prefpath.votes.families import own_items, without_family
from prefpath.writing import check_file, check_folder

Check = Callable[[Mapping[str, Any]], None]

_READ = ("votes", "features", "annotators", "names", "families")
_WRITTEN = ("out", "report")
_TABLES = {
    "features": "a table of item features, one row an item",
    "names": "a CSV file with columns item and name",
    "families": "a CSV file with columns name and family, for annotators and items",
    "annotators": "a table of annotators, one row each, that has their groups",
}

# Measured with simulated crowds of one and two million votes (resident memory over that of the
# votes): 200 bytes a distinct row without folds, 270 with five.
_BYTES_A_ROW = 200
_BYTES_A_ROW_AND_FOLD = 14


def check_fit(given: Mapping[str, Any]) -> None:
    """The options of `prefpath fit` that can be judged without votes."""
    from prefpath.export import check_format, check_results

    check_format(given["table_format"])
    if given["out"] is not None:
        check_results(given["out"], given["table_format"])
    if given["report"] is not None:
        check_report(given["report"], given["out"])
    if given["checkpoint"] is not None:
        check_checkpoint(given["checkpoint"])
    _check_what_is_kept(given)
    for option, expected in _TABLES.items():
        _check_there(option, given[option], expected)
    _check_cluster(given)
    _check_numbers(given)
    _check_choices(given)


def _check_what_is_kept(given: Mapping[str, Any]) -> None:
    """No file that is read is written over, nor one result by another."""
    out, report = (None if given[name] is None else _real(given[name]) for name in _WRITTEN)
    if report is not None and (report == out or _is_in(report, out, given)):
        raise SettingError(
            f"--report {given['report']} is a place for what --out writes",
            remedy="give the report another name",
        )
    for option in _READ:
        for file in _files(given.get(option)):
            if file == report or _is_in(file, out, given):
                raise SettingError(
                    f"{file} is read, and {'--report' if file == report else '--out'} would write "
                    "over it",
                    expected="results beside what they come from",
                    remedy="choose another place for the results",
                )


def _check_there(option: str, path: str | Path | None, expected: str) -> None:
    """Whether a table to read is there."""
    if path is not None and not (Path(path).exists() or _files(path)):
        raise SettingError(
            f"--{option}: there is no file {path}",
            expected=expected,
            remedy=f"correct the path; it is looked for in {Path.cwd()}",
        )


def _files(path: str | Path | None) -> list[Path]:
    """The files that a path, a folder or a pattern means; that there are none is said later."""
    from prefpath.votes.files import find_files

    try:
        return [] if path is None else [_real(file) for file in find_files(path)]
    except VoteError:
        return []


def _real(path: str | Path) -> Path:
    return Path(path).resolve()


def _is_in(file: Path, out: Path | None, given: Mapping[str, Any]) -> bool:
    """Whether a file is where the folder of results has one."""
    return file.parent == out and is_result(file.name, given["table_format"])


def _check_cluster(given: Mapping[str, Any]) -> None:
    """Options of a cluster without one, and what needs votes that stay on it."""
    if given["scheduler"] is None:
        for name, usual in (("cluster_folder", None), ("collect", True)):
            if given[name] != usual:
                option = {"collect": "--no-collect"}.get(name, "--cluster-folder")
                raise SettingError(f"{option} without --scheduler", remedy="name the scheduler")
    needs_votes = {
        "--followers": given["followers"],
        "--families": given["families"] is not None,
        "--interval bootstrap": given["interval"] == "bootstrap",
    }
    asked = [option for option, is_asked in needs_votes.items() if is_asked]
    if not given["collect"] and asked:
        raise SettingError(
            f"{asked[0]} with --no-collect: it needs the votes on this machine",
            remedy="leave one of them out",
        )


def _check_choices(given: Mapping[str, Any]) -> None:
    """Words that name a way to do something; each list is where it is defined."""
    from prefpath.inference.intervals import Method
    from prefpath.inference.scales import SCALES
    from prefpath.model.losses import as_loss
    from prefpath.population import About
    from prefpath.selection.criteria import Criterion
    from prefpath.selection.cross_validation import Rule
    from prefpath.solver.solve import Solver

    as_loss(given["loss"])
    for name, choices in (
        ("scale", SCALES),
        ("interval", get_args(Method)),
        ("solver", get_args(Solver)),
        ("criterion", get_args(Criterion)),
        ("rule", get_args(Rule)),
        ("about", (None, *get_args(About))),
    ):
        expected = f"one of {', '.join(filter(None, choices))}"
        _require(given[name] in choices, f"--{name} is {given[name]!r}", expected)


def _check_numbers(given: Mapping[str, Any]) -> None:
    from prefpath.model.problem import KAPPAS

    _require(0.0 < given["q"] < 1.0, f"--q is {given['q']:g}", "a rate between 0 and 1")
    cv = given["cv"]
    _require(cv == 0 or cv >= 2, f"--cv asks for {counted(cv, 'fold')}", "0, or at least 2")
    check_number("--kappa", given["kappa"], *KAPPAS)
    threads = given["threads"]
    _require(threads is None or threads >= 1, f"--threads is {threads}", "a number of at least 1")
    _require(given["top"] >= 1, f"--top is {given['top']}", "at least 1 row")
    ratio, t = given["t_ratio"], given["t"]
    _require(ratio is None or ratio > 1, f"--t-ratio is {ratio}", "a number above 1")
    _require(t is None or 0 < t < inf, f"--t is {t}", "a finite time above 0")


def _require(holds: bool, what: str, expected: str) -> None:
    if not holds:
        raise SettingError(what, expected=expected)


def check_report(file: Path, out: Path | None = None) -> None:
    """Whether a report can be made, and written there, be it into the folder of results to be."""
    if find_spec("bokeh") is None:
        raise MissingExtra("Bokeh", "report", "the report")
    if out is None or out.exists() or _real(file).parent != _real(out):
        check_file(file, "the report's file")


def check_checkpoint(folder: Path) -> None:
    """Whether a folder can keep a fit: it can be written to, and what it holds can be read."""
    from prefpath.checkpoint.folder import read_record

    check_folder(folder, "the folder for checkpoints")
    read_record(folder)


def check_labels(votes: Votes, items: Iterable[str | None], annotators: Iterable[str]) -> None:
    """Items and annotators that are asked for are among the votes."""
    for item in items:
        if item is not None:
            votes.item_code(item)
    for name in annotators:
        votes.annotator_code(name)


def check_families(votes: Votes, families: Mapping[str, str] | None) -> None:
    """Families, where they are given, are those of annotators and items of the votes."""
    if families is None:
        return
    own_items(votes, families)
    if alone := without_family(votes, families):
        n = counted(len(alone), "item")
        say_warning(f"{n} without a family, nobody's own: {listed(alone)}", VoteWarning)


def check_memory(votes: Votes, n_folds: int) -> None:
    """Whether a fit of these votes can fit into memory, before it is begun."""
    a_row = _BYTES_A_ROW + _BYTES_A_ROW_AND_FOLD * n_folds
    require_memory(votes.n_rows * a_row, f"fitting {votes.n_votes:,} votes")
