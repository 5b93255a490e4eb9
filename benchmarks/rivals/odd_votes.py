"""What rivals do with votes nobody likes: ties, unknown labels, undefeated items, two groups.

    python benchmarks/rivals/odd_votes.py                # scores, warnings and errors of each
    python benchmarks/rivals/odd_votes.py --table        # the table of README.md

Six votes on three items of equal strength, and those of the case (adapters/odd_votes.json), go to
each rival in its own environment. `--table` runs them, too, and says in a few words what came
out; a rival that does something else than these words know is "see above".
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from environments import program_of
from run import own_words

ADAPTERS = Path(__file__).parent / "adapters"
RIVALS = {
    "choix": "odd_choix.py",
    "evalica": "odd_evalica.py",
    "crowd-kit": "odd_crowdkit.py",
    "arena-rank": "odd_arena_rank.py",
    "prefpath": "odd_prefpath.py",
}
CASES = ("ties", "unknown label", "undefeated item", "disconnected")
Found = dict[str, Any]


def try_rival(rival: str, case: str) -> Found:
    program = program_of(rival)
    if program is None:
        return {"error": "not installed", "said": []}
    command = [program, str(ADAPTERS / RIVALS[rival]), case]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1]) if lines else {"error": own_words(done.stderr), "said": []}


def in_a_few_words(rival: str, case: str, found: Found) -> str:
    """What a row of the table says, read off the scores, warnings and errors alone."""
    if "error" in found:
        return _of_error(found["error"])
    scores = found["scores"]
    if set(scores) - set("abcxyz"):
        return "taken for an item"
    if case in ("ties", "unknown label"):
        return _of_a_verdict(rival, scores)
    if len({round(value, 3) for value in scores.values()}) == 1:
        return "all scores equal, silently"
    return f"{_said(found)}{_of_scores(case, scores)}"


def _of_a_verdict(rival: str, scores: dict[str, float]) -> str:
    """Whether such a vote was left out, or counted as half a win each: the same rival says."""
    gap = scores["a"] - scores["b"]
    for case, words in (("decided", "dropped, silently"), ("halves", "half a win each")):
        other = try_rival(rival, case)["scores"]
        if abs(gap - (other["a"] - other["b"])) < 0.01 * abs(gap):
            return words
    return "see above"


def _of_error(error: str) -> str:
    if "where:" in error:
        return "an error with row numbers"
    return "cannot be said" if "no way to say" in error else "an error"


def _of_scores(case: str, scores: dict[str, float]) -> str:
    if case == "disconnected":
        return "each group by itself" if abs(scores["x"] + scores["y"]) < 0.01 else "on one scale"
    return f"{scores['z'] - scores['a']:,.3g} above the others"


def _said(found: Found) -> str:
    text = " ".join(found["said"])
    return "said: " if "not bound" in text or "groups" in text or "compar" in text else "silent: "


def main() -> None:
    found = {case: {rival: try_rival(rival, case) for rival in RIVALS} for case in CASES}
    if "--table" in sys.argv:
        print("| | " + " | ".join(RIVALS) + " |\n|---" + "|---" * len(RIVALS) + "|")
        for case, rivals in found.items():
            words = [in_a_few_words(rival, case, one) for rival, one in rivals.items()]
            print(f"| {case} | " + " | ".join(words) + " |")
        return
    for case, rivals in found.items():
        print(f"\n{case}")
        for rival, one in rivals.items():
            what = one.get("error") or one["scores"]
            print(f"  {rival:<12}{what}")
            for sentence in one["said"]:
                print(f"  {'':<12}says: {sentence}")


if __name__ == "__main__":
    main()
