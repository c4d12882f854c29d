"""From what a user passes to arrays that can be computed with, or a message that helps."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from tamis.data.frames import coded_columns, encode_frame, is_frame, learn_codes, not_a_number
from tamis.data.target import is_missing
from tamis.exceptions import InputError


def check_table(selector: Any, X: Any, *, reset: bool = True) -> Any:
    """Array or CSR matrix of `X`; numbers keep their type, missing values become NaN.

    Infinite values are not looked for here: that would read the data once more.
    """
    who = type(selector).__name__
    if not isinstance(X, np.ndarray) and is_frame(X):
        _check_names(X, who)
        if reset:
            selector.__dict__.pop("column_codes_", None)
        if coded_columns(X) or hasattr(selector, "column_codes_"):
            return _encoded(selector, X, reset)
    options = {"accept_sparse": "csr", "ensure_all_finite": False, "reset": reset}
    try:
        table = validate_data(selector, X, dtype="numeric", **options)
    except ValueError as error:
        column = _first_text_column(X)
        if column is None:
            raise
        raise not_a_number(who, column) from error
    except TypeError:
        if _first_text_column(X) is not None:
            raise
        table = validate_data(selector, X, dtype=None, **options)  # pandas.NA among objects
    if sparse.issparse(table):
        return _without_duplicates(table)
    return _as_numbers(table, selector) if table.dtype.kind in "OmM" else table


def _encoded(selector: Any, X: Any, reset: bool) -> NDArray[Any]:
    """Numbers of a frame with categories, dates and the like; fit keeps how they were made."""
    who = type(selector).__name__
    codes = learn_codes(X, who) if reset else getattr(selector, "column_codes_", {})
    table = encode_frame(X, codes, who)
    validate_data(selector, X, reset=reset, skip_check_array=True)
    check_array(table, ensure_all_finite=False, estimator=selector)
    if reset:
        selector.column_codes_ = codes
    return table


def select_columns(selector: Any, X: Any, names: Any) -> Any:
    """Some columns of a frame like the one that was fitted, with their types."""
    validate_data(selector, X, reset=False, skip_check_array=True)
    return nw.from_native(X).select(list(names)).to_native()


def set_columns(selector: Any, n_columns: int, names: Any) -> None:
    """Let a selector know the columns of a table that it does not read itself."""
    selector.n_features_in_ = n_columns
    if names is not None:
        selector.feature_names_in_ = np.asarray(names, dtype=object)


def _without_duplicates(table: Any) -> Any:
    """CSR matrix that stores no cell twice; two entries of a cell mean their sum."""
    if table.has_canonical_format:
        return table
    table = table.copy()
    table.sum_duplicates()
    return table


def _as_numbers(table: NDArray[Any], selector: Any) -> NDArray[np.float64]:
    """Objects as float64, None and pandas.NA as NaN."""
    column = None
    if table.dtype.kind == "O":
        column = _first_text_column(table)
        if column is None:
            missing = [is_missing(value) for value in table.flat]
            return np.where(np.reshape(missing, table.shape), np.nan, table).astype(np.float64)
    position, example = column or (0, f"dtype {table.dtype}")
    names = names_of(selector)
    shown = position if names is None else names[position]
    raise not_a_number(type(selector).__name__, (shown, example))


def _check_names(X: Any, who: str) -> None:
    names = [str(name) for name in (X.column_names if hasattr(X, "column_names") else X.columns)]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(
            f"{who}: expected every column name once, got {twice!r} {names.count(twice)} times. "
            "Rename the columns, or pass the values without names."
        )


def _first_text_column(X: Any) -> tuple[Any, str] | None:
    """Name and an example of the first column that cannot be read as numbers."""
    if sparse.issparse(X) or np.iscomplexobj(X):
        return None
    frame = is_frame(X)
    columns = nw.from_native(X).columns if frame else None
    values = np.asarray(X, dtype=object)
    if values.ndim != 2:
        return None
    for j in range(values.shape[1]):
        for value in values[:, j]:
            try:
                float(value)
            except (TypeError, ValueError):
                if not is_missing(value):
                    return (columns[j] if columns else j), repr(value)
    only_digits = isinstance(X, np.ndarray) and X.dtype.kind in "US" and X.size
    return (0, repr(values[0, 0])) if only_digits else None


def check_finite_columns(
    selector: Any, infinite: NDArray[np.bool_], low: Any = None, high: Any = None
) -> None:
    """Raise for columns flagged as holding infinite values."""
    if not infinite.any():
        return
    column = int(np.flatnonzero(infinite)[0])
    names = getattr(selector, "feature_names_in_", None)
    shown = column if names is None else names[column]
    others = int(infinite.sum()) - 1
    raise InputError(
        f"{type(selector).__name__}: expected finite values or NaN, got inf in column {shown!r}"
        f"{f' and {others} more' if others else ''}. Replace infinite values by NaN to treat them "
        "as missing, or by the largest value that makes sense."
    )


def check_squares(selector: Any, ranges: Any) -> None:
    """Raise where the square of a column's values would overflow."""
    with np.errstate(invalid="ignore"):  # NaN marks empty columns
        size = np.where(ranges.constant, 0.0, np.maximum(-ranges.low, ranges.high))
    column = int(size.argmax())
    if size[column] > 1e150:
        names = names_of(selector)
        raise InputError(
            f"{type(selector).__name__}: expected values below 1e150, got {size[column]:.3g} in "
            f"column {column if names is None else names[column]!r}, whose square overflows. "
            "Rescale the column."
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
