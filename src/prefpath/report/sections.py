"""The sections of the page, each as HTML."""

from __future__ import annotations

from collections.abc import Mapping

from prefpath.leaderboard import interval_meaning
from prefpath.report.data import ReportData
from prefpath.report.downloads import download_link
from prefpath.report.escape import text
from prefpath.report.format import number, percent, plural
from prefpath.report.heatmaps import battle_maps, personal_map
from prefpath.report.tables import annotator_table, leaderboard_table
from prefpath.report.words import Answer


def answer_cards(found: tuple[Answer, ...]) -> str:
    """The three answers the page opens with."""
    cards = "".join(
        f'<article class="card {answer.mood}"><h2>{text(answer.question)}</h2>'
        f'<p class="short">{answer.short}</p>'
        + "".join(f"<p>{sentence}</p>" for sentence in answer.sentences)
        + "</article>"
        for answer in found
    )
    return f'<section class="answers" aria-label="The answer in words">{cards}</section>'


def journey_section() -> str:
    """What the slider is; it stays in view over the sections it moves."""
    return """
<section id="journey" aria-labelledby="journey-title">
<h2 id="journey-title">From social to individuals</h2>
<p>On the left of the slider everybody shares one ranking. Moving right, annotators whose votes
the common ranking explains badly get a ranking or a lean of their own, the most different
first.</p></section>"""


def board_section(data: ReportData, charts: Mapping[str, str]) -> str:
    """What the slider moves: leaderboard, active annotators, error curve."""
    aside = """
<div class="panel"><h3>Who has popped up</h3>
<p id="active-count" aria-live="polite"></p><ul id="active" class="chips"></ul></div>"""
    if "error-curve" in charts:
        aside += f'<div class="panel"><h3>Error on held-out votes</h3>{charts["error-curve"]}</div>'
    return f"""
<section id="board" class="columns" aria-label="Leaderboard, active annotators and error">
<div class="panel"><div class="bar"><h3>Leaderboard</h3>
{search_box("leaderboard", "Search items")}</div>
{leaderboard_table(data)}
{table_foot("leaderboard", data.n_items_shown, len(data.ranking["item"]), "item")}
<p class="note">{_interval_note(data)}{download_link("ranking", data.ranking, "item")}</p>
</div><div class="aside">{aside}</div></section>"""


def slider(data: ReportData) -> str:
    """A native range input over the times; its words change with it."""
    journey = data.journey
    last = len(journey.times) - 1
    place = 100 * journey.chosen / max(last, 1)
    why = "chosen by cross-validation" if journey.error is not None else "chosen"
    return f"""
<div class="slider">
<div class="ends"><label for="time">Social</label>
<span class="middle"><output id="now" for="time">t = {number(journey.times[journey.chosen])},
{why}</output>
<button type="button" id="back" data-why="{why}" hidden>Back to chosen</button></span>
<span>Individuals</span></div>
<div class="range"><input type="range" id="time" min="0" max="{last}" step="1"
 value="{journey.chosen}" aria-label="Time on the path, from social to individuals">
<i class="mark" style="--place:{place:.2f}" aria-hidden="true"></i></div></div>"""


def _interval_note(data: ReportData) -> str:
    if "score_low" not in data.ranking:
        return ""
    n_deviating = data.fitted.active_count[0]
    meaning = text(interval_meaning(data.votes.n_annotators, n_deviating))
    return f"{meaning} They hold at the chosen time and are hidden at others. "


def search_box(table: str, words: str) -> str:
    """A labelled search field for a table."""
    return (
        f'<input type="search" data-table="{table}" placeholder="{words}" aria-label="{words}" '
        'autocomplete="off">'
    )


def table_foot(table: str, shown: int, total: int, noun: str) -> str:
    """What is left out of a table, said; and a button for what is only folded away."""
    note = "" if shown == total else f"The first {shown:,} of {plural(total, noun)} are here."
    return (
        f'<p class="foot"><span class="matches" data-table="{table}" role="status"></span> '
        f'<span>{note}</span> <button type="button" class="all" data-table="{table}" hidden>'
        f"Show all {shown:,}</button></p>"
    )


def annotator_section(data: ReportData) -> str:
    """Who is who: verdicts, evidence, and the ranking of each beside the common one."""
    return f"""
<section id="people" aria-labelledby="people-title">
<div class="bar"><h2 id="people-title">Annotators</h2>
{search_box("annotators", "Search annotators")}</div>
<p>Those who stand out come first. Of the annotators a verdict singles out, about
{percent(data.certainty.q)} may be so by chance (false-discovery rate). Open a name for the evidence
and for that annotator’s own ranking. The first column follows the slider:
◆ own taste, ◀ leans left, ▶ leans right; all other figures hold at the chosen time.</p>
{annotator_table(data)}
{table_foot("annotators", data.n_annotators_shown, data.votes.n_annotators, "annotator")}
<p class="note">{download_link("annotators", data.annotators, "annotator")}</p></section>"""


def path_section(data: ReportData, charts: Mapping[str, str]) -> str:
    """The regularization paths."""
    bands = ""
    if data.votes.n_annotators > data.limits.lines:
        bands = (
            f" Grey areas hold half, nine tenths and 99 of 100 of all "
            f"{data.votes.n_annotators:,} annotators; the {data.limits.lines} who go furthest "
            "are lines of their own."
        )
    panels = "".join(
        f'<div class="panel"><h3>{words}</h3>{charts[name]}</div>'
        for name, words in (
            ("deviation-paths", "Own taste"),
            ("bias-paths", "Leaning to a side"),
        )
        if name in charts
    )
    return f"""
<section id="paths" aria-labelledby="paths-title"><h2 id="paths-title">Paths</h2>
<p>Each line is an annotator, and leaves zero when the common ranking no longer explains their
votes. Orange: not zero at the chosen time (dashed); the blue line is the slider.{bands}</p>
<div class="pair">{panels}</div></section>"""


def map_section(data: ReportData) -> str:
    """Heat maps: personal ranks, shares of wins, numbers of battles."""
    n = min(data.limits.cells, data.n_items_shown)
    first = "" if n == data.votes.n_items else f" The first {n} of {data.votes.n_items:,} items."
    return f"""
<section id="maps" aria-labelledby="maps-title"><h2 id="maps-title">Who beats whom</h2>
<p>Blue is further up or more wins, orange further down or fewer.{first}</p>
<div class="maps">{personal_map(data)}{battle_maps(data)}</div></section>"""
