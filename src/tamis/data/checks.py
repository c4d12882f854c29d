"""From what a user passes to arrays that can be computed with, or a message that helps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from tamis.data.mixed import check_mixed_table
from tamis.exceptions import InputError


def check_table(selector: Any, X: Any, *, reset: bool = True) -> Any:
    """Array or CSR matrix of `X`; numbers keep their type, missing values become NaN.

    Infinite values are not looked for here: that would read the data once more.
    """
    options = {"accept_sparse": "csr", "ensure_all_finite": False}
    plain = isinstance(X, np.ndarray) and X.dtype.kind in "biuf"
    if not plain and not sparse.issparse(X):
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


def check_finite_columns(selector: Any, infinite: NDArray[np.bool_]) -> None:
    """Raise for columns flagged as holding infinite values."""
    if not infinite.any():
        return
    column = int(np.flatnonzero(infinite)[0])
    others = int(infinite.sum()) - 1
    raise InputError(
        f"{type(selector).__name__}: expected finite values or NaN, got inf in column "
        f"{_shown(selector, column)!r}"
        f"{f' and {others} more' if others else ''}. Replace infinite values by NaN to treat them "
        "as missing, or by the largest value that makes sense."
    )


def check_squares(selector: Any, ranges: Any) -> None:
    """Raise where the square of a column's values would overflow."""
    with np.errstate(invalid="ignore"):  # NaN marks empty columns
        size = np.where(ranges.constant, 0.0, np.maximum(-ranges.low, ranges.high))
    column = int(size.argmax())
    if size[column] > 1e150:
        raise InputError(
            f"{type(selector).__name__}: expected values below 1e150, got {size[column]:.3g} in "
            f"column {_shown(selector, column)!r}, whose square overflows. Rescale the column."
        )


def check_weight(weight: Any, n_rows: int, who: str) -> NDArray[np.float64] | None:
    """Sample weights as float64: finite, not negative, not all zero; a number counts for all."""
    if weight is None:
        return None
    try:
        weight = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{who}: expected sample_weight to be one number per row, got {weight!r}."
        ) from error
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    if weight.shape != (n_rows,):
        raise InputError(
            f"{who}: expected one sample_weight per row of X ({n_rows}), got shape {weight.shape}; "
            "sample_weight.shape must be (n_samples,)."
        )
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise InputError(
            f"{who}: expected sample_weight to be finite and not negative, got "
            f"{float(weight[~(np.isfinite(weight) & (weight >= 0))][0])!r}."
        )
    if not (weight > 0).any():
        raise InputError(f"{who}: expected a positive sample_weight somewhere, got only zeros.")
    return weight


def names_of(selector: Any) -> Any:
    """Column names seen in fit, or told by a rule that fits again on bare arrays, or None."""
    known = getattr(selector, "_names_told", None)
    return getattr(selector, "feature_names_in_", known)


def _shown(selector: Any, column: int) -> Any:
    names = names_of(selector)
    return column if names is None else names[column]
