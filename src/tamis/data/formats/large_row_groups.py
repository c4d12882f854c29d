"""Row groups of Parquet that do not fit the memory limit, in batches of rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.memory import empty_columns
from tamis.data.formats.base import Piece, Request
from tamis.data.formats.batches import cells_of, labels_in, piece_of
from tamis.exceptions import InputError

# A row group that is larger than a few blocks is read through buffers of this size, not at once.
LEAST_BUFFER, LARGEST_BUFFER = 4 * 2**10, 64 * 2**10
# What writers make a page of at most, unless they are told otherwise.
PAGE_BYTES = 2**20
# Rows of a column that are decoded at a time where columns go to disk one by one.
SPOOLED_ROWS = 2**16


class LargeRowGroup:
    """Row group number `part` of a file with this footer, read in pieces."""

    def __init__(self, path: Path, footer: Any, part: int):
        self.path, self.footer, self.part = path, footer, part
        self.group = footer.row_group(part)

    def pieces(self, names: list[str], wanted: list[str], request: Request) -> Iterator[Piece]:
        """Pieces with the named columns and the labels, both of which are `wanted`."""
        if not wanted:
            return _without_columns(self.group.num_rows, request.rows)
        held = sum(_held(self.group, self.footer, wanted))
        if held <= request.room:
            return self._side_by_side(names, wanted, request)
        return self._spooled(names, request)

    def batches(self, columns: list[str], rows: int, buffer: int = LARGEST_BUFFER) -> Iterator[Any]:
        """Record batches of some columns."""
        from pyarrow import parquet

        options = {"pre_buffer": False, "buffer_size": buffer, "page_checksum_verification": True}
        with parquet.ParquetFile(self.path, metadata=self.footer, **options) as file:
            names = list(dict.fromkeys(columns))
            yield from file.iter_batches(
                rows, row_groups=[self.part], columns=names, use_threads=False
            )

    def _side_by_side(
        self, names: list[str], wanted: list[str], request: Request
    ) -> Iterator[Piece]:
        """Batches of rows; Arrow holds a page of every column meanwhile."""
        budget = 8 * len(wanted) * request.rows
        whole = self.group.total_byte_size <= 2 * budget
        buffer = 0 if whole else min(max(budget // len(wanted), LEAST_BUFFER), LARGEST_BUFFER)
        for batch in self.batches(wanted, _aligned(request.rows), buffer):
            held = [piece_of(batch, names, request)]
            del batch
            yield held.pop()

    def _spooled(self, names: list[str], request: Request) -> Iterator[Piece]:
        """Batches of rows, once all columns have gone to disk one by one."""
        labels, rows = [name for name, _ in request.labels], _aligned(request.rows)
        n_rows, where = self.group.num_rows, f"{self.path.name}, row group {self.part}"
        with Spool(n_rows, len(names), request.dtype, where) as spool:
            for j, name in enumerate(names):
                row = 0
                for batch in self.batches([name], SPOOLED_ROWS):
                    spool.put(j, row, cells_of(batch, [name], request)[:, 0])
                    row += batch.num_rows
            beside = self.batches(labels, rows) if labels else None
            for start in range(0, n_rows, rows):
                stop = min(start + rows, n_rows)
                found = () if beside is None else labels_in(next(beside), request)
                yield Piece(spool.rows(start, stop), found, stop - start)


def _without_columns(n_rows: int, step: int) -> Iterator[Piece]:
    for start in range(0, n_rows, step):
        yield Piece(None, (), min(step, n_rows - start))


def _held(group: Any, footer: Any, names: list[str]) -> Iterator[int]:
    """Bytes that Arrow holds of every column at most while it reads them side by side.

    A page as it is stored and as it is decoded, and twice the dictionary. How large pages are is
    not in the footer; writers take 1 MiB if they are not told otherwise.
    """
    leaves = {footer.schema.column(j).path: j for j in range(footer.num_columns)}
    for name in names:
        chunk = group.column(leaves[name]) if name in leaves else None
        if chunk is None:
            yield 2 * PAGE_BYTES
            continue
        dictionary = 0
        if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None:
            dictionary = max(chunk.data_page_offset - chunk.dictionary_page_offset, 0)
        yield min(2 * PAGE_BYTES + 2 * dictionary, 2 * chunk.total_uncompressed_size)


def _aligned(rows: int) -> int:
    """A power of two: columns that fill whole pages of memory were decoded a third faster."""
    return 1 << (rows.bit_length() - 1)


class Spool:
    """A table on disk, gone at the end; what it holds is never in memory as a whole.

    `where` says in messages what is written.
    """

    def __init__(self, n_rows: int, n_columns: int, dtype: np.dtype[Any], where: str):
        self.n_rows, self.n_columns, self.dtype, self.where = n_rows, n_columns, dtype, where

    def __enter__(self) -> Spool:
        try:
            self._file = tempfile.TemporaryFile(prefix="tamis-", buffering=0)
        except OSError as error:
            raise self._no_room(error) from error
        return self

    def __exit__(self, *error: object) -> None:
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
