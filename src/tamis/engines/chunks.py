"""DaskSource: a Dask array or DataFrame, whose chunks stay where they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.engines.cluster import import_dask
from tamis.engines.source import RawBlock, Source, Wanted
from tamis.exceptions import ColumnTypeError, InputError


def is_dask(X: Any) -> bool:
    """Whether `X` is a collection of Dask; Dask is not imported to find out."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(
        X, "__dask_graph__"
    )


class ChunkReader(Source):
    """What a worker needs to know of a Dask collection."""

    def __init__(self, names: Any, n_columns: int, dtype: Any, has_target: bool, has_weight: bool):
        self.names, self.n_columns, self.dtype = names, n_columns, dtype
        self.has_target, self.has_weight, self.n_rows = has_target, has_weight, None

    def where(self, part: int) -> str:
        """Name of a part for messages."""
        return f"chunk {part}"

    def pieces(self, part: int, piece: Any, columns: Wanted = None) -> Iterator[RawBlock]:
        """The chunk, as one block."""
        X, target, weight = piece
        n_rows = len(X)
        for name, values in (("target", target), ("weights", weight)):
            if values is not None and len(values) != n_rows:
                raise InputError(
                    f"expected as many {name} as rows in every chunk, got {len(values)} for "
                    f"{n_rows} rows. Rechunk X and y alike."
                )
        cells = None if columns is not None and not len(columns) else _numbers(X, self.dtype)
        if cells is not None and columns is not None:
            cells = cells[:, columns]
        target = None if target is None else np.asarray(target).reshape(n_rows)
        weight = None if weight is None else np.asarray(weight).reshape(n_rows)
        yield RawBlock(cells, target, weight, n_rows)


class DaskSource(ChunkReader):
    """A Dask array or DataFrame with its target; chunks of rows, all columns in each.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        The table.
    y, sample_weight : Dask or NumPy array, or None
        One value per row.
    who : str
        Name of the selector, for messages.
    """

    def __init__(self, X: Any, y: Any, sample_weight: Any, who: str):
        is_array = hasattr(X, "chunks") and not hasattr(X, "npartitions_of")
        names = None if not hasattr(X, "columns") else tuple(map(str, X.columns))
        if names is not None:
            _check_frame(X, who)
            is_array = False
        elif X.ndim != 2:
            raise InputError(f"{who}: expected a 2-D table, got a Dask array of {X.ndim} axes.")
        n_columns = int(X.shape[1])
        dtype = np.dtype(np.float32 if _all_single(X, names) else np.float64)
        super().__init__(names, n_columns, dtype, y is not None, sample_weight is not None)
        if is_array:
            X = X.rechunk({1: -1})
            sizes = X.chunks[0]
            self.chunks = list(X.to_delayed()[:, 0])
        else:
            sizes = None
            self.chunks = list(X.to_delayed())
        known = sizes is not None and not any(np.isnan(size) for size in sizes)
        self.n_rows = int(sum(sizes)) if known and sizes is not None else None
        self.targets = _pieces(y, sizes, len(self.chunks), "y", who)
        self.weights = _pieces(sample_weight, sizes, len(self.chunks), "sample_weight", who)

    def __repr__(self) -> str:
        return f"Dask table of {len(self.chunks)} chunks x {self.n_columns} columns"

    @property
    def n_parts(self) -> int:
        """Number of chunks of rows."""
        return len(self.chunks)

    def reader(self) -> ChunkReader:
        """What is sent to the workers: everything but the data."""
        return ChunkReader(self.names, self.n_columns, self.dtype, self.has_target, self.has_weight)

    def piece(self, part: int) -> Any:
        """The chunk itself, still to be computed."""
        dask = import_dask()
        together = dask.delayed(_together, pure=False)
        return together(self.chunks[part], self.targets[part], self.weights[part])


def _together(X: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    return X, target, weight


def _pieces(values: Any, sizes: Any, n_chunks: int, name: str, who: str) -> list[Any]:
    """A value per chunk of rows: Nones, delayed chunks, or slices of an array."""
    if values is None:
        return [None] * n_chunks
    if is_dask(values):
        if sizes is not None and hasattr(values, "rechunk"):
            if values.ndim == 2 and values.shape[1] == 1:
                values = values[:, 0]
            if values.shape[0] != sum(sizes) and not np.isnan(values.shape[0]):
                raise InputError(
                    f"{who}: expected {name} with {sum(sizes)} values, one per row of X, got "
                    f"{values.shape[0]}. Check that they come from one table."
                )
            if not np.isnan(sum(sizes)):
                values = values.rechunk((sizes,))
        chunks = list(np.ravel(np.array(values.to_delayed(), dtype=object)))
        if len(chunks) != n_chunks:
            raise InputError(
                f"{who}: expected {name} in as many chunks as X ({n_chunks}), got {len(chunks)}. "
                "Rechunk X and y alike."
            )
        return chunks
    values = np.asarray(values)
    if sizes is None or np.isnan(sum(sizes)):
        raise InputError(
            f"{who}: expected {name} as a Dask collection with the chunks of X, got "
            f"{type(values).__name__}, and the chunks of X do not say how many rows they have."
        )
    if values.shape[0] != sum(sizes):
        raise InputError(
            f"{who}: expected {name} with {sum(sizes)} values, one per row of X, got "
            f"{values.shape[0]}. Check that they come from one table."
        )
    return np.split(values, np.cumsum(sizes)[:-1])


def _check_frame(X: Any, who: str) -> None:
    for name, dtype in X.dtypes.items():
        if getattr(dtype, "kind", "O") not in "iufb":
            raise ColumnTypeError(
                f"{who}: expected columns of numbers, got column {name!r} with {dtype}. Encode it "
                "as numbers first, or leave it out."
            )


def _all_single(X: Any, names: Any) -> bool:
    dtypes = [X.dtype] if names is None else list(X.dtypes)
    return all(dtype == np.float32 for dtype in dtypes)


def _numbers(X: Any, dtype: Any) -> NDArray[Any]:
    """Cells of a chunk; what pandas marks as missing becomes NaN."""
    if hasattr(X, "to_numpy"):
        return np.asarray(X.to_numpy(dtype=dtype, na_value=np.nan))
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
