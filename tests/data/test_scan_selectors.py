"""Selectors on files: the numbers of a fit in memory, whatever the format and the blocks."""

import numpy as np
import pytest

import tamis
from tamis.exceptions import InputError

N_ROWS, N_COLUMNS = 120, 9


def make_table():
    rng = np.random.default_rng(1)
    y = rng.integers(3, size=N_ROWS)
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) + y[:, None] * (np.arange(N_COLUMNS) % 4 == 0)
    X[:, 1] = np.round(X[:, 1])
    return X, np.array(["low", "mid", "high"])[y], y + rng.normal(size=N_ROWS)


@pytest.fixture(scope="module")
def table():
    return make_table()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    """Three files of every format; the second has its columns in another order."""
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    X, labels, values = table
    folder = tmp_path_factory.mktemp("files")
    names = [f"c{j}" for j in range(N_COLUMNS)]
    for number, rows in enumerate(np.split(np.arange(N_ROWS), [30, 70])):
        content = {name: X[rows, j] for j, name in enumerate(names)}
        content |= {"label": labels[rows], "value": values[rows]}
        if number == 1:
            content = dict(reversed(content.items()))
        piece = pa.table(content)
        if number == 2:  # a dictionary of its own
            place = piece.column_names.index("label")
            piece = piece.set_column(place, "label", piece["label"].dictionary_encode())
        parquet.write_table(piece, folder / f"{number}.parquet", row_group_size=13)
        feather.write_feather(piece, folder / f"{number}.feather", chunksize=11)
        csv.write_csv(piece.cast(_plain(pa, piece)), folder / f"{number}.csv")
        np.save(folder / f"{number}.npy", X[rows])
    return folder


def _plain(pa, piece):
    fields = [
        pa.field(f.name, pa.string()) if pa.types.is_dictionary(f.type) else f for f in piece.schema
    ]
    return pa.schema(fields)


def open_scan(folder, ending, table, target, **options):
    if ending == "npy":
        given = table[1] if target == "label" else table[2]
        return tamis.scan(folder / "*.npy", target=given, **options)
    columns = [f"c{j}" for j in range(N_COLUMNS)]
    return tamis.scan(folder / f"*.{ending}", target=target, columns=columns, **options)


METHODS = {
    "dft": "label",
    "fisher": "label",
    "ilfs": "label",
    "informationgain": "label",
    "variance": "label",
    "rft": "value",
    "anovaf": "value",
    "correlation": "value",
    "mutualinformation": "value",
}


# With room for all rows, tests/passes/test_same_everywhere.py has the other formats.
@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("ending", "limit"),
    [*((ending, "1 KiB") for ending in ("parquet", "feather", "csv", "npy")), ("feather", "1 GiB")],
)
@pytest.mark.parametrize("method", METHODS)
def test_files_give_what_memory_gives(method, ending, limit, folder, table):
    target = METHODS[method]
    selector = tamis.make_selector(method, n_features_to_select=3)
    expected = selector.fit(table[0], table[1] if target == "label" else table[2])
    scores, order = expected.scores_.copy(), expected.order_.copy()
    found = selector.fit(open_scan(folder, ending, table, target, memory_limit=limit))
    np.testing.assert_allclose(found.scores_, scores, rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(found.order_, order)
    if target == "label" and hasattr(found, "classes_"):
        assert found.classes_.tolist() == ["high", "low", "mid"]
    if ending != "npy":
        assert list(found.get_feature_names_out()) == [f"c{j}" for j in np.sort(order[:3])]


def test_one_column(folder, table):
    scan = tamis.scan(folder / "*.parquet", target="label", columns=["c4"])
    found = tamis.DFT().fit(scan)
    np.testing.assert_allclose(found.scores_, tamis.DFT().fit(table[0][:, [4]], table[1]).scores_)


def test_ranges_come_from_the_footers(folder, table, monkeypatch):
    from tamis.statistics import Ranges

    monkeypatch.setattr(Ranges, "update", None)  # no walk may ask for them
    found = tamis.DFT().fit(open_scan(folder, "parquet", table, "label"))
    monkeypatch.undo()
    np.testing.assert_array_equal(found.scores_, tamis.DFT().fit(table[0], table[1]).scores_)


def test_weights_in_a_column(tmp_path, table):
    import pyarrow as pa
    from pyarrow import parquet

    X, labels, _ = table
    weight = np.random.default_rng(0).integers(0, 3, N_ROWS)
    content = {f"c{j}": X[:, j] for j in range(N_COLUMNS)} | {"label": labels, "w": weight}
    parquet.write_table(pa.table(content), tmp_path / "t.parquet", row_group_size=50)
    found = tamis.DFT().fit(tamis.scan(tmp_path / "t.parquet", target="label", weight="w"))
    expected = tamis.DFT().fit(X, labels, sample_weight=weight)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-10, atol=1e-12)


def test_a_damaged_file_is_named_and_a_retry_goes_on_once_it_is_mended(
    folder, table, tmp_path, monkeypatch
):
    import shutil

    from pyarrow import parquet

    monkeypatch.setattr("tamis._runtime.checkpoint.EVERY", 0.0)
    for number in range(3):
        shutil.copy(folder / f"{number}.parquet", tmp_path)
    victim, state = tmp_path / "1.parquet", tmp_path / "state"
    good = victim.read_bytes()
    group = parquet.ParquetFile(victim).metadata.row_group(2)
    column = next(c for c in map(group.column, range(11)) if c.path_in_schema == "c3")
    start = column.dictionary_page_offset or column.data_page_offset
    victim.write_bytes(good[:start] + bytes(24) + good[start + 24 :])
    columns = [f"c{j}" for j in range(N_COLUMNS)]

    def fit():
        options = {"target": "value", "columns": columns, "checkpoint": state}
        return tamis.Correlation(task="regression").fit(
            tamis.scan(f"{tmp_path}/*.parquet", **options)
        )

    with pytest.raises(InputError, match=r"1\.parquet, row group 2"):
        fit()
    assert state.exists()
    kept = state.read_bytes()
    victim.write_bytes(good)
    np.testing.assert_allclose(
        fit().scores_,
        tamis.Correlation(task="regression").fit(table[0], table[2]).scores_,
        rtol=1e-10,
    )
    assert not state.exists()
    state.write_bytes(kept)
    shutil.copy(tmp_path / "2.parquet", tmp_path / "0.parquet")  # has been counted already
    with pytest.raises(InputError, match="belongs to a fit with other data"):
        fit()


def test_a_file_that_changes_is_named(folder, table, tmp_path):
    import os
    import shutil

    for number in range(3):
        shutil.copy(folder / f"{number}.parquet", tmp_path)
    scan = open_scan(tmp_path, "parquet", table, "label")
    os.utime(tmp_path / "2.parquet", ns=(0, 1))
    with pytest.raises(InputError, match=r"2\.parquet"):
        tamis.DFT().fit(scan)


def test_transform_reads_less(folder, table):
    scan = open_scan(folder, "parquet", table, "label")
    selector = tamis.DFT(n_features_to_select=2).fit(scan)
    narrow = selector.transform(scan)
    np.testing.assert_array_equal(narrow.to_numpy()[0], table[0][:, selector.support_])
