"""ValueCounts: exact ranks and quantiles of every column, mergeable."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from tamis.statistics.block import Block, Floats
from tamis.statistics.state import Stateful


class ColumnCounts(NamedTuple):
    """Distinct values of one column, ascending, and the weight of each."""

    values: Floats
    weights: Floats

    def rank(self, x: ArrayLike) -> Floats:
        """Average rank of `x` among all rows seen; equal values share the middle rank."""
        x = np.asarray(x, dtype=np.float64)
        before = np.concatenate([[0.0], np.cumsum(self.weights)])
        below = before[np.searchsorted(self.values, x, side="left")]
        upto = before[np.searchsorted(self.values, x, side="right")]
        return np.where(np.isnan(x), np.nan, (below + upto + 1.0) / 2.0)

    def quantile(self, q: ArrayLike) -> Floats:
        """Smallest value below or at which a share `q` of the weight lies."""
        if not self.values.size:
            return np.full(np.shape(q), np.nan)
        cumulative = np.cumsum(self.weights)
        # Sums of weights that are equal on paper may differ in the last bits.
        wanted = np.asarray(q, dtype=np.float64) * cumulative[-1] * (1 - 1e-14)
        position = np.searchsorted(cumulative, wanted, side="left")
        return self.values[np.minimum(position, self.values.size - 1)]


class ValueCounts(Stateful):
    """Distinct values of every column with their weights: exact ranks and quantiles that merge.

    Memory grows with the number of distinct values, not with the number of rows. NaN is passed
    over.

    Parameters
    ----------
    n_columns : int
        Number of columns of every block.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, ValueCounts
    >>> block = Block.of(np.array([[3.0], [1.0], [3.0], [2.0]]))
    >>> column = ValueCounts(1).update(block).finish()[0]
    >>> column.rank([1.0, 3.0]), column.quantile(0.5)
    (array([1. , 3.5]), np.float64(2.0))
    """

    def __init__(self, n_columns: int):
        nothing = np.empty(0)
        self.columns = [ColumnCounts(nothing, nothing) for _ in range(n_columns)]

    def update(self, block: Block, n_jobs: int | None = 1) -> ValueCounts:
        """Take in the rows of a block."""
        rows = block.X[block.start : block.stop]
        rows = rows.tocsc() if block.layout == "sparse" else rows
        for j, known in enumerate(self.columns):
            self.columns[j] = _joined(known, _count(*_column(rows, j, block.weight_slice)))
        return self

    def merge(self, other: ValueCounts) -> ValueCounts:
        """Take in what another object has seen."""
        self.columns = list(map(_joined, self.columns, other.columns))
        return self

    def state(self) -> dict[str, Any]:
        """Values and weights of all columns, one column after the other, and how many each has."""
        return {
            "values": np.concatenate([np.empty(0), *(one.values for one in self.columns)]),
            "weights": np.concatenate([np.empty(0), *(one.weights for one in self.columns)]),
            "sizes": np.array([one.values.size for one in self.columns], dtype=np.int64),
        }

    def restore(self, state: Any) -> Self:
        """Take over the state of another object with as many columns."""
        self._check_names(state, ("values", "weights", "sizes"))
        sizes = self._array("sizes", state["sizes"], (len(self.columns),), np.int64)
        if (sizes < 0).any():
            raise ValueError("ValueCounts.sizes below 0")
        total, ends = sum(sizes.tolist()), np.cumsum(sizes)
        values, weights = (
            np.split(self._array(name, state[name], (total,), np.float64), ends)
            for name in ("values", "weights")
        )
        self.columns = list(map(ColumnCounts, values[:-1], weights[:-1]))
        return self

    def finish(self) -> list[ColumnCounts]:
        """Counts of all rows seen, one record per column."""
        return list(self.columns)


def _column(rows: Any, j: int, weights: Floats) -> tuple[Floats, Floats]:
    """Values and weights of one column; the zeros of a sparse column come as one value."""
    if not sparse.issparse(rows):
        return np.asarray(rows[:, j], dtype=np.float64), weights
    inside = slice(rows.indptr[j], rows.indptr[j + 1])
    stored = weights[rows.indices[inside]]
    zeros = max(weights.sum() - stored.sum(), 0.0)
    return np.append(rows.data[inside], 0.0).astype(np.float64), np.append(stored, zeros)


def _count(values: Floats, weights: Floats) -> ColumnCounts:
    seen = ~np.isnan(values) & (weights > 0)
    distinct, code = np.unique(values[seen], return_inverse=True)
    total = np.bincount(code, weights[seen], minlength=distinct.size)
    return ColumnCounts(distinct, total.astype(np.float64))


def _joined(one: ColumnCounts, other: ColumnCounts) -> ColumnCounts:
    return _count(*map(np.concatenate, zip(one, other, strict=True)))
