"""A table in any dialect as one SQL relation: annotator, left, right, verdict, weight, position."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from prefpath.errors import VoteError
from prefpath.votes.called import Called
from prefpath.votes.check import USABLE_WEIGHTS
from prefpath.votes.counted import count_rows
from prefpath.votes.database import Database, quote_text
from prefpath.votes.dialects import Dialect
from prefpath.votes.source import Column, ColumnKind, Source

ColumnText = Callable[[Column], str]
"""SQL of a column: as a word with a meaning, or as it was written."""

_WORD: ColumnText = attrgetter("word")

EVERYONE = "everyone"
"""The annotator of votes that do not say who cast them."""


@dataclass(frozen=True)
class Relation:
    """Votes as SQL: `select` has columns annotator, left_item, right_item, verdict, weight,
    weight_is_bad, known, known_is_bad; verdicts may differ in case and blanks.

    `numbered` also has `row`, the row of the file counted from 1, and `written`, the verdict as
    the user wrote it; it is slower. `naming` has, beside the verdict, the item of the row that
    it names: left, right, or these with `inexact`; it is empty where verdicts name no items.
    `fields` are the expressions `select` is made of. Where votes are `counted`, weights are how
    many there were. Items that are `coded` have other names than verdicts know them by.
    """

    select: str
    numbered: str
    naming: str
    fields: Mapping[str, str]
    untyped_annotator: bool
    untyped_items: bool
    weighted: bool
    counted: bool = False
    coded: bool = False


@dataclass(frozen=True)
class People:
    """A table of annotators: a scan with columns `person` (text) and `group_label`."""

    scan: str
    kind: ColumnKind


@dataclass(frozen=True)
class Wanted:
    """The columns a relation is made of, in the user's names (None: there is none)."""

    annotator: str | None
    weight: str | None = None
    position: str | bool | None = None
    baseline: str | None = None
    people: People | None = None


def build_relation(source: Source, dialect: Dialect, wanted: Wanted) -> Relation:
    """The relation of a dialect's columns."""
    left, right, verdict = _pair_and_verdict(source, dialect, wanted, _WORD)
    if dialect.called is not None:
        left, right = _names(source, dialect, dialect.called)
    written = _pair_and_verdict(source, dialect, wanted, attrgetter("written"))[2]
    annotator, people, untyped = _annotator(source, wanted)
    weight = None if wanted.weight is None else source.column(wanted.weight).number
    known, known_is_bad = _position(source, dialect, wanted.position)
    games = dialect.shape in ("two games", "nested games")
    around = f"{', (VALUES (false), (true)) AS game(swapped_)' if games else ''}{people}"
    if dialect.shape == "counts":
        votes = count_rows(source, dialect)
        verdict, written = votes.verdict, votes.verdict
        weight = votes.weight if weight is None else f"({weight}) * ({votes.weight})"
        around = f"{votes.around}{people}{votes.kept}"
    fields = {
        "annotator": annotator,
        "left_item": left,
        "right_item": right,
        "verdict": verdict,
        "weight": weight or "1.0",
        "weight_is_bad": _is_bad_weight(weight),
        "known": known,
        "known_is_bad": known_is_bad,
    }
    selected = ", ".join(f"{sql} AS {name}" for name, sql in fields.items())
    numbered = f"(SELECT *, row_number() OVER () AS row_number_ FROM {source.scan})"
    said = _says_something(source, dialect, wanted)
    return Relation(
        select=f"SELECT {selected}"
        f" FROM (SELECT * FROM {source.scan} WHERE {said}) AS votes{around}",
        numbered=f"SELECT row_number_ AS row, {written} AS written, {selected}"
        f" FROM (SELECT * FROM {numbered} WHERE {said}) AS votes{around}",
        naming=_naming(source, dialect),
        fields=fields,
        untyped_annotator=untyped,
        untyped_items=_items_untyped(source, dialect),
        weighted=weight is not None,
        counted=dialect.shape == "counts",
        coded=dialect.called is not None,
    )


def _says_something(source: Source, dialect: Dialect, wanted: Wanted) -> str:
    """Whether a row is more than the commas that spreadsheets leave below a table."""
    names = (wanted.annotator, dialect.left, dialect.right, *dialect.verdict)
    columns = (source.column(name).sql for name in dict.fromkeys(names) if name)
    return " OR ".join(f"{column} IS NOT NULL" for column in columns)


def held(database: Database, relation: Relation) -> Relation:
    """The relation with its rows copied into the database: text is then parsed once.

    What is the same in all rows is not copied. Errors and winners' names, which are rare, are
    looked up in the file.
    """
    names = [name for name, sql in relation.fields.items() if sql not in _CONSTANT]
    constant = [f"{sql} AS {name}" for name, sql in relation.fields.items() if sql in _CONSTANT]
    database.run(
        f"CREATE OR REPLACE TEMP TABLE held AS SELECT {', '.join(names)} FROM ({relation.select})",
        "reading the file",
    )
    return replace(relation, select=f"SELECT {', '.join([*names, *constant])} FROM held")


_CONSTANT = frozenset(("true", "false", "1.0", quote_text(EVERYONE)))


def _typed(column: Column, among: Sequence[Column]) -> str:
    """A column's labels in the type all of `among` can have, so that 1 here is 1 there."""
    kinds = {other.kind for other in among}
    if kinds == {"integer"}:
        return f"CAST({column.sql} AS BIGINT)"
    if kinds <= {"integer", "real"}:
        return f"nullif(CAST({column.sql} AS DOUBLE), 'nan'::DOUBLE)"
    return column.text


def _pair_and_verdict(
    source: Source, dialect: Dialect, wanted: Wanted, read: ColumnText
) -> tuple[str, str, str]:
    if dialect.shape == "nested games":
        return _nested_games(source, dialect, wanted, read)
    items = [source.column(name) for name in (dialect.left, dialect.right or dialect.left)]
    left, right = (_typed(item, items) for item in items)
    columns = [source.column(name) for name in dialect.verdict if name]
    if dialect.shape == "two games":
        words = [read(column) for column in columns]
        verdict = f"CASE WHEN game.swapped_ THEN {_mirrored(words[1])} ELSE {words[0]} END"
        return _swapped(left, right), _swapped(right, left), verdict
    if dialect.shape == "one hot":
        flags = [f"coalesce({read(column)}, '')" for column in columns]
        return left, right, " || '|' || ".join(flags)
    if dialect.shape == "item name":
        return left, right, _winner_by_name(columns[0], items[0], items[1], read)
    if dialect.shape in ("chosen", "counts"):
        return left, right, "'=left'"
    if dialect.shape == "scores":
        return left, right, _higher_score(*columns)
    if read is _WORD:  # words are made alike once each, not once a row
        return left, right, columns[0].text
    return left, right, read(columns[0])


def _names(source: Source, dialect: Dialect, called: Called) -> tuple[str, str]:
    """What the two items of a row are called; who has no name, by the code."""
    left, right = (source.column(name) for name in (dialect.left, dialect.right))
    first, second = (source.column(name).text for name in (called.first, called.second))
    if called.by_outcome:
        won = _named_item(source.column(dialect.verdict[0]), left, right)
        first, second = (
            f"CASE WHEN ({won}) IN ('{side}', 'inexact {side}') THEN {first}"
            f" WHEN ({won}) IS NOT NULL THEN {second} END"
            for side in ("left", "right")
        )
    return f"coalesce({first}, {left.text})", f"coalesce({second}, {right.text})"


def with_clear_names(database: Database, source: Source, dialect: Dialect) -> Dialect:
    """The same, with codes for names where two items share one, or one item has two."""
    called = dialect.called
    if called is None:
        return dialect
    codes = (source.column(name).text for name in (dialect.left, dialect.right))
    pairs = " UNION ".join(
        f"SELECT {code} AS code, {name} AS name FROM {source.scan}"
        for code, name in zip(codes, _names(source, dialect, called), strict=True)
    )
    n_pairs, *apart = database.rows(
        f"SELECT count(*), count(DISTINCT code), count(DISTINCT name) FROM ({pairs})"
        " WHERE code IS NOT NULL"
    )[0]
    if set(apart) == {n_pairs}:
        return dialect
    as_named = f"items are called as in {called.first} and {called.second}"
    instead = (
        f"items are called as in {dialect.left} and {dialect.right} (in {called.first} and "
        f"{called.second} two of them share a name, or one has two)"
    )
    return replace(dialect, called=None, said=dialect.said.replace(as_named, instead))


def _higher_score(left: Column, right: Column) -> str:
    """The side of the higher score; what is no number is shown as it was written."""
    first, second = _score(left), _score(right)
    return (
        f"CASE WHEN {left.text} IS NULL OR {right.text} IS NULL THEN NULL"
        f" WHEN {first} > {second} THEN '=left'"
        f" WHEN {first} < {second} THEN '=right'"
        f" WHEN {first} = {second} THEN 'tie'"
        f" ELSE {left.text} || ' and ' || {right.text} END"
    )


def _score(column: Column) -> str:
    """A number; of flags, whether it is set."""
    return f"coalesce({column.number}, CAST(TRY_CAST({column.text} AS BOOLEAN) AS DOUBLE))"


def _nested_games(
    source: Source, dialect: Dialect, wanted: Wanted, read: ColumnText
) -> tuple[str, str, str]:
    """Arena-Hard: `games` holds two judgments, the baseline first on the left, then right."""
    own = source.find("baseline")
    if wanted.baseline is None and own is None:
        raise VoteError(
            "Arena-Hard judgments do not name the model they are against",
            expected="a column `baseline`, or its name",
            remedy='name it, for example --baseline gpt-4-0314 (baseline="gpt-4-0314")',
        )
    baseline = source.column(own).text if own and wanted.baseline is None else None
    baseline = baseline or quote_text(str(wanted.baseline))
    model = source.column(dialect.right).text
    games = source.column(dialect.verdict[0]).sql
    score = Column(f"{games}[CASE WHEN game.swapped_ THEN 2 ELSE 1 END].score", "text")
    return _swapped(baseline, model), _swapped(model, baseline), read(score)


def _swapped(first: str, second: str) -> str:
    return f"CASE WHEN game.swapped_ THEN {second} ELSE {first} END"


def _mirrored(word: str) -> str:
    return (
        f"CASE {word} WHEN 'model_1' THEN 'model_2' WHEN 'model_2' THEN 'model_1' ELSE {word} END"
    )


def _naming(source: Source, dialect: Dialect) -> str:
    """Every verdict and the item of its row that it names."""
    if dialect.shape not in ("pair", "item name"):
        return ""
    names = (dialect.verdict[0], dialect.left, dialect.right)
    verdict, left, right = (source.column(name) for name in names)
    return (
        f"SELECT {verdict.word} AS verdict, {_named_item(verdict, left, right)} AS named"
        f" FROM {source.scan} AS votes"
    )


def _named_item(verdict: Column, left: Column, right: Column) -> str:
    """Which item a verdict names: exactly, or else up to case, blanks, and 1 for 1.0."""
    close_left, close_right = (f"({_is_close(verdict, item)})" for item in (left, right))
    return (
        f"CASE WHEN {verdict.text} = {left.text} THEN 'left'"
        f" WHEN {verdict.text} = {right.text} THEN 'right'"
        f" WHEN {close_left} AND NOT {close_right} THEN 'inexact left'"
        f" WHEN {close_right} AND NOT {close_left} THEN 'inexact right' END"
    )


def _is_close(verdict: Column, item: Column) -> str:
    same_number = f"{verdict.number} = {item.number}"
    return f"coalesce({verdict.word} = {item.word}, false) OR coalesce({same_number}, false)"


def _winner_by_name(verdict: Column, left: Column, right: Column, read: ColumnText) -> str:
    """The side of the item that a verdict names; any other word stays what it is."""
    return (
        f"CASE {_named_item(verdict, left, right)} WHEN 'left' THEN '=left'"
        f" WHEN 'inexact left' THEN '=left' WHEN 'right' THEN '=right'"
        f" WHEN 'inexact right' THEN '=right' ELSE {read(verdict)} END"
    )


def _annotator(source: Source, wanted: Wanted) -> tuple[str, str, bool]:
    """The annotator's SQL, what to join for it, and whether its type is undeclared."""
    if wanted.annotator is None:
        return quote_text(EVERYONE), "", False
    own = source.column(wanted.annotator)
    if wanted.people is None:
        return _typed(own, [own]), "", own.kind == "untyped"
    join = f" LEFT JOIN {wanted.people.scan} AS people ON {own.text} = people.person"
    label = Column("people.group_label", wanted.people.kind)
    return _typed(label, [label]), join, label.kind == "untyped"


def _position(source: Source, dialect: Dialect, position: str | bool | None) -> tuple[str, str]:
    """SQL for "the position is known", and for "that cannot be told"."""
    if isinstance(position, bool) or position is None:
        known = dialect.position_known if position is None else position
        return str(known).lower(), "false"
    word = source.column(position).word
    truth = (
        f"TRY_CAST(CASE {word} WHEN '1.0' THEN '1' WHEN '0.0' THEN '0' ELSE {word} END AS BOOLEAN)"
    )
    return f"coalesce({truth}, false)", f"({word} IS NOT NULL AND {truth} IS NULL)"


def _is_bad_weight(weight: str | None) -> str:
    if weight is None:
        return "false"
    least, most = USABLE_WEIGHTS
    return (
        f"({weight} IS NULL OR NOT isfinite({weight}) OR {weight} < 0 OR {weight} > {most}"
        f" OR ({weight} > 0 AND {weight} < {least}))"
    )


def _items_untyped(source: Source, dialect: Dialect) -> bool:
    if dialect.called is not None:
        return False
    names = [name for name in (dialect.left, dialect.right) if name]
    return all(source.column(name).kind == "untyped" for name in names)
