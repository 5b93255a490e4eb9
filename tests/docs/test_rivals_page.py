"""docs/rivals.md is made from the committed measurements; what was lost is named first."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "rivals" / "results" / "selection.json"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "rivals"))
    return importlib.import_module("page")


def _ranking(method: str, cpu: float, rmse: float = 0.1) -> dict[str, Any]:
    size = {"task": "rank", "votes": 1000, "items": 10}
    return {**size, "method": method, "cpu": cpu, "memory": 1.0, "rmse": rmse}


def test_the_page_is_what_the_measurements_say(page: ModuleType) -> None:
    found = json.loads(RESULTS.read_text("utf-8"))
    made = page.page(found, str(RESULTS.relative_to(ROOT)))
    assert made == (ROOT / "docs" / "rivals.md").read_text("utf-8"), "run page.py again"


def test_a_lost_row_is_named_with_who_won_it(page: ModuleType) -> None:
    rows = page.lost_rows([_ranking("prefpath", 2.0), _ranking("choix", 1.0)])
    assert rows == ["| plain ranking, 1,000 votes, 10 items: CPU seconds | 2 | 1 | choix |"]


def test_a_won_row_and_a_failed_rival_are_not_named(page: ModuleType) -> None:
    failed = {"task": "rank", "votes": 1000, "items": 10, "method": "evalica", "failure": "no"}
    records = [_ranking("prefpath", 1.0), _ranking("choix", 1.1), failed]
    assert page.lost_rows(records) == []
    assert "*no*" in page.table(records, page._of_rank, page.RANK_COLUMNS)


def test_a_failure_of_ours_is_a_lost_row(page: ModuleType) -> None:
    failed = {"task": "rank", "votes": 1000, "items": 10, "method": "prefpath", "failure": "no"}
    assert "| *no* |" in page.lost_rows([failed, _ranking("choix", 1.0)])[0]


def test_a_failure_is_told_in_the_rivals_own_words(page: ModuleType) -> None:
    run = importlib.import_module("run")
    assert run.own_words("Traceback\n  File x\nValueError: no ties\n") == "ValueError: no ties"
    assert run.own_words("Error in BTm: stack overflow\nExecution halted\n") == (
        "Error in BTm: stack overflow"
    )
