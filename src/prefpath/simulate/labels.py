"""Labels for simulated annotators and items: numbered, or readable ones for demonstrations."""

from __future__ import annotations

from typing import Literal

import numpy as np

from prefpath.errors import VoteError
from prefpath.votes.encode import Labels

LabelKind = Literal["numbered", "readable"]

_FRUIT = """
apple apricot banana blackberry blueberry cherry coconut cranberry date fig grape guava kiwi lemon
lime lychee mango melon nectarine orange papaya peach pear pineapple plum raspberry
"""
_NAMES = """
Ada Alan Amara Anders Bea Bo Chloe Cyrus Dana Dev Elif Emil Farah Finn Grace Gus Hana Hugo Ida Ivan
Jade Jonas Kaya Kofi Lena Luis Maya Mika Nina Noor Olga Omar Pia Quinn Rosa Ravi Sara Sven Tara
Tomas Uma Uri Vera Viktor Wanda Wen Xenia Yara Yusuf Zoe
"""


def make_labels(kind: LabelKind, n_annotators: int, n_items: int) -> tuple[Labels, Labels]:
    """Labels of annotators and items, in sorted order, as reading them back would give."""
    if kind == "readable":
        return _repeat_names(_NAMES.split(), n_annotators), _repeat_names(_FRUIT.split(), n_items)
    if kind != "numbered":
        raise VoteError(f"labels is {kind!r}", expected="numbered or readable")
    return _number("annotator", n_annotators), _number("item", n_items)


def _number(word: str, n: int) -> Labels:
    width = len(str(n))
    return np.array([f"{word} {i:0{width}d}" for i in range(1, n + 1)])


def _repeat_names(names: list[str], n: int) -> Labels:
    """The first `n` names; when they run out, the names again with a number."""
    rounds = -(-n // len(names))
    every = [name if k == 1 else f"{name} {k}" for k in range(1, rounds + 1) for name in names]
    return np.sort(np.array(every[:n]))
