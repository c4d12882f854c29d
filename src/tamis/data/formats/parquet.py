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
from tamis.data.formats.arrow import damaged_file, import_pyarrow
from tamis.data.formats.base import LabelType, Piece, Request, Stamp, TableFile, check_names
from tamis.data.formats.batches import (
    arrow_label_type,
    column_kinds,
    fill_column,
    labels_of,
)
from tamis.data.formats.large_row_groups import LargeRowGroup
from tamis.data.formats.parquet_statistics import may_count_up, stated_ranges
from tamis.data.roles import JUDGED_VALUES
from tamis.data.table import RawTable
from tamis.statistics.block import Ranges

# Columns that are decoded at a time where a row group is read whole. Reading all columns of it side
# by side, in batches of rows, Arrow holds a page and a dictionary of each: three times the cells.
COLUMNS_AT_A_TIME = 8
# Of short row groups more columns, or the calls would cost more than the cells.
LEAST_CELLS = 2**18


class ParquetTable(TableFile):
    """One Parquet file."""

    format = "Parquet"

    def __init__(self, path: Path):
        pa = import_pyarrow(f"reading {path.name}")
        super().__init__(path)
        self.damage = (pa.ArrowException, OSError, UnicodeDecodeError)
        try:
            footer = _footer(path, self.stamp)
            schema = footer.schema.to_arrow_schema()
        except self.damage as error:
            raise self.damaged(path.name, error) from error
        self.names = tuple(schema.names)
        check_names(path.name, self.names)
        self.kinds, self.others = column_kinds(schema)
        groups = range(footer.num_row_groups)
        self.part_rows = tuple(footer.row_group(g).num_rows for g in groups)

    def label_type(self, name: str) -> LabelType:
        """The type of a column in memory."""
        schema = _footer(self.path, self.stamp).schema.to_arrow_schema()
        found = arrow_label_type(schema.field(name).type)
        if isinstance(found, str):
            raise self.odd_label(name, found)
        return found

    def where(self, part: int) -> str:
        """File and row group."""
        return f"{self.path.name}, row group {part}"

    def read(self, part: int, request: Request) -> Iterator[Piece]:
        """Pieces of a row group."""
        assert self.names is not None
        names = [self.names[j] for j in request.columns]
        wanted = list(dict.fromkeys([*names, *(name for name, _ in request.labels)]))
        footer = _footer(self.path, self.stamp)
        if not wanted:
            yield from _without_columns(footer.row_group(part).num_rows, request.rows)
            return
        n_rows = footer.row_group(part).num_rows
        if n_rows * len(wanted) * 8 <= max(request.room, 8 * len(wanted) * request.rows):
            yield self._whole(part, n_rows, names, request, footer)
            return
        yield from LargeRowGroup(self.path, footer, part).pieces(names, wanted, request)

    def batches(self, part: int, names: list[str], rows: int) -> Iterator[Any]:
        """Record batches of some columns of a row group."""
        footer = _footer(self.path, self.stamp)
        return LargeRowGroup(self.path, footer, part).batches(names, rows)

    def _whole(
        self, part: int, n_rows: int, names: list[str], request: Request, footer: Any
    ) -> Piece:
        """A row group in one piece; threads take some columns at a time, each with its own file."""
        from pyarrow import parquet

        options = {"pre_buffer": False, "page_checksum_verification": True}

        def read(file: Any, columns: list[str]) -> Any:
            table = file.read_row_group(part, list(dict.fromkeys(columns)), use_threads=False)
            table.validate(full=True)  # or a damaged file could crash Python
            return table

        X = empty_columns(n_rows, len(names), request.dtype) if names else None
        width = max(COLUMNS_AT_A_TIME, LEAST_CELLS // max(n_rows, 1))
        waiting = deque(range(0, len(names), width))

        def fill() -> None:
            assert X is not None
            with parquet.ParquetFile(self.path, metadata=footer, **options) as file:
                while waiting:
                    try:
                        first = waiting.popleft()
                    except IndexError:  # another thread took the last ones
                        return
                    some = names[first : first + width]
                    columns = read(file, some)
                    for j, name in enumerate(some, first):
                        fill_column(columns[name], request.codes.get(name), X[:, j])

        _on_threads(fill, min(effective_jobs(None), len(waiting)))
        labels = [name for name, _ in request.labels]
        found: tuple[NDArray[Any], ...] = ()
        if labels:
            with parquet.ParquetFile(self.path, metadata=footer, **options) as file:
                stored = read(file, labels)
            found = tuple(labels_of(_joined(stored[name]), dtype) for name, dtype in request.labels)
        return Piece(X, found, n_rows)

    def may_count_up(self, column: int) -> bool:
        """Whether the range of the first row group is as wide as it would have to be."""
        assert self.names is not None
        footer = _footer(self.path, self.stamp)
        return may_count_up(footer, column, self.names[column], JUDGED_VALUES)

    def ranges(self, columns: NDArray[np.intp]) -> Ranges | None:
        """Ranges from the statistics of the row groups."""
        assert self.names is not None
        footer = _footer(self.path, self.stamp)
        return stated_ranges(footer, [self.names[j] for j in columns])


def _on_threads(function: Callable[[], None], n_threads: int) -> None:
    """Call a function on so many threads; the first error is raised once all have ended."""
    if n_threads < 2:
        for _ in range(n_threads):
            function()
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="tamis-decode") as pool:
        for call in [pool.submit(function) for _ in range(n_threads)]:
            call.result()


def _joined(column: Any) -> Any:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _without_columns(n_rows: int, step: int) -> Iterator[Piece]:
    for start in range(0, n_rows, step):
        yield Piece(None, (), min(step, n_rows - start))


@lru_cache(maxsize=4)
def _footer(path: Path, stamp: Stamp) -> Any:
    """The footer of a file; parsing that of a wide table takes longer than reading a block."""
    from pyarrow import parquet

    return parquet.read_metadata(path)


def read_parquet(path: Path) -> RawTable:
    """Read one Parquet file; folder names like ``year=2020`` do not become columns."""
    pa = import_pyarrow(f"reading {path.name}")
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            arrow = file.read()
        arrow.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise damaged_file(path, "Parquet", error) from error
    return RawTable.from_arrow(arrow, path)


def write_parquet(arrow: Any, path: Path) -> None:
    """Write Parquet with the Arrow schema inside, so that types come back as they were."""
    from pyarrow import parquet

    parquet.write_table(arrow, path)
