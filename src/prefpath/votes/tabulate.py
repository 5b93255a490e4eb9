"""Two passes over the votes: dictionaries of labels first, then integer codes.

The first pass counts every label and every verdict in one scan. What is wrong with the votes
is known then, before anything large is built; only to say *where*, the file is read again.
The second pass joins the dictionaries and hands over one packed integer a vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from prefpath.errors import VoteError
from prefpath.votes.census import Census
from prefpath.votes.database import Database
from prefpath.votes.dictionary import census_labels, labels_alike, make_dictionary
from prefpath.votes.encode import (
    CodedVotes,
    FloatArray,
    KeyLayout,
    Labels,
    merge_keys,
    sort_and_merge,
)
from prefpath.votes.relation import Relation

# Up to here one integer a vote is fetched and sorted in memory, which is several times faster
# than grouping in the database; beyond, the database groups (and may spill to disk).
MOST_KEYS_IN_MEMORY = 100_000_000


@dataclass(frozen=True)
class Tabulated:
    """Coded votes, their labels, and how many rows went where."""

    coded: CodedVotes
    annotators: Labels
    items: Labels
    counts: Mapping[str, int]
    labels_said: tuple[str, ...] = ()
    """What is to be said of labels that are nearly alike, or look like missing ones."""


def tabulate(database: Database, relation: Relation, census: Census) -> Tabulated:
    """Read a relation whose labels and verdicts are counted and understood.

    Raises
    ------
    VoteError
        Nothing is left.
    """
    annotators = make_dictionary(
        database,
        "annotator_codes",
        census_labels("annotator"),
        untyped=relation.untyped_annotator,
    )
    items = make_dictionary(
        database,
        "item_codes",
        census_labels("left_item", "right_item"),
        untyped=relation.untyped_items,
    )
    levels = _make_verdict_codes(database, census)
    layout = KeyLayout(len(annotators), len(items), len(levels))
    if not (len(annotators) and len(items) and len(levels)):
        raise _nothing_left(census.counts)
    weighted = relation.weighted or any(v.weight != 1.0 for v in census.kept.values())
    fetch = _fetch_keys if layout.fits else _fetch_codes
    coded = fetch(database, relation, layout, levels, weighted, census.n_rows)
    said = [
        sentence
        for table, kind, labels in (
            ("item_codes", "item", items),
            ("annotator_codes", "annotator", annotators),
        )
        if labels.dtype.kind in "OU"
        for sentence in labels_alike(database, table, kind)
    ]
    result = _without_self_comparisons(coded, annotators, items, census)
    if relation.counted:
        result = _as_many_votes(result)
    return replace(result, labels_said=tuple(said))


def _as_many_votes(result: Tabulated) -> Tabulated:
    """Counts that are whole numbers are so many votes, not one vote of that weight."""
    coded = result.coded
    most = np.iinfo(coded.count.dtype).max
    if np.any(coded.weight != np.rint(coded.weight)) or coded.weight.max() > most:
        return result
    count = coded.weight.astype(coded.count.dtype)
    more = int(count.sum(dtype=np.int64)) - result.counts["votes"]
    counts = {**result.counts, "counted": result.counts["rows"]}
    for name in ("rows", "votes"):
        counts[name] += more
    return replace(result, coded=replace(coded, count=count), counts=counts)


def _make_verdict_codes(database: Database, census: Census) -> FloatArray:
    """A table of verdict word, code, the code of its mirror image, and weight; the levels."""
    choices = np.array([verdict.choice for verdict in census.kept.values()], dtype=float)
    levels = np.unique(np.concatenate([choices, -choices]) + 0.0)  # -0.0 is 0.0
    rows = [
        (word, np.searchsorted(levels, v.choice), np.searchsorted(levels, -v.choice), v.weight)
        for word, v in census.kept.items()
    ]
    word, code, mirror, factor = zip(*rows, strict=True) if rows else ((), (), (), ())
    database.create_table(
        "verdict_codes",
        {
            "word": np.array(word, dtype=object),
            "code": np.array(code, dtype=np.int64),
            "mirror": np.array(mirror, dtype=np.int64),
            "factor": np.array(factor, dtype=float),
        },
    )
    return levels


_SWAP = "NOT known AND l.code > r.code"  # without a position, the smaller code is on the left
_DIGITS = (
    "a.code",
    f"CASE WHEN {_SWAP} THEN r.code ELSE l.code END",
    f"CASE WHEN {_SWAP} THEN l.code ELSE r.code END",
    f"CASE WHEN {_SWAP} THEN v.mirror ELSE v.code END",
    "CAST(known AS BIGINT)",
)
_WEIGHT = "weight * factor"


def _joined(relation: Relation) -> str:
    return (
        f"FROM ({relation.select}) JOIN annotator_codes a ON annotator = a.label"
        " JOIN item_codes l ON left_item = l.label JOIN item_codes r ON right_item = r.label"
        " JOIN verdict_codes v ON verdict = v.word"
    )


def _fetch_keys(
    database: Database,
    relation: Relation,
    layout: KeyLayout,
    levels: FloatArray,
    weighted: bool,
    n_rows: int,
) -> CodedVotes:
    """The votes by one packed integer for each vote, or for each group of equal votes."""
    extra = f", {_WEIGHT} AS weight" if weighted else ""
    grouping = ""
    if n_rows > MOST_KEYS_IN_MEMORY:
        extra = ", count(*) AS n" + (f", fsum({_WEIGHT}) AS weight" if weighted else "")
        grouping = " GROUP BY key"
    sql = f"SELECT {layout.pack_sql(_DIGITS)} AS key{extra} {_joined(relation)}{grouping}"
    found = database.arrays(sql, "reading votes")
    columns = {name: np.ma.getdata(found.pop(name)) for name in list(found)}
    merged = merge_keys(columns.pop("key"), columns.pop("weight", None), columns.pop("n", None))
    return layout.unpack(*merged, levels)


def _fetch_codes(
    database: Database,
    relation: Relation,
    layout: KeyLayout,
    levels: FloatArray,
    weighted: bool,
    _n_rows: int,
) -> CodedVotes:
    """The votes by separate codes, where there are too many labels for a packed integer."""
    names = ("annotator", "left", "right", "level", "known")
    codes = ", ".join(f"{sql} AS {name}_" for name, sql in zip(names, _DIGITS, strict=True))
    extra = f", {_WEIGHT} AS weight_" if weighted else ""
    found = database.arrays(f"SELECT {codes}{extra} {_joined(relation)}", "reading votes")
    column = {name: np.ma.getdata(values) for name, values in found.items()}
    return sort_and_merge(
        column["annotator_"],
        column["left_"],
        column["right_"],
        levels[column["level_"]],
        column.get("weight_"),
        column["known_"].astype(bool),
        n_annotators=layout.n_annotators,
        n_items=layout.n_items,
    )


def _without_self_comparisons(
    coded: CodedVotes, annotators: Labels, items: Labels, census: Census
) -> Tabulated:
    """Leave out votes between an item and itself, and labels that no vote is left of."""
    itself = coded.left == coded.right
    n_read = int(coded.count.sum())
    n_itself = int(coded.count[itself].sum())
    left_out = sum(census.counts[fate] for fate in _DROPPED)
    counts = {
        "rows": census.n_rows,
        **census.counts,
        "missing_labels": census.n_rows - left_out - n_read,
        "self_comparisons": n_itself,
        "votes": n_read - n_itself,
    }
    if n_read == n_itself:
        raise _nothing_left(counts)
    if n_itself:
        coded = coded.take(~itself)
    if not coded.weight.any():
        raise VoteError("every vote has weight 0", expected="at least one positive weight")
    if counts["votes"] < counts["rows"]:
        coded, annotators, items = _used_labels(coded, annotators, items)
    return Tabulated(coded, annotators, items, counts)


def _used_labels(
    coded: CodedVotes, annotators: Labels, items: Labels
) -> tuple[CodedVotes, Labels, Labels]:
    used = np.zeros(len(items), dtype=bool)
    used[coded.left] = used[coded.right] = True
    code = (np.cumsum(used) - 1).astype(np.int32)
    voted = np.diff(coded.offsets) > 0
    coded = replace(
        coded,
        offsets=np.append(coded.offsets[:-1][voted], coded.offsets[-1]),
        left=code[coded.left],
        right=code[coded.right],
    )
    return coded, annotators[voted], items[used]


_DROPPED = ("no_verdict", "unknown", "ties_dropped", "both_bad_dropped")


def _nothing_left(counts: Mapping[str, int]) -> VoteError:
    found = ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in counts.items() if n)
    return VoteError(
        f"no votes are left: {found or 'no row has an annotator, two items and a verdict'}",
        expected="at least one vote between two different items",
        remedy="look at some rows: which columns hold the two items and the verdict?",
    )
