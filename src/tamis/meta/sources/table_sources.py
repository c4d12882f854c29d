"""ArraySource, FrameSource and ParquetSource: tables in memory and in files as sources."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.wording import listed
from tamis.data.formats.paths import first_line, import_package
from tamis.data.frames import is_frame
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


class ArraySource(FeatureSource):
    """The columns of an array as candidates.

    For trying a method out on a table that is all there, and for arrays larger than memory: only
    the columns that are asked for are read.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_candidates)
        The table. Whatever understands ``X[:, indices]`` will do: an array, a memory-mapped file
        (``numpy.load(path, mmap_mode="r")``), a CSR or CSC matrix.
    meta : array-like or DataFrame of shape (n_candidates, n_meta)
        Properties of every column.
    cost : array-like of shape (n_candidates,), float or None, default=None
        What a column costs; None means 1 each.
    feature_names : list of str, default=None
        Names of the columns; None takes them from the index of a pandas `meta`.

    See Also
    --------
    FrameSource : The same for a DataFrame, matched by name.

    Notes
    -----
    A column with an infinite value is a failed measurement; it is not tried again. A CSR matrix
    is turned into CSC when first used, which takes the memory of the matrix once more.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import ArraySource
    >>> X = np.arange(8.0).reshape(2, 4)
    >>> source = ArraySource(X, meta=[[0.1], [0.2], [0.3], [0.4]], cost=[1, 1, 5, 5])
    >>> source.columns([3, 0])
    array([[3., 0.],
           [7., 4.]])
    >>> source.n_measured, source.spent
    (2, 6.0)
    """

    retries = 0  # what is wrong with an array now is wrong with it later

    def __init__(self, X: Any, meta: Any, *, cost: Any = None, feature_names: Any = None) -> None:
        if is_frame(X):
            raise InputError(
                "ArraySource: expected an array or a sparse matrix, got a DataFrame. Use "
                "FrameSource(frame, meta), which matches names, or pass frame.to_numpy()."
            )
        self.X: Any = np.asarray(X) if isinstance(X, list | tuple) else X
        shape = getattr(self.X, "shape", None)
        if not isinstance(shape, tuple) or len(shape) != 2:
            came = type(X).__name__ if shape is None else f"shape {shape}"
            raise InputError(
                f"ArraySource: expected X of shape (n_samples, n_candidates), got {came}."
            )
        self.meta, self.cost = meta, cost
        if feature_names is not None:
            self.feature_names = feature_names
        n_candidates = count_candidates(meta, "ArraySource")
        if shape[1] != n_candidates:
            raise InputError(
                f"ArraySource: expected a row of meta for every column of X ({shape[1]}), got "
                f"{n_candidates} rows."
            )
        self.costs()
        self.candidate_names()

    def measure(self, indices: NDArray[np.int64]) -> Any:
        """Columns of the table, as they are in it; see :meth:`.FeatureSource.measure`."""
        if sparse.issparse(self.X) and self.X.format != "csc":
            self.X = self.X.tocsc()
        return self.X[:, indices]

    def _known_rows(self) -> int:
        return int(self.X.shape[0])


class FrameSource(FeatureSource):
    """The columns of a DataFrame as candidates, with a table of their properties.

    For tables whose columns are described in another table, such as genes and their annotation.
    The two are matched by name, so their order does not matter.

    Parameters
    ----------
    frame : pandas or polars DataFrame, or Arrow table
        The columns; numbers, bools and missing values.
    meta : pandas or polars DataFrame, or Arrow table
        A row per column of `frame`, with its name in the column `name`, or in the index (pandas).
        The candidates are in the order of these rows.
    cost : array-like of shape (n_candidates,), float or None, default=None
        What a column costs, in the order of `meta`; None means 1 each.
    name : str, default="feature"
        Column of `meta` with the names. It is no meta-feature.

    See Also
    --------
    ArraySource : The same for an array, matched by position.
    ParquetSource : The same for files.

    Notes
    -----
    A column of text, or one with an infinite value, is a failed measurement.

    Examples
    --------
    >>> import pandas as pd
    >>> from tamis.meta import FrameSource
    >>> frame = pd.DataFrame({"height": [1.7, 1.8], "weight": [60, 75]})
    >>> meta = pd.DataFrame({"unit_cost": [3.0, 1.0]}, index=["weight", "height"])
    >>> source = FrameSource(frame, meta)
    >>> source.candidate_names()
    ['weight', 'height']
    >>> source.columns([1])
    array([[1.7],
           [1.8]])
    """

    retries = 0  # what is wrong with a table now is wrong with it later

    def __init__(self, frame: Any, meta: Any, *, cost: Any = None, name: str = "feature") -> None:
        if not is_frame(frame):  # a lazy one is none, either
            raise InputError(
                "FrameSource: expected a pandas or polars DataFrame or an Arrow table, got an "
                f"object of type {type(frame).__name__}. For an array use ArraySource; collect a "
                "lazy frame."
            )
        self.frame, self.cost = frame, cost
        labels = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
        self._names, self.meta = split_names(meta, name, "FrameSource")
        check_columns(self._names, labels, "FrameSource", extra=False)
        self.feature_names = [str(label) for label in self._names]
        self.costs()

    def measure(self, indices: NDArray[np.int64]) -> Any:
        """Columns of the table, NaN where missing; see :meth:`.FeatureSource.measure`."""
        columns = [as_numbers(self.frame[self._names[index]]) for index in indices]
        return np.column_stack(columns) if columns else np.empty((self._known_rows(), 0))

    def _known_rows(self) -> int:
        return int(self.frame.shape[0])


class ParquetSource(FeatureSource):
    """Columns of Parquet or Feather files as candidates; only those asked for are read.

    For tables with more columns than memory has room for. The rows of several files follow each
    other, as in a table that was written in parts.

    Parameters
    ----------
    path : str, Path, or list of them
        A file, several files (in the order given), or a folder, whose Parquet (.parquet, .pq) and
        Feather files (.feather, .arrow, .ipc) are used in the order of their names.
    meta : pandas or polars DataFrame, Arrow table, or array of shape (n_candidates, n_meta)
        A row per candidate, with the name of its column in the column `name`, or in the index
        (pandas). Columns of the files that it does not name are no candidates.
    columns : list of str, default=None
        Names of the candidates. None means all that `meta` names. If `meta` names more, its rows
        are taken by name; if it has no names, it must have one row per name, in this order.
    cost, name
        As in :class:`FrameSource`; costs are in the order of the candidates.

    Notes
    -----
    It needs pyarrow. A measurement reads the columns from every file, through the footer, and
    nothing else of it. A column of text, or one with an infinite value, is a failed measurement.

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
        return sum(map(_count_rows, self.paths)) if known is None else known


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
