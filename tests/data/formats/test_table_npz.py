import numpy as np
import pytest
from scipy import sparse

from tamis.data import prepare, read_table
from tamis.exceptions import InputError


@pytest.fixture
def npz(tmp_path):
    def read(**arrays):
        np.savez_compressed(tmp_path / "t.npz", **arrays)
        return read_table(tmp_path / "t.npz")

    return read


def csr_arrays(matrix, **more):
    return dict(
        data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, shape=matrix.shape, **more
    )


def test_dense(npz):
    table = npz(X=np.arange(6, dtype=np.uint8).reshape(3, 2), y=[0, 1, 1], split=[0, 0, 1])
    assert table.names == ("x0", "x1")
    assert table.column_names == ("x0", "x1", "y")
    assert table.matrix.dtype == np.uint8
    assert list(table.extras) == ["split"]


def test_names(npz):
    assert npz(X=np.eye(2), feature_names=["größe", "b\nc"]).names == ("größe", "b\nc")
    assert npz(X=np.eye(2), feature_names=np.array([b"a", b"b"])).names == ("a", "b")
    assert npz(X=np.eye(2), feature_names=np.array([900, 902])).names == ("900", "902")


def test_repeated_names_are_numbered(npz):
    table = npz(X=np.eye(5), y=np.arange(5), feature_names=["a", "a", "a_2", "y", "a"])
    assert table.names == ("a", "a_3", "a_2", "y_2", "a_4")
    assert table.notes == (
        "3 feature names of t.npz used twice, or the same as the target, got a number: "
        "'a_3', 'y_2', 'a_4'",
    )


@pytest.mark.slow
def test_sparse_stays_sparse(npz):
    matrix = sparse.random(1150, 100_000, density=1e-4, format="csr", rng=0)
    table = npz(**csr_arrays(matrix, y=np.arange(1150) % 2))
    assert sparse.issparse(table.matrix)
    assert table.matrix.shape == (1150, 100_000)
    prepared = prepare(table)
    assert prepared.is_sparse
    assert prepared.X.nnz == matrix.nnz


def test_scipy_layouts(tmp_path):
    matrix = sparse.random(5, 7, density=0.5, format="csc", rng=0)
    sparse.save_npz(tmp_path / "t.npz", matrix)
    table = read_table(tmp_path / "t.npz")
    assert table.matrix.format == "csr"
    np.testing.assert_array_equal(table.matrix.toarray(), matrix.toarray())
    assert not table.extras


def test_other_sparse_layout(npz):
    matrix = sparse.random(5, 7, density=0.5, format="csr", rng=0)
    with pytest.raises(InputError, match="expected a CSR or CSC matrix, got 'bsr'"):
        npz(**csr_arrays(matrix, format=b"bsr"))


@pytest.mark.parametrize("content", [b"junk" * 50, b"PK\x03\x04" + b"junk" * 50, b"\x80\x04K\x01."])
def test_damaged(tmp_path, content):
    (tmp_path / "t.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"t\.npz: expected an NPZ file, got a damaged"):
        read_table(tmp_path / "t.npz")


@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_truncated(tmp_path, share):
    np.savez_compressed(tmp_path / "t.npz", X=np.random.default_rng(0).random((50, 50)))
    whole = (tmp_path / "t.npz").read_bytes()
    (tmp_path / "t.npz").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(InputError, match="damaged"):
        read_table(tmp_path / "t.npz")


def test_garbled_data(tmp_path):
    np.savez_compressed(tmp_path / "t.npz", X=np.random.default_rng(0).random((50, 50)))
    raw = bytearray((tmp_path / "t.npz").read_bytes())
    raw[2000:2100] = bytes(100)
    (tmp_path / "t.npz").write_bytes(bytes(raw))
    with pytest.raises(InputError, match="damaged"):
        read_table(tmp_path / "t.npz")


def test_objects_are_never_loaded(npz):
    with pytest.raises(InputError, match="got Python objects, which are not loaded"):
        npz(X=np.eye(2), y=np.array(["a", 1], dtype=object))


def test_bare_array(tmp_path):
    np.save(tmp_path / "t.npy", np.eye(2))
    (tmp_path / "t.npy").rename(tmp_path / "t.npz")
    with pytest.raises(InputError, match="got one bare array"):
        read_table(tmp_path / "t.npz")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"data": np.eye(2)}, "expected an array X.*got 'data'"),
        ({"X": np.ones(3)}, r"a matrix of real numbers, got 1 dimension\(s\)"),
        ({"X": np.eye(2, dtype=complex)}, "got 2 dimension.* of complex128"),
        ({"X": np.array([["a"]])}, "of <U1"),
        ({"X": np.eye(2), "y": np.ones(3)}, r"for each of 2 rows, got shape \(3,\)"),
        ({"X": np.eye(2), "feature_names": ["a"]}, r"expected 2 feature_names.*\(1,\)"),
        ({"X": np.empty((0, 3))}, "at least one row"),
        ({"X": np.empty((3, 0))}, "at least one column"),
    ],
)
def test_wrong_arrays(npz, arrays, words):
    with pytest.raises(InputError, match=words):
        npz(**arrays)


def test_index_out_of_range_does_not_crash(npz):
    arrays = csr_arrays(sparse.random(5, 7, density=0.5, format="csr", rng=0))
    arrays["indices"] = arrays["indices"] + 1000
    with pytest.raises(InputError, match="expected a consistent sparse matrix"):
        npz(**arrays)


def test_target_as_one_column_and_as_bytes(npz):
    assert npz(X=np.eye(2), y=[[1], [2]]).target.tolist() == [1, 2]
    assert npz(X=np.eye(2), y=np.array([b"a", b"b"])).target.tolist() == ["a", "b"]
