"""Charts with axes, by Bokeh: the held-out error, and the paths of the annotators."""

from __future__ import annotations

from typing import Any

import numpy as np

from prefpath.errors import MissingExtra
from prefpath.model.design import Floats
from prefpath.report.data import ReportData
from prefpath.report.format import percent, plural
from prefpath.report.journey import Lines

# Okabe and Ito's colours, the blue one lighter: each is told from the others by everybody,
# and from a white and from a black page.
BLUE, ORANGE, GREEN, GREY = "#2a85c7", "#d55e00", "#009e73", "#8a939e"

_HEIGHT = 300
_NAMED_LINES = 8
_LINE_OF_TEXT = 0.055  # of the height of a chart
_ROOM_FOR_NAMES = 0.45  # of the length of the path: names of 12 letters fit on a phone
_LETTERS = 12


def charts(data: ReportData) -> dict[str, tuple[Any, str]]:
    """Bokeh figures by name, each with the words that describe it; none of what is all zero."""
    found = {}
    if data.journey.deviation.n_active.any():
        found["deviation-paths"] = (_paths(data, "deviation"), _describe(data, "deviation"))
    if data.journey.position_bias.n_active.any():
        found["bias-paths"] = (_paths(data, "position_bias"), _describe(data, "position_bias"))
    if data.journey.error is not None:
        found["error-curve"] = (_error_curve(data), _describe_error(data))
    return found


def chart_items(found: dict[str, tuple[Any, str]]) -> dict[str, Any]:
    """The figures as Bokeh's JSON, for its own `embed_item`."""
    from bokeh.embed import json_item

    return {name: json_item(figure) for name, (figure, _) in found.items()}


def bokeh_script() -> str:
    """Bokeh's own JavaScript, as its package ships it."""
    try:
        from bokeh.resources import Resources
    except ImportError as error:
        raise MissingExtra("Bokeh", "report", "a report") from error
    return "\n".join(Resources(mode="inline", components=["bokeh"]).js_raw)


def _figure(data: ReportData, name: str, y_label: str, **options: Any) -> Any:
    """An empty chart over log t with the chosen point, and a marker the slider moves."""
    try:
        from bokeh.models import DataRange1d, FixedTicker, NumeralTickFormatter
        from bokeh.models.annotations import Span
        from bokeh.plotting import figure
    except ImportError as error:
        raise MissingExtra("Bokeh", "report", "a report") from error
    journey = data.journey
    plot = figure(
        name=name,
        height=_HEIGHT,
        sizing_mode="stretch_width",
        x_axis_type="log",
        x_range=DataRange1d(range_padding=0.02),
        x_axis_label="from one ranking to everybody alone (t)",
        y_axis_label=y_label,
        tools="",
        toolbar_location=None,
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        min_border_right=12,
        **options,
    )
    plot.xaxis.ticker = FixedTicker(ticks=_round_times(journey.times))
    plot.xaxis.formatter = NumeralTickFormatter(format="0,0.[0000]")
    plot.xgrid.visible = False
    chosen = float(journey.times[journey.chosen])
    for mark in (
        Span(location=chosen, dimension="height", line_color=GREY, line_dash="dashed"),
        Span(location=chosen, dimension="height", line_color=BLUE, line_width=2, name="now"),
    ):
        plot.add_layout(mark)
    return plot


def _round_times(times: Floats) -> list[float]:
    """1, 2, 5, 10, ... between the first and the last time: few enough for a phone."""
    decades = 10.0 ** np.arange(np.floor(np.log10(times[0])), np.ceil(np.log10(times[-1])) + 1)
    steps = (1.0, 2.0, 5.0) if len(decades) <= 4 else (1.0,)
    ticks = np.sort(np.outer(decades, steps).ravel())
    kept: list[float] = ticks[(ticks >= times[0]) & (ticks <= times[-1])].tolist()
    return kept


def _error_curve(data: ReportData) -> Any:
    from bokeh.models import NumeralTickFormatter

    journey = data.journey
    assert journey.error is not None and journey.error_se is not None
    label = "votes predicted wrong" if journey.criterion == "mismatch" else "log-loss"
    plot = _figure(data, "error-curve", f"held-out {label}")
    low, high = journey.error - journey.error_se, journey.error + journey.error_se
    plot.varea(journey.times, low, high, fill_color=BLUE, fill_alpha=0.18)
    plot.line(journey.times, journey.error, line_color=BLUE, line_width=2.5)
    now = [journey.chosen]
    plot.scatter(
        journey.times[now], journey.error[now], size=11, color=BLUE, line_color="white", name="dot"
    )
    if journey.criterion == "mismatch":
        plot.yaxis.formatter = NumeralTickFormatter(format="0.0%")
    return plot


def _paths(data: ReportData, kind: str) -> Any:
    """One line an annotator; in a large crowd the furthest lines, and bands for everybody."""
    journey = data.journey
    lines: Lines = getattr(journey, kind)
    label = "size of deviation" if kind == "deviation" else "position bias (left above 0)"
    plot = _figure(data, f"{kind}-paths", label)
    if data.votes.n_annotators > data.limits.lines:
        _bands(plot, journey.times, lines.bands, mirrored=kind != "deviation")
    _lines(plot, data, lines)
    return plot


def _bands(plot: Any, times: Floats, bands: Floats, *, mirrored: bool) -> None:
    """The middle annotator, nine in ten and 99 in 100, as areas under their size."""
    for k, alpha in zip(reversed(range(bands.shape[1])), (0.14, 0.2, 0.3), strict=True):
        upper = bands[:, k]
        plot.varea(
            times, -upper if mirrored else 0 * upper, upper, fill_color=GREY, fill_alpha=alpha
        )


def _lines(plot: Any, data: ReportData, lines: Lines) -> None:
    from bokeh.models import ColumnDataSource, HoverTool

    chosen = lines.values[data.journey.chosen] != 0
    source = ColumnDataSource(
        {
            "xs": [data.journey.times.tolist() for _ in lines.codes],
            "ys": np.round(lines.values, 4).T.tolist(),
            "annotator": [str(name) for name in data.votes.annotators[lines.codes]],
            "colour": np.where(chosen, ORANGE, GREY).tolist(),
            "width": np.where(chosen, 2.0, 1.0).tolist(),
        }
    )
    drawn = plot.multi_line(
        "xs", "ys", source=source, line_color="colour", line_width="width", line_alpha=0.75
    )
    _name_the_furthest(plot, data, lines)
    drawn.hover_glyph = drawn.glyph.clone()
    drawn.hover_glyph.line_width = 4
    plot.add_tools(
        HoverTool(renderers=[drawn], tooltips=[("annotator", "@annotator")], line_policy="interp")
    )


def _name_the_furthest(plot: Any, data: ReportData, lines: Lines) -> None:
    """Names at the right ends of the lines that go furthest, as far as they do not collide."""
    from bokeh.models import ColumnDataSource
    from bokeh.models.annotations import LabelSet

    if not len(lines.codes):
        return
    ends = lines.values[-1]
    spread = float(np.ptp(lines.values)) or 1.0
    kept: list[int] = []
    for k in np.argsort(-np.abs(ends), kind="stable")[: 3 * _NAMED_LINES].tolist():
        if all(abs(ends[k] - ends[other]) > _LINE_OF_TEXT * spread for other in kept):
            kept.append(k)
    kept = kept[:_NAMED_LINES]
    names = [str(name) for name in data.votes.annotators[lines.codes[kept]]]
    source = ColumnDataSource(
        {
            "x": [float(data.journey.times[-1])] * len(kept),
            "y": ends[kept].tolist(),
            "name": [name if len(name) <= _LETTERS else _shortened(name) for name in names],
        }
    )
    plot.add_layout(
        LabelSet(
            x="x", y="y", text="name", source=source, name="line-names", x_offset=4, y_offset=-6,
            text_font_size="11px", text_color=GREY,
        )
    )  # fmt: skip
    first, last = float(data.journey.times[0]), float(data.journey.times[-1])
    plot.x_range.end = last * max(last / first, 2.0) ** _ROOM_FOR_NAMES
    plot.x_range.start = first


def _shortened(name: str) -> str:
    """The beginning and the end, where ids differ: annot…r 17.

    >>> _shortened("annotator number 17")
    'annotat…r 17'
    """
    return f"{name[: _LETTERS - 5]}…{name[-4:]}"


def _describe(data: ReportData, kind: str) -> str:
    journey = data.journey
    n = getattr(journey, kind).n_active
    what = "a deviation" if kind == "deviation" else "a position bias"
    return (
        f"Line chart over t. {plural(int(n[journey.chosen]), data.votes.voter)} have {what} at the "
        f"chosen point and {int(n[-1]):,} at the end of the path. The same figures are in the "
        f"table of {data.votes.voter}s."
    )


def _describe_error(data: ReportData) -> str:
    journey = data.journey
    assert journey.error is not None
    write = percent if journey.criterion == "mismatch" else lambda value, _: f"{value:.3f}"
    first, chosen, last = (
        write(journey.error[k], 1) for k in (0, journey.chosen, len(journey.times) - 1)
    )
    return (
        f"Line chart of the held-out error over t: {first} with one ranking for all, {chosen} at "
        f"the chosen point, {last} with everybody alone."
    )
