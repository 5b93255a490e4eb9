"""Small errors put into the mathematics one at a time: which do the tests notice?

    python tools/mutants.py                      # all targets (an hour); prints the score
    python tools/mutants.py losses --most 30     # one target, thirty errors drawn at random
    python tools/mutants.py --list

Compiled code runs uncompiled (NUMBA_DISABLE_JIT=1). An error is one changed operator, comparison,
constant or call in one place of a copy of the source; it is noticed if one of the target's tests
fails or takes far too long. Survivors are listed: each is a missing test, or changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# The file, and the tests that are there to notice errors in it.
TARGETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "losses": ("model/losses.py", ("tests/model/test_losses.py",)),
    "scalar-losses": ("model/scalar_losses.py", ("tests/model/test_losses.py",)),
    "penalties": ("model/penalties.py", ("tests/model/test_penalties.py",)),
    "integrator": ("solver/rkc.py", ("tests/solver/test_parts_of_flow.py",)),
    "encoding": ("votes/encode.py", ("tests/votes/test_encode.py", "tests/votes/test_rules.py")),
    "sandwich": ("inference/sandwich.py", ("tests/inference/test_sandwich_by_hand.py",)),
    "multiplicity": ("diagnose/multiplicity.py", ("tests/diagnose/test_p_values.py",)),
    "verdicts": ("diagnose/verdicts.py", ("tests/diagnose/test_verdicts.py",)),
    "writing": ("writing.py", ("tests/test_writing.py", "tests/test_export.py")),
}
_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def places(tree: ast.Module) -> list[int]:
    """Numbers of the nodes, in the order of `ast.walk`, that can be changed."""
    inside = {id(node) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)
              for node in ast.walk(one)}  # fmt: skip
    return [
        number
        for number, node in enumerate(ast.walk(tree))
        if id(node) in inside and changed(copy.deepcopy(node)) is not None
    ]


def changed(node: ast.AST) -> str | None:
    """Change a node in place; say how, None if it is of no kind that is changed."""
    if isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in _SWAPPED:
        before = type(node.op)
        node.op = _SWAPPED[before]()  # type: ignore[assignment]
        return f"{before.__name__} -> {_SWAPPED[before].__name__}"
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPPED:
        before_op = type(node.ops[0])
        node.ops[0] = _SWAPPED[before_op]()  # type: ignore[call-overload]
        return f"{before_op.__name__} -> {_SWAPPED[before_op].__name__}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node.op = ast.UAdd()
        return "-x -> +x"
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        node.value = node.value + 1
        return f"{node.value - 1} -> {node.value}"
    return None


def mutant(source: str, number: int) -> tuple[str, str]:
    """The source with one node changed, and what was changed where."""
    tree = ast.parse(source)
    node = list(ast.walk(tree))[number]
    line = getattr(node, "lineno", 0)
    how = changed(node)
    return ast.unparse(tree), f"line {line}: {how}"


def run_tests(copy_of_source: Path, tests: tuple[str, ...], seconds: float) -> bool:
    """Whether all tests pass on this copy."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy_of_source),
        "NUMBA_DISABLE_JIT": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # Words that wrap around are meant to; uncompiled, NumPy warns of it.
    quiet = ["-W", "ignore:overflow encountered:RuntimeWarning"]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *quiet, *tests]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def judge(name: str, most: int | None, seed: int) -> tuple[int, int]:
    """Try the errors of one target; how many there were and how many were noticed."""
    where, tests = TARGETS[name]
    tests = tuple(test for test in tests if (ROOT / test).exists())
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        file = source / "prefpath" / where
        sound = file.read_text("utf-8")
        began = time.monotonic()
        if not tests or not run_tests(source, tests, 900.0):
            print(f"{name}: its tests {tests or 'are missing or'} fail without any error put in")
            return 0, 0
        limit = 5.0 * (time.monotonic() - began) + 10.0
        numbers = places(ast.parse(sound))
        if most is not None and most < len(numbers):
            numbers = random.Random(seed).sample(numbers, most)
        survivors = []
        for number in numbers:
            text, how = mutant(sound, number)
            file.write_text(text, "utf-8")
            if run_tests(source, tests, limit):
                survivors.append(how)
                print(f"  survived: {where} {how}", flush=True)
    noticed = len(numbers) - len(survivors)
    print(f"{name}: {noticed} of {len(numbers)} noticed ({noticed / len(numbers):.0%})", flush=True)
    return len(numbers), noticed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *TARGETS], help=", ".join(TARGETS))
    parser.add_argument("--most", type=int, help="at most so many errors a target, at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="only count them")
    options = parser.parse_args()
    names = options.names or list(TARGETS)
    if options.list:
        for name in names:
            text = (ROOT / "src" / "prefpath" / TARGETS[name][0]).read_text("utf-8")
            print(f"{name:<14}{len(places(ast.parse(text))):>5}  {TARGETS[name][0]}")
        return 0
    found = [judge(name, options.most, options.seed) for name in names]
    tried, noticed = (sum(one) for one in zip(*found, strict=True))
    print(f"score: {noticed} of {tried} noticed ({noticed / max(tried, 1):.0%})")
    return int(noticed < 0.85 * tried)


if __name__ == "__main__":
    sys.exit(main())
