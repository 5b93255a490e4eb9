"""Where votes came from and what was left out on the way: kept with the votes, and said."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from prefpath.errors import VoteWarning
from prefpath.votes.dialects import Dialect
from prefpath.votes.tabulate import Tabulated

_LEFT_OUT = {
    "no_verdict": "without a verdict",
    "self_comparisons": "comparing an item with itself",
    "unknown_labels": "with an unknown verdict",
    "missing_labels": "without an annotator or an item",
}


def describe_origin(
    name: str, dialect: Dialect, annotator: str | None, result: Tabulated
) -> dict[str, Any]:
    """The summary of a reading.

    Its `rows` are the sum of `votes` and of all that was dropped: `no_verdict`,
    `self_comparisons`, `unknown_labels`, `missing_labels`, `ties_dropped`, `both_bad_dropped`.
    """
    counts, coded = result.counts, result.coded
    read_as = f"{dialect.title}: {dialect.said}"
    if annotator is None:
        read_as += "; nobody says who voted, so all votes are one annotator's"
    return {
        "source": name,
        "dialect": dialect.key,
        "read_as": read_as,
        "rows": counts["rows"],
        "votes": counts["votes"],
        "duplicates_merged": counts["votes"] - len(coded.left),
        "ties": int(coded.count[coded.choice == 0.0].sum()),
        "both_bad": counts["both_bad"],
        "self_comparisons": counts["self_comparisons"],
        "no_verdict": counts["no_verdict"],
        "unknown_labels": counts["unknown"],
        "missing_labels": counts["missing_labels"],
        "ties_dropped": counts["ties_dropped"],
        "both_bad_dropped": counts["both_bad_dropped"],
    }


def say_what_was_left_out(origin: Mapping[str, Any], stacklevel: int = 3) -> None:
    """Warn of rows the user did not ask to leave out, if there are any."""
    found = [f"{origin[name]:,} {words}" for name, words in _LEFT_OUT.items() if origin[name]]
    if found:
        warnings.warn(
            f"{origin['source']}: left out rows {', '.join(found)} (of {origin['rows']:,})",
            VoteWarning,
            stacklevel=stacklevel,
        )


def summarise_origin(origin: Mapping[str, Any]) -> str:
    """The summary in a few lines, for a person."""
    lines = [
        f"{origin.get('source', 'votes')}: read as {origin.get('read_as', 'arrays')}",
        f"{origin.get('rows', 0):,} rows read, {origin.get('votes', 0):,} votes kept, "
        f"{origin.get('duplicates_merged', 0):,} duplicates merged, "
        f"{origin.get('ties', 0):,} ties",
    ]
    words = {**_LEFT_OUT, "ties_dropped": "of ties", "both_bad_dropped": 'of "both bad"'}
    dropped = [f"{origin[name]:,} {text}" for name, text in words.items() if origin.get(name)]
    lines.append("left out: rows " + ", ".join(dropped) if dropped else "left out: nothing")
    return "\n".join(lines)
