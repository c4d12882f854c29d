"""Files that never end, or that claim more than there is: an error at once."""

import contextlib
import gzip
import io
import os
import tracemalloc
import zipfile

import numpy as np
import pytest

import tamis
from tamis.data import read_table
from tamis.data.formats import dialect, npz
from tamis.exceptions import InputError, SelectionWarning

NAMES = ["t.csv", "t.csv.gz", "t.tsv", "t.npz", "t.parquet", "t.feather"]


def pipe(tmp_path, name):
    os.mkfifo(tmp_path / name)
    return tmp_path / name


@pytest.mark.parametrize("name", NAMES)
def test_pipes_are_refused(tmp_path, name):
    path = pipe(tmp_path, name)
    with pytest.raises(InputError, match="a pipe or device, where a regular file is needed"):
        read_table(path)
    with pytest.raises(InputError, match="a pipe or device, where a regular file is needed"):
        tamis.scan(path)


@pytest.mark.parametrize("name", ["t.npy", "t.h5"])
def test_pipes_of_other_formats(tmp_path, name):
    with pytest.raises(InputError, match="pipe or device"):
        tamis.scan(pipe(tmp_path, name))


def test_links_to_devices_are_refused(tmp_path):
    path = tmp_path / "x.csv"
    path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match="a pipe or device"):
        read_table(path)


def test_a_target_in_a_pipe(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(4))
    with pytest.raises(InputError, match="not a regular file"):
        tamis.scan(tmp_path / "x.npy", target=pipe(tmp_path, "y.npy"))


def test_a_manifest_in_a_pipe(tmp_path):
    with pytest.raises(InputError, match="no regular file"):
        tamis.manifest.read_manifest(pipe(tmp_path, "m.json"))


@pytest.mark.parametrize("read", [read_table, tamis.scan])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_line_without_end(tmp_path, monkeypatch, read, suffix):
    monkeypatch.setattr(dialect, "LONGEST_LINE", 2**16)
    path = tmp_path / f"t.csv{suffix}"
    content = b"a,b\n" + b"1" * 2**17
    path.write_bytes(gzip.compress(content) if suffix else content)
    with pytest.raises(InputError, match=r"t\.csv.*: expected lines below"):
        read(path)


@pytest.mark.parametrize("content", [b"a,b\n" + b"1" * 2**24, b"\n" * 2**24])
def test_lines_without_end_are_read_no_further(tmp_path, monkeypatch, content):
    monkeypatch.setattr(dialect, "LONGEST_LINE", 2**16)
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(content))
    tracemalloc.start()
    with pytest.raises(InputError, match=r"t\.csv.*: expected lines below"):
        read_table(tmp_path / "t.csv.gz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**20


def test_a_folder_of_columns_with_pipes(tmp_path):
    class Source(tamis.meta.FeatureSource):
        meta = np.arange(3.0)[:, None]

        def measure(self, indices):
            return np.eye(4)[:, indices]

    Source().keep_in(tmp_path).columns([0])
    (kept,) = tmp_path.glob("columns-*")
    kept.unlink()
    pipe(tmp_path, kept.name)
    with pytest.warns(SelectionWarning, match="not a regular file"):
        Source().keep_in(tmp_path)
    (tmp_path / "tamis-source.json").unlink()
    pipe(tmp_path, "tamis-source.json")
    with pytest.raises(InputError, match="expected a regular file, got a device or pipe"):
        Source().keep_in(tmp_path)


def test_a_header_that_claims_columns_without_rows(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (0, 10**9)}
    )
    (tmp_path / "t.npy").write_bytes(header.getvalue())
    with pytest.raises(InputError, match="expected rows, got none of 1,000,000,000 columns"):
        tamis.scan(tmp_path / "t.npy")


def test_an_archive_larger_than_memory(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "t.npz", X=np.zeros((1000, 100)), y=np.arange(1000) % 2)
    monkeypatch.setattr(npz, "free_memory", lambda: 100_000)
    with pytest.raises(InputError, match=r"t.npz: .* free memory .* got .* bytes unpacked"):
        read_table(tmp_path / "t.npz")


@pytest.mark.parametrize("seed", range(3))
def test_damaged_npy_headers(tmp_path, seed):
    np.save(tmp_path / "whole.npy", np.eye(5))
    whole, rng = (tmp_path / "whole.npy").read_bytes(), np.random.default_rng(seed)
    for _ in range(100):
        damaged = bytearray(whole)
        for place in rng.integers(0, 128, rng.integers(1, 4)):
            damaged[place] = rng.integers(256)
        (tmp_path / "t.npy").write_bytes(damaged)
        with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
            archive.writestr("X.npy", bytes(damaged))
        for work in (
            lambda: tamis.scan(tmp_path / "t.npy"),
            lambda: tamis.scan(tmp_path / "t.npz"),
            lambda: read_table(tmp_path / "t.npz"),
        ):
            with contextlib.suppress(InputError):
                work()
