"""Text for a terminal: nothing in a label commands it, and words stay whole in a narrow one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markup import escape
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from prefpath.text import abridged, printable, printable_lines

# What JSON need not escape and a terminal may obey: the second set of control characters, and
# those that turn the direction of the text around them.
_NOT_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class SafeConsole(Console):
    """A console that obeys this program only: commands inside a text are shown as text."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As Rich's; whatever is shown passes here, before colours become commands."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(printable_lines(segment.text), segment.style)


def json_text(data: Any, *, ascii_only: bool) -> str:
    """JSON with labels as they are, but for what a terminal would obey or cannot show."""
    written = json.dumps(data, ensure_ascii=ascii_only, allow_nan=False, indent=2)
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


_LABELS_CUT_TO = (None, 40, 28, 20)


def _narrowest(column: Sequence[str], side: str) -> int:
    """The width a column needs: of numbers all of them, of text (and the heading) its words."""
    heading, *cells = column
    whole = [heading.split(), *([cell] if side == "right" else cell.split() for cell in cells)]
    return max((cell_len(word) for words in whole for word in words), default=0)


@dataclass(frozen=True)
class Listing:
    """A table where it fits; where words would be cut, each row as a short paragraph.

    Attributes
    ----------
    title : str
    columns : sequence of (heading, "left" or "right")
    rows : sequence of rows
        Cells are shown as plain text.
    """

    title: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]

    @classmethod
    def of(
        cls, title: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]
    ) -> Listing:
        return cls(title, columns, [[printable(cell) for cell in row] for row in rows])

    def __rich_console__(self, _: Console, options: ConsoleOptions) -> RenderResult:
        room = options.max_width - 2 * len(self.columns) - 1
        for most in _LABELS_CUT_TO:
            listing = self if most is None else self._with_labels_cut(most)
            widths = listing._widths(room)
            if widths is not None and (most == _LABELS_CUT_TO[-1] or listing._is_flat(widths)):
                if self.title:  # by itself: Rich would wrap it at the width of a narrow table
                    yield Text(printable(self.title), style="bold")
                yield listing._table(widths)
                return
        yield from self._paragraphs()

    def _is_flat(self, widths: Sequence[int]) -> bool:
        """Whether no row has more than about two lines."""
        return all(
            cell_len(cell) <= 2 * width
            for row in self.rows
            for cell, width in zip(row, widths, strict=True)
        )

    def _with_labels_cut(self, most: int) -> Listing:
        """The same with long labels cut in their middle."""
        text = [side == "left" for _, side in self.columns]
        rows = [
            [abridged(c, most) if left else c for c, left in zip(row, text, strict=True)]
            for row in self.rows
        ]
        return replace(self, rows=rows)

    def _widths(self, room: int) -> list[int] | None:
        """Widths of the columns that cut no word; None if there is no room for them.

        Rich would narrow the widest columns whatever stands in them. Numbers are never broken.
        """
        cells = [[heading for heading, _ in self.columns], *self.rows]
        whole = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        words = [
            _narrowest(column, side)
            for column, (_, side) in zip(zip(*cells, strict=True), self.columns, strict=True)
        ]
        if sum(words) > room:
            return None
        spare, missing = room - sum(words), max(1, sum(whole) - sum(words))
        share = min(1.0, spare / missing)
        return [
            least + int(share * (most - least)) for least, most in zip(words, whole, strict=True)
        ]

    def _table(self, widths: Sequence[int]) -> Table:
        result = Table(
            header_style="bold",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            padding=(0, 1, 0, 0),
        )
        for (heading, side), width in zip(self.columns, widths, strict=True):
            justify: Any = "right" if side == "right" else "left"
            result.add_column(escape(heading), justify=justify, overflow="fold", width=width)
        for row in self.rows:
            result.add_row(*(escape(cell) for cell in row))
        return result

    def _paragraphs(self) -> Iterable[Any]:
        """The label in a line of its own, and what is known of it below."""
        headings = [heading for heading, _ in self.columns]
        name = next((k for k, (_, side) in enumerate(self.columns) if side == "left"), 0)
        yield Text(printable(self.title), style="bold")
        for row in self.rows:
            told = [
                f"{heading}: {cell}"
                for k, (heading, cell) in enumerate(zip(headings, row, strict=True))
                if k != name and cell
            ]
            yield Text(row[name], style="bold")
            yield Padding(Text("; ".join(told)), (0, 0, 0, 2))
