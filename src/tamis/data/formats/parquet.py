"""Parquet: parts are row groups, and only the wanted columns are read."""

from __future__ import annotations

import math
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
from tamis.data.formats.base import (
    LabelType,
    Piece,
    Request,
    Stamp,
    TableFile,
    check_names,
    damaged_file,
    import_pyarrow,
)
from tamis.data.formats.batches import (
    arrow_label_type,
    cells_of,
    column_kinds,
    fill_column,
    labels_in,
    labels_of,
    piece_of,
)
from tamis.data.formats.spool import Spool
from tamis.data.roles import JUDGED_VALUES
from tamis.data.table import RawTable
from tamis.statistics.ranges import Ranges

# Columns that are decoded at a time where a row group is read whole. Reading all columns of it side
# by side, in batches of rows, Arrow holds a page and a dictionary of each: three times the cells.
COLUMNS_AT_A_TIME = 8
# Of short row groups more columns, or the calls would cost more than the cells.
LEAST_CELLS = 2**18
# A row group that is larger than a few blocks is read through buffers of this size, not at once.
LEAST_BUFFER, LARGEST_BUFFER = 4 * 2**10, 64 * 2**10

# What writers make a page of at most, unless they are told otherwise.
PAGE_BYTES = 2**20
# Rows of a column that are decoded at a time where columns go to disk one by one.
SPOOLED_ROWS = 2**16

_COMPARABLE = {"BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE"}


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
        held = sum(_held(footer.row_group(part), footer, wanted))
        if held <= request.room:
            yield from self._side_by_side(part, names, wanted, request, footer)
        else:
            yield from self._spooled(part, n_rows, names, request, footer)

    def batches(self, part: int, names: list[str], rows: int) -> Iterator[Any]:
        """Record batches of some columns of a row group."""
        footer = _footer(self.path, self.stamp)
        return self._batches(part, names, rows, footer, LARGEST_BUFFER)

    def _side_by_side(
        self, part: int, names: list[str], wanted: list[str], request: Request, footer: Any
    ) -> Iterator[Piece]:
        """Batches of rows of a row group; Arrow holds a page of every column meanwhile."""
        budget = 8 * len(wanted) * request.rows
        whole = footer.row_group(part).total_byte_size <= 2 * budget
        buffer = 0 if whole else min(max(budget // len(wanted), LEAST_BUFFER), LARGEST_BUFFER)
        for batch in self._batches(part, wanted, _aligned(request.rows), footer, buffer):
            held = [piece_of(batch, names, request)]
            del batch
            yield held.pop()

    def _spooled(
        self, part: int, n_rows: int, names: list[str], request: Request, footer: Any
    ) -> Iterator[Piece]:
        """Batches of rows of a row group whose columns go to disk one by one first."""
        labels = [name for name, _ in request.labels]
        rows = _aligned(request.rows)
        with Spool(n_rows, len(names), request.dtype, self.where(part)) as spool:
            for j, name in enumerate(names):
                row = 0
                for batch in self._batches(part, [name], SPOOLED_ROWS, footer, LARGEST_BUFFER):
                    spool.put(j, row, cells_of(batch, [name], request)[:, 0])
                    row += batch.num_rows
            beside = self._batches(part, labels, rows, footer, LARGEST_BUFFER) if labels else None
            for start in range(0, n_rows, rows):
                stop = min(start + rows, n_rows)
                found = () if beside is None else labels_in(next(beside), request)
                yield Piece(spool.rows(start, stop), found, stop - start)

    def _batches(
        self, part: int, columns: list[str], rows: int, footer: Any, buffer: int
    ) -> Iterator[Any]:
        from pyarrow import parquet

        options = {"pre_buffer": False, "buffer_size": buffer, "page_checksum_verification": True}
        with parquet.ParquetFile(self.path, metadata=footer, **options) as file:
            yield from file.iter_batches(
                rows, row_groups=[part], columns=list(dict.fromkeys(columns)), use_threads=False
            )

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
        assert self.part_rows is not None
        footer = _footer(self.path, self.stamp)
        if not self.part_rows:
            return True
        # Columns that are not nested have one leaf each, at their own place.
        chunk = footer.row_group(0).column(min(column, footer.num_columns - 1))
        if chunk.path_in_schema != self.names[column]:
            return True
        found = _chunk_range(chunk)
        rows = min(self.part_rows[0], JUDGED_VALUES)
        return found is None or found[1] - found[0] >= rows - 1

    def ranges(self, columns: NDArray[np.intp]) -> Ranges | None:
        """Ranges from the statistics of the row groups; NaN is not counted in them."""
        assert self.names is not None
        footer = _footer(self.path, self.stamp)
        leaves = {footer.schema.column(j).path: j for j in range(footer.num_columns)}
        ranges = Ranges(len(columns))
        for g in range(footer.num_row_groups):
            group = footer.row_group(g)
            for i, j in enumerate(columns):
                found = _chunk_range(group.column(leaves[self.names[j]]))
                if found is None:
                    return None
                ranges.low[i] = min(ranges.low[i], found[0])
                ranges.high[i] = max(ranges.high[i], found[1])
            ranges.n_rows += group.num_rows
        ranges.stored += ranges.n_rows
        return ranges


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


def _aligned(rows: int) -> int:
    """A power of two: columns that fill whole pages of memory were decoded a third faster."""
    return 1 << (rows.bit_length() - 1)


def _without_columns(n_rows: int, step: int) -> Iterator[Piece]:
    for start in range(0, n_rows, step):
        yield Piece(None, (), min(step, n_rows - start))


@lru_cache(maxsize=4)
def _footer(path: Path, stamp: Stamp) -> Any:
    """The footer of a file; parsing that of a wide table takes longer than reading a block."""
    from pyarrow import parquet

    return parquet.read_metadata(path)


def _chunk_range(chunk: Any) -> tuple[float, float] | None:
    """Smallest and largest value of a column in a row group, or None where it is not stated."""
    statistics = chunk.statistics
    if statistics is None or chunk.physical_type not in _COMPARABLE:
        return None
    if statistics.logical_type.type == "DECIMAL":
        return None
    if statistics.has_null_count and statistics.null_count == chunk.num_values:
        return math.inf, -math.inf
    if not statistics.has_min_max:
        return None
    low, high = float(statistics.min), float(statistics.max)
    if math.isnan(low) or math.isnan(high):
        return None
    # Writers state -0.0 as the least of zeros whatever its sign.
    return low + 0.0, high + 0.0


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
