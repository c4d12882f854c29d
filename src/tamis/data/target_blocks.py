"""A target that is read in blocks: what it holds (TargetSummary), how it is coded (Encoding)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.data.checks import encode_labels
from tamis.data.partitioned import RawBlock
from tamis.data.target import (
    as_numbers,
    check_classes,
    check_numbers,
    check_target,
    check_two_classes,
    find_missing,
)
from tamis.data.task import MAX_NUMBERED_CLASSES, are_whole, infer_task
from tamis.exceptions import InputError
from tamis.statistics.block import Block, as_kernel_input

Floats = NDArray[np.float64]


class TargetSummary:
    """Distinct values with their weights, the mean and the range of a target.

    Any order of blocks and merges leads to the same decision as all rows at once: distinct whole
    numbers are kept with their number of rows as long as they can be class labels.

    Parameters
    ----------
    who : str
        Name of the selector, for messages.
    task : {"auto", "classification", "regression"}
        What the target is; "auto" is resolved in `finish` by `tamis.data.infer_task`.
    keep_values : bool, default=False
        Keep the distinct values of a regression target, too.
    leave_out_missing : bool, default=False
        Count rows without a target in `n_missing` and use the others, rather than raise.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.data.target_blocks import TargetSummary
    >>> first = TargetSummary("DFT", "auto").update(np.array(["b", "a", "b"]), None)
    >>> other = TargetSummary("DFT", "auto").update(np.array(["c"]), np.array([2.0]))
    >>> first.merge(other).finish().labels.tolist(), first.task, other.weight
    (['a', 'b', 'c'], 'classification', array([2.]))
    """

    def __init__(
        self, who: str, task: str, keep_values: bool = False, leave_out_missing: bool = False
    ):
        self.who, self.task, self.keep_values = who, task, keep_values
        self.leave_out_missing, self.n_missing = leave_out_missing, 0
        self.labels: NDArray[Any] | None = None
        self.weight, self.counts = np.zeros(0), np.zeros(0, dtype=np.int64)
        self.is_regression = task == "regression"
        self.n_rows, self.n_labels = 0, 0
        self.total, self.mean = 0.0, 0.0
        self.low, self.high = np.inf, -np.inf

    @property
    def is_classes(self) -> bool:
        """Whether the target is class labels."""
        return not self.is_regression

    def update(self, target: NDArray[Any], weight: Floats | None) -> TargetSummary:
        """Take in the target of some rows; rows without weight count as rows only."""
        missing = find_missing(target) if self.leave_out_missing else np.zeros(0, dtype=bool)
        if missing.any():
            self.n_missing += int(missing.sum())
            target, weight = target[~missing], None if weight is None else weight[~missing]
        target = check_target(target, len(target), self.who)
        self.n_rows += len(target)
        if weight is not None:
            target, weight = target[weight > 0], weight[weight > 0]
        if not target.size:
            return self
        weight = np.ones(target.size) if weight is None else weight
        if self.task == "classification":
            self._add_values(*check_classes(target, target.size, self.who), weight)
            return self
        if self.task == "auto" and target.dtype.kind not in "iufmM":
            self.n_labels += target.size
        else:
            is_whole = are_whole(target)
            target = self._add_numbers(target, weight)
            self.is_regression |= not is_whole
        if not self.is_regression or self.keep_values:
            self._add_values(*encode_labels(target), weight)
        return self._settle()

    def _settle(self) -> TargetSummary:
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
        return self

    def _add_numbers(self, target: NDArray[Any], weight: Floats) -> Floats:
        values = check_numbers(target, target.size, self.who)
        self.low, self.high = min(self.low, values.min()), max(self.high, values.max())
        self._add_mean(float(np.average(values, weights=weight)), float(weight.sum()))
        return values if self.is_regression or target.dtype.kind in "mM" else target

    def _add_mean(self, mean: float, weight: float) -> None:
        self.total += weight
        if self.total > 0:
            self.mean += (mean - self.mean) * weight / self.total

    def _add_values(self, labels: NDArray[Any], codes: NDArray[np.int32], weight: Floats) -> None:
        sums = np.bincount(codes, weight, labels.size).astype(np.float64)
        self._add_labels(labels, sums, np.bincount(codes, minlength=labels.size))

    def _add_labels(self, labels: NDArray[Any], weight: Floats, counts: NDArray[np.int64]) -> None:
        if self.labels is None:
            self.labels, self.weight, self.counts = labels, weight, counts
            return
        both = self._union(self.labels, labels)
        old, new = np.searchsorted(both, self.labels), np.searchsorted(both, labels)
        sums, rows = np.zeros(both.size), np.zeros(both.size, dtype=np.int64)
        sums[old], rows[old] = self.weight, self.counts
        sums[new] += weight
        rows[new] += counts
        self.labels, self.weight, self.counts = both, sums, rows

    def _union(self, known: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
        kinds = {known.dtype.kind, labels.dtype.kind}
        try:
            if not kinds & set("US") or kinds <= set("USO"):
                return np.union1d(known, labels)
            names = ["numbers", "text"]
        except TypeError:
            names = sorted({type(values[0]).__name__ for values in (known, labels)})
        raise InputError(
            f"{self.who}: expected labels of one type, got {' and '.join(names)}. Write the target "
            "with the same type in all files."
        )

    def merge(self, other: TargetSummary) -> TargetSummary:
        """Take in what another object has seen."""
        self.n_rows += other.n_rows
        self.n_missing += other.n_missing
        self.n_labels += other.n_labels
        self.is_regression |= other.is_regression
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self._add_mean(other.mean, other.total)
        if other.labels is not None:
            self._add_labels(other.labels, other.weight, other.counts)
        return self._settle()

    def finish(self) -> TargetSummary:
        """The object itself with its task decided, if it holds two different values."""
        if self.task == "auto" and not self.is_regression and self.labels is not None:
            task = infer_task(self.labels, self.counts, who=self.who)
            self.is_regression = task == "regression"
        self.task = "regression" if self.is_regression else "classification"
        if self.is_classes:
            check_two_classes(np.empty(0) if self.labels is None else self.labels, self.who)
        elif not self.high > self.low:
            raise InputError(
                f"{self.who}: expected a target that varies, got {self.low!r} in all {self.n_rows} "
                f"rows (n_samples={self.n_rows}). Check the target column."
            )
        return self._settle()


class Encoding(NamedTuple):
    """How the stored target of a block becomes what statistics count with.

    Parameters
    ----------
    who : str
        Name of the selector, for messages.
    labels : ndarray or None
        Values that have a code, sorted.
    codes : ndarray of int32 or None
        Code of each of them; None counts them from 0.
    centre : float or None
        Subtracted from a regression target. Without `labels` and `centre` no target is used.
    leave_out_missing : bool
        Whether there are rows without a target, which are left out.
    """

    who: str
    labels: NDArray[Any] | None = None
    codes: NDArray[np.int32] | None = None
    centre: float | None = None
    leave_out_missing: bool = False

    @property
    def uses_target(self) -> bool:
        """Whether blocks get a target."""
        return self.labels is not None or self.centre is not None

    def block(self, raw: RawBlock, weight: Floats | None) -> Block:
        """Rows of `raw` that carry weight, with the target as codes or centred numbers."""
        X, target = raw.X, raw.target if self.uses_target else None
        assert X is not None
        kept = np.ones(X.shape[0], dtype=bool) if weight is None else weight > 0
        if self.leave_out_missing and raw.target is not None:
            kept &= ~find_missing(raw.target)
        if not kept.all():
            X, weight = X[kept], None if weight is None else weight[kept]
            target = None if target is None else target[kept]
        encoded = None if target is None else self._encoded(target)
        return Block.of(as_kernel_input(X), encoded, weight)

    def _encoded(self, target: NDArray[Any]) -> NDArray[Any]:
        if self.labels is None:
            assert self.centre is not None
            return check_numbers(target, target.size, self.who) - self.centre
        if target.dtype.kind in "mM":
            target = as_numbers(target)
        places = np.searchsorted(self.labels, target.astype(self.labels.dtype, copy=False))
        return places.astype(np.int32) if self.codes is None else self.codes[places]
