"""The sections of the page, each as HTML."""

from __future__ import annotations

from collections.abc import Mapping

from prefpath.report.data import ReportData
from prefpath.report.downloads import download_link
from prefpath.report.escape import text
from prefpath.report.format import number, percent, plural
from prefpath.report.heatmaps import battle_maps, personal_map
from prefpath.report.lead import lead_chart
from prefpath.report.own import own_items_panel
from prefpath.report.pairs import pair_table
from prefpath.report.tables import annotator_table, leaderboard_table
from prefpath.report.words import Answer
from prefpath.text import one


def answer_cards(data: ReportData, found: tuple[Answer, ...]) -> str:
    """The answers the page opens with, the first with its picture; what to know before them."""
    warned = "".join(f"<p>{text(sentence)}</p>" for sentence in data.findings.cautions)
    banner = f'<aside class="caution" role="note">{warned}</aside>' if warned else ""
    first, *others = found
    cards = "".join(_card(answer) for answer in others)
    return (
        f'{banner}<section class="answers" aria-label="The answer in words">'
        f'{_card(first, lead_chart(data))}<div class="stack">{cards}</div></section>'
    )


def _card(answer: Answer, picture: str = "") -> str:
    sentences = "".join(f"<p>{sentence}</p>" for sentence in answer.sentences)
    return (
        f'<article class="card {answer.mood}"><h2>{text(answer.question)}</h2>'
        f'<p class="short">{answer.short}</p>{sentences}{picture}</article>'
    )


def journey_section(data: ReportData) -> str:
    """What the slider is; it stays in view over the sections it moves."""
    mark = "the point at which votes that were held out are predicted best"
    if not data.chosen_by_folds:
        mark = "the point that was asked for" if data.fitted.chosen_by_hand else "the path's end"
    return f"""
<section id="journey" aria-labelledby="journey-title">
<h2 id="journey-title">From one ranking for all to everybody alone</h2>
<p>On the left of the slider everybody shares one ranking. Moving right, {data.votes.voter}s
whose votes the common ranking explains badly get a taste or a lean of their own, the most different
first.
The mark is {mark}; everything on this page is said at that point.</p></section>"""


def board_section(data: ReportData, charts: Mapping[str, str]) -> str:
    """What the slider moves: leaderboard, who differs there, error curve."""
    aside = """
<div class="panel"><h3>Who differs at the slider’s point</h3>
<p id="active-count" aria-live="polite"></p><ul id="active" class="chips"></ul>
<p class="note">The path takes in whoever improves predictions. A verdict (below) needs more:
evidence beyond chance.</p></div>"""
    if "error-curve" in charts:
        aside += f'<div class="panel"><h3>Error on held-out votes</h3>{charts["error-curve"]}</div>'
    notes = text(data.findings.meaning_of_intervals or "")
    if notes:
        notes += " They hold at the chosen point and are hidden elsewhere."
    notes += " " + text(data.findings.meaning_of_unbounded or "")
    notes += " " + text(data.findings.meaning_of_position or "")
    notes += " " + text(data.findings.meaning_of_attention or "")
    notes += " " + text(data.findings.meaning_of_scores or "")
    return f"""
<section id="board" aria-label="Leaderboard, who differs, and error">
<div class="panel"><div class="bar"><h3>{_board_title(data)}</h3>
{search_box("leaderboard", "Search items")}</div>
{leaderboard_table(data)}
{table_foot("leaderboard", data.n_items_shown, len(data.ranking["item"]), "item")}
<p class="note">{notes} {download_link("ranking", data.ranking, "item")}</p>
</div><div class="pair">{aside}</div></section>"""


def _board_title(data: ReportData) -> str:
    n = len(data.findings.boards)
    return "Leaderboard" if n == 1 else f"{n:,} leaderboards: one for each group of items"


def slider(data: ReportData) -> str:
    """A native range input over the times; its words change with it."""
    journey = data.journey
    last = len(journey.times) - 1
    place = 100 * journey.chosen / max(last, 1)
    why = "the chosen point" + (", by cross-validation" if data.chosen_by_folds else "")
    return f"""
<div class="slider">
<div class="ends"><label for="time">One ranking for all</label>
<span class="middle"><output id="now" for="time" title="t: time on the path, from one
 ranking for all to everybody alone">{why} (t = {number(journey.times[journey.chosen])})</output>
<button type="button" id="back" data-why="{why}" hidden>Back to the chosen point</button></span>
<span>Everybody alone</span></div>
<div class="range"><input type="range" id="time" min="0" max="{last}" step="1"
 value="{journey.chosen}"
 aria-label="Point on the path, from one ranking for all to everybody alone">
<i class="mark" style="--place:{place:.2f}" aria-hidden="true"></i></div></div>"""


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
    voter = data.votes.voter
    seeing = ", ◐ sees more or less sharply" if data.fitted.problem.attention else ""
    saved = download_link("annotators", data.annotators, voter, data.votes.n_annotators)
    return f"""
<section id="people" aria-labelledby="people-title">
<div class="bar"><h2 id="people-title">{voter.capitalize()}s</h2>
{search_box("annotators", f"Search {voter}s")}</div>
<p>Those who stand out come first. Of the {voter}s a verdict singles out, about
{percent(data.findings.q)} may be so by chance (false-discovery rate). Open a name for the evidence
and for that {voter}’s own ranking. The first column follows the slider:
◆ own taste, ◀ leans left, ▶ leans right{seeing}; all other figures hold at the chosen point.</p>
{annotator_table(data)}
{table_foot("annotators", data.n_annotators_shown, data.votes.n_annotators, voter)}
<p class="note">{saved}</p>{own_items_panel(data)}</section>"""


def path_section(data: ReportData, charts: Mapping[str, str]) -> str:
    """The regularization paths."""
    bands = ""
    if data.votes.n_annotators > data.limits.lines:
        bands = (
            f" Grey areas hold half, nine tenths and 99 of 100 of all "
            f"{data.votes.n_annotators:,} {data.votes.voter}s; the {data.limits.lines} who go "
            "furthest are lines of their own."
        )
    nobody = '<p class="note">Nobody, all along the path.</p>'
    kinds = [("deviation-paths", "Taste: how far from the common ranking")]
    if data.votes.position_known.any():
        kinds.append(("bias-paths", "Lean: to the left above zero, to the right below"))
    panels = "".join(
        f'<div class="panel"><h3>{words}</h3>{charts.get(name, nobody)}</div>'
        for name, words in kinds
    )
    return f"""
<section id="paths" aria-labelledby="paths-title"><h2 id="paths-title">Paths</h2>
<p>Each line is {one(data.votes.voter)}, and leaves zero when the common ranking no longer
explains their votes. Orange: not zero at the chosen point (dashed); the blue line is the slider.
The furthest are named.{bands}</p>
<div class="pair">{panels}</div></section>"""


def map_section(data: ReportData) -> str:
    """Heat maps: personal ranks, shares of wins, numbers of battles."""
    n = min(data.limits.cells, data.n_items_shown)
    first = "" if n == data.votes.n_items else f" The first {n} of {data.votes.n_items:,} items."
    return f"""
<section id="maps" aria-labelledby="maps-title"><h2 id="maps-title">Who beats whom</h2>
<p>Expected shares of votes between the first items, with intervals; then what was seen. Blue is
further up or more wins, orange further down or fewer; the paler, the fewer votes.{first}</p>
{pair_table(data)}
<div class="maps">{personal_map(data)}{battle_maps(data)}</div></section>"""
