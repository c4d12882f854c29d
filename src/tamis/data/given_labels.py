"""GivenLabels: a target or weight that came beside the files of a scan."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.fingerprint import fingerprint
from tamis._runtime.wording import counted, unknown_column
from tamis.data.formats.base import Stamp, TableFile, check_stamp, stamp_of
from tamis.data.formats.matrix import text_of
from tamis.data.formats.npz import DAMAGE, StoredArray, find_array
from tamis.data.formats.paths import first_line
from tamis.exceptions import InputError


@dataclass(frozen=True)
class GivenLabels:
    """One value per row that came beside the files: in memory, or in an NPY file of its own."""

    values: NDArray[Any] | None
    path: Path | None = None
    stored: StoredArray | None = None
    stamp: Stamp | None = None

    @classmethod
    def of(cls, what: str, given: Any, files: Sequence[TableFile]) -> GivenLabels:
        """Take an array or the path of an NPY file, with one value for each row of the files."""
        if isinstance(given, str):
            _check_path(what, given, files[0])
        if isinstance(given, str | os.PathLike):
            found = cls._from_file(what, Path(given))
        else:
            values = np.asarray(given)
            values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
            if values.ndim != 1:
                raise InputError(
                    f"scan: {what} must be the name of a column or one value per row, got an array "
                    f"of shape {values.shape}."
                )
            found = cls(text_of(values) if values.dtype.kind in "UST" else values)
        found._check_length(what, files)
        return found

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

    def rows(self, what: str, start: int, stop: int) -> NDArray[Any]:
        """Values of some rows; an error if there are not as many."""
        found = self._rows(start, stop)
        if len(found) < stop - start:
            raise self._wrong_length(what, stop)
        return found

    def _rows(self, start: int, stop: int) -> NDArray[Any]:
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
            check_stamp(self.path, self.stamp, partial(stamp_of, self.path))

    def fingerprint(self) -> list[Any]:
        """What tells these values from others."""
        if self.path is not None and self.stamp is not None:
            return [os.path.abspath(self.path), *self.stamp]
        return ["given", len(self), fingerprint(self.values)]

    def _check_length(self, what: str, files: Sequence[TableFile]) -> None:
        rows = [file.n_rows for file in files]
        if all(n is not None for n in rows):
            self.check_count(what, sum(n or 0 for n in rows))
        elif len(files) > 1:
            raise InputError(
                f"scan: expected {what} as the name of a column, since only reading all of "
                f"{files[0].path.name} would tell how many rows it has, got an array; "
                "add it to the files, or convert them to Parquet."
            )

    def check_count(self, what: str, n_rows: int) -> None:
        """Raise if there are more or fewer values than rows."""
        if len(self) != n_rows:
            raise self._wrong_length(what, n_rows)

    def _wrong_length(self, what: str, n_rows: int) -> InputError:
        return InputError(
            f"scan: expected one {what} for each of {counted(n_rows, 'row')}, got "
            f"{counted(len(self), 'value')}; check that it belongs to these files."
        )


def _check_path(what: str, name: str, first: TableFile) -> None:
    """Raise unless a name that no column has is that of an NPY file."""
    if name.endswith(".npy") and os.path.exists(name):
        return
    names = [*first.beside, *(first.names or ())]
    if not names:
        raise InputError(
            f"scan: {what} must be an array or the path of a .npy file, since the columns "
            f"of {first.path.name} have no names, got {name!r}."
        )
    raise unknown_column(first.path.name, name, names)
