import sys

import numpy as np
import pytest
from scipy import sparse

from tamis.datasets import _catalogue, load
from tamis.datasets._catalogue import DatasetInfo
from tamis.exceptions import InputError, MissingDependencyError


def test_bunch_of_a_file(tiny_file, tiny_arrays):
    data = load("tiny")
    assert np.array_equal(data.X, tiny_arrays["X"])
    assert data.X.dtype == np.float32
    assert data.y.dtype == np.int8
    assert data.feature_names == ["a", "b", "a"]
    assert data.class_names == ["low", "high"]
    assert data.relevant.tolist() == [0, 2]
    assert data.view.tolist() == [0, 0, 1]
    assert data.train.tolist() == [True, True, False, True, False, True]
    assert data.test.tolist() == [False, False, True, False, True, False]


def test_what_is_not_known_is_none_or_generated(tiny_file, tiny_arrays):
    np.savez(tiny_file, X=tiny_arrays["X"], y=tiny_arrays["y"])
    data = load("tiny")
    assert data.feature_names == ["x0", "x1", "x2"]
    unknown = ("class_names", "split", "train", "test", "fold", "relevant")
    assert [data[key] for key in unknown] == [None] * 6


@pytest.mark.parametrize(("part", "rows"), [("train", [0, 1, 3, 5]), ("test", [2, 4])])
def test_split_keeps_the_rows_of_that_part(tiny_file, tiny_arrays, part, rows):
    data = load("tiny", split=part)
    assert np.array_equal(data.X, tiny_arrays["X"][rows])
    assert np.array_equal(data.y, tiny_arrays["y"][rows])
    assert data.fold.tolist() == rows
    assert data[part].all()
    assert data.feature_names == ["a", "b", "a"]
    assert data.relevant.tolist() == [0, 2]


def test_return_X_y(tiny_file, tiny_arrays):
    X, y = load("tiny", split="test", return_X_y=True)
    assert np.array_equal(X, tiny_arrays["X"][[2, 4]])
    assert y.tolist() == [1, 1]


@pytest.mark.parametrize("split", ["validation", 1, ["train"]])
def test_bad_split(tiny_file, split):
    with pytest.raises(InputError, match='split must be "train", "test" or None, got'):
        load("tiny", split=split)


def test_split_of_a_set_without_one(tiny_file, tiny_arrays, monkeypatch, tiny):
    del tiny_arrays["split"]
    np.savez(tiny_file, **tiny_arrays)
    with pytest.raises(InputError, match="OpenML's copy does not have it: set TAMIS_DATA"):
        load("tiny", split="train")
    info = DatasetInfo(**{**vars(tiny), "split_sizes": None})
    monkeypatch.setitem(_catalogue.CATALOGUE, "tiny", info)
    with pytest.raises(InputError, match="none was published: leave split out"):
        load("tiny", split="train")


@pytest.mark.parametrize(
    ("stored", "computed"),
    [
        ("int8", "float32"),
        ("uint8", "float32"),
        ("uint16", "float32"),
        ("int16", "float32"),
        ("int32", "float64"),
        ("int64", "float64"),
        ("float32", "float32"),
        ("float64", "float64"),
    ],
)
def test_type_of_X(tmp_path, monkeypatch, stored, computed):
    info = DatasetInfo("limits", 2, 1, "tables", stored, 2.0 * 100, classes={0: 1, 1: 1})
    monkeypatch.setitem(_catalogue.CATALOGUE, "limits", info)
    np.savez(tmp_path / "limits.npz", X=np.array([[100], [100]], dtype=stored), y=[0, 1])
    X, _ = load("limits", data_home=tmp_path, return_X_y=True)
    assert X.dtype == computed
    assert X.ravel().tolist() == [100.0, 100.0]


def test_16_bits_are_exact_in_float32():
    values = np.arange(2**16, dtype=np.uint16)
    assert np.array_equal(values.astype(np.float32).astype(np.uint16), values)


def save_sparse(path, arrays):
    X = sparse.csr_array(arrays.pop("X"))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    np.savez(path, **parts, **arrays)


def test_sparse_file(tiny_file, tiny_arrays):
    dense = tiny_arrays["X"].copy()
    save_sparse(tiny_file, tiny_arrays)
    data = load("tiny", split="train")
    assert isinstance(data.X, sparse.csr_array)
    assert data.X.dtype == np.float32
    assert np.array_equal(data.X.toarray(), dense[[0, 1, 3, 5]])
    assert "indptr" not in data


def test_sparse_indices_out_of_range(tiny_file, tiny_arrays):
    save_sparse(tiny_file, tiny_arrays)
    with np.load(tiny_file) as archive:
        arrays = dict(archive)
    arrays["indices"][0] = 50
    np.savez(tiny_file, **arrays)
    with pytest.raises(InputError, match=r"tiny\.npz must be a readable \.npz data file"):
        load("tiny")


def test_frame(tiny_file, tiny_arrays):
    pd = pytest.importorskip("pandas")
    data = load("tiny", as_frame=True, split="test")
    assert isinstance(data.X, pd.DataFrame)
    assert data.X.columns.tolist() == data.feature_names == ["a", "b", "a.1"]
    assert np.array_equal(data.X.to_numpy(), tiny_arrays["X"][[2, 4]])
    assert isinstance(data.y, pd.Series)
    assert data.y.index.equals(data.X.index)


def test_frame_of_a_sparse_set(tiny_file, tiny_arrays):
    pd = pytest.importorskip("pandas")
    dense = tiny_arrays["X"].copy()
    save_sparse(tiny_file, tiny_arrays)
    X, _ = load("tiny", as_frame=True, return_X_y=True)
    assert all(isinstance(dtype, pd.SparseDtype) for dtype in X.dtypes)
    assert np.array_equal(X.to_numpy(), dense)


def test_suffixes_avoid_names_that_exist(tiny_file, tiny_arrays):
    pytest.importorskip("pandas")
    for names, unique in [
        (["a", "a", "a.1"], ["a", "a.2", "a.1"]),
        (["a.1", "a", "a"], ["a.1", "a", "a.2"]),
        (["a", "a", "a"], ["a", "a.1", "a.2"]),
    ]:
        np.savez(tiny_file, **{**tiny_arrays, "feature_names": names})
        assert load("tiny", as_frame=True).feature_names == unique


def test_frame_without_pandas(tiny_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match="needs pandas, which is not installed"):
        load("tiny", as_frame=True)


def test_data_home_goes_before_the_variable(tiny_file, tiny_arrays, tmp_path):
    np.savez(tmp_path / "tiny.npz", **{**tiny_arrays, "X": tiny_arrays["X"][:, ::-1]})
    assert load("tiny", data_home=tmp_path).X[0].tolist() == [-4, 10, 3]
    assert load("tiny").X[0].tolist() == [3, 10, -4]


def test_missing_file(tmp_path, monkeypatch):
    monkeypatch.delenv("TAMIS_DATA", raising=False)
    with pytest.raises(InputError) as caught:
        load("colon")
    assert "colon.npz, but TAMIS_DATA is not set and it has no OpenML twin" in str(caught.value)
    with pytest.raises(InputError) as caught:
        load("madelon", data_home=tmp_path, download=False)
    assert str(tmp_path / "madelon.npz") in str(caught.value)
    assert "download=False forbids OpenML. Set TAMIS_DATA" in str(caught.value)


def test_unknown_name():
    with pytest.raises(InputError, match="did you mean 'gasoline'"):
        load("gazoline")
