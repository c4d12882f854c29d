"""From whatever a measurement returns to columns of float64, or an error that says why not."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.data.checks import is_frame
from tamis.meta._calls import BadResult

Floats = NDArray[np.float64]


def read_columns(result: Any, n_columns: int, n_samples: int | None) -> Floats:
    """Copy of the result with one row per candidate, of shape (n_columns, n_samples).

    Infinite values are left for the caller, who knows which candidates to blame.
    """
    values = as_numbers(result)
    if values.ndim == 1 and n_columns == 1:
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] != n_columns or values.shape[0] == 0:
        rows = "n_samples" if n_samples is None else n_samples
        raise BadResult(f"expected an array of shape ({rows}, {n_columns}), got {values.shape}")
    if n_samples is not None and values.shape[0] != n_samples:
        raise BadResult(f"expected {n_samples} rows, one per sample, got {values.shape[0]}")
    with np.errstate(over="ignore"):  # what overflows is infinite, and told as that
        return np.array(values.T, dtype=np.float64, order="C")


def as_numbers(result: Any) -> NDArray[Any]:
    """Array of numbers of whatever shape, NaN where something is missing."""
    if is_frame(result):
        columns = [as_numbers(column) for column in frame_columns(result)]
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
        values = _from_objects(values)
    if values.dtype.kind not in "iufb":
        raise BadResult(f"expected numbers, got values of dtype {values.dtype}")
    return values


def frame_columns(frame: Any) -> list[Any]:
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


def _from_objects(values: NDArray[Any]) -> Floats:
    """Objects as float64; None and pandas.NA are missing, text is no number."""
    out = np.empty(values.shape)
    for place, value in np.ndenumerate(values):
        if is_missing(value):
            out[place] = np.nan
        elif isinstance(value, str | bytes | complex):
            raise BadResult(f"expected numbers, got {value!r}")
        else:
            try:
                out[place] = float(value)
            except (TypeError, ValueError) as error:
                raise BadResult(f"expected numbers, got {type(value).__name__}") from error
    return out


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing: None, NaN, pandas.NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and value != value
