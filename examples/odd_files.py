"""Reading odd files: what is refused with a remedy, what is read with a word about it."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

from prefpath import VoteError, read_votes

FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "home and away, goals in two columns": (
        "home_team;away_team;home_goals;away_goals\nA;B;2;1\nB;C;0;0\nC;A;1;3\n",
        {"scores": ("home_goals", "away_goals")},
    ),
    "the winner's name": (
        "worker,left,right,label\nu1,x,y,x\nu1,y,z,z\nu2,x,z,tie\n",
        {},
    ),
    "0 and 1, and nobody says which is which": (
        "user,left,right,choice\nu1,x,y,1\nu1,y,z,0\nu2,x,z,1\n",
        {},
    ),
    "the same, settled": (
        "user,left,right,choice\nu1,x,y,1\nu1,y,z,0\nu2,x,z,1\n",
        {"choices": {1: "left", 0: "right"}},
    ),
    "an unknown verdict": (
        "user,left,right,choice\nu1,x,y,left\nu1,y,z,lefft\nu2,x,z,right\n",
        {},
    ),
    "missing verdicts and an item against itself": (
        "user,left,right,choice\nu1,x,y,left\nu1,y,z,\nu2,x,x,right\nu2,y,x,right\n",
        {},
    ),
    "chosen and rejected: nobody knows what was shown where": (
        "chosen,rejected\nx,y\nx,z\ny,z\n",
        {},
    ),
}

for what, (text, settings) in FILES.items():
    print(f"--- {what}")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        file = Path(folder) / "votes.csv"
        file.write_text(text)
        try:
            votes = read_votes(file, **settings)
            print(f"read as {votes.origin['read_as']}: {votes}")
        except VoteError as error:
            print(f"refused: {error}")
        for warning in said:
            print(f"said: {warning.message}")
