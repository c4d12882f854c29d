import warnings

import numpy as np
import pytest

from tamis.data import read_table
from tamis.exceptions import InputError

FORMATS = [
    "t.parquet",
    "t.feather",
    "t.arrows.ipc",
    "t.csv",
    "t.tsv",
    "t.csv.gz",
    "c.npy",
    "f.npy",
    "t.npz",
    "packed.npz",
    "packed_f.npz",
    "t.h5",
    "chunked.h5",
    "dense.h5ad",
    "sparse.h5ad",
    "t.zarr",
    "bare.zarr",
]


def write_any(path, X, y=None):
    """Write a matrix with columns a, b, c, ... and the target y in the format of the name."""
    X = np.asarray(X)
    names = [chr(ord("a") + j) for j in range(X.shape[1])]
    suffix = path.suffix
    if suffix == ".npy":
        np.save(path, np.asfortranarray(X) if path.name.startswith("f") else X)
    elif suffix == ".npz":
        save = np.savez_compressed if path.name.startswith("packed") else np.savez
        extra = {} if y is None else {"y": y}
        X = np.asfortranarray(X) if "_f" in path.name else X
        save(path, X=X, feature_names=np.array(names), **extra)
    elif suffix == ".h5":
        write_hdf5(path, X, names, y)
    elif suffix == ".h5ad":
        write_h5ad(path, X, names, y)
    elif suffix == ".zarr":
        write_zarr(path, X, names, y)
    else:
        write_arrow(path, dict(zip(names, X.T, strict=True)) | ({} if y is None else {"y": y}))


def write_arrow(path, columns, group=3):
    import pyarrow as pa
    from pyarrow import csv, ipc, parquet

    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=group)
    elif path.suffix == ".feather":
        with ipc.new_file(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=group)
    elif path.suffix == ".ipc":
        with ipc.new_stream(str(path), table.schema) as file:
            file.write_table(table, max_chunksize=group)
    else:
        options = csv.WriteOptions(delimiter="\t" if ".tsv" in path.name else ",")
        with pa.output_stream(str(path), compression="detect") as stream:
            csv.write_csv(table, stream, options)


def write_hdf5(path, X, names, y):
    h5py = pytest.importorskip("h5py")
    chunks = (min(2, len(X)), 1) if path.name.startswith("chunked") and len(X) else None
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=X, chunks=chunks)
        file["feature_names"] = names
        if y is not None:
            text = np.asarray(y).dtype.kind in "UO"
            file.create_dataset("y", data=np.asarray(y).tolist() if text else y)


def write_h5ad(path, X, names, y):
    anndata = pytest.importorskip("anndata")
    import pandas as pd
    from scipy import sparse

    obs = pd.DataFrame(index=[f"cell{i}" for i in range(len(X))])
    if y is not None:
        obs["y"] = y
    matrix = sparse.csr_matrix(X) if path.name.startswith("sparse") else X
    table = anndata.AnnData(matrix, obs=obs, var=pd.DataFrame(index=names))
    table.write_h5ad(path)


def write_zarr(path, X, names, y):
    zarr = pytest.importorskip("zarr")
    if path.name.startswith("bare"):
        zarr.create_array(str(path), data=X, chunks=(2, 2))
        return
    group = zarr.create_group(str(path))
    group.create_array("X", data=X, chunks=(2, 2))
    if y is not None:
        with warnings.catch_warnings():
            # Version 3 of the format does not define text yet.
            warnings.filterwarnings("ignore", category=zarr.errors.UnstableSpecificationWarning)
            group.create_array("y", data=np.asarray(y))


@pytest.fixture
def write():
    return write_any


@pytest.fixture
def write_columns():
    return write_arrow


@pytest.fixture(params=FORMATS)
def file_name(request):
    return request.param


@pytest.fixture
def csv(tmp_path):
    """Write text or bytes to a file and read it as a table."""

    def read(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(path)

    return read


@pytest.fixture
def csv_error(csv):
    """Read content that is expected to fail, and return the message."""

    def message(content, name="t.csv"):
        with pytest.raises(InputError) as caught:
            csv(content, name)
        assert type(caught.value) is InputError
        return str(caught.value)

    return message
