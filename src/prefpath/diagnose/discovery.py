"""Who leans, deviates or attends otherwise: tests of everybody, at a false-discovery rate."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.consensus import CommonModel, Consensus
from prefpath.diagnose.discoveries import Discoveries, Null
from prefpath.diagnose.examined import Examined, Found, Question, Tested, VotesHere
from prefpath.diagnose.multiplicity import benjamini_hochberg, check_rate, simes, soften
from prefpath.diagnose.pvalues import Draws
from prefpath.diagnose.without_own import compare_with_others
from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Floats
from prefpath.model.losses import Loss
from prefpath.stages import WHO_STANDS_OUT, tell
from prefpath.text import counted
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray

LEAST_VOTES = 5
# Deviants pull the common score; those found are taken out of it and everybody is tested
# again. After two or three rounds the scores have settled.
_MOST_ROUNDS = 3
_SETTLED = 0.02  # no score moved further: who is named would hardly change
_LEFT_IN = 0.01  # what a vote taken out still weighs: enough where nobody else saw an item
_FEWEST_FOR_EMPIRICAL = 50
_PAIR = 2  # of two annotators neither is a crowd to the other
_BARELY_ATTENDS = 0.5  # slope below which someone named pulls the scores more than they inform


def discover(
    votes: Votes,
    *,
    loss: str | Loss = "bradley-terry",
    features: Floats | None = None,
    position_bias: bool = True,
    common_position: bool = False,
    q: float = 0.1,
    null: Null = "model",
    least_votes: int = LEAST_VOTES,
    n_draws: int = 1_000,
    seed: int = 0,
    n_threads: int | None = None,
) -> Discoveries:
    """Name those who lean to a side, have a taste of their own, or attend otherwise.

    All are score tests at the common model. Lean: the sum of an annotator's residuals, against
    the same sum with the sides of every vote swapped at random. Taste: the squared norm of the
    score in their deviation, with their lean profiled out, against choices drawn again from
    the common model for their own comparisons. Attention: the slope on the common score
    differences, fitted without their own votes, against all outcomes of their comparisons. Each
    list is cut by Benjamini and Hochberg at rate `q`, and so is that of who stands out in any
    (Simes' p-value of the tests together). Those named are taken out of the common
    scores and everybody is tested again until the lists settle.

    Parameters
    ----------
    loss, features, position_bias, common_position
        As in `fit_path`. Without `position_bias` nobody is tested for a lean; with
        `common_position` a lean is one beyond that of everybody.
    q : float
        Target false-discovery rate of each list, and of all lists together.
    null : {"model", "empirical"}
        Whom to call ordinary: who follows the common model exactly, or who deviates from it no
        more than the bulk of annotators does (needs 50 annotators; for crowds in which
        everybody deviates a little).
    least_votes : int
        Annotators with fewer decisive votes are not tested.
    n_draws : int
        Most draws for one annotator; smaller p-values are read off a fitted tail.
    seed : int

    Returns
    -------
    Discoveries

    References
    ----------
    Benjamini, Hochberg (1995): Controlling the false discovery rate. Lugannani, Rice (1980):
    Saddlepoint approximation for the distribution of the sum. le Cessie, van Houwelingen
    (1995): Testing the fit of a regression model via score tests in random effects models.
    Besag, Clifford (1991): Sequential Monte Carlo p-values. Efron (2004): Large-scale
    simultaneous hypothesis testing: the choice of a null hypothesis.

    Examples
    --------
    >>> from prefpath.simulate import simulate_crowd
    >>> crowd = simulate_crowd(6_000, 60, 8, activity="even", deviants=2, clickers=2, seed=1)
    >>> found = discover(crowd.votes)
    >>> set(found.who_leans) == set(crowd.clickers), set(found.who_deviates) == set(crowd.deviants)
    (True, True)
    """
    how = Settings(q, null, least_votes, Draws(n_draws, seed, n_threads))
    use_position = position_bias or common_position
    ballots = Ballots.of(votes, loss=loss, features=features, use_position=use_position)
    examined = VotesHere(ballots, n_threads)
    return discover_in(examined, how, position_bias=position_bias, common_position=common_position)


@dataclass(frozen=True)
class Settings:
    """How to name people: at which rate, against whom, from how many votes, with which draws."""

    q: float
    null: Null
    least_votes: int
    draws: Draws

    def __post_init__(self) -> None:
        check_rate(self.q)
        if self.null not in ("model", "empirical"):
            raise SettingError(f"null is {self.null!r}", expected="'model' or 'empirical'")
        if self.draws.n_draws < 100:
            raise SettingError(f"n_draws is {self.draws.n_draws}", expected="at least 100 draws")
        if self.least_votes < 1:
            raise SettingError(f"least_votes is {self.least_votes}", expected="at least 1 vote")


def discover_in(
    votes: Examined, how: Settings, *, position_bias: bool, common_position: bool
) -> Discoveries:
    """`discover`, of votes that are here or elsewhere."""
    tested = votes.decisive >= how.least_votes
    _check_enough(len(tested), tested, how.null, how.least_votes)
    who = Tested(lean=tested & (votes.sided > 0) & position_bias, taste=tested)
    common = CommonModel(votes, common_position=common_position)
    tell(WHO_STANDS_OUT, 0.0)
    consensus, aside, unlike = _settle(votes, common, who, how.q, how.draws)
    tell(WHO_STANDS_OUT, 0.4)
    compare_with_others(votes, common, consensus, aside, unlike=unlike)
    tell(WHO_STANDS_OUT, 0.5)
    found = votes.test(Question(consensus, how.draws, True, aside, who))
    tell(WHO_STANDS_OUT, 0.8)
    judged, named, shift, scale = {}, {}, {}, {}
    for name, p in found.p.items():
        softer, shift[name], scale[name] = soften(p)
        judged[name] = softer if how.null == "empirical" else p
    # Who is on any list is one list too, and its rate is the one a reader sees.
    stands_out = benjamini_hochberg(simes(*judged.values()), how.q)
    for name, p in judged.items():
        named[name] = stands_out & benjamini_hochberg(p, how.q)
    return Discoveries(
        annotators=votes.annotators,
        p_lean=judged["lean"],
        p_taste=judged["taste"],
        p_attention=judged["attention"],
        leaning=named["lean"],
        deviating=named["taste"],
        unlike_in_attention=named["attention"],
        attention=found.attention,
        consensus=consensus,
        margins=votes.margins,
        set_aside=aside,
        q=how.q,
        null=how.null,
        null_shift=shift,
        null_scale=scale,
    )


def _settle(
    votes: Examined, common: CommonModel, tested: Tested, q: float, draws: Draws
) -> tuple[Consensus, BoolArray, BoolArray]:
    """Common scores from those who follow them, who was set aside for that, who sees otherwise."""
    # Scores that are mostly one annotator's would show nothing of how the others differ.
    aside, unlike = _has_most(votes.decisive), np.zeros(len(votes.decisive), dtype=bool)
    consensus = common.fit(np.where(aside, _LEFT_IN, 1.0))
    for k in range(_MOST_ROUNDS):
        compare_with_others(votes, common, consensus, aside, unlike=unlike, refit=False)
        found = votes.test(Question(consensus, draws.quick(), False, aside, tested))
        unlike = benjamini_hochberg(found.p["attention"], q)
        named = _pulls_the_scores(found, unlike, q)
        smallest = np.fmin(np.fmin(found.p["lean"], found.p["taste"]), found.p["attention"])
        named = _at_most_half(named, smallest, votes.decisive)
        if (named == aside).all():
            break
        tell(WHO_STANDS_OUT, min(0.4, 0.15 * (k + 1)))
        aside, last = named, consensus.scores
        consensus = common.fit(np.where(aside, _LEFT_IN, 1.0))
        if np.abs(consensus.scores - last).max() < _SETTLED:
            break
    return consensus, aside, _at_most_half(unlike, found.p["attention"], votes.decisive)


def _pulls_the_scores(found: Found, unlike: BoolArray, q: float) -> BoolArray:
    """Who is named, but for those who see sharply: their votes say most about the scores."""
    barely = found.attention.first_step < _BARELY_ATTENDS
    named = benjamini_hochberg(found.p["lean"], q) | benjamini_hochberg(found.p["taste"], q)
    return named | (unlike & barely)


def _has_most(votes: Floats) -> BoolArray:
    """Who alone cast more votes than all others together, if these are several."""
    return (2.0 * votes > votes.sum()) & ((votes > 0).sum() > _PAIR)


def _at_most_half(named: BoolArray, p: Floats, votes: Floats) -> BoolArray:
    """The clearest of those named, as long as half of all votes stay in.

    Who alone cast most votes counts as one voice among several: otherwise the scores would be
    theirs, and everybody who shares another ranking would be named for it.
    """
    alone = _has_most(votes)
    others = votes[~alone]
    counted_as = np.where(alone, others.sum() / max(1, (others > 0).sum()), votes)
    found = np.flatnonzero(named)
    order = found[np.lexsort((-votes[found], p[found]))]
    fits = np.cumsum(counted_as[order]) <= 0.5 * counted_as.sum()
    result = np.zeros_like(named)
    result[order[fits]] = True
    return result


def _check_enough(n_annotators: int, tested: BoolArray, null: Null, least_votes: int) -> None:
    if n_annotators < 2:
        raise VoteError(
            "there is one annotator",
            expected="at least two annotators: one to differ from the other",
        )
    if not tested.any():
        raise VoteError(
            f"no annotator has {least_votes} votes that prefer an item",
            expected=f"at least one annotator with {least_votes} decisive votes",
            remedy="collect more votes for each annotator, or lower least_votes",
        )
    if null == "empirical" and tested.sum() < _FEWEST_FOR_EMPIRICAL:
        raise VoteError(
            f'{counted(tested.sum(), "annotator")} can be tested, and null="empirical" reads '
            "what is ordinary off them",
            expected=f"at least {_FEWEST_FOR_EMPIRICAL} annotators with enough votes",
            remedy='use null="model"',
        )
