"""docs/reference/messages.md: every error and warning of the package, with what to do about it.

    python tools/messages.py docs/reference/messages.md

Read off the source: each of our errors and each `warnings.warn`. What stands in ‹› is filled in
when it is said; a remedy that is computed shows the name of what computes it there, too.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[1] / "src" / "prefpath"
ERRORS = ("VoteError", "SettingError", "MachineError", "MissingExtra")
WARN = "warnings.warn"
# Where users meet them, in the order of their work; what is nowhere here comes last.
PLACES = {
    "Reading votes and features": ("votes", "frames.py"),
    "Trust, circles and simulated crowds": ("trust", "hodge", "simulate", "datasets", "pairs"),
    "Fitting": ("model", "solver", "fit.py", "path.py", "path_files.py", "selection", "checkpoint"),
    "Rankings, intervals and predictions": (
        "inference", "fitted", "leaderboard.py", "predict.py", "comparisons.py", "weak", "plain",
        "estimators.py", "manners.py", "population.py", "fitting.py",
    ),
    "Annotators": ("diagnose", "findings", "caveats.py"),
    "Reports, figures and files": ("report", "plots", "export.py", "tables.py", "writing.py"),
    "Other methods and the paper": ("baselines", "compare", "experiments"),
    "Clusters": ("distributed",),
    "Command line and machine": ("cli", "ahead", "machine.py", "errors.py", "settings.py"),
}  # fmt: skip
ELSEWHERE = "Elsewhere"


class Message(NamedTuple):
    where: str
    line: int
    kind: str
    what: str
    expected: str
    remedy: str


def messages(file: Path) -> Iterator[Message]:
    """All that a file says."""
    where = str(file.relative_to(SOURCE))
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        given = {one.arg: one.value for one in node.keywords if one.arg}
        if name in ERRORS:
            what = _words(node.args[:1]) if name != "MissingExtra" else _missing(node)
            remedy = given.get("remedy") or (node.args[1] if name == "MachineError" else None)
            yield Message(where, node.lineno, name, what, _word(given.get("expected")),
                          _word(remedy))  # fmt: skip
        elif name == WARN:
            kind = ast.unparse(node.args[1]) if len(node.args) > 1 else "UserWarning"
            yield Message(where, node.lineno, kind, _words(node.args[:1]), "", "")


def _missing(node: ast.Call) -> str:
    library, extra, purpose = (_word(one) for one in (*node.args, None, None, None)[:3])
    return f"{purpose} needs {library}: pip install 'prefpath[{extra}]'"


def _words(nodes: list[ast.expr]) -> str:
    return _word(nodes[0]) if nodes else "‹what›"


def _word(node: ast.expr | None) -> str:
    """A message as it is written; computed parts by their names in ‹›."""
    if node is None:
        return ""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_word(part) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _word(node.left) + _word(node.right)
    inside = node.value if isinstance(node, ast.FormattedValue) else node
    return f"‹{_short(inside)}›"


def _short(node: ast.expr) -> str:
    """The name a reader may guess from: the last name of what is computed."""
    names = [one.attr if isinstance(one, ast.Attribute) else one.id for one in ast.walk(node)
             if isinstance(one, ast.Attribute | ast.Name)]  # fmt: skip
    useful = [name for name in names if name not in ("self", "len", "str", "repr", "join", "map")]
    return (useful or names or ["..."])[-1].strip("_")


def everything() -> list[Message]:
    return [one for file in sorted(SOURCE.rglob("*.py")) for one in messages(file)]


def page(found: list[Message]) -> str:
    lines = [_HEAD]
    for place in (*PLACES, ELSEWHERE):
        here = [one for one in found if _place(one) == place]
        if here:
            lines += [
                f"## {place}\n",
                "| it says | expected | remedy | kind |",
                "|---|---|---|---|",
            ]
            rows = dict.fromkeys(_row(one) for one in here)
            lines += [*rows, ""]
    return "\n".join(lines)


def _place(message: Message) -> str:
    first = message.where.split("/")[0]
    return next((place for place, parts in PLACES.items() if first in parts), ELSEWHERE)


def _row(message: Message) -> str:
    cells = [message.what, message.expected, message.remedy]
    return "| " + " | ".join([*map(_cell, cells), message.kind]) + " |"


def _cell(text: str) -> str:
    escaped = text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
    return " ".join(escaped.split())


_HEAD = """# Every error and warning

Made by `make docs` from the source (`tools/messages.py`), so none is missing. In ‹› stands what
is filled in when it is said: your labels, your rows, a number. Errors of votes add `where:` with
row numbers, counted from 1 without the header.

- `VoteError`: the votes, or what belongs to them, cannot be used as they are. Exit code 1.
- `SettingError`: a setting cannot be used as it is. Exit code 1.
- `MachineError`: the disk, the memory, a file's permissions; neither the votes nor a setting.
- `MissingExtra`: an optional library is not installed; the message is the command that installs it.
- `VoteWarning`: something was left out or cannot be identified. Nothing need be done unless it
  surprises you; in Python, `warnings.simplefilter("ignore", prefpath.VoteWarning)` silences it.
- `DeprecationWarning`: an old name still works; the message has the new one.
"""


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(everything()) + "\n", "utf-8")
