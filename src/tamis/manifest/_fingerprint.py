"""Which table it is: its shape, and hashes of its names and its content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError

# Columns that are read at a time.
TILE = 256
KEYS = ("n_rows", "n_columns", "names_sha256", "content_sha256")


def fingerprint(table: Any, *, names: Sequence[str] | None = None) -> dict[str, Any]:
    """Say in a few words which table it is.

    Parameters
    ----------
    table : DataFrame, Arrow table, array or sparse matrix
        Any table. The same numbers give the same hash, whatever holds them; missing ones are equal.
    names : sequence of str or None, default=None
        Names of the columns of an array; ``None`` calls them ``x0``, ``x1``, ...

    Returns
    -------
    fingerprint : dict
        ``n_rows``, ``n_columns``, ``names_sha256``, ``content_sha256``; ``sha256`` of all these.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from tamis.manifest import fingerprint
    >>> numbers = np.array([[1, 2], [3, 4]])
    >>> fingerprint(numbers) == fingerprint(pd.DataFrame(numbers, columns=["x0", "x1"]))
    True
    """
    if is_frame(table):
        shape, known, columns = _read_frame(table)
    else:
        table = table if hasattr(table, "shape") else np.asarray(table)
        if len(table.shape) != 2:
            raise InputError(
                f"fingerprint: expected a table of two dimensions, got shape {table.shape}."
            )
        shape, columns = table.shape, _array_columns(table)
        known = [f"x{j}" for j in range(shape[1])] if names is None else [str(n) for n in names]
    content = hashlib.sha256()
    for cells in columns:
        content.update(hashlib.sha256(cells).digest())
    named = hashlib.sha256(json.dumps(known).encode()).hexdigest()
    parts = [int(shape[0]), int(shape[1]), named, content.hexdigest()]
    whole = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    return dict(zip(KEYS, parts, strict=True)) | {"sha256": whole}


def is_frame(table: Any) -> bool:
    """Whether it is a pandas or polars DataFrame, an Arrow table or their like."""
    import narwhals.stable.v2 as nw

    return not isinstance(table, np.ndarray) and bool(nw.dependencies.is_into_dataframe(table))


def _read_frame(table: Any) -> tuple[tuple[int, int], list[str], Iterator[Any]]:
    import narwhals.stable.v2 as nw

    frame = nw.from_native(table, eager_only=True)
    return frame.shape, [str(name) for name in frame.columns], _frame_columns(frame)


def _frame_columns(frame: Any) -> Iterator[Any]:
    import narwhals.stable.v2 as nw

    for column in frame.iter_columns():
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            missing = column.is_null().to_numpy()
            filled = column.fill_null(0) if missing.any() else column
            yield _number_bytes(np.where(missing, np.nan, filled.to_numpy().astype(np.float64)))
        else:
            words = [None if value is None else str(value) for value in column.to_list()]
            yield json.dumps(words).encode()


def _array_columns(table: Any) -> Iterator[Any]:
    sparse = hasattr(table, "tocsc")
    table = table.tocsc() if sparse else table
    for start in range(0, table.shape[1], TILE):
        tile = table[:, start : start + TILE]
        tile = np.asarray(tile.toarray() if sparse else tile)
        if tile.dtype.kind in "biuf":
            for column in np.asfortranarray(tile, dtype=np.float64).T:
                yield _number_bytes(column)
        else:
            for column in tile.T:
                yield json.dumps([str(value) for value in column]).encode()


def _number_bytes(column: NDArray[np.float64]) -> Any:
    """Bytes of numbers that are the same on every machine; NaN and zero have many patterns."""
    clean = np.where(np.isnan(column), np.nan, column + 0.0)
    return clean.astype("<f8").tobytes()
