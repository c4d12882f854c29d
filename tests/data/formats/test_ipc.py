import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from tamis.data import scan
from tamis.data.formats import arrow_ipc as _ipc
from tamis.exceptions import InputError


def all_cells(table):
    return np.concatenate([b.X for part in range(table.n_parts) for b in table.blocks(part)])


@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
@pytest.mark.parametrize("limit", [1, 16 * 8 * 50, None])
def test_record_batches_of_any_length(tmp_path, compression, limit):
    values = np.arange(200.0)
    table = pa.table({"a": values, "b": pa.array(values, mask=values % 7 == 0)})
    feather.write_feather(table, tmp_path / "t.feather", compression=compression, chunksize=90)
    found = scan(tmp_path, memory_limit=limit)
    assert found.n_rows == 200
    expected = np.column_stack([values, np.where(values % 7 == 0, np.nan, values)])
    assert np.array_equal(all_cells(found), expected, equal_nan=True)


def test_parts_are_groups_of_batches(tmp_path, write_columns, monkeypatch):
    write_columns(tmp_path / "t.feather", {"a": np.arange(20.0)}, group=2)
    assert scan(tmp_path).n_parts == 1
    assert scan(tmp_path).where(0) == "t.feather, batches 0 to 9"
    monkeypatch.setattr(_ipc, "PART_BYTES", 3 * 16)
    table = scan(tmp_path)
    assert table.n_parts == 4
    assert table.where(1) == "t.feather, batches 3 to 5"
    assert table.where(3) == "t.feather, record batch 9"
    assert np.array_equal(all_cells(table).ravel(), np.arange(20.0))
    assert [block.target.tolist() for block in scan(tmp_path, target=np.arange(20)).blocks(3)] == [
        [18, 19]
    ]


def test_stream_is_one_part(tmp_path, write_columns):
    write_columns(tmp_path / "t.arrow.ipc", {"a": np.arange(20.0)}, group=3)
    table = scan(tmp_path)
    assert (table.n_parts, table.n_rows) == (1, 20)
    assert table.where(0) == "t.arrow.ipc"


def test_empty_batches(tmp_path):
    schema = pa.schema([("a", pa.float64())])
    for name, opener in (("f.arrow", ipc.new_file), ("s.arrow", ipc.new_stream)):
        with opener(str(tmp_path / name), schema) as file:
            for values in ([], [1.0], [], [2.0, 3.0]):
                file.write_batch(pa.record_batch([pa.array(values, pa.float64())], schema=schema))
        table = scan(tmp_path / name)
        assert table.n_rows == 3
        assert all_cells(table).ravel().tolist() == [1, 2, 3]


def test_dictionaries_that_change_inside_a_stream(tmp_path):
    batches = [
        pa.record_batch({"a": [1.0, 2.0], "y": pa.array(words).dictionary_encode()})
        for words in (["u", "v"], ["w", "u"])
    ]
    with ipc.new_stream(str(tmp_path / "t.arrow"), batches[0].schema) as file:
        for batch in batches:
            file.write_batch(batch)
    target = scan(tmp_path, target="y").to_numpy()[1]
    assert target.tolist() == ["u", "v", "w", "u"]


def test_old_feather(tmp_path):
    (tmp_path / "t.feather").write_bytes(b"FEA1" + b"\0" * 40)
    with pytest.raises(InputError, match=r"expected Feather version 2, got version 1"):
        scan(tmp_path)


@pytest.mark.parametrize("content", [b"hello, no table " * 4, b"ARROW1", b"ARROW1\0\0" + b"x" * 99])
def test_other_files(tmp_path, content):
    (tmp_path / "t.feather").write_bytes(content)
    with pytest.raises(InputError, match=r"t.feather: expected Feather data, got a damaged"):
        scan(tmp_path)


def test_garbled_batch(tmp_path):
    values = np.repeat(np.random.default_rng(0).normal(size=5000), 6)
    path = tmp_path / "t.feather"
    feather.write_feather(pa.table({"a": values}), path, compression="lz4", chunksize=10_000)
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2 : len(raw) // 2 + 1000] = b"\xff" * 1000
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"t.feather, batches 0 to 2: expected Feather data"):
        scan(path).to_numpy()


def test_a_column_that_claims_petabytes(tmp_path):
    path = tmp_path / "t.feather"
    feather.write_feather(pa.table({"a": np.zeros(1000)}), path, compression="lz4")
    raw = bytearray(path.read_bytes())
    size = raw.index((8000).to_bytes(8, "little") + b"\x04\x22\x4d\x18")  # of a frame of LZ4
    raw[size + 6] = 1
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"record batch 0: expected a record batch that fits"):
        scan(path).to_numpy()


@pytest.mark.parametrize("name", ["t.feather", "t.parquet"])
def test_names_that_are_no_text(tmp_path, name):
    table = pa.table({"column": np.arange(9.0)})
    write = feather.write_feather if name == "t.feather" else parquet.write_table
    write(table, tmp_path / name)
    raw = (tmp_path / name).read_bytes().replace(b"column", b"co\xa2umn")
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(InputError, match=rf"{name}: expected .* data, got a damaged or other file"):
        scan(tmp_path / name)
