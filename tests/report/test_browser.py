"""The report in Debian's Chromium, from a file, with the network blocked."""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import replace

import numpy as np
import pytest

from prefpath import PreferenceModel, Votes, VoteWarning, simulate_crowd
from prefpath.report import write_report

pytestmark = pytest.mark.browser


def _column(page, table, column):
    """Texts of one column of the visible rows, as the reader sees them."""
    rows = page.locator(f"#{table} > tbody > tr[data-row]:visible")
    return rows.evaluate_all(f"rows => rows.map(row => row.cells[{column}].textContent.trim())")


def _numbers(texts):
    return [float(text.replace("−", "-").replace(",", "").split()[0]) for text in texts]


def test_opens_without_network_errors_or_dialogs(visit, report):
    assert visit.requests == [report.as_uri()]
    assert visit.complaints == []
    assert visit.page.title() == "A <b>&</b> B"
    assert visit.page.locator("h1").text_content() == "A <b>&</b> B"


def test_answers_come_first(visit, model):
    cards = visit.page.locator("main > :first-child .card")
    assert cards.count() == 3
    leader = str(model.ranking_columns()["item"][0])
    assert cards.nth(0).locator(".short").text_content() == leader


def test_every_label_shows_as_text(visit, model):
    items = visit.page.locator("#leaderboard tbody th bdi").all_text_contents()
    assert sorted(item.strip() for item in items) == sorted(
        str(label).strip() for label in model.votes_.items
    )
    visit.page.locator("button.all[data-table=annotators]").click()
    names = _column(visit.page, "annotators", 1)
    assert set(names) == {str(name) for name in model.votes_.annotators}
    assert visit.page.locator("main img, main b, main script").count() == 0


def test_labels_in_details_and_chips_show_as_text(visit, model):
    page = visit.page
    page.locator("#time").fill("11")
    chips = page.locator("#active bdi").all_text_contents()
    assert set(chips) <= {str(name) for name in model.votes_.annotators}
    page.locator("#active button").first.click()
    detail = page.locator("tr.detail")
    assert detail.count() == 1
    shown = set(detail.locator("tbody bdi").all_text_contents())
    assert shown
    assert shown <= {str(label) for label in model.votes_.items}
    assert detail.locator("img, b, script").count() == 0


def test_hovering_a_path_shows_the_label_as_text(visit):
    """Bokeh builds the tooltip: its own escaping is what is tested here."""
    page = visit.page
    chart = page.locator("#chart-deviation-paths")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    tooltip = page.locator(".bk-Tooltip")
    for patience in (20, 200, 2000):  # milliseconds: a busy machine answers the mouse late
        for share in np.linspace(0.15, 0.85, 30):
            page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + share * box["height"])
            page.wait_for_timeout(patience)
            if tooltip.count() and tooltip.first.is_visible():
                break
        if tooltip.count():
            break
    else:
        pytest.fail("no line of the chart answered the mouse")
    assert tooltip.locator("b, script").count() == 0


def test_moving_the_slider_moves_everything(visit, model):
    page = visit.page
    before = (_column(page, "leaderboard", 3), page.locator("#active li").all_text_contents())
    page.locator("#time").fill("0")
    scores = _numbers(_column(page, "leaderboard", 3))
    times = model.path_.times
    expected = np.sort(model.path_.scores(0.95 * float(times[0])))[::-1]
    np.testing.assert_allclose(scores, expected, atol=0.006)
    assert page.locator("#active li").count() == 0
    assert "Nobody: one ranking" in page.locator("#active-count").text_content()
    page.locator("#time").fill("12")
    after = (_column(page, "leaderboard", 3), page.locator("#active li").all_text_contents())
    assert after[0] != before[0]
    assert len(after[1]) > len(before[1])
    active = sum(model.path_.active_count(float(times[-1])))
    words = page.locator("#active-count").text_content()
    assert sum(int(n) for n in words.replace(",", " ").split() if n.isdigit()) == active


def test_the_slider_moves_the_marker_on_the_error_curve(visit, model):
    page = visit.page
    where = """() => Bokeh.documents.flatMap(doc => doc.roots())
        .find(root => root.name === "error-curve")"""
    for k in (2, 9):
        page.locator("#time").fill(str(k + 1))  # 0 is before the first knot
        now = page.evaluate(f"({where})().select_one('now').location")
        dot = page.evaluate(f"({where})().select_one('dot').data_source.data.y[0]")
        assert now == pytest.approx(model.path_.times[k])
        assert dot == pytest.approx(model.cv_.mean[k], abs=1e-4)


def test_intervals_hide_away_from_the_chosen_time(visit):
    page = visit.page
    whisker = page.locator("#leaderboard .whisker").first
    assert whisker.is_visible()
    page.locator("#time").fill("2")
    assert not whisker.is_visible()
    page.get_by_role("button", name="Back to the chosen point").click()
    assert whisker.is_visible()
    assert page.locator("#time").input_value() == "8"


def test_keyboard_alone_moves_the_slider_and_opens_details(visit):
    page = visit.page
    page.locator("#time").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#time").input_value() == "9"
    assert "on the path" in page.locator("#time").get_attribute("aria-valuetext")
    opener = page.locator("#annotators button.open").first
    opener.focus()
    page.keyboard.press("Enter")
    assert page.locator("tr.detail").is_visible()
    assert opener.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Enter")
    assert page.locator("tr.detail").count() == 0


def test_sorting_by_a_heading_both_ways(visit):
    page = visit.page
    heading = page.locator("#leaderboard thead th", has_text="Votes")
    heading.get_by_role("button").click()
    column = heading.evaluate("cell => cell.cellIndex")
    falling = _numbers(_column(page, "leaderboard", column))
    assert falling == sorted(falling, reverse=True)
    assert heading.get_attribute("aria-sort") == "descending"
    heading.get_by_role("button").click()
    rising = _numbers(_column(page, "leaderboard", column))
    assert rising == sorted(rising)
    assert heading.get_attribute("aria-sort") == "ascending"


def test_a_sorted_table_stays_sorted_when_the_slider_moves(visit):
    page = visit.page
    page.locator("#leaderboard thead th", has_text="Rank").get_by_role("button").click()
    page.locator("#time").fill("11")
    assert _numbers(_column(page, "leaderboard", 0)) == list(range(1, 9))


def test_searching_finds_part_of_a_label_and_says_how_many(visit):
    page = visit.page
    page.get_by_label("Search items").fill("BANANA")
    found = page.locator("#leaderboard tbody tr:visible bdi").all_text_contents()
    assert found == ["🍌 banana <!-- "]
    assert page.locator(".matches[data-table=leaderboard]").text_content() == "1 found."
    page.get_by_label("Search items").fill("nothing like it")
    assert _column(page, "leaderboard", 1) == []


def test_a_chip_leads_to_the_annotator(visit):
    page = visit.page
    chip = page.locator("#active button").last
    name = chip.locator("bdi").text_content()
    chip.click()
    opened = page.locator("button.open[aria-expanded=true]")
    assert opened.text_content() == name
    assert opened.evaluate("node => node === document.activeElement")


def test_details_show_the_own_ranking_beside_the_common_one(visit, model):
    page = visit.page
    people = model.annotator_columns()
    who = str(people["annotator"][np.argmax(people["deviation"])])
    page.get_by_label("Search annotators").fill(who)
    page.locator("#annotators button.open:visible").first.click()
    rows = page.locator("tr.detail table tbody tr")
    common = [str(item) for item in model.ranking_columns()["item"]]
    own = [str(item) for item in model.ranking_columns(who)["item"]]
    assert rows.locator("td:nth-child(2)").all_text_contents() == common
    assert rows.locator("td:nth-child(3)").all_text_contents() == own
    assert common != own


@pytest.mark.parametrize("name", ["deviation-paths", "bias-paths", "error-curve"])
def test_charts_are_painted(visit, name):
    from PIL import Image

    shot = visit.page.locator(f"#chart-{name}").screenshot()
    colours = Image.open(io.BytesIO(shot)).convert("RGB").getcolors(1 << 20)
    blue_or_orange = [c for n, c in colours if max(c) - min(c) > 90]
    assert len(blue_or_orange) > 5


def test_downloads_hold_the_whole_table(visit, model):
    links = visit.page.locator("a.download")
    assert links.count() == 2
    head, data = links.nth(1).get_attribute("href").split(",", 1)
    assert head == "data:text/csv;charset=utf-8;base64"
    written = base64.b64decode(data).decode("utf-8")
    assert written.startswith("annotator,")
    assert all(str(name).split('"')[0] in written for name in model.votes_.annotators)


LOOKS = [
    pytest.param({"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"}, id="desk"),
    pytest.param({"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"}, id="dark"),
    pytest.param({"viewport": {"width": 390, "height": 844}, "color_scheme": "light"}, id="phone"),
]


@pytest.mark.parametrize("options", LOOKS)
def test_no_serious_violation_of_accessibility(browser, report, open_report, options):
    from axe_playwright_python.sync_playwright import Axe

    visit = open_report(browser, report, **options)
    visit.page.locator("button.open:visible").first.click()
    found = Axe().run(visit.page).response["violations"]
    visit.context.close()
    serious = [
        (one["id"], [node["target"] for node in one["nodes"]][:3])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("options", LOOKS)
def test_nothing_is_wider_than_the_screen(browser, report, open_report, options, tmp_path):
    visit = open_report(browser, report, **options)
    width = visit.page.evaluate("document.documentElement.scrollWidth")
    visit.page.screenshot(path=tmp_path / "report.png", full_page=True)
    visit.context.close()
    assert width == options["viewport"]["width"]


def test_dark_and_light_follow_the_reader(visit):
    page = visit.page
    colour = "getComputedStyle(document.body).backgroundColor"
    axis = """[...Bokeh.documents[0].roots()[0].references()]
        .find(model => model.type === "LogAxis").major_label_text_color"""
    light = (page.evaluate(colour), str(page.evaluate(axis)))
    page.emulate_media(color_scheme="dark")
    for shown, before in zip((colour, f"String({axis})"), light, strict=True):
        page.wait_for_function(f"before => ({shown}) !== before", arg=before)  # or it fails


def test_paper_has_no_controls(visit):
    visit.page.emulate_media(media="print")
    assert not visit.page.get_by_label("Search items").is_visible()
    assert not visit.page.locator("nav").is_visible()
    assert visit.page.locator("#leaderboard").is_visible()


def test_a_script_that_is_not_ours_cannot_run(browser, report, open_report, tmp_path):
    """Even if escaping failed, the page's own policy would stop the script."""
    page = report.read_text(encoding="utf-8").replace(
        "<footer>", "<script>document.title = 'taken over'</script><footer>"
    )
    broken = tmp_path / "broken.html"
    broken.write_text(page, encoding="utf-8")
    visit = open_report(browser, broken)
    title = visit.page.title()
    visit.context.close()
    assert title == "A <b>&</b> B"
    assert any("Content Security Policy" in words for words in visit.complaints)


def test_an_item_shows_whom_it_met(visit, model):
    page = visit.page
    page.locator("#leaderboard button.item").first.click()
    met = page.locator("#leaderboard tr.detail li")
    assert met.count() == 7  # all others
    assert set(met.locator("bdi").all_text_contents()) <= {str(x) for x in model.votes_.items}
    assert "of" in met.first.text_content()


def test_pairs_have_intervals_that_hold_their_share(visit, model):
    page = visit.page
    share, interval = _column(page, "pairs", 3), _column(page, "pairs", 4)
    assert len(share) == 8 * 7 // 2
    first, second = model.ranking_columns()["item"][:2]
    expected = model.win_probability(first, second)
    assert share[0].startswith(f"{100 * expected['probability']:.0f}")
    low, high = interval[0].replace("\u202f%", "").split(" to ")
    assert (int(low), int(high)) == (
        round(100 * expected["low"]),
        round(100 * expected["high"]),
    )


@pytest.fixture(scope="module")
def two_groups(tmp_path_factory):
    rng = np.random.default_rng(0)
    left, right, who = [], [], []
    for names, n in ((["ant", "bee", "cat"], 90), (["x", "y", "z"], 60)):
        for _ in range(n):
            a, b = rng.choice(names, 2, replace=False)
            left.append(str(a))
            right.append(str(b))
            who.append(f"u{rng.integers(12)}")
    votes = Votes.from_arrays(who, left, right, np.where(rng.random(150) < 0.6, 1, -1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VoteWarning)
        model = PreferenceModel(cv=2, n_times=6, t_ratio=6.0).fit(votes)
        return model.report(tmp_path_factory.mktemp("groups") / "groups.html")


@pytest.mark.parametrize("width", [1400, 768, 390])
def test_groups_that_never_met_have_a_board_each(browser, two_groups, open_report, width):
    opened = open_report(browser, two_groups, viewport={"width": width, "height": 900})
    page = opened.page
    card = page.locator(".card").first
    assert "2 separate groups" in card.text_content()
    assert "lead is clear: no other item can be first" not in card.locator("p").first.text_content()
    heads = page.locator("#leaderboard tr.group")
    assert heads.count() == 2
    assert all(heads.nth(k).is_visible() for k in range(2))
    ranks = _numbers(_column(page, "leaderboard", 0))
    assert ranks == [1, 2, 3, 1, 2, 3]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    opened.context.close()
    assert opened.complaints == []


def test_a_phone_shows_votes_intervals_and_win_rates(browser, report, open_report, model):
    opened = open_report(browser, report, viewport={"width": 390, "height": 800})
    small = opened.page.locator("#leaderboard small.phone").first
    assert small.is_visible()
    board = model.ranking_columns()
    words = small.text_content().replace("−", "-")
    assert f"{board['score_low'][0]:.2f} to {board['score_high'][0]:.2f}" in words
    assert f"{board['votes'][0]:,.0f} votes" in words
    opened.context.close()


def test_a_phone_does_not_cut_what_tells_long_names_apart(browser, open_report, tmp_path):
    """Ideas that begin and end alike were all "Ide...s & bikes"."""
    votes = simulate_crowd(600, 12, 5, seed=2).votes
    ideas = np.array([f"Idea {k}: more parks & bikes" for k in range(5)], dtype=object)
    model = PreferenceModel(cv=0, n_times=3, t_ratio=2.0).fit(replace(votes, items=ideas))
    opened = open_report(
        browser, model.report(tmp_path / "ideas.html"), viewport={"width": 390, "height": 800}
    )
    cut = opened.page.evaluate(
        "[...document.querySelectorAll('.lead .name, button.item .name')].filter(name => "
        "[name, ...name.querySelectorAll('span')].some(e => e.scrollWidth > e.clientWidth + 1 &&"
        " e.clientWidth || e.scrollHeight > e.clientHeight + 1 && e.clientHeight)).length"
    )
    opened.context.close()
    assert cut == 0


def test_paper_has_the_whole_board_at_the_chosen_time(browser, report, open_report, model):
    opened = open_report(browser, report, viewport={"width": 1000, "height": 900})
    page = opened.page
    page.locator("#time").fill("1")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#time").input_value() == "8"
    assert page.locator("#annotators tbody tr[data-row]:visible").count() == 30
    width = page.locator("#heat-wins").evaluate("t => t.scrollWidth")
    assert width <= page.locator("#heat-wins").evaluate("t => t.parentElement.clientWidth") + 1
    opened.context.close()


def test_names_and_title_are_shown_and_no_folder_of_the_machine(model, tmp_path):
    first = str(model.ranking_columns()["item"][0])
    page = write_report(model, tmp_path / "r.html", title="Ours", names={first: "A <nice> name"})
    words = page.read_text("utf-8")
    assert "A &lt;nice&gt; name" in words
    assert str(tmp_path) not in words
