"""Are there enough annotators to speak for others?"""

from __future__ import annotations

import numpy as np

from prefpath.population import FEWEST_ANNOTATORS, About, population_of
from prefpath.text import counted
from prefpath.trust.panel import TrustCheck
from prefpath.votes import Votes


def check_population(votes: Votes, about: About | None) -> TrustCheck:
    n = int(np.count_nonzero(votes.annotator_count))
    name, who = f"enough {votes.voter}s", counted(n, votes.voter)
    if population_of(n, about) == "these":
        only = "this one" if n == 1 else "these"
        return TrustCheck(
            name, "passed", f"{who}: intervals are about {only} only, not about others like them"
        )
    if n >= FEWEST_ANNOTATORS:
        return TrustCheck(name, "passed", f"{who}, enough to speak for others like them")
    return TrustCheck(
        name,
        "fail",
        f"{who}: too few to say how others like them would rank",
        f"ask at least {FEWEST_ANNOTATORS} {votes.voter}s, or speak about these only "
        '(about="these")',
    )
