"""`prefpath fit --families`: its table, and what is said of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from prefpath.cli import app
from prefpath.cli.names import read_families
from prefpath.errors import SettingError

ITEMS = [f"{family}-{size}" for family in ("anthropic-claude", "openai-gpt") for size in "lms"]
JUDGES = ["anthropic-claude-2-large-judge", "openai-gpt-4-large-judge", "human"]
FAMILIES = {name: name.split("-")[0] for name in (*ITEMS, *JUDGES[:2])}


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three judges; the first prefers its family by far."""
    rng = np.random.default_rng(0)
    rows = ["judge,left,right,choice"]
    for judge in JUDGES:
        for left, right in [(a, b) for a in ITEMS for b in ITEMS if a != b] * 3:
            own = left.startswith("anthropic") * 1.0 - right.startswith("anthropic")
            chance = 1.0 / (1.0 + np.exp(-3.0 * own * (judge == JUDGES[0])))
            rows.append(f"{judge},{left},{right},{'left' if rng.random() < chance else 'right'}")
    file = tmp_path_factory.mktemp("families") / "votes.csv"
    file.write_text("\n".join(rows))
    return file


def output_of(votes: Path, families: dict[str, str]) -> str:
    table = votes.with_name("families.csv")
    table.write_text("\n".join(["name,family", *(f"{a},{b}" for a, b in families.items())]))
    options = ["--cv", "0", "--t-ratio", "2", "--families", str(table)]
    return CliRunner().invoke(app, ["fit", str(votes), *options]).output


def test_long_names_of_judges_leave_a_table_of_80_columns(votes, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = output_of(votes, FAMILIES).split("favour its own?")[1]
    [judge] = [line for line in shown.splitlines() if line.startswith(" anthropic-")]
    assert judge.split()[1] == "anthropic" and judge.split()[-1] == "favours"
    assert "won: " not in shown


def test_items_without_a_family_are_named(votes):
    known = {**FAMILIES, "human": ""}
    assert "without a family" not in output_of(votes, known)
    said = output_of(votes, {**known, "openai-gpt-s": ""})
    assert "note: 1 item without a family, nobody's own: openai-gpt-s" in said


def test_a_row_without_a_family_column_is_refused(votes):
    table = votes.with_name("short.csv")
    table.write_text("name,family\nhuman,none\nopenai-gpt-s\n")
    with pytest.raises(SettingError, match="has a row without columns name and family"):
        read_families(table)
