"""Random numbers inside compiled kernels: one stream for each annotator.

Streams (splitmix64: Steele, Lea, Flood 2014) are seeded by the seed and by a word made of the
annotator's votes, so results depend on votes and seed alone: not on threads, shards, labels or
the order of rows. NumPy's generators will not do here: a stream for each of 100,000 annotators
would be as many Generator objects, which compiled code can use but not make (some 10
microseconds each, more than the draws of an annotator with few votes), and a draw through one
takes several times as long as the two lines below.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from prefpath.compiling import inner_kernel

State = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_ONE = np.uint64(1)
NORMAL_FROM = 100.0  # variance above which a binomial is drawn as a rounded normal
_ONE_BY_ONE = 1_000.0  # trials up to which each is drawn

# Up to so many trials each is drawn by itself, however probable it is: what a draw takes of the
# stream is then known beforehand.
MOST_ONE_BY_ONE = 4.0 * NORMAL_FROM


@register_jitable
def mixed(word: Any) -> Any:
    """64 random bits of a place in the stream; of an array of them in NumPy."""
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * MIX_2
    return word ^ (word >> _S31)


@inner_kernel(allocates=False)
def next_word(state: State) -> np.uint64:
    """64 random bits (splitmix64)."""
    state[0] += GOLDEN
    return mixed(state[0])


@inner_kernel(allocates=False)
def start_stream(state: State, seed: np.uint64, word: np.uint64) -> None:
    """The stream of a word: the two numbers mixed, so that streams lie far apart."""
    state[0] = seed
    state[0] = next_word(state) ^ ((word + _ONE) * MIX_2)
    state[0] = next_word(state)


@inner_kernel(allocates=False)
def draw_uniform(state: State) -> float:
    """Uniform on [0, 1)."""
    return float(next_word(state) >> _S11) * 1.1102230246251565e-16


@inner_kernel(allocates=False)
def draw_normal(state: State) -> float:
    """Standard normal (Box and Muller)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - draw_uniform(state)))
    return radius * math.cos(2.0 * math.pi * draw_uniform(state))


@inner_kernel(allocates=False)
def draw_binomial(state: State, trials: float, p: float) -> float:
    """Wins in some trials."""
    variance = trials * p * (1.0 - p)
    if variance > NORMAL_FROM:
        wins = np.rint(trials * p + math.sqrt(variance) * draw_normal(state))
        return min(max(wins, 0.0), trials)
    if trials > _ONE_BY_ONE:
        return _rare(state, trials, p) if p < 0.5 else trials - _rare(state, trials, 1.0 - p)
    wins = 0.0
    for _ in range(int(trials)):
        if draw_uniform(state) < p:
            wins += 1.0
    return wins


@inner_kernel(allocates=False)
def _rare(state: State, trials: float, p: float) -> float:
    """Successes in many trials of which few succeed: from one success to the next at once.

    The trials until a success are geometric, so this is exact, and takes about as many steps as
    there are successes: a weight of 1e15 is as many trials.
    """
    if p <= 0.0:
        return 0.0
    wins, tried = 0.0, 0.0
    while True:
        waited = math.log(1.0 - draw_uniform(state)) / math.log1p(-p)
        tried += math.floor(waited) + 1.0
        if tried > trials:
            return wins
        wins += 1.0
