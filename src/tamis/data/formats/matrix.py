"""Files that hold one matrix, and arrays beside it: NPY, NPZ, HDF5, Zarr."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.wording import counted
from tamis.data.formats.base import NARROW, TEXT, WIDE, LabelType, Piece, Request, TableFile
from tamis.exceptions import ColumnTypeError, InputError

# A part is a range of rows of about this size; how rows are cut does not depend on any limit.
PART_BYTES = 64 * 2**20
# A header may claim any number of columns if no row has to be there.
MOST_COLUMNS_WITHOUT_ROWS = 1_000_000


class OpenMatrix:
    """A matrix that is open for reading, and arrays beside it."""

    def __init__(self, matrix: Any, beside: Mapping[str, Any]):
        self.matrix, self.beside = matrix, beside

    def width(self, columns: NDArray[np.intp]) -> int:
        """How many columns have to be read to get these."""
        first, last = span_of(columns)
        return last - first

    def rows(self, start: int, stop: int, columns: NDArray[np.intp]) -> NDArray[Any]:
        """Some columns of some rows, in any order and type."""
        first, last = span_of(columns)
        return pick(np.asarray(self.matrix[start:stop, first:last]), columns, first)

    def labels(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Some values of an array beside the matrix, missing ones as None or NaN."""
        return np.asarray(self.beside[name][start:stop]).reshape(-1)


class MatrixFile(TableFile):
    """One file with a matrix.

    A subclass writes ``_open`` and ``_find``, which calls ``_set_matrix`` and, where the file has
    them, ``_set_names`` and ``_set_beside``.
    """

    def __init__(self, path: Path):
        super().__init__(path)
        self.label_types: dict[str, np.dtype[Any]] = {}
        try:
            self._find()
        except InputError:
            raise
        except self.damage as error:
            raise self.damaged(path.name, error) from error

    def _find(self) -> None:
        raise NotImplementedError

    def _open(self, request: Request) -> AbstractContextManager[OpenMatrix]:
        raise NotImplementedError

    def _set_matrix(self, shape: Any, dtype: np.dtype[Any], chunk_rows: int = 1) -> None:
        """Cut the rows of a matrix into parts of whole chunks; no `chunk_rows` means one part."""
        who = self.path.name
        if len(shape) != 2 or shape[1] == 0:
            raise InputError(
                f"{who}: expected a matrix with rows and columns, got shape {tuple(shape)}; "
                "save a 2-D array."
            )
        if dtype.kind not in "biuf":
            raise ColumnTypeError(
                f"{who}: expected a matrix of real numbers, got {dtype}; save int or float."
            )
        n_rows, n_columns = (int(n) for n in shape)
        if n_rows == 0 and n_columns > MOST_COLUMNS_WITHOUT_ROWS:
            raise InputError(
                f"{who}: expected rows, got none of {n_columns:,} columns. Write the file again."
            )
        narrow = dtype.kind == "f" and dtype.itemsize <= 4
        self.kinds = np.full(n_columns, NARROW if narrow else WIDE, dtype=np.uint8)
        self.others = {}
        self.dtype = dtype
        step = max(1, PART_BYTES // (n_columns * dtype.itemsize))
        chunk_rows = chunk_rows or max(1, n_rows)
        step = max(1, round(step / chunk_rows)) * chunk_rows
        self.part_rows = tuple(min(step, n_rows - row) for row in range(0, n_rows, step))

    def _set_names(self, stored: NDArray[Any]) -> None:
        """Take the names of the columns; one that is used twice gets a number."""
        n = self.n_columns
        expected = f"{self.path.name}: expected {counted(n, 'name')} of columns"
        self.names = tuple(numbered(column_names(expected, stored, n), ()))

    def _set_beside(self, arrays: Mapping[str, Any], matrix: str = "X") -> None:
        """Take the arrays with one value per row, except the matrix."""
        shapes = {(self.n_rows,), (self.n_rows, 1)}
        self.label_types = {
            name: np.dtype(array.dtype)
            for name, array in arrays.items()
            if getattr(array, "shape", None) in shapes and name not in {matrix, "feature_names"}
        }
        self.beside = tuple(self.label_types)

    def label_type(self, name: str) -> LabelType:
        """The type of an array beside the matrix, or of a column."""
        dtype = self.label_types.get(name, self.dtype)
        if dtype.kind in "USTO":
            return TEXT
        if dtype.kind not in "biuf":
            raise self.odd_label(name, dtype)
        return dtype.newbyteorder("=")

    def where(self, part: int) -> str:
        """File and rows, counted from 0."""
        start, stop = self.row_range(part)
        return f"{self.path.name}, rows {start:,} to {stop - 1:,}"

    def read(self, part: int, request: Request) -> Iterator[Piece]:
        """Pieces of a range of rows."""
        start, stop = self.row_range(part)
        # A target that is a column of the matrix is read with the others.
        own = [name for name, _ in request.labels if name not in self.beside]
        n_columns = len(request.columns)
        names = self.names or ()
        columns = np.array([*request.columns, *map(names.index, own)], dtype=np.intp)
        with self._open(request._replace(columns=columns)) as matrix:
            for first in range(start, stop, request.rows):
                last = min(first + request.rows, stop)
                X = _block(matrix, first, last, columns, request) if len(columns) else None
                labels = {}
                if X is not None and own:
                    labels = dict(zip(own, X.T[n_columns:], strict=True))
                    X = np.ascontiguousarray(X[:, :n_columns])
                found = tuple(
                    labels[name].astype(dtype)
                    if name in labels
                    else labels_as(matrix.labels(name, first, last), dtype)
                    for name, dtype in request.labels
                )
                yield Piece(X if n_columns else None, found, last - first)


def _block(
    matrix: OpenMatrix, start: int, stop: int, columns: NDArray[np.intp], request: Request
) -> NDArray[Any]:
    """Rows of a block, in slabs where many columns have to be read to get a few."""
    step = max(1, request.rows * len(columns) // matrix.width(columns))
    if step >= stop - start:
        found = matrix.rows(start, stop, columns).astype(request.dtype, copy=False)
        in_one_piece = found.flags.c_contiguous or found.flags.f_contiguous
        return found if in_one_piece else np.ascontiguousarray(found)
    X = np.empty((stop - start, len(columns)), dtype=request.dtype)
    for first in range(start, stop, step):
        last = min(first + step, stop)
        X[first - start : last - start] = matrix.rows(first, last, columns)
    return X


def labels_as(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Labels of a type; text as objects, and what has missing values as it is."""
    if values.dtype.kind in "UST":
        return text_of(values)
    if values.dtype.kind in "biuf" and dtype.kind in "biuf":
        missing = values.dtype.kind == "f" and dtype.kind != "f"
        return values if missing else values.astype(dtype, copy=False)
    return values


def text_of(values: NDArray[Any]) -> NDArray[Any]:
    """Text as objects of type str."""
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8")
    return values.astype(object)


def column_names(expected: str, stored: NDArray[Any], n_columns: int) -> list[str]:
    """Names of columns as they are stored; `expected` is the beginning of the message."""
    if stored.shape != (n_columns,):
        raise InputError(f"{expected}, got shape {stored.shape}; save one name per column.")
    return [n.decode() if isinstance(n, bytes) else str(n) for n in stored.tolist()]


def span_of(columns: NDArray[np.intp]) -> tuple[int, int]:
    """First column, and the first after the last one."""
    return int(columns.min()), int(columns.max()) + 1


def pick(values: NDArray[Any], columns: NDArray[np.intp], first: int) -> NDArray[Any]:
    """Columns of a slab that starts at column `first`, without a copy where it is just them."""
    wanted = columns - first
    if len(wanted) == values.shape[1] and np.array_equal(wanted, np.arange(len(wanted))):
        return values
    return values[:, wanted]


def numbered(names: list[str], taken: Collection[str]) -> list[str]:
    """Add ``_2``, ``_3``, ... to a name seen before, stepping over names that exist."""
    existing, seen = set(names) | set(taken), set(taken)
    counts: dict[str, int] = {}
    result = []
    for name in names:
        new = name
        while new in seen or (new != name and new in existing):
            counts[name] = counts.get(name, 1) + 1
            new = f"{name}_{counts[name]}"
        seen.add(new)
        result.append(new)
    return result
