import numpy as np
import pytest

from tamis.data import scan
from tamis.exceptions import InputError, MissingDependencyError


@pytest.fixture
def folder(tmp_path):
    for name in ("b", "a", "c"):
        np.save(tmp_path / f"{name}.npy", np.full((1, 1), ord(name)))
    (tmp_path / "below").mkdir()
    np.save(tmp_path / "below" / "d.npy", np.full((1, 1), ord("d")))
    return tmp_path


def read(paths):
    return "".join(chr(int(value)) for value in scan(paths).to_numpy()[0][:, 0])


def test_patterns_and_folders_are_sorted(folder):
    assert read(folder) == "abc"
    assert read(str(folder)) == "abc"
    assert read(str(folder / "*.npy")) == "abc"
    assert read(folder / "[bc].npy") == "bc"
    assert read(str(folder / "**" / "*.npy")) == "abdc"  # below/d.npy comes before c.npy


def test_lists_keep_their_order(folder):
    assert read([folder / "c.npy", str(folder / "a.npy")]) == "ca"
    assert read([folder / "below", folder / "[ab].npy"]) == "dab"


def test_a_name_that_looks_like_a_pattern(tmp_path):
    np.save(tmp_path / "x[1].npy", np.eye(2))
    assert scan(tmp_path / "x[1].npy").shape == (2, 2)


def test_what_writers_leave_in_a_folder(folder):
    for name in ("_SUCCESS", ".a.npy.crc", "_metadata.parquet", "notes.md"):
        (folder / name).write_text("x")
    assert read(folder) == "abc"


def test_no_files(folder):
    with pytest.raises(InputError, match=r"did you mean .*a.npy"):
        scan(folder / "aa.npy")
    with pytest.raises(InputError, match=r"\*.parquet: expected files of this pattern, got none"):
        scan(str(folder / "*.parquet"))
    with pytest.raises(InputError, match=r"got an empty list"):
        scan([])
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match=r"expected tables in this folder, got none"):
        scan(folder / "empty")


def test_mixed_formats(folder):
    (folder / "t.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"one format, got 'a.npy', 't.csv'; .*pattern"):
        scan(folder)
    with pytest.raises(InputError, match=r"one format"):
        scan([folder / "a.npy", folder / "t.csv"])


def test_csv_and_tsv_are_both_text(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.tsv").write_text("b\ta\n4\t3\n")
    assert scan(tmp_path).to_numpy()[0].tolist() == [[1, 2], [3, 4]]


def test_unknown_extension(tmp_path):
    (tmp_path / "t.xlsx").write_text("x")
    with pytest.raises(
        InputError, match=r"t.xlsx: expected a file ending in .*\.zarr, got '.xlsx'"
    ):
        scan(tmp_path / "t.xlsx")


def test_one_file_twice(folder):
    with pytest.raises(InputError, match=r"every file once, got .*a.npy"):
        scan([folder / "*.npy", folder / "a.npy"])


def test_a_table_in_memory(folder):
    for table in ([np.eye(2)], [[1.0]]):
        with pytest.raises(InputError, match=r"pass it to the selector directly"):
            scan(table)


def test_without_pyarrow(tmp_path, monkeypatch):
    import sys

    for name in ("t.parquet", "t.feather", "t.csv"):
        (tmp_path / name).write_text("x")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingDependencyError, match=f"reading {name} needs the package pyar"):
            scan(tmp_path / name)
