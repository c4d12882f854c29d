"""BaseSelector: check, score, rank, cut off, support; BlockSelector: scores from row blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from tamis._chance import MOST_CELLS, warn_if_at_chance
from tamis._fitted import FittedMixin
from tamis._partial_fit import PartialFitMixin
from tamis._ranking import Ranking
from tamis._runtime.callbacks import CallbackSupportMixin, with_callbacks
from tamis._validation import Constraint, check_parameters
from tamis.cutoff.best_count import BestCount
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import CutRule, as_rule
from tamis.data import checks
from tamis.data.frames import is_frame
from tamis.data.mixed import select_columns
from tamis.data.values import (
    LARGEST_SQUARED,
    check_finite_columns,
    check_squares,
    check_weight,
    unit_weight,
)
from tamis.passes import DaskTable, PartitionedTable, is_dask
from tamis.passes.engine import Engine, Levels, S
from tamis.passes.memory import Opened, open_table
from tamis.passes.opening import OutOfCoreMixin
from tamis.statistics import ClassMoments, CoMoments, Moments, Ranges, WithRanges
from tamis.statistics.block import Floats, RangesResult
from tamis.statistics.permuted import PermutedScores

# What a scoring method hands back: a score per column, and which columns never vary.
Scores = tuple[Floats, NDArray[np.bool_]]


class BaseSelector(FittedMixin, OutOfCoreMixin, SelectorMixin, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all selectors: data in, scores, order, cut, support.

    A subclass writes ``__init__`` (which only stores), its constraints and ``_score``.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Larger is better.
    order_ : ndarray of shape (n_features,)
        Column indices, best first; of equal scores the lower index comes first.
    ranking_ : ndarray of shape (n_features,)
        Rank of every column, 1 for the best.
    support_ : ndarray of bool of shape (n_features,)
        The selected columns.
    n_selected_ : int
        How many they are.
    constant_ : ndarray of bool of shape (n_features,)
        Columns that never vary or hold nothing.
    task_ : {"classification", "regression"}
        What the target was taken for, if the method uses one.
    cut_details_ : dict
        What the cut rule found out, such as both elbows.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.base import BaseSelector
    >>> class Largest(BaseSelector):
    ...     _supervised = False
    ...     def __init__(self, *, n_features_to_select=1):
    ...         self.n_features_to_select = n_features_to_select
    ...     def _score(self, X, y, weight):
    ...         return X.max(axis=0), np.ptp(X, axis=0) == 0
    >>> Largest().fit(np.array([[1.0, 5.0], [2.0, 3.0]])).get_support()
    array([False,  True])
    """

    _constraints: ClassVar[dict[str, Constraint]] = {}
    _supervised: ClassVar[bool] = True
    # Whether the method finds a number of columns itself: `best_n_features_`, "best".
    _chooses_count: ClassVar[bool] = False
    # How often `_score` goes through `steps`; None if that is not known beforehand.
    _n_stages: ClassVar[int | None] = 1
    # Whether a table larger than memory takes more stages, nobody knows how many.
    _n_stages_vary: ClassVar[bool] = False
    # Whether `_score` takes a table larger than memory.
    _streams: ClassVar[bool] = False
    # Whether its first pass is for the ranges of the columns.
    _needs_ranges: ClassVar[bool] = False
    # Whether it has `partial_fit`.
    _incremental: ClassVar[bool] = False

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Any:
        """Score the columns of `X` and select.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table; NaN marks missing values.
        y : array-like of shape (n_samples,), default=None
            The target.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return self._fit(X, y, None)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self, self._constraints)
        rule, who = self._rule(), type(self).__name__
        self._forget()
        if not isinstance(X, np.ndarray | PartitionedTable) and is_dask(X):
            X, y, sample_weight = DaskTable(X, y, sample_weight, who), None, None
        if isinstance(X, PartitionedTable):
            return self._fit_source(X, y, sample_weight, rule)
        X = checks.check_table(self, X)
        weight = None if sample_weight is None else check_weight(sample_weight, X.shape[0], who)
        return self._fit_checked(X, y, weight, rule)

    def _rule(self) -> CutRule:
        return self._as_rule(self.n_features_to_select, "n_features_to_select")

    def _as_rule(self, value: Any, name: str) -> CutRule:
        if self._chooses_count and isinstance(value, str) and value == "best":
            return BestCount()
        return as_rule(value, who=type(self).__name__, name=name)

    def _forget(self) -> None:
        """Drop what an earlier fit learned, so that a fit that fails leaves no mixture behind."""
        for name in [name for name in vars(self) if name.endswith("_") and name[0] != "_"]:
            delattr(self, name)

    def _fit_checked(self, X: Any, y: Any, weight: Floats | None, rule: CutRule) -> Any:
        stages = self._n_stages
        if stages is not None:
            vary = self._n_stages_vary and isinstance(X, PartitionedTable)
            stages = None if vary else stages + rule.needs_data
        root = None
        if hasattr(self, "_init_callback_context"):
            root = self._init_callback_context(max_subtasks=stages)
            root.call_on_fit_task_begin(estimator=self, X=X, y=y)
        self._unit_weight = 1.0 if weight is None else unit_weight(weight)
        if isinstance(X, PartitionedTable) and X.has_weight:
            self._unit_weight = np.nan
        scores, constant = self._score(X, y, weight)
        if constant.all():
            self._check_varies(constant, X.shape[0])
        data = FitData(self, X, y, weight)
        self._cut(rule, self._rank(scores, constant), data)
        self._seen_chance = self._look_at_chance(rule, data)
        if root is not None:
            root.call_on_fit_task_end(estimator=self, X=X, y=y)
        return self

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        """Score of every column (larger is better), and which columns never vary."""
        raise NotImplementedError

    def _permuted(self, X: Any, y: Any, weight: Floats | None) -> PermutedScores | None:
        """Scores of many orders of the target at once; None if each order takes a fit."""
        return None

    def _rank(self, scores: Floats, constant: NDArray[np.bool_]) -> Ranking:
        names = checks.names_of(self)
        ranking = Ranking.of(scores, constant=constant, names=names, who=type(self).__name__)
        self.scores_, self.order_ = ranking.scores, ranking.order
        self.ranking_, self.constant_ = ranking.positions, ranking.constant
        facts = getattr(self, "facts", None)
        if facts is not None and self._supervised and len(facts.tasks) == 1:
            self.task_: str = facts.tasks[0]
        return ranking

    def _cut(self, rule: CutRule, ranking: Ranking, data: FitData | None) -> None:
        # Stopped by hand while a slow rule is at work, the ranking stays and nothing is cut off.
        self._keep(np.ones(ranking.n_columns, dtype=bool), {})
        self._keep(*rule.select(ranking, data))

    def _look_at_chance(self, rule: CutRule, data: FitData) -> bool:
        """Warn of a selection that is not distinguishable from noise, if a look costs little."""
        is_selection = 0 < self.n_selected_ < self.scores_.size
        if not self._supervised or rule.states_level or not is_selection:
            return True
        small = isinstance(data.X, np.ndarray) and data.X.size <= MOST_CELLS
        return small and warn_if_at_chance(data)

    def _keep(self, support: NDArray[np.bool_], details: dict[str, Any]) -> None:
        self.support_, self.cut_details_ = support, details
        self.n_selected_ = int(support.sum())

    def transform(self, X: Any) -> Any:
        """Keep the selected columns.

        Parameters
        ----------
        X : array-like, DataFrame, sparse matrix or scan of shape (n_samples, n_features)
            A table with the columns that were fitted.

        Returns
        -------
        X_selected : array, DataFrame, sparse matrix or scan
            The selected columns of it; of a scan, a scan that reads no others. A frame with
            categories, dates or the like stays a frame, its columns as they are.
        """
        if getattr(self, "n_selected_", 1) == 0:
            self._refuse_empty()
        if isinstance(X, PartitionedTable):
            return self._narrowed(X)
        if hasattr(self, "column_codes_") and is_frame(X):
            return select_columns(self, X, self.get_feature_names_out())
        return super().transform(X)

    def _note_target(self, target: Any) -> None:
        """Report what the target was taken for: `task_`, and `classes_` for class labels."""
        self.task_ = target.task
        if target.classes is not None:
            self.classes_ = target.classes

    def _run_pass(self, name: str, statistic: S, engine: Engine) -> S:
        """Let an engine update a statistic with all rows, reporting to the callbacks."""
        return engine.run(statistic, name, n_jobs=self.n_jobs, steps=self.steps)

    def _find_ranges(self, engine: Engine) -> Ranges:
        """Ranges of the columns: from what the files say, or from a pass."""
        known = engine.known_ranges()
        return known or self._run_pass("ranges", Ranges(engine.n_columns), engine)

    def steps(self, name: str, items: Iterable[Any], total: int) -> Iterator[Any]:
        """Go through `items`, reporting to the callbacks; they may end it early."""
        root = getattr(self, "_callback_fit_ctx", None)
        if root is None:
            yield from items
            return
        stage = root.subcontext(task_name=name, max_subtasks=total)
        stage.call_on_fit_task_begin(estimator=self)
        for item in items:
            step = stage.subcontext(task_name=f"{name} step")
            step.call_on_fit_task_begin(estimator=self)
            yield item
            if step.call_on_fit_task_end(estimator=self):
                break
        stage.call_on_fit_task_end(estimator=self)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self._supervised
        return tags


class WeightedSelector(BaseSelector):
    """Base of the selectors that can use `sample_weight`.

    Examples
    --------
    >>> from tamis import TreeImportance
    >>> from tamis.base import WeightedSelector
    >>> issubclass(TreeImportance, WeightedSelector)
    True
    """

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Score the columns of `X` and select.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The table; NaN marks missing values.
        y : array-like of shape (n_samples,)
            The target.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a weight of 2 means the same as the row twice, one of 0 that the
            row is not there.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return self._fit(X, y, sample_weight)


class BlockSelector(PartialFitMixin, WeightedSelector):
    """Base of the selectors that score columns by a statistic of row blocks.

    Blocks may come from memory, files or a cluster (`fit`), or one by one (`partial_fit`). A
    subclass says which statistic it needs for a target (`_statistic`; by default the moments of the
    columns) and how that becomes scores (`_finish`). If the statistic needs to know something of
    all rows beforehand, such as the ranges of the columns, two names in `_passes` announce a first
    pass (`_first`).

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.base import BlockSelector
    >>> class Spread(BlockSelector):
    ...     _supervised = False
    ...     def __init__(self, *, n_features_to_select=1, n_jobs=None):
    ...         self.n_features_to_select, self.n_jobs = n_features_to_select, n_jobs
    ...     def _finish(self, statistic, constant):
    ...         return np.sqrt(statistic.other.finish().variance)
    >>> Spread().fit(np.array([[1.0, 5.0], [2.0, 3.0]])).scores_
    array([0.5, 1. ])
    """

    # Names of the passes over the rows, for progress and checkpoints.
    _passes: ClassVar[tuple[str, ...]] = ("moments",)
    # What the target is, where no parameter `task` says it.
    _task: ClassVar[str] = "classification"
    _streams: ClassVar[bool] = True

    def _statistic(self, table: Opened, first: Any) -> Any:
        """The statistic, empty; `first` is that of the first pass, if there is one."""
        n_columns = table.n_columns
        if table.classes is not None:
            return WithRanges(Ranges(n_columns), ClassMoments(n_columns, table.n_classes))
        moments = CoMoments(n_columns) if self._supervised else Moments(n_columns)
        return WithRanges(Ranges(n_columns), moments)

    def _finish(self, statistic: Any, constant: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Scores of the columns; those of columns that never vary are not looked at."""
        raise NotImplementedError

    def _first(self, table: Opened) -> Any:
        """The statistic of the first pass, empty."""
        return Ranges(table.n_columns)

    def _levels(self) -> Levels | None:
        """Function that makes codes of a regression target; None leaves it as numbers."""
        return None

    def _check_table(self, table: Opened) -> None:
        """Raise if a table with its whole target does not suffice."""

    def _ranges_of(self, statistic: Any) -> RangesResult:
        """Ranges in a statistic; values that cannot be computed with are an error."""
        ranges = getattr(statistic, "ranges", statistic).finish()
        if ranges.infinite.any():
            check_finite_columns(self, ranges.infinite)
        if len(self._passes) == 1 and ranges.size.max() > LARGEST_SQUARED:  # moments square values
            check_squares(self, ranges)
        return ranges

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        task = getattr(self, "task", self._task) if self._supervised else None
        table = open_table(self, X, y, weight, task, self._levels())
        self._check_table(table)
        if self._supervised:
            self._note_target(table)
        first, constant = None, None
        if len(self._passes) == 2:
            if self._needs_ranges:
                first = self._find_ranges(table.engine)
            else:
                first = self._run_pass(self._passes[0], self._first(table), table.engine)
            constant = self._ranges_of(first).constant
        statistic = self._statistic(table, first)
        try:
            self._run_pass(self._passes[-1], statistic, table.engine)
        except KeyboardInterrupt:
            self._keep_seen(statistic, constant)
            raise
        return self._scores(statistic, constant)

    def _scores(self, statistic: Any, constant: NDArray[np.bool_] | None) -> Scores:
        if constant is None:
            constant = self._ranges_of(statistic).constant
        return np.where(constant, 0.0, self._finish(statistic, constant)), constant

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_gathered", None)  # of `partial_fit`
