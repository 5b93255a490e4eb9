"""A fitted model whose labels try everything, its report, and a browser without a network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefpath import PreferenceModel, Votes, simulate_crowd
from report.report_visit import CHROMIUM, FLAGS, HOSTILE_ANNOTATORS, HOSTILE_ITEMS, Visit

pytest.importorskip("bokeh")


def hostile_crowd() -> Votes:
    """Votes with planted deviants and clickers, under labels that are no plain words."""
    votes = simulate_crowd(1800, 30, 8, deviants=3, clickers=3, ties=0.02, seed=6).votes
    annotators = [f"annotator {u:02d}" for u in range(votes.n_annotators)]
    annotators[: len(HOSTILE_ANNOTATORS)] = HOSTILE_ANNOTATORS
    return replace(
        votes,
        items=np.array(HOSTILE_ITEMS, dtype=object),
        annotators=np.array(annotators, dtype=object),
    )


@pytest.fixture(scope="session")
def model() -> PreferenceModel:
    """A model stopped late enough that several annotators stand out."""
    fitted = PreferenceModel(n_times=12, t_ratio=30.0, cv=3).fit(hostile_crowd())
    return fitted.stop_at(float(fitted.path_.times[7]))


@pytest.fixture(scope="session")
def report(model: PreferenceModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model.report(tmp_path_factory.mktemp("report") / "report.html", title="A <b>&</b> B")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if not (shutil.which("chromium") or Path(CHROMIUM).exists()):
        pytest.skip("no /usr/bin/chromium: apt-get install chromium to run this test")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def visit(browser: Any, report: Path) -> Iterator[Visit]:
    opened = Visit(browser, report, viewport={"width": 1280, "height": 900})
    yield opened
    opened.context.close()
    assert opened.complaints == []
