"""TargetSummary: which classes or numbers a target holds, block after block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data import checks
from tamis.exceptions import InputError

Floats = NDArray[np.float64]


class TargetSummary:
    """Distinct values with their weights, the mean and the range of a target.

    Parameters
    ----------
    who : str
        Name of the selector, for messages.
    want : {"classes", "numbers", "either"}
        What the target is to be. ``"either"`` takes numbers with a fractional part as numbers, and
        everything else as classes.
    keep_values : bool, default=False
        Keep the distinct values of a numeric target, too.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.data.target_summary import TargetSummary
    >>> first = TargetSummary("DFT", "classes").update(np.array(["b", "a", "b"]), None)
    >>> other = TargetSummary("DFT", "classes").update(np.array(["c"]), np.array([2.0]))
    >>> first.merge(other).labels.tolist(), other.weight
    (['a', 'b', 'c'], array([2.]))
    """

    def __init__(self, who: str, want: str, keep_values: bool = False):
        self.who, self.want, self.keep_values = who, want, keep_values
        self.labels: NDArray[Any] | None = None
        self.weight = np.zeros(0)
        self.is_fractional = want == "numbers"
        self.n_rows, self.n_text = 0, 0
        self.total, self.mean = 0.0, 0.0
        self.low, self.high = np.inf, -np.inf

    @property
    def is_classes(self) -> bool:
        """Whether the target is classes, by all that was seen."""
        return not self.is_fractional

    def update(self, target: NDArray[Any], weight: Floats | None) -> TargetSummary:
        """Take in the target of some rows; rows without weight count as rows only."""
        target = checks.check_target(target, len(target), self.who)
        self.n_rows += len(target)
        if weight is not None:
            target, weight = target[weight > 0], weight[weight > 0]
        if not target.size:
            return self
        weight = np.ones(target.size) if weight is None else weight
        if self.want == "classes":
            labels, codes = checks.check_classes(target, target.size, self.who)
            self._add_labels(labels, _sums(codes, weight, labels))
        elif self.want == "numbers":
            self._add_numbers(target, weight)
            if self.keep_values:
                self._add_values(target.astype(np.float64), weight)
        else:
            self._add_either(target, weight)
        return self

    def _add_either(self, target: NDArray[Any], weight: Floats) -> None:
        if not _is_numeric(target):
            self.n_text += target.size
        else:
            self._add_numbers(target, weight)
            values = target.astype(np.float64)
            self.is_fractional |= not bool((values == np.floor(values)).all())
        if self.n_text and self.is_fractional:
            raise InputError(
                f"{self.who}: expected a target of one kind, got text in some rows and numbers "
                "with a fractional part in others. Set the task, or mend the target."
            )
        self._add_values(target, weight)
        self._drop_values()

    def _add_values(self, target: NDArray[Any], weight: Floats) -> None:
        if not self.is_fractional or self.keep_values:
            labels, codes = np.unique(target, return_inverse=True)
            self._add_labels(labels, _sums(codes, weight, labels))

    def _drop_values(self) -> None:
        """Forget values that turned out to be numbers."""
        if self.is_fractional and not self.keep_values:
            self.labels, self.weight = None, np.zeros(0)

    def _add_numbers(self, target: NDArray[Any], weight: Floats) -> None:
        values = checks.check_numbers(target, target.size, self.who)
        self.low, self.high = min(self.low, values.min()), max(self.high, values.max())
        self._add_mean(float(np.average(values, weights=weight)), float(weight.sum()))

    def _add_mean(self, mean: float, weight: float) -> None:
        self.total += weight
        if self.total > 0:
            self.mean += (mean - self.mean) * weight / self.total

    def _add_labels(self, labels: NDArray[Any], weight: Floats) -> None:
        if self.labels is None:
            self.labels, self.weight = labels, weight
            return
        try:
            both = np.union1d(self.labels, labels)
        except TypeError as error:
            kinds = sorted({type(values[0]).__name__ for values in (self.labels, labels)})
            raise InputError(
                f"{self.who}: expected labels of one type, got {' and '.join(kinds)}. Write the "
                "target with the same type in all files."
            ) from error
        if {self.labels.dtype.kind, labels.dtype.kind} & set("US") and (
            self.labels.dtype.kind not in "USO" or labels.dtype.kind not in "USO"
        ):
            raise InputError(
                f"{self.who}: expected labels of one type, got text and numbers. Write the target "
                "with the same type in all files."
            )
        sums = np.zeros(both.size)
        sums[np.searchsorted(both, self.labels)] += self.weight
        sums[np.searchsorted(both, labels)] += weight
        self.labels, self.weight = both, sums

    def merge(self, other: TargetSummary) -> TargetSummary:
        """Take in what another object has seen."""
        self.n_rows += other.n_rows
        self.n_text += other.n_text
        self.is_fractional |= other.is_fractional
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self._add_mean(other.mean, other.total)
        if other.labels is not None:
            self._add_labels(other.labels, other.weight)
        self._drop_values()
        return self

    def finish(self) -> TargetSummary:
        """The object itself, if it holds two different values."""
        if self.is_classes:
            checks.check_two_classes(np.empty(0) if self.labels is None else self.labels, self.who)
        elif not self.high > self.low:
            raise InputError(
                f"{self.who}: expected a target that varies, got {self.low!r} in all {self.n_rows} "
                f"rows (n_samples={self.n_rows}). Check the target column."
            )
        return self


def _sums(codes: NDArray[Any], weight: Floats, labels: NDArray[Any]) -> Floats:
    return np.bincount(codes, weight, labels.size).astype(np.float64)


def _is_numeric(target: NDArray[Any]) -> bool:
    if target.dtype.kind != "O":
        return target.dtype.kind in "iufb"
    try:
        target.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True
