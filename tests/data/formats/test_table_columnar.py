import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest

from tamis.data import read_table
from tamis.exceptions import InputError


@pytest.mark.parametrize("name", ["t.parquet", "t.pq", "t.feather", "t.arrow", "t.ipc"])
@pytest.mark.parametrize("content", [b"hello world, not a table " * 4, b"PAR1", b"ARROW1"])
def test_damaged_file(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}: expected a .* file, got a damaged or other"):
        read_table(tmp_path / name)


def write(path, arrow):
    if path.suffix == ".parquet":
        pq.write_table(arrow, path)
    else:
        with ipc.new_file(str(path), arrow.schema) as file:
            file.write_table(arrow)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_truncated_file(tmp_path, name):
    write(tmp_path / name, pa.table({"a": list(range(1000))}))
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="damaged"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_garbled_middle(tmp_path, name):
    write(tmp_path / name, pa.table({"a": [f"word {j}" for j in range(1000)]}))
    raw = bytearray((tmp_path / name).read_bytes())
    for j in range(len(raw) // 4, len(raw) // 2):
        raw[j] ^= 0x5A
    (tmp_path / name).write_bytes(bytes(raw))
    with pytest.raises(InputError, match="damaged"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_no_rows(tmp_path, name):
    write(tmp_path / name, pa.table({"a": pa.array([], pa.int64())}))
    with pytest.raises(InputError, match="at least one row"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_no_columns(tmp_path, name):
    write(tmp_path / name, pa.table({}))
    with pytest.raises(InputError, match="at least one column"):
        read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_duplicate_names(tmp_path, name):
    write(tmp_path / name, pa.table([[1], [2]], names=["a", "a"]))
    with pytest.raises(InputError, match="every column name once, got 'a' more"):
        read_table(tmp_path / name)


def test_arrow_stream(tmp_path):
    arrow = pa.table({"a": [1, 2]})
    with ipc.new_stream(str(tmp_path / "t.arrow"), arrow.schema) as file:
        file.write_table(arrow)
    assert read_table(tmp_path / "t.arrow").arrow.equals(arrow)


def test_first_feather_version(tmp_path):
    (tmp_path / "t.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(InputError, match="got version 1; write it again"):
        read_table(tmp_path / "t.feather")


def test_folder_names_are_not_columns(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    write(folder / "t.parquet", pa.table({"a": [1]}))
    assert read_table(folder / "t.parquet").names == ("a",)
