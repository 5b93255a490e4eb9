"""Heat maps as tables: every cell can be read, copied, printed and heard."""

from __future__ import annotations

from collections.abc import Sequence

from prefpath.plots.tally import pair_tables
from prefpath.report.data import ReportData
from prefpath.report.escape import one_line, text
from prefpath.report.format import count

_PEOPLE_SHOWN = 12
_VOTES_FOR_FULL_COLOUR = 20.0
_FEW_VOTES = 5


def battle_maps(data: ReportData) -> str:
    """Share of votes the row's item won against the column's, and how many there were."""
    codes = data.item_codes[: data.limits.cells]
    share, battles = pair_tables(data.votes, codes)
    names = [data.name(name) for name in data.votes.items[codes]]
    most = float(battles.max()) or 1.0
    wins = [
        [_share_cell(share[i, j], battles[i, j]) if battles[i, j] else _EMPTY
         for j in range(len(codes))]
        for i in range(len(codes))
    ]  # fmt: skip
    counts = [
        [_cell(count(battles[i, j]), battles[i, j] / most) if battles[i, j] else _EMPTY
         for j in range(len(codes))]
        for i in range(len(codes))
    ]  # fmt: skip
    return _map(
        "wins", "Percent of votes won: the row’s item against the column’s", names, names, wins
    ) + _map("battles", "Number of votes on each pair", names, names, counts)


def personal_map(data: ReportData) -> str:
    """Ranks by annotators with a taste of their own, beside the common rank; empty if none."""
    personal = data.personal
    who = list(personal.own_rank)[:_PEOPLE_SHOWN]
    if not who:
        return ""
    codes = data.item_codes[: data.limits.cells]
    names = [data.name(name) for name in data.votes.items[codes]]
    people = [str(name) for name in data.votes.annotators[who]]
    rows = [
        [_cell(str(personal.common_rank[i]), 0.0),
         *(_shift(int(personal.common_rank[i]), int(personal.own_rank[u][i]), len(data.votes.items))
           for u in who)]
        for i in codes
    ]  # fmt: skip
    return _map(
        "personal",
        "Rank of each item: in common, and for those with a taste of their own",
        names,
        ["in common", *people],
        rows,
    )


_EMPTY = '<td class="empty"><span class="unseen">never compared</span></td>'


def _cell(shown: str, heat: float) -> str:
    """A cell whose colour goes from orange (-1) over none (0) to blue (1)."""
    side = "up" if heat > 0 else "down"
    return f'<td class="{side}" style="--heat:{min(abs(heat), 1.0):.2f}">{text(shown)}</td>'


def _share_cell(share: float, battles: float) -> str:
    """A share of votes; the fewer votes it rests on, the paler it is."""
    sure = min(1.0, battles / _VOTES_FOR_FULL_COLOUR)
    heat, side = sure * abs(2.0 * share - 1.0), "up" if share > 0.5 else "down"
    few = " few" if battles < _FEW_VOTES else ""
    noun = "vote" if battles == 1 else "votes"
    return (
        f'<td class="{side}{few}" style="--heat:{heat:.2f}" title="of {count(battles)} {noun}">'
        f"{text(round(100 * share))}</td>"
    )


def _shift(common: int, own: int, n_items: int) -> str:
    """A rank: bluer the further this annotator places the item up, more orange if down."""
    # Half the length of the list is a long way: full colour.
    return _cell(str(own), 2.0 * (common - own) / max(n_items - 1, 1))


def _map(
    name: str,
    caption: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[str]],
) -> str:
    head = "".join(f'<th scope="col">{one_line(column)}</th>' for column in columns)
    body = "".join(
        f'<tr><th scope="row" title="{text(row)}">{one_line(row)}</th>{"".join(line)}</tr>'
        for row, line in zip(rows, cells, strict=True)
    )
    return (
        f'<div class="panel map"><h3>{text(caption)}</h3>'
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}">'
        f'<table class="heat" id="heat-{name}"><caption>{text(caption)}</caption>'
        f"<thead><tr><td></td>{head}</tr></thead><tbody>{body}</tbody></table></div></div>"
    )
