"""How much columns say about a target and about each other: by counts of codes, or by lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import run_parts, split_evenly, threads_for
from tamis.data.target import Target
from tamis.statistics.codes import Codes, code_columns, x_log_x_table
from tamis.statistics.correlations import linear_factors

Floats = NDArray[np.float64]

# Columns looked at together for missing cells, so that no mask of the table is made.
TILE = 256
# Columns that stay below it are scaled up.
TINY = 1e-120
# A target told without any error has this share left unexplained, so that F stays finite.
LEAST_ERROR = 1e-12


class CodedColumns:
    """Columns as codes, and what joint counts say about pairs of them.

    A row takes part in a pair if both cells are known.

    Parameters
    ----------
    codes : Codes
        The columns.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    n_jobs : int or None
        Threads; each takes columns of its own.
    """

    def __init__(self, codes: Codes, weight: Floats, n_jobs: int | None):
        self.codes, self.weight, self.n_jobs = codes, weight, n_jobs
        self.logs = x_log_x_table(weight)

    def pairs(self, one: NDArray[Any], n_levels: int, columns: NDArray[Any] | None) -> Floats:
        """Bits shared with `one` (codes, -1 missing), its entropy, and that of every column.

        All three are 0 for columns of one level.
        """
        from tamis.statistics import _code_kernels as kernels

        table, levels = self.codes
        chosen = np.arange(table.shape[0]) if columns is None else columns.astype(np.int64)
        out = np.empty((3, chosen.size))
        arguments = (table, levels, one.astype(np.int64), n_levels, self.weight, self.logs, chosen)
        threads = threads_for(2 * chosen.size * table.shape[1], self.n_jobs)
        with announce_compilation(kernels.joint_information):
            run_parts(
                lambda first, last: kernels.joint_information(*arguments, first, last, out),
                split_evenly(0, chosen.size, threads),
                threads,
            )
        return out

    def information(
        self, one: NDArray[Any], n_levels: int, columns: NDArray[Any] | None = None
    ) -> Floats:
        """Mutual information of `one` and the columns, in bits."""
        return self.pairs(one, n_levels, columns)[0]

    def uncertainty(
        self, one: NDArray[Any], n_levels: int, columns: NDArray[Any] | None = None
    ) -> Floats:
        """Symmetrical uncertainty ``2 I(a; b) / (H(a) + H(b))``, 0 where neither varies."""
        return symmetrical(*self.pairs(one, n_levels, columns))


def symmetrical(shared: Floats, left: Floats, right: Floats) -> Floats:
    """Symmetrical uncertainty from bits shared and the entropies of both sides."""
    both = left + right
    share = np.divide(2.0 * shared, both, out=np.zeros_like(both), where=both > 0)
    return np.minimum(share, 1.0)


def code_target(
    outcome: Target, n_bins: int, strategy: str, weight: Floats
) -> tuple[NDArray[Any], int]:
    """Codes of a target and their number: classes as they are, numbers in bins."""
    if outcome.codes is not None:
        return outcome.codes, outcome.n_classes
    assert outcome.values is not None
    column = outcome.values[:, None]
    return code_columns(column, n_bins=n_bins, strategy=strategy, weight=weight).column(0)


class LinearColumns:
    """Columns as vectors of length one whose products are Pearson correlations.

    A missing cell is at the mean of its column.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_columns)
        Columns that vary, in rows that carry weight.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    n_jobs : int or None
        Threads.
    """

    def __init__(self, X: Any, weight: Floats, n_jobs: int | None):
        X = _without_tiny(X)
        self.X, self.weight, self.root = X, weight, np.sqrt(weight)
        self.factors = linear_factors(X, weight, np.float64, n_jobs)

    def products(self, side: Floats) -> Floats:
        """Products of all columns with one vector, or with the columns of a matrix."""
        product = self.factors.vectors @ side
        if self.factors.zero is None:
            return product
        # The zeros of a sparse column share one value, which is kept apart.
        return product + np.multiply.outer(self.factors.zero, self.root @ side)

    def correlations(self, j: int) -> Floats:
        """Absolute correlation of every column with column `j`."""
        return np.abs(self.products(self.factors.take((j, j + 1))[0]))

    def explained(self, outcome: Target) -> tuple[Floats, Floats]:
        """Share of variance that goes with the target, and the F statistic, of every column.

        For classes it is the variance between them as a share of all, over the rows where the cell
        is known; for numbers the squared correlation.
        """
        if outcome.codes is not None:
            return self._between_classes(outcome.codes, outcome.n_classes)
        assert outcome.values is not None
        return self._along_line(outcome.values)

    def _between_classes(self, codes: NDArray[Any], n_classes: int) -> tuple[Floats, Floats]:
        member = (codes[:, None] == np.arange(n_classes)).astype(np.float64)
        sums = self.products(self.root[:, None] * member)
        weights = self._observed(self.weight[:, None] * member)
        seen = weights > 0
        share = np.divide(sums**2, weights, out=np.zeros_like(sums), where=seen).sum(axis=1)
        n_groups = np.broadcast_to(seen.sum(axis=1), share.shape)
        return with_f(share, np.broadcast_to(weights.sum(axis=1), share.shape), n_groups)

    def _along_line(self, values: Floats) -> tuple[Floats, Floats]:
        values = values - self.weight @ values / self.weight.sum()
        peak = np.abs(values).max()
        values = values / peak  # so that no square underflows
        moments = np.column_stack([np.ones_like(values), values, values**2])
        total, first, second = self._observed(self.weight[:, None] * moments).T
        # The target is centred in the rows where the cell is known, so that what rounding left of
        # the mean of a column does not count.
        rest, product = self.products(self.root[:, None] * moments[:, :2]).T
        product = product - rest * first / np.maximum(total, 1e-300)
        spread = second - first**2 / np.maximum(total, 1e-300)
        usable = spread > 1e-12 * np.maximum(second, 1e-300)
        share = np.divide(product**2, spread, out=np.zeros_like(product), where=usable)
        return with_f(share, np.broadcast_to(total, share.shape), np.full(share.shape, 2))

    def _observed(self, side: Floats) -> Floats:
        """Sums of `side` over the rows where a cell is known; one for all if none is missing."""
        whole = side.sum(axis=0, keepdims=True)
        if sparse.issparse(self.X):
            missing = self.X.copy()
            missing.data = np.isnan(missing.data).astype(np.float64)
            if not missing.data.any():
                return whole
            left = whole - missing.T @ side
            # What rounding leaves of a class that is missing altogether is not a row.
            return np.where(np.abs(left) < 1e-12 * np.abs(side).sum(axis=0), 0.0, left)
        if self.X.dtype.kind != "f" or not np.isnan(self.X.min()):
            return whole
        tiles = split_evenly(0, self.X.shape[1], -(-self.X.shape[1] // TILE))
        return np.concatenate([(~np.isnan(self.X[:, a:b])).T @ side for a, b in tiles])


def _without_tiny(X: Any) -> Any:
    """The table, with columns of tiny numbers scaled up, for their squares would underflow."""
    if X.dtype.kind != "f":
        return X
    if sparse.issparse(X):
        peak = abs(X).max(axis=0).toarray().ravel()
    else:
        peak = np.maximum(np.fmax.reduce(X, axis=0), -np.fmin.reduce(X, axis=0))
    factor = np.where(peak < TINY, 1.0 / np.maximum(peak.astype(np.float64), 1e-300), 1.0)
    if (factor == 1.0).all():
        return X
    return X @ sparse.diags_array(factor) if sparse.issparse(X) else X * factor


def with_f(share: Floats, total: Floats, n_groups: NDArray[Any]) -> tuple[Floats, Floats]:
    """A share of variance in [0, 1], and F from it; total weight counts as the number of rows."""
    share = np.where(n_groups > 1, np.minimum(share, 1.0), 0.0)
    freedom = np.maximum(total - n_groups, 1.0) / np.maximum(n_groups - 1, 1)
    return share, share / np.maximum(1.0 - share, LEAST_ERROR) * freedom
