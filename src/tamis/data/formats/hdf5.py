"""HDF5 and the HDF5 files of AnnData (h5ad)."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._runtime.wording import listed
from tamis.data.formats.base import LabelType, Request
from tamis.data.formats.matrix import MatrixFile, OpenMatrix, pick, text_of
from tamis.data.formats.paths import import_package
from tamis.exceptions import InputError

# Chunks are kept for the next block if they take no more than so many blocks.
MOST_HELD = 4
# Begin of a heap of texts: signature, version 1. Searched for in so many bytes of a file.
HEAP, MOST_SEARCHED = b"GCOL\x01\0\0\0", 2**28


class Hdf5Table(MatrixFile):
    """One HDF5 file: the dataset ``X`` or the only matrix in it, ``y`` and ``feature_names``."""

    format = "HDF5"
    # h5py raises a TypeError for a damaged type of a dataset.
    damage = (OSError, EOFError, ValueError, KeyError, RuntimeError, TypeError)

    def _find(self) -> None:
        h5py = import_package("h5py", f"reading {self.path.name}")
        with h5py.File(self.path, "r") as file:
            datasets = check_self_contained(self.path.name, file)
            check_text(self.path, file, list(datasets.values()))
            self._find_in(file, datasets)

    def _find_in(self, file: Any, datasets: dict[str, Any]) -> None:
        self.matrix = self._find_matrix(file, datasets)
        dataset = file[self.matrix]
        self._set_matrix(dataset.shape, dataset.dtype, (dataset.chunks or (1,))[0])
        chunk_rows, chunk_columns = dataset.chunks or (1, 1)
        # Bytes of the chunks that one row lies in.
        across = -(-dataset.shape[1] // chunk_columns)
        self.row_of_chunks = chunk_rows * chunk_columns * across * dataset.dtype.itemsize
        folder = dataset.parent
        if "feature_names" in folder:
            self._set_names(_values(folder["feature_names"], slice(None)))
        self.folder = folder.name
        self._set_beside(folder, dataset.name.split("/")[-1])

    def _find_matrix(self, file: Any, datasets: dict[str, Any]) -> str:
        if "X" in file and hasattr(file["X"], "shape"):
            return "X"
        found = [name for name, dataset in datasets.items() if dataset.ndim == 2]
        matrices = [name for name in found if name.split("/")[-1] != "y"]
        if len(matrices) == 1:
            return matrices[0]
        raise InputError(
            f"{self.path.name}: expected a dataset X, or one matrix, got "
            f"{listed(matrices) or 'no matrix'}; save it as X."
        )

    @contextmanager
    def _open(self, request: Request) -> Iterator[OpenMatrix]:
        import h5py

        # A chunk holds many rows. The ones in the way of a block are kept, if they fit.
        block = 8 * request.rows * max(len(request.columns), 1)
        cache = max(2**20, min(self.row_of_chunks, MOST_HELD * block))
        with h5py.File(self.path, "r", rdcc_nbytes=cache) as file:
            yield _OpenDatasets(file[self.matrix], file[self.folder])


class _OpenDatasets(OpenMatrix):
    """Datasets of an open file."""

    def labels(self, name: str, start: int, stop: int) -> NDArray[Any]:
        return _values(self.beside[name], slice(start, stop)).reshape(-1)


class H5adTable(Hdf5Table):
    """One file of AnnData: ``X`` dense or CSR, targets in ``obs``, names in ``var``."""

    format = "h5ad"
    y_is_target = False  # obs holds whatever was noted about the rows

    def _find_in(self, file: Any, datasets: dict[str, Any]) -> None:
        if "X" not in file:
            raise InputError(f"{self.path.name}: expected a matrix X, got none; write it again.")
        X = file["X"]
        self.is_sparse = not hasattr(X, "shape")
        if self.is_sparse:
            layout = X.attrs.get("encoding-type", "an unknown layout")
            if layout != "csr_matrix":
                raise InputError(
                    f"{self.path.name}: expected X to be dense or a CSR matrix, got {layout}; "
                    "write it again after adata.X = adata.X.tocsr()."
                )
            self._set_matrix(tuple(X.attrs["shape"]), X["data"].dtype)
        else:
            self._set_matrix(X.shape, X.dtype, (X.chunks or (1,))[0])
        if "var" in file and hasattr(file["var"], "keys"):
            var = file["var"]
            self._set_names(_values(var[var.attrs.get("_index", "_index")], slice(None)))
        if "obs" in file and hasattr(file["obs"], "keys"):
            self.beside = tuple(file["obs"])

    def label_type(self, name: str) -> LabelType:
        """The type of a column of ``obs``, or of ``X``."""
        import h5py

        if name in self.beside:
            with h5py.File(self.path, "r") as file:
                self.label_types[name] = _stored_values(self, name, file["obs"][name]).dtype
        return super().label_type(name)

    @contextmanager
    def _open(self, request: Request) -> Iterator[OpenMatrix]:
        import h5py

        with h5py.File(self.path, "r") as file:
            yield _OpenAnnData(file, self)


class _OpenAnnData(_OpenDatasets):
    """An open file of AnnData."""

    def __init__(self, file: Any, table: H5adTable):
        super().__init__(file["X"], file.get("obs"))
        self.table = table

    def width(self, columns: NDArray[np.intp]) -> int:
        return self.table.n_columns if self.table.is_sparse else super().width(columns)

    def rows(self, start: int, stop: int, columns: NDArray[np.intp]) -> NDArray[Any]:
        if not self.table.is_sparse:
            return super().rows(start, stop, columns)
        starts = self.matrix["indptr"][start : stop + 1].astype(np.int64)
        first, last = int(starts[0]), int(starts[-1])
        stored = (self.matrix["data"][first:last], self.matrix["indices"][first:last])
        shape = (stop - start, self.table.n_columns)
        rows = sparse.csr_matrix((*stored, starts - first), shape=shape)
        # An index out of range would make compiled code read foreign memory.
        rows.check_format(full_check=True)
        return pick(rows.toarray(), columns, 0)

    def labels(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Some values of a column of ``obs``; a category is replaced by what it stands for."""
        rows = slice(start, stop)
        item = self.beside[name]
        if hasattr(item, "shape"):
            return _values(item, rows)
        stored = _stored_values(self.table, name, item)
        if "codes" in item:
            codes, words = item["codes"][rows].astype(np.intp), _values(stored, slice(None))
            missing, values = codes < 0, words[codes] if len(words) else np.full(len(codes), None)
        else:
            missing, values = item["mask"][rows].astype(bool), _values(stored, rows)
        if not missing.any():
            return values
        empty: Any = np.nan if values.dtype.kind in "iuf" else None
        return np.where(missing, empty, values)


def check_self_contained(who: str, file: Any) -> dict[str, Any]:
    """Refuse a file that would make the reader open others; the datasets of any other by path.

    The sender may have chosen those others. Visitors of h5py are not used: what goes wrong in them
    becomes a SystemError.
    """
    import h5py

    datasets: dict[str, Any] = {}
    seen, groups = {h5py.h5g.get_objinfo(file.id).objno}, [("", file)]
    for path, group in groups:
        for name in group:
            below, link = f"{path}{name}", group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise _not_self_contained(who, f"a link {below!r} to another file")
            if not isinstance(link, h5py.HardLink):
                continue
            item = group[name]
            number = h5py.h5g.get_objinfo(item.id).objno
            if isinstance(item, h5py.Dataset):
                if item.external or item.is_virtual:
                    found = f"a dataset {below!r} that is stored in other files"
                    raise _not_self_contained(who, found)
                datasets[below] = item
            elif isinstance(item, h5py.Group) and number not in seen:
                groups.append((f"{below}/", item))
            seen.add(number)
    return datasets


def _not_self_contained(who: str, found: str) -> InputError:
    return InputError(
        f"{who}: expected a file that holds all of its data, got {found}; copy the data into it, "
        "for example with h5repack or h5py."
    )


def check_text(path: Path, file: Any, datasets: list[Any]) -> None:
    """Refuse damaged text: the HDF5 library may never end, or read beyond its memory.

    Text of any length is stored in heaps, and a dataset holds references: length, heap, index.
    References are checked where they are neither compressed nor in chunks.
    """
    texts = [one for one in datasets if one.dtype.kind == "O"]
    if not texts or file.id.get_create_plist().get_sizes() != (8, 8):
        return
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        sizes = _sizes_of_entries(data, file.userblock_size)
        for text in texts:
            start = text.id.get_offset()
            references = data[start : start + 16 * text.size] if start is not None else b""
            for length, heap, index in struct.iter_unpack("<IQI", references):
                is_known = heap < MOST_SEARCHED or heap >= len(data)
                if length and is_known and length > sizes.get((heap, index), -1):
                    raise ValueError("text that is not there")


def _sizes_of_entries(data: mmap.mmap, base: int) -> dict[tuple[int, int], int]:
    """Bytes of each text in the heaps of a file, by place of the heap and index."""
    sizes = {}
    heap = data.find(HEAP, base, base + MOST_SEARCHED)
    while heap >= 0:
        at, end = heap + 16, heap + int.from_bytes(data[heap + 8 : heap + 16], "little")
        while at + 16 <= min(end, len(data)):
            index, size = struct.unpack_from("<H6xQ", data, at)
            # Free space, with the index 0, counts its header; others are padded to 8 bytes.
            length = 16 + -(-size // 8) * 8 if index else size
            if not 0 < length <= end - at:
                raise ValueError("a damaged heap of text")
            sizes[heap - base, index] = size
            at += length
        heap = data.find(HEAP, heap + 1, base + MOST_SEARCHED)
    return sizes


def _stored_values(table: H5adTable, name: str, item: Any) -> Any:
    """The dataset with the values of a column of ``obs``."""
    if hasattr(item, "shape"):
        if "categories" in item.attrs:
            raise InputError(
                f"{table.path.name}: expected obs as AnnData 0.8 or later writes it, got the older "
                f"form of categories in {name!r}; read the file with anndata and write it again."
            )
        return item
    for values, companion in (("categories", "codes"), ("values", "mask")):
        if values in item and companion in item:
            return item[values]
    raise table.odd_label(name, item.attrs.get("encoding-type", "a group"))


def _values(dataset: Any, rows: slice) -> NDArray[Any]:
    """Some values of a dataset of one dimension; text as objects of type str."""
    if not hasattr(dataset, "shape"):
        raise ValueError("a group in the place of values")
    if dataset.dtype.kind == "O":
        if (dataset.dtype.metadata or {}).get("vlen") not in (str, bytes):
            raise ValueError("neither numbers nor text")
        return dataset.asstr()[rows]
    values = dataset[rows]
    return text_of(values) if values.dtype.kind == "S" else values
