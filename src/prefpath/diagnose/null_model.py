"""What a null model expects of each comparison, and how probable exactly these votes are."""

from __future__ import annotations

import math
from typing import NamedTuple

from prefpath.compiling import kernel
from prefpath.model.design import Design, Floats, Ints


class NullModel(NamedTuple):
    """What happened in each cell, and what a null model expects there.

    `slope` is the derivative of the probability `p` in the margin; `score_error` the standard
    error of each item's common score.
    """

    trials: Floats
    wins: Floats
    p: Floats
    slope: Floats
    score_error: Floats


@kernel()
def log_chance_shard(who: Ints, design: Design, null: NullModel, out: Floats) -> None:
    """Log-probability of exactly the votes of each annotator."""
    for u in who:
        total = 0.0
        for c in range(design.cells[u], design.cells[u + 1]):
            n, won, p = null.trials[c], null.wins[c], null.p[c]
            if n > 1.0:
                ways = math.lgamma(won + 1.0) + math.lgamma(n - won + 1.0)
                total += math.lgamma(n + 1.0) - ways
            if won > 0.0:
                total += won * math.log(p)
            if won < n:
                total += (n - won) * math.log(1.0 - p)
        out[u] = total
