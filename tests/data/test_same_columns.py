"""A column is the same, and becomes the same numbers, wherever it comes from."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import tamis
from tamis.data import RawTable, checks, prepare, read_table, scan
from tamis.data.roles import JUDGED_VALUES, ColumnFacts
from tamis.exceptions import ColumnTypeError, InputError

N_ROWS = 120
RNG = np.random.default_rng(0)
STEPS = [int(k) for k in RNG.integers(0, 99, N_ROWS)]
DAY = dt.datetime(2021, 5, 3, 7)


def with_gaps(values):
    return [None if i % 7 == 3 else value for i, value in enumerate(values)]


# Fifteen kinds of columns; those in `LEFT_OUT` are no features.
KINDS = {
    "real": pa.array(RNG.normal(size=N_ROWS)),
    "gaps": pa.array(with_gaps(RNG.normal(size=N_ROWS).tolist())),
    "whole": pa.array(STEPS),
    "flag": pa.array(with_gaps([k % 2 == 1 for k in STEPS])),
    "colour": pa.array(with_gaps([["red", "blue", "green"][k % 3] for k in STEPS])),
    "coded": pa.array(with_gaps([f"v{k % 40}" for k in STEPS])).dictionary_encode(),
    "size": pa.DictionaryArray.from_arrays([k % 3 for k in STEPS], list("SML"), ordered=True),
    "date": pa.array([(DAY + dt.timedelta(k)).date() for k in STEPS]),
    "moment": pa.array(with_gaps([DAY + dt.timedelta(minutes=k) for k in STEPS])),
    "time": pa.array([dt.time(k % 24, k % 60, k % 50) for k in STEPS], pa.time32("s")),
    "span": pa.array(with_gaps([dt.timedelta(seconds=k) for k in STEPS])),
    "empty": pa.nulls(N_ROWS, pa.string()),
    "comment": pa.array([f"comment {k % 70}" for k in range(N_ROWS)]),
    "name": pa.array([f"patient {k}" for k in range(N_ROWS)]),
    "patient_id": pa.array(RNG.permutation(N_ROWS) * 3),
    "row": pa.array(np.arange(N_ROWS)),
}
LEFT_OUT = {
    "comment": "text",
    "name": "identifier",
    "patient_id": "identifier",
    "row": "identifier",
}
FEATURES = [name for name in KINDS if name not in LEFT_OUT]
TABLE = pa.table(KINDS)
# What CSV has no type for arrives as text, and an ordered category as a plain one.
NOT_IN_CSV = ["span", "coded", "size"]


def described(roles):
    return [(r.name, r.kind, r.used, r.reason, r.categories) for r in roles]


@pytest.fixture(scope="module")
def expected():
    return prepare(RawTable.from_arrow(TABLE))


def expected_numbers(expected, names):
    return expected.X[:, [expected.feature_names.index(name) for name in names]]


def assert_scan(table, expected):
    assert described(table.roles) == described(expected.roles)
    assert list(table.names) == expected.feature_names
    np.testing.assert_array_equal(table.to_numpy()[0], expected.X)


def test_the_table_holds_every_kind(expected):
    kinds = {role.kind for role in expected.roles}
    assert kinds == {
        *("numeric", "boolean", "category", "date", "time", "duration", "text", "identifier")
    }
    assert {r.name: r.kind for r in expected.roles if not r.used} == LEFT_OUT


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_one_file(tmp_path, expected, write_columns, suffix):
    path = tmp_path / f"t.{suffix}"
    write_columns(path, TABLE, group=50)
    whole = prepare(read_table(path))
    assert described(whole.roles) == described(expected.roles)
    np.testing.assert_array_equal(whole.X, expected.X)
    table = scan(path)
    assert_scan(table, expected)
    assert table.notes == [note.replace("--include", "include") for note in whole.notes]


@pytest.mark.parametrize("cut", [1, 15, 60, 119])
def test_two_files(tmp_path, expected, cut):
    parquet.write_table(TABLE.slice(0, cut), tmp_path / "1.parquet", row_group_size=11)
    parquet.write_table(TABLE.slice(cut), tmp_path / "2.parquet")
    assert_scan(scan(f"{tmp_path}/*.parquet"), expected)


@pytest.mark.parametrize("cut", [None, 70])
def test_csv(tmp_path, expected, cut):
    table = TABLE.drop_columns(NOT_IN_CSV)
    csv.write_csv(table.slice(0, cut), tmp_path / "1.csv")
    whole = prepare(read_table(tmp_path / "1.csv"))
    if cut is not None:
        csv.write_csv(table.slice(cut), tmp_path / "2.csv")
        whole = prepare(RawTable.from_arrow(table))
    found = scan(f"{tmp_path}/*.csv")
    assert described(found.roles) == described(whole.roles)
    np.testing.assert_array_equal(found.to_numpy()[0], expected_numbers(expected, found.names))
    np.testing.assert_array_equal(whole.X, expected_numbers(expected, whole.feature_names))


def frames():
    features = TABLE.select(FEATURES)
    yield pytest.param(features.to_pandas(), id="pandas")
    sizes = pl.col("size").cast(pl.Enum(list("SML")))  # polars drops the order of Arrow
    yield pytest.param(pl.from_arrow(features).with_columns(sizes), id="polars")
    yield pytest.param(features, id="arrow")
    plain = features.to_pandas().astype({"time": object, "colour": object, "date": object})
    yield pytest.param(plain, id="objects")


@pytest.mark.parametrize("frame", list(frames()))
def test_frames(frame, expected):
    selector = tamis.Fisher()
    found = checks.check_table(selector, frame)
    np.testing.assert_array_equal(found, expected.X)
    assert list(selector.feature_names_in_) == expected.feature_names


def test_dask(expected):
    dd = pytest.importorskip("dask.dataframe")
    from tamis.passes import DaskTable

    # Dask would make text of Python objects; Arrow types stay what they are.
    objects = ["flag", "date", "time", "empty"]
    frame = TABLE.select(FEATURES).to_pandas()
    for name in objects:
        frame[name] = TABLE[name].to_pandas(types_mapper=pd.ArrowDtype)
    frame = dd.from_pandas(frame, npartitions=3)
    source = DaskTable(frame, None, None, "Variance")
    pieces = [source.piece(part) for part in range(source.n_parts)]
    import dask

    blocks = [
        next(source.reader().pieces(part, piece)).X
        for part, piece in enumerate(dask.compute(*pieces))
    ]
    np.testing.assert_array_equal(np.concatenate(blocks), expected.X)
    scores = tamis.Variance().fit(frame).scores_
    np.testing.assert_allclose(scores, tamis.Variance().fit(expected.X).scores_)


def test_dask_text(expected):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(TABLE.select(["real", "name"]).to_pandas(), npartitions=3)
    with pytest.raises(ColumnTypeError, match=r"Variance: .*'name' with identifier, all 120"):
        tamis.Variance().fit(frame)


@pytest.mark.slow
def test_two_workers(tmp_path, expected):
    pytest.importorskip("distributed")
    table = TABLE.append_column("y", pa.array(["a" if k % 2 else "b" for k in range(N_ROWS)]))
    parquet.write_table(table.slice(0, 70), tmp_path / "1.parquet", row_group_size=20)
    parquet.write_table(table.slice(70), tmp_path / "2.parquet")
    y = table["y"].to_numpy(zero_copy_only=False)
    fitted = tamis.Fisher().fit(scan(tmp_path, target="y", cluster=2))
    np.testing.assert_allclose(fitted.scores_, tamis.Fisher().fit(expected.X, y).scores_)


class TestFitted:
    """What a fit on a frame remembers."""

    frame = TABLE.select(FEATURES).to_pandas()
    y = np.arange(N_ROWS) % 2

    def test_other_rows_get_the_same_codes(self):
        selector = tamis.Fisher(n_features_to_select=3).fit(self.frame, self.y)
        some = self.frame[self.frame["colour"] == "red"]
        found = checks.check_table(selector, some, reset=False)
        place = list(self.frame.columns).index("colour")
        assert set(found[:, place]) == {2.0}

    def test_transform_returns_columns_as_they_are(self):
        selector = tamis.Fisher(n_features_to_select=4).fit(self.frame, self.y)
        found = selector.transform(self.frame)
        pd.testing.assert_frame_equal(found, self.frame[selector.get_feature_names_out()])
        other = self.frame.assign(colour="violet")  # never seen, and not needed
        assert len(selector.transform(other)) == N_ROWS

    def test_blocks_share_their_codes(self):
        frame = self.frame.drop(columns="coded")
        blocks = [frame[:60], frame[60:]]
        # The second block lacks a colour; its codes must not move.
        blocks[1] = blocks[1].assign(colour=blocks[1]["colour"].replace("blue", "red"))
        selector = tamis.Fisher()
        for block, y in zip(blocks, (self.y[:60], self.y[60:]), strict=True):
            selector.partial_fit(block, y)
        whole = tamis.Fisher().fit(pd.concat(blocks), self.y)
        np.testing.assert_allclose(selector.scores_, whole.scores_)

    def test_a_new_category_is_an_error(self):
        selector = tamis.Fisher().fit(self.frame, self.y)
        with pytest.raises(InputError, match=r"column 'colour' that fit saw, got 'violet'"):
            selector.recut(2, self.frame.assign(colour="violet"), self.y)

    def test_refit_on_numbers_forgets(self):
        selector = tamis.Fisher().fit(self.frame, self.y)
        selector.fit(self.frame[["real", "gaps"]], self.y)
        assert not hasattr(selector, "column_codes_")


class TestFactsOfParts:
    """Facts of consecutive rows merge to those of all rows, wherever they are cut."""

    @pytest.mark.parametrize("column", list(KINDS))
    @pytest.mark.parametrize("cut", [0, 1, 2, 50, N_ROWS])
    def test_merge(self, column, cut):
        from tamis.data.words_and_dates import facts_of

        whole = facts_of(column, TABLE[column])
        parts = [facts_of(column, TABLE[column].slice(*p)) for p in ((0, cut), (cut,))]
        merged = parts[0].merge(parts[1])
        for name in ("kind", "n_rows", "n_missing", "first_repeat", "order", "n_numbers"):
            assert getattr(merged, name) == getattr(whole, name)
        assert list(merged.values) == list(whole.values)
        assert merged.count_up == whole.count_up

    @pytest.mark.parametrize("place", [JUDGED_VALUES - 1, JUDGED_VALUES])
    def test_only_the_first_values_are_judged(self, place):
        values = np.arange(JUDGED_VALUES + 5) * 2
        values[place] = 0
        role = prepare(RawTable.from_arrow(pa.table({"id": values, "x": values * 0.5}))).roles[0]
        assert role.kind == ("numeric" if place < JUDGED_VALUES else "identifier")

    def test_nothing_yet(self):
        facts = ColumnFacts("text").merge(ColumnFacts("text", n_rows=2, values={"a": None}))
        assert (facts.n_present, list(facts.values)) == (2, ["a"])


def test_types_that_change_further_down(tmp_path, monkeypatch):
    from tamis.data.formats import text as _csv

    monkeypatch.setattr(_csv, "LARGEST_BYTES", 1000)
    rows = [f"{i * 0.5},{i % 2 == 0},2020-01-0{1 + i % 9}".lower() for i in range(3000)]
    rows[2500] = "1.5,maybe,someday"
    (tmp_path / "t.csv").write_text("\n".join(["x,flag,day", *rows]))
    found, whole = scan(tmp_path), prepare(read_table(tmp_path / "t.csv"))
    assert described(found.roles) == described(whole.roles)
    assert [role.kind for role in found.roles] == ["numeric", "category", "category"]
    np.testing.assert_array_equal(found.to_numpy()[0], whole.X)


def test_columns_that_are_asked_for(tmp_path):
    parquet.write_table(TABLE, tmp_path / "t.parquet")
    assert scan(tmp_path, columns=["comment", "row"]).names == ("comment", "row")
    found = scan(tmp_path, include=["name"], exclude=["colour", "real"])
    assert "name" in found.names
    assert not {"colour", "real", "row"} & set(found.names)
    with pytest.raises(InputError, match=r"did you mean 'colour'"):
        scan(tmp_path, exclude=["color"])
