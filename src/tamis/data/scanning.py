"""Scan: a table in files, read block by block."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._runtime.memory import as_bytes, block_rows, part_room
from tamis._runtime.wording import counted
from tamis._validation import check_value
from tamis.data.agreement import (
    Labels,
    attach,
    choose_columns,
    common_dtype,
    common_type,
    find_labels,
    find_positions,
    judge_positions,
    positions,
)
from tamis.data.formats.base import TEXT, Piece, Request, TableFile
from tamis.data.given_labels import GivenLabels
from tamis.data.judging import Judged, Positions
from tamis.data.partitioned import CLUSTER, PartitionedTable, RawBlock, Wanted
from tamis.data.reading import open_files
from tamis.exceptions import InputError
from tamis.statistics.block import Ranges

PathLike = str | os.PathLike[str]


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
    r"""Open a table that may be larger than memory; rows are read when a selector is fitted.

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
    include : sequence of str, default=()
        Use these too although they look like free text or identifiers.
    exclude : sequence of str, default=()
        Never use these.
    memory_limit : int, float, str or None, default=None
        Bytes to stay below, or a text such as ``"1 GiB"`` or ``"500 MB"``. None means a quarter
        of the memory that is free, and at least 64 MiB.
    checkpoint : str or Path, default=None
        File in which a selector keeps what it has computed, so that it can go on from there after
        an interruption. None means that it starts again.
    cluster : str, int, Client or None, default=None
        Who reads and computes: the workers of a scheduler of Dask, given by its address or a
        client of it; so many local processes; ``"threads"`` of Dask; or this process.

    Returns
    -------
    Scan
        What goes where ``X`` goes: ``DFT().fit(scan(...))``.

    Raises
    ------
    InputError
        When there is no such file, formats are mixed, files differ in their columns, or a name is
        unknown. :class:`~tamis.exceptions.ColumnTypeError` when a column holds numbers in one file
        and something else in another, or a named one cannot become numbers.
    MissingDependencyError
        When pyarrow, h5py or zarr is needed and not installed.

    Notes
    -----
    Columns are judged and become numbers as :func:`tamis.data.prepare` does it for one table in
    memory: categories are codes in sorted order over all files, dates are days, times and
    durations seconds; identifiers and free text are left out. ``roles`` and ``notes`` of the result
    tell. For this, columns of text and categories are read once when the scan is made, and the
    first rows of integers that may count the rows; other columns are not.

    In text files the first rows tell which columns are numbers; a cell further down that is none
    is an error.

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
    labels = (find_labels("target", target, files), find_labels("weight", weight, files))
    reserved = [name for name in labels if isinstance(name, str)]
    include, exclude = ([x] if isinstance(x, str) else list(x) for x in (include, exclude))
    chosen = choose_columns(files, columns, reserved, exclude)
    own = find_positions(files, chosen, reserved, every=columns is None)
    names = [files[0].names[j] if files[0].names else f"x{j}" for j in chosen]
    judged = judge_positions(files, own, names, include if columns is None else None)
    found = Scan(files, own, labels, limit, checkpoint, judged)
    if cluster is not None:
        check_value(cluster, CLUSTER, who="scan", name="cluster")
        found.cluster = cluster
    return found


class Scan(PartitionedTable):
    """A table in files, read block by block; made by :func:`tamis.scan`.

    It holds no open file and can be pickled, so that each worker of a cluster reads its own parts.

    Parameters
    ----------
    files, positions, labels, memory_limit, checkpoint, judged
        As :func:`tamis.scan` finds them.

    Attributes
    ----------
    paths : tuple of Path
        The files, in the order of the rows.
    names : tuple of str or None
        Names of the columns, without target and weight; None where the files have none.
    shape : tuple
        Number of rows and columns; the former is None where only reading tells (text files).
    dtype : dtype
        float32 if all columns are, else float64.
    target, weight : str or None
        Names of the target and the weight where they are stored with the rows.
    memory_limit : int
        Bytes to stay below; a block takes a small part of it.
    checkpoint : Path or None
        As given to :func:`tamis.scan`.
    roles : tuple of ColumnRole
        What the columns are that were looked at, and whether they are used.
    notes, text_notes : list of str
        Sentences for the user: what was left out and what was encoded; those among them on text
        that holds mostly numbers.
    cluster : object
        As given to :func:`tamis.scan`; workers read without it.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> from tamis.data import scan
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "table.npy")
    >>> np.save(path, np.arange(12.0).reshape(4, 3))
    >>> table = scan(path, target=[0, 0, 1, 1], columns=[2, 0])
    >>> table
    Scan(1 file, 4 rows x 2 columns, with a target)
    >>> [(block.X.tolist(), block.target.tolist()) for block in table.blocks(0)]
    [([[2.0, 0.0], [5.0, 3.0], [8.0, 6.0], [11.0, 9.0]], [0, 0, 1, 1])]
    >>> table.select([1]).to_numpy()[0].ravel()
    array([0., 3., 6., 9.])
    >>> folder.cleanup()
    """

    leaves_out_missing: ClassVar[bool] = True

    def __init__(
        self,
        files: Sequence[TableFile],
        positions: Positions,
        labels: tuple[Labels, Labels],
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
        self.has_target, self.has_weight = (label is not None for label in labels)
        rows = [file.n_rows for file in files]
        self.n_rows = None if None in rows else sum(n or 0 for n in rows)
        # Where each file starts, in parts and in rows of the whole table.
        self._first_part = np.cumsum([0, *(file.n_parts for file in files)])
        self._first_row = np.cumsum([0, *(n or 0 for n in rows)])
        self._target_type: np.dtype[Any] | None = None
        self._use(positions, np.flatnonzero(used))
        if not any(file.labels_need_reading for file in files):
            self._find_target_type()
        if self.weight is not None:
            self._check_weight(self.weight)

    def _use(self, positions: Positions, chosen: NDArray[np.intp]) -> None:
        # Files that have the columns in the same places share one array, however many they are.
        made = {id(own): own[chosen] for own in positions}
        self._positions = [made[id(own)] for own in positions]
        names, columns = self._files[0].names, self._positions[0]
        self.names = None if names is None else tuple(names[j] for j in columns)
        self.n_columns = len(columns)
        self.dtype = common_dtype(self._files, self._positions)

    @property
    def target(self) -> str | None:
        """Name of the target, if it is stored with the rows."""
        return self._labels[0] if isinstance(self._labels[0], str) else None

    @property
    def weight(self) -> str | None:
        """Name of the weight, if it is stored with the rows."""
        return self._labels[1] if isinstance(self._labels[1], str) else None

    @property
    def n_parts(self) -> int:
        """Number of parts of all files."""
        return int(self._first_part[-1])

    def __repr__(self) -> str:
        rows = "? rows" if self.n_rows is None else counted(self.n_rows, "row")
        told = [counted(len(self._files), "file"), f"{rows} x {counted(self.n_columns, 'column')}"]
        for what, label in zip(("target", "weight"), self._labels, strict=True):
            if label is not None:
                told.append(f"{what}={label!r}" if isinstance(label, str) else f"with a {what}")
        return f"Scan({', '.join(told)})"

    def __getstate__(self) -> dict[str, Any]:
        # Found out once here rather than once by every worker.
        self._find_target_type()
        return {**self.__dict__, "cluster": None}

    def select(self, columns: Sequence[Any] | NDArray[Any]) -> Scan:
        """Keep some columns, in the order given.

        Parameters
        ----------
        columns : list of str, of int, or mask of bool
            Names or numbers among the columns of this scan, or one flag per column.

        Returns
        -------
        Scan
            The same rows.
        """
        asked = np.asarray(columns)
        if asked.dtype.kind == "b":
            if asked.shape != (self.n_columns,):
                raise InputError(
                    f"Scan.select: expected one flag for each of {self.n_columns:,} columns, got "
                    f"shape {asked.shape}."
                )
            asked = np.flatnonzero(asked)
        names = self.names if asked.dtype.kind not in "iu" else None
        if asked.size == 0:
            raise InputError("Scan.select: expected at least one column, got none.")
        found = positions("Scan.select", names, self.n_columns, asked.tolist())
        chosen = object.__new__(Scan)
        chosen.__dict__.update(self.__dict__)
        chosen._use(self._positions, found)
        return chosen

    def blocks(self, part: int, columns: Wanted = None) -> Iterator[RawBlock]:
        """Blocks of a part, in order.

        Parameters
        ----------
        part : int
            From 0 to ``n_parts - 1``.
        columns : ndarray of int or None, default=None
            Columns to read, in this order; none if it is empty; None means all.

        Yields
        ------
        RawBlock
            At most ``memory_limit / 16`` bytes of cells; of Parquet a row group that takes no
            more than 2/5 of the limit.
        """
        index, inner = self._find(part)
        file, own = self._files[index], self._positions[index]
        own = own if columns is None else own[np.asarray(columns, np.intp)]
        stored = []
        for label, dtype in zip(self._labels, self._label_types(), strict=True):
            if isinstance(label, str):
                stored.append((label, dtype))
        rows, room = block_rows(self.memory_limit, len(own)), part_room(self.memory_limit)
        request = Request(own, tuple(stored), rows, self.dtype, room, self._codes)
        row = int(self._first_row[index])
        if file.part_rows is not None:
            row += file.row_range(inner)[0]
        self.check_unchanged(part)
        for piece in self._pieces(file, inner, request):
            target, weight = attach(piece, self._labels, row)
            row += piece.n_rows
            held = [RawBlock(piece.X, target, weight, piece.n_rows)]
            # A block that is done with must not take memory while the next one is read.
            del piece, target, weight
            yield held.pop()
        self.check_unchanged(part)
        if file.part_rows is None:
            self._check_given(row)

    def _check_given(self, n_rows: int) -> None:
        """Raise if values were given for more rows than there turned out to be."""
        for what, label in zip(("target", "weight"), self._labels, strict=True):
            if isinstance(label, GivenLabels) and len(label) != n_rows:
                raise label.wrong_length(what, n_rows)

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

    def _label_types(self) -> tuple[np.dtype[Any], np.dtype[Any]]:
        self._find_target_type()
        return self._target_type or np.dtype(object), np.dtype(np.float64)

    def _find_target_type(self) -> None:
        """Settle the type of the target for all files; in text files this reads the column."""
        if self._target_type is None and self.target is not None:
            self._target_type = common_type(self.target, self._files)

    def _check_weight(self, name: str) -> None:
        for file in self._files:
            if not file.labels_need_reading and file.label_type(name) == TEXT:
                raise file.odd_label(name, f"{TEXT} where weights are needed")

    def where(self, part: int) -> str:
        """Name of a part for messages, e.g. ``"part-3.parquet, row group 2"``."""
        index, inner = self._find(part)
        return self._files[index].where(inner)

    def check_unchanged(self, part: int) -> None:
        """Raise if the file of a part was written to or removed since the scan was made."""
        self._files[self._find(part)[0]].check_unchanged()
        for label in self._labels:
            if isinstance(label, GivenLabels):
                label.check_unchanged()

    def fingerprint(self) -> dict[str, Any]:
        """Files, columns, target and weight, as plain JSON."""
        return {
            "files": [os.path.abspath(file.path) for file in self._files],
            "columns": self._positions[0].tolist() if self.names is None else list(self.names),
            **{
                what: label.fingerprint() if isinstance(label, GivenLabels) else label
                for what, label in zip(("target", "weight"), self._labels, strict=True)
            },
        }

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
