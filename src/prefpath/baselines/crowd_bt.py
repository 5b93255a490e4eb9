"""CrowdBT: Bradley-Terry in which every annotator tells the truth with their own probability."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import optimize
from scipy.special import expit, log_expit, logit

from prefpath.baselines.base import Baseline, Fit, Grid, Votings, as_grid, centred
from prefpath.baselines.training import Design, Training
from prefpath.errors import PrefpathError, VoteWarning
from prefpath.votes.encode import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class CrowdBT(Baseline):
    """P(u says i over j) = r_u * sigmoid(s_i - s_j) + (1 - r_u) * sigmoid(s_j - s_i).

    Annotator u has reliability r_u: 1 always honest, 1/2 a coin, 0 always contrary. Scores
    (features @ eta, or free) and reliabilities maximise the penalised likelihood together, by
    L-BFGS, from equal scores and equally reliable annotators. A tie is half a win and half a loss.

    `margin` and `predict_proba` are those of the annotator who voted (contrary ones flip the
    sign); someone who never voted has the prior's reliability.

    Parameters
    ----------
    virtual : float or tuple of float
        Votes each item wins, and loses, against a virtual item of score 0.
    honest, contrary : float
        Votes of each kind given to every annotator beforehand.

    References
    ----------
    X. Chen, P. N. Bennett, K. Collins-Thompson and E. Horvitz (2013). Pairwise ranking
    aggregation in a crowdsourced setting. WSDM.
    """

    name: ClassVar[str] = "CrowdBT"
    probabilistic: ClassVar[bool] = True
    uses_annotators: ClassVar[bool] = True

    virtual: Grid = (1.0, 0.3, 0.1)
    honest: float = 10.0
    contrary: float = 1.0

    def _fit_path(self, training: Training) -> Sequence[Fit]:
        likelihood = CrowdLikelihood.from_training(training, self.honest, self.contrary)
        n_coefs = training.item_design.shape[1]
        prior = logit(self.honest / (self.honest + self.contrary))
        found = np.concatenate([np.zeros(n_coefs), np.full(training.votes.n_annotators, prior)])
        path = []
        for virtual in as_grid(self.virtual):  # each starts where the one before ended
            found = maximise(likelihood, virtual, start=found)
            scores = centred(training.item_design @ found[:n_coefs], training.item_weight)
            path.append(Fit(scores, {"virtual": virtual}, reliability=expit(found[n_coefs:])))
        return path

    def reliability(self) -> FloatArray:
        """Probability that each annotator (in the order of votes.annotators) is honest."""
        learnt = self._learnt.fit.reliability
        if learnt is None:  # every CrowdBT fit has them
            raise PrefpathError("this fit has no reliabilities")
        return learnt

    def _margins(self, fit: Fit, asked: Votings) -> FloatArray:
        prior = self.honest / (self.honest + self.contrary)
        known = np.append(np.empty(0) if fit.reliability is None else fit.reliability, prior)
        trust = logit(known)[asked.annotator]  # code -1, someone unknown, is the last entry
        margin = fit.scores[asked.left] - fit.scores[asked.right]
        return _log_mixture(trust, margin) - _log_mixture(trust, -margin)


@dataclass(frozen=True, eq=False)
class CrowdLikelihood:
    """Votes as (winner, loser, annotator, weight); a tie is two of them, half as heavy."""

    winner: IntArray
    loser: IntArray
    annotator: IntArray
    weight: FloatArray
    item_design: Design
    n_items: int
    n_annotators: int
    honest: float
    contrary: float

    @classmethod
    def from_training(cls, training: Training, honest: float, contrary: float) -> CrowdLikelihood:
        votes, choice = training.votes, training.votes.choice
        rows = [np.flatnonzero((sign * choice >= 0) & (training.weight > 0)) for sign in (1, -1)]
        both = np.concatenate(rows)
        left_won = np.repeat([True, False], [len(part) for part in rows])
        return cls(
            winner=np.where(left_won, votes.left[both], votes.right[both]).astype(np.int64),
            loser=np.where(left_won, votes.right[both], votes.left[both]).astype(np.int64),
            annotator=votes.annotator[both].astype(np.int64),
            weight=training.weight[both] * np.where(choice[both] == 0, 0.5, 1.0),
            item_design=training.item_design,
            n_items=training.n_items,
            n_annotators=votes.n_annotators,
            honest=honest,
            contrary=contrary,
        )

    def loss_and_gradient(self, parameters: FloatArray, virtual: float) -> tuple[float, FloatArray]:
        """Negative penalised log-likelihood in (coefficients, logit reliabilities)."""
        n_coefs = self.item_design.shape[1]
        scores, trust = self.item_design @ parameters[:n_coefs], parameters[n_coefs:]
        margin = scores[self.winner] - scores[self.loser]
        agrees, reliable = expit(margin), expit(trust)[self.annotator]
        probability = reliable * agrees + (1.0 - reliable) * expit(-margin)
        # Posterior probability that the vote was honest: the E-step, and both derivatives.
        honest = reliable * agrees / probability
        loss = -self.weight @ np.log(probability)
        loss -= virtual * (log_expit(scores) + log_expit(-scores)).sum()
        loss -= (self.honest * log_expit(trust) + self.contrary * log_expit(-trust)).sum()
        pull = self.weight * (agrees - honest)
        to_scores = np.bincount(self.winner, pull, self.n_items)
        to_scores -= np.bincount(self.loser, pull, self.n_items)
        to_scores += virtual * (2.0 * expit(scores) - 1.0)
        push = self.weight * (reliable - honest)
        to_trust = np.bincount(self.annotator, push, self.n_annotators)
        to_trust += (self.honest + self.contrary) * expit(trust) - self.honest
        return float(loss), np.concatenate([self.item_design.T @ to_scores, to_trust])


def maximise(likelihood: CrowdLikelihood, virtual: float, *, start: FloatArray) -> FloatArray:
    """Coefficients and logit reliabilities of the largest penalised likelihood near `start`."""
    found = optimize.minimize(
        likelihood.loss_and_gradient,
        start,
        args=(virtual,),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-9, "gtol": 1e-4},
    )
    if not found.success:
        warnings.warn(f"CrowdBT did not converge: {found.message}", VoteWarning, stacklevel=2)
    return np.asarray(found.x, dtype=float)


def _log_mixture(trust: FloatArray, margin: FloatArray) -> FloatArray:
    """log(r * sigmoid(margin) + (1 - r) * sigmoid(-margin)), r = sigmoid(trust)."""
    mixture: FloatArray = np.logaddexp(
        log_expit(trust) + log_expit(margin), log_expit(-trust) + log_expit(-margin)
    )
    return mixture
