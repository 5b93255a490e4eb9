"""The design matrix a general penalised regression needs to see annotators: items, tastes, leans.

One row a vote. Columns: each item's common score (left +1, right -1), then annotator by annotator
their deviation on each item they saw, and their lean. It is prepared for the rival, not timed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from harness import Votes
from scipy import sparse


class EffectsDesign(NamedTuple):
    """A sparse matrix, whose its columns are, and the same columns for fresh votes."""

    matrix: sparse.csc_matrix
    choice: np.ndarray
    owner: np.ndarray  # -1: an item's common score; else the annotator
    fresh: sparse.csr_matrix
    fresh_choice: np.ndarray
    n_annotators: int

    @property
    def is_common(self) -> np.ndarray:
        return self.owner < 0

    def group_starts(self) -> np.ndarray:
        """Where groups begin: every item alone, every annotator as a whole."""
        begins = np.concatenate([[True], np.diff(self.owner) != 0])
        return np.flatnonzero(begins | self.is_common)

    def oddness(self, path: sparse.csr_matrix) -> np.ndarray:
        """The earlier on the path (points x columns) an annotator enters, the odder."""
        active = sparse.csr_matrix(abs(path))
        of = sparse.csr_matrix(
            (
                np.ones((~self.is_common).sum()),
                (np.flatnonzero(~self.is_common), self.owner[~self.is_common]),
            ),
            shape=(len(self.owner), self.n_annotators),
        )
        size = (active @ of).toarray()
        entered = np.where((size > 0).any(0), (size > 0).argmax(0), len(size))
        return -(entered + 1 / (2 + size[-1]))  # of those who enter together, the larger first


def effects_design(votes: Votes, fresh: Votes) -> EffectsDesign:
    """The design of votes, and of fresh ones on the same columns."""
    seen = _seen(votes)
    owner = np.concatenate([np.full(votes.n_items, -1), seen // (votes.n_items + 1)])
    return EffectsDesign(
        _matrix(votes, seen).tocsc(),
        votes.choice,
        owner,
        _matrix(fresh, seen).tocsr(),
        fresh.choice,
        votes.n_annotators,
    )


def _seen(votes: Votes) -> np.ndarray:
    """Codes annotator * (n_items + 1) + item for items seen; each one's last code is the lean."""
    step = votes.n_items + 1
    who = votes.annotator.astype(np.int64) * step
    leans = np.arange(votes.n_annotators, dtype=np.int64) * step + votes.n_items
    return np.unique(np.concatenate([who + votes.left, who + votes.right, leans]))


def _matrix(votes: Votes, seen: np.ndarray) -> sparse.coo_matrix:
    """Rows of votes; a deviation on an item never seen has no column and is left out."""
    m, n = len(votes.left), votes.n_items
    who = votes.annotator.astype(np.int64) * (n + 1)
    codes = np.concatenate([who + votes.left, who + votes.right, who + n])
    at = np.minimum(np.searchsorted(seen, codes), len(seen) - 1)
    known = seen[at] == codes
    rows = np.arange(m)
    sign = np.concatenate([np.ones(m), -np.ones(m), np.ones(m)])
    row = np.concatenate([rows, rows, np.tile(rows, 3)[known]])
    column = np.concatenate([votes.left, votes.right, n + at[known]])
    value = np.concatenate([sign[: 2 * m], sign[known]])
    return sparse.coo_matrix((value, (row, column)), shape=(m, n + len(seen)))
