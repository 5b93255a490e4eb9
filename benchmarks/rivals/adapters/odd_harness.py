"""Odd votes for one rival: `python odd_X.py CASE` prints its scores, warnings or error as JSON."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

Votes = list[list[str]]
_CASES = json.loads((Path(__file__).parent / "odd_votes.json").read_text())


def main(rank: Callable[[Votes], dict[str, float]]) -> None:
    """The plain votes with those of the case added, as the rival takes them."""
    votes = _CASES["plain"] + _CASES[sys.argv[1]]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            scores = {item: round(float(score), 3) for item, score in rank(votes).items()}
            found = {"scores": scores}
        except SystemExit as error:
            found = {"error": str(error)}
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
    found["said"] = [str(one.message) for one in said]
    print(json.dumps(found))
