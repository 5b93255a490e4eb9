"""`rank`: the plain ranking of votes, whatever they come as."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from prefpath.errors import SettingError, VoteError
from prefpath.inference.loose import loose_items, voices_of
from prefpath.inference.ranks import rank_intervals
from prefpath.inference.words import placed_words
from prefpath.leaderboard import ties_meaning
from prefpath.model.losses import Loss, as_loss
from prefpath.pairs import BoundedFit, fit_bounded, pool_votes
from prefpath.pairs.fit import logistic_derivatives
from prefpath.pairs.laplacian import DENSE_UP_TO
from prefpath.plain.arrays import CodedComparisons
from prefpath.plain.plain_csv import read_plain_csv
from prefpath.plain.ranking import Bounds, PlainRanking
from prefpath.plain.standard_errors import score_errors
from prefpath.population import FEWEST_ANNOTATORS
from prefpath.trust.words import counted, named
from prefpath.votes import Votes, read_votes
from prefpath.votes.encode import BoolArray
from prefpath.votes.graph import components_of_pairs

FITTED = ("bradley-terry", "thurstone-mosteller", "linear")


def rank(
    x: Any,
    *,
    method: str = "bradley-terry",
    interval: float | None = 0.95,
    weight: ArrayLike | str | None = None,
    **reading: Any,
) -> PlainRanking:
    """Rank items by one score each, from everybody's votes.

    Nobody's taste or side is looked at: this is the ranking before `PreferenceModel` asks who
    sees things differently. A tie is half a win and half a loss.

    Parameters
    ----------
    x : Votes, path, data frame, or tuple of four arrays
        Arrays are annotators (or None), left items, right items and choices: 1 or "left", -1
        or "right", 0 or "tie".
    method : str
        "bradley-terry", "thurstone-mosteller" or "linear" (HodgeRank), by maximum likelihood or
        least squares; or a baseline that gives scores ("borda", "elo", "crowdbt", ...), which
        has no intervals.
    interval : float or None
        Level of the intervals. They are clustered by annotator where there are at least two,
        and take votes as independent otherwise. None: scores only, which is faster.
    weight : array-like or str, optional
        What each vote weighs: an array with arrays, a column's name with a path or a frame.
    **reading
        With a path or a frame: further options of `read_votes`.

    Returns
    -------
    PlainRanking

    Examples
    --------
    >>> who, left, right = ["ann", "ann", "bob", "bob"], list("aabc"), list("bccb")
    >>> found = rank((who, left, right, ["left", "left", "left", "left"]), interval=None)
    >>> found.items[found.ranks == 1].tolist(), found.bounded.tolist()
    (['a'], [False, True, True])
    """
    _check_level(interval)
    if method in FITTED and weight is None and not reading:
        plain = read_plain_csv(x, with_annotators=interval is not None)
        if plain is not None:
            return _fitted_ranking(plain, as_loss(method), interval)
    votes, comparisons = _as_comparisons(x, weight, reading)
    if method in FITTED:
        return _fitted_ranking(comparisons, as_loss(method), interval)
    return _baseline_ranking(votes or _as_votes(comparisons), method)


def _as_comparisons(
    x: Any, weight: ArrayLike | str | None, reading: dict[str, Any]
) -> tuple[Votes | None, CodedComparisons]:
    if isinstance(x, tuple):
        if reading:
            raise SettingError(
                f"options of reading with arrays: {', '.join(reading)}",
                expected="weight, method and interval",
            )
        return None, CodedComparisons.of_arrays(x, weight)
    if isinstance(x, CodedComparisons):
        return None, x
    if isinstance(x, Votes):
        if weight is not None or reading:
            raise SettingError("weights or options of reading beside Votes", expected="Votes alone")
        return x, CodedComparisons.of_votes(x)
    if weight is not None and not isinstance(weight, str):
        raise SettingError(
            "an array of weights beside a file or a frame",
            expected="the name of its column of weights",
        )
    votes = read_votes(x, weight=weight, **reading)
    return votes, CodedComparisons.of_votes(votes)


def _check_level(interval: float | None) -> None:
    if interval is not None and not 0.0 < interval < 1.0:
        raise SettingError(f"interval is {interval}", expected="a level between 0 and 1, or None")


def _fitted_ranking(
    comparisons: CodedComparisons, loss: Loss, interval: float | None
) -> PlainRanking:
    counts = comparisons.counts
    _check_fits(comparisons, loss)
    derivatives = logistic_derivatives if loss.name == "bradley-terry" else loss.derivatives
    fitted = fit_bounded(counts, derivatives, binary=loss.binary)
    ties = ties_meaning(_share_of_ties(comparisons)) if loss.binary else None
    notes = (*_notes(comparisons, fitted), *filter(None, [ties]))
    bounds = None
    if interval is not None and counts.n_items > DENSE_UP_TO:
        notes += (f"No intervals: {counts.n_items:,} items are more than {DENSE_UP_TO:,}.",)
    elif interval is not None:
        errors = score_errors(comparisons, fitted, derivatives)
        voices = None
        if comparisons.n_annotators > 1 and comparisons.annotator is not None:
            voices = voices_of(comparisons.left, comparisons.right, comparisons.annotator)
        loose = loose_items(counts, errors, voices) if loss.binary else {}
        bounds = Bounds(*errors.interval(interval), *rank_intervals(errors, interval, loose))
        notes += (_meaning(comparisons),)
    return PlainRanking(
        items=comparisons.items,
        scores=fitted.scores,
        component=fitted.component,
        bounded=fitted.bounded,
        votes=counts.item_weight,
        wins=counts.item_wins,
        bounds=bounds,
        method=loss.name,
        level=None if bounds is None else interval,
        notes=notes,
        library=comparisons.library,
    )


def _check_fits(comparisons: CodedComparisons, loss: Loss) -> None:
    strongest = float(np.abs(comparisons.choice).max())
    if loss.binary and strongest > 1.0:
        raise VoteError(
            f"choices reach {strongest:g}, and {loss.name} knows only who won",
            expected="choices between -1 and 1",
            remedy='--method linear (method="linear") takes strengths; '
            '--grades weight (grades="weight") lets one of 3 weigh three times one of 1',
        )


def _notes(comparisons: CodedComparisons, fitted: BoundedFit) -> tuple[str, ...]:
    """What the votes cannot say."""
    notes = []
    n_groups = int(fitted.component.max()) + 1
    if n_groups > 1:
        notes.append(
            f"The items fall into {n_groups:,} groups that were never compared with each other: "
            "each is ranked by itself."
        )
    loose = ~fitted.bounded
    if loose.any():
        who = named(comparisons.items[loose].tolist())
        notes.append(
            f"The votes do not bound the score of {counted(loose, 'item')} ({who}): against the "
            f"others all votes go one way, or there are none. {placed_words(int(loose.sum()))}"
        )
    return tuple(notes)


def _share_of_ties(comparisons: CodedComparisons) -> float:
    return float(np.average(comparisons.choice == 0, weights=comparisons.weight))


def _meaning(comparisons: CodedComparisons) -> str:
    voter = comparisons.voter
    if comparisons.annotator is None:
        return "Intervals take votes as independent: nothing says who cast them."
    if comparisons.n_annotators == 1:
        return f"Intervals are about one {voter}'s votes: nothing tells how others would differ."
    n = comparisons.n_annotators
    if n < FEWEST_ANNOTATORS:
        return (
            f"Intervals include the sampling of {voter}s, and {n} are too few to speak for others "
            "like them. prefpath fit has intervals about these alone."
        )
    return f"Intervals include the sampling of {voter}s."


def _as_votes(comparisons: CodedComparisons) -> Votes:
    """`Votes` of arrays, for methods that need them."""
    n_rows = len(comparisons.left)
    who = comparisons.annotator
    return Votes.from_codes(
        np.zeros(n_rows, dtype=np.int32) if who is None else who,
        comparisons.left.astype(np.int32),
        comparisons.right.astype(np.int32),
        comparisons.choice.astype(np.float64),
        comparisons.weight,
        annotators=np.arange(max(comparisons.n_annotators, 1)),
        items=comparisons.items,
    )


def _baseline_ranking(votes: Votes, method: str) -> PlainRanking:
    from prefpath.baselines import BASELINES, make_baseline

    if method.lower() not in BASELINES:
        raise SettingError(
            f"there is no method {method!r}",
            expected=f"one of {', '.join((*FITTED, *BASELINES))}",
        )
    baseline = make_baseline(method).fit(votes)
    counts = pool_votes(votes)
    component = components_of_pairs(counts.first, counts.second, counts.n_items)
    compared: BoolArray = counts.item_weight > 0
    return PlainRanking(
        items=votes.items,
        scores=baseline.scores(),
        component=component,
        bounded=compared,
        votes=counts.item_weight,
        wins=counts.item_wins,
        bounds=None,
        method=baseline.name,
        level=None,
        notes=(f"{baseline.name} has no intervals.",),
        library=votes.frame_library,
    )
