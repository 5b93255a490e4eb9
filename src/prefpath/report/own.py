"""Whether annotators favour their own items, as a panel."""

from __future__ import annotations

from prefpath.report.data import ReportData
from prefpath.report.escape import label, text
from prefpath.report.evidence import interval
from prefpath.report.format import fixed, percent
from prefpath.text import one


def own_items_panel(data: ReportData) -> str:
    """Annotators who vote on items of their own name or family; "" where nobody does."""
    found = data.findings.own_items
    if found is None:
        return ""
    sure = found.columns["expected"][0] is not None
    level = f"{data.findings.intervals.level:.0%}".replace("%", " %")
    sizes = (
        ("Expected", f"If equal ({level} interval)") if sure else (f"Favour ({level} interval)",)
    )
    names = (found.voter.capitalize(), "Own", "Votes", "Won", *sizes, "Verdict")
    head = "".join(f'<th scope="col">{text(name)}</th>' for name in names)
    rows = "".join(_row(data, k) for k in range(len(found.items)))
    title = f"Does {one(found.voter)} favour its own?"
    return f"""
<div class="panel" id="own-items"><h3>{text(title)}</h3>
<div class="scroll" role="region" tabindex="0" aria-label="{text(title)}"><table class="own">
<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>
<p class="note">{text(found.meaning)}</p></div>"""


def _row(data: ReportData, k: int) -> str:
    found = data.findings.own_items
    assert found is not None
    columns = found.columns
    own = ", ".join(label(data.findings.name(item)) for item in found.items[k])
    cells = [own, f"{columns['votes'][k]:,.0f}", percent(columns["won"][k])]
    if columns["expected"][k] is None:
        cells.append(fixed(columns["favour"][k]) + interval(columns, "favour", k, fixed))
    else:
        chosen = percent(columns["own_if_equal"][k])
        cells.append(percent(columns["expected"][k]))
        cells.append(chosen + interval(columns, "own_if_equal", k, percent))
    body = "".join(f"<td>{cell}</td>" for cell in (*cells, text(columns["verdict"][k])))
    return f'<tr><th scope="row">{label(columns["annotator"][k])}</th>{body}</tr>'
