"""ParquetSource: columns of files, read when asked for."""

import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from tamis.exceptions import InputError, MeasurementError, MissingDependencyError
from tamis.meta import ParquetSource

TABLE = np.random.default_rng(0).normal(size=(11, 4)).round(3)
NAMES = ["a", "a.b", "c d", "é"]
META = pd.DataFrame({"size": [4.0, 3.0, 2.0, 1.0]}, index=NAMES[::-1])


def frame(rows=slice(None)):
    table = pd.DataFrame(TABLE[rows], columns=NAMES)
    table["target"] = "yes"
    return table


def write(path, rows=slice(None)):
    if path.suffix == ".parquet":
        frame(rows).to_parquet(path, row_group_size=3)
    elif path.suffix == ".feather":
        feather.write_feather(frame(rows), path, compression="lz4", chunksize=3)
    else:
        table = pa.Table.from_pandas(frame(rows))
        with ipc.new_file(str(path), table.schema) as file:
            file.write_table(table)
    return path


@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.arrow"])
def test_one_file(tmp_path, name):
    source = ParquetSource(write(tmp_path / name), META)
    assert source.candidate_names() == NAMES[::-1]
    assert (source.n_candidates, source.n_samples) == (4, 11)
    assert source.columns([]).shape == (11, 0)
    np.testing.assert_array_equal(source.columns([3, 0]), TABLE[:, [0, 3]])
    np.testing.assert_array_equal(source.columns([2, 1, 3]), TABLE[:, [1, 2, 0]])
    assert source.measured.tolist() == [3, 0, 2, 1]


def test_files_of_a_folder_in_the_order_of_their_names(tmp_path):
    write(tmp_path / "part2.parquet", slice(7, 11))
    write(tmp_path / "part1.feather", slice(2, 7))
    write(tmp_path / "part0.parquet", slice(0, 2))
    (tmp_path / "README.txt").write_text("not a table")
    (tmp_path / "_SUCCESS.parquet").write_text("not a table")
    source = ParquetSource(str(tmp_path), META)
    assert source.columns([]).shape == (11, 0)
    np.testing.assert_array_equal(source.columns(range(4)), TABLE[:, ::-1])
    files = [tmp_path / "part2.parquet", str(tmp_path / "part0.parquet")]
    expected = TABLE[[7, 8, 9, 10, 0, 1], ::-1]
    np.testing.assert_array_equal(ParquetSource(files, META).columns(range(4)), expected)


def test_only_the_columns_asked_for_are_read(tmp_path, monkeypatch):
    source = ParquetSource(write(tmp_path / "x.parquet"), META)
    asked, read = [], parquet.ParquetFile.read

    def watched(self, columns=None, **options):
        asked.append(columns)
        return read(self, columns=columns, **options)

    monkeypatch.setattr(parquet.ParquetFile, "read", watched)
    source.columns([1])
    source.columns([1, 2])
    assert asked == [["c d"], ["a.b"]]


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_types_and_missing_values(tmp_path, kind):
    table = pa.table(
        {
            "int": pa.array([1, None, 3], pa.int32()),
            "bool": [True, None, False],
            "half": pa.array(np.array([0.5, 1, 2], np.float16)),
            "coded": pa.array([5, 6, None]).dictionary_encode(),
            "null": pa.nulls(3),
            "exact": pa.array([Decimal("1.5"), None, Decimal("-2.25")]),
            "text": ["a", "b", "c"],
            "inf": [1.0, np.inf, 2.0],
        }
    )
    path = tmp_path / f"x.{kind}"
    (parquet.write_table if kind == "parquet" else feather.write_feather)(table, path)
    source = ParquetSource(path, np.eye(8), columns=table.column_names)
    assert source.available(range(8)).tolist() == [0, 1, 2, 3, 4, 5]
    nan = np.nan
    np.testing.assert_array_equal(
        source.columns(range(6)).T,
        [[1, nan, 3], [1, nan, 0], [0.5, 1, 2], [5, 6, nan], [nan] * 3, [1.5, nan, -2.25]],
    )
    with pytest.raises(MeasurementError, match=r"6 \('text'\): expected numbers.*got inf"):
        source.columns([6, 7])


def test_choice_of_columns(tmp_path):
    path = write(tmp_path / "x.parquet")
    source = ParquetSource(path, META, columns=["c d", "a"], cost=[3, 1])
    assert source.meta["size"].tolist() == [META["size"]["c d"], META["size"]["a"]]
    np.testing.assert_array_equal(source.columns([0, 1]), TABLE[:, [2, 0]])
    assert source.spent == 4.0
    polars = pl.DataFrame({"feature": NAMES, "size": [1, 2, 3, 4]})
    source = ParquetSource(path, polars, columns=["a.b"])
    assert source.meta.rows() == [(2,)]
    np.testing.assert_array_equal(source.columns([0]), TABLE[:, [1]])
    source = ParquetSource(path, [[1.0], [2.0]], columns=["é", "a"])
    np.testing.assert_array_equal(source.columns([0, 1]), TABLE[:, [3, 0]])
    assert ParquetSource(path, polars).candidate_names() == NAMES


def test_names_that_do_not_match(tmp_path):
    path = write(tmp_path / "x.parquet")
    more = pd.DataFrame({"size": [1.0, 2.0]}, index=["a", "zz"])
    with pytest.raises(InputError, match=r"x.parquet: expected a column .*got none for 'zz'"):
        ParquetSource(path, more)
    with pytest.raises(InputError, match=r"expected meta to name every column.*'target'"):
        ParquetSource(path, META, columns=["a", "target"])
    with pytest.raises(InputError, match="a row of meta for each of the 2 columns, got 4 rows"):
        ParquetSource(path, np.eye(4), columns=["a", "é"])
    with pytest.raises(InputError, match="every name once in columns"):
        ParquetSource(path, np.eye(2), columns=["a", "a"])
    with pytest.raises(InputError, match="names the columns it speaks of"):
        ParquetSource(path, np.eye(4))
    frame().drop(columns="a").to_parquet(tmp_path / "y.parquet")
    with pytest.raises(InputError, match=r"y.parquet: expected a column.*'a'"):
        ParquetSource(tmp_path, META)


def test_bad_paths(tmp_path):
    with pytest.raises(InputError, match="which is missing"):
        ParquetSource(tmp_path / "none.parquet", META)
    with pytest.raises(InputError, match="got none in"):
        ParquetSource(tmp_path, META)
    with pytest.raises(InputError, match="got none in"):
        ParquetSource([], META)
    for name in ("x.parquet", "x.feather"):
        path = tmp_path / name
        path.write_text("no table")
        with pytest.raises(InputError, match=f"{name}: expected a .* file, got a damaged"):
            ParquetSource(path, META)
    (tmp_path / "x.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match=r"one of the extensions \.parquet"):
        ParquetSource(tmp_path / "x.csv", META)


@pytest.mark.parametrize("name", ["x.parquet", "x.feather"])
def test_file_that_vanishes_or_is_damaged_later(tmp_path, name):
    path = write(tmp_path / name)
    source = ParquetSource(path, META)
    source.columns([0])
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(MeasurementError, match="damaged"):
        source.columns([1])
    path.unlink()
    with pytest.raises(MeasurementError):
        source.columns([2])
    np.testing.assert_array_equal(source.columns([0]), TABLE[:, [3]])
    path.write_bytes(content)
    np.testing.assert_array_equal(source.columns(source.retry_failed()), TABLE[:, [2, 1]])


def test_without_pyarrow(tmp_path, monkeypatch):
    path = write(tmp_path / "x.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependencyError, match="ParquetSource needs the package pyarrow"):
        ParquetSource(path, META)
