import numpy as np
import pytest

from tamis.data import scan
from tamis.data.formats import matrix as _matrix_file
from tamis.data.formats import npz as _arrays
from tamis.exceptions import ColumnTypeError, InputError

X = np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_are_ranges_of_rows(tmp_path, monkeypatch, order):
    monkeypatch.setattr(_matrix_file, "PART_BYTES", 7 * 4 * 8)
    np.save(tmp_path / "x.npy", np.asarray(X, order=order))
    table = scan(tmp_path, target=np.arange(30))
    assert table.n_parts == 5
    assert table.where(4) == "x.npy, rows 28 to 29"
    assert next(table.blocks(4)).target.tolist() == [28, 29]
    assert np.array_equal(table.to_numpy()[0], X)


@pytest.mark.parametrize("order", ["C", "F"])
def test_few_of_many_columns(tmp_path, monkeypatch, order):
    monkeypatch.setattr(_arrays, "WORTH_A_SEEK", 8)
    np.save(tmp_path / "x.npy", np.asarray(X, order=order))
    for limit in (1, 16 * 8 * 2, None):
        table = scan(tmp_path, memory_limit=limit)
        assert np.array_equal(table.columns_block(1, 3), X[:, 1:3])
        assert np.array_equal(table.select([2, 1]).to_numpy()[0], X[:, [2, 1]])


@pytest.mark.parametrize("dtype", [">f8", ">f4", "<f2", "u8", ">i2", "?"])
def test_types(tmp_path, dtype):
    values = (np.abs(X) * 4).astype(dtype)
    for name in ("t.npz", "x.npy"):
        path = tmp_path / name
        (np.save if name == "x.npy" else lambda p, x: np.savez(p, X=x))(path, values)
        found = next(scan(path).blocks(0)).X
        assert found.dtype == (np.float32 if dtype in {">f4", "<f2"} else np.float64)
        assert found.dtype.isnative
        assert np.array_equal(found, values.astype(np.float64))


def test_target_of_any_byte_order(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=np.arange(30, dtype=">i4"), w=np.full((30, 1), 2.0))
    _, y, weight = scan(tmp_path, weight="w").to_numpy()
    assert y.dtype == np.int32
    assert y.tolist() == list(range(30))
    assert weight.tolist() == [2.0] * 30


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("labels", [np.array(["no", "é"] * 15), np.array([b"no", b"yes"] * 15)])
def test_text_beside_the_matrix(tmp_path, save, labels):
    save(tmp_path / "t.npz", X=X, y=labels)
    y = scan(tmp_path, memory_limit=1).to_numpy()[1]
    expected = labels.astype(str).tolist()
    assert y.tolist() == expected
    assert y.dtype == object


def test_compressed_matrix_is_one_part(tmp_path, monkeypatch):
    monkeypatch.setattr(_matrix_file, "PART_BYTES", 64)
    np.savez_compressed(tmp_path / "t.npz", X=X)
    table = scan(tmp_path, memory_limit=1)
    assert table.n_parts == 1
    assert len(list(table.blocks(0))) == 30
    assert np.array_equal(table.columns_block(1, 2), X[:, [1]])


def test_names_used_twice_get_a_number(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, feature_names=["a", "b", "a", "c"])
    assert scan(tmp_path).names == ("a", "b", "a_2", "c")


def test_column_of_the_name_of_the_target(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=np.arange(30), feature_names=["a", "y", "b", "c"])
    cells, y, _ = scan(tmp_path).to_numpy()
    assert np.array_equal(cells, X)
    assert np.array_equal(y, np.arange(30))
    assert scan(tmp_path, columns=["y"], target="y").names == ("y",)


class TestErrors:
    def test_no_matrix(self, tmp_path):
        for shape in ((3,), (2, 2, 2), (3, 0)):
            np.save(tmp_path / "x.npy", np.zeros(shape))
            with pytest.raises(InputError, match=r"x.npy: expected a matrix"):
                scan(tmp_path)

    def test_no_X(self, tmp_path):
        np.savez(tmp_path / "t.npz", Z=X)
        with pytest.raises(InputError, match=r"t.npz: expected an array X, got 'Z'"):
            scan(tmp_path)

    @pytest.mark.parametrize("dtype", [complex, "U3", "M8[s]"])
    def test_no_numbers(self, tmp_path, dtype):
        np.save(tmp_path / "x.npy", np.zeros((2, 2), dtype=dtype))
        with pytest.raises(ColumnTypeError, match=r"matrix of real numbers"):
            scan(tmp_path)

    def test_objects(self, tmp_path):
        np.save(tmp_path / "x.npy", np.array([[1, None]], dtype=object), allow_pickle=True)
        with pytest.raises(InputError, match=r"can run code"):
            scan(tmp_path)

    def test_names_of_other_number(self, tmp_path):
        np.savez(tmp_path / "t.npz", X=X, feature_names=["a"])
        with pytest.raises(InputError, match=r"expected 4 names of columns"):
            scan(tmp_path)

    def test_bare_array_as_npz(self, tmp_path):
        np.save(tmp_path / "x.npy", X)
        (tmp_path / "x.npy").rename(tmp_path / "x.npz")
        with pytest.raises(InputError, match=r"rename it to .npy"):
            scan(tmp_path)

    def test_garbled_compressed_matrix(self, tmp_path):
        values = np.random.default_rng(0).normal(size=(2000, 4))
        path = tmp_path / "t.npz"
        np.savez_compressed(path, X=values)
        raw = bytearray(path.read_bytes())
        for j in range(len(raw) // 2, len(raw) // 2 + 40):
            raw[j] ^= 0x5A
        path.write_bytes(raw)
        with pytest.raises(InputError, match=r"t.npz, rows 0 to 1,999: expected NPZ data"):
            scan(path).to_numpy()
