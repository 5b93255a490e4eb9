"""The house rules in figures: lines a function, parameters a function, lines a file.

    python tools/measure.py            # exit code 1 if a rule is broken
    python tools/measure.py --list     # also who is nearest to the limits

A body is counted without its docstring, blank lines and comments, parameters without self.
Public faces may take more than eight parameters: functions, classes and their public methods in
`prefpath.__all__`, constructors of baselines (scikit-learn's manners), commands, and the few
named in `FACES`.
"""

from __future__ import annotations

import ast
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).resolve().parents[1] / "src" / "prefpath"
MEDIAN_BODY, MOST_PARAMETERS, MOST_LINES = 8, 8, 350
# Documented faces of a part of the package: each takes the settings of a user by name.
FACES = {
    "compare/run.py: compare_methods",
    "report/write.py: write_report",
    "model/problem.py: build",  # the settings of `fit_path`
    "selection/cross_validation.py: cross_validate",
    "selection/cross_validation.py: follow_until_settled",
    "inference/common.py: estimate_common",  # deprecated, as it was in 0.1.0
}


class Function(NamedTuple):
    where: str
    name: str
    body: int
    parameters: int
    is_face: bool


def functions(file: Path, public: frozenset[str]) -> list[Function]:
    """Every function of a file with its measures."""
    text, where = file.read_text("utf-8"), str(file.relative_to(SOURCE))
    code = {number for number, line in enumerate(text.splitlines(), 1) if _is_code(line)}
    tree = ast.parse(text)
    owner = {
        part: node.name
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for part in node.body
    }
    return [
        Function(
            where,
            node.name,
            _body(node, code),
            _parameters(node),
            _is_face(where, node, owner.get(node), public),
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]


def _is_face(where: str, node: ast.FunctionDef, owner: str | None, public: frozenset[str]) -> bool:
    """Whether users call it by its parameters' names: the package's own names, and commands."""
    constructor = node.name == "__init__"
    if f"{where}: {node.name}" in FACES:
        return True
    if where.startswith("baselines/") and constructor:
        return True
    if any(ast.unparse(one).startswith("app.command") for one in node.decorator_list):
        return True
    if owner is None:
        return node.name in public
    return owner in public and (constructor or not node.name.startswith("_"))


def _public_names() -> frozenset[str]:
    """`prefpath.__all__`, read without importing the package."""
    for node in ast.parse((SOURCE / "__init__.py").read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return frozenset(ast.literal_eval(node.value))
    raise SystemExit("prefpath/__init__.py has no __all__ that can be read")


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _body(node: ast.FunctionDef, code: set[int]) -> int:
    first = node.body[1:] if ast.get_docstring(node) is not None else node.body
    if not first:
        return 0
    return len(code & set(range(first[0].lineno, (node.end_lineno or 0) + 1)))


def _parameters(node: ast.FunctionDef) -> int:
    """All but self, keyword-only ones, too."""
    given = node.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def main() -> int:
    files = sorted(SOURCE.rglob("*.py"))
    found = [one for file in files for one in functions(file, _public_names())]
    bodies = [one.body for one in found if one.body]
    median = statistics.median(bodies)
    wide = [one for one in found if one.parameters > MOST_PARAMETERS and not one.is_face]
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
