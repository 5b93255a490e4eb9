"""What a reader must know before the first number: a fit that says little, or stops oddly."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from prefpath.findings.explained import explained_by_features
from prefpath.fitted import Fitted
from prefpath.votes import Votes

_END_WITHOUT_CHOICE = (
    "Nothing was held out, so the fit stops at the end of the path, where personal parts are "
    "overstated. --cv 5 (cv=5) chooses where to stop; --t (stop_at) names a time."
)
_WORSE_THAN_A_COIN = (
    "A coin would predict the held-out votes better ({coin}): these votes do not carry this "
    "ranking. prefpath check says why; more votes on each pair would help."
)
_NOBODY_NAMED = (
    "There is no ranking that others share, so nobody is said to be unlike the crowd (leans to one "
    "side are tested all the same)."
)
_COINS = {"log-loss": "its log-loss is 0.6931", "mismatch": "half of them wrong"}
_ALL_TIES = (
    "Every vote is a tie: nothing tells the items or the annotators apart, and an interval of no "
    "width says nothing of how sure a score is."
)
_NEARLY_ALL_ALONE = (
    "{n:,} of {all:,} {voters} are fitted nearly alone, as their own votes predict each other "
    "(they do where votes are made from ratings): read personal rankings beside the common "
    'one. In Python, cv_over="annotators" asks how new people are predicted.'
)
_MADE_FROM_RATINGS = (
    "These {votes:,} votes are pairs of {ratings:,} ratings and repeat each other; verdicts on "
    "{voters} take each as evidence of its own, and name too many. --pairs-per-annotator {pairs} "
    "(pairs_per_annotator={pairs}) draws about as many pairs as the ratings tell."
)
_FEATURES_SAY_LITTLE = (
    "The features say {share:.0%} of what the items differ by: scores and ranks here are what "
    "features predict, not how the items did. prefpath rank, or a fit without --features "
    "(features), ranks them by their votes."
)
_LITTLE = 0.8
_ALONE = 0.9
_NOTHING_LEFT = 0.01  # error so small that no longer path is worth its time
_WORTH_WHILE = 2e-3  # of the error, for each time that t grows by e
STOPPED_AT_THE_END = (
    "The fit stopped at the end of its path, and might predict better beyond: --t-ratio 1000 "
    "(t_ratio=1000) follows it further."
)


def cautions(fitted: Fitted) -> Iterator[str]:
    """Sentences with what to do; none for a fit that chose its time and predicts something."""
    if not fitted.votes.choice.any():
        yield _ALL_TIES
        return
    if repeated := _made_from_ratings(fitted.votes):
        yield repeated
    explained = explained_by_features(fitted)
    if explained is not None and explained < _LITTLE:
        yield _FEATURES_SAY_LITTLE.format(share=explained)
    at_end = fitted.t >= float(fitted.path.times[-1])
    if fitted.cross_validation is None:
        if at_end:
            yield _END_WITHOUT_CHOICE
        return
    if fitted.worse_than_a_coin:
        yield _WORSE_THAN_A_COIN.format(coin=_COINS[fitted.criterion or "log-loss"])
    if fitted.knows_nothing:
        yield _NOBODY_NAMED
    if _nearly_all_alone(fitted):
        yield _NEARLY_ALL_ALONE.format(
            n=fitted.active_count[0], all=fitted.votes.n_annotators, voters=f"{fitted.votes.voter}s"
        )
    if at_end and not fitted.chosen_by_hand and _still_falls(fitted):
        yield STOPPED_AT_THE_END


def _made_from_ratings(votes: Votes) -> str:
    """Pairs that share a rating are no independent votes: as many as half the ratings may be."""
    ratings = votes.origin.get("rows", 0) if votes.origin.get("dialect") == "ratings" else 0
    if not ratings or 2 * votes.n_votes <= ratings or votes.n_annotators < 2:
        return ""
    pairs = max(1, ratings // (2 * votes.n_annotators))
    return _MADE_FROM_RATINGS.format(
        votes=votes.n_votes, ratings=ratings, pairs=pairs, voters=f"{votes.voter}s"
    )


def _still_falls(fitted: Fitted) -> bool:
    """Whether the last third of the path, in log t, gained enough for more of it to be worth while.

    Once everybody has entered the curve is flat, and a longer path would say the same.
    """
    times = fitted.path.times
    third = float(np.log(times[-1] / times[0])) / 3.0
    curve = fitted.held_out_along(times[-1] * np.exp([-third, 0.0]))
    assert curve is not None
    if curve.error[1] < _NOTHING_LEFT:
        return False
    return bool(curve.error[0] - curve.error[1] > _WORTH_WHILE * curve.error[1] * third)


def _nearly_all_alone(fitted: Fitted) -> bool:
    """Nearly everybody has a taste, and it halves the errors: their votes tell each other."""
    found, common = fitted.held_out, fitted.held_out_of_one_ranking
    assert found is not None and common is not None
    many = fitted.active_count[0] >= _ALONE * fitted.votes.n_annotators
    return many and fitted.votes.n_annotators > 2 and found.wrong < 0.5 * common.wrong
