"""One file of a table: what is known before its rows are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis.data.formats.paths import first_line
from tamis.data.roles import ColumnCode
from tamis.exceptions import ColumnTypeError, InputError
from tamis.statistics.block import Ranges

# What a column holds: numbers that float32 can hold, other numbers, integers, or something else.
NARROW, WIDE, INTEGER, OTHER = 0, 1, 2, 3

Kinds = NDArray[np.uint8]
# The type of a label in memory; None where the file has none of them to tell.
LabelType = np.dtype[Any] | None
TEXT = np.dtype(object)


class Piece(NamedTuple):
    """Some rows of a file: the wanted columns, and the labels in the order they were asked for."""

    X: NDArray[Any] | None
    labels: tuple[NDArray[Any], ...]
    n_rows: int


class Request(NamedTuple):
    """What to read: columns by position, labels (name and type) by name, rows at a time.

    A part whose cells take no more than `room` bytes may be one block. Columns that `codes` name
    become numbers that way.
    """

    columns: NDArray[np.intp]
    labels: tuple[tuple[str, np.dtype[Any]], ...]
    rows: int
    dtype: np.dtype[Any]
    room: int
    codes: Mapping[str, ColumnCode] = {}


class Stamp(NamedTuple):
    """What tells that a file was written to."""

    size: int
    mtime_ns: int


class TableFile:
    """One file of a scan, or the folder of a Zarr store; can be pickled, with no handle open.

    A subclass finds the facts in its constructor, from schema, footer or header only, and writes
    ``read``, ``label_type`` and, where the file has many parts, ``where``.
    """

    format = "table"
    # What the size of a stamp counts.
    counted_in = "bytes"
    # Whether an array ``y`` beside the columns is the target where none is named.
    y_is_target = True
    # Whether ``label_type`` has to read all rows.
    labels_need_reading = False
    # What reading raises when the file is damaged.
    damage: tuple[type[Exception], ...] = (OSError, EOFError, ValueError)

    # All columns, target and weight among them, and what each holds: NARROW, WIDE, INTEGER, OTHER.
    names: tuple[str, ...] | None = None
    kinds: Kinds
    # Kind and type of the columns that hold no numbers; the kind of an empty one is "empty".
    others: dict[int, tuple[str, str]]
    # Arrays with one value per row that are no columns: ``y`` of an NPZ file.
    beside: tuple[str, ...] = ()
    # Rows of every part; None where there is one part and only reading tells.
    part_rows: tuple[int, ...] | None

    def __init__(self, path: Path):
        self.path = path
        self.stamp = self.stamp_now()

    @property
    def n_columns(self) -> int:
        """Number of columns, target and weight among them."""
        return len(self.kinds)

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return 1 if self.part_rows is None else len(self.part_rows)

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known."""
        return None if self.part_rows is None else sum(self.part_rows)

    def row_range(self, part: int) -> tuple[int, int]:
        """First row of a part, and the first after it."""
        rows = self.part_rows or ()
        return sum(rows[:part]), sum(rows[: part + 1])

    def has(self, name: str) -> bool:
        """Whether labels of this name can be read."""
        return name in self.beside or name in (self.names or ())

    def read(self, part: int, request: Request) -> Iterator[Piece]:
        """Pieces of a part, in order."""
        raise NotImplementedError

    def batches(self, part: int, names: list[str], rows: int) -> Iterator[Any]:
        """Arrow record batches of some columns of a part, of about so many rows."""
        raise NotImplementedError

    def may_count_up(self, column: int) -> bool:
        """Whether the first rows of an integer column may count up, without reading them."""
        return True

    def label_type(self, name: str) -> LabelType:
        """The type of a target in memory; an error where it is neither numbers nor text."""
        raise NotImplementedError

    def where(self, part: int) -> str:
        """Name of a part for messages."""
        return self.path.name

    def ranges(self, columns: NDArray[np.intp]) -> Ranges | None:
        """Ranges that the file states, if it states all of them."""
        return None

    def stamp_now(self) -> Stamp:
        """Size and time of the file at this moment."""
        return stamp_of(self.path)

    def check_unchanged(self) -> None:
        """Raise if the file is no longer what it was."""
        check_stamp(self.path, self.stamp, self.stamp_now, self.counted_in)

    def damaged(self, where: str, error: Exception) -> InputError:
        """Build the error for rows that cannot be read."""
        return InputError(
            f"{where}: expected {self.format} data, got a damaged or other file "
            f"({first_line(error)}); write or download it again, or leave it out."
        )

    def odd_label(self, name: str, kind: object) -> ColumnTypeError:
        """Build the error for a target or weight that cannot be one."""
        return ColumnTypeError(
            f"{self.path.name}: expected numbers or text in {name!r}, got {kind}; "
            "write it as numbers or text first."
        )


def stamp_of(path: Path) -> Stamp:
    """Size and time of a file at this moment."""
    found = os.stat(path)
    return Stamp(found.st_size, found.st_mtime_ns)


def check_stamp(
    path: Path, before: Stamp, find: Callable[[], Stamp], counted_in: str = "bytes"
) -> None:
    """Raise if a file is gone or has changed."""
    try:
        now = find()
    except OSError as error:
        raise InputError(
            f"{path}: expected the file that was there when the scan was made, got: "
            f"{error.strerror}; restore it, or make the scan again without it."
        ) from error
    if now != before:
        other = now.size != before.size
        what = f"{now.size:,} {counted_in}" if other else "another time of writing"
        raise InputError(
            f"{path}: expected what was there when the scan was made ({before.size:,} "
            f"{counted_in}), got {what}: it has changed; wait until it is complete, then make the "
            "scan again."
        )
