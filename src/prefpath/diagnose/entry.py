"""Up to what time entries on the path can be trusted: paths of copies without the effect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from prefpath.diagnose.ballots import Ballots
from prefpath.diagnose.discoveries import Discoveries
from prefpath.diagnose.discovery import discover
from prefpath.diagnose.lean import estimate_leans
from prefpath.diagnose.multiplicity import check_rate
from prefpath.errors import SettingError, VoteError
from prefpath.fitted import Fitted, HasFitted, as_fitted
from prefpath.model.design import Floats
from prefpath.model.problem import Problem
from prefpath.path import Kind
from prefpath.solver.grid import make_grid
from prefpath.solver.solve import solve
from prefpath.votes import Votes
from prefpath.votes.encode import CodeArray, Labels
from prefpath.votes.trials import trials_of_rows


@dataclass(frozen=True, eq=False)
class EntryCutoff:
    """The time before which the expected share of false entries is at most `q`.

    Attributes
    ----------
    time : float or None
        Entries up to this time are named; None if not even the first can be.
    who : array of labels
        Those who entered by then, the earliest first.
    entry_times : array
        All entry times, ascending.
    false_share : array
        Estimated share of false entries among those up to each entry time.
    """

    kind: Kind
    q: float
    n_copies: int
    time: float | None
    who: Labels
    entry_times: Floats
    false_share: Floats


def calibrated_entry(
    model: Fitted | HasFitted,
    kind: Kind = "position_bias",
    *,
    q: float = 0.1,
    n_copies: int = 5,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> EntryCutoff:
    """Calibrate the path's entry times against paths of copies without the effect.

    For position bias a copy has the two sides of every vote swapped at random; for deviations
    its choices are drawn again from the fitted common model (and the lean of those who lean).
    Whoever enters on a copy's path does so by chance. As with knockoffs, up to time t

        share of false entries <= (1 / n_copies + mean entries in copies) / entries

    Parameters
    ----------
    model : fitted PreferenceModel, or Fitted
        Each copy costs one more path, at the model's own times.
    kind : {"position_bias", "deviation"}
    q : float
        Largest expected share of false entries.
    n_copies : int
    seed : int
    progress : callable, optional
        Called with 1 after every copy.

    References
    ----------
    Barber, Candes (2015): Controlling the false discovery rate via knockoffs.

    Examples
    --------
    >>> from prefpath import PreferenceModel, simulate_crowd
    >>> crowd = simulate_crowd(3000, 30, 5, activity="even", deviants=0, clickers=3, seed=1)
    >>> cutoff = calibrated_entry(PreferenceModel(cv=0).fit(crowd.votes), q=0.3, n_copies=2)
    >>> set(crowd.clickers) <= set(cutoff.who)
    True
    """
    check_rate(q)
    if kind not in ("position_bias", "deviation"):
        raise SettingError(f"kind is {kind!r}", expected="'position_bias' or 'deviation'")
    if n_copies < 1:
        raise SettingError(f"n_copies is {n_copies}", expected="at least 1 copy")
    fitted = as_fitted(model)
    votes = fitted.votes
    if votes.n_annotators < 2:
        raise VoteError("there is one annotator", expected="at least two annotators")
    if kind == "position_bias" and not (
        fitted.problem.position_bias and votes.position_known.any()
    ):
        raise VoteError(
            "the model has no position bias",
            expected="votes whose sides are known, and position_bias=True",
        )
    rng = np.random.default_rng(seed)
    copies = _copier(fitted, kind, seed)
    chance = []
    for _ in range(n_copies):
        chance.append(_path_of_copy(fitted, copies(rng), kind))
        if progress is not None:
            progress(1)
    return _cutoff(fitted, kind, q, chance)


def _cutoff(fitted: Fitted, kind: Kind, q: float, chance: list[Floats]) -> EntryCutoff:
    """The last entry up to which the estimated share of false ones is at most q."""
    entered = fitted.path.entry_times(kind)
    order = np.argsort(entered, kind="stable")
    order = order[np.isfinite(entered[order])]
    times = entered[order]
    by_chance = np.sort(np.concatenate(chance))
    false = (1.0 + np.searchsorted(by_chance, times, side="right")) / len(chance)
    share = np.fmin(false / np.searchsorted(times, times, side="right").clip(1), 1.0)
    below = np.flatnonzero(share <= q)
    last = int(below[-1]) + 1 if len(below) else 0
    return EntryCutoff(
        kind=kind,
        q=q,
        n_copies=len(chance),
        time=float(times[last - 1]) if last else None,
        who=fitted.votes.annotators[order[:last]],
        entry_times=times,
        false_share=share,
    )


def _path_of_copy(fitted: Fitted, votes: Votes, kind: Kind) -> Floats:
    """Entry times on the path of a copy, with the fit's own settings and times."""
    problem, path = fitted.problem, fitted.path
    copy = Problem.build(
        votes,
        loss=problem.loss,
        features=problem.features,
        penalty=problem.penalty,
        position_bias=problem.position_bias and bool(votes.position_known.any()),
        common_position=problem.common_position,
        kappa=problem.kappa,
        balance=fitted.balanced,
    )
    solved = solve(
        copy,
        make_grid(path.times, path.n_times, 2.0),
        solver=path.solver,  # type: ignore[arg-type]
        common=fitted.common,
        step=path.step,
        n_threads=fitted.n_threads,
    )
    return solved.entry_times(kind)


def _copier(fitted: Fitted, kind: Kind, seed: int) -> Callable[[np.random.Generator], Votes]:
    votes, problem = fitted.votes, fitted.problem
    if kind == "position_bias":
        return lambda rng: flip_sides(votes, rng)
    found = discover(
        votes,
        loss=problem.loss,
        features=problem.features,
        position_bias=problem.position_bias,
        common_position=problem.common_position,
        seed=seed,
        n_threads=fitted.n_threads,
    )
    probability = _null_probability(fitted, found)
    return lambda rng: choose_again(votes, probability, rng)


def _null_probability(fitted: Fitted, found: Discoveries) -> Floats:
    """Probability that each row's left item is chosen by someone without a taste of their own."""
    votes, ballots = fitted.votes, Ballots.of_problem(fitted.problem)
    scores = found.consensus.scores
    own = estimate_leans(ballots, ballots.margin(scores), interval=False).estimate
    lean = np.where(found.leaning, own, found.consensus.position)
    known = votes.position_known & fitted.use_position
    margin = scores[votes.left] - scores[votes.right] + known * lean[votes.annotator]
    return ballots.probability(margin)


def flip_sides(votes: Votes, rng: np.random.Generator) -> Votes:
    """The same votes with the two sides of each swapped, or not, at even odds."""
    n = trials_of_rows(votes)
    flipped = np.where(votes.position_known, rng.binomial(n.astype(np.int64), 0.5), 0) / n
    return _two_rows(
        votes,
        flipped,
        left=(votes.left, votes.right),
        right=(votes.right, votes.left),
        choice=(votes.choice, -votes.choice),
    )


def choose_again(votes: Votes, probability: Floats, rng: np.random.Generator) -> Votes:
    """The same comparisons with choices drawn again; ties, and strengths, stay."""
    n = trials_of_rows(votes)
    size = np.abs(votes.choice)
    lost = 1.0 - rng.binomial(n.astype(np.int64), probability) / n
    return _two_rows(
        votes,
        np.where(size > 0, lost, 0.0),
        left=(votes.left, votes.left),
        right=(votes.right, votes.right),
        choice=(size, -size),
    )


def _two_rows(
    votes: Votes,
    share: Floats,
    *,
    left: tuple[CodeArray, CodeArray],
    right: tuple[CodeArray, CodeArray],
    choice: tuple[Floats, Floats],
) -> Votes:
    """Each row as two: the second has a share of its weight. Rows without weight are left out."""
    weight = np.concatenate((votes.weight * (1.0 - share), votes.weight * share))
    kept = np.flatnonzero(weight > 0)
    row = kept % votes.n_rows
    return Votes.from_codes(
        votes.annotator[row],
        np.concatenate(left)[kept],
        np.concatenate(right)[kept],
        np.concatenate(choice)[kept],
        weight[kept],
        annotators=votes.annotators,
        items=votes.items,
        position_known=votes.position_known[row],
    )
