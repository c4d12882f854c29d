import json
import sys

import numpy as np
import pytest

from tamis.data import scan
from tamis.data.formats import matrix as _matrix_file
from tamis.exceptions import InputError, MissingDependencyError

X = np.random.default_rng(0).normal(size=(12, 5))


def test_missing_package(tmp_path, monkeypatch):
    (tmp_path / "t.zarr").mkdir()
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(MissingDependencyError, match=r"reading t.zarr needs the package zarr"):
        scan(tmp_path / "t.zarr")


@pytest.fixture
def zarr():
    return pytest.importorskip("zarr")


@pytest.mark.parametrize("version", [2, 3])
def test_versions_of_the_format(tmp_path, zarr, version):
    group = zarr.create_group(str(tmp_path / "t.zarr"), zarr_format=version)
    group.create_array("X", data=X, chunks=(5, 2))
    group.create_array("y", data=np.arange(12))
    table = scan(tmp_path, memory_limit=16 * 8 * 5 * 2)
    assert np.array_equal(table.to_numpy()[0], X)
    assert np.array_equal(table.to_numpy()[1], np.arange(12))
    assert np.array_equal(table.select([3, 1]).to_numpy()[0], X[:, [3, 1]])


def test_parts_end_with_chunks(tmp_path, zarr, monkeypatch):
    monkeypatch.setattr(_matrix_file, "PART_BYTES", 8 * 5 * 5)
    zarr.create_array(str(tmp_path / "t.zarr"), data=X, chunks=(4, 5))
    table = scan(tmp_path / "t.zarr")
    assert table.where(1) == "t.zarr, rows 4 to 7"
    assert np.array_equal(table.to_numpy()[0], X)


def test_blocks_do_not_share_memory_with_a_chunk(tmp_path, zarr):
    zarr.create_array(str(tmp_path / "t.zarr"), data=X, chunks=(12, 5))
    blocks = scan(tmp_path, memory_limit=16 * 8 * 5 * 4).blocks(0)
    first = next(blocks).X
    first[:] = 0
    assert np.array_equal(np.concatenate([block.X for block in blocks]), X[4:])


def test_names(tmp_path, zarr):
    group = zarr.create_group(str(tmp_path / "t.zarr"), zarr_format=2)
    group.create_array("X", data=X)
    group.create_array("feature_names", data=np.array(list("abcde")))
    assert scan(tmp_path).names == tuple("abcde")


def test_no_matrix(tmp_path, zarr):
    group = zarr.create_group(str(tmp_path / "t.zarr"))
    group.create_array("Z", data=X)
    with pytest.raises(InputError, match=r"expected an array, or a group with an array X, got 'Z'"):
        scan(tmp_path)
    group.create_group("X")
    with pytest.raises(InputError, match=r"with an array X"):
        scan(tmp_path)


def test_no_store(tmp_path, zarr):
    (tmp_path / "t.zarr").mkdir()
    with pytest.raises(InputError, match=r"t.zarr: expected Zarr data"):
        scan(tmp_path / "t.zarr")


def test_replaced_chunk_is_noticed(tmp_path, zarr):
    array = zarr.create_array(str(tmp_path / "t.zarr"), data=X, chunks=(4, 5))
    table = scan(tmp_path)
    array[5, 2] = 7.0
    with pytest.raises(InputError, match=r"t.zarr: .*has changed"):
        table.check_unchanged(0)


def test_garbled_chunk(tmp_path, zarr):
    zarr.create_array(str(tmp_path / "t.zarr"), data=X, chunks=(4, 5))
    chunk = next(path for path in (tmp_path / "t.zarr" / "c").rglob("*") if path.is_file())
    chunk.write_bytes(b"no chunk at all")
    with pytest.raises(InputError, match=r"t.zarr, rows 0 to 11: expected Zarr data"):
        scan(tmp_path).to_numpy()


@pytest.mark.parametrize("place", ["filters", "compressor"])
def test_pickles_are_refused_before_opening(tmp_path, monkeypatch, place):
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "t.zarr"
    (path / "y").mkdir(parents=True)
    codec = {"id": "pickle", "protocol": 5}
    array = {"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|O", "fill_value": 0}
    array |= {"order": "C", "filters": None, "compressor": None}
    array[place] = [codec] if place == "filters" else codec
    (path / ".zgroup").write_text('{"zarr_format": 2}')
    (path / "y" / ".zarray").write_text(json.dumps(array))
    monkeypatch.setattr(zarr, "open", lambda *_, **__: pytest.fail("the store was opened"))
    with pytest.raises(InputError, match=r"Python objects in y/.zarray, which are not loaded"):
        scan(path)


@pytest.mark.parametrize("name", ["y", "X/0.0", "X/.zarray"])
def test_links_are_refused_before_opening(tmp_path, zarr, monkeypatch, name):
    group = zarr.create_group(str(tmp_path / "t.zarr"), zarr_format=2)
    group.create_array("X", data=X, chunks=(12, 5))
    group.create_array("y", data=np.arange(12))
    (tmp_path / "t.zarr" / name).rename(tmp_path / "elsewhere")
    (tmp_path / "t.zarr" / name).symlink_to(tmp_path / "elsewhere")
    monkeypatch.setattr(zarr, "open", lambda *_, **__: pytest.fail("the store was opened"))
    with pytest.raises(InputError, match=rf"t.zarr: expected folders and files.*{name}"):
        scan(tmp_path / "t.zarr")
