"""choix on odd votes: it takes pairs (winner, loser), nothing else."""

from __future__ import annotations

import choix
from odd_harness import main


def rank(votes: list[list[str]]) -> dict[str, float]:
    items = sorted({name for _, a, b, _ in votes for name in (a, b)})
    pairs = []
    for _, a, b, verdict in votes:
        if verdict not in ("left", "right"):
            raise SystemExit(f"there is no way to say {verdict!r}: pairs (winner, loser) only")
        winner, loser = (a, b) if verdict == "left" else (b, a)
        pairs.append((items.index(winner), items.index(loser)))
    return dict(zip(items, choix.ilsr_pairwise(len(items), pairs), strict=True))


if __name__ == "__main__":
    main(rank)
