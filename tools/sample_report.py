"""The sample report of the documentation site: a simulated crowd, written as users write theirs."""

from __future__ import annotations

import sys
from pathlib import Path

from prefpath import PreferenceModel, simulate_crowd

if __name__ == "__main__":
    out = Path(sys.argv[1])
    crowd = simulate_crowd(6000, 60, 12, deviants=4, clickers=4, labels="readable", seed=3)
    PreferenceModel().fit(crowd.votes).report(out, title="A sample report: a simulated crowd")
