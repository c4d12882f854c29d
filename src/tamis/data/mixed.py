"""Tables that are not plain numbers: frames with categories and dates, arrays of objects."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from tamis.data.checks import names_of
from tamis.data.frames import coded_columns, encode_frame, is_frame, learn_codes, not_a_number
from tamis.data.labels import is_missing
from tamis.data.objects import unmasked
from tamis.exceptions import ColumnTypeError, InputError


class _CellTypeError(ColumnTypeError, TypeError):
    """A cell that cannot be read as a number."""


def check_mixed_table(selector: Any, X: Any, reset: bool, **options: Any) -> Any:
    """Numbers of a frame, a list or an array of objects; text is an error that names the column."""
    who = type(selector).__name__
    X = unmasked(X) if isinstance(X, np.ma.MaskedArray) else X
    if is_frame(X):
        _check_names(X, who)
        if reset:
            selector.__dict__.pop("column_codes_", None)
        if coded_columns(X) or hasattr(selector, "column_codes_"):
            return _encoded(selector, X, reset)
    try:
        table = validate_data(selector, X, dtype="numeric", reset=reset, **options)
    except (ValueError, OverflowError) as error:
        column = _first_text_column(X)
        if column is None and isinstance(X, np.ndarray) and X.ndim != 2:
            raise InputError(
                f"{who}: Expected 2D array, a table with rows and columns, got {X.ndim} "
                "dimension(s) of values that are not all numbers."
            ) from error
        if column is None:
            raise
        raise not_a_number(who, column) from error
    except TypeError as error:
        column = _first_text_column(X)
        if column is not None:
            # A TypeError, too, as scikit-learn wants it.
            told = str(not_a_number(who, column))
            raise _CellTypeError(f"{told} (argument must be a string or a real number)") from error
        table = validate_data(selector, X, dtype=None, reset=reset, **options)  # pandas.NA
    if table.dtype.kind in "OmM":
        return _as_numbers(table, selector)
    _check_told_apart(table, selector)
    return table


def _check_told_apart(table: NDArray[Any], selector: Any) -> None:
    """Raise for whole numbers so large that different ones are the same float64."""
    if table.dtype.kind not in "iu" or table.dtype.itemsize < 8 or not table.size:
        return
    large = np.maximum(table.max(axis=0), -table.min(axis=0).astype(np.float64)) > 2**53
    for j in np.flatnonzero(large):
        values = np.unique(table[:, j])
        if np.unique(values.astype(np.float64)).size < values.size:
            names = names_of(selector)
            raise InputError(
                f"{type(selector).__name__}: expected whole numbers that float64 tells apart, got "
                f"{values.max()} in column {j if names is None else names[j]!r}, where different "
                "numbers become equal. Subtract an offset from the column, or leave it out."
            )


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


def _as_numbers(table: NDArray[Any], selector: Any) -> NDArray[np.float64]:
    """Objects as float64, None and pandas.NA as NaN."""
    column = None
    if table.dtype.kind == "O":
        column = _first_text_column(table)
        if column is None:
            missing = [is_missing(value) for value in table.flat]
            return np.where(np.reshape(missing, table.shape), np.nan, table).astype(np.float64)
    position, example = column or (0, f"dtype {table.dtype}")
    names = getattr(selector, "feature_names_in_", None)
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
            except OverflowError:
                return (columns[j] if columns else j), "a number too large for float64"
            except (TypeError, ValueError):
                if not is_missing(value):
                    return (columns[j] if columns else j), repr(value)
    only_digits = isinstance(X, np.ndarray) and X.dtype.kind in "US" and X.size
    return (0, repr(values[0, 0])) if only_digits else None
