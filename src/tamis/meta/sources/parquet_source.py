"""ParquetSource: columns of Parquet or Feather files, read when asked for."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.wording import listed
from tamis.data.formats.paths import first_line, import_package
from tamis.exceptions import InputError
from tamis.meta.sources.feature_source import FeatureSource
from tamis.meta.sources.meta_table import (
    as_numbers,
    check_columns,
    count_candidates,
    has_names,
    split_names,
    take_rows,
)

PARQUET = (".parquet", ".pq")
FORMATS = (*PARQUET, ".feather", ".arrow", ".ipc")


class ParquetSource(FeatureSource):
    """Columns of Parquet or Feather files as candidates; only those asked for are read.

    For tables with more columns than memory has room for. The rows of several files follow each
    other, as in a table that was written in parts.

    Parameters
    ----------
    path : str, Path, or list of them
        A file, several files (in the order given), or a folder, whose files with an extension of
        Parquet (.parquet, .pq) or Feather (.feather, .arrow, .ipc) are used in the order of their
        names.
    meta : pandas or polars DataFrame, Arrow table, or array of shape (n_candidates, n_meta)
        A row per candidate, with the name of its column in the column `name`, or in the index
        (pandas). Columns of the files that it does not name are no candidates.
    columns : list of str, default=None
        Names of the candidates. None means all that `meta` names. If `meta` names more, its rows
        are taken by name; if it has no names, it must have one row per name, in this order.
    cost : array-like of shape (n_candidates,), float or None, default=None
        What a column costs, in the order of the candidates; None means 1 each.
    name : str, default="feature"
        Column of `meta` with the names. It is no meta-feature.

    Raises
    ------
    MissingDependencyError
        When pyarrow is not installed.

    Notes
    -----
    A measurement reads the columns from every file, through the footer, and nothing else of it.
    A column of text, or one with an infinite value, is a failed measurement.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from tamis.meta import ParquetSource
    >>> meta = pd.DataFrame({"position": [3, 1]}, index=["b", "a"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"a": [1, 2], "b": [3, 4], "y": [0, 1]}).to_parquet(f"{folder}/1.parquet")
    ...     ParquetSource(folder, meta).columns([0, 1])
    array([[3., 1.],
           [4., 2.]])
    """

    def __init__(
        self,
        path: Any,
        meta: Any,
        *,
        columns: Iterable[str] | None = None,
        cost: Any = None,
        name: str = "feature",
    ) -> None:
        import_package("pyarrow", "ParquetSource")
        self.paths = _find_files(path)
        self.feature_names, self.meta = _choose(meta, columns, name)
        for file in self.paths:
            with _opened(file) as opened:
                names = opened.schema_arrow.names if _is_parquet(file) else opened.schema.names
            check_columns(self.feature_names, names, f"ParquetSource: {file.name}", extra=True)
        self.cost = cost
        self.costs()

    def measure(self, indices: NDArray[np.int64]) -> Any:
        """Read some columns of all files; see :meth:`.FeatureSource.measure`."""
        names = [self.feature_names[index] for index in indices]
        if not names:
            return np.empty((self._known_rows(), 0))
        return np.concatenate([as_numbers(_read(file, names)) for file in self.paths])

    def _known_rows(self) -> int:
        known = super()._known_rows()
        return sum(_count_rows(file) for file in self.paths) if known is None else known


def _choose(meta: Any, columns: Iterable[str] | None, name: str) -> tuple[list[str], Any]:
    """Names of the candidates and the rows of meta about them."""
    if columns is None:
        names, table = split_names(meta, name, "ParquetSource")
        return [str(item) for item in names], table
    wanted = [columns] if isinstance(columns, str) else [str(column) for column in columns]
    if len(set(wanted)) < len(wanted):
        raise InputError("ParquetSource: expected every name once in columns, got some twice.")
    if not has_names(meta, name):
        n_rows = count_candidates(meta, "ParquetSource")
        if n_rows != len(wanted):
            raise InputError(
                f"ParquetSource: expected a row of meta for each of the {len(wanted)} columns, got "
                f"{n_rows} rows without names."
            )
        return wanted, meta
    names, table = split_names(meta, name, "ParquetSource")
    places = {str(item): place for place, item in enumerate(names)}
    missing = [column for column in wanted if column not in places]
    if missing:
        raise InputError(
            "ParquetSource: expected meta to name every column asked for, got nothing about "
            f"{listed(missing, 1)}."
        )
    return wanted, take_rows(table, [places[column] for column in wanted])


def _find_files(path: Any) -> list[Path]:
    parts = [path] if isinstance(path, str | Path) else list(path)
    extensions = ", ".join(FORMATS)
    found: list[Path] = []
    for part in map(Path, parts):
        if part.is_dir():
            inside = sorted(item for item in part.iterdir() if item.suffix.lower() in FORMATS)
            found += [item for item in inside if not item.name.startswith((".", "_"))]
        elif not part.is_file():
            raise InputError(
                f"ParquetSource: expected a file or a folder, got {str(part)!r}, which is missing."
            )
        elif part.suffix.lower() not in FORMATS:
            raise InputError(
                f"ParquetSource: expected a file with one of the extensions {extensions}, got "
                f"{part.name!r}."
            )
        else:
            found.append(part)
    if not found:
        raise InputError(
            f"ParquetSource: expected files with one of the extensions {extensions}, got none in "
            f"{str(path)!r}."
        )
    return found


def _count_rows(path: Path) -> int:
    with _opened(path, [0]) as file:
        return int(file.metadata.num_rows if _is_parquet(path) else file.read_all().num_rows)


def _read(path: Path, names: list[str]) -> Any:
    """Arrow table of some columns, in this order."""
    with _opened(path) as file:
        if _is_parquet(path):
            # "a" would also bring a column "a.b"; hence the selection by name afterwards.
            table = file.read(columns=names)
        else:
            places = [file.schema.get_field_index(name) for name in names]
            with _opened(path, places) as part:
                table = part.read_all()
    # Arrow trusts the offsets in the file; without this a damaged one can crash Python.
    table.validate(full=True)
    return table.select(names)


@contextlib.contextmanager
def _opened(path: Path, places: list[int] | None = None) -> Iterator[Any]:
    """The file as pyarrow sees it; of Feather, only the columns at some places."""
    pa = import_package("pyarrow", f"reading {path.name}")
    from pyarrow import ipc, parquet

    try:
        if _is_parquet(path):
            with parquet.ParquetFile(path) as file:
                yield file
        else:
            with pa.memory_map(str(path)) as stream:
                yield ipc.open_file(stream, options=ipc.IpcReadOptions(included_fields=places))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        kind = "Parquet" if _is_parquet(path) else "Feather (version 2)"
        raise InputError(
            f"{path.name}: expected a {kind} file, got a damaged or other file "
            f"({first_line(error)}); write it again, or correct its extension."
        ) from error


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in PARQUET
