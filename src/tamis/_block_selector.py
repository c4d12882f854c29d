"""BlockSelector: a statistic of row blocks in, scores out; one `fit` and one `partial_fit`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import BaseSelector, Scores, WeightedSelector
from tamis._partial_fit import PartialFitMixin
from tamis.data.values import LARGEST_SQUARED, check_finite_columns, check_squares
from tamis.passes.engine import Levels
from tamis.passes.memory import Opened
from tamis.statistics import ClassMoments, CoMoments, Moments, Ranges, WithRanges
from tamis.statistics.ranges import RangesResult


class BlockSelector(PartialFitMixin, BaseSelector):
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

    fit = WeightedSelector.fit

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

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        task = getattr(self, "task", self._task) if self._supervised else None
        table = self._open_table(X, y, weight, task, self._levels())
        self._check_table(table)
        if self._supervised:
            self._note_target(table)
        first, constant = None, None
        if len(self._passes) == 2:
            first = self._run_first(table)
            constant = self._ranges_of(first).constant
        statistic = self._statistic(table, first)
        try:
            self._run_pass(self._passes[-1], statistic, table.engine)
        except KeyboardInterrupt:
            if statistic.weight_seen > 0:
                where = "before the last row; scores_ are those of a total weight of"
                with self._unreported():
                    scores = self._scores(statistic, constant)
                self._keep_unfinished(*scores, f"{where} {statistic.weight_seen:g} so far")
            raise
        return self._scores(statistic, constant)

    def _run_first(self, table: Opened) -> Any:
        if self._needs_ranges:
            return self._find_ranges(table.engine)
        return self._run_pass(self._passes[0], self._first(table), table.engine)

    def _scores(self, statistic: Any, constant: NDArray[np.bool_] | None) -> Scores:
        if constant is None:
            constant = self._ranges_of(statistic).constant
        return np.where(constant, 0.0, self._finish(statistic, constant)), constant

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_gathered", None)  # of `partial_fit`
