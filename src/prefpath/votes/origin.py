"""Where votes came from and what was left out on the way: kept with the votes, and said."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from prefpath.errors import VoteWarning
from prefpath.text import counted
from prefpath.votes.dialects import Dialect
from prefpath.votes.tabulate import Tabulated

_LEFT_OUT = {
    "no_verdict": "without a verdict",
    "self_comparisons": "comparing an item with itself",
    "unknown_labels": "with an unknown verdict",
    "missing_labels": "without an annotator or an item",
}


def describe_origin(
    name: str, dialect: Dialect, notes: Sequence[str], result: Tabulated
) -> dict[str, Any]:
    """The summary of a reading.

    Its `rows` are the sum of `votes` and of all that was dropped: `no_verdict`,
    `self_comparisons`, `unknown_labels`, `missing_labels`, `ties_dropped`, `both_bad_dropped`.
    Where the file has counts of votes, `counted` is how many counts; rows are then votes.
    """
    counts, coded = result.counts, result.coded
    read_as = f"{dialect.title}: {'; '.join(note for note in notes if note)}"
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
        "labels_said": list(result.labels_said),
        **({"counted": counts["counted"]} if "counted" in counts else {}),
    }


def rows_left_out(origin: Mapping[str, Any]) -> list[str]:
    """What was left out without the user asking for it, in words, with counts."""
    return [f"{origin[name]:,} {words}" for name, words in _LEFT_OUT.items() if origin.get(name)]


def left_out(origin: Mapping[str, Any]) -> str:
    """The rows left out, in one phrase; empty where there are none."""
    found = rows_left_out(origin)
    if not found:
        return ""
    return f"{_rows_of(found, origin)} (of {_n_read(origin):,})"


def say_what_was_left_out(origin: Mapping[str, Any], stacklevel: int = 3) -> None:
    """Warn of rows the user did not ask to leave out, and of labels that are nearly alike."""
    rows = left_out(origin)
    said = [f"left out {rows}"] if rows else []
    for sentence in [*said, *origin.get("labels_said", ())]:
        warnings.warn(f"{origin['source']}: {sentence}", VoteWarning, stacklevel=stacklevel)


def summarise_origin(origin: Mapping[str, Any]) -> str:
    """The summary in a few lines, for a person."""
    dropped = rows_left_out(origin)
    asked = {"ties_dropped": "of ties", "both_bad_dropped": 'of "both bad"'}
    dropped += [f"{origin[name]:,} {words}" for name, words in asked.items() if origin.get(name)]
    read = f"{counted(_n_read(origin), _noun(origin))} read"
    counts = [read, f"{counted(origin['votes'], 'vote')} kept"]
    counts.append(counted(origin["ties"], "tie"))
    if not dropped:
        counts.append("nothing left out")
    return "\n".join(
        [
            f"{origin['source']}: read as {origin['read_as']}",
            ", ".join(counts),
            *([f"left out: {_rows_of(dropped, origin)}"] if dropped else []),
            *(f"note: {sentence}" for sentence in origin.get("labels_said", ())),
        ]
    )


def _rows_of(dropped: Sequence[str], origin: Mapping[str, Any]) -> str:
    """ "10 rows without a verdict, 1 comparing an item with itself": the noun once."""
    number, _, words = dropped[0].partition(" ")
    noun = _noun(origin) if number == "1" else f"{_noun(origin)}s"
    return ", ".join([f"{number} {noun} {words}", *dropped[1:]])


def _n_read(origin: Mapping[str, Any]) -> int:
    return int(origin.get("counted", origin["rows"]))


def _noun(origin: Mapping[str, Any]) -> str:
    """What was read one by one: rows, or counts of votes."""
    return "count" if "counted" in origin else "row"
