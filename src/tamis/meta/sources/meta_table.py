"""Meta-features as a table: names, costs, fingerprint."""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from tamis.data.frames import is_frame
from tamis.exceptions import InputError
from tamis.meta.sources._measuring import BadResult, as_numbers, frame_columns, is_missing


def table_shape(meta: Any, who: str) -> tuple[int, int]:
    """Number of candidates and of meta-features."""
    shape = getattr(meta, "shape", None)
    if shape is None and isinstance(meta, list | tuple):
        shape = _as_array(meta, who).shape
    if not isinstance(shape, tuple) or len(shape) != 2 or shape[0] == 0:
        came = f"shape {tuple(shape)}" if isinstance(shape, tuple) else repr(type(meta).__name__)
        raise InputError(
            f"{who}: expected meta to be a table with a row per candidate and a column per "
            f"meta-feature, got {came}. Pass an array of shape (n_candidates, n_meta) or a "
            "DataFrame."
        )
    return int(shape[0]), int(shape[1])


def table_names(meta: Any) -> list[str] | None:
    """Names of the meta-features, if the table has any."""
    if not is_frame(meta):
        return None
    return [str(name) for name in (getattr(meta, "column_names", None) or meta.columns)]


def row_names(meta: Any) -> list[str] | None:
    """Names in the index of a pandas table; numbers in it are positions, not names."""
    index = getattr(meta, "index", None)
    if not is_frame(meta) or index is None or getattr(index, "dtype", None) is None:
        return None
    if index.dtype.kind in "iu":
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


def check_cost(cost: Any, n_candidates: int, who: str) -> NDArray[np.float64]:
    """One finite number of at least 0 per candidate; None means 1, a number counts for all."""
    if cost is None:
        return np.ones(n_candidates)
    try:
        values = np.array(cost, dtype=np.float64)
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


def fingerprint(meta: Any) -> str:
    """Hash of names and values of the table, the same in every process."""
    digest = hashlib.sha256(json.dumps(table_names(meta)).encode())
    if is_frame(meta):
        columns = [_values(column) for column in frame_columns(meta)]
    else:
        table = meta.toarray() if hasattr(meta, "toarray") else np.asarray(meta)
        columns = list(table.T)
    for column in columns:
        digest.update(_content(column))
    return digest.hexdigest()


def _values(column: Any) -> NDArray[Any]:
    """Numbers where the column holds numbers, objects otherwise."""
    try:
        return as_numbers(column)
    except BadResult:
        return np.array(nw.from_native(column, series_only=True).to_list(), dtype=object)


def _content(column: NDArray[Any]) -> bytes:
    """Bytes that are the same whichever package holds the column."""
    if column.dtype.kind == "O":
        with contextlib.suppress(BadResult):  # numbers among None
            column = as_numbers(column)
    if column.dtype.kind in "iufb":
        values = column.astype(np.float64)
        values[np.isnan(values)] = np.nan  # one pattern of bits for all
        return values.tobytes()
    texts = [None if is_missing(value) else str(value) for value in column]
    return json.dumps(texts).encode()


def _as_array(meta: Any, who: str) -> NDArray[Any]:
    try:
        return np.asarray(meta)
    except ValueError as error:
        raise InputError(
            f"{who}: expected meta with rows of the same length, got a list that is no table."
        ) from error


# Names listed in a message.
SHOWN = 5


def split_names(meta: Any, name: str, who: str) -> tuple[list[Any], Any]:
    """Names of the candidates, and the table without them."""
    if is_frame(meta):
        if name in [str(column) for column in nw.from_native(meta).columns]:
            frame = nw.from_native(meta, eager_only=True)
            names = frame[name].to_list()
            return _check_unique(names, who), frame.drop(name).to_native()
        if hasattr(meta, "set_index"):  # pandas
            return _check_unique(list(meta.index), who), meta
    raise InputError(
        f"{who}: expected meta to be a DataFrame that names the columns it speaks of, in the "
        f"index (pandas) or in a column {name!r}, got {_kind(meta)}. Pass name= for a column of "
        "another name."
    )


def has_names(meta: Any, name: str) -> bool:
    """Whether the table names its candidates."""
    if not is_frame(meta):
        return False
    if name in [str(column) for column in nw.from_native(meta).columns]:
        return True
    return hasattr(meta, "set_index") and meta.index.dtype.kind not in "iu"


def take_rows(meta: Any, positions: list[int] | NDArray[Any]) -> Any:
    """Some rows of a table, in this order, as a table of the same kind."""
    if not is_frame(meta):
        return np.asarray(meta)[positions]
    return nw.from_native(meta, eager_only=True)[list(map(int, positions))].to_native()


def check_same(expected: list[Any], present: list[Any], who: str, *, extra: bool) -> None:
    """Raise unless every expected name is present and, unless `extra`, no other one."""
    have, wanted = set(present), set(expected)
    missing = [name for name in expected if name not in have]
    if missing:
        raise InputError(
            f"{who}: expected a column for every row of meta, got none for {_listed(missing)}. "
            "Remove these rows of meta, or correct the names."
        )
    others = [name for name in present if name not in wanted]
    if others and not extra:
        raise InputError(
            f"{who}: expected a row of meta for every column, got none for {_listed(others)}. "
            "Remove these columns (the target, say), or add the rows."
        )


def _check_unique(names: list[Any], who: str) -> list[Any]:
    seen: set[Any] = set()
    for name in names:
        if name is None or name != name:
            raise InputError(f"{who}: expected a name in every row of meta, got {name!r}.")
        if name in seen:
            raise InputError(
                f"{who}: expected every name once in meta, got {name!r} {names.count(name)} times."
            )
        seen.add(name)
    return names


def _listed(names: list[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return f"{shown} and {len(names) - SHOWN} more" if len(names) > SHOWN else shown


def _kind(meta: Any) -> str:
    if is_frame(meta):
        return f"a table with the columns {_listed(nw.from_native(meta).columns)}"
    return f"an object of type {type(meta).__name__}"
