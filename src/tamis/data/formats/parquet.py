"""Parquet: parts are row groups, and only the wanted columns are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.memory import empty_columns
from tamis._runtime.threads import effective_jobs
from tamis.data.formats.arrow import ArrowFile, labels_of, numbers_of
from tamis.data.formats.base import Piece, Request, Stamp
from tamis.data.formats.large_row_groups import LargeRowGroup
from tamis.data.formats.parquet_statistics import may_count_up, stated_ranges
from tamis.data.roles import JUDGED_VALUES, ColumnCode
from tamis.statistics.block import Ranges

# Columns that are decoded at a time where a row group is read whole. Reading all columns of it side
# by side, in batches of rows, Arrow holds a page and a dictionary of each: three times the cells.
COLUMNS_AT_A_TIME = 8
# Of short row groups more columns, or the calls would cost more than the cells.
LEAST_CELLS = 2**18


class ParquetTable(ArrowFile):
    """One Parquet file."""

    format = "Parquet"

    def __init__(self, path: Path):
        super().__init__(path)
        try:
            self._set_columns(self.schema)
        except self.damage as error:
            raise self.damaged(path.name, error) from error
        footer = self._footer
        groups = range(footer.num_row_groups)
        self.part_rows = tuple(footer.row_group(g).num_rows for g in groups)

    @property
    def _footer(self) -> Any:
        return _footer(self.path, self.stamp)

    @property
    def schema(self) -> Any:
        """Names and types; not kept, since there may be many files of many columns."""
        return self._footer.schema.to_arrow_schema()

    def where(self, part: int) -> str:
        """File and row group."""
        return f"{self.path.name}, row group {part}"

    def read(self, part: int, request: Request) -> Iterator[Piece]:
        """Pieces of a row group; what fits the memory limit is one."""
        assert self.names is not None
        names = [self.names[j] for j in request.columns]
        wanted = list(dict.fromkeys([*names, *(name for name, _ in request.labels)]))
        footer = self._footer
        n_rows, width = footer.row_group(part).num_rows, max(len(wanted), 1)
        if n_rows * width * 8 <= max(request.room, 8 * width * request.rows):
            yield self._whole(part, n_rows, names, request, footer)
            return
        yield from LargeRowGroup(self.path, footer, part).pieces(names, wanted, request)

    def batches(self, part: int, names: list[str], rows: int) -> Iterator[Any]:
        """Record batches of some columns of a row group."""
        return LargeRowGroup(self.path, self._footer, part).batches(names, rows)

    def _whole(
        self, part: int, n_rows: int, names: list[str], request: Request, footer: Any
    ) -> Piece:
        """A row group in one piece; threads take some columns at a time, each with its own file."""
        from pyarrow import parquet

        X = empty_columns(n_rows, len(names), request.dtype) if names else None
        width = max(COLUMNS_AT_A_TIME, LEAST_CELLS // max(n_rows, 1))
        waiting = deque(range(0, len(names), width))

        def open_file() -> Any:
            return parquet.ParquetFile(
                self.path, metadata=footer, pre_buffer=False, page_checksum_verification=True
            )

        def read(file: Any, columns: list[str]) -> Any:
            table = file.read_row_group(part, list(dict.fromkeys(columns)), use_threads=False)
            table.validate(full=True)  # or a damaged file could crash Python
            return table

        def fill() -> None:
            assert X is not None
            with open_file() as file:
                while waiting:
                    try:
                        first = waiting.popleft()
                    except IndexError:  # another thread took the last ones
                        return
                    some = names[first : first + width]
                    columns = read(file, some)
                    for j, name in enumerate(some, first):
                        _fill_column(columns[name], request.codes.get(name), X[:, j])

        _on_threads(fill, min(effective_jobs(None), len(waiting)))
        labels: tuple[NDArray[Any], ...] = ()
        if request.labels:
            with open_file() as file:
                stored = read(file, [name for name, _ in request.labels])
            labels = tuple(labels_of(stored[name], kind) for name, kind in request.labels)
        return Piece(X, labels, n_rows)

    def may_count_up(self, column: int) -> bool:
        """Whether the range of the first row group is as wide as it would have to be."""
        assert self.names is not None
        return may_count_up(self._footer, column, self.names[column], JUDGED_VALUES)

    def ranges(self, columns: NDArray[np.intp]) -> Ranges | None:
        """Ranges from the statistics of the row groups."""
        assert self.names is not None
        return stated_ranges(self._footer, [self.names[j] for j in columns])


def _on_threads(function: Callable[[], None], n_threads: int) -> None:
    """Call a function on so many threads; the first error is raised once all have ended."""
    if n_threads < 2:
        for _ in range(n_threads):
            function()
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="tamis-decode") as pool:
        for call in [pool.submit(function) for _ in range(n_threads)]:
            call.result()


def _fill_column(column: Any, code: ColumnCode | None, out: NDArray[Any]) -> None:
    """Copy a chunked column as numbers."""
    row = 0
    for chunk in column.chunks:
        out[row : row + len(chunk)] = numbers_of(chunk, code)
        row += len(chunk)


@lru_cache(maxsize=4)
def _footer(path: Path, stamp: Stamp) -> Any:
    """The footer of a file; parsing that of a wide table takes longer than reading a block."""
    from pyarrow import parquet

    return parquet.read_metadata(path)
