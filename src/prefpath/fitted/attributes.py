"""The attributes of a fitted estimator, read from its `Fitted`."""

from __future__ import annotations

from prefpath.fitted.fitted import Fitted
from prefpath.model.features import ItemFeatures
from prefpath.path import Path
from prefpath.selection.cross_validation import CrossValidation
from prefpath.votes import Votes
from prefpath.votes.encode import CodeArray


class FittedAttributes:
    """`votes_`, `path_`, `t_` and the others, for a class that keeps a `fitted_`."""

    fitted_: Fitted

    @property
    def votes_(self) -> Votes:
        """The votes it was fitted to."""
        return self.fitted_.votes

    @property
    def path_(self) -> Path:
        """The regularization path."""
        return self.fitted_.path

    @property
    def cv_(self) -> CrossValidation | None:
        """Held-out errors along the path."""
        return self.fitted_.cross_validation

    @property
    def t_(self) -> float:
        """The time at which everything is said."""
        return self.fitted_.t

    @property
    def balanced_(self) -> bool:
        """Whether the penalty was balanced by activity."""
        return self.fitted_.balanced

    @property
    def component_(self) -> CodeArray:
        """Group of each item; ranks hold within one."""
        return self.fitted_.component

    @property
    def features_(self) -> ItemFeatures | None:
        """Features of the items, if any."""
        return self.fitted_.item_features

    @property
    def n_features_in_(self) -> int:
        """Number of item features; only there with features."""
        if self.fitted_.features is None:
            raise AttributeError("the model was fitted without features")
        return self.fitted_.features.shape[1]
