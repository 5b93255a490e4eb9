"""The report's words, tables and limits, without a browser."""

from __future__ import annotations

import base64
import gzip
import re
from dataclasses import replace

import numpy as np
import pytest

from prefpath import PreferenceModel, SettingError, Votes
from prefpath.errors import MissingExtra
from prefpath.findings import find
from prefpath.fitted import rank_within
from prefpath.leaderboard import interval_meaning
from prefpath.report import downloads, write_report
from prefpath.report.data import Heading, Limits, ReportData, gather
from prefpath.report.downloads import download_link
from prefpath.report.escape import label, script_json, text
from prefpath.report.format import count, fixed, number, percent
from prefpath.report.page import render
from prefpath.report.words import answers
from prefpath.trust import TrustCheck

HEADING = Heading("t", "1 May 2026", "votes.csv")


def gathered(model: PreferenceModel, limits: Limits | None = None) -> ReportData:
    return gather(find(model), limits or Limits(), HEADING, {})


def told(data: ReportData, **changes: object) -> ReportData:
    """The same page with other findings."""
    return replace(data, findings=replace(data.findings, **changes))


@pytest.fixture(scope="module")
def data(model):
    return gathered(model)


def _words(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


def test_labels_cannot_leave_their_place():
    hostile = "</script><script>alert('1')</script>&\"<!--\u2028"
    assert "<" not in text(hostile)
    assert '"' not in text(hostile)
    assert label(hostile).count("<") == 2
    assert not set("<>&\u2028") & set(script_json({hostile: [hostile]}))


def test_json_has_no_values_that_json_lacks():
    assert script_json([np.float64("nan"), np.inf, np.int64(3), None]) == "[null,null,3,null]"


def test_lone_surrogates_do_not_stop_the_report(model, tmp_path):
    broken = model.votes_.items.copy()
    broken[0] = "half a character \ud83d"
    data = gathered(model)
    page = render(replace(data, names={str(model.votes_.items[0]): broken[0]}))
    assert b"half a character" in page.encode("utf-8", "replace")


def test_the_page_contains_no_address_but_those_inside_bokeh(report):
    page = report.read_text(encoding="utf-8")
    ours = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", ours)
    assert "default-src 'none'" in ours


def test_the_page_says_what_its_intervals_are_about(report, data, model):
    n_deviating = model.path_.active_count(model.t_)[0]
    assert interval_meaning(30, n_deviating) in report.read_text(encoding="utf-8")
    without = {name: values for name, values in data.ranking.items() if name != "score_low"}
    assert "Intervals include" not in render(told(data, ranking=without))


def test_what_a_personal_part_is_worth_is_said_in_votes_predicted_wrong(data):
    assert data.fitted.criterion == "log-loss"
    found = data.fitted.cross_validation
    first, chosen = (
        np.full(found.wrong.shape, 0.3),
        int(np.searchsorted(found.times, data.fitted.t)),
    )
    better = first.copy()
    better[:, chosen] = 0.25
    for wrong, expected in (
        (better, r"25\.0\s% of held-out votes are predicted wrong, against 30\.0\s%"),
        (first, r"does not help to predict new votes \(30\.0\s% wrong"),
    ):
        # The error that chose the time decides whether it helps, as in the terminal.
        alike = replace(found, wrong=wrong, errors=2.0 * wrong)
        fitted = replace(data.fitted, cross_validation=alike)
        assert re.search(
            expected, _words(" ".join(answers(told(data, fitted=fitted))[1].sentences))
        )


def test_the_same_model_gives_the_same_words(model, data):
    first, second = (answers(gathered(model)) for _ in range(2))
    assert first == second
    assert [answer.question for answer in first] == [
        "Who leads?", "Who to look at?", "Can it be trusted?",
    ]  # fmt: skip


def test_who_leads_says_how_surely(data):
    n = len(data.ranking["item"])
    clear = {**data.ranking, "rank_low": [1] + [2] * (n - 1), "rank_high": [1] + [n] * (n - 1)}
    assert "lead is clear" in _words("".join(answers(told(data, ranking=clear))[0].sentences))
    shared = {
        **data.ranking,
        "rank_low": [1, 1] + [3] * (n - 2),
        "rank_high": [2, 2] + [n] * (n - 2),
    }
    words = "".join(answers(told(data, ranking=shared))[0].sentences)
    assert "not certain" in words
    assert label(data.ranking["item"][1]) in words
    first_alone = {**shared, "rank_high": [1, 2] + [n] * (n - 2)}  # the second may be first, too
    words = "".join(answers(told(data, ranking=first_alone))[0].sentences)
    assert "not certain" in words and "rank 1 to" not in words


def test_who_stands_out_counts_verdicts(data):
    n = data.votes.n_annotators

    def with_verdicts(first: list[str]):
        words = [*first, *["follows the crowd"] * (n - len(first))]
        headline = replace(
            data.findings.headline, counts={word: words.count(word) for word in set(words)}
        )
        people = {**data.annotators, "verdict": np.array(words, dtype=object)}
        return answers(told(data, annotators=people, headline=headline))[1]

    assert with_verdicts([]).short == "Nobody"
    three = with_verdicts(["own taste", "own taste", "answers at random"])
    assert three.short == f"3 of {n} annotators"
    assert any(sentence.startswith("Own taste: 2 annotators (") for sentence in three.sentences)
    assert label(data.annotators["annotator"][2]) in "".join(three.sentences)


def test_trust_is_what_the_checks_say(data):
    passed = TrustCheck("ties", "passed", "no ties")
    failed = TrustCheck("one <scale>", "fail", "two groups", "collect votes")
    good = told(data, trust=replace(data.trust, checks=(passed,)))
    assert answers(good)[2].short == "Yes"
    bad = answers(told(data, trust=replace(data.trust, checks=(passed, failed))))[2]
    assert bad.short == "Not as it stands"
    assert "One &lt;scale&gt;: two groups." in bad.sentences
    page = render(told(data, trust=replace(data.trust, checks=(failed,))))
    assert "collect votes" in page.lower()


def test_every_check_and_every_setting_is_on_the_page(data, model):
    page = render(data)
    for check in data.trust.checks:
        assert text(check.finding[1:]) in page
    for name, value in model.get_params().items():
        assert f"<dt>{name}</dt><dd>{text(value)}</dd>" in page


def test_large_crowds_are_cut_and_say_so(model):
    few = gathered(model, Limits(items=5, annotators=6, lines=4, cells=3))
    page = render(few)
    assert "The first 5 of 8 items are here." in page
    assert "The first 6 of 30 annotators are here." in page
    assert "Grey areas hold" in page
    assert "The first 3 of 8 items." in page
    n_pairs = 5 * 4 // 2
    assert page.count("<tr data-row=") == 5 + 6 + n_pairs
    assert few.journey.deviation.values.shape[1] <= 4


def test_the_lines_drawn_are_the_furthest_of_the_whole_crowd(model):
    few = gathered(model, Limits(annotators=1, lines=3))
    last = model.path_.deviation(float(few.journey.times[-1]))
    assert last[few.journey.deviation.codes].nnz > 0
    every = gathered(model)
    np.testing.assert_array_equal(few.journey.deviation.codes, every.journey.deviation.codes[:3])


def test_a_hundred_thousand_annotators_fit_in_ten_megabytes(data):
    n, shown = 100_000, 500
    rng = np.random.default_rng(0)
    people = {name: [values[0]] * n for name, values in data.annotators.items()}
    people["annotator"] = [f"annotator {u:06d}" for u in range(n)]
    for name in ("gamma", "agreement", "p_deviation", "deviation"):
        people[name] = rng.random(n)
    journey = data.journey
    wide = rng.random((len(journey.times), shown))
    large = replace(
        told(data, annotators=people),
        annotator_codes=np.zeros(shown, dtype=np.int64),
        journey=replace(
            journey,
            deviation=replace(journey.deviation, shown=wide),
            position_bias=replace(journey.position_bias, shown=wide),
        ),
    )
    assert len(render(large).encode()) < 10_000_000


def test_downloads_are_compressed_when_large_and_refused_when_too_large(monkeypatch):
    columns = {"item": [f"item {k}" for k in range(30_000)], "score": np.arange(30_000) / 7}
    link = download_link("ranking", columns, "item")
    assert 'download="ranking.csv.gz"' in link
    packed = base64.b64decode(re.search(r"base64,([^\"]+)", link).group(1))
    rows = gzip.decompress(packed).decode().splitlines()
    assert len(rows) == 30_001
    assert rows[:3] == ["item,score", "item 0,0", "item 1,0.14286"]
    monkeypatch.setattr(downloads, "_LARGEST", len(packed) - 1)
    assert "model.ranking()" in download_link("ranking", columns, "item")


def test_sentences_are_left_out_of_a_download_before_it_is_refused(monkeypatch):
    monkeypatch.setattr(downloads, "_LARGEST", 100_000)
    letters = np.random.default_rng(0).integers(97, 123, (9_000, 60)).astype(np.uint8)
    people = {"annotator": list(range(9_000)), "reason": [bytes(row).decode() for row in letters]}
    packed = re.search(r"base64,([^\"]+)", download_link("annotators", people, "annotator"))
    assert base64.b64decode(packed.group(1)).startswith(b"annotator\n0\n")


def test_ranks_start_anew_in_each_group():
    ranks = rank_within(np.array([1.0, 5.0, 2.0, 4.0, 3.0]), np.array([0, 1, 0, 1, 0]))
    assert ranks.tolist() == [3, 1, 2, 2, 1]


@pytest.mark.filterwarnings("ignore::prefpath.VoteWarning")
@pytest.mark.parametrize(
    ("votes", "settings", "expected"),
    [
        pytest.param(
            Votes.from_arrays(["a", "b"] * 6, list("xyxzyz") * 2, list("yxzxzy") * 2, [1, -1] * 6),
            {"cv": 0},
            "chosen",
            id="no cross-validation",
        ),
        pytest.param(
            Votes.from_arrays(["a"] * 4, list("xxyx"), list("yzzy"), [1, 1, 1, -1]),
            {"cv": 2},
            "nobody to differ from",
            id="one annotator",
        ),
        pytest.param(
            Votes.from_arrays(["a", "b"] * 4, list("xxvvxxvv"), list("yywwyyww"), [1, -1] * 4),
            {"cv": 2},
            "2 separate groups",
            id="two groups",
        ),
        pytest.param(
            Votes.from_arrays(
                ["a", "b"] * 4, list("xxyyxxyy"), list("yyzzzzzz"), [1] * 8, position_known=False
            ),
            {"cv": 2},
            "position bias",
            id="position unknown",
        ),
        pytest.param(
            Votes.from_arrays(list("aabb"), list("xyxy"), list("yzyz"), [0] * 4),
            {"cv": 2},
            "Every vote is a tie.",
            id="nothing but ties",
        ),
    ],
)
def test_unusual_votes_have_a_report_too(votes, settings, expected, tmp_path):
    model = PreferenceModel(n_times=4, t_ratio=4.0, **settings).fit(votes)
    page = model.report(tmp_path / "r.html").read_text(encoding="utf-8")
    assert expected in page


def test_a_report_that_cannot_be_written_says_so(model, tmp_path):
    with pytest.raises(SettingError, match="cannot be written"):
        write_report(model, tmp_path / "no such folder" / "r.html")
    with pytest.raises(SettingError, match="0 items"):
        write_report(model, tmp_path / "r.html", max_items=0)


def test_without_bokeh_the_extra_is_named(model, tmp_path, monkeypatch):
    import sys

    for name in [name for name in sys.modules if name.split(".")[0] == "bokeh"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"prefpath\[report\]"):
        model.report(tmp_path / "r.html")


def test_numbers_as_people_write_them():
    assert number(0.000012) == "0.000012"
    assert number(1e9) == "1,000,000,000"
    assert (fixed(np.nan), count(None), percent(np.inf)) == ("–", "–", "–")
    assert count(1234567.0) == "1,234,567"
