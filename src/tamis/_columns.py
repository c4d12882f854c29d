"""Columns as a method wants them: which ones vary, and dense ones without holes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.data.values import check_finite_columns, check_squares
from tamis.exceptions import InputError
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Ranges
from tamis.statistics.block import RangesResult

Floats = NDArray[np.float64]
# Columns that are centred at a time, so that no second copy of the table is made.
TILE = 256


def find_constant(selector: Any, X: Any, weight: Floats | None) -> NDArray[np.bool_]:
    """Columns that never vary; infinite values are an error."""
    ranges = run_pass(Ranges(X.shape[1]), MemoryEngine(X, None, weight), n_jobs=selector.n_jobs)
    return constant_of(selector, ranges.finish())


def constant_of(selector: Any, ranges: RangesResult) -> NDArray[np.bool_]:
    """As `find_constant`, where the ranges are known."""
    check_finite_columns(selector, ranges.infinite)
    check_squares(selector, ranges)
    return ranges.constant


def centred_columns(
    X: Any, columns: NDArray[Any], weight: Floats | None = None, *, scale: bool = False
) -> Floats:
    """Some columns of `X`, dense and less their mean; missing cells are 0, that is, at the mean.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_columns)
        The checked table; it is not changed.
    columns : ndarray of bool or int
        Which columns.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows in mean and deviation.
    scale : bool
        Divide by the deviation (of the population, over the observed cells).

    Returns
    -------
    centred : ndarray of float64 of shape (n_rows, n_chosen), C-ordered
        A new array.
    """
    chosen = np.flatnonzero(columns) if columns.dtype == bool else columns
    X = X.tocsc() if sparse.issparse(X) else X
    share = np.ones(X.shape[0]) if weight is None else weight
    out = np.empty((X.shape[0], chosen.size))
    for first in range(0, chosen.size, TILE):
        tile = X[:, chosen[first : first + TILE]]
        # One order for all layouts: sums of columns in another order round differently.
        values = np.array(tile.toarray() if sparse.issparse(tile) else tile, np.float64, order="F")
        out[:, first : first + TILE] = _centre(values, share, scale)
    return out


def turned_columns(
    X: Any, chosen: NDArray[np.intp], rows: NDArray[np.intp] | None = None
) -> Floats:
    """Some columns of all rows, or of some, as the rows of a new float64 array."""
    X = X.tocsc() if sparse.issparse(X) else X
    out = np.empty((chosen.size, X.shape[0] if rows is None else rows.size))
    for first in range(0, chosen.size, TILE):
        tile = X[:, chosen[first : first + TILE]]
        dense = tile.toarray() if sparse.issparse(tile) else tile
        out[first : first + TILE] = (dense if rows is None else dense[rows]).T
    return out


def _centre(values: Floats, weight: Floats, scale: bool) -> Floats:
    seen = ~np.isnan(values)
    total = weight @ seen
    values = np.where(seen, values, 0.0)
    for _ in range(2):  # the second round takes off what rounding left of a large mean
        mean = np.divide(weight @ values, total, out=np.zeros_like(total), where=total > 0)
        values = np.where(seen, values - mean, 0.0)
    if scale:
        largest = np.abs(values).max(axis=0, initial=0.0)  # squares of tiny numbers would be 0
        values /= np.where(largest > 0, largest, 1.0)
        spread = np.divide(weight @ values**2, total, out=np.ones_like(total), where=total > 0)
        values /= np.sqrt(np.where(spread > 0, spread, 1.0))
    return values


class ConstantColumnsMixin:
    """A selector's columns that never vary; some must."""

    def _find_constant(self: Any, X: Any, weight: Floats | None) -> NDArray[np.bool_]:
        """Columns of a table in memory that never vary; some must."""
        constant = find_constant(self, X, weight)
        self._check_varies(constant, X.shape[0])
        return constant

    def _check_varies(self: Any, constant: NDArray[np.bool_], n_rows: int) -> None:
        if constant.all():
            raise InputError(
                f"{type(self).__name__}: expected at least one column with two different values, "
                f"got {constant.size} constant or empty columns in {n_rows} rows (n_samples="
                f"{n_rows}). Check how the table was read."
            )
