"""FactorFile: vectors of all columns, in memory or in a temporary file."""

from __future__ import annotations

import errno
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError

Range = tuple[int, int]


class FactorFile:
    """One vector per column, written range by range and read range by range.

    The file has no name where the system allows it, so that it is gone when the process is,
    whatever ends it. It is read with plain reads, not mapped: pages of a map would count as memory
    in use.

    Parameters
    ----------
    n_columns, n_rows : int
        Number of vectors, and their length.
    dtype : str
        Type of the numbers.
    in_memory : bool
        Keep an array, and make no file.
    """

    def __init__(self, n_columns: int, n_rows: int, dtype: str, *, in_memory: bool):
        self.n_rows, self.dtype = n_rows, np.dtype(dtype)
        self.row_bytes = n_rows * self.dtype.itemsize
        self.kept: NDArray[Any] | None = None
        self.file: Any = None
        self._last: tuple[Range, NDArray[Any]] | None = None
        if in_memory:
            self.kept = np.empty((n_columns, n_rows), dtype)
        else:
            self.file = tempfile.TemporaryFile(prefix="tamis-", buffering=0)  # noqa: SIM115

    def put(self, first: int, vectors: NDArray[Any]) -> None:
        """Store the vectors of columns from `first` on."""
        if self.kept is not None:
            self.kept[first : first + len(vectors)] = vectors
            return
        self.file.seek(first * self.row_bytes)
        left = np.ascontiguousarray(vectors, self.dtype).data.cast("B")
        try:
            while left:
                left = left[self.file.write(left) :]
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise InputError(
                f"InfFS: expected room for a temporary file in {tempfile.gettempdir()!r}, got a "
                "full disk. Set TMPDIR to another folder, or raise memory_limit."
            ) from error

    def take(self, columns: Range) -> NDArray[Any]:
        """Vectors of a range of columns."""
        first, last = columns
        if self.kept is not None:
            return self.kept[first:last]
        vectors = np.empty((last - first, self.n_rows), self.dtype)
        left = vectors.data.cast("B")
        self.file.seek(first * self.row_bytes)
        while left:
            n_read = self.file.readinto(left)
            if not n_read:
                raise OSError("the temporary file of InfFS ended too early")
            left = left[n_read:]
        return vectors

    def block(self, rows: Range, columns: Range) -> NDArray[Any]:
        """Absolute correlations between two ranges of columns."""
        # Pairs come with the same rows many times in a row.
        if self._last is None or self._last[0] != rows:
            self._last = None
            self._last = rows, self.take(rows)
        left = self._last[1]
        right = left if rows == columns else self.take(columns)
        product = left @ right.T
        return np.abs(product, out=product)

    def close(self) -> None:
        """Let go of the vectors; a file is removed."""
        self.kept = self._last = None
        if self.file is not None:
            self.file.close()
