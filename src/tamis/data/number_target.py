"""NumberSummary: a target that is read in blocks and may turn out to be numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tamis.data.checks import encode_labels
from tamis.data.target import check_numbers
from tamis.data.target_blocks import ClassSummary, Floats
from tamis.data.task import MAX_NUMBERED_CLASSES, are_whole, infer_task
from tamis.exceptions import InputError


class NumberSummary(ClassSummary):
    """Mean and range of a target, and its distinct values as long as they can be class labels.

    Any order of blocks and merges leads to the same decision as all rows at once.

    Parameters
    ----------
    who : str
        Name of the selector, for messages.
    task : {"auto", "regression"}
        What the target is; "auto" is resolved in `finish` by `tamis.data.infer_task`.
    keep_values : bool, default=False
        Keep the distinct values of a regression target, too.
    leave_out_missing : bool, default=False
        Count rows without a target in `n_missing` and use the others, rather than raise.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.data.number_target import NumberSummary
    >>> first = NumberSummary("DFT", "auto").update(np.array(["b", "a", "b"]), None)
    >>> other = NumberSummary("DFT", "auto").update(np.array(["c"]), np.array([2.0]))
    >>> first.merge(other).finish().labels.tolist(), first.task, other.weight
    (['a', 'b', 'c'], 'classification', array([2.]))
    """

    def __init__(
        self, who: str, task: str, keep_values: bool = False, leave_out_missing: bool = False
    ):
        super().__init__(who, leave_out_missing)
        self.task, self.keep_values = task, keep_values
        self.is_regression = task == "regression"
        self.n_labels = 0
        self.total, self.mean = 0.0, 0.0
        self.low, self.high = np.inf, -np.inf

    def _take_in(self, target: NDArray[Any], weight: Floats) -> None:
        if self.task == "auto" and target.dtype.kind not in "iufmM":
            self.n_labels += target.size
        else:
            is_whole = are_whole(target)
            target = self._add_numbers(target, weight)
            self.is_regression |= not is_whole
        if not self.is_regression or self.keep_values:
            self._add_values(*encode_labels(target), weight)
        self._settle()

    def _settle(self) -> None:
        """Drop values that turned out to be a regression target."""
        n_values = 0 if self.labels is None else self.labels.size
        if self.task == "auto" and not self.n_labels and n_values > MAX_NUMBERED_CLASSES:
            self.is_regression = True
        if self.n_labels and self.is_regression:
            raise InputError(
                f"{self.who}: expected a target of one kind, got text in some rows and a "
                "regression target in others. Set the task, or mend the target."
            )
        if self.is_regression and not self.keep_values:
            self.labels, self.weight, self.counts = None, np.zeros(0), np.zeros(0, dtype=np.int64)

    def _add_numbers(self, target: NDArray[Any], weight: Floats) -> Floats:
        values = check_numbers(target, target.size, self.who)
        self.low, self.high = min(self.low, values.min()), max(self.high, values.max())
        self._add_mean(float(np.average(values, weights=weight)), float(weight.sum()))
        return values if self.is_regression or target.dtype.kind in "mM" else target

    def _add_mean(self, mean: float, weight: float) -> None:
        self.total += weight
        if self.total > 0:
            self.mean += (mean - self.mean) * weight / self.total

    def merge(self, other: Self) -> Self:
        """Take in what another object has seen."""
        self.n_labels += other.n_labels
        self.is_regression |= other.is_regression
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self._add_mean(other.mean, other.total)
        super().merge(other)
        self._settle()
        return self

    def finish(self) -> Self:
        """The object itself with its task decided, if it holds two different values."""
        if self.task == "auto" and not self.is_regression and self.labels is not None:
            task = infer_task(self.labels, self.counts, who=self.who)
            self.is_regression = task == "regression"
        self.task = "regression" if self.is_regression else "classification"
        if not self.is_regression:
            super().finish()
        elif not self.high > self.low:
            raise InputError(
                f"{self.who}: expected a target that varies, got {self.low!r} in all {self.n_rows} "
                f"rows (n_samples={self.n_rows}). Check the target column."
            )
        self._settle()
        return self
