"""An estimator's manners without importing scikit-learn, which alone takes two seconds.

`Parameters` is what scikit-learn asks of an estimator (`clone`, `cross_val_score`, grid search,
`check_estimator`): parameters by name, and tags. `FittedAttributes` are the attributes with an
underscore at their end, `Predictions` the methods that predict, `AnnotatorTables` those that
tell of annotators.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from prefpath.errors import SettingError

if TYPE_CHECKING:
    from prefpath.fitted import Fitted
    from prefpath.model.design import Floats
    from prefpath.model.features import ItemFeatures
    from prefpath.path import Path
    from prefpath.selection.cross_validation import CrossValidation
    from prefpath.selection.folds import Over
    from prefpath.votes import Votes
    from prefpath.votes.encode import CodeArray
    from prefpath.weak import WeakEffects


class Parameters:
    """Constructor arguments by name: each is an attribute of the same name, as given.

    Examples
    --------
    >>> from prefpath import PreferenceModel
    >>> PreferenceModel(cv=3).set_params(kappa=40.0).get_params()["kappa"]
    40.0
    """

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        found = inspect.signature(cls.__init__).parameters.values()
        return {one.name: one.default for one in found if one.name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Parameters by name; none of them has parameters of its own."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for {type(self).__name__}: it has "
                    f"{', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = (
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if not _same(getattr(self, name), default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=None,
            classifier_tags=None,
            regressor_tags=None,
        )


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter is as it comes; arrays and frames never are."""
    return value is default or (isinstance(value, str | int | float) and value == default)


def check_is_fitted(model: Any) -> None:
    """Scikit-learn's error for what was never fitted."""
    if not hasattr(model, "fitted_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(model).__name__} is not fitted yet: call fit first")


class FittedAttributes:
    """`votes_`, `path_`, `t_` and the others, for a class that keeps a `fitted_`.

    Examples
    --------
    >>> from prefpath import PreferenceModel, simulate_crowd
    >>> votes = simulate_crowd(400, 8, 4, seed=0).votes
    >>> model = PreferenceModel(cv=0, features=[[0.0], [1.0], [2.0], [4.0]]).fit(votes)
    >>> model.votes_.n_votes, model.t_ in model.path_.times, model.balanced_, model.cv_
    (400, True, True, None)
    >>> model.component_.tolist(), model.features_.names, model.n_features_in_, model.weak_
    ([0, 0, 0, 0], ('feature 1',), 1, None)
    """

    fitted_: Fitted
    cv: int
    cv_over: Over
    random_state: int | None
    weak: bool | Literal["auto"]
    _weak: tuple[Fitted, WeakEffects] | None = None

    def _known(self) -> Fitted:
        check_is_fitted(self)
        return self.fitted_

    @property
    def weak_(self) -> WeakEffects | None:
        """Everybody's small effects at the time chosen; None if the model does without."""
        from prefpath.weak import fit_weak

        fitted = self._known()
        wanted = self.cv > 0 and fitted.remote is None if self.weak == "auto" else self.weak
        if not wanted:
            return None
        if fitted.remote is not None:
            raise SettingError(
                "weak=True, and votes that stayed on the cluster",
                remedy="fit with collect=True, or pass weak=False",
            )
        if self._weak is None or self._weak[0] is not fitted:
            effects = fit_weak(fitted, over=self.cv_over, seed=self.random_state)
            self._weak = (fitted, effects)
        return self._weak[1]

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
        """Features of the items as given, if any."""
        return self.fitted_.given_features

    @property
    def n_features_in_(self) -> int:
        """Number of item features; only there with features."""
        if self.features_ is None:
            raise AttributeError("the model was fitted without features")
        return len(self.features_.names)


class Predictions(FittedAttributes):
    """Predictions of a class that keeps a `fitted_`.

    Examples
    --------
    >>> from prefpath import PreferenceModel, simulate_crowd
    >>> votes = simulate_crowd(400, 8, 4, seed=0).votes
    >>> model = PreferenceModel(cv=0).fit(votes)
    >>> margin, left = model.decision_function(votes), model.predict_proba(votes)[:, 1]
    >>> bool(((margin > 0) == (left > 0.5)).all()), set(model.predict(votes).tolist())
    (True, {1, -1})
    >>> 0.5 < model.score(votes) < 1
    True
    """

    group: str | None

    def decision_function(self, X: Any) -> Floats:
        """Margin of each comparison: above 0 the left item is expected to win.

        X is `Votes` or a frame of left, right and, where known, annotator. An annotator the
        model has not seen gets the common score (with `weak`, averaged over who they may be); an
        item it has not seen needs features.
        """
        from prefpath.comparisons import LabelledComparisons
        from prefpath.weak import weak_margins

        fitted, comparisons = self._known(), LabelledComparisons.of(X, self.group)
        if self.weak_ is None:
            return fitted.margins(comparisons)
        return weak_margins(fitted, self.weak_, comparisons)

    def predict(self, X: Any) -> Floats:
        """1 where the left item is expected to win, -1 where the right one is, 0 if neither."""
        return np.sign(self.decision_function(X)).astype(int)

    def predict_proba(self, X: Any) -> Floats:
        """Probability that the right and that the left item is chosen, in this order."""
        margin = self.decision_function(X)
        left = self.fitted_.loss.probability(margin)
        return np.column_stack((1.0 - left, left))

    def score(
        self, X: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Share of votes whose sign is predicted right; ties and margins of 0 count one half.

        X as in `fit`: votes, anything that holds votes, or, with `y`, a frame of comparisons.
        """
        from prefpath.comparisons import as_votes, choices_of
        from prefpath.selection.criteria import mismatch_ratio
        from prefpath.votes import Votes
        from prefpath.votes.check import check_weights

        if y is None:
            votes = X if isinstance(X, Votes) else as_votes(X, None, sample_weight, self.group)
            margin, choice, weight = self.decision_function(votes), votes.choice, votes.weight
        else:
            margin = self.decision_function(X)
            choice, weight = choices_of(y, len(margin)), np.ones(len(margin))
        if sample_weight is not None:
            weight = check_weights(sample_weight, len(margin))
        return 1.0 - mismatch_ratio(margin, choice, weight)


class AnnotatorTables(FittedAttributes):
    """What is known of annotators and features, for a class that keeps a `fitted_`.

    Examples
    --------
    >>> from prefpath import PreferenceModel, simulate_crowd
    >>> crowd = simulate_crowd(800, 8, 4, features=[[0.0], [1.0], [2.0], [3.0]], seed=0)
    >>> model = PreferenceModel(cv=0, features=crowd.features).fit(crowd.votes)
    >>> len(model.annotators()), len(model.annotator_columns(q=0.05)["verdict"])
    (8, 8)
    >>> len(model.personal("annotator 3")), len(model.coefficients())
    (4, 1)
    >>> len(model.own_items()), list(model.own_items({"annotator 3": "x",
    ...     "item 1": "x"})["own_items"])
    (0, ['item 1'])
    """

    def annotators(self, *, q: float = 0.1) -> Any:
        """Everything known of each annotator, as a frame in the user's own library.

        Those who stand out come first. `q` is the target false-discovery rate of "biased" and
        of "deviates"; `prefpath.diagnose.diagnose` has more settings.
        """
        from prefpath.frames import build_frame

        return build_frame(self.annotator_columns(q=q), self.votes_.frame_library)

    def annotator_columns(self, *, q: float = 0.1) -> dict[str, Any]:
        """Everything known of each annotator, as columns; those who stand out first."""
        from prefpath.diagnose import verdicts_on

        with closing(verdicts_on(self._known(), q=q)) as found:
            return found.columns()

    def own_items(self, families: Mapping[Any, Any] | None = None, *, q: float = 0.1) -> Any:
        """Whether annotators favour items of their own name or family, as a frame.

        LLM judges that are judged themselves, for instance. `families` gives annotators and items
        their family, by label. A frame of no rows where nobody has items of their own;
        `prefpath.diagnose.own_items_favoured` has the mean over all, and how to read it.
        """
        from prefpath.diagnose import own_items_favoured
        from prefpath.frames import build_frame

        found = own_items_favoured(self._known(), families=families, q=q)
        empty: dict[str, Any] = {"annotator": [], "own_items": []}
        columns = empty if found is None else found.columns
        return build_frame(columns, self.votes_.frame_library)

    def personal(self, annotators: Any) -> Any:
        """The ranking of an annotator, or of several together, beside the common one."""
        from prefpath.diagnose import personal_ranking
        from prefpath.frames import build_frame

        found = personal_ranking(self._known(), annotators, weak=self.weak_)
        return build_frame(found.columns(), self.votes_.frame_library)

    def coefficients(self, annotator: Any = None) -> Any:
        """What one unit of each feature adds to a score; to one annotator's, if named.

        A frame of feature and coefficient, on the scale of the features as given.
        """
        from prefpath.frames import build_frame

        return build_frame(self._known().coefficient_columns(annotator), self.votes_.frame_library)
