import datetime
import decimal
import errno
import gzip
import os
import sys

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from tamis.data import RawTable, read_table, reduce_table, write_table
from tamis.exceptions import ColumnTypeError, InputError, MissingDependencyError


def names(folder):
    return sorted(item.name for item in folder.iterdir())


@pytest.fixture
def rich():
    """A table with every type that must survive."""
    instant = datetime.datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=datetime.UTC)
    arrow = pa.table(
        {
            "dictionary": pa.array(["z", None, "a"]).dictionary_encode(),
            "ordered": pa.DictionaryArray.from_arrays([1, 0, 1], ["s", "l"], ordered=True),
            "instant": pa.array([instant, None, instant], pa.timestamp("us", "Europe/Paris")),
            "day": pa.array([datetime.date(2020, 1, 2), None, None]),
            "clock": pa.array([datetime.time(1, 2), None, None], pa.time32("ms")),
            "boolean": pa.array([True, None, False]),
            "tiny": pa.array([1, None, -3], pa.int8()),
            "half": pa.array([0.5, float("nan"), None], pa.float32()),
            "money": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-2.25")]),
            "large": pa.array(["x", None, ""], pa.large_string()),
            "list": pa.array([[1], None, []]),
            "null": pa.nulls(3),
            "dropped": pa.array([1, 2, 3]),
        },
        metadata={"origin": "field work"},
    )
    return RawTable.from_arrow(arrow)


@pytest.mark.parametrize("name", ["o.parquet", "o.pq", "o.feather", "o.arrow", "o.ipc"])
def test_types_round_trip(tmp_path, rich, name):
    kept = [name for name in rich.names if name != "dropped"]
    write_table(reduce_table(rich, kept), tmp_path / name)
    back = read_table(tmp_path / name).arrow
    expected = rich.arrow.select(kept)
    assert back.schema.equals(expected.schema)
    assert back.schema.metadata[b"origin"] == b"field work"
    back.validate(full=True)
    assert repr(back.to_pydict()) == repr(expected.to_pydict())
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("name", ["o.parquet", "o.feather"])
def test_dictionaries_that_differ_by_chunk(tmp_path, name):
    chunks = [pa.array(["x", "y"]).dictionary_encode(), pa.array(["z", "y"]).dictionary_encode()]
    arrow = pa.table({"a": pa.chunked_array(chunks)})
    write_table(RawTable.from_arrow(arrow), tmp_path / name)
    back = read_table(tmp_path / name).arrow
    assert pa.types.is_dictionary(back["a"].type)
    assert back["a"].to_pylist() == ["x", "y", "z", "y"]


TEXT = 'id,n,f,e,q,m,t\n007,1.50,1e3,+2, spaced ,NA,x\n008,,-0.0,?,"a,""b""\n c",null,z\n'


@pytest.mark.slow
def test_text_keeps_every_cell(csv, tmp_path):
    table = csv(TEXT)
    write_table(reduce_table(table, table.names), tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_bytes().decode() == TEXT


def test_text_is_reduced(csv, tmp_path):
    write_table(reduce_table(csv(TEXT), ["f", "id"], target="t"), tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == "id,f,t\n007,1e3,x\n008,-0.0,z\n"


def test_quotes_only_where_needed(csv, tmp_path):
    write_table(csv('"a","b c"\n"1","x"\n'), tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == "a,b c\n1,x\n"


def test_carriage_return_in_a_cell(csv, tmp_path):
    write_table(csv('a,b\n1,"x\ry"\n'), tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_bytes() == b'a,b\n1,"x\ry"\n'


def test_text_to_tabs_and_gzip(csv, tmp_path):
    write_table(csv("a,b\n007,u v\n"), tmp_path / "o.tsv")
    assert (tmp_path / "o.tsv").read_text() == "a\tb\n007\tu v\n"
    write_table(csv("a,b\n007,u v\n"), tmp_path / "o.csv.gz")
    assert gzip.decompress((tmp_path / "o.csv.gz").read_bytes()) == b"a,b\n007,u v\n"


def test_semicolons_and_decimal_commas_stay(csv, tmp_path):
    text = "a;b\n1,50;x\n2,25;z\n"
    write_table(csv(text), tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == text
    assert read_table(tmp_path / "o.csv").arrow["a"].to_pylist() == [1.5, 2.25]


def test_lone_column_with_missing_cells_and_odd_name(csv, tmp_path):
    table = csv('"a;b",c\n1,2\n,3\n')
    write_table(reduce_table(table, ["a;b"]), tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == '"a;b"\n1\n""\n'
    assert read_table(tmp_path / "o.csv").arrow.to_pydict() == {"a;b": [1, None]}


def test_file_onto_itself(csv, tmp_path):
    table = csv("a,b\n007,2\n")
    write_table(reduce_table(table, ["a"]), tmp_path / "t.csv", force=True)
    assert (tmp_path / "t.csv").read_text() == "a\n007\n"


def test_source_that_changed_meanwhile(csv, tmp_path):
    table = csv("a,b\n1,2\n")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(InputError, match="expected 1 rows as before, got 2"):
        write_table(table, tmp_path / "o.csv")
    (tmp_path / "t.csv").write_text("a,c\n1,2\n")
    with pytest.raises(InputError, match=r"o\.csv"):
        write_table(table, tmp_path / "o.csv")
    (tmp_path / "t.csv").unlink()
    with pytest.raises(InputError, match=r"t\.csv: expected readable text"):
        write_table(table, tmp_path / "o.csv")
    assert names(tmp_path) == []


def test_typed_table_to_text(tmp_path, rich):
    kept = [name for name in rich.names if name not in ("list", "null", "dropped")]
    write_table(reduce_table(rich, kept), tmp_path / "o.csv")
    back = read_table(tmp_path / "o.csv").arrow
    assert back.num_rows == 3
    assert back["dictionary"].to_pylist() == ["z", None, "a"]
    assert back["tiny"].to_pylist() == [1, None, -3]
    assert back["boolean"].to_pylist() == [True, None, False]
    assert back["money"].to_pylist() == [1.5, None, -2.25]
    assert back["day"].to_pylist()[0] == datetime.date(2020, 1, 2)
    assert pa.types.is_timestamp(back["instant"].type)


def test_reals_as_text_lose_nothing(tmp_path):
    values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.arange(-250, 250)
    write_table(RawTable.from_arrow(pa.table({"a": values})), tmp_path / "o.csv")
    np.testing.assert_array_equal(read_table(tmp_path / "o.csv").arrow["a"].to_numpy(), values)


def test_nested_column_does_not_fit_in_text(tmp_path, rich):
    with pytest.raises(ColumnTypeError, match=r"got list<.*'list'; write \.parquet"):
        write_table(rich, tmp_path / "o.csv")
    assert names(tmp_path) == []


def test_odd_names_round_trip(tmp_path):
    arrow = pa.table({"größe": [1], "a\nb": [2], 'say "x"': [3], "花,木": ["ü"]})
    for name in ("o.csv", "o.tsv", "o.parquet", "o.feather"):
        write_table(RawTable.from_arrow(arrow), tmp_path / name)
        assert read_table(tmp_path / name).arrow.equals(arrow)


@pytest.mark.slow
def test_ten_thousand_columns(csv, tmp_path):
    header = ",".join(f"c{j}" for j in range(10_000))
    row = ",".join(f"0{j}" for j in range(10_000))
    table = csv(f"{header}\n{row}\n{row}\n")
    write_table(reduce_table(table, table.names[::2]), tmp_path / "o.csv")
    lines = (tmp_path / "o.csv").read_text().splitlines()
    assert len(lines) == 3
    assert lines[1].split(",") == [f"0{j}" for j in range(0, 10_000, 2)]


def test_many_rows_are_written_in_parts(csv, tmp_path, monkeypatch):
    monkeypatch.setattr("tamis.data.writing.CELLS_AT_A_TIME", 7)
    text = "a,b\n" + "".join(f"{j},0{j}\n" for j in range(100))
    write_table(csv(text), tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_text() == text


def test_matrix_round_trip(tmp_path):
    X = np.arange(6, dtype=np.int16).reshape(3, 2)
    np.savez(tmp_path / "t.npz", X=X, y=["a", "b", "a"], feature_names=["u", "v"], split=[0, 0, 1])
    write_table(reduce_table(read_table(tmp_path / "t.npz"), ["v"]), tmp_path / "o.npz")
    with np.load(tmp_path / "o.npz") as back:
        assert back["X"].dtype == np.int16
        assert back["X"].tolist() == [[1], [3], [5]]
        assert back["y"].tolist() == ["a", "b", "a"]
        assert back["feature_names"].tolist() == ["v"]
        assert back["split"].tolist() == [0, 0, 1]


def test_sparse_round_trip(tmp_path):
    X = sparse.random(20, 50, density=0.2, format="csr", rng=0)
    table = RawTable.from_matrix(X, y=np.arange(20))
    write_table(reduce_table(table, table.names[10:20]), tmp_path / "o.npz")
    back = read_table(tmp_path / "o.npz")
    assert back.names == table.names[10:20]
    assert (back.matrix != X[:, 10:20]).nnz == 0


@pytest.mark.parametrize("make", [np.array, sparse.csr_matrix])
@pytest.mark.parametrize("name", ["o.parquet", "o.feather", "o.csv"])
def test_matrix_to_columns(tmp_path, make, name):
    X = make(np.array([[0, 2], [3, 0]], dtype=np.uint8))
    write_table(RawTable.from_matrix(X, y=np.array(["a", "b"])), tmp_path / name)
    back = read_table(tmp_path / name).arrow
    assert back.to_pydict() == {"x0": [0, 3], "x1": [2, 0], "y": ["a", "b"]}


def test_columns_to_matrix(tmp_path):
    arrow = pa.table(
        {"a": pa.array([1, None], pa.int8()), "t": ["x", None], "b": pa.array([True, False])}
    )
    reduced = reduce_table(RawTable.from_arrow(arrow), ["a", "b"], target="t")
    write_table(reduced, tmp_path / "o.npz")
    back = read_table(tmp_path / "o.npz")
    np.testing.assert_array_equal(back.matrix, [[1, 1], [np.nan, 0]])
    assert back.names == ("a", "b")
    assert back.target.tolist() == ["x", ""]


def test_columns_to_matrix_keep_a_narrow_type(tmp_path):
    arrow = pa.table({"a": pa.array([1, 2], pa.int8()), "t": [0, 1]})
    write_table(reduce_table(RawTable.from_arrow(arrow), ["a"], target="t"), tmp_path / "o.npz")
    back = read_table(tmp_path / "o.npz")
    assert back.matrix.dtype == np.int8
    assert back.target.tolist() == [0, 1]


def test_text_does_not_fit_in_a_matrix(tmp_path):
    table = RawTable.from_arrow(pa.table({"a": [1], "b": ["x"]}))
    with pytest.raises(ColumnTypeError, match=r"got string in column 'b'; write \.parquet"):
        write_table(table, tmp_path / "o.npz")
    assert names(tmp_path) == []


ALL = ["o.csv", "o.tsv.gz", "o.parquet", "o.feather", "o.npz"]


@pytest.fixture
def plain():
    return RawTable.from_arrow(pa.table({"a": [1, 2], "b": [3, 4]}))


@pytest.mark.parametrize("name", ALL)
def test_existing_file_is_untouched(tmp_path, plain, name):
    (tmp_path / name).write_text("old")
    with pytest.raises(InputError, match="--force"):
        write_table(plain, tmp_path / name)
    assert (tmp_path / name).read_text() == "old"
    write_table(plain, tmp_path / name, force=True)
    assert read_table(tmp_path / name).n_rows == 2
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left")])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("o.csv", "tamis.data.writing._line"),
        ("o.parquet", "pyarrow.parquet.write_table"),
        ("o.feather", "tamis.data.writing._write_feather"),
        ("o.npz", "numpy.savez_compressed"),
    ],
)
@pytest.mark.parametrize("old", [None, "old"])
def test_failure_in_the_middle(tmp_path, plain, monkeypatch, name, function, error, old):
    def fail(*_, **__):
        (leftover,) = (item for item in tmp_path.iterdir() if item.name.startswith(".tamis-"))
        leftover.write_text("half")
        raise error

    monkeypatch.setattr(function, fail)
    if old:
        (tmp_path / name).write_text(old)
    expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
    with pytest.raises(expected):
        write_table(plain, tmp_path / name, force=True)
    assert names(tmp_path) == ([name] if old else [])
    if old:
        assert (tmp_path / name).read_text() == old


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("name", ALL)
def test_full_disk(tmp_path, plain, monkeypatch, name):
    real = os.open

    def on_full_device(path, *rest):
        os.symlink("/dev/full", path)
        return real("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(os, "open", on_full_device)
    with pytest.raises(InputError, match="No space left on device"):
        write_table(plain, tmp_path / name)
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ALL)
def test_missing_folder(tmp_path, plain, name):
    with pytest.raises(InputError, match="which is missing; create it first"):
        write_table(plain, tmp_path / "nowhere" / name)


def test_unwritable_folder(tmp_path, plain):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="to be a folder, got a file"):
        write_table(plain, tmp_path / "file" / "o.csv")


def test_unknown_extension(tmp_path, plain):
    with pytest.raises(InputError, match=r"ending in \.csv"):
        write_table(plain, tmp_path / "o.json")
    assert names(tmp_path) == []


def test_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = RawTable.from_matrix(np.eye(2))
    with pytest.raises(MissingDependencyError, match=r"writing o\.csv needs the package pyarrow"):
        write_table(table, tmp_path / "o.csv")
    write_table(table, tmp_path / "o.npz")
    assert names(tmp_path) == ["o.npz"]


def test_pandas_reads_what_is_left(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=["r", "s"])
    frame.to_parquet(tmp_path / "t.parquet")
    write_table(reduce_table(read_table(tmp_path / "t.parquet"), ["a"]), tmp_path / "o.parquet")
    assert pd.read_parquet(tmp_path / "o.parquet")["a"].tolist() == [1, 2]
