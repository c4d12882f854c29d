import sys

import numpy as np
import pytest

from tamis.data import scan
from tamis.data.formats import matrix as _matrix_file
from tamis.exceptions import ColumnTypeError, InputError, MissingDependencyError

X = np.random.default_rng(0).normal(size=(12, 5)) * (np.arange(60).reshape(12, 5) % 3 == 0)


def test_missing_package(tmp_path, monkeypatch):
    (tmp_path / "t.h5").write_bytes(b"\x89HDF")
    (tmp_path / "t.h5ad").write_bytes(b"\x89HDF")
    monkeypatch.setitem(sys.modules, "h5py", None)
    for name in ("t.h5", "t.h5ad"):
        with pytest.raises(MissingDependencyError, match=f"reading {name} needs the package h5py"):
            scan(tmp_path / name)


class TestHdf5:
    h5py = staticmethod(lambda: pytest.importorskip("h5py"))

    def test_only_matrix(self, tmp_path):
        h5py = self.h5py()
        with h5py.File(tmp_path / "t.hdf5", "w") as file:
            group = file.create_group("study/one")
            group["cells"] = X
            group["y"] = np.arange(12)
            group["feature_names"] = ["e", "d", "c", "b", "a"]
        table = scan(tmp_path)
        assert table.names == ("e", "d", "c", "b", "a")
        cells, y, _ = table.to_numpy()
        assert np.array_equal(cells, X)
        assert np.array_equal(y, np.arange(12))

    def test_no_matrix_or_two(self, tmp_path):
        h5py = self.h5py()
        with h5py.File(tmp_path / "t.h5", "w") as file:
            file["one"] = X
            file["two"] = X
        with pytest.raises(InputError, match=r"expected a dataset X, or one matrix, got 'one'"):
            scan(tmp_path)
        with h5py.File(tmp_path / "t.h5", "w") as file:
            file["one"] = X[0]
        with pytest.raises(InputError, match=r"got no matrix"):
            scan(tmp_path)

    def test_text_matrix(self, tmp_path):
        h5py = self.h5py()
        with h5py.File(tmp_path / "t.h5", "w") as file:
            file["X"] = np.array([[b"a", b"b"]])
        with pytest.raises(ColumnTypeError, match=r"matrix of real numbers"):
            scan(tmp_path)

    def test_parts_end_with_chunks(self, tmp_path, monkeypatch):
        h5py = self.h5py()
        monkeypatch.setattr(_matrix_file, "PART_BYTES", 8 * 5 * 5)
        with h5py.File(tmp_path / "t.h5", "w") as file:
            file.create_dataset("X", data=X, chunks=(4, 2), compression="gzip")
        table = scan(tmp_path, memory_limit=16 * 8 * 5 * 3)
        assert [table.where(part) for part in range(table.n_parts)] == [
            "t.h5, rows 0 to 3",
            "t.h5, rows 4 to 7",
            "t.h5, rows 8 to 11",
        ]
        assert np.array_equal(table.to_numpy()[0], X)

    def test_garbled_chunk(self, tmp_path):
        h5py = self.h5py()
        values = np.random.default_rng(0).normal(size=(2000, 4))
        path = tmp_path / "t.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=values, chunks=(500, 4), compression="gzip")
        raw = bytearray(path.read_bytes())
        raw[len(raw) // 2 : len(raw) // 2 + 100] = b"\xff" * 100
        path.write_bytes(raw)
        with pytest.raises(InputError, match=r"t.h5, rows 0 to 1,999: expected HDF5 data"):
            scan(path).to_numpy()


class TestH5ad:
    @pytest.fixture
    def save(self, tmp_path):
        anndata = pytest.importorskip("anndata")
        pd = pytest.importorskip("pandas")
        from scipy import sparse

        def write(layout, **obs):
            matrix = {"dense": np.asarray, "csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
            table = anndata.AnnData(
                matrix[layout](X),
                obs=pd.DataFrame(obs, index=[f"cell{i}" for i in range(12)]),
                var=pd.DataFrame(index=list("abcde")),
            )
            table.write_h5ad(tmp_path / "t.h5ad")
            return tmp_path / "t.h5ad"

        return write

    @pytest.mark.parametrize("layout", ["dense", "csr"])
    @pytest.mark.parametrize("limit", [1, 16 * 8 * 5 * 4, None])
    def test_matrix(self, save, layout, limit):
        table = scan(save(layout), memory_limit=limit)
        assert table.names == tuple("abcde")
        assert np.array_equal(table.to_numpy()[0], X)
        assert np.array_equal(table.select(["d", "a"]).to_numpy()[0], X[:, [3, 0]])
        assert not table.has_target

    def test_y_among_other_notes_is_no_target(self, save):
        path = save("csr", y=np.arange(12))
        assert not scan(path).has_target
        assert scan(path, target="y").has_target

    def test_columns_of_obs(self, save):
        import pandas as pd

        words = ["b", "a", None] * 4
        numbers = [3, 1, None] * 4
        path = save(
            "csr",
            category=pd.Categorical(words),
            whole=pd.Categorical(["b", "a", "c"] * 4),
            numbers=np.arange(12),
            flags=np.arange(12) % 2 == 0,
            floats=np.arange(12) / 2,
            coded=pd.Categorical([30, 10, 20] * 4),
            holes=pd.Series(numbers, dtype="Int64").array,
            flagged=pd.Series([True, False, None] * 4, dtype="boolean").array,
        )

        def target(name):
            return scan(path, target=name, memory_limit=16 * 8 * 5 * 4).to_numpy()[1]

        assert target("category").tolist() == words
        assert target("whole").tolist() == ["b", "a", "c"] * 4
        assert target("numbers").dtype == np.int64
        assert target("flags").tolist() == [True, False] * 6
        assert target("floats").tolist() == (np.arange(12) / 2).tolist()
        assert target("coded").tolist() == [30, 10, 20] * 4
        expected = np.array([3, 1, np.nan] * 4)
        assert np.array_equal(target("holes").astype(float), expected, equal_nan=True)
        assert target("flagged").tolist() == [True, False, None] * 4
        assert np.array_equal(scan(path, weight="floats").to_numpy()[2], np.arange(12) / 2)
        with pytest.raises(InputError, match=r"did you mean 'category'"):
            scan(path, target="categorie")

    def test_csc_is_refused(self, save):
        with pytest.raises(InputError, match=r"dense or a CSR matrix, got csc_matrix.*tocsr"):
            scan(save("csc"))

    def test_indices_out_of_range(self, save):
        import h5py

        path = save("csr")
        with h5py.File(path, "a") as file:
            file["X/indices"][3] = 99
        with pytest.raises(InputError, match=r"t.h5ad, rows 0 to 11: expected h5ad data"):
            scan(path).to_numpy()

    def test_categories_of_old_files(self, save):
        import h5py

        path = save("csr", y=np.arange(12))
        with h5py.File(path, "a") as file:
            file["obs/y"].attrs["categories"] = "elsewhere"
        with pytest.raises(InputError, match=r"older form of categories in 'y'"):
            scan(path, target="y")


class TestOtherFiles:
    """A file from elsewhere must not make the reader open files of this machine."""

    def refuse(self, path, found):
        with pytest.raises(InputError, match=rf"{path.name}: .*got .*{found}"):
            scan(path)

    @pytest.fixture
    def h5py(self):
        return pytest.importorskip("h5py")

    @pytest.fixture
    def secret(self, tmp_path, h5py):
        path = tmp_path / "secret.bin"
        path.write_bytes(np.arange(6.0).tobytes())
        with h5py.File(tmp_path / "secret.h5", "w") as file:
            file["X"] = np.arange(6.0).reshape(3, 2)
        return path

    @pytest.mark.parametrize("name", ["t.h5", "t.h5ad"])
    @pytest.mark.parametrize("place", ["X", "deep/below"])
    def test_external_link(self, tmp_path, h5py, secret, name, place):
        with h5py.File(tmp_path / name, "w") as file:
            file[place] = h5py.ExternalLink("secret.h5", "/X")
        self.refuse(tmp_path / name, "link '.*' to another file")

    def test_soft_link_through_an_external_one(self, tmp_path, h5py, secret):
        with h5py.File(tmp_path / "t.h5", "w") as file:
            file["out"] = h5py.ExternalLink("secret.h5", "/")
            file["X"] = h5py.SoftLink("/out/X")
        self.refuse(tmp_path / "t.h5", "link 'out' to another file")

    def test_external_storage(self, tmp_path, h5py, secret):
        with h5py.File(tmp_path / "t.h5", "w") as file:
            stored = [(str(secret), 0, 48)]
            file.create_dataset("X", shape=(3, 2), dtype="f8", external=stored)
        self.refuse(tmp_path / "t.h5", "dataset 'X' that is stored in other files")

    def test_virtual_dataset(self, tmp_path, h5py, secret):
        layout = h5py.VirtualLayout(shape=(3, 2), dtype="f8")
        layout[:] = h5py.VirtualSource(tmp_path / "secret.h5", "X", shape=(3, 2))
        with h5py.File(tmp_path / "t.h5", "w") as file:
            file.create_virtual_dataset("X", layout)
        self.refuse(tmp_path / "t.h5", "dataset 'X' that is stored in other files")


class TestDamage:
    """What h5py or the HDF5 library answers with another exception, a crash, or never."""

    @pytest.fixture
    def content(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "whole.h5", "w") as file:
            file["X"], file["feature_names"] = np.eye(4), ["one", "two", "three", "four"]
        assert scan(tmp_path / "whole.h5").names == ("one", "two", "three", "four")
        return bytearray((tmp_path / "whole.h5").read_bytes())

    def refuse(self, path, content, reason):
        path.write_bytes(content)
        with pytest.raises(InputError, match=rf"t.h5: expected HDF5 data, got .*{reason}"):
            scan(path)

    def test_links_that_are_not_found(self, tmp_path, content):
        """A SystemError of h5py, if its visitors are used."""
        second = content.index(b"SNOD") + 48
        content[second + 4 : second + 6] = b"\x11\x11"
        self.refuse(tmp_path / "t.h5", content, "heap")

    @pytest.mark.parametrize("entry", [bytes(16), b"\x01" + bytes(7) + b"\xf0" + b"\xff" * 7])
    def test_a_heap_entry_without_length(self, tmp_path, content, entry):
        heap = content.index(b"GCOL")
        content[heap + 16 : heap + 32] = entry
        self.refuse(tmp_path / "t.h5", content, "a damaged heap of text")

    @pytest.mark.parametrize("change", [(3, 0x7F), (4, 0xFF), (10, 0xFF), (12, 0x0F)])
    def test_references_to_text_that_is_not_there(self, tmp_path, content, change):
        """Length, place of the heap, and index."""
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "whole.h5") as file:
            start = file["feature_names"].id.get_offset()
        place, value = change
        content[start + place] = value
        self.refuse(tmp_path / "t.h5", content, "text that is not there")

    def test_names_that_are_no_text(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "t.h5", "w") as file:
            file["X"] = np.eye(4)
            file.create_dataset("feature_names", (4,), dtype=h5py.vlen_dtype(np.uint8))
        with pytest.raises(InputError, match="neither numbers nor text"):
            scan(tmp_path / "t.h5")
        with h5py.File(tmp_path / "t.h5", "w") as file:
            file["X"] = np.eye(4)
            file.create_group("feature_names")
        with pytest.raises(InputError, match="a group in the place of values"):
            scan(tmp_path / "t.h5")

    def test_groups_in_a_circle(self, tmp_path):
        h5py = pytest.importorskip("h5py")
        with h5py.File(tmp_path / "t.h5", "w") as file:
            file["deep/matrix"] = np.eye(4)
            file["deep/again"] = file["deep"]
            file["deep/root"] = file["/"]
        assert scan(tmp_path / "t.h5").n_rows == 4
