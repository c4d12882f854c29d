"""Tables of a source: measured columns as numbers, and meta with its names and costs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.wording import listed
from tamis.data.frames import is_frame
from tamis.data.labels import is_missing
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
# Names listed in a message.
SHOWN = 5


class BadResult(Exception):
    """A measurement that cannot be used; the message has the reason."""


def read_columns(result: Any, n_columns: int, n_samples: int | None) -> Floats:
    """Copy of the result, (n_columns, n_samples); infinite values are left for the caller."""
    values = as_numbers(result)
    if values.ndim == 1 and n_columns == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] != n_columns or values.shape[0] == 0:
        rows = "n_samples" if n_samples is None else n_samples
        raise BadResult(f"expected an array of shape ({rows}, {n_columns}), got {values.shape}")
    if n_samples is not None and values.shape[0] != n_samples:
        raise BadResult(f"expected {n_samples} rows, one per sample, got {values.shape[0]}")
    with np.errstate(over="ignore"):  # what overflows is infinite, and reported as that
        return np.array(values.T, dtype=np.float64, order="C")


def as_numbers(result: Any) -> NDArray[Any]:
    """Array of numbers of whatever shape, NaN where something is missing."""
    if is_frame(result):
        columns = [as_numbers(column) for column in _frame_columns(result)]
        return np.column_stack(columns) if columns else np.empty((result.shape[0], 0))
    if sparse.issparse(result):
        values = result.toarray()
    elif type(result).__module__.startswith("pyarrow"):
        values = _from_arrow(result)
    elif np.ma.isMaskedArray(result):
        values = np.ma.filled(result.astype(np.float64), np.nan)
    elif nw.dependencies.is_into_series(result):
        values = nw.from_native(result, series_only=True).to_numpy()
    else:
        values = np.asarray(result)
    if values.dtype.kind == "O":
        values = np.array([_as_float(value) for value in values.flat]).reshape(values.shape)
    if values.dtype.kind not in "iufb":
        raise BadResult(f"expected numbers, got values of dtype {values.dtype}")
    return values


def _frame_columns(frame: Any) -> list[Any]:
    """Columns of a DataFrame or Arrow table, by position: names may come twice."""
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, place] for place in range(frame.shape[1])]
    return [column.to_native() for column in nw.from_native(frame, eager_only=True).iter_columns()]


def _from_arrow(column: Any) -> NDArray[Any]:
    """Values of an Arrow column; codes of a dictionary are looked up, which to_numpy does badly."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type) or pa.types.is_null(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _as_float(value: Any) -> float:
    if is_missing(value):
        return np.nan
    if isinstance(value, str | bytes | complex):
        raise BadResult(f"expected numbers, got {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise BadResult(f"expected numbers, got {type(value).__name__}") from error


def count_candidates(meta: Any, who: str) -> int:
    """Number of rows of meta."""
    shape = getattr(meta, "shape", None)
    if shape is None and isinstance(meta, list | tuple):
        try:
            shape = np.asarray(meta).shape
        except ValueError as error:
            raise InputError(
                f"{who}: expected meta with rows of the same length, got a list that is no table."
            ) from error
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[0] == 0:
        came = f"shape {tuple(shape)}" if isinstance(shape, tuple) else repr(type(meta).__name__)
        raise InputError(
            f"{who}: expected meta to be a table with a row per candidate and a column per "
            f"meta-feature, got {came}. Pass an array of shape (n_candidates, n_meta) or a "
            "DataFrame."
        )
    return int(shape[0])


def table_names(meta: Any) -> list[str] | None:
    """Names of the meta-features, if the table has any."""
    if not is_frame(meta):
        return None
    return [str(name) for name in (getattr(meta, "column_names", None) or meta.columns)]


def row_names(meta: Any) -> list[str] | None:
    """Names in the index of a pandas table; numbers in it are positions, not names."""
    index: Any = getattr(meta, "index", None)
    if not is_frame(meta) or getattr(index, "dtype", None) is None or index.dtype.kind in "iu":
        return None
    return [str(name) for name in index]


def check_names(names: Any, n_candidates: int, who: str) -> list[str] | None:
    """One text per candidate."""
    if names is None:
        return None
    found = [str(name) for name in names]
    if len(found) != n_candidates:
        raise InputError(
            f"{who}: expected feature_names to hold one name per candidate ({n_candidates}), got "
            f"{len(found)}."
        )
    return found


def check_cost(cost: Any, n_candidates: int, who: str) -> Floats:
    """One finite number of at least 0 per candidate; None means 1, a number counts for all."""
    try:
        values = np.array(1.0 if cost is None else cost, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{who}: expected cost to be one number per candidate, got {cost!r}."
        ) from error
    if values.ndim == 0:
        values = np.full(n_candidates, values)
    if values.shape != (n_candidates,):
        raise InputError(
            f"{who}: expected one cost per candidate, that is, shape ({n_candidates},), got shape "
            f"{values.shape}."
        )
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise InputError(
            f"{who}: expected every cost to be finite and not negative, got "
            f"{float(values[bad[0]])!r} for candidate {bad[0]}."
        )
    return values


def has_names(meta: Any, name: str) -> bool:
    """Whether the table names its candidates."""
    return name in (table_names(meta) or ()) or row_names(meta) is not None


def split_names(meta: Any, name: str, who: str) -> tuple[list[Any], Any]:
    """Names of the candidates, and the table without them."""
    came = f"an object of type {type(meta).__name__}"
    columns = table_names(meta)
    if columns is not None:
        if name in columns:
            frame = nw.from_native(meta, eager_only=True)
            return _check_unique(frame[name].to_list(), who), frame.drop(name).to_native()
        if hasattr(meta, "set_index"):  # pandas
            return _check_unique(list(meta.index), who), meta
        came = f"a table with the columns {listed(columns, SHOWN)}"
    raise InputError(
        f"{who}: expected meta to be a DataFrame that names the columns it speaks of, in the "
        f"index (pandas) or in a column {name!r}, got {came}. Pass name= for a column of another "
        "name."
    )


def _check_unique(names: list[Any], who: str) -> list[Any]:
    for name in names:
        if is_missing(name):
            raise InputError(f"{who}: expected a name in every row of meta, got {name!r}.")
    if (twice := _repeated(names)) is not None:
        raise InputError(
            f"{who}: expected every name once in meta, got {twice!r} {names.count(twice)} times."
        )
    return names


def take_rows(meta: Any, positions: list[int] | NDArray[Any]) -> Any:
    """Some rows of a table, in this order, as a table of the same kind."""
    if not is_frame(meta):
        return np.asarray(meta)[positions]
    return nw.from_native(meta, eager_only=True)[list(map(int, positions))].to_native()


def check_columns(names: list[Any], present: list[Any], who: str, *, extra: bool) -> None:
    """Raise unless every row of meta has a column and, unless `extra`, the other way round."""
    if (twice := _repeated(present)) is not None:
        raise InputError(
            f"{who}: expected every column name once, got {twice!r} {present.count(twice)} times. "
            "Rename the columns."
        )
    have, wanted = set(present), set(names)
    missing = [str(name) for name in names if name not in have]
    if missing:
        raise InputError(
            f"{who}: expected a column for every row of meta, got none for "
            f"{listed(missing, SHOWN)}. Remove these rows of meta, or correct the names."
        )
    others = [str(name) for name in present if name not in wanted]
    if others and not extra:
        raise InputError(
            f"{who}: expected a row of meta for every column, got none for "
            f"{listed(others, SHOWN)}. Remove these columns (the target, say), or add the rows."
        )


def _repeated(names: list[Any]) -> Any:
    """A name that occurs more than once, or None."""
    return next((name for name, n in Counter(names).items() if n > 1), None)
