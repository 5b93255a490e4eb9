"""Does a sample of the annotators choose the time that everybody chooses? (docs/selection.md)

    python benchmarks/sampled_folds.py            # 10^6 votes of 10^4 annotators on 300 items
    python benchmarks/sampled_folds.py --quick    # 10^5 votes of 2,000 annotators on 50 items

Samples are forced on data that are small enough to follow everybody: at least 2,000 (500)
annotators and a third of the votes in each fold, where the defaults ask for 4,000 and a million.
A tenth of the votes is held out beforehand and judged at the t chosen.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from default_fits import HELD_OUT, _found, crowd

from prefpath import PreferenceModel, VoteWarning
from prefpath.selection import sampling


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore", VoteWarning)
    size, least = ((100_000, 2_000, 50), 500) if quick else ((1_000_000, 10_000, 300), 2_000)
    votes = crowd(*size)()
    out = np.random.default_rng(1).random(votes.n_rows) < HELD_OUT
    training, test = votes.take(~out), votes.take(out)
    found = []
    for sampled in (False, True):
        if sampled:
            sampling._FEW_ROWS, sampling._LEAST_ANNOTATORS = 0, least
            sampling._LEAST_VOTES, sampling._VOTES_AN_ITEM = size[0] // 3, 0
        start = time.process_time()
        model = PreferenceModel(n_threads=1).fit(training)
        found.append(_found(model, test))
        seconds = time.process_time() - start
        last = found[-1]
        print(
            f"{'sample' if sampled else 'everybody':10} t/t0 {last['t'] / last['t0']:.1f}, "
            f"held-out log-loss {last['loss']:.5f}, {seconds:.1f} CPU s",
            flush=True,
        )
    whole, part = found
    inside = whole["low"] * 0.999 <= part["t"] <= whole["high"] * 1.001
    band = f"{whole['low'] / whole['t0']:.1f} to {whole['high'] / whole['t0']:.1f}"
    print(f"band of one standard error: {band}; the sample's t is {'in' if inside else 'OUT'}side")
    print(f"held-out log-loss {part['loss'] - whole['loss']:+.5f}")


if __name__ == "__main__":
    main()
