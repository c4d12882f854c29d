"""ClassMoments: weight, mean and variance of every column within every class."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis.statistics.block import Block
from tamis.statistics.state import Stateful

Floats = NDArray[np.float64]

# Columns that a thread works on at a time: with 64 rows they fit the second-level cache.
TILE_COLUMNS = 512


class ClassMomentsResult(NamedTuple):
    """Finished moments, ``[class, column]``; mean and variance are NaN where nothing was observed.

    `class_weight` is the weight of all rows of a class, whether their cells are missing or not.
    """

    weight: Floats
    mean: Floats
    variance: Floats
    class_weight: Floats

    def compare(self) -> ClassComparison:
        """Differences between the classes."""
        weight = self.weight
        mean, variance = np.nan_to_num(self.mean), np.nan_to_num(self.variance)
        total = np.where(weight.sum(axis=0) > 0, weight.sum(axis=0), 1.0)
        # Relative to the mean of a class, so that a large offset leaves no rounding in the gaps.
        largest = weight.argmax(axis=0)
        gap = np.where(weight > 0, mean - mean[largest, np.arange(total.size)], 0.0)
        gap = np.where(weight > 0, gap - (weight * gap).sum(axis=0) / total, 0.0)
        between, within = (weight * gap * gap).sum(axis=0), (weight * variance).sum(axis=0)
        return ClassComparison(weight, gap, variance, between, within, np.abs(mean).max(axis=0))


class ClassComparison(NamedTuple):
    """How the classes of every column differ.

    `weight` and `gap` (class mean less overall mean, 0 where nothing was observed) are
    ``[class, column]``; sums of squares `between` and `within` and the largest class mean in size
    are per column.
    """

    weight: Floats
    gap: Floats
    variance: Floats
    between: Floats
    within: Floats
    size: Floats

    @property
    def total(self) -> Floats:
        """Observed weight of every column."""
        return self.weight.sum(axis=0)


class ClassMoments(Stateful):
    """Weight, mean and population variance per class and column; NaN is passed over.

    Parameters
    ----------
    n_columns : int
        Number of columns of every block.
    n_classes : int
        Number of classes; the target of a block holds codes below it.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, ClassMoments
    >>> block = Block.of(np.array([[1.0], [3.0], [8.0]]), target=np.array([0, 0, 1], np.int32))
    >>> result = ClassMoments(1, n_classes=2).update(block).finish()
    >>> result.mean[:, 0], result.variance[:, 0]
    (array([2., 8.]), array([1., 0.]))
    """

    state_names: ClassVar[tuple[str, ...]] = ("weight", "mean", "spread", "class_weight")

    def __init__(self, n_columns: int, n_classes: int):
        self.weight = np.zeros((n_classes, n_columns))
        self.mean = np.zeros((n_classes, n_columns))
        self.spread = np.zeros((n_classes, n_columns))
        self.class_weight = np.zeros(n_classes)

    def update(self, block: Block, n_jobs: int | None = 1) -> ClassMoments:
        """Take in the rows of a block."""
        assert block.target is not None
        rows = slice(block.start, block.stop)
        n_classes = self.class_weight.size
        self.class_weight += np.bincount(block.target[rows], block.weight_slice, n_classes)
        if block.layout == "sparse":
            return self._merge(*self._sparse(block))
        self._dense(block, n_jobs)
        return self

    def _dense(self, block: Block, n_jobs: int | None) -> None:
        from tamis.statistics import _class_kernels as kernels

        assert block.target is not None
        state = (block.weights, self.weight, self.mean, self.spread)
        kernel: Any
        arguments: tuple[Any, ...]
        if block.layout == "rows":
            kernel = kernels.class_moments_rows
            codes = block.target[block.start : block.stop]
            order = np.argsort(codes, kind="stable") + block.start
            ends = np.cumsum(np.bincount(codes, minlength=self.class_weight.size))
            arguments = (block.dense, order, np.concatenate([[0], ends]))
        else:
            kernel = kernels.class_moments_columns
            arguments = (block.dense, block.start, block.stop, block.target)
        threads = threads_for(block.n_rows * block.n_columns, n_jobs)
        n_tiles = max(-(-block.n_columns // TILE_COLUMNS), threads)
        run_kernel(
            kernel,
            lambda first, last: kernel(*arguments, *state, first, last),
            split_evenly(0, block.n_columns, n_tiles),
            threads,
            block.X.dtype,
        )

    def _sparse(self, block: Block) -> tuple[Floats, Floats, Floats]:
        """Moments of a sparse block: stored entries, then the zeros around them in one merge."""
        from tamis.statistics import _class_kernels as kernels

        assert block.target is not None
        n_classes = self.class_weight.size
        part = ClassMoments(block.n_columns, n_classes)
        stored = np.zeros(part.weight.shape)
        n_stored = np.zeros(part.weight.shape, dtype=np.int64)
        with announce_compilation(kernels.class_moments_sparse, block.X.dtype):
            kernels.class_moments_sparse(
                *block.stored, block.start, block.stop, block.target, block.weights,
                part.weight, part.mean, part.spread, stored, n_stored,
            )  # fmt: skip
        codes = block.target[block.start : block.stop]
        rows = np.bincount(codes, minlength=n_classes)[:, None]
        total = np.bincount(codes, block.weight_slice, n_classes)[:, None]
        # Where every row is stored, what is left of the weights is rounding, not zeros.
        zeros = np.where(n_stored == rows, 0.0, np.maximum(total - stored, 0.0))
        nothing = np.zeros_like(zeros)
        part._merge(zeros, nothing, nothing)
        return part.weight, part.mean, part.spread

    def _merge(self, weight: Floats, mean: Floats, spread: Floats) -> ClassMoments:
        total = self.weight + weight
        share = np.divide(weight, total, out=np.zeros_like(total), where=total > 0)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite values stay visible
            gap = mean - self.mean
            self.spread += spread + gap * gap * self.weight * share
            self.mean += gap * share
        self.weight = total
        return self

    def merge(self, other: ClassMoments) -> ClassMoments:
        """Take in what another object has seen of the same classes."""
        self.class_weight += other.class_weight
        return self._merge(other.weight, other.mean, other.spread)

    def add_classes(self, positions: NDArray[np.intp], n_classes: int) -> None:
        """Make room for classes met later; `positions` says where the known ones go."""
        for name in ("weight", "mean", "spread", "class_weight"):
            known = getattr(self, name)
            table = np.zeros((n_classes, *known.shape[1:]))
            table[positions] = known
            setattr(self, name, table)

    def finish(self) -> ClassMomentsResult:
        """Moments of all rows seen."""
        seen = self.weight > 0
        mean = np.where(seen, self.mean, np.nan)
        variance = np.divide(self.spread, self.weight, out=np.full_like(mean, np.nan), where=seen)
        return ClassMomentsResult(self.weight.copy(), mean, variance, self.class_weight.copy())
