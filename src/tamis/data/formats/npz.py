"""NPY and NPZ: arrays of numpy, read where they lie in the file, or whole.

Blocks are read rather than mapped: what is mapped counts as memory of the process, and a file that
is cut short while it is mapped ends the process. Nothing is ever unpickled.
"""

from __future__ import annotations

import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.memory import free_memory
from tamis._runtime.wording import counted, listed
from tamis.data.formats.base import Request
from tamis.data.formats.matrix import MatrixFile, OpenMatrix, column_names, numbered, pick, span_of
from tamis.data.formats.paths import first_line
from tamis.data.table import RawTable
from tamis.exceptions import InputError

DAMAGE = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    TypeError,
    OverflowError,
    MemoryError,
    RecursionError,
    SyntaxError,
    tokenize.TokenError,
    NotImplementedError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
# Rows are read one by one where that spares at least this many bytes of each.
WORTH_A_SEEK = 64 * 2**10


@dataclass(frozen=True)
class StoredArray:
    """Where an array lies in a file: at `offset`, or compressed in a member of an archive."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    fortran: bool
    offset: int
    member: str | None = None

    def values(self, stream: IO[bytes], start: int, stop: int) -> NDArray[Any]:
        """Some of the values, counted in the order in which they are stored."""
        values: Any = np.empty(stop - start, dtype=self.dtype)
        stream.seek(self.offset + start * self.dtype.itemsize)
        got = stream.readinto(values.view(np.uint8)) if values.size else 0  # type: ignore[attr-defined]
        if got < values.nbytes:
            raise EOFError(f"the file ends {values.nbytes - got:,} bytes too early")
        return values

    def span(self, columns: NDArray[np.intp]) -> tuple[int, int]:
        """First and last column to read of every row: all of them, unless seeking pays."""
        first, last = span_of(columns)
        spared = (self.shape[1] - (last - first)) * self.dtype.itemsize
        return (0, self.shape[1]) if spared < WORTH_A_SEEK else (first, last)

    def rows(
        self, stream: IO[bytes], start: int, stop: int, columns: NDArray[np.intp]
    ) -> NDArray[Any]:
        """Some columns of some rows."""
        n_rows, n_columns = self.shape
        if self.fortran:
            found = np.empty((stop - start, len(columns)), dtype=self.dtype, order="F")
            for i, top in enumerate((columns * n_rows).tolist()):
                found[:, i] = self.values(stream, top + start, top + stop)
            return found
        first, last = self.span(columns)
        if last - first == n_columns:
            slab = self.values(stream, start * n_columns, stop * n_columns)
            return pick(slab.reshape(-1, n_columns), columns, 0)
        slab = np.empty((stop - start, last - first), dtype=self.dtype)
        for i, left in enumerate(range(start * n_columns, stop * n_columns, n_columns)):
            slab[i] = self.values(stream, left + first, left + last)
        return pick(slab, columns, first)


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type from the header of an NPY file; objects are refused."""
    version = np.lib.format.read_magic(stream)
    if version not in {(1, 0), (2, 0)}:
        raise ValueError(f"version {version} of the NPY format")
    read = getattr(np.lib.format, f"read_array_header_{version[0]}_0")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy warns of headers of Python 2, and reads them
        shape, fortran, dtype = read(stream)
    if min(shape, default=0) < 0:
        raise ValueError(f"a shape of {shape}")
    if dtype.hasobject:
        raise ValueError("Python objects, which are not loaded because they can run code")
    return shape, fortran, dtype


def find_array(path: Path) -> StoredArray:
    """Find the array of an NPY file."""
    if not path.is_file() and path.exists():
        raise ValueError("not a regular file")  # a pipe might never end
    with open(path, "rb") as stream:
        shape, fortran, dtype = read_header(stream)
        offset = stream.tell()
        n_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        if (missing := offset + n_bytes - stream.seek(0, 2)) > 0:
            raise EOFError(f"the file ends {missing:,} bytes too early")
    return StoredArray(dtype, shape, fortran, offset)


class NpyTable(MatrixFile):
    """One NPY file."""

    format = "NPY"
    damage = DAMAGE

    def _find(self) -> None:
        self.matrix = find_array(self.path)
        self._set_matrix(self.matrix.shape, self.matrix.dtype)

    @contextmanager
    def _open(self, request: Request) -> Iterator[OpenMatrix]:
        with open(self.path, "rb") as stream:
            yield _OpenArrays(self.matrix, {}, stream, stream)


class NpzTable(MatrixFile):
    """One NPZ file with ``X`` and, if it has them, ``y`` and ``feature_names``.

    Arrays that are not compressed are read where they lie. A compressed matrix is one part, since
    it can be unpacked from its beginning only.
    """

    format = "NPZ"
    damage = DAMAGE

    def _find(self) -> None:
        with zipfile.ZipFile(self.path) as archive, open(self.path, "rb") as stream:
            self.arrays = {
                info.filename.removesuffix(".npy"): _find_member(archive, info, stream)
                for info in archive.infolist()
                if info.filename.endswith(".npy")
            }
        if "X" not in self.arrays:
            got = listed(sorted(self.arrays)) or "no array"
            raise InputError(
                f"{self.path.name}: expected an array X, got {got}; "
                "save it with numpy.savez(path, X=..., y=...)."
            )
        self.matrix = self.arrays["X"]
        shape = self.matrix.shape
        self._set_matrix(
            shape, self.matrix.dtype, (shape[:1] or (1,))[0] if self.matrix.member else 1
        )
        if "feature_names" in self.arrays:
            self._set_names(self._load("feature_names"))
        self._set_beside(self.arrays)

    def damaged(self, where: str, error: Exception) -> InputError:
        """Build the error for rows that cannot be read."""
        with open(self.path, "rb") as stream:
            is_bare = stream.read(6) == b"\x93NUMPY"
        if not is_bare:
            return super().damaged(where, error)
        return InputError(
            f"{self.path.name}: expected an archive with X and y, got one bare array; "
            "rename it to .npy, or save it with numpy.savez(path, X=..., y=...)."
        )

    def _load(self, name: str) -> NDArray[Any]:
        try:
            with open(self.path, "rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                return arrays[name]
        except DAMAGE as error:
            raise self.damaged(f"{self.path.name}, array {name}", error) from error

    @contextmanager
    def _open(self, request: Request) -> Iterator[OpenMatrix]:
        beside = {
            name: self.arrays[name] if self.arrays[name].member is None else self._load(name)
            for name, _ in request.labels
            if name in self.beside
        }
        member = self.matrix.member if len(request.columns) else None
        with ExitStack() as stack:
            stream: IO[bytes] = stack.enter_context(open(self.path, "rb"))
            if member is None:
                yield _OpenArrays(self.matrix, beside, stream, stream)
            elif self.matrix.fortran:
                # Rows are spread over all of it, so there is no way but to unpack it whole.
                yield _OpenArrays(self._load("X"), beside, stream, stream)
            else:
                archive = stack.enter_context(zipfile.ZipFile(self.path))
                cells = stack.enter_context(archive.open(member))
                yield _OpenArrays(self.matrix, beside, stream, cells)


def _find_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, stream: IO[bytes]) -> StoredArray:
    with archive.open(info) as member:
        shape, fortran, dtype = read_header(member)
        offset = member.tell()
    if info.compress_type != zipfile.ZIP_STORED:
        return StoredArray(dtype, shape, fortran, offset, info.filename)
    # The header before the bytes repeats the name and has fields of its own.
    stream.seek(info.header_offset + 26)
    name_length, extra_length = struct.unpack("<HH", stream.read(4))
    offset += info.header_offset + 30 + name_length + extra_length
    return StoredArray(dtype, shape, fortran, offset)


class _OpenArrays(OpenMatrix):
    """Arrays that lie in an open file (the matrix in `cells`), or that were loaded."""

    def __init__(self, matrix: Any, beside: Mapping[str, Any], stream: IO[bytes], cells: IO[bytes]):
        super().__init__(matrix, beside)
        self.stream, self.cells = stream, cells

    def width(self, columns: NDArray[np.intp]) -> int:
        if isinstance(self.matrix, np.ndarray) or self.matrix.fortran:
            return len(columns)
        first, last = self.matrix.span(columns)
        return last - first

    def rows(self, start: int, stop: int, columns: NDArray[np.intp]) -> NDArray[Any]:
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[start:stop, columns]
        found = self.matrix.rows(self.cells, start, stop, columns)
        if self.matrix.member is not None and stop == self.matrix.shape[0]:
            self.cells.read()  # the checksum is looked at when nothing is left
        return found

    def labels(self, name: str, start: int, stop: int) -> NDArray[Any]:
        array = self.beside[name]
        if isinstance(array, np.ndarray):
            return array.reshape(-1)[start:stop]
        return array.values(self.stream, start, stop)


_CSR = ("data", "indices", "indptr", "shape")


def read_npz(path: Path) -> RawTable:
    """Read an NPZ file without ever unpickling."""
    arrays, who = _load(path), path.name
    matrix = _matrix(who, arrays)
    target = _target(who, arrays.pop("y", None), matrix.shape[0])
    stored, names, notes = arrays.pop("feature_names", None), None, []
    if stored is not None:
        n = matrix.shape[1]
        given = column_names(f"{who}: expected {n:,} feature_names, one per column", stored, n)
        names = numbered(given, () if target is None else {"y"})
        if renamed := [new for old, new in zip(given, names, strict=True) if old != new]:
            notes = [
                f"{counted(len(renamed), 'feature name')} of {who} used twice, or the same as the "
                f"target, got a number: {listed(renamed)}"
            ]
    table = RawTable.from_matrix(matrix, target, names, path)
    return replace(table, extras=arrays, notes=tuple(notes))


def _check_unpacked(path: Path) -> None:
    """Raise before an archive is unpacked that takes more memory than there is."""
    with zipfile.ZipFile(path) as archive:
        n_bytes = sum(info.file_size for info in archive.infolist())
    if n_bytes > (free := free_memory()):
        raise InputError(
            f"{path.name}: expected arrays that fit into the free memory ({free:,} bytes), got "
            f"{n_bytes:,} bytes unpacked. Read it in blocks with tamis.scan."
        )


def _load(path: Path) -> dict[str, np.ndarray]:
    try:
        if zipfile.is_zipfile(path):
            _check_unpacked(path)
        # Opened here, because numpy leaves its own file open when the archive is damaged.
        with open(path, "rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            if not isinstance(loaded, np.ndarray):
                members = {name: loaded[name] for name in loaded.files}
                # numpy returns members that are no arrays as bytes.
                return {name: m for name, m in members.items() if isinstance(m, np.ndarray)}
    except InputError:
        raise
    except DAMAGE as error:
        if "Object arrays" in str(error):
            raise InputError(
                f"{path.name}: expected arrays of numbers or text, got Python objects, which are "
                "not loaded because they can run code; save them as numbers or str."
            ) from error
        raise InputError(
            f"{path.name}: expected an NPZ file, got a damaged or other file "
            f"({first_line(error)}); write or download it again."
        ) from error
    raise InputError(
        f"{path.name}: expected an archive with X and y, got one bare array; "
        "save it with numpy.savez(path, X=..., y=...)."
    )


def _matrix(who: str, arrays: dict[str, np.ndarray]) -> Any:
    """Take the matrix out of `arrays`."""
    if "X" in arrays:
        matrix = arrays.pop("X")
    elif all(name in arrays for name in _CSR):
        matrix = _sparse(who, [arrays.pop(name) for name in _CSR], arrays.pop("format", b"csr"))
    else:
        raise InputError(
            f"{who}: expected an array X, or {', '.join(_CSR)} for a sparse matrix, "
            f"got {listed(sorted(arrays)) or 'no array'}; rename the arrays."
        )
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
        raise InputError(
            f"{who}: expected X to be a matrix of real numbers, got {matrix.ndim} dimension(s) of "
            f"{matrix.dtype}; save a 2-D array of int or float."
        )
    return matrix


def _sparse(who: str, parts: list[np.ndarray], layout: Any) -> sparse.csr_matrix:
    data, indices, indptr, shape = parts
    layout = np.asarray(layout).item()
    layout = layout.decode() if isinstance(layout, bytes) else str(layout)
    kinds = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
    if layout not in kinds:
        raise InputError(f"{who}: expected a CSR or CSC matrix, got {layout!r}; save it as CSR.")
    try:
        matrix = kinds[layout]((data, indices, indptr), shape=tuple(int(n) for n in shape))
        # An index out of range would make compiled code read foreign memory.
        matrix.check_format(full_check=True)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"{who}: expected a consistent sparse matrix, got: {first_line(error)}; "
            "write the file again."
        ) from error
    return matrix.tocsr()


def _target(who: str, y: np.ndarray | None, n_rows: int) -> np.ndarray | None:
    if y is None:
        return None
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.shape != (n_rows,) or y.dtype.kind not in "biufUS":
        raise InputError(
            f"{who}: expected y to hold one number or label for each of {counted(n_rows, 'row')}, "
            f"got shape {y.shape} of {y.dtype}; save it as a 1-D array."
        )
    return np.char.decode(y, "utf-8") if y.dtype.kind == "S" else y
