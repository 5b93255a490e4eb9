"""How `PreferenceModel` is fitted: from votes to a `Fitted`."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from prefpath.errors import FindingWarning, VoteWarning
from prefpath.manners import Parameters
from prefpath.settings import check_seed

# The rest is imported where it is used: to name the class must not cost what a fit needs.
if TYPE_CHECKING:
    from prefpath.checkpoint import Place
    from prefpath.distributed.collected import Collected
    from prefpath.distributed.remote import Elsewhere, Remote, RemoteFit
    from prefpath.distributed.settings import Model
    from prefpath.fitted import Fitted
    from prefpath.fitted.follow import PathSettings, StopSettings
    from prefpath.model.features import ItemFeatures
    from prefpath.model.losses import Loss
    from prefpath.model.penalties import Penalty
    from prefpath.model.problem import Problem
    from prefpath.path import Path
    from prefpath.selection.criteria import Criterion
    from prefpath.selection.cross_validation import CrossValidation, Rule
    from prefpath.selection.folds import Over
    from prefpath.solver.grid import TimeRatio
    from prefpath.solver.solve import Solver
    from prefpath.solver.work import Common, Progress
    from prefpath.votes import Votes
    from prefpath.votes.encode import CodeArray
    from prefpath.votes.remote import RemoteVotes


class Fitting(Parameters):
    """Fits a model whose parameters are those of `PreferenceModel`."""

    loss: str | Loss
    features: Any
    penalty: str | Penalty | None
    position_bias: bool
    common_position: bool | Literal["auto"]
    attention: bool | Literal["auto"]
    kappa: float
    balance: bool | Literal["auto"]
    standardise: bool
    solver: Solver
    common: Common
    n_times: int
    t_ratio: TimeRatio
    cv: int
    cv_over: Over
    criterion: Criterion
    rule: Rule
    weak: bool | Literal["auto"]
    random_state: int | None
    n_threads: int | None
    fitted_: Fitted

    def fit_collected(
        self,
        collected: Collected,
        *,
        progress: Progress | None = None,
        checkpoint: Place | None = None,
    ) -> Self:
        """Fit votes that are on a cluster and on this machine (`distributed.collected`)."""
        return self._fit(collected.votes, progress, checkpoint, collected)

    def fit_elsewhere(
        self,
        elsewhere: Elsewhere,
        *,
        progress: Progress | None = None,
        checkpoint: Place | None = None,
    ) -> Self:
        """Fit votes that stay on a cluster: what each annotator's say is asked of the shards."""
        from prefpath.distributed.crowd import remote_problem
        from prefpath.distributed.remote import RemoteFit, survey_everybody
        from prefpath.fitted import follow

        votes, where = elsewhere
        cluster = where.cluster
        features, component, balanced = self._look_at(votes)
        model = self._model(votes, where, features, balanced)
        along, stop = self._how()
        path, found = follow.follow_elsewhere(
            cluster, votes, model, along, stop, progress, checkpoint
        )
        path = replace(path, annotators=votes.annotators)  # the same labels: kept once
        everybody = survey_everybody(cluster, model)
        problem = remote_problem(model, votes, everybody)
        remote = RemoteFit(cluster, where.numbering, where.layout, model, everybody.totals)
        return self._keep(problem, path, found, component, features, balanced, remote)

    def _fit(
        self,
        votes: Votes,
        progress: Progress | None,
        checkpoint: Place | None,
        collected: Collected | None = None,
    ) -> Self:
        from prefpath.fitted import follow

        features, component, balanced = self._look_at(votes)
        problem = self._problem(votes, features, balanced)
        along, stop = self._how()
        path, found = follow.follow(problem, along, stop, progress, checkpoint, collected)
        return self._keep(problem, path, found, component, features, balanced)

    def _look_at(self, votes: Votes) -> tuple[ItemFeatures | None, CodeArray, bool]:
        """Features and groups of the items, and whether to balance; says what votes cannot tell."""
        from prefpath.caveats import told_by_findings, told_here_only
        from prefpath.fitted import follow
        from prefpath.votes.graph import connected_components

        follow.check_yes_or_no(self.position_bias, "position_bias")
        follow.check_yes_or_no(self.standardise, "standardise")
        self._how()  # words nobody knows are refused here
        features = self._item_features(votes)
        component = connected_components(votes)
        has_features = self.features is not None
        for sentence in told_by_findings(votes, component, has_features, self.position_bias):
            warnings.warn(sentence, FindingWarning, stacklevel=4)
        for sentence in told_here_only(votes, self.position_bias):
            warnings.warn(sentence, VoteWarning, stacklevel=4)
        follow.check_switch(self.weak, "weak")
        check_seed("random_state", self.random_state)
        return features, component, follow.is_balanced(self.balance)

    def _how(self) -> tuple[PathSettings, StopSettings]:
        from prefpath.fitted.follow import PathSettings, StopSettings

        return (
            PathSettings(self.solver, self.common, self.n_times, self.t_ratio, self.n_threads),
            StopSettings(self.cv, self.cv_over, self.criterion, self.rule, self.random_state),
        )

    def _keep(
        self,
        problem: Problem,
        path: Path,
        found: CrossValidation | None,
        component: CodeArray,
        features: ItemFeatures | None,
        balanced: bool,
        remote: RemoteFit | None = None,
    ) -> Self:
        from prefpath.fitted import Fitted

        self.fitted_ = Fitted(
            problem,
            path,
            self._how()[1].time_on(path, found),
            component,
            cross_validation=found,
            item_features=features,
            balanced=balanced,
            common=self.common,
            seed=self.random_state,
            n_threads=self.n_threads,
            settings=self.get_params(),
            remote=remote,
        )
        self.classes_ = np.array([-1, 1])
        return self

    def _item_features(self, votes: Votes) -> ItemFeatures | None:
        from prefpath.model.features import as_item_features
        from prefpath.model.standardised import StandardisedFeatures

        features = as_item_features(self.features, votes.items)
        if features is None or not self.standardise:
            return features
        result = StandardisedFeatures.standardise(features, votes.items)
        for sentence in result.cautions(votes.items):
            warnings.warn(sentence, VoteWarning, stacklevel=3)
        return result

    def _problem(self, votes: Votes, features: ItemFeatures | None, balanced: bool) -> Problem:
        from prefpath.inference.own_attention import allow_for_attention
        from prefpath.inference.shared_lean import shares_a_lean
        from prefpath.model.problem import Problem

        problem = Problem.build(
            votes,
            loss=self.loss,
            penalty=self.penalty,
            features=None if features is None else features.of(votes.items),
            position_bias=self.position_bias and bool(votes.position_known.any()),
            common_position=shares_a_lean(
                self.common_position, votes, position_bias=self.position_bias
            ),
            kappa=self.kappa,
            balance=balanced,
        )
        unequal = allow_for_attention(self.attention, problem, self.common)
        return problem.with_attention() if unequal else problem

    def _model(
        self, votes: RemoteVotes, where: Remote, features: ItemFeatures | None, balanced: bool
    ) -> Model:
        """The model of votes on a cluster; what is to be decided by the votes, by the shards."""
        from prefpath.distributed.paths import as_model
        from prefpath.inference.remote_settings import decide

        model = as_model(
            {
                "loss": self.loss,
                "penalty": self.penalty,
                "features": None if features is None else features.of(votes.items),
                "position_bias": self.position_bias and bool(votes.position_known.any()),
                "common_position": False,
                "kappa": self.kappa,
                "balance": balanced,
                "attention": False,
            },
            votes.n_items,
        )
        common = self.common_position if self.position_bias else self.common_position is True
        return decide(model, votes, where, common, self.attention)
