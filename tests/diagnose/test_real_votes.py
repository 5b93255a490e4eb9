"""Real votes: nine LLM judges, two crowd workers, and the paper's clickers."""

from __future__ import annotations

import warnings

import pytest
from scipy.stats import binomtest

from prefpath import PreferenceModel, VoteWarning, read_votes
from prefpath.diagnose import diagnose, discover
from prefpath.experiments import position_bias_tables


@pytest.fixture(scope="module")
def tables(data_dir):
    return position_bias_tables


def _diagnosis(file):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        model = PreferenceModel(cv=0, n_times=12, t_ratio=12.0).fit(read_votes(file))
    return diagnose(model)


def test_nine_judges_lean_as_their_swaps_say(data_dir, tables):
    file = data_dir / "llm_position_bias.csv"
    counts, found = tables.swap_counts(file), _diagnosis(file)
    assert len(counts) == 9
    clear = {j: c for j, c in counts.items() if binomtest(c[0], sum(c)).pvalue < 0.05}
    assert len(clear) >= 5
    for judge, (first, second) in clear.items():
        about = found.of(judge)
        assert (about["gamma"] > 0) == (first > second), judge
        assert about["gamma_low"] < about["gamma"] < about["gamma_high"]


def test_two_crowd_workers_are_found(data_dir):
    found = _diagnosis(data_dir / "llmfao_crowd.csv")
    one, other = found.of("w20"), found.of("w32")
    assert (one["left"], one["right"], one["verdict"]) == (204, 86, "leans left")
    assert (other["left"], other["right"], other["verdict"]) == (21, 0, "one-sided clicker")
    assert one["biased"] and other["biased"]


@pytest.mark.parametrize("name", ["iqa", "worldcollege"])
def test_the_papers_clickers_are_named(data_dir, tables, name):
    """All of the paper's ten but 320, who clicks 253 left and 324 right: early by activity."""
    votes = read_votes(data_dir / tables.FILES[name].name)
    named = {int(label) for label in discover(votes).who_leans}
    assert set(tables.PUBLISHED[name]) - named <= {320}
