"""`prefpath demo`: a small crowd with planted deviants and clickers, and whether they are found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from prefpath.cli import show
from prefpath.cli.app import app, console, print_json
from prefpath.cli.fit import fit_with_progress
from prefpath.cli.outcome import Outcome
from prefpath.cli.takes_votes import known_seed

if TYPE_CHECKING:
    from prefpath.simulate import Simulation


@app.command()
def demo(
    seed: Annotated[int, typer.Option(help="Seed of the crowd.", callback=known_seed)] = 7,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Make a crowd with planted deviants and clickers, fit it, and show that it found them."""
    from prefpath.ahead import compiling_ahead
    from prefpath.estimators import PreferenceModel
    from prefpath.findings import find
    from prefpath.simulate import simulate_crowd

    crowd = simulate_crowd(
        6_000,
        40,
        10,
        activity="even",
        deviants=3,
        clickers=3,
        labels="readable",
        seed=seed,
    )
    model = PreferenceModel(random_state=seed)
    if not json:
        console.print(_introduction(crowd), markup=False, highlight=False)
    with compiling_ahead():
        fit_with_progress(model, crowd.votes)
        found = Outcome(find(model), {})
    verdict = check_planted(crowd, found.findings.annotators)
    if json:
        print_json(verdict)
        return
    show.result(console, found, top=10)
    console.print()
    for line in _outcome(verdict):
        console.print(line, markup=False, highlight=False)
    console.print(_WHAT_NEXT, markup=False, highlight=False)


def check_planted(crowd: Simulation, people: Mapping[str, Any]) -> dict[str, Any]:
    """Who was planted, and who was found."""
    names = np.asarray(people["annotator"])
    return {
        "planted_deviants": sorted(crowd.deviants.tolist()),
        "found_deviants": sorted(names[np.asarray(people["deviates"], dtype=bool)].tolist()),
        "planted_clickers": sorted(crowd.clickers.tolist()),
        "found_clickers": sorted(names[np.asarray(people["biased"], dtype=bool)].tolist()),
    }


def _introduction(crowd: Simulation) -> str:
    return (
        f"A crowd of {crowd.votes.n_annotators} people compared {crowd.votes.n_items} fruits in "
        f"{crowd.votes.n_votes:,} votes.\nThree of them have a taste of their own and three click "
        "one side. Who?\n"
    )


def _outcome(verdict: dict[str, Any]) -> list[str]:
    lines = []
    for kind, what in (("deviants", "A taste of their own"), ("clickers", "Lean to one side")):
        planted, found = set(verdict[f"planted_{kind}"]), set(verdict[f"found_{kind}"])
        hit = f"{len(planted & found)} of {len(planted)} planted found"
        wrong = f", {len(found - planted)} named wrongly" if found - planted else ""
        missed = f" (missed {', '.join(sorted(planted - found))})" if planted - found else ""
        lines.append(f"{what}: {', '.join(sorted(planted))}. {hit}{missed}{wrong}.")
    return lines


_WHAT_NEXT = """
Try next:
  prefpath simulate votes.csv                     # a crowd of your own making
  prefpath check votes.csv                        # can these votes carry a ranking?
  prefpath fit votes.csv --report report.html     # leaderboard, annotators, one page to show
  prefpath fit votes.csv --json                   # the same for machines
  prefpath compare votes.csv                      # beside a dozen other methods"""
