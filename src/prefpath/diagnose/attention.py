"""How sharply each annotator sees the common scores: one slope each, with interval and test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.attention_kernels import AttentionAsked, attention_shard
from prefpath.diagnose.attention_likelihood import AttentionCells
from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.few.attention import attention_of_few
from prefpath.diagnose.pvalues import over_shards
from prefpath.diagnose.without_own import CommonMargins
from prefpath.model.design import Floats, Ints
from prefpath.votes.encode import BoolArray


@dataclass(frozen=True, eq=False)
class Attention:
    """Slope of each annotator's choices on the common score differences.

    1 follows the crowd, 0 does not look at what the crowd looks at, -1 answers contrarily, above
    1 sees more sharply than the crowd. Not a number where others tell no two items apart.

    Attributes
    ----------
    estimate, low, high : array (n_annotators,)
        By penalised likelihood, with the 95 % likelihood-ratio interval.
    p : array (n_annotators,)
        P-value of slope 1.
    first_step : array (n_annotators,)
        One step of Fisher scoring from 1; a rough estimate that costs nothing.
    lean : array (n_annotators,)
        The lean that was allowed for beside the slope.
    own_lean : array of bool (n_annotators,)
        Whether that lean was estimated with the slope, or is the crowd's.
    """

    estimate: Floats
    low: Floats
    high: Floats
    p: Floats
    first_step: Floats
    lean: Floats
    own_lean: BoolArray


def measure_attention(
    ballots: Ballots,
    margins: CommonMargins,
    tested: BoolArray,
    *,
    own_lean: BoolArray,
    common_lean: float = 0.0,
    interval: bool = True,
    n_threads: int | None = None,
) -> Attention:
    """Test slope 1, and estimate the slope, of everybody who is tested.

    The test is the score test with one degree of freedom: residuals at slope 1 times score
    differences, against all outcomes of the same comparisons (`tails.two_sided_p`); errors of
    the common scores are allowed for.

    Parameters
    ----------
    own_lean : array of bool
        Whose lean is estimated together with the slope; the others have `common_lean`.
    interval : bool
        Without, only `p` and `first_step` are computed.
    """
    out: Floats = np.full((ballots.n_annotators, 6), np.nan)
    asked = AttentionAsked(own_lean, common_lean, ballots.probit, interval)
    cells = AttentionCells(
        margins.difference,
        ballots.trials,
        ballots.wins,
        ballots.design.position,
        ballots.design.left_at,
        ballots.design.right_at,
    )

    shard = ballots.in_numpy_if_few(attention_shard, attention_of_few)

    def one_shard(who: Ints) -> None:
        shard(who, ballots.design, cells, margins.score_variance, asked, out)

    over_shards(one_shard, ballots, tested, n_threads)
    estimate, low, high, p, first_step, lean = np.ascontiguousarray(out.T)
    return Attention(estimate, low, high, p, first_step, lean, own_lean)
