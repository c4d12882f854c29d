"""Find ``<name>.npz`` and read its arrays, whatever state the file is in."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from tamis.exceptions import InputError

__all__ = ["computing_type", "file_path", "read_arrays"]

# What numpy, zipfile and zlib raise on a file that is truncated, altered or something else.
UNREADABLE = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError, SyntaxError),
    *(zipfile.BadZipFile, zlib.error, struct.error),
)


def file_path(name: str, data_home: str | os.PathLike[str] | None) -> Path | None:
    """Tell where the file of a data set should be; None when no folder is known.

    Parameters
    ----------
    name : str
        Name of the data set.
    data_home : path-like or None
        Folder to look in; None takes the one of the environment variable ``TAMIS_DATA``.

    Returns
    -------
    pathlib.Path or None
        The path, whether or not the file exists.
    """
    folder = os.environ.get("TAMIS_DATA") if data_home is None else data_home
    return Path(folder).expanduser() / f"{name}.npz" if folder else None


def read_arrays(path: Path) -> dict[str, Any]:
    """Read every array of the file, the four of a CSR matrix joined as ``X``.

    Parameters
    ----------
    path : pathlib.Path
        An existing ``.npz`` file.

    Returns
    -------
    dict of str to array
        ``X`` (dense or CSR), ``y`` and whatever else the file holds.

    Raises
    ------
    InputError
        If the file cannot be read, naming it and the remedy.
    """
    try:
        # Opened here and not by numpy, which leaves the handle open when the archive is damaged.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return _join_sparse(arrays)
    except UNREADABLE as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(
            f"tamis.datasets.load: {path} must be a readable .npz data file, got {reason}. "
            "The file is truncated or damaged: copy it again, or remove it."
        ) from error


def computing_type(stored: np.dtype | str) -> np.dtype:
    """Choose the float type that holds the stored values exactly.

    Parameters
    ----------
    stored : dtype
        Type in the file.

    Returns
    -------
    numpy.dtype
        The type itself for floats, float32 for integers of at most 16 bits, float64 for others.
    """
    stored = np.dtype(stored)
    if stored.kind == "f":
        return stored
    # float32 counts exactly up to 2**24, so it holds 16 bits but not 32.
    return np.dtype(np.float32 if stored.itemsize <= 2 else np.float64)


def _join_sparse(arrays: dict[str, Any]) -> dict[str, Any]:
    if "X" not in arrays:
        parts = [arrays.pop(part) for part in ("data", "indices", "indptr")]
        X = sparse.csr_array(tuple(parts), shape=tuple(arrays.pop("shape").tolist()))
        # Indices out of range would only crash later, in compiled code.
        X.check_format(full_check=True)
        arrays["X"] = X
    for name in ("X", "y"):
        if arrays[name].dtype.kind not in "biuf":
            raise TypeError(f"{name} holds {arrays[name].dtype}, not numbers")
    return arrays
