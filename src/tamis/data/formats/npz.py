"""NPY and NPZ: arrays of numpy, read where they lie in the file, or whole.

Blocks are read rather than mapped: what is mapped counts as memory of the process, and a file that
is cut short while it is mapped ends the process. Nothing is ever unpickled.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.wording import counted, listed
from tamis.data.formats.base import LabelType, Request, first_line
from tamis.data.formats.matrix import MatrixFile, OpenMatrix, numbered, pick, span_of
from tamis.data.table import RawTable
from tamis.exceptions import InputError

DAMAGE = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
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

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def values(self, stream: IO[bytes], start: int, stop: int) -> NDArray[Any]:
        """Values of an array of one dimension."""
        return self._read(stream, start, stop - start)

    def rows(
        self, stream: IO[bytes], start: int, stop: int, columns: NDArray[np.intp]
    ) -> NDArray[Any]:
        """Some columns of some rows."""
        n_rows, n_columns = self.shape
        if self.fortran:
            found = np.empty((stop - start, len(columns)), dtype=self.dtype, order="F")
            for i, j in enumerate(columns):
                found[:, i] = self._read(stream, int(j) * n_rows + start, stop - start)
            return found
        first, last = span_of(columns)
        if (n_columns - (last - first)) * self.dtype.itemsize < WORTH_A_SEEK:
            slab = self._read(stream, start * n_columns, (stop - start) * n_columns)
            return pick(slab.reshape(stop - start, n_columns), columns, 0)
        slab = np.empty((stop - start, last - first), dtype=self.dtype)
        for i in range(stop - start):
            slab[i] = self._read(stream, (start + i) * n_columns + first, last - first)
        return pick(slab, columns, first)

    def _read(self, stream: IO[bytes], index: int, count: int) -> NDArray[Any]:
        stream.seek(self.offset + index * self.dtype.itemsize)
        return read_exactly(stream, self.dtype, count)


def read_exactly(stream: IO[bytes], dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    """Read so many values, or raise."""
    values = np.empty(count, dtype=dtype)
    view: Any = memoryview(values.view(np.uint8).data) if count else b""
    done = 0
    while done < len(view):
        got = stream.readinto(view[done:])  # type: ignore[attr-defined]
        if not got:
            raise EOFError(f"the file ends {len(view) - done:,} bytes too early")
        done += got
    return values


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type from the header of an NPY file; objects are refused."""
    version = np.lib.format.read_magic(stream)
    if version not in {(1, 0), (2, 0)}:
        raise ValueError(f"version {version} of the NPY format")
    read = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, fortran, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError("Python objects, which are not loaded because they can run code")
    return shape, fortran, dtype


def find_array(path: Path) -> StoredArray:
    """Find the array of an NPY file."""
    with open(path, "rb") as stream:
        shape, fortran, dtype = read_header(stream)
        stored = StoredArray(dtype, shape, fortran, stream.tell())
        if (missing := stored.offset + stored.nbytes - stream.seek(0, 2)) > 0:
            raise EOFError(f"the file ends {missing:,} bytes too early")
    return stored


class NpyTable(MatrixFile):
    """One NPY file."""

    format = "NPY"
    damage = DAMAGE

    def __init__(self, path: Path):
        super().__init__(path)
        try:
            self.matrix = find_array(path)
        except DAMAGE as error:
            raise self.damaged(path.name, error) from error
        self._set_matrix(self.matrix.shape, self.matrix.dtype)

    @contextmanager
    def _open(self, request: Request) -> Iterator[OpenMatrix]:
        with open(self.path, "rb", buffering=0) as stream:
            yield _OpenArrays(stream, self.matrix, {})


class NpzTable(MatrixFile):
    """One NPZ file with ``X`` and, if it has them, ``y`` and ``feature_names``.

    Arrays that are not compressed are read where they lie. A compressed matrix is one part, since
    it can be unpacked from its beginning only.
    """

    format = "NPZ"
    damage = DAMAGE

    def __init__(self, path: Path):
        super().__init__(path)
        try:
            with zipfile.ZipFile(path) as archive, open(path, "rb") as stream:
                arrays = {
                    info.filename.removesuffix(".npy"): _find_member(archive, info, stream)
                    for info in archive.infolist()
                    if info.filename.endswith(".npy")
                }
        except DAMAGE as error:
            raise self._explained(error) from error
        if "X" not in arrays:
            raise InputError(
                f"{path.name}: expected an array X, got {listed(sorted(arrays)) or 'no array'}; "
                "save it with numpy.savez(path, X=..., y=...)."
            )
        self.matrix = arrays["X"]
        self._set_matrix(self.matrix.shape, self.matrix.dtype, whole=self.matrix.member is not None)
        if "feature_names" in arrays:
            self._set_names(self._load("feature_names"))
        n_rows = self.matrix.shape[0]
        self.arrays = {
            name: array
            for name, array in arrays.items()
            if array.shape in {(n_rows,), (n_rows, 1)} and name not in {"X", "feature_names"}
        }
        self.beside = tuple(self.arrays)

    def _explained(self, error: Exception) -> InputError:
        with open(self.path, "rb") as stream:
            bare = stream.read(6) == b"\x93NUMPY"
        if not bare:
            return self.damaged(self.path.name, error)
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

    def label_type(self, name: str) -> LabelType:
        """The type of ``y``, or of a column."""
        dtype = self.arrays[name].dtype if name in self.arrays else self.matrix.dtype
        return label_dtype(self, name, dtype)

    @contextmanager
    def _open(self, request: Request) -> Iterator[OpenMatrix]:
        beside = {
            name: self._load(name).reshape(-1) if array.member is not None else array
            for name, array in self.arrays.items()
            if name in {label for label, _ in request.labels}
        }
        with ExitStack() as stack:
            stream = stack.enter_context(open(self.path, "rb", buffering=0))
            if self.matrix.member is None or not len(request.columns):
                yield _OpenArrays(stream, self.matrix, beside)
            elif self.matrix.fortran:
                # Rows are spread over all of it, so there is no way but to unpack it whole.
                yield _OpenArrays(stream, self._load("X"), beside)
            else:
                archive = stack.enter_context(zipfile.ZipFile(self.path))
                member = stack.enter_context(archive.open(self.matrix.member))
                yield _OpenMember(stream, self.matrix, beside, member)


def label_dtype(file: MatrixFile, name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of labels in memory, from the type that they are stored in."""
    if dtype.kind in "USTO":
        return np.dtype(object)
    if dtype.kind not in "biuf":
        raise file.odd_label(name, dtype)
    return dtype.newbyteorder("=")


def _find_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, stream: IO[bytes]) -> StoredArray:
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
        with archive.open(info) as member:
            shape, fortran, dtype = read_header(member)
        return StoredArray(dtype, shape, fortran, 0, info.filename)
    # The header before the bytes repeats the name and has fields of its own.
    stream.seek(info.header_offset + 26)
    name_length, extra_length = struct.unpack("<HH", stream.read(4))
    stream.seek(info.header_offset + 30 + name_length + extra_length)
    shape, fortran, dtype = read_header(stream)
    return StoredArray(dtype, shape, fortran, stream.tell())


class _OpenArrays:
    """Arrays that lie in an open file, or that were small enough to load."""

    def __init__(
        self,
        stream: IO[bytes],
        matrix: StoredArray | NDArray[Any],
        beside: dict[str, StoredArray | NDArray[Any]],
    ):
        self.stream, self.matrix, self.beside = stream, matrix, beside

    def width(self, columns: NDArray[np.intp]) -> int:
        """All columns where rows are stored one after the other, unless seeking pays."""
        matrix = self.matrix
        if isinstance(matrix, np.ndarray) or matrix.fortran:
            return len(columns)
        first, last = span_of(columns)
        spared = (matrix.shape[1] - (last - first)) * matrix.dtype.itemsize
        return matrix.shape[1] if spared < WORTH_A_SEEK else last - first

    def rows(self, start: int, stop: int, columns: NDArray[np.intp]) -> NDArray[Any]:
        """Some columns of some rows."""
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[start:stop, columns]
        return self.matrix.rows(self.stream, start, stop, columns)

    def labels(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Some values of an array beside the matrix."""
        array = self.beside[name]
        if isinstance(array, np.ndarray):
            return array[start:stop]
        return array.values(self.stream, start, stop)


class _OpenMember(_OpenArrays):
    """A matrix that is unpacked from its first row to its last."""

    matrix: StoredArray

    def __init__(
        self,
        stream: IO[bytes],
        matrix: StoredArray,
        beside: dict[str, StoredArray | NDArray[Any]],
        member: IO[bytes],
    ):
        super().__init__(stream, matrix, beside)
        self.member = member
        read_header(member)

    def width(self, columns: NDArray[np.intp]) -> int:
        """All columns."""
        return self.matrix.shape[1]

    def rows(self, start: int, stop: int, columns: NDArray[np.intp]) -> NDArray[Any]:
        """Some columns of the next rows."""
        n_rows, n_columns = self.matrix.shape
        values = read_exactly(self.member, self.matrix.dtype, (stop - start) * n_columns)
        if stop == n_rows:
            self.member.read(1)  # the checksum is looked at when nothing is left
        return pick(values.reshape(-1, n_columns), columns, 0)


_DAMAGE = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)
_CSR = ("data", "indices", "indptr", "shape")


def read_npz(path: Path) -> RawTable:
    """Read an NPZ file without ever unpickling."""
    arrays = _load(path)
    who = path.name
    matrix = _matrix(who, arrays)
    target = _target(who, arrays.pop("y", None), matrix.shape[0])
    names, notes = _names(
        who, arrays.pop("feature_names", None), matrix.shape[1], {"y"} if target is not None else ()
    )
    table = RawTable.from_matrix(matrix, target, names, path)
    return replace(table, extras=arrays, notes=tuple(notes))


def _load(path: Path) -> dict[str, np.ndarray]:
    try:
        # Opened here, because numpy leaves its own file open when the archive is damaged.
        with open(path, "rb") as stream:
            loaded = np.load(stream, allow_pickle=False)
            if not isinstance(loaded, np.ndarray):
                return {name: loaded[name] for name in loaded.files}
    except _DAMAGE as error:
        raise _damaged(path, error) from error
    raise InputError(
        f"{path.name}: expected an archive with X and y, got one bare array; "
        "save it with numpy.savez(path, X=..., y=...)."
    )


def _damaged(path: Path, error: Exception) -> InputError:
    if "Object arrays" in str(error):
        return InputError(
            f"{path.name}: expected arrays of numbers or text, got Python objects, which are not "
            "loaded because they can run code; save them as numbers or str."
        )
    return InputError(
        f"{path.name}: expected an NPZ file, got a damaged or other file ({first_line(error)}); "
        "write or download it again."
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


def _names(
    who: str, stored: np.ndarray | None, n_columns: int, taken: Collection[str]
) -> tuple[list[str], list[str]]:
    """Return names that are all different, and a note if that took renaming."""
    if stored is None:
        return [f"x{j}" for j in range(n_columns)], []
    if stored.shape != (n_columns,):
        raise InputError(
            f"{who}: expected {n_columns:,} feature_names, one per column, got shape "
            f"{stored.shape}; save one name per column."
        )
    names = [n.decode() if isinstance(n, bytes) else str(n) for n in stored.tolist()]
    unique = numbered(names, taken)
    renamed = [new for old, new in zip(names, unique, strict=True) if old != new]
    if not renamed:
        return names, []
    return unique, [
        f"{counted(len(renamed), 'feature name')} of {who} used twice, or the same as the target, "
        f"got a number: {listed(renamed)}"
    ]
