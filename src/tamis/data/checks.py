"""From what a user passes to arrays that can be computed with.

Arrays of numbers and of class labels are done here; anything else by `mixed` and `target`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data


def check_table(selector: Any, X: Any, *, reset: bool = True) -> Any:
    """Array or CSR matrix of `X`; numbers keep their type, missing values become NaN.

    Infinite values are not looked for here: that would read the data once more.
    """
    options = {"accept_sparse": "csr", "ensure_all_finite": False}
    is_array = isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray)
    plain = is_array and X.dtype.kind in "biuf" and X.dtype.char not in "lLqQ"
    if not plain and not sparse.issparse(X):
        from tamis.data.mixed import check_mixed_table

        return check_mixed_table(selector, X, reset, **options)
    table = validate_data(selector, X, dtype="numeric", reset=reset, **options)
    if sparse.issparse(table) and not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()  # two entries of a cell mean their sum
    return table


def set_columns(selector: Any, n_columns: int, names: Any) -> None:
    """Let a selector know the columns of a table that it does not read itself."""
    selector.n_features_in_ = n_columns
    if names is not None:
        selector.feature_names_in_ = np.asarray(names, dtype=object)


def plain_classes(
    y: Any, task: str | None, weight: Any, n_rows: int
) -> tuple[NDArray[Any], NDArray[np.int32], None] | None:
    """As `tamis.data.target.Target.of`, or None unless `y` is an array of labels that will do."""
    if task != "classification" or weight is not None or type(y) is not np.ndarray:
        return None
    if y.shape != (n_rows,) or y.dtype.kind not in "biuUS":
        return None
    classes, codes = encode_labels(y)
    return None if classes.size < 2 else (classes, codes, None)


def encode_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """As ``numpy.unique(y, return_inverse=True)``; small integers without sorting the rows."""
    if y.dtype.kind in "iu" and y.dtype != np.uint64 and y.size:  # int64 holds all but these
        low, high = int(y.min()), int(y.max())
        if high - low < 2 * y.size + 1000:
            shifted = (y.astype(np.int64) - low) if low else y
            present = np.bincount(shifted) > 0
            codes = (np.cumsum(present, dtype=np.int32) - 1).astype(np.int32)
            return (np.flatnonzero(present) + low).astype(y.dtype), codes[shifted]
    classes, inverse = np.unique(y, return_inverse=True)
    return classes, inverse.astype(np.int32)


def names_of(selector: Any) -> Any:
    """Column names seen in fit, or told by a rule that fits again on bare arrays, or None."""
    known = getattr(selector, "_names_told", None)
    return getattr(selector, "feature_names_in_", known)
