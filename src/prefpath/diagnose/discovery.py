"""Who leans and who deviates: tests of every annotator, at a target false-discovery rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.consensus import CommonModel, Consensus
from prefpath.diagnose.lean import estimate_leans
from prefpath.diagnose.multiplicity import benjamini_hochberg, check_rate, soften
from prefpath.diagnose.pvalues import Draws, lean_p_values, taste_p_values
from prefpath.errors import SettingError, VoteError
from prefpath.model.design import Floats
from prefpath.model.losses import Loss
from prefpath.votes import Votes
from prefpath.votes.encode import BoolArray, Labels

Null = Literal["model", "empirical"]

LEAST_VOTES = 5
# Deviants pull the common score; those found are taken out of it and everybody is tested
# again. After two or three rounds the scores have settled.
_MOST_ROUNDS = 3
_LEFT_IN = 0.01  # what a vote taken out still weighs: enough where nobody else saw an item
_FEWEST_FOR_EMPIRICAL = 50


@dataclass(frozen=True, eq=False)
class Discoveries:
    """Tests of every annotator, and who is named at the target false-discovery rate.

    Attributes
    ----------
    p_lean, p_taste : array (n_annotators,)
        P-values; not a number where too few votes allow no test.
    leaning, deviating : array of bool (n_annotators,)
        Named by Benjamini and Hochberg's rule, each list at rate `q`.
    consensus : Consensus
        Common scores from those who follow them.
    set_aside : array of bool (n_annotators,)
        Whose votes the common scores were fitted without.
    null_shift, null_scale : dict
        For "lean" and "taste": centre and spread of the normal scores of the p-values among
        the bulk of annotators; 0 and 1 where the common model holds. Larger: everybody
        deviates a little (see `null="empirical"`).
    """

    annotators: Labels
    p_lean: Floats
    p_taste: Floats
    leaning: BoolArray
    deviating: BoolArray
    consensus: Consensus
    set_aside: BoolArray
    q: float
    null: Null
    null_shift: dict[str, float]
    null_scale: dict[str, float]

    @property
    def who_leans(self) -> Labels:
        """Labels of those named as leaning, the clearest first."""
        return self._named(self.leaning, self.p_lean)

    @property
    def who_deviates(self) -> Labels:
        """Labels of those named as deviating, the clearest first."""
        return self._named(self.deviating, self.p_taste)

    def _named(self, chosen: BoolArray, p: Floats) -> Labels:
        found = np.flatnonzero(chosen)
        return self.annotators[found[np.argsort(p[found], kind="stable")]]


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
    n_draws: int = 2_000,
    seed: int = 0,
    n_threads: int | None = None,
) -> Discoveries:
    """Name those who lean to a side and those with a taste of their own.

    Both are score tests at the common model. Lean: the sum of an annotator's residuals, against
    the same sum with the sides of every vote swapped at random. Taste: the squared norm of the
    score in their deviation, with their lean profiled out, against choices drawn again from
    the common model for their own comparisons. Each list is cut by Benjamini and Hochberg at
    rate `q`. Those named are taken out of the common scores and everybody is tested again
    until the lists settle.

    Parameters
    ----------
    loss, features, position_bias, common_position
        As in `fit_path`. Without `position_bias` nobody is tested for a lean; with
        `common_position` a lean is one beyond that of everybody.
    q : float
        Target false-discovery rate of each list.
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
    Benjamini, Hochberg (1995): Controlling the false discovery rate. le Cessie, van Houwelingen
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
    return discover_in(ballots, how, position_bias=position_bias, common_position=common_position)


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
    ballots: Ballots, how: Settings, *, position_bias: bool, common_position: bool
) -> Discoveries:
    """`discover`, where the ballots have been made already."""
    tested = ballots.decisive >= how.least_votes
    _check_enough(ballots.votes, tested, how.null, how.least_votes)
    who = _Tested(lean=tested & (ballots.sided > 0) & position_bias, taste=tested)
    common = CommonModel(ballots, common_position=common_position)
    consensus, aside = _settle(ballots, common, who, how.q, how.draws)
    p_lean, p_taste = _test(ballots, consensus, aside, who, how.draws)
    shift, scale = {}, {}
    judged = {}
    for name, p in (("lean", p_lean), ("taste", p_taste)):
        softer, shift[name], scale[name] = soften(p)
        judged[name] = softer if how.null == "empirical" else p
    return Discoveries(
        annotators=ballots.votes.annotators,
        p_lean=judged["lean"],
        p_taste=judged["taste"],
        leaning=benjamini_hochberg(judged["lean"], how.q),
        deviating=benjamini_hochberg(judged["taste"], how.q),
        consensus=consensus,
        set_aside=aside,
        q=how.q,
        null=how.null,
        null_shift=shift,
        null_scale=scale,
    )


class _Tested(NamedTuple):
    """Who is tested for what."""

    lean: BoolArray
    taste: BoolArray


def _settle(
    ballots: Ballots, common: CommonModel, tested: _Tested, q: float, draws: Draws
) -> tuple[Consensus, BoolArray]:
    """Common scores from those who follow them, and who was set aside for that."""
    aside = np.zeros(ballots.n_annotators, dtype=bool)
    consensus = common.fit()
    for _ in range(_MOST_ROUNDS):
        p_lean, p_taste = _test(ballots, consensus, aside, tested, draws.quick())
        named = benjamini_hochberg(p_lean, q) | benjamini_hochberg(p_taste, q)
        named = _at_most_half(named, np.fmin(p_lean, p_taste), ballots.decisive)
        if (named == aside).all():
            break
        aside = named
        consensus = common.fit(np.where(aside, _LEFT_IN, 1.0))
    return consensus, aside


def _at_most_half(named: BoolArray, p: Floats, votes: Floats) -> BoolArray:
    """The clearest of those named, as long as half of all votes stay in."""
    found = np.flatnonzero(named)
    order = found[np.lexsort((-votes[found], p[found]))]
    fits = np.cumsum(votes[order]) <= 0.5 * votes.sum()
    result = np.zeros_like(named)
    result[order[fits]] = True
    return result


def _test(
    ballots: Ballots, consensus: Consensus, aside: BoolArray, tested: _Tested, draws: Draws
) -> tuple[Floats, Floats]:
    """P-values of lean and of taste against a common model."""
    plain = ballots.margin(consensus.scores)
    offset = ballots.add_lean(plain, consensus.position)
    p_lean = lean_p_values(ballots, offset, tested.lean, draws)
    own = estimate_leans(ballots, plain, interval=False, n_threads=draws.n_threads).estimate
    margin = ballots.add_lean(plain, own)
    p_taste = taste_p_values(ballots, margin, consensus.score_error, aside, tested.taste, draws)
    return p_lean, p_taste


def _check_enough(votes: Votes, tested: BoolArray, null: Null, least_votes: int) -> None:
    if votes.n_annotators < 2:
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
            f'{int(tested.sum())} annotators can be tested, and null="empirical" reads what is '
            "ordinary off them",
            expected=f"at least {_FEWEST_FOR_EMPIRICAL} annotators with enough votes",
            remedy='use null="model"',
        )
