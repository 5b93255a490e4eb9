"""Text for a terminal: nothing in a label commands it, and words stay whole in a narrow one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

# Control characters (colours, cursor, title of the window), and those that turn the direction
# of the text around them.
_COMMANDS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NOT_LINE_ENDS = re.compile(_COMMANDS.pattern.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))
_ANY_WIDTH = 100_000


def visible(value: Any) -> str:
    r"""A label as text on one line that a terminal shows and does not obey.

    >>> print(visible("\x1b[2Jgone\n"))
    \x1b[2Jgone\n
    """
    return _COMMANDS.sub(_escaped, str(value))


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "annotator"), counted(1_200, "vote")
    ('1 annotator', '1,200 votes')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


class SafeConsole(Console):
    """A console that obeys this program only: commands inside a text are shown as text."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As Rich's; whatever is shown passes here, before colours become commands."""
        for segment in super().render(renderable, options):
            if segment.control or not _NOT_LINE_ENDS.search(segment.text):
                yield segment
            else:
                yield Segment(_NOT_LINE_ENDS.sub(_escaped, segment.text), segment.style)


def json_text(data: Any, *, ascii_only: bool) -> str:
    """JSON with labels as they are, but for what a terminal would obey or cannot show."""
    written = json.dumps(data, ensure_ascii=ascii_only, allow_nan=False, indent=2)
    return _NOT_LINE_ENDS.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


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
        return cls(title, columns, [[visible(cell) for cell in row] for row in rows])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = self._table()
        wide = options.update(max_width=_ANY_WIDTH)
        if Measurement.get(console, wide, table).minimum <= options.max_width:
            yield table
        else:
            yield from self._paragraphs()

    def _table(self) -> Table:
        result = Table(
            title=escape(visible(self.title)),
            title_justify="left",
            title_style="bold",
            header_style="bold",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            padding=(0, 1, 0, 0),
        )
        for heading, side in self.columns:
            # A label that does not fit goes on in the next line: cut off, two may look the same.
            justify: Any = "right" if side == "right" else "left"
            result.add_column(escape(heading), justify=justify, overflow="fold")
        for row in self.rows:
            result.add_row(*(escape(cell) for cell in row))
        return result

    def _paragraphs(self) -> Iterable[Any]:
        """The label in a line of its own, and what is known of it below."""
        headings = [heading for heading, _ in self.columns]
        name = next((k for k, (_, side) in enumerate(self.columns) if side == "left"), 0)
        yield Text(visible(self.title), style="bold")
        for row in self.rows:
            told = [
                f"{heading}: {cell}"
                for k, (heading, cell) in enumerate(zip(headings, row, strict=True))
                if k != name and cell
            ]
            yield Text(row[name], style="bold")
            yield Padding(Text("; ".join(told)), (0, 0, 0, 2))
