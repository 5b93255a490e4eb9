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

pytest.importorskip("bokeh")


FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

HOSTILE_ITEMS = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "🍌 banana <!-- ",
    "مرحبا بالعالم",
    "quote \" ' &amp; &lt;b&gt;",
    '=HYPERLINK("http://example.org")',
    "line\u2028separator ${alert(3)} `x`",
    "$\\alpha$ " + "very " * 40 + "long",
)
HOSTILE_ANNOTATORS = (
    "<b>bold</b>",
    "</script><script>alert(4)</script>",
    "👩‍🔬 Ada",
    "דוד",
    "@name{safe}",
)


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
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium: apt-get install chromium to run this test")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield opened
        opened.close()


class Visit:
    """An open report, and everything it said or asked for that it should not."""

    def __init__(self, browser: Any, report: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context.route("**/*", self._answer)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("dialog", self._refuse)
        self.page.goto(report.as_uri())
        self.page.wait_for_selector("html[data-ready]", timeout=60_000)

    def _answer(self, route: Any) -> None:
        self.requests.append(route.request.url)
        if route.request.url.startswith("file:"):
            route.continue_()
        else:
            route.abort()

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _refuse(self, dialog: Any) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture(scope="session")
def open_report() -> type[Visit]:
    """Opens a report: `open_report(browser, file, **options of Playwright's context)`."""
    return Visit


@pytest.fixture
def visit(browser: Any, report: Path) -> Iterator[Visit]:
    opened = Visit(browser, report, viewport={"width": 1280, "height": 900})
    yield opened
    opened.context.close()
    assert opened.complaints == []
