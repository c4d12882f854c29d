import builtins
import errno
import os
import sys

import numpy as np
import pytest

from tamis.data import read_table
from tamis.exceptions import InputError, MissingDependencyError


def test_missing_file_suggests_the_closest(tmp_path):
    (tmp_path / "flowers.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"flower\.csv: expected a file.*did you mean.*flowers"):
        read_table(tmp_path / "flower.csv")


def test_missing_file_without_likeness(tmp_path):
    with pytest.raises(InputError, match=r"no file of that name; check the path"):
        read_table(tmp_path / "flower.csv")


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match=r"there is no folder '.*nowhere'"):
        read_table(tmp_path / "nowhere" / "flower.csv")


def test_path_below_a_file(tmp_path):
    (tmp_path / "flat").write_text("")
    with pytest.raises(InputError, match="there is no folder"):
        read_table(tmp_path / "flat" / "t.csv")


def test_folder_lists_its_tables(tmp_path):
    (tmp_path / "b.parquet").write_text("")
    (tmp_path / "notes.md").write_text("")
    with pytest.raises(InputError, match=r"got a folder; it holds 'b\.parquet'\."):
        read_table(tmp_path)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.feather", "t.npz"])
def test_empty_file(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match=f"{name}: expected a table, got an empty file"):
        read_table(tmp_path / name)


def test_unknown_extension(tmp_path):
    (tmp_path / "t.json").write_text("{}")
    with pytest.raises(InputError, match=r"ending in \.csv.*got '\.json'"):
        read_table(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("code", "words"), [(errno.EACCES, "permission denied"), (errno.EIO, "Input/output error")]
)
def test_file_that_cannot_be_opened(tmp_path, monkeypatch, code, words):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")

    def refuse(*_, **__):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr(builtins, "open", refuse)
    with pytest.raises(InputError, match=words):
        read_table(path)


def test_string_path_is_fine(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    assert read_table(str(tmp_path / "t.csv")).n_rows == 1


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.feather"])
def test_without_pyarrow(tmp_path, monkeypatch, name):
    (tmp_path / name).write_text("a\n1\n")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match=r"pyarrow.*pip install 'tamis\[cli\]'"):
        read_table(tmp_path / name)


def test_npz_needs_no_pyarrow(tmp_path, monkeypatch):
    np.savez(tmp_path / "t.npz", X=np.eye(2))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert read_table(tmp_path / "t.npz").n_rows == 2
