"""Every example runs, says something, and is short enough to read at once."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))

# What each must have found: an example that runs and finds nothing is no example.
FOUND = {
    "arena_with_ties": "dante   1000",
    "image_quality_lab": "leans right",
    "judges_audit": "leans right (planted)",
    "large_data": "saved and loaded: True",
    "movies_with_features": "somebody new film 28 film 01",
    "odd_files": "where:    row 2",
    "personal_rankings": "correlation of the personal scores with the truth: 0.9",
    "survey": "cyclist: own taste",
}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(
    example: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", [str(example)])
    runpy.run_path(str(example), run_name="__main__")
    assert FOUND[example.stem] in capsys.readouterr().out


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_short_and_says_what_it_shows(example: Path) -> None:
    text = example.read_text()
    assert len(text.splitlines()) <= 60
    assert text.startswith('"""')
    assert example.name in (FOLDER / "README.md").read_text()
