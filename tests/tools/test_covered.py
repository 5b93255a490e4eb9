"""The check of lines and branches fails when either falls, and counts folders as they are."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def covered(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("covered")


def _summary(lines: tuple[int, int], branches: tuple[int, int]) -> dict[str, Any]:
    return {
        "summary": {
            "covered_lines": lines[0],
            "num_statements": lines[1],
            "covered_branches": branches[0],
            "num_branches": branches[1],
        }
    }


def _report(folder: Path, lines: tuple[int, int], branches: tuple[int, int]) -> str:
    files = {
        "src/prefpath/fit.py": _summary((10, 10), (0, 0)),
        "src/prefpath/votes/read.py": _summary(lines, branches),
        "src/prefpath/votes/rules.py": _summary((10, 10), (10, 10)),
    }
    file = folder / "coverage.json"
    file.write_text(json.dumps({"files": files}), "utf-8")
    return str(file)


def test_enough_of_both_passes(
    covered: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert covered.main([_report(tmp_path, (76, 80), (80, 90))]) == 0  # 96 of 100, 90 of 100
    said = capsys.readouterr()
    rows = [" ".join(line.split()) for line in said.out.splitlines()]
    assert "votes 86 of 90 95.56% 90 of 100 90.00%" in rows
    assert "(top) 10 of 10 100.00% 0 of 0 100.00%" in rows
    assert "all 96 of 100 96.00% 90 of 100 90.00%" in rows
    assert said.err == ""


@pytest.mark.parametrize(
    ("lines", "branches", "said"),
    [
        ((74, 80), (90, 90), "the tests reach 94.00% of all lines, at least 95%"),
        ((80, 80), (79, 90), "the tests reach 89.00% of all branches, at least 90%"),
    ],
)
def test_too_little_of_one_fails_whatever_the_other(
    covered: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    lines: tuple[int, int],
    branches: tuple[int, int],
    said: str,
) -> None:
    assert covered.main([_report(tmp_path, lines, branches)]) == 1
    assert [said in line for line in capsys.readouterr().err.splitlines()] == [True]


def test_a_report_of_nothing_or_without_branches_is_refused(
    covered: ModuleType, tmp_path: Path
) -> None:
    file = tmp_path / "coverage.json"
    file.write_text(json.dumps({"files": {}}), "utf-8")
    with pytest.raises(SystemExit, match="nothing was measured"):
        covered.main([str(file)])
    no_branches = {"summary": {"covered_lines": 1, "num_statements": 1}}
    file.write_text(json.dumps({"files": {"src/prefpath/fit.py": no_branches}}), "utf-8")
    with pytest.raises(SystemExit, match="no branches were measured"):
        covered.main([str(file)])
