"""`PreferenceModel`: votes in; rankings, annotators and predictions out. scikit-learn's manners."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Literal, Unpack

from numpy.typing import ArrayLike

from prefpath.fitting import Fitting
from prefpath.manners import AnnotatorTables, Predictions

# The rest is imported where it is used: to name the class must not cost what a fit needs.
if TYPE_CHECKING:
    from distributed import Client

    from prefpath.checkpoint import Place
    from prefpath.inference.board import BoardOptions
    from prefpath.inference.columns import Anchor
    from prefpath.inference.intervals import CommonScores, Method
    from prefpath.inference.scales import Scale
    from prefpath.model.losses import Loss
    from prefpath.model.penalties import Penalty
    from prefpath.population import About
    from prefpath.selection.criteria import Criterion
    from prefpath.selection.cross_validation import Rule
    from prefpath.selection.folds import Over
    from prefpath.solver.grid import TimeRatio
    from prefpath.solver.solve import Solver
    from prefpath.solver.work import Common, Progress


class PreferenceModel(Predictions, AnnotatorTables, Fitting):
    """A common ranking, and who deviates from it, at the time cross-validation picks.

    Parameters
    ----------
    loss, penalty, position_bias, kappa, solver, common, n_times, t_ratio
        As in `fit_path`; with `t_ratio="auto"` and cross-validation, the path goes on until the
        held-out error has clearly stopped improving (the best time lies a factor of four back)
        or everybody is in.
    attention : bool or "auto"
        Whether annotators may see the scores more or less sharply, as in `fit_path`; "auto" tests
        the votes for that (`find_unequal_attention`) and allows for it where it is there.
    common_position : bool or "auto"
        Whether everybody shares a position effect; "auto" tests the votes for one
        (`find_shared_lean`) and includes it where it is there.
    balance : bool or "auto"
        Whether the penalty grows with the root of an annotator's votes, so that who votes a lot
        does not pop up first for that alone. "auto" does so.
    features : array, frame or ItemFeatures, optional
        Features of the items: an array in the order of the votes' items, or a table with a
        column "item" (which may know items nobody has compared yet: they can be predicted).
    group : str, optional
        Column of the votes to use as the annotator, such as "occupation".
    standardise : bool
        Whether features are centred and scaled first (two-valued columns by their difference,
        others by their standard deviation), so that units change no answer; `coefficients`
        gives them back on the scale of the features as given.
    cv : int
        Number of folds; 0 takes no cross-validation and stops at the end of the path. Where some
        of the folds hold 500,000 rows out, the others are not followed (two always are).
    cv_over : {"votes", "items", "annotators"}
        What is held out: known items, new items (needs features) or new annotators.
    criterion : {"auto", "mismatch", "log-loss"}
        What t is chosen by: "auto" is log-loss where the loss has probabilities (Bradley-Terry,
        Thurstone-Mosteller), else the share of votes predicted wrong, the paper's mismatch.
    rule : {"best", "one-standard-error"}
        Smallest error, or the smallest t within one standard error of it.
    weak : bool or "auto"
        Whether predictions and personal rankings use everybody's small effects (taste, lean,
        attention) and common scores under a prior, fitted once when first asked for; who stands
        out and the common ranking never do. "auto": with cross-validation.
    random_state : int, optional
        Seed of the folds.
    n_threads : int, optional
        One for each processor by default.

    Attributes
    ----------
    fitted_ : Fitted
        All of the below as one frozen value; what the rest of the package reads.
    votes_, path_, cv_, t_, balanced_, component_, features_, n_features_in_
        Parts of it, each as in `Fitted`: the votes, the path, held-out errors along it (None
        without folds), the time chosen, whether the penalty was balanced, the group of each item
        within which ranks hold, features of the items and their number.
    weak_ : WeakEffects or None
        Everybody's small effects at the time chosen; computed when first asked for.

    Examples
    --------
    >>> from prefpath.simulate import simulate_crowd
    >>> model = PreferenceModel(common_position=True).fit(simulate_crowd(2000, 20, 5).votes)
    >>> len(model.ranking()), len(model.ranking_columns()["item"]), len(model.common_scores().score)
    (5, 5, 5)
    >>> sorted(model.win_probability("item 3", "item 5")), len(model.position_effect()) > 2
    (['high', 'low', 'probability'], True)
    >>> model.stop_at(model.t_ / 2).report(getfixture("tmp_path") / "half.html").name
    'half.html'
    """

    def __init__(
        self,
        *,
        loss: str | Loss = "bradley-terry",
        features: Any = None,
        penalty: str | Penalty | None = None,
        position_bias: bool = True,
        common_position: bool | Literal["auto"] = "auto",
        attention: bool | Literal["auto"] = "auto",
        kappa: float = 20.0,
        balance: bool | Literal["auto"] = "auto",
        group: str | None = None,
        standardise: bool = True,
        solver: Solver = "flow",
        common: Common = "flow",
        n_times: int = 50,
        t_ratio: TimeRatio = "auto",
        cv: int = 5,
        cv_over: Over = "votes",
        criterion: Criterion = "auto",
        rule: Rule = "best",
        weak: bool | Literal["auto"] = "auto",
        random_state: int | None = 0,
        n_threads: int | None = None,
    ) -> None:
        self.loss = loss
        self.features = features
        self.penalty = penalty
        self.position_bias = position_bias
        self.common_position = common_position
        self.attention = attention
        self.kappa = kappa
        self.balance = balance
        self.group = group
        self.standardise = standardise
        self.solver = solver
        self.common = common
        self.n_times = n_times
        self.t_ratio = t_ratio
        self.cv = cv
        self.cv_over = cv_over
        self.criterion = criterion
        self.rule = rule
        self.weak = weak
        self.random_state = random_state
        self.n_threads = n_threads

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        progress: Progress | None = None,
        checkpoint: Place | None = None,
        client: Client | None = None,
        collect: bool = True,
    ) -> PreferenceModel:
        """Fit the path and choose where to stop.

        Parameters
        ----------
        X : Votes, path of a file, frame, or ShardedVotes
            Votes; anything `read_votes` takes; or, with `y`, a frame of annotator, left, right.
        y : array-like, optional
            Choices, where X does not hold them.
        sample_weight : array-like, optional
            Weights, with `y`.
        checkpoint : str, Path or Checkpoint, optional
            Folder that keeps what has been reached, as in `fit_path`.
        client : distributed.Client, optional
            A Dask cluster that reads the votes and follows path and folds (docs/clusters.md). The
            result is the same; votes are collected here for all that comes after the path.
        collect : bool
            With a client: False leaves the votes in the shards (X is `ShardedVotes`), which then
            answer what is asked of them; folds are drawn there, and there are no weak effects.
        """
        from prefpath.comparisons import as_votes

        if client is None:
            votes = as_votes(X, y, sample_weight, self.group)
            return self._fit(votes, progress, checkpoint)
        from prefpath.checkpoint import keeping
        from prefpath.distributed.collected import check_shards_stay, on_cluster
        from prefpath.distributed.collected import collect as collect_votes
        from prefpath.distributed.remote import count_votes

        source = X if y is None else as_votes(X, y, sample_weight, self.group)
        if not collect:
            check_shards_stay(source)
        with (
            keeping(checkpoint) as keeper,  # refused, if it must be, before anything is read
            on_cluster(client, source, group=self.group) as cluster,
        ):
            if not collect:
                return self.fit_elsewhere(
                    count_votes(cluster), progress=progress, checkpoint=keeper
                )
            return self.fit_collected(collect_votes(cluster), progress=progress, checkpoint=keeper)

    def stop_at(self, t: float) -> PreferenceModel:
        """Stop at another time; everything the model says is then said at that time."""
        self.fitted_ = self._known().at(t)
        return self

    def ranking(
        self,
        annotator: Any = None,
        *,
        interval: Method | None = "sandwich",
        level: float = 0.95,
        scale: Scale = "natural",
        anchor: Anchor = None,
        n_resamples: int = 1_000,
        shrunk: bool = False,
        about: About | None = None,
    ) -> Any:
        """The leaderboard as a frame in the user's own library; of one annotator, if named.

        Parameters
        ----------
        annotator : label, optional
            Whose; a personal ranking has no intervals, and is shrunk where the model has `weak`.
        interval : {"sandwich", "bootstrap"} or None
            Clustered by annotator either way: by formula, or by drawing whole annotators again.
        level : float
            How often an interval is to hold the true score, and the rank interval the rank.
        scale : {"natural", "elo", "probability"}
            As fitted; 400 points for ten to one, from 1000; or of beating an average item.
        anchor : label or (label, value), optional
            Item from which scores are measured; on the Elo scale it stands at 1000, or value.
        n_resamples : int
            Of the bootstrap.
        shrunk : bool
            Whether the common scores are those under a prior, which predict best: without
            intervals, and with a column "shrunk" that says so.
        about : {"these", "annotators"}, optional
            Whom intervals are about: these annotators, whose votes might have come out
            otherwise, or all annotators like them. By default these where there are fewer than
            ten.
        """
        from prefpath.frames import build_frame

        columns = self.ranking_columns(
            annotator,
            interval=interval,
            level=level,
            scale=scale,
            anchor=anchor,
            n_resamples=n_resamples,
            shrunk=shrunk,
            about=about,
        )
        return build_frame(columns, self.votes_.frame_library)

    def ranking_columns(
        self, annotator: Any = None, *, shrunk: bool = False, **how: Unpack[BoardOptions]
    ) -> dict[str, Any]:
        """The leaderboard as columns; settings as in `ranking`."""
        from prefpath.inference.board import board_columns
        from prefpath.weak.board import shrunk_columns

        fitted = self._known()
        if not shrunk and (annotator is None or self.weak_ is None):
            return board_columns(fitted, annotator, **how)
        return shrunk_columns(fitted, self.weak_, annotator, **how)

    def win_probability(
        self,
        item: Any,
        other: Any,
        *,
        interval: Method = "sandwich",
        level: float = 0.95,
        n_resamples: int = 1_000,
        about: About | None = None,
    ) -> dict[str, float | None]:
        """Probability that an average annotator prefers `item` to `other`, with its interval."""
        from prefpath.inference.board import IntervalSettings, win_probability

        settings = IntervalSettings(interval, level, n_resamples, about)
        return win_probability(self._known(), item, other, settings)

    def position_effect(self, *, level: float = 0.95) -> dict[str, float | None]:
        """The position effect everybody shares: as logit, and as a chance at equal quality."""
        from prefpath.inference.board import shared_position_effect

        return shared_position_effect(self._known(), level)

    def common_scores(
        self,
        interval: Method = "sandwich",
        n_resamples: int = 1_000,
        *,
        about: About | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> CommonScores | None:
        """Common scores at the chosen time with their covariance; None for too many items."""
        from prefpath.inference.common import common_scores

        return common_scores(
            self._known(), interval, n_resamples=n_resamples, about=about, progress=progress
        )

    def report(self, path: str | FilePath, *, title: str = "Preference report") -> FilePath:
        """Write everything this model found as one HTML file that needs no network."""
        from prefpath.report import write_report

        return write_report(self, path, title=title)
