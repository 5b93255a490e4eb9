"""What a helper does for each name: compile a kernel, or fit something that needs many."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from prefpath.ahead.samples import compile_kernel
from prefpath.ahead.steps import FITS
from prefpath.estimators import PreferenceModel
from prefpath.findings import find
from prefpath.simulate import simulate_crowd


def compile_step(name: str) -> None:
    """Compile a kernel, or all that one of the fits comes to."""
    if name in _FITS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _FITS[name]()
    else:
        compile_kernel(name)


def _fit_of_many_votes() -> None:
    votes = simulate_crowd(40_000, 200, 60, deviants=2, clickers=2, seed=0).votes
    find(PreferenceModel(cv=2).fit(votes))


def _fit_with_attention() -> None:
    votes = simulate_crowd(2_000, 20, 30, deviants=1, clickers=1, seed=0).votes  # not a small one
    find(PreferenceModel(attention=True, cv=2).fit(votes))


def _fit_with_report() -> None:
    votes = simulate_crowd(2_000, 20, 6, deviants=1, clickers=1, seed=0).votes
    model = PreferenceModel(cv=2).fit(votes)
    findings = find(model, weak=model.weak_)
    try:
        from prefpath.report import write_report
    except ImportError:  # without Bokeh there is no report
        return
    with tempfile.TemporaryDirectory() as folder:
        write_report(findings, Path(folder) / "report.html")


_FITS: dict[str, Callable[[], None]] = dict(
    zip(FITS, (_fit_of_many_votes, _fit_with_attention, _fit_with_report), strict=True)
)
