"""Read NPZ files: a dense or sparse matrix, its target and its names."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tamis._runtime.wording import counted, listed
from tamis.data.formats._arrow import first_line
from tamis.data.table import RawTable
from tamis.exceptions import InputError

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


def _sparse(who: str, parts: list[np.ndarray], layout: np.ndarray | bytes) -> sparse.csr_matrix:
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
    unique = _numbered(names, taken)
    renamed = [new for old, new in zip(names, unique, strict=True) if old != new]
    if not renamed:
        return names, []
    return unique, [
        f"{counted(len(renamed), 'feature name')} of {who} used twice, or the same as the target, "
        f"got a number: {listed(renamed)}"
    ]


def _numbered(names: list[str], taken: Collection[str]) -> list[str]:
    """Add ``_2``, ``_3``, ... to a name seen before, stepping over names that exist."""
    existing, seen = set(names) | set(taken), set(taken)
    counts: dict[str, int] = {}
    result = []
    for name in names:
        new = name
        while new in seen or (new != name and new in existing):
            counts[name] = counts.get(name, 1) + 1
            new = f"{name}_{counts[name]}"
        seen.add(new)
        result.append(new)
    return result
