"""Columns by the parts of their names: which two hold the items, and which one the verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

SHOWN = (
    ("left", "right"),
    ("a", "b"),
    ("1", "2"),
    ("first", "second"),
    ("one", "two"),
    ("home", "away"),
    ("white", "black"),
    ("links", "rechts"),
    ("gauche", "droite"),
    ("izquierda", "derecha"),
    ("sinistra", "destra"),
    ("esquerda", "direita"),
)
"""How two columns say that one of two items was shown, or named, first."""

FROM_0 = (("0", "1"),)
"""Two items that are counted from 0: asked last, as 0 and 1 stand beside many other things."""

OUTCOME = (
    ("winner", "loser"),
    ("winning", "losing"),
    ("chosen", "rejected"),
    ("preferred", "rejected"),
    ("selected", "rejected"),
    ("better", "worse"),
    ("won", "lost"),
)
"""How two columns say that one of two items won."""

# What an item may be called, the best first where a table has more than one such pair.
_ITEMS = (
    "name", "model", "item", "system", "team", "player", "option", "candidate", "alternative",
    "object", "stimulus", "condition", "method", "algorithm", "product", "brand", "variant",
    "version", "design", "engine", "agent", "bot", "movie", "song", "image", "img", "picture",
    "photo", "video", "audio", "file", "document", "doc", "sample", "entity", "competitor", "key",
    "title", "id", "url", "word", "concept", "argument", "summary", "translation", "story", "poem",
    "essay", "idea", "statement", "choice", "text", "response", "answer", "completion", "output",
    "input", "stim", "fighter", "clip", "face", "place", "distorted", "spreadsheet",
)  # fmt: skip
_VERDICTS = frozenset((
    "choice", "winner", "winnerid", "winnername", "winneritem", "winnermodel", "winningitem",
    "preferred", "preferredid", "preferreditem", "preferredmodel", "preference", "verdict",
    "vote", "label", "result", "answer", "outcome", "decision", "judgment", "judgement",
    "selected", "selecteditem", "selection", "chosen", "chosenitem", "better", "betteritem",
    "pick", "picked", "response", "comparison", "ftr", "whichisbetter", "whichonewins", "wahl",
    "choix", "eleccion", "elección", "scelta", "escolha", "gewinner", "sieger", "gagnant",
    "auswahl", "entscheidung", "präferenz",
    "favorit", "urteil", "bevorzugte", "preferencia", "preferenza", "preferência", "decisión",
    "décision", "réponse", "préféré", "préférée", "préférence", "bevorzugt", "preferido",
    "preferida", "preferito", "preferita", "vainqueur", "ganador", "vincitore", "vencedor",
))  # fmt: skip
_WON = frozenset((
    "wins", "won", "win", "winner", "better", "preferred", "prefer", "prefers", "chosen", "chose",
    "selected",
))  # fmt: skip
_FILLING = frozenset(("is", "was", "the", "item"))
# How columns that count votes are called beside the side, or "ties", that they count.
_COUNTING = frozenset(("n", "num", "number", "nr", "count", "counts", "total", "of", "for", "by"))
_VOTED = _WON | {"votes", "vote", "clicks", "victories"}
_TIED = frozenset(("tie", "ties", "tied", "draw", "draws", "drawn", "equal"))
_BAD = (frozenset(("both", "bad")), frozenset(("bothbad",)))
# An item's own noun: where winners come with it, the column without one holds a text.
_NOUNS = frozenset(("model", "system", "name", "method", "policy", "team", "player"))
_SCORES = frozenset(("score", "scores", "goals", "points", "pts", "runs", "rating", "grade"))

# How a column is called that says by how much one of two items is better: a difference is the
# first less the second; of a scale nobody knows at which end the first is.
_DIFFERENCES = frozenset((
    "margin", "diff", "difference", "delta", "advantage", "differenz", "différence", "diferencia",
    "differenza",
))  # fmt: skip
_SCALES = frozenset((
    "strength", "score", "rating", "grade", "likert", "slider", "scale", "preference",
    "comparison", "cmos", "stärke", "bewertung",
))  # fmt: skip
_OF_GRADES = frozenset((
    "overall", "mean", "avg", "average", "final", "relative", "human", "quality", "pairwise",
    "comparative", "graded", "win", "of",
))  # fmt: skip

_PREFIXES = frozenset(("answer", "output", "player"))  # Mechanical Turk's, Toloka's, oTree's
# How one says which of two things is the first, whichever way the columns say it.
_IN_ORDER = (("a", "b"), ("1", "2"), ("first", "second"), ("one", "two"))
# A verdict by its question (Which image is better?) or with its noun (better_response_id).
_QUESTIONS = frozenset(("which", "who"))
_ASKED = frozenset(("better", "prefer", "preferred", "wins", "won", "nicer", "more", "like"))
_FAVOURED = frozenset(("better", "preferred", "selected", "chosen", "picked", "safer", "favoured"))

_MEASURES = frozenset((
    "seconds", "time", "rt", "duration", "date", "rank", "length", "size", "count", "n", "votes",
    "wins", "price", "elo", "odds", "confidence", "tokens", "reason", "comment", "judge", "user",
    "annotator", "rater", "order", "position", "index", "age", "color", "colour", "seed",
    "probability",
))  # fmt: skip


class ColumnPair(NamedTuple):
    """Two columns whose names differ in one part only: `model_a` and `model_b` in a and b."""

    left: str
    right: str
    parts: tuple[str, str]


def parts_of(name: str) -> tuple[str, ...]:
    """The parts of a column's name, in lower case.

    >>> parts_of("Item_1"), parts_of("homeTeam"), parts_of("Winner ID"), parts_of("answer2")
    (('item', '1'), ('home', 'team'), ('winner', 'id'), ('answer', '2'))
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])", " ", name)
    return tuple(part.lower() for part in re.split(r"[\W_]+", apart) if part)


def find_item_pair(
    columns: Iterable[str], sides: Sequence[tuple[str, str]] = SHOWN
) -> ColumnPair | None:
    """The two columns of items, by their names; the best where there are several.

    >>> find_item_pair(["judge", "score_a", "score_b", "model_a", "model_b"])
    ColumnPair(left='model_a', right='model_b', parts=('a', 'b'))
    """
    names = list(columns)
    found = _pairs_of_items(names, sides) or (_counted_from_0(names) if sides is SHOWN else [])
    return found[0] if found else None


def _counted_from_0(columns: list[str]) -> list[ColumnPair]:
    """With a noun: columns called 0 and 1 have no names, but numbers."""
    return [pair for pair in _pairs_of_items(columns, FROM_0) if parts_of(pair.left) != ("0",)]


def _pairs_of_items(columns: Iterable[str], sides: Sequence[tuple[str, str]]) -> list[ColumnPair]:
    """All of them, the best first."""
    found = [
        (_place(stem), pair)
        for stem, pair in pairs_of(list(columns), sides)
        if all(part in _ITEMS for part in stem)
    ]
    return [pair for _, pair in sorted(found)]


def find_sides_of(columns: Iterable[str], outcome: ColumnPair) -> ColumnPair | None:
    """The columns of what was shown, where winners and losers are named beside them.

    >>> names = ["Winner ID", "Loser ID", "Left Choice ID", "Right Choice ID"]
    >>> find_sides_of(names, ColumnPair("Winner ID", "Loser ID", ("winner", "loser"))).left
    'Left Choice ID'
    """
    if find_verdicts([outcome.left]) != [outcome.left]:
        return None
    noun, shown = parts_of(outcome.left)[-1:], _pairs_of_items(columns, SHOWN)
    return next((pair for pair in shown if parts_of(pair.left)[-1:] == noun), None)


def find_other_pair(columns: Iterable[str]) -> ColumnPair | None:
    """The only two columns of one noun, if it measures nothing: screen_left and screen_right.

    >>> find_other_pair(["user", "screen_left", "screen_right", "preferred"]).left
    'screen_left'
    >>> find_other_pair(["seconds_left", "seconds_right"]) is None
    True
    """
    found = [(stem, pair) for stem, pair in pairs_of(list(columns), SHOWN) if len(stem) == 1]
    if len(found) != 1 or found[0][0][0] in _SCORES | _MEASURES:
        return None
    return found[0][1]


def find_score_pair(columns: Iterable[str]) -> ColumnPair | None:
    """Two columns of scores, one for each item (goals, points): who has more has won."""
    found = [pair for stem, pair in pairs_of(list(columns), SHOWN) if set(stem) & _SCORES]
    return found[0] if found else None


def find_verdicts(columns: Iterable[str]) -> list[str]:
    """Columns that may hold the verdict, by their names; never a score, rating or confidence.

    >>> find_verdicts(["Answer.choice", "score", "Winner ID"])
    ['Answer.choice', 'Winner ID']
    """
    return [name for name in columns if "".join(_asked(parts_of(name))) in _VERDICTS]


def find_questions(columns: Iterable[str]) -> list[str]:
    """Columns named like a question about two items or like the item that won.

    >>> find_questions(["Which response is better?", "which_is_better_gold", "better_model"])
    ['Which response is better?', 'better_model']
    """
    return [name for name in columns if _asks(_asked(parts_of(name)))]


def _asks(parts: tuple[str, ...]) -> bool:
    """Whether a name is "which ... better", or "better" and nouns of items."""
    if parts[:1] == () or parts[0] in _QUESTIONS:
        return bool(parts) and parts[-1] in _ASKED
    return parts[0] in _FAVOURED and parts[1:] != () and all(part in _ITEMS for part in parts[1:])


def find_grades(columns: Iterable[str]) -> list[str]:
    """Columns that may say by how much left is better, where none is named like a verdict.

    >>> find_grades(["score_diff", "preference_strength", "score_a", "confidence", "seconds"])
    ['score_diff', 'preference_strength']
    """
    grades = _DIFFERENCES | _SCALES
    parts = {name: set(_asked(parts_of(name))) for name in columns}
    return [name for name, own in parts.items() if own & grades and own <= grades | _OF_GRADES]


def is_difference(name: str) -> bool:
    """Whether a column of grades says that it is the first item's less the second's.

    >>> is_difference("score_diff"), is_difference("preference_strength"), is_difference("strength")
    (True, False, True)
    """
    parts = set(parts_of(name))
    return parts == {"strength"} or bool(parts & _DIFFERENCES)  # strengths are our own word


def find_unnamed(columns: Iterable[str], known: Iterable[str]) -> list[str]:
    """Columns of which nothing is known: neither among `known` names, nor a measure.

    >>> find_unnamed(["user", "who_won", "seconds"], ["user"])
    ['who_won']
    """
    names = {name.lower() for name in known}
    return [
        name
        for name in columns
        if name.lower() not in names and not set(parts_of(name)) & _MEASURES
    ]


def find_flags(columns: Iterable[str], pair: ColumnPair) -> list[tuple[str, int]]:
    """Columns that say of one side whether it won, or how often: the left (1) or the right one.

    >>> pair = ColumnPair("img_left", "img_right", ("left", "right"))
    >>> find_flags(["user", "left_wins"], pair), find_flags(["is_right_better"], pair)
    ([('left_wins', 1)], [('is_right_better', -1)])
    >>> find_flags(["first_is_better"], ColumnPair("img1", "img2", ("1", "2")))
    [('first_is_better', 1)]
    """
    orders = _IN_ORDER if pair.parts in _IN_ORDER else (pair.parts,)
    return [
        (name, side)
        for name in columns
        for order in orders
        for part, side in zip(order, (1, -1), strict=True)
        if (said := set(_asked(parts_of(name))) - _FILLING) - _WON == {part} and said & _WON
    ]


def find_counts(columns: Sequence[str], pair: ColumnPair) -> tuple[str, str, str, str] | None:
    """Columns that count the votes of a pair: for left, for right, ties, "both bad".

    The last two may lack; None where the first two do.

    >>> pair = ColumnPair("home.team", "away.team", ("home", "away"))
    >>> find_counts(["home.wins", "away.wins", "draws"], pair)
    ('home.wins', 'away.wins', 'draws', '')
    """
    said = {name: frozenset(parts_of(name)) - _COUNTING for name in columns}
    found = [
        next((name for name, parts in said.items() if parts - _VOTED == {side}), "")
        for side in pair.parts
    ]
    ties = next((name for name, parts in said.items() if parts and parts <= _TIED), "")
    both_bad = next((name for name, parts in said.items() if parts - _TIED in _BAD), "")
    return (found[0], found[1], ties, both_bad) if all(found) else None


def find_named_outcome(columns: Iterable[str]) -> ColumnPair | None:
    """Winner and loser by the noun of an item: chosen_model and rejected_model.

    >>> find_named_outcome(["chosen", "rejected", "chosen_model", "rejected_model"]).left
    'chosen_model'
    """
    pairs = pairs_of(list(columns), OUTCOME)
    return next((pair for stem, pair in pairs if stem and set(stem) <= _NOUNS), None)


def find_score(columns: Iterable[str]) -> str | None:
    """The column of a score, a rating or a grade."""
    return next((name for name in columns if set(parts_of(name)) & _SCORES), None)


def _asked(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Without a platform's prefix: Answer.choice, OUTPUT:choice and player.choice are choice."""
    return parts[1:] if parts[:1] and parts[0] in _PREFIXES and parts[1:] else parts


def side_words(left: str, right: str) -> list[tuple[str, str]]:
    """How a verdict may write the names of two columns that differ in one part.

    >>> side_words("Input.image_a", "Input.image_b")[:3]
    [('a', 'b'), ('imagea', 'imageb'), ('image_a', 'image_b')]
    """
    first, second = parts_of(left), parts_of(right)
    tails = [(first[-k:], second[-k:]) for k in range(1, min(len(first), len(second)) + 1)]
    return list(
        dict.fromkeys(
            (between.join(one), between.join(other))
            for one, other in tails
            for between in ("", "_", " ", "-")
            if one != other
        )
    )


def differing_parts(left: str, right: str) -> tuple[str, str] | None:
    """What two names differ in: ("a", "b") of model_a and model_b."""
    pairs = pairs_of([left, right], (*SHOWN, *((b, a) for a, b in SHOWN), *FROM_0))
    return next((pair.parts for _, pair in pairs if pair.left == left), None)


def pairs_of(
    columns: list[str], sides: Sequence[tuple[str, str]]
) -> list[tuple[tuple[str, ...], ColumnPair]]:
    """Pairs of columns, with the parts they share."""
    own = {parts_of(name): name for name in columns}
    return [
        ((*parts[:k], *parts[k + 1 :]), ColumnPair(name, partner, (first, second)))
        for first, second in sides
        for parts, name in own.items()
        for k, part in enumerate(parts)
        if part == first and (partner := own.get((*parts[:k], second, *parts[k + 1 :])))
    ]


def _place(stem: tuple[str, ...]) -> tuple[int, int]:
    """Bare sides first, then names before ids and texts, short names before long ones."""
    return (max((_ITEMS.index(part) for part in stem), default=-1), len(stem))
