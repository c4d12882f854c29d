"""Target and weight: stored with the rows, or given beside the files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.wording import counted, listed, unknown_column
from tamis.data.formats.base import (
    TEXT,
    LabelType,
    Piece,
    Stamp,
    TableFile,
    check_stamp,
    first_line,
    stamp_of,
)
from tamis.data.formats.matrix import text_of
from tamis.data.formats.npz import DAMAGE, StoredArray, find_array
from tamis.exceptions import ColumnTypeError, InputError


@dataclass(frozen=True)
class GivenLabels:
    """One value per row that came beside the files: in memory, or in an NPY file of its own."""

    values: NDArray[Any] | None
    path: Path | None = None
    stored: StoredArray | None = None
    stamp: Stamp | None = None

    @classmethod
    def of(cls, what: str, given: Any) -> GivenLabels:
        """Take an array or the path of an NPY file."""
        if isinstance(given, str | os.PathLike):
            return cls._from_file(what, Path(given))
        values = np.asarray(given)
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
        if values.ndim != 1:
            raise InputError(
                f"scan: {what} must be the name of a column or one value per row, got an array of "
                f"shape {values.shape}."
            )
        return cls(text_of(values) if values.dtype.kind in "UST" else values)

    @classmethod
    def _from_file(cls, what: str, path: Path) -> GivenLabels:
        try:
            stored = find_array(path)
            if len(stored.shape) != 1 and stored.shape[1:] != (1,):
                raise ValueError(f"shape {stored.shape}")
        except DAMAGE as error:
            raise InputError(
                f"{path.name}: expected {what} as an NPY file with one value per row, got: "
                f"{first_line(error)}; save it with numpy.save."
            ) from error
        return cls(None, path, stored, stamp_of(path))

    def __len__(self) -> int:
        if self.stored is not None:
            return self.stored.shape[0]
        assert self.values is not None
        return len(self.values)

    def rows(self, start: int, stop: int) -> NDArray[Any]:
        """Values of some rows."""
        if self.stored is None:
            assert self.values is not None
            return self.values[start:stop]
        assert self.path is not None
        try:
            with open(self.path, "rb", buffering=0) as stream:
                found = self.stored.values(stream, start, min(stop, len(self)))
        except DAMAGE as error:
            raise InputError(
                f"{self.path.name}: expected {len(self):,} values, got: {first_line(error)}; "
                "it has changed since the scan was made, so make it again."
            ) from error
        return text_of(found) if found.dtype.kind in "US" else found

    def check_unchanged(self) -> None:
        """Raise if the file of these values is no longer what it was."""
        if self.path is not None and self.stamp is not None:
            check_stamp(self.path, self.stamp, stamp_of)

    def fingerprint(self) -> list[Any]:
        """What tells these values from others."""
        if self.path is not None and self.stamp is not None:
            return [os.path.abspath(self.path), *self.stamp]
        assert self.values is not None
        plain = self.values.dtype.kind != "O"
        raw = self.values.tobytes() if plain else "\0".join(map(str, self.values)).encode()
        return ["given", len(self), hashlib.sha256(raw).hexdigest()]


Labels = str | GivenLabels | None


def find_labels(what: str, asked: Any, files: Sequence[TableFile]) -> Labels:
    """Find what a user calls target or weight.

    A name is that of a column, else of an NPY file; without one, ``y`` is the target where a file
    has it beside the matrix.
    """
    first = files[0]
    if asked is None:
        usual = what == "target" and first.y_is_target and "y" in first.beside
        return "y" if usual else None
    if isinstance(asked, str):
        if first.has(asked):
            return asked
        if not (asked.endswith(".npy") and os.path.exists(asked)):
            names = [*first.beside, *(first.names or ())]
            if not names:
                raise InputError(
                    f"scan: {what} must be an array or the path of a .npy file, since the columns "
                    f"of {first.path.name} have no names, got {asked!r}."
                )
            raise unknown_column(first.path.name, asked, names)
    given = GivenLabels.of(what, asked)
    _check_length(what, given, files)
    return given


def _check_length(what: str, given: GivenLabels, files: Sequence[TableFile]) -> None:
    rows = [file.n_rows for file in files]
    if all(n is not None for n in rows):
        n_rows = sum(n or 0 for n in rows)
        if n_rows != len(given):
            raise wrong_length(what, given, n_rows)
    elif len(files) > 1:
        raise InputError(
            f"scan: expected {what} as the name of a column, since only reading all of "
            f"{files[0].path.name} would tell how many rows it has, got an array; "
            "add it to the files, or convert them to Parquet."
        )


def wrong_length(what: str, given: GivenLabels, n_rows: int) -> InputError:
    """Build the error for an array that does not belong to the table."""
    return InputError(
        f"scan: expected one {what} for each of {counted(n_rows, 'row')}, got "
        f"{counted(len(given), 'value')}; check that it belongs to these files."
    )


def attach(
    piece: Piece, labels: tuple[Labels, Labels], row: int
) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Target and weight of a piece that starts at `row` of the whole table."""
    stored = iter(piece.labels)
    found: list[NDArray[Any] | None] = []
    for what, label in zip(("target", "weight"), labels, strict=True):
        if isinstance(label, GivenLabels):
            values = label.rows(row, row + piece.n_rows)
            if len(values) < piece.n_rows:
                raise wrong_length(what, label, row + piece.n_rows)
            found.append(values)
        else:
            found.append(None if label is None else next(stored))
    return found[0], found[1]


def check_given(labels: tuple[Labels, Labels], n_rows: int) -> None:
    """Raise if values were given for more rows than there turned out to be."""
    for what, label in zip(("target", "weight"), labels, strict=True):
        if isinstance(label, GivenLabels) and len(label) != n_rows:
            raise wrong_length(what, label, n_rows)


def joined(blocks: list[NDArray[Any] | None], label: Labels) -> NDArray[Any] | None:
    """Target or weight of all blocks."""
    if label is None:
        return None
    found = [block for block in blocks if block is not None]
    return np.concatenate(found) if found else np.empty(0)


def common_type(name: str, files: Sequence[TableFile]) -> np.dtype[Any]:
    """The type that the target has in all files, whatever it has in each.

    Numbers of several types become the one that holds all. Numbers in one file and text in another
    are an error, except in text files, where numbers can be read as text.
    """
    found: dict[LabelType, TableFile] = {}
    for file in files:
        found.setdefault(file.label_type(name), file)
    types = [dtype for dtype in found if dtype is not None]
    if not types:
        return TEXT
    if TEXT not in types:
        return np.result_type(*types)
    others = [dtype for dtype in types if dtype != TEXT]
    if others and not files[0].labels_need_reading:
        raise ColumnTypeError(
            f"{found[others[0]].path.name}: expected text in {name!r}, as in "
            f"{listed([found[TEXT].path.name])}, got {others[0]}; write both files alike."
        )
    return TEXT
