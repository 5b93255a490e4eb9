"""Do those found to deviate fall into camps? Then the common score is nobody's middle.

Each of them pulls on the common score with a bounded force (`absorption`). Tastes of their own
point anywhere, and cancel: the score stays at the ranking most follow, or in the middle. Those of
camps point in few directions and do not cancel: the score lies between the camps, and its intervals
hold neither. With k the cosine of two annotators' pulls, tastes of their own on d coefficients have

    E[k^2] = 1 / d,      Var[k^2] = 2 (d - 1) / (d^2 (d + 2)),

uncorrelated between pairs; where two saw other items, `1 / d` is the share of the directions they
both may point in. Which way along a line somebody points does not matter: beside a camp that was
found others come out as its opposites.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from prefpath.inference.evidence import Evidence
from prefpath.model.design import Floats, Ints
from prefpath.votes.segments import sums_between

_MOST_ASKED = 500
_FEWEST = 5  # fewer cannot move a crowd far
_SURE = 4.0  # standard errors, and
_LARGER = 1.5  # than tastes of their own have it: a mild likeness is no camp


def deviating_to_ask(evidence: Evidence) -> Ints:
    """Those who deviate: all, or evenly many of each size of deviation."""
    length = sums_between(evidence.path.blocks, evidence.own**2)
    who = np.flatnonzero((length > 0.0) & evidence.active)
    if len(who) > _MOST_ASKED:
        order = np.argsort(length[who], kind="stable")
        who = who[order[np.linspace(0, len(who) - 1, _MOST_ASKED).astype(np.int64)]]
    return who.astype(np.int64)


def are_camps(evidence: Evidence, pulls: sparse.csr_array) -> bool:
    """Whether the pulls, a row each, point in fewer directions than tastes of their own would."""
    rows = pulls[:, np.flatnonzero(evidence.free[: evidence.problem.n_common])]
    length = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows, length = rows[length > 0.0], length[length > 0.0]
    if len(length) < _FEWEST:
        return False
    pairs = np.triu_indices(len(length), 1)
    cosine = (rows @ rows.T).toarray() / np.outer(length, length)
    expected = _expected(rows, contrasts=evidence.problem.features is None)[pairs]
    excess = float((cosine[pairs] ** 2 - expected).sum())
    variance = float((2.0 * expected**2 * (1.0 - expected) / (1.0 + 2.0 * expected)).sum())
    clear = excess > _SURE * np.sqrt(variance)
    return bool(clear and excess > (_LARGER - 1.0) * expected.sum() and variance > 0.0)


def _expected(rows: sparse.csr_array, *, contrasts: bool) -> Floats:
    """Squared cosine of two tastes of their own, by the items each of the two saw."""
    saw = sparse.csr_array((np.ones(len(rows.data)), rows.indices, rows.indptr), shape=rows.shape)
    n = np.diff(rows.indptr).astype(np.float64)
    both = (saw @ saw.T).toarray()
    if not contrasts:
        return both / np.outer(n, n)
    shared = both - both / n - both / n[:, None] + both**2 / np.outer(n, n)
    freedom = np.maximum(n - 1.0, 1.0)
    result: Floats = np.clip(shared / np.outer(freedom, freedom), 0.0, 1.0)
    return result
