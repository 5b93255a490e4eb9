"""Whether judges favour their own, in all that the command line writes."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from judges import votes_of_judges
from prefpath.cli import app

runner = CliRunner()


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("votes") / "votes.csv"
    votes_of_judges(favour=1.5, pairs=150).to_csv(file, index=False)
    return file


def fit(*arguments: object) -> str:
    result = runner.invoke(app, ["fit", *map(str, arguments), "--cv", "0", "--t-ratio", "1.5"])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_terminal_tables_and_report_say_who_favours_its_own(votes_file, tmp_path):
    out, report = tmp_path / "out", tmp_path / "report.html"
    told = fit(votes_file, "--out", out, "--report", report, "--format", "parquet")
    lines = told[told.index("Does an annotator favour its own?") :].splitlines()
    named = [line.split() for line in lines if line.startswith((" claude", " gpt", " llama"))]
    assert [(words[0], words[-1] == "favours") for words in named] == [
        ("claude-2", False),
        ("gpt-4", True),
        ("llama-70b", False),
    ]
    assert "if equal" in told and " own " not in lines[2]
    table = pd.read_parquet(out / "own_items.parquet")
    assert table["verdict"].tolist() == ["no favour shown", "favours its own", "no favour shown"]
    page = report.read_text()
    panel = page[page.index('id="own-items"') :].split("</table>")[0]
    assert panel.count("<tr>") == 4
    assert "favours its own" in panel and "If equal (95 % interval)" in panel


def test_families_are_a_table_and_items_are_then_named(votes_file, tmp_path):
    families = tmp_path / "families.csv"
    families.write_text("name,family\nmixtral,mistral\nmistral,mistral\n")
    told = fit(votes_file, "--families", families)
    assert "mixtral" in told[told.index("favour its own?") :]
    assert "mistral" in told[told.index("favour its own?") :]
    found = json.loads(fit(votes_file, "--families", families, "--json"))["own_items"]
    assert [row["own_items"] for row in found["annotators"] if row["annotator"] == "mixtral"] == [
        "mistral"
    ]
    families.write_text("name,family\nnobody,mistral\n")
    refused = runner.invoke(app, ["fit", str(votes_file), "--families", str(families)])
    assert "family of an item" in str(refused.exception)


def test_strengths_are_shown_without_chances(votes_file, tmp_path):
    report = tmp_path / "report.html"
    out = tmp_path / "out"
    told = fit(votes_file, "--loss", "linear", "--report", report, "--out", out)
    shown = told[told.index("favour its own?") :]
    assert "favour" in shown.splitlines()[2] and "if equal" not in shown.splitlines()[2]
    assert "Favour (95 % interval)" in report.read_text()
    assert pd.read_csv(out / "own_items.csv")["expected"].isna().all()


def test_nothing_is_shown_where_nobody_is_an_item(votes_file, tmp_path):
    others = pd.read_csv(votes_file).assign(annotator=lambda rows: "judge " + rows["left"].str[-1])
    others.to_csv(tmp_path / "others.csv", index=False)
    assert "favour its own" not in fit(tmp_path / "others.csv")
    assert json.loads(fit(tmp_path / "others.csv", "--json"))["own_items"] is None
