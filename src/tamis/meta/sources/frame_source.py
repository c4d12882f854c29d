"""FrameSource: a DataFrame of columns and a table about them, matched by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.data.frames import is_frame
from tamis.exceptions import InputError
from tamis.meta.sources.feature_source import FeatureSource
from tamis.meta.sources.meta_table import as_numbers, check_columns, split_names


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
