"""A decorator for commands that read votes: it adds the reading options and reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from functools import partial, wraps
from typing import Annotated, Any, get_type_hints

import typer

from prefpath.cli import reading
from prefpath.settings import LARGEST_SEED, check_whole

_OPTIONS: dict[str, tuple[Any, Any]] = {
    "annotator": (reading.Annotator, None),
    "left": (reading.Left, None),
    "right": (reading.Right, None),
    "choice": (reading.Choice, None),
    "weight": (reading.Weight, None),
    "group": (reading.Group, None),
    "annotators": (reading.Annotators, None),
    "dialect": (reading.DialectOption, None),
    "ties": (reading.TiesOption, reading.Ties.half),
    "both_bad": (reading.BothBadOption, reading.BothBad.tie),
    "unknown": (reading.UnknownOption, reading.Unknown.error),
    "choices": (reading.ChoicesOption, None),
    "scores": (reading.Scores, None),
    "winner_first": (reading.WinnerFirst, False),
    "position_known": (reading.Position, None),
    "grades": (reading.GradesOption, None),
    "baseline": (reading.Baseline, None),
    "pairs_per_annotator": (reading.Pairs, None),
    "memory_limit": (reading.MemoryLimit, "1GB"),
}


def known_seed(seed: int) -> int:
    """A seed that random numbers can begin with."""
    return check_whole("--seed", seed, 0, LARGEST_SEED)


Seed = Annotated[int, typer.Option(help="Seed of everything drawn at random.", callback=known_seed)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def takes_votes(
    command: Callable[..., None] | None = None,
    *,
    check: Callable[[Mapping[str, Any]], None] | None = None,
    shortcut: Callable[[str, Mapping[str, Any]], Any] | None = None,
    fits: bool = False,
) -> Callable[..., Any]:
    """Give a command `f(votes: Votes, ..., seed, json)` all options of reading votes.

    Typer builds the command line from a signature; this one lists the reading options after
    the command's own, reads the votes and hands them over as the first argument. `check` gets
    the command's own options and the tables to read before any is read: what can be refused is
    refused first.
    Where no reading option is given, `shortcut` gets the source and the command's own options, and
    may return what the command takes instead of votes, or None. Of a command that `fits`, kernels
    that are missing are compiled by other processes, from before the votes are read.
    """
    if command is None:
        return partial(takes_votes, check=check, shortcut=shortcut, fits=fits)
    own = inspect.signature(command)
    hints = get_type_hints(command, include_extras=True)

    @wraps(command)
    def run(votes: str, **given: Any) -> None:
        options = {name: _value(given.pop(name)) for name in _OPTIONS}
        if check is not None:
            check({"votes": votes, "annotators": options["annotators"], **given})
        if given.get("scheduler"):
            from prefpath.cli.cluster import read_on_cluster

            with read_on_cluster(votes, given, options) as collected:
                command(collected, **given)
            return
        quiet = bool(given.get("json", False))
        if shortcut is not None and options == _DEFAULTS:
            found = shortcut(votes, given)
            if found is not None:
                command(found, **given)
                return
        with _ahead(given.get("threads")) if fits else nullcontext():
            read = reading.load_votes(votes, quiet=quiet, seed=given.get("seed", 0), **options)
            command(read, **given)

    parameters = [
        inspect.Parameter("votes", inspect.Parameter.KEYWORD_ONLY, annotation=reading.Source)
    ]
    parameters += [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, parameter in list(own.parameters.items())[1:]
    ]
    parameters += [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
        for name, (annotation, default) in _OPTIONS.items()
    ]
    run.__signature__ = own.replace(parameters=parameters, return_annotation=None)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _ahead(n_threads: int | None) -> AbstractContextManager[None]:
    from prefpath.ahead import compiling_ahead

    return compiling_ahead(n_threads)


def _value(option: Any) -> Any:
    return option.value if isinstance(option, Enum) else option


_DEFAULTS = {name: _value(default) for name, (_, default) in _OPTIONS.items()}
