"""From what a user passes to arrays that can be computed with, or a message that helps."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from tamis._runtime.warning import warn
from tamis.exceptions import ColumnTypeError, InputError

ENCODE = (
    "Encode it as numbers first (for example with sklearn.preprocessing.OrdinalEncoder), or leave "
    "it out; the tamis command does either by itself."
)


def check_table(selector: Any, X: Any, *, reset: bool = True) -> Any:
    """Array or CSR matrix of `X`; numbers keep their type, missing values become NaN.

    Infinite values are not looked for here: that would read the data once more.
    """
    who = type(selector).__name__
    if is_frame(X):
        _check_columns(X, who)
    options = {"accept_sparse": "csr", "ensure_all_finite": False, "reset": reset}
    try:
        table = validate_data(selector, X, dtype="numeric", **options)
    except ValueError as error:
        column = _first_text_column(X)
        if column is None:
            raise
        raise _not_a_number(who, column) from error
    except TypeError:
        if _first_text_column(X) is not None:
            raise
        table = validate_data(selector, X, dtype=None, **options)  # pandas.NA among objects
    if sparse.issparse(table):
        return _without_duplicates(table)
    return _as_numbers(table, selector) if table.dtype.kind in "OmM" else table


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
            missing = [value is None or _is_missing(value) for value in table.flat]
            return np.where(np.reshape(missing, table.shape), np.nan, table).astype(np.float64)
    position, example = column or (0, f"dtype {table.dtype}")
    names = names_of(selector)
    shown = position if names is None else names[position]
    raise _not_a_number(type(selector).__name__, (shown, example))


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas or polars DataFrame, an Arrow table or their like."""
    return not isinstance(X, np.ndarray) and bool(nw.dependencies.is_into_dataframe(X))


def _check_columns(X: Any, who: str) -> None:
    names = [str(name) for name in (X.column_names if hasattr(X, "column_names") else X.columns)]
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InputError(
            f"{who}: expected every column name once, got {twice!r} {names.count(twice)} times. "
            "Rename the columns, or pass the values without names."
        )
    frame = nw.from_native(X)
    for name, dtype in frame.collect_schema().items():
        plain = dtype.is_numeric() or dtype in (nw.Boolean, nw.Object, nw.Unknown)
        # A column of None counts as text in pandas; it holds nothing that is not a number.
        if not plain and not (dtype == nw.String and frame[name].is_null().all()):
            raise _not_a_number(who, (name, str(dtype)))


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
                if value is not None and not _is_missing(value):
                    return (columns[j] if columns else j), repr(value)
    only_digits = isinstance(X, np.ndarray) and X.dtype.kind in "US" and X.size
    return (0, repr(values[0, 0])) if only_digits else None


def _not_a_number(who: str, column: tuple[Any, str]) -> ColumnTypeError:
    return ColumnTypeError(
        f"{who}: expected columns of numbers, got column {column[0]!r} with {column[1]}. {ENCODE}"
    )


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


def check_target(y: Any, n_rows: int, who: str) -> NDArray[Any]:
    """One-dimensional target of the right length, with nothing missing."""
    if y is None:
        raise InputError(
            f"{who}: requires y to be passed, but the target y is None. Pass the target as the "
            "second argument of fit."
        )
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        y = y[:, 0]
    if y.ndim != 1:
        raise InputError(f"{who}: expected a 1d target, got shape {y.shape}. Pass one column.")
    if y.shape[0] != n_rows:
        raise InputError(
            f"{who}: expected a target with {n_rows} values, one per row of X, got {y.shape[0]}; "
            "X and y have inconsistent numbers of samples. Check that they come from one table."
        )
    missing = _missing_rows(y)
    if missing.size:
        raise InputError(
            f"{who}: expected a target without missing values, got NaN or None in {missing.size} "
            f"of {n_rows} rows, the first in row {missing[0]}. Drop these rows of X and y."
        )
    return y


def _missing_rows(y: NDArray[Any]) -> NDArray[np.intp]:
    if y.dtype.kind in "fcmM":
        return np.flatnonzero(np.isnan(y))
    if y.dtype.kind == "O":
        return np.flatnonzero([value is None or _is_missing(value) for value in y])
    return np.empty(0, dtype=np.intp)


def _is_missing(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas.NA refuses to be compared; arrays are no cells
        return type(value).__name__ == "NAType"


def check_classes(y: Any, n_rows: int, who: str) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Class labels, sorted, and the code of every row."""
    y = check_target(y, n_rows, who)
    infinite = np.flatnonzero(np.isinf(y)) if y.dtype.kind == "f" else np.empty(0)
    if infinite.size:
        raise InputError(
            f"{who}: expected a target of classes, got inf in row {infinite[0]}. Drop these rows "
            "of X and y."
        )
    if y.dtype.kind == "f" and not (y == np.floor(y)).all():
        example = y[y != np.floor(y)][0].item()
        raise InputError(
            f"{who}: expected a target of classes, got continuous numbers such as {example!r} "
            "(Unknown label type: continuous). Use tamis.RFT for a numeric target, or turn the "
            "target into classes."
        )
    if y.dtype.kind not in "iufbOUST":
        raise InputError(f"{who}: expected a target of classes, got dtype {y.dtype}.")
    try:
        classes, codes = encode_labels(y)
    except TypeError as error:
        kinds = sorted({type(value).__name__ for value in y})
        raise InputError(
            f"{who}: expected labels of one type, got {' and '.join(kinds)}. Convert them with "
            "y.astype(str)."
        ) from error
    return classes, codes


def check_weighted_classes(
    y: Any, weight: NDArray[np.float64] | None, n_rows: int, who: str
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Classes that carry weight, and the code of every row; rows without weight get any."""
    classes, codes = check_classes(y, n_rows, who)
    if weight is None:
        return classes, codes
    present = np.bincount(codes, weight, minlength=classes.size) > 0
    codes = (np.cumsum(present) - 1).astype(np.int32)[codes]
    return classes[present], np.maximum(codes, 0)


def check_two_classes(classes: NDArray[Any], who: str) -> None:
    """Raise unless there are at least two classes to tell apart."""
    if classes.size < 2:
        raise InputError(
            f"{who}: expected a target with at least two classes, got one class "
            f"({classes.tolist()[0] if classes.size else None!r}). Check the target column, or use "
            "an unsupervised selector."
        )


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


def check_numbers(y: Any, n_rows: int, who: str) -> NDArray[np.float64]:
    """Numeric target as float64, finite and small enough to be squared."""
    y = check_target(y, n_rows, who)
    if y.dtype.kind not in "iufbO":
        raise InputError(
            f"{who}: expected a numeric target, got dtype {y.dtype}. Use tamis.DFT for classes."
        )
    try:
        values = y.astype(np.float64)
    except (TypeError, ValueError) as error:
        _, example = _first_text_column(y[:, None]) or (0, repr(y[0]))
        raise InputError(
            f"{who}: expected a numeric target, got {example} among its values. Use tamis.DFT for "
            "classes."
        ) from error
    if not np.isfinite(values).all() or np.abs(values).max(initial=0.0) > 1e150:
        raise InputError(
            f"{who}: expected finite target values below 1e150, got "
            f"{float(np.abs(values).max())!r}, which is inf or has no finite square. Rescale the "
            "target, or drop these rows."
        )
    return values


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
