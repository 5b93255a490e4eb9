"""Small errors put into the mathematics one at a time: which do the tests notice?

    python tools/mutants.py                      # all targets, at most 40 errors each
    python tools/mutants.py losses --most 1000   # one target, all of its errors
    python tools/mutants.py verdicts --results found.json   # one by one: the score is over the file
    python tools/mutants.py --list

An error is one changed operator, comparison, constant, sign or negation in one place of a copy of
the source; which places are tried is drawn with a fixed seed, and where not all are, the score has
an interval. It is noticed if one of the target's
tests fails or takes far more processor time. Survivors are listed: each is a missing test, or
changes nothing (docs/develop.md).

Every error is tried in a process of its own, forked from one that has loaded the libraries but
nothing of prefpath. Compiled files run uncompiled; around files without compiled functions the
others are compiled, from the cache.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import importlib.util
import json
import math
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIBRARIES = (
    "numpy", "scipy.stats", "scipy.sparse.linalg", "scipy.special", "numba", "sklearn.base",
    "duckdb", "narwhals", "hypothesis", "pandas", "polars", "pytest", "_pytest.doctest",
)  # fmt: skip
# The rules, each by itself; and what can be computed by hand without many crowds.
RULES = "rule or every_word or second_effect or reasons or nothing_is_said or relative or measures"
BY_HAND = "jackknifes or dispersion or told or one_annotator or two_annotators or put_back"
# A wrong line run by root would put a file where a device of the machine is.
NO_DEVICES = "not full_disk"


class Target(NamedTuple):
    """A file, the tests that are there to notice errors in it, and whether it is compiled."""

    file: str
    tests: tuple[str, ...]
    compiled: bool = False


TARGETS = {
    "losses": Target("model/losses.py", ("tests/model/test_losses.py",)),
    "scalar-losses": Target("model/scalar_losses.py", ("tests/model/test_losses.py",), True),
    "penalties": Target("model/penalties.py", ("tests/model/test_penalties.py",), True),
    "integrator": Target("solver/rkc.py", ("tests/solver/test_rkc.py",), True),
    "relaxation": Target("solver/relaxation.py", ("tests/solver/test_relaxation.py",), True),
    "encoding": Target("votes/encode.py", ("tests/votes/test_encode.py",)),
    "sandwich": Target(
        "inference/sandwich.py",
        ("tests/inference/test_sandwich_by_hand.py", "-k", BY_HAND),
    ),
    "multiplicity": Target("diagnose/multiplicity.py", ("tests/diagnose/test_multiplicity.py",)),
    "verdicts": Target(
        "diagnose/verdicts.py",
        ("tests/diagnose/test_verdicts.py", "-k", RULES),
    ),
    "ranks": Target(
        "inference/ranks.py",
        ("tests/inference/test_ranks.py", "-k", "not as_often and not near_ties"),
    ),
    "distributions": Target("distributions.py", ("tests/test_distributions.py",)),
    "writing": Target(
        "writing.py",
        ("tests/test_writing.py", "tests/test_export.py", "-k", NO_DEVICES),
    ),
}
_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.BitAnd: ast.BitOr, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_NAMES = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "any": "all",
          "all": "any"}  # fmt: skip


# ---------------------------------------------------------------- errors


def places(tree: ast.Module) -> list[int]:
    """Numbers of the nodes, in the order of `ast.walk`, that can be changed."""
    kinds = (ast.FunctionDef, ast.Assign)
    inside = {id(node) for one in tree.body + _methods(tree) if isinstance(one, kinds)
              for node in ast.walk(one)}  # fmt: skip
    return [
        number
        for number, node in enumerate(ast.walk(tree))
        if id(node) in inside and changed(copy.deepcopy(node)) is not None
    ]


def _methods(tree: ast.Module) -> list[ast.stmt]:
    return [each for one in tree.body if isinstance(one, ast.ClassDef) for each in one.body]


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
    return _changed_sign(node) or _changed_value(node)


def _changed_sign(node: ast.AST) -> str | None:
    if not isinstance(node, ast.UnaryOp):
        return None
    if isinstance(node.op, ast.USub):
        node.op = ast.UAdd()
        return "-x -> +x"
    if isinstance(node.op, ast.Not):  # `not x` becomes `not not x`
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
        return "not x -> x"
    if isinstance(node.op, ast.Invert):
        node.operand = ast.UnaryOp(ast.Invert(), node.operand)
        return "~x -> x"
    return None


def _changed_value(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        node.value = node.value + 1
        return f"{node.value - 1:g} -> {node.value:g}"
    if isinstance(node, ast.Name) and node.id in _NAMES:
        before, node.id = node.id, _NAMES[node.id]
        return f"{before} -> {node.id}"
    if isinstance(node, ast.Attribute) and node.attr in _NAMES:
        before, node.attr = node.attr, _NAMES[node.attr]
        return f".{before} -> .{node.attr}"
    return None


def mutant(source: str, number: int) -> tuple[str, str]:
    """The source with one node changed, and what was changed where."""
    tree = ast.parse(source)
    node = list(ast.walk(tree))[number]
    line = getattr(node, "lineno", 0)
    how = changed(node)
    words = source.splitlines()[line - 1].strip()
    return ast.unparse(tree), f"line {line}: {how} in `{words}`"


# ---------------------------------------------------------------- trying them


def in_a_process(work: object, *arguments: object, cpu_seconds: float = 0.0) -> tuple[bool, float]:
    """Whether `work(*arguments)` gives 0 in a forked process, and the CPU seconds it took."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if cpu_seconds:
                most = int(cpu_seconds) + 1
                resource.setrlimit(resource.RLIMIT_CPU, (most, most))
            code = int(work(*arguments))  # type: ignore[operator]
        except Exception:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    _, status, usage = os.wait4(child, 0)
    return status == 0, usage.ru_utime + usage.ru_stime


def run_tests(source: Path, tests: tuple[str, ...]) -> int:
    """Exit code of pytest on this copy of the source; nothing is printed."""
    import pytest

    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    os.chdir(ROOT)
    sys.path.insert(0, str(source))
    # Words that wrap around are meant to; uncompiled, NumPy warns of it.
    quiet = ["-W", "ignore:overflow encountered:RuntimeWarning",
             "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # fmt: skip
    # Nobody reads why a test fails, and no plugin but these two has a part in it.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    quick = ["--assert=plain", "-p", "no:cacheprovider", "-p", "pytest_timeout",
             "-p", "_hypothesis_pytestplugin"]  # fmt: skip
    return pytest.main(["-x", "-q", *quick, *quiet, *tests])


def judge(name: str, most: int, seed: int, result: Path) -> int:
    """Try the errors of one target; how many there were and how many were noticed, into a file."""
    target = TARGETS[name]
    _load_libraries(compiler=not target.compiled)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        sys.pycache_prefix = str(Path(folder) / "pyc")
        # Numba's files come along, with their dates: nothing is compiled again.
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("*.pyc"))
        file = source / "prefpath" / target.file
        sound = file.read_text("utf-8")
        fine, spent = in_a_process(run_tests, source, target.tests)
        if not fine:
            print(f"{name}: its tests fail without any error put in")
            return 1
        numbers = places(ast.parse(sound))
        chosen = sorted(random.Random(seed).sample(numbers, min(most, len(numbers))))
        noticed = 0
        for number in chosen:
            text, how = mutant(sound, number)
            file.write_text(text, "utf-8")
            Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)
            passes, _ = in_a_process(
                run_tests, source, target.tests, cpu_seconds=5.0 * spent + 10.0
            )
            noticed += not passes
            if passes:
                print(f"  survived: {target.file} {how}", flush=True)
    result.write_text(f"{len(chosen)} {noticed} {len(numbers)}")
    return 0


def _load_libraries(compiler: bool) -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if not compiler:
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    for library in LIBRARIES:
        importlib.import_module(library)
    sys.dont_write_bytecode = False
    gc.freeze()  # the children need not look through the libraries for garbage


class Judged(NamedTuple):
    """Of one target: errors tried, noticed, and the places there are."""

    tried: int
    noticed: int
    places: int


def judged(name: str, most: int, seed: int) -> Judged | None:
    """What became of one target's errors, said in a line; None if its tests fail without any."""
    with tempfile.TemporaryDirectory() as folder:
        result, began = Path(folder) / "result", time.monotonic()
        fine, _ = in_a_process(judge, name, most, seed, result)
        if not fine:
            return None
        found = Judged(*(int(word) for word in result.read_text().split()))
    minutes = (time.monotonic() - began) / 60.0
    print(
        f"{name}: {found.noticed} of {found.tried} noticed ({found.noticed / found.tried:.0%}; "
        f"{found.places} places, {minutes:.1f} min)",
        flush=True,
    )
    return found


def score(found: list[Judged]) -> tuple[float, float]:
    """Share of all places whose error is noticed, and half of its 95 % interval.

    Every target counts by its places, of which only a sample may have been tried. A share of 0 or
    1 in a sample is no certainty: two more errors, one of them noticed, are added for its variance.
    """
    all_places = sum(one.places for one in found)
    share = sum(one.places * one.noticed / one.tried for one in found) / all_places
    variance = 0.0
    for one in found:
        chance = (one.noticed + 1.0) / (one.tried + 2.0)
        left_out = 1.0 - one.tried / one.places
        part = one.places / all_places
        variance += part**2 * left_out * chance * (1.0 - chance) / one.tried
    return share, 1.96 * math.sqrt(variance)


def _kept_in(file: Path | None, found: dict[str, Judged]) -> dict[str, Judged]:
    """What a file has of other targets, and this; the file has both after it."""
    if file is None:
        return found
    before = json.loads(file.read_text("utf-8")) if file.exists() else {}
    both = {**{name: Judged(*one) for name, one in before.items()}, **found}
    file.write_text(json.dumps(both, indent=1), "utf-8")
    return both


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *TARGETS], help=", ".join(TARGETS))
    parser.add_argument("--most", type=int, default=40, help="at most so many errors a target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, help="a file of targets judged before, and now")
    parser.add_argument("--list", action="store_true", help="only count them")
    options = parser.parse_args()
    names = options.names or list(TARGETS)
    if options.list:
        for name in names:
            text = (ROOT / "src" / "prefpath" / TARGETS[name].file).read_text("utf-8")
            print(f"{name:<14}{len(places(ast.parse(text))):>5}  {TARGETS[name].file}")
        return 0
    found: dict[str, Judged] = {}
    for name in names:
        one = judged(name, options.most, options.seed)
        if one is None:
            return 1
        found = _kept_in(options.results, {**found, name: one})
    share, half = score(list(found.values()))
    tried = sum(one.tried for one in found.values())
    print(f"score of {len(found)} targets, {tried} errors tried: {share:.1%} ± {half:.1%}")
    return int(share < 0.85)


if __name__ == "__main__":
    sys.exit(main())
