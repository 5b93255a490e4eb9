"""The paper's tables: splits and settings, resuming, verdicts."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from prefpath import simulate_crowd
from prefpath.compare import MultiLevel, Outcome, Summary
from prefpath.experiments import report, reproduce, runner
from prefpath.experiments.published import Published
from prefpath.experiments.tables import (
    DEFAULTS,
    OURS,
    OWN_FOUR,
    PAPER_RIVALS,
    TABLES,
    PaperTable,
    Variant,
    bernoulli_split,
)

METHODS = ("borda", "hodgerank")


def _small(_: int) -> tuple[object, None]:
    return simulate_crowd(400, 5, 5, ties=0.2, seed=0).votes, None


@pytest.fixture
def small_table(monkeypatch: pytest.MonkeyPatch) -> PaperTable:
    """Table 4 on a small crowd, in both readings."""
    table = replace(TABLES["table4"], load=_small)
    monkeypatch.setitem(TABLES, "table4", table)
    return table


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[runner.Job]:
    """Jobs that were really run."""
    seen: list[runner.Job] = []

    def note(name: str, quick: bool, job: runner.Job) -> Outcome:
        seen.append(job)
        return Outcome(job.method, job.repeat, 0.1 + job.repeat / 1000, None, 0.0)

    monkeypatch.setattr(runner, "run_job", note)
    return seen


def test_each_vote_is_held_out_with_the_same_chance() -> None:
    votes = simulate_crowd(50_000, 10, 4, seed=0).votes
    split = bernoulli_split(votes, 0.3, seed=1)
    assert split.test.sum() / votes.total_weight == pytest.approx(0.3, abs=0.01)
    np.testing.assert_allclose(split.train + split.test, votes.weight)
    np.testing.assert_array_equal(split.test, bernoulli_split(votes, 0.3, seed=1).test)


def test_without_ties_the_other_votes_are_split_as_with_them(small_table: PaperTable) -> None:
    with_ties, without = small_table.task(3, "keep"), small_table.task(3, "drop")
    decided = with_ties.votes.choice != 0
    assert not decided.all()
    np.testing.assert_array_equal(with_ties.split.test[decided], without.split.test)
    np.testing.assert_array_equal(with_ties.votes.left[decided], without.votes.left)


def test_settings_are_those_of_the_published_code() -> None:
    for name, folds, ratio, over in (
        ("table1", 4, 100, "items"),
        ("table2", 4, 100, "items"),
        ("table4", 5, 50, "votes"),
        ("table6", 5, 50, "votes"),
    ):
        table = TABLES[name]
        assert (table.n_folds, table.t_ratio, table.over) == (folds, ratio, over)
        for key in OURS:
            model = table.contender(key)
            assert isinstance(model, MultiLevel)
            assert (model.settings["cv"], model.settings["t_ratio"]) == (folds, ratio)
            minimised = model.settings.get("common", "flow") == "minimise"
            assert minimised == (over == "votes" and key == "multi-level-linear")


def test_only_the_two_likelihoods_drop_ties_as_published() -> None:
    published, equal = TABLES["table4"].variants
    assert published.without_ties == {*OURS[1:], *DEFAULTS}
    assert set(OWN_FOUR) <= equal.without_ties


def test_our_defaults_differ_in_how_t_is_chosen_alone() -> None:
    ours = [TABLES["table6"].contender(key) for key in DEFAULTS]
    assert [one.name for one in ours] == [
        "prefpath's default, t by mismatch",
        "prefpath's default, t by log-loss",
    ]
    first, second = (one.settings for one in ours if isinstance(one, MultiLevel))
    assert {key for key in first if first[key] != second[key]} == {"criterion"}


def test_a_stopped_run_goes_on_where_it_was(
    small_table: PaperTable, judged: list[runner.Job], tmp_path: Path
) -> None:
    store = tmp_path / "repeats.csv"
    first = runner.run_table(small_table, METHODS, 2, store, n_jobs=1)
    assert len(judged) == len(first) == 8  # two methods, two readings, two repeats
    again = runner.run_table(small_table, METHODS, 3, store, n_jobs=1)
    assert len(judged) == 12
    assert {job: again[job].mismatch for job in first} == {
        job: one.mismatch for job, one in first.items()
    }


def test_a_torn_last_line_is_run_again(
    small_table: PaperTable, judged: list[runner.Job], tmp_path: Path
) -> None:
    store = tmp_path / "repeats.csv"
    runner.run_table(small_table, METHODS, 1, store, n_jobs=1)
    store.write_text(store.read_text()[:-8])
    results = runner.run_table(small_table, METHODS, 1, store, n_jobs=1)
    assert len(judged) == 5
    assert len(results) == 4
    assert len(runner.run_table(small_table, METHODS, 1, store, n_jobs=1)) == 4
    assert len(judged) == 5


def test_results_of_other_settings_are_not_reused(
    small_table: PaperTable, judged: list[runner.Job], tmp_path: Path
) -> None:
    store = tmp_path / "repeats.csv"
    runner.run_table(small_table, METHODS, 1, store, n_jobs=1)
    runner.run_table(replace(small_table, n_folds=3), METHODS, 1, store, n_jobs=1)
    assert len(judged) == 8


@pytest.mark.parametrize(
    ("published", "said"),
    [
        (0.2, "within 2 standard errors"),
        (0.25, "lower than the paper by 5.0 standard errors"),
        (0.15, "higher than the paper by 5.0 standard errors"),
        (None, ""),
    ],
)
def test_verdicts(published: float | None, said: str) -> None:
    summary = Summary("m", 100, 0.1, 0.2, 0.3, 0.1, None, 0.0)
    paper = None if published is None else Published(published, None)
    verdict = report.Line("m", summary, paper).verdict
    assert said in verdict
    assert bool(verdict) == bool(said)


def test_a_verdict_counts_the_papers_own_error() -> None:
    summary = Summary("m", 100, 0.1, 0.2, 0.3, 0.1, None, 0.0)
    without = report.Line("m", summary, Published(0.25, None)).verdict
    with_error = report.Line("m", summary, Published(0.25, 0.1)).verdict
    assert "by 5.0 standard errors" in without
    assert "by 2.0 standard errors" in with_error  # hypot(.01, .1 / sqrt(20)) = .0245


def test_every_method_of_every_table_has_a_published_figure() -> None:
    for table in TABLES.values():
        assert set(table.variants[0].published) == {*PAPER_RIVALS, *OURS}


def test_differences_are_paired_by_repeat() -> None:
    errors = {"a": (0.1, 0.3, 0.2), "b": (0.2, 0.3, 0.5)}
    results = {
        runner.Job(method, "keep", repeat): Outcome(method, repeat, error, None, 0.0)
        for method, each in errors.items()
        for repeat, error in enumerate(each)
    }
    away = np.subtract(errors["a"], errors["b"])
    found = report.paired_difference(results, Variant("", frozenset()), "a", "b")
    assert found == pytest.approx((away.mean(), away.std(ddof=1) / 3**0.5))


def test_a_table_is_printed_and_written(small_table: PaperTable, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    said = io.StringIO()
    console = Console(file=said, width=100)
    options = reproduce.Options(tmp_path, console, n_repeats=2, methods=METHODS, n_jobs=1)
    reproduce.reproduce("table4", options)
    assert "as published" in said.getvalue()
    assert "ties left out for all; 2 repeats" in said.getvalue()
    written = (tmp_path / "table4-1.csv").read_text().splitlines()
    assert written[0].startswith("method,paper_mean,repeats,min,mean,max,std")
    assert any(line.startswith("HodgeRank,0.1874,2,") for line in written)
    assert (tmp_path / "table4-2.png").read_bytes().startswith(b"\x89PNG")


def test_hodgerank_on_real_votes_is_the_papers(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFPATH_DATA", str(data_dir))
    for name, published in (("table4", 0.1874), ("table6", 0.3108)):
        found = [
            runner.run_job(name, False, runner.Job("hodgerank", "keep", repeat)).mismatch
            for repeat in range(20)
        ]
        error = np.std(found, ddof=1) / 20**0.5
        assert abs(np.mean(found) - published) < 3 * error
