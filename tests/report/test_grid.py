"""Every kind of report at every width, light, dark and on paper: nothing is cut."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefpath import PreferenceModel, Votes, VoteWarning, simulate_crowd

pytestmark = pytest.mark.browser

WIDTHS = (1400, 768, 390)
MODELS = [f"provider/some-long-model-name-{k}-2024-0{k}-instruct" for k in range(1, 7)]


def _two_groups() -> Votes:
    rng = np.random.default_rng(0)
    pairs = [rng.choice(names, 2, replace=False) for names in (["ant", "bee", "cat"], list("xyz"))
             for _ in range(80)]  # fmt: skip
    who = [f"u{k}" for k in rng.integers(12, size=160)]
    left, right = np.array(pairs).T
    return Votes.from_arrays(who, left, right, np.where(rng.random(160) < 0.6, 1, -1))


def _two_judges() -> Votes:
    rng = np.random.default_rng(1)
    pairs = np.array([rng.choice(6, 2, replace=False) for _ in range(240)])
    won = rng.random(240) < 1.0 / (1.0 + np.exp(0.5 * (pairs[:, 0] - pairs[:, 1])))
    names = np.array(MODELS)
    judges = np.array(["gpt-4-turbo-as-a-judge", "claude"])[np.arange(240) % 2]
    return Votes.from_arrays(judges, names[pairs[:, 0]], names[pairs[:, 1]], np.where(won, 1, -1))


CROWDS = {
    "one group": lambda: simulate_crowd(1500, 25, 9, deviants=2, clickers=2, ties=0.1, seed=3,
                                        labels="readable").votes,
    "two groups": _two_groups,
    "two judges": _two_judges,
    "340 annotators": lambda: simulate_crowd(5000, 340, 8, deviants=6, clickers=5, seed=4).votes,
}  # fmt: skip


@pytest.fixture(scope="module", params=CROWDS)
def opened(
    request: pytest.FixtureRequest, browser: Any, open_report: Any, tmp_path_factory: Any
) -> Iterator[Any]:
    """One page of one report; tests resize it, which costs less than opening it again."""
    path: Path = tmp_path_factory.mktemp("grid") / "report.html"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        model = PreferenceModel(cv=2, n_times=6, t_ratio=8.0).fit(CROWDS[request.param]())
        model.report(path, title=request.param)
    visit = open_report(browser, path, viewport={"width": 1400, "height": 900})
    yield visit
    visit.context.close()
    assert visit.complaints == []


# Text that its own box hides, and no dots say so.
CUT = """() => [...document.querySelectorAll("main *")].filter(node => {
  const style = getComputedStyle(node), box = node.getBoundingClientRect();
  return node.childNodes.length && box.width > 2 && box.height > 2
    && style.overflowX === "hidden" && style.textOverflow !== "ellipsis"
    && style.clipPath === "none" && node.scrollWidth > node.clientWidth + 1
    && !node.closest(".chart") && node.textContent.trim();
}).map(node => node.outerHTML.slice(0, 120))"""
# Words broken within a name: letters of one word on more than three lines.
BROKEN = """() => [...document.querySelectorAll("table bdi")].filter(node => {
  const lines = new Set([...node.getClientRects()].map(box => Math.round(box.top)));
  return lines.size > 3;
}).map(node => node.textContent)"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_overflows_or_is_cut(opened: Any, width: int, scheme: str) -> None:
    page = opened.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(media="screen", color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT) == []
    assert page.evaluate(BROKEN) == []
    axes = page.locator("#leaderboard .axis")
    assert axes.first.is_visible()
    assert page.locator("#leaderboard .zero").first.is_visible()


def test_the_answer_is_on_the_first_screen(opened: Any) -> None:
    page = opened.page
    page.set_viewport_size({"width": 1400, "height": 900})
    page.emulate_media(media="screen", color_scheme="light")
    page.evaluate("scrollTo(0, 0)")
    cards = page.locator(".card")
    assert cards.count() == 3
    for k in range(3):
        box = cards.nth(k).locator(".short").bounding_box()
        assert box["y"] + box["height"] <= 900
    assert page.locator(".lead .axis").bounding_box()["y"] <= 900


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_can_be_told_apart(opened: Any, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = opened.page
    page.emulate_media(media="screen", color_scheme=scheme)
    only = {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
    found = Axe().run(page, options=only).response["violations"]
    assert [node["target"] for one in found for node in one["nodes"]] == []


def test_paper_has_everything(opened: Any) -> None:
    page = opened.page
    page.set_viewport_size({"width": 760, "height": 1000})  # A4 less its margins
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print", color_scheme="light")
    assert page.evaluate("document.documentElement.scrollWidth") <= 760
    assert page.evaluate(CUT) == []
    shown = page.locator("#leaderboard tbody tr[data-row]")
    assert shown.count() == page.locator("#leaderboard tbody tr[data-row]:visible").count()
    widest = page.locator(".heat").evaluate_all(
        "maps => maps.map(map => map.getBoundingClientRect().right)"
    )
    assert max(widest) <= 760
    page.evaluate("dispatchEvent(new Event('afterprint'))")
