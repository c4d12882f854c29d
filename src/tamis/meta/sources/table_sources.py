"""ArraySource and FrameSource: a table in memory, or mapped from a file, as a source."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.data.frames import is_frame
from tamis.exceptions import InputError
from tamis.meta.sources.feature_source import FeatureSource
from tamis.meta.sources.meta_table import as_numbers, check_columns, count_candidates, split_names


class ArraySource(FeatureSource):
    """The columns of an array as candidates.

    For trying a method out on a table that is all there, and for arrays larger than memory: only
    the columns that are asked for are read.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_candidates)
        The table. Whatever understands ``X[:, indices]`` will do: an array, a memory-mapped file
        (``numpy.load(path, mmap_mode="r")``), a CSR or CSC matrix.
    meta : array-like or DataFrame of shape (n_candidates, n_meta)
        Properties of every column.
    cost : array-like of shape (n_candidates,), float or None, default=None
        What a column costs; None means 1 each.
    feature_names : list of str, default=None
        Names of the columns; None takes them from the index of a pandas `meta`.

    See Also
    --------
    FrameSource : The same for a DataFrame, matched by name.

    Notes
    -----
    A column with an infinite value is a failed measurement; it is not tried again. A CSR matrix
    is turned into CSC when first used, which takes the memory of the matrix once more.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import ArraySource
    >>> X = np.arange(8.0).reshape(2, 4)
    >>> source = ArraySource(X, meta=[[0.1], [0.2], [0.3], [0.4]], cost=[1, 1, 5, 5])
    >>> source.columns([3, 0])
    array([[3., 0.],
           [7., 4.]])
    >>> source.n_measured, source.spent
    (2, 6.0)
    """

    retries = 0  # what is wrong with an array now is wrong with it later

    def __init__(self, X: Any, meta: Any, *, cost: Any = None, feature_names: Any = None) -> None:
        if is_frame(X):
            raise InputError(
                "ArraySource: expected an array or a sparse matrix, got a DataFrame. Use "
                "FrameSource(frame, meta), which matches names, or pass frame.to_numpy()."
            )
        self.X: Any = np.asarray(X) if isinstance(X, list | tuple) else X
        shape = getattr(self.X, "shape", None)
        if not isinstance(shape, tuple) or len(shape) != 2:
            came = type(X).__name__ if shape is None else f"shape {shape}"
            raise InputError(
                f"ArraySource: expected X of shape (n_samples, n_candidates), got {came}."
            )
        self.meta, self.cost = meta, cost
        if feature_names is not None:
            self.feature_names = feature_names
        n_candidates = count_candidates(meta, "ArraySource")
        if shape[1] != n_candidates:
            raise InputError(
                f"ArraySource: expected a row of meta for every column of X ({shape[1]}), got "
                f"{n_candidates} rows."
            )
        self.costs()
        self.candidate_names()

    def measure(self, indices: NDArray[np.int64]) -> Any:
        """Columns of the table, as they are in it; see :meth:`.FeatureSource.measure`."""
        if sparse.issparse(self.X) and self.X.format != "csc":
            self.X = self.X.tocsc()
        return self.X[:, indices]

    def _known_rows(self) -> int:
        return int(self.X.shape[0])


class FrameSource(FeatureSource):
    """The columns of a DataFrame as candidates, with a table of their properties.

    For tables whose columns are described in another table: genes and their annotation, words
    and their properties. The two are matched by name, so their order does not matter.

    Parameters
    ----------
    frame : pandas or polars DataFrame, or Arrow table
        The columns; numbers, bools and missing values.
    meta : pandas or polars DataFrame, or Arrow table
        A row per column of `frame`, with its name in the column `name`, or in the index (pandas).
        The candidates are in the order of these rows.
    cost : array-like of shape (n_candidates,), float or None, default=None
        What a column costs, in the order of `meta`; None means 1 each.
    name : str, default="feature"
        Column of `meta` with the names. It is no meta-feature.

    See Also
    --------
    ArraySource : The same for an array, matched by position.
    ParquetSource : The same for files.

    Notes
    -----
    A column of text, or one with an infinite value, is a failed measurement.

    Examples
    --------
    >>> import pandas as pd
    >>> from tamis.meta import FrameSource
    >>> frame = pd.DataFrame({"height": [1.7, 1.8], "weight": [60, 75]})
    >>> meta = pd.DataFrame({"unit_cost": [3.0, 1.0]}, index=["weight", "height"])
    >>> source = FrameSource(frame, meta)
    >>> source.candidate_names()
    ['weight', 'height']
    >>> source.columns([1])
    array([[1.7],
           [1.8]])
    """

    retries = 0  # what is wrong with a table now is wrong with it later

    def __init__(self, frame: Any, meta: Any, *, cost: Any = None, name: str = "feature") -> None:
        if not is_frame(frame):  # a lazy one is none, either
            raise InputError(
                "FrameSource: expected a pandas or polars DataFrame or an Arrow table, got an "
                f"object of type {type(frame).__name__}. For an array use ArraySource; collect a "
                "lazy frame."
            )
        self.frame, self.cost = frame, cost
        labels = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
        self._names, self.meta = split_names(meta, name, "FrameSource")
        check_columns(self._names, labels, "FrameSource", extra=False)
        self.feature_names = [str(label) for label in self._names]
        self.costs()

    def measure(self, indices: NDArray[np.int64]) -> Any:
        """Columns of the table, NaN where missing; see :meth:`.FeatureSource.measure`."""
        columns = [as_numbers(self.frame[self._names[index]]) for index in indices]
        return np.column_stack(columns) if columns else np.empty((self._known_rows(), 0))

    def _known_rows(self) -> int:
        return int(self.frame.shape[0])
