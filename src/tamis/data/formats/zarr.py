"""Zarr stores: an array, or a group with X and, if it has them, y and feature_names."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.wording import listed
from tamis.data.formats.base import Request, Stamp
from tamis.data.formats.matrix import MatrixFile, OpenMatrix, pick, span_of
from tamis.data.formats.paths import import_package
from tamis.exceptions import InputError

# Rows of a chunk are kept if they take no more than so many blocks.
MOST_HELD = 4


class ZarrTable(MatrixFile):
    """One Zarr store, which is a folder."""

    format = "Zarr"
    counted_in = "files"
    damage = (OSError, EOFError, ValueError, KeyError, RuntimeError)

    def _find(self) -> None:
        zarr = import_package("zarr", f"reading {self.path.name}")
        check_codecs(self.path)
        opened = zarr.open(str(self.path), mode="r")
        is_array = hasattr(opened, "shape")
        X = opened if is_array else opened.get("X")
        if not hasattr(X, "shape"):
            names = listed(sorted(opened)) or "nothing"
            raise InputError(
                f"{self.path.name}: expected an array, or a group with an array X, got {names}; "
                "save the matrix as X."
            )
        self._set_matrix(X.shape, X.dtype, (getattr(X, "shards", None) or X.chunks)[0])
        if is_array:
            return
        arrays = dict(sorted(opened.arrays()))
        if "feature_names" in arrays:
            self._set_names(np.asarray(arrays["feature_names"][:]))
        self._set_beside(arrays)

    def stamp_now(self) -> Stamp:
        """Number of files, and the last time that one was added, replaced or described anew.

        A folder takes the time of the files that are moved into it, which is how chunks are
        written; so the times of the chunks, which may be millions, need not be asked for.
        """
        n_files, latest = 0, os.stat(self.path).st_mtime_ns
        for folder, _, files in os.walk(self.path):
            n_files += len(files)
            described = (name for name in files if name.endswith(("zarr.json", ".zarray")))
            paths = [folder, *(os.path.join(folder, name) for name in described)]
            latest = max(latest, *(os.stat(path).st_mtime_ns for path in paths))
        return Stamp(n_files, latest)

    @contextmanager
    def _open(self, request: Request) -> Iterator[OpenMatrix]:
        import zarr

        block = 8 * request.rows * max(len(request.columns), 1)
        store = zarr.open(str(self.path), mode="r")
        matrix = store if hasattr(store, "shape") else store["X"]
        yield _OpenStore(matrix, store, MOST_HELD * block)


def check_codecs(path: Path) -> None:
    """Refuse a store whose arrays are pickled, since unpickling can run code.

    Links are refused, too: what they lead to is not looked at here, but would be opened by zarr.
    """
    for folder, folders, files in os.walk(path):
        for name in (*folders, *files):
            if (place := Path(folder, name)).is_symlink():
                raise InputError(
                    f"{path.name}: expected folders and files, got the link "
                    f"{place.relative_to(path)}, which is not followed because it can lead "
                    "anywhere; put a copy in its place."
                )
        for name in set(files) & {".zarray", ".zmetadata", "zarr.json"}:
            try:
                described = json.loads(Path(folder, name).read_bytes())
            except (OSError, ValueError, RecursionError):
                continue  # zarr says what is wrong with it
            if _is_pickled(described):
                raise InputError(
                    f"{path.name}: expected arrays of numbers or text, got Python objects in "
                    f"{Path(folder, name).relative_to(path)}, which are not loaded because they "
                    "can run code; save them as numbers or text."
                )


def _is_pickled(described: Any) -> bool:
    """Whether a codec anywhere in a description is that of pickles."""
    if isinstance(described, dict):
        codec = described.get("id", described.get("name"))
        if isinstance(codec, str) and codec.split(".")[-1].lower() == "pickle":
            return True
        return any(map(_is_pickled, described.values()))
    return isinstance(described, list) and any(map(_is_pickled, described))


class _OpenStore(OpenMatrix):
    """Arrays of an open store, and the rows of the last chunk if they take no more than `room`."""

    def __init__(self, matrix: Any, store: Any, room: int):
        super().__init__(matrix, store)
        self.room = room
        self.held: tuple[tuple[int, int, int, int], NDArray[Any]] | None = None

    def rows(self, start: int, stop: int, columns: NDArray[np.intp]) -> NDArray[Any]:
        """Some columns of some rows.

        Zarr unpacks a chunk for every row that is asked of it, so the rows of a chunk are kept
        where there is room.
        """
        first, last = span_of(columns)
        top = start - start % self.matrix.chunks[0]
        bottom = min(top + self.matrix.chunks[0], self.matrix.shape[0])
        size = (bottom - top) * (last - first) * self.matrix.dtype.itemsize
        if stop > bottom or size > self.room:
            return super().rows(start, stop, columns)
        place = (top, bottom, first, last)
        if self.held is None or self.held[0] != place:
            self.held = place, np.asarray(self.matrix[top:bottom, first:last])
        # Not a view: a block may be kept longer than the chunk.
        return pick(self.held[1][start - top : stop - top], columns, first).copy()
