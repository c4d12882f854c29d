"""A target that is read in blocks: its classes (ClassSummary), how it is coded (Encoding)."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tamis.data.labels import check_classes, check_target, check_two_classes, find_missing
from tamis.data.partitioned import RawBlock
from tamis.data.target import as_numbers, check_numbers
from tamis.exceptions import InputError
from tamis.statistics.block import Block, as_kernel_input

Floats = NDArray[np.float64]


class ClassSummary:
    """Classes of a target with their weights and numbers of rows.

    `who` is the name of the selector, for messages. Rows without a target raise, or are counted in
    `n_missing` and left out. `tamis.data.number_target` is for targets that may be numbers.
    """

    task = "classification"
    is_regression = False

    def __init__(self, who: str, leave_out_missing: bool = False):
        self.who, self.leave_out_missing = who, leave_out_missing
        self.labels: NDArray[Any] | None = None
        self.weight, self.counts = np.zeros(0), np.zeros(0, dtype=np.int64)
        self.n_rows, self.n_missing = 0, 0

    def update(self, target: NDArray[Any], weight: Floats | None) -> Self:
        """Take in the target of some rows; rows without weight count as rows only."""
        missing = find_missing(target) if self.leave_out_missing else np.zeros(0, dtype=bool)
        if missing.any():
            self.n_missing += int(missing.sum())
            target, weight = target[~missing], None if weight is None else weight[~missing]
        target = check_target(target, len(target), self.who)
        self.n_rows += len(target)
        if weight is not None:
            target, weight = target[weight > 0], weight[weight > 0]
        if target.size:
            self._take_in(target, np.ones(target.size) if weight is None else weight)
        return self

    def _take_in(self, target: NDArray[Any], weight: Floats) -> None:
        self._add_values(*check_classes(target, target.size, self.who), weight)

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

    def merge(self, other: Self) -> Self:
        """Take in what another object has seen."""
        self.n_rows += other.n_rows
        self.n_missing += other.n_missing
        if other.labels is not None:
            self._add_labels(other.labels, other.weight, other.counts)
        return self

    def finish(self) -> Self:
        """The object itself, if it holds two different values."""
        check_two_classes(np.empty(0) if self.labels is None else self.labels, self.who)
        return self


class Encoding(NamedTuple):
    """How the stored target of a block becomes what statistics count with.

    `labels` are the values that have a code, sorted, and `codes` theirs; None counts them from 0.
    `centre` is subtracted from a regression target. With neither, no target is used.
    `leave_out_missing` tells that there are rows without a target, which are left out.
    """

    who: str
    labels: NDArray[Any] | None = None
    codes: NDArray[np.int32] | None = None
    centre: float | None = None
    leave_out_missing: bool = False

    def block(self, raw: RawBlock, weight: Floats | None) -> Block:
        """Rows of `raw` that carry weight, with the target as codes or centred numbers."""
        uses_target = self.labels is not None or self.centre is not None
        X, target = raw.X, raw.target if uses_target else None
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
