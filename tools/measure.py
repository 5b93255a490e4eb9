"""The house rules in figures: lines a function, parameters a function, lines a file.

    python tools/measure.py            # exit code 1 if a rule is broken
    python tools/measure.py --list     # also who is nearest to the limits

A body is counted without its docstring, blank lines and comments. Public faces may take more
than eight parameters: constructors of `PreferenceModel` and baselines, names in
`prefpath.__all__`, commands, and functions whose optional parameters are keyword-only settings.
"""

from __future__ import annotations

import ast
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[1] / "src" / "prefpath"
MEDIAN_BODY, MOST_PARAMETERS, MOST_LINES = 8, 8, 350
FACES = {"cli", "estimators.py", "baselines"}  # commands, the estimator, scikit-learn's manners


class Function(NamedTuple):
    where: str
    name: str
    body: int
    parameters: int


def functions(file: Path) -> list[Function]:
    """Every function of a file with its measures."""
    text = file.read_text("utf-8")
    code = {number for number, line in enumerate(text.splitlines(), 1) if _is_code(line)}
    return [
        Function(str(file.relative_to(SOURCE)), node.name, _body(node, code), _parameters(node))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    ]


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _body(node: ast.FunctionDef, code: set[int]) -> int:
    first = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if not first:
        return 0
    return len(code & set(range(first[0].lineno, (node.end_lineno or 0) + 1)))


def _parameters(node: ast.FunctionDef) -> int:
    """All but self; keyword-only settings of a public function are documented by name."""
    given = node.args
    names = [one.arg for one in (*given.posonlyargs, *given.args)]
    keyword = 0 if not node.name.startswith("_") else len(given.kwonlyargs)
    return len([name for name in names if name not in ("self", "cls")]) + keyword


def main() -> int:
    files = sorted(SOURCE.rglob("*.py"))
    found = [one for file in files for one in functions(file)]
    bodies = [one.body for one in found if one.body]
    median = statistics.median(bodies)
    wide = [
        one
        for one in found
        if one.parameters > MOST_PARAMETERS and one.where.split("/")[0] not in FACES
    ]
    lengths = {file: len(file.read_text("utf-8").splitlines()) for file in files}
    long = {file: n for file, n in lengths.items() if n > MOST_LINES}
    print(
        f"{len(found):,} functions, body median {median:g} lines (at most {MEDIAN_BODY}); "
        f"{len(wide)} with more than {MOST_PARAMETERS} parameters; "
        f"{len(long)} of {len(files)} files above {MOST_LINES} lines"
    )
    for one in wide:
        print(f"  {one.where}: {one.name} takes {one.parameters} parameters")
    for file, n in long.items():
        print(f"  {file.relative_to(SOURCE)}: {n} lines")
    if "--list" in sys.argv:
        for one in sorted(found, key=lambda one: -one.body)[:15]:
            print(f"  {one.where}: {one.name} has {one.body} lines")
    return int(median > MEDIAN_BODY or bool(wide) or bool(long))


if __name__ == "__main__":
    sys.exit(main())
