"""Scan: a table in files, read block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._runtime.memory import as_bytes, block_rows, part_room
from tamis._runtime.wording import counted, unknown_column
from tamis._validation import check_value
from tamis.data.agreement import common_type, find_positions, named_columns, selected
from tamis.data.formats.arrow_ipc import IpcTable
from tamis.data.formats.base import INTEGER, NARROW, TEXT, Piece, Request, TableFile
from tamis.data.formats.hdf5 import H5adTable, Hdf5Table
from tamis.data.formats.npz import NpyTable, NpzTable
from tamis.data.formats.parquet import ParquetTable
from tamis.data.formats.paths import FORMATS, check_file, format_among
from tamis.data.formats.patterns import find_files
from tamis.data.formats.text import CsvTable
from tamis.data.formats.zarr import ZarrTable
from tamis.data.given_labels import GivenLabels
from tamis.data.judging import Judged, Positions, judge_columns
from tamis.data.partitioned import CLUSTER, PartitionedTable, RawBlock, Wanted
from tamis.data.roles import ColumnRole
from tamis.exceptions import InputError
from tamis.statistics.block import Ranges

PathLike = str | os.PathLike[str]
# A column or an array of the files by name, values that were given beside them, or nothing.
Labels = str | GivenLabels | None

_READERS = {"parquet": ParquetTable, "feather": IpcTable, "npz": NpzTable}
_ONLY_SCANNED = {".npy": NpyTable, ".h5": Hdf5Table, ".hdf5": Hdf5Table, ".h5ad": H5adTable}
# By extension; text is what has no reader of its own.
_TABLE_FILES: dict[str, type[Any]] = {
    **{extension: _READERS.get(kind, CsvTable) for extension, kind in FORMATS.items()},
    **_ONLY_SCANNED,
    ".zarr": ZarrTable,
}


def scan(
    paths: PathLike | Sequence[PathLike],
    *,
    target: PathLike | ArrayLike | None = None,
    columns: Sequence[str] | Sequence[int] | None = None,
    weight: PathLike | ArrayLike | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    memory_limit: float | str | None = None,
    checkpoint: PathLike | None = None,
    cluster: Any = None,
) -> Scan:
    r"""Open a table that may be larger than memory; it goes where ``X`` goes.

    Rows are read when a selector is fitted: ``DFT().fit(scan(...))``.

    Parameters
    ----------
    paths : str, Path or sequence of them
        A file, a pattern such as ``"folder/*.parquet"`` (``**`` for all folders below), a folder
        with tables of one format, or a list of these. Patterns and folders are sorted by name.
        Parquet, Feather and Arrow IPC, CSV and TSV (also with ``.gz``), NPY, NPZ (``X``, ``y``,
        ``feature_names``), HDF5 (``X`` or the only matrix), h5ad and Zarr.
    target : str, Path or array-like of shape (n_rows,), default=None
        Name of the target column (in h5ad, a column of ``obs``); or one value per row, as an array
        or the path of a ``.npy`` file. None means ``y`` where an NPZ, HDF5 or Zarr file has it,
        else no target.
    columns : list of str or of int, default=None
        The columns to use, in this order and whatever they look like; by number where the file has
        no names. None means all but target and weight, text and identifiers.
    weight : str, Path or array-like of shape (n_rows,), default=None
        Weights of the rows, given like `target`. None means that all rows count alike.
    include, exclude : sequence of str, default=()
        Columns to use although they look like free text or identifiers, and columns never to use.
    memory_limit : int, float, str or None, default=None
        Bytes to stay below, or a text such as ``"1 GiB"`` or ``"500 MB"``. None means a quarter
        of the memory that is free, and at least 64 MiB.
    checkpoint : str or Path, default=None
        File in which a selector keeps what it has computed, so that it can go on from there after
        an interruption. None means that it starts again.
    cluster : str, int, Client or None, default=None
        Who reads and computes: the workers of a scheduler of Dask, given by its address or a
        client of it; so many local processes; ``"threads"`` of Dask; or this process.

    Notes
    -----
    Columns are judged and become numbers as :func:`tamis.data.prepare` does it for one table in
    memory: categories are codes in sorted order over all files, dates are days, times and
    durations seconds; identifiers and free text are left out. ``roles`` and ``notes`` of the result
    tell. For this, columns of text and categories are read once when the scan is made, and the
    first rows of integers that may count the rows; other columns are not. In text files the first
    rows tell which columns are numbers; a cell further down that is none is an error.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from tamis.data import scan
    >>> folder = tempfile.TemporaryDirectory()
    >>> for part in "ab":
    ...     text = f"height,width,kind\n1.5,2,{part}\n2.5,4,{part}\n"
    ...     _ = pathlib.Path(folder.name, f"{part}.csv").write_text(text)
    >>> scan(f"{folder.name}/*.csv", target="kind")
    Scan(2 files, ? rows x 2 columns, target='kind')
    >>> scan(folder.name, target="kind").to_numpy()[1].tolist()
    ['a', 'a', 'b', 'b']
    >>> folder.cleanup()
    """
    limit = as_bytes(memory_limit)
    files = open_files(paths)
    asked = {"target": target, "weight": weight}
    labels = {what: _find_labels(what, given, files) for what, given in asked.items()}
    reserved = [name for name in labels.values() if isinstance(name, str)]
    include, exclude = ([x] if isinstance(x, str) else list(x) for x in (include, exclude))
    own: Positions = [_choose_columns(files[0], columns, reserved, exclude)]
    if len(files) > 1:
        own = find_positions(files, own[0], reserved, every=columns is None)
    judged = _judge(files, own, include if columns is None else None)
    found = Scan(files, own, labels, limit, checkpoint, judged)
    if cluster is not None:
        check_value(cluster, CLUSTER, who="scan", name="cluster")
        found.cluster = cluster
    return found


def open_files(paths: Any) -> list[TableFile]:
    """Read the schemas and headers of all files."""
    is_one = isinstance(paths, str | os.PathLike) and os.path.isfile(os.path.expanduser(paths))
    found = [Path(os.path.expanduser(paths))] if is_one else find_files(paths, _TABLE_FILES)
    reader = format_among(_TABLE_FILES, found[0])
    for path in found:
        if not (reader is ZarrTable and path.is_dir()):
            check_file(path)
    return [reader(path) for path in found]


def _find_labels(what: str, asked: Any, files: Sequence[TableFile]) -> Labels:
    """Find what a user calls target or weight; without a name, ``y`` beside a matrix."""
    first = files[0]
    if asked is None:
        usual = what == "target" and first.y_is_target and "y" in first.beside
        return "y" if usual else None
    if isinstance(asked, str) and first.has(asked):
        return asked
    return GivenLabels.of(what, asked, files)


def _choose_columns(
    first: TableFile, columns: Any, reserved: Sequence[str], exclude: Sequence[str]
) -> NDArray[np.intp]:
    """Positions of the columns that may be used; `reserved` are the names of target and weight."""
    names = first.names or ()
    for name in exclude:
        if name not in names:
            raise unknown_column(first.path.name, name, names)
    if columns is None:
        stored = [name for name in reserved if name in names and name not in first.beside]
        found = np.delete(np.arange(first.n_columns), [*map(names.index, [*stored, *exclude])])
    else:
        found = named_columns(first, columns, reserved, exclude)
    if len(found) == 0:
        raise InputError(f"{first.path.name}: expected at least one column to use, got none.")
    return found


def _judge(files: Sequence[TableFile], positions: Positions, named: Any) -> Judged:
    """What the columns are; they are looked at unless their types say that all are numbers."""
    known = files[0].names
    names = [known[j] if known else f"x{j}" for j in positions[0]]
    for file, own in zip(files, positions, strict=True):
        if (file.kinds[own] >= INTEGER).any() or not set(file.others).isdisjoint(own.tolist()):
            return judge_columns(files, positions, names, named)
    return Judged(tuple(ColumnRole(name, "numeric", True, "numbers") for name in names), {}, [], [])


class Scan(PartitionedTable):
    """A table in files, read block by block; made by :func:`tamis.scan`.

    It holds no open file and can be pickled, so that each worker of a cluster reads its own parts.

    Attributes
    ----------
    paths : tuple of Path
        The files, in the order of the rows.
    names, shape, dtype, checkpoint, cluster
        As for every :class:`~tamis.passes.PartitionedTable`; text files do not tell their rows.
    target, weight : str or None
        Names of the target and the weight where they are stored with the rows.
    memory_limit : int
        Bytes to stay below; a block takes a small part of it.
    roles : tuple of ColumnRole
        What the columns are that were looked at, and whether they are used.
    notes, text_notes : list of str
        Sentences for the user: what was left out and what was encoded; those among them on text
        that holds mostly numbers.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from tamis.data import scan
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "table.npy")
    >>> np.save(path, np.arange(12.0).reshape(4, 3))
    >>> table = scan(path, target=[0, 0, 1, 1], columns=[2, 0])
    >>> table, [block.X.shape for block in table.blocks(0)]
    (Scan(1 file, 4 rows x 2 columns, with a target), [(4, 2)])
    >>> table.select([1]).to_numpy()[0].ravel()
    array([0., 3., 6., 9.])
    >>> folder.cleanup()
    """

    leaves_out_missing: ClassVar[bool] = True

    def __init__(
        self,
        files: Sequence[TableFile],
        positions: Positions,
        labels: dict[str, Labels],
        memory_limit: int,
        checkpoint: PathLike | None,
        judged: Judged,
    ):
        self.roles, self._codes, self.notes, self.text_notes = judged
        used = np.array([role.used for role in self.roles])
        if not used.any():
            why = "; ".join(f"{role.name!r}: {role.reason}" for role in self.roles[:3])
            raise InputError(
                f"{files[0].path.name}: expected at least one column to use, got none ({why}); "
                "name the columns to use with columns=."
            )
        self._files, self._labels = tuple(files), labels
        self.memory_limit = memory_limit
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.paths = tuple(file.path for file in files)
        self.has_target, self.has_weight = (label is not None for label in labels.values())
        stored = (label if isinstance(label, str) else None for label in labels.values())
        self.target, self.weight = stored
        rows = [file.n_rows for file in files]
        self.n_rows = None if None in rows else sum(n or 0 for n in rows)
        # Where each file starts, in parts and in rows of the whole table.
        self._first_part = np.cumsum([0, *(file.n_parts for file in files)])
        self._first_row = np.cumsum([0, *(n or 0 for n in rows)])
        self._target_type: np.dtype[Any] | None = None
        self._use(positions, np.flatnonzero(used))
        quick = [file for file in files if not file.labels_need_reading]
        if len(quick) == len(files):
            self._find_target_type()
        for file in quick:
            if self.weight is not None and file.label_type(self.weight) == TEXT:
                raise file.odd_label(self.weight, f"{TEXT} where weights are needed")

    def _use(self, positions: Positions, chosen: NDArray[np.intp]) -> None:
        # Files that have the columns in the same places share one array, however many they are.
        made = {id(own): own[chosen] for own in positions}
        self._positions = [made[id(own)] for own in positions]
        names, columns = self._files[0].names, self._positions[0]
        self.names = None if names is None else tuple(names[j] for j in columns)
        self.n_columns = len(columns)
        pairs = zip(self._files, self._positions, strict=True)
        narrow = all((file.kinds[own] == NARROW).all() for file, own in pairs)
        self.dtype = np.dtype(np.float32 if narrow else np.float64)

    @property
    def n_parts(self) -> int:
        """Number of parts of all files."""
        return int(self._first_part[-1])

    def __repr__(self) -> str:
        rows = "? rows" if self.n_rows is None else counted(self.n_rows, "row")
        told = [counted(len(self._files), "file"), f"{rows} x {counted(self.n_columns, 'column')}"]
        for what, label in self._labels.items():
            if label is not None:
                told.append(f"{what}={label!r}" if isinstance(label, str) else f"with a {what}")
        return f"Scan({', '.join(told)})"

    def __getstate__(self) -> dict[str, Any]:
        # Found out once here rather than once by every worker.
        self._find_target_type()
        return {**self.__dict__, "cluster": None}

    def select(self, columns: Sequence[Any] | NDArray[Any]) -> Scan:
        """The same rows with some columns: names, numbers or one flag per column."""
        chosen = object.__new__(Scan)
        chosen.__dict__.update(self.__dict__)
        chosen._use(self._positions, selected("Scan.select", self.names, self.n_columns, columns))
        return chosen

    def blocks(self, part: int, columns: Wanted = None) -> Iterator[RawBlock]:
        """Blocks of a part, in order, of all columns or those with these numbers.

        A block has at most ``memory_limit / 16`` bytes of cells; of Parquet, it is a row group if
        that takes no more than 2/5 of the limit.
        """
        index, inner = self._find(part)
        file, own = self._files[index], self._positions[index]
        own = own if columns is None else own[np.asarray(columns, np.intp)]
        typed = ((self.target, self._find_target_type()), (self.weight, np.dtype(np.float64)))
        stored = tuple((name, dtype) for name, dtype in typed if name is not None)
        rows, room = block_rows(self.memory_limit, len(own)), part_room(self.memory_limit)
        request = Request(own, stored, rows, self.dtype, room, self._codes)
        row = int(self._first_row[index])
        if file.part_rows is not None:
            row += file.row_range(inner)[0]
        self.check_unchanged(part)
        for piece in self._pieces(file, inner, request):
            target, weight = self._attach(piece, row)
            row += piece.n_rows
            held = [RawBlock(piece.X, target, weight, piece.n_rows)]
            # A block that is done with must not take memory while the next one is read.
            del piece, target, weight
            yield held.pop()
        self.check_unchanged(part)
        for what, label in self._labels.items():
            if isinstance(label, GivenLabels) and file.part_rows is None:
                label.check_count(what, row)

    def _attach(self, piece: Piece, row: int) -> Iterator[NDArray[Any] | None]:
        """Target and weight of a piece that starts at `row` of the whole table."""
        stored = iter(piece.labels)
        for what, label in self._labels.items():
            if isinstance(label, GivenLabels):
                yield label.rows(what, row, row + piece.n_rows)
            else:
                yield None if label is None else next(stored)

    def _pieces(self, file: TableFile, part: int, request: Request) -> Iterator[Piece]:
        """Pieces of a part; what goes wrong gets the name of the file and the part."""
        try:
            yield from file.read(part, request)
        except (MemoryError, InputError):
            file.check_unchanged()
            raise
        except file.damage as error:
            file.check_unchanged()
            raise file.damaged(file.where(part), error) from error

    def _find(self, part: int) -> tuple[int, int]:
        """File of a part, and which of its parts it is."""
        if not 0 <= part < self.n_parts:
            raise IndexError(f"part {part} of a scan with {self.n_parts}")
        index = int(np.searchsorted(self._first_part, part, side="right")) - 1
        return index, part - int(self._first_part[index])

    def _find_target_type(self) -> np.dtype[Any]:
        """Settle the type of the target for all files; in text files this reads the column."""
        if self._target_type is None and self.target is not None:
            if len(self._files) == 1:
                found = self._files[0].label_type(self.target)
            else:
                found = common_type(self.target, self._files)
            self._target_type = TEXT if found is None else found
        return TEXT if self._target_type is None else self._target_type

    def where(self, part: int) -> str:
        """Name of a part for messages, e.g. ``"part-3.parquet, row group 2"``."""
        index, inner = self._find(part)
        return self._files[index].where(inner)

    def check_unchanged(self, part: int) -> None:
        """Raise if the file of a part was written to or removed since the scan was made."""
        self._files[self._find(part)[0]].check_unchanged()
        for label in self._labels.values():
            if isinstance(label, GivenLabels):
                label.check_unchanged()

    def fingerprint(self) -> dict[str, Any]:
        """Files, columns, target and weight, as plain JSON."""
        files = [os.path.abspath(file.path) for file in self._files]
        columns = self._positions[0].tolist() if self.names is None else list(self.names)
        found: dict[str, Any] = {"files": files, "columns": columns}
        for what, label in self._labels.items():
            found[what] = label.fingerprint() if isinstance(label, GivenLabels) else label
        return found

    def stamps(self, n_parts: int) -> list[list[int]]:
        """Sizes and times of the files that the first parts are in."""
        firsts = zip(self._files, self._first_part, strict=False)
        return [list(map(int, file.stamp)) for file, first in firsts if first < n_parts]

    def known_ranges(self) -> Ranges | None:
        """Ranges of all columns where the files state them; None with weights."""
        if self.has_weight or any(name in self._codes for name in self.names or ()):
            return None
        total = Ranges(self.n_columns)
        for file, own in zip(self._files, self._positions, strict=True):
            found = file.ranges(own)
            if found is None:
                return None
            total.merge(found)
        return total
