"""PartialFitMixin: rows that come block by block, in calls of `partial_fit`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from tamis._runtime.warning import warn
from tamis._validation import check_parameters
from tamis.cutoff.fit_data import FitData
from tamis.data.checks import check_table
from tamis.data.labels import check_target, check_weighted_classes
from tamis.data.target import check_numbers
from tamis.data.task import infer_task_of_first_block
from tamis.data.values import check_finite_columns, check_weight
from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, Statistic, run_pass
from tamis.passes.memory import Opened
from tamis.statistics import Ranges


@dataclass
class Gathered:
    """What the blocks of `partial_fit` have left, and how their target is read."""

    # Ranges of the rows that were counted, if there are two passes.
    ranges: Ranges
    # Of the first pass over all blocks, or else over the first block; None if there is only one.
    first: Any = None
    statistic: Any = None
    is_regression: bool | None = None
    classes: NDArray[Any] | None = None
    centre: float = 0.0


class PartialFitMixin:
    """`partial_fit` of the block methods; a block is counted whole or not at all."""

    # Whether there is a `partial_fit`.
    _incremental: ClassVar[bool] = True

    def _check_block(self, gathered: Gathered, table: Opened) -> None:
        """Raise if a block cannot follow those before it."""

    def _takes_blocks(self) -> bool:
        """Whether there is a `partial_fit`, with these parameters."""
        return self._incremental

    @available_if(lambda self: self._takes_blocks())  # type: ignore[untyped-decorator]
    def partial_fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Take in a block of rows, then rank by all rows seen.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            A block of rows.
        y : array-like of shape (n_samples,)
            Its target. The first block tells a regression target from class labels where `task`
            is ``"auto"``; new classes may appear in any block.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : object
            The selector, ranked by what it has seen.
        """
        return self._partial_fit(X, y, sample_weight)

    def _partial_fit(self: Any, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Any:
        gathered, X = self._open_gathered(X)
        table = self._open_block(gathered, X, y, sample_weight, classes)
        self._check_block(gathered, table)
        first, ranges = gathered.first, Ranges(table.n_columns)
        if len(self._passes) == 2:
            part = self._first(table) if first is None else ranges
            run_pass(part, table.engine, n_jobs=self.n_jobs)
            first = part if first is None else first
            ranges = getattr(part, "ranges", part)
            check_finite_columns(self, ranges.finish().infinite)
            self._ranges_of(first)
        statistic = run_pass(self._statistic(table, first), table.engine, n_jobs=self.n_jobs)
        if len(self._passes) == 1:
            self._ranges_of(statistic)
        # Until here a block that is refused leaves nothing behind.
        self._add_classes(gathered, table)
        gathered.first, gathered.centre = first, table.centre
        if self._supervised:
            self._note_target(table)
            gathered.is_regression = table.classes is None
        gathered.ranges.merge(ranges)
        gathered.statistic = _merged(gathered.statistic, statistic)
        constant = gathered.ranges.finish().constant if len(self._passes) == 2 else None
        ranking = self._rank(*self._scores(gathered.statistic, constant))
        self._cut(self._rule(), ranking, FitData(self, None, None))
        return self

    def _learn(self: Any, gathered: Gathered, table: Opened, name: str) -> Any:
        """Take in a block in a first pass, by the public method `name`."""
        if gathered.statistic is not None:
            raise InputError(
                f"{type(self).__name__}: expected {name} before partial_fit, because what it "
                "learns stays as it is once rows were counted. Start from sklearn.base.clone(...)."
            )
        part = run_pass(self._first(table), table.engine, n_jobs=self.n_jobs)
        self._ranges_of(part)
        self._add_classes(gathered, table)
        gathered.first = _merged(gathered.first, part)
        return self

    def _open_gathered(self: Any, X: Any) -> tuple[Gathered, Any]:
        """What earlier blocks have left, and the checked block."""
        check_parameters(self, self._constraints)
        who = type(self).__name__
        if hasattr(self, "scores_") and not hasattr(self, "_gathered"):
            warn(
                f"{who}: fit keeps no counts to add to, so partial_fit starts again with this "
                "block. Use partial_fit for all blocks."
            )
            self._forget()
        rule = self._rule()
        if rule.needs_data and rule.needs_rows(self):
            raise InputError(
                f"{who}: expected a rule that needs only scores, got {rule.who}, which looks at "
                "all of the training data. Use fit, or recut(rule, X, y) after the last block."
            )
        X = check_table(self, X, reset=not hasattr(self, "_gathered"))
        if not hasattr(self, "_gathered"):
            self._gathered = Gathered(Ranges(X.shape[1]))
            self._unit_weight = 1.0
        return self._gathered, X

    def _open_block(
        self: Any, gathered: Gathered, X: Any, y: Any, sample_weight: Any, classes: Any = None
    ) -> Opened:
        """A block with its target among the classes, or about the centre, of earlier ones."""
        who, n_rows = type(self).__name__, X.shape[0]
        weight = check_weight(sample_weight, n_rows, who)
        total = float(n_rows if weight is None else weight.sum())
        if weight is not None or not hasattr(self, "_unit_weight"):
            self._unit_weight = 1.0 if weight is None else np.nan
        if not self._supervised:
            return Opened(MemoryEngine(X, None, weight), n_rows, total)
        if self._reads_numbers(gathered, y, n_rows):
            values = check_numbers(y, n_rows, who)
            centre = gathered.centre
            if gathered.statistic is None:  # near enough to the mean of all to save the digits
                centre = float(np.average(values, weights=weight))
            return Opened(MemoryEngine(X, values - centre, weight), n_rows, total, centre=centre)
        found, codes = check_weighted_classes(y, weight, n_rows, who)
        parts = [np.asarray(part) for part in (gathered.classes, classes) if part is not None]
        known = np.unique(np.concatenate([found, *parts]))
        codes = np.searchsorted(known, found).astype(np.int32)[codes]
        return Opened(MemoryEngine(X, codes, weight), n_rows, total, known, n_codes=known.size)

    def _reads_numbers(self: Any, gathered: Gathered, y: Any, n_rows: int) -> bool:
        """Whether the target is a regression target; the first block decides."""
        if gathered.is_regression is not None:
            return gathered.is_regression
        task, who = getattr(self, "task", self._task), type(self).__name__
        if task == "auto":
            task = infer_task_of_first_block(check_target(y, n_rows, who), who)
        return bool(task == "regression")

    def _add_classes(self: Any, gathered: Gathered, table: Opened) -> None:
        """Make room for the classes of a block in what was gathered before it."""
        if table.classes is None:
            return
        if gathered.classes is not None and table.n_classes > gathered.classes.size:
            places = np.searchsorted(table.classes, gathered.classes)
            for statistic in (gathered.first, gathered.statistic):
                if hasattr(statistic, "add_classes"):
                    statistic.add_classes(places, table.n_classes)
        gathered.classes = self.classes_ = table.classes


def _merged(known: Statistic | None, part: Statistic) -> Any:
    return part if known is None else known.merge(part)
