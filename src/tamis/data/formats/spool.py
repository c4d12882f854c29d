"""Spool: cells of a part on disk where they do not fit the memory limit."""

from __future__ import annotations

import tempfile
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.memory import empty_columns
from tamis.exceptions import InputError


class Spool:
    """A table on disk, gone at the end; what it holds is never in memory as a whole.

    Parameters
    ----------
    n_rows, n_columns : int
        Size of the table.
    dtype : dtype
        Type of its cells.
    where : str
        What is written, for messages.
    """

    def __init__(self, n_rows: int, n_columns: int, dtype: np.dtype[Any], where: str):
        self.n_rows, self.n_columns, self.dtype, self.where = n_rows, n_columns, dtype, where

    def __enter__(self) -> Spool:
        try:
            self._file = tempfile.TemporaryFile(prefix="tamis-", buffering=0)
        except OSError as error:
            raise self._no_room(error) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def put(self, column: int, row: int, values: NDArray[Any]) -> None:
        """Write cells of a column, from a row on."""
        cells = np.ascontiguousarray(values, dtype=self.dtype)
        view = cells.data.cast("B")
        try:
            self._file.seek(self._place(column, row))
            while len(view):
                view = view[self._file.write(view) :]
        except OSError as error:
            raise self._no_room(error) from error

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Rows of all columns, Fortran-ordered."""
        X = empty_columns(stop - start, self.n_columns, self.dtype)
        for j in range(self.n_columns):
            view = X[:, j].data.cast("B")
            self._file.seek(self._place(j, start))
            while len(view):
                view = view[self._file.readinto(view) :]
        return X

    def _place(self, column: int, row: int) -> int:
        return (column * self.n_rows + row) * self.dtype.itemsize

    def _no_room(self, error: OSError) -> InputError:
        n_bytes = self.n_rows * self.n_columns * self.dtype.itemsize
        return InputError(
            f"{self.where}: expected room for {n_bytes:,} bytes in {tempfile.gettempdir()}, since "
            f"this part does not fit the memory limit, got: {error.strerror}. Set TMPDIR to a "
            "folder with more room, raise memory_limit, or write the file with smaller row groups."
        )
