"""Fingerprints: what a result depends on, as text that is the same in every process."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis.exceptions import InputError

# A table is hashed in pieces of about this many bytes, so that no copy of it is made.
BLOCK_BYTES = 1 << 24
# Parameters that change how fast a result comes, never the result.
IRRELEVANT = {"n_jobs", "verbose"}
# The same for selectors of ours alone: elsewhere these words may mean something else.
IRRELEVANT_HERE = {"cluster"}
# Columns of a table that are hashed at a time, and what its fingerprint says.
TILE = 256
KEYS = ("n_rows", "n_columns", "names_sha256", "content_sha256")


def data_fingerprint(X: Any, y: Any) -> str:
    """Hash of the numbers of a table and of its target; names of columns do not count."""
    digest = hashlib.sha256()
    digest.update(f"{X.shape} {X.dtype.str} {'sparse' if sparse.issparse(X) else 'dense'}".encode())
    if sparse.issparse(X):
        for part in (X.indptr, X.indices):
            digest.update(np.asarray(part, dtype=np.int64).tobytes())
        digest.update(np.ascontiguousarray(X.data).tobytes())
    else:
        # Row by row whatever the memory layout, so that equal tables are equal.
        step = max(1, BLOCK_BYTES // max(1, X.shape[1] * X.dtype.itemsize))
        for start in range(0, X.shape[0], step):
            digest.update(np.ascontiguousarray(X[start : start + step]).tobytes())
    digest.update(_array_text(np.asarray(y)).encode())
    return digest.hexdigest()


def fingerprint(*parts: Any) -> str:
    """Hash of everything that a result depends on: parameters, estimators, arrays, text."""
    return _sha256(canonical(parts).encode())


def key_of(**parts: Any) -> str:
    """Hash of everything that a unit of work depends on."""
    return _sha256(canonical(parts).encode())


def _sha256(content: Any) -> str:
    return hashlib.sha256(content).hexdigest()


def canonical(value: Any) -> str:
    """JSON text of a value; equal parameters give equal text in every process."""
    return json.dumps(described(value), sort_keys=True, ensure_ascii=True)


def described(value: Any) -> Any:
    """A value as plain JSON: estimators by class and parameters, arrays by hash."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": repr(float(value))}  # numpy's float64 is a float, too
    if isinstance(value, np.generic):
        return described(value.item())
    if isinstance(value, np.ndarray):
        return {"array": _array_text(value)}
    if isinstance(value, Mapping):
        return {"map": sorted([canonical(k), described(v)] for k, v in value.items())}
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if isinstance(value, set | frozenset):
        return {"set": sorted(canonical(item) for item in value)}
    return _described_object(value)


def _described_object(value: Any) -> Any:
    if isinstance(value, type):
        return {"class": _address(value)}
    if hasattr(value, "get_params"):
        params = value.get_params(deep=False)
        ours = type(value).__module__.startswith("tamis.")
        without = IRRELEVANT | IRRELEVANT_HERE if ours else IRRELEVANT
        kept = {name: param for name, param in params.items() if name not in without}
        return {"class": _address(type(value)), "params": described(kept)}
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {"class": _address(type(value)), "params": described(fields)}
    if isinstance(value, functools.partial):
        return {"partial": described([value.func, value.args, value.keywords])}
    if callable(value) and hasattr(value, "__qualname__"):
        return _described_function(value)
    try:
        state = pickle.dumps(value, protocol=4)
    except Exception:  # whatever an object of a user raises: its text, which may hold its address
        state = repr(value).encode()
    return {"class": _address(type(value)), "state": _sha256(state)}


def _described_function(function: Any) -> dict[str, Any]:
    """By name, and by content where the name may mean something else tomorrow."""
    found: dict[str, Any] = {"function": _address(function)}
    code = getattr(function, "__code__", None)
    if code is not None and ("<" in function.__qualname__ or function.__module__ == "__main__"):
        constants = [item for item in code.co_consts if not hasattr(item, "co_code")]
        content = (code.co_code, code.co_names, repr(constants), function.__defaults__)
        found["content"] = _sha256(repr(content).encode())
        cells = function.__closure__ or ()
        found["closure"] = [described(cell.cell_contents) for cell in cells]
    return found


def _address(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _array_text(array: np.ndarray[Any, Any]) -> str:
    if array.dtype.kind in "OUS":  # references to objects are not their values
        words = json.dumps([str(item) for item in array.ravel()])
        return f"{array.shape} text {_sha256(words.encode())}"
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return f"{array.shape} {array.dtype.str} {_sha256(content)}"


def table_fingerprint(table: Any, *, names: Sequence[str] | None = None) -> dict[str, Any]:
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
        frame = nw.from_native(table, eager_only=True)
        shape, known, columns = frame.shape, [str(n) for n in frame.columns], _frame_columns(frame)
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
    named = _sha256(json.dumps(known).encode())
    parts = [int(shape[0]), int(shape[1]), named, content.hexdigest()]
    whole = _sha256(json.dumps(parts).encode())
    return dict(zip(KEYS, parts, strict=True)) | {"sha256": whole}


def is_frame(table: Any) -> bool:
    """Whether it is a pandas or polars DataFrame, an Arrow table or their like."""
    return not isinstance(table, np.ndarray) and bool(nw.dependencies.is_into_dataframe(table))


def _frame_columns(frame: Any) -> Iterator[bytes]:
    for column in frame.iter_columns():
        missing = column.is_null().to_numpy()
        if column.dtype.is_numeric() or column.dtype == nw.Boolean:
            filled = column.fill_null(0) if missing.any() else column
            yield _number_bytes(np.where(missing, np.nan, filled.to_numpy().astype(np.float64)))
        else:  # pandas has NaN for missing text, others None
            cells = zip(column.to_list(), missing, strict=True)
            words = [None if is_missing else str(cell) for cell, is_missing in cells]
            yield json.dumps(words).encode()


def _array_columns(table: Any) -> Iterator[bytes]:
    is_sparse = hasattr(table, "tocsc")
    table = table.tocsc() if is_sparse else table
    for start in range(0, table.shape[1], TILE):
        tile = table[:, start : start + TILE]
        tile = np.asarray(tile.toarray() if is_sparse else tile)
        if tile.dtype.kind in "biuf":
            for column in np.asfortranarray(tile, dtype=np.float64).T:
                yield _number_bytes(column)
        else:
            for column in tile.T:
                yield json.dumps([str(value) for value in column]).encode()


def _number_bytes(column: NDArray[np.float64]) -> bytes:
    """Bytes of numbers that are the same on every machine; NaN and zero have many patterns."""
    clean = np.where(np.isnan(column), np.nan, column + 0.0)
    return clean.astype("<f8").tobytes()
