"""Selection manifests: written, read, refused, applied."""

import json
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import tamis
from tamis import manifest
from tamis._runtime.plain import plain, versions
from tamis.cutoff import CrossValidated, TopK
from tamis.data import RawTable
from tamis.exceptions import InputError, SelectionWarning
from tamis.manifest import Manifest, apply, fingerprint, make_manifest, read_manifest
from tamis.manifest import write_manifest as write


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    frame = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("edcba"))
    frame["c"] += 3 * y
    frame["a"] += 2 * y
    return frame, y


@pytest.fixture
def fitted(table):
    return tamis.DFT(n_bins=8, n_features_to_select=2).fit(*table)


@pytest.fixture
def simple():
    return Manifest(["c", "a", "b"], [3.0, 2.0, 1.0], selected=["a", "c"], method="by hand")


def test_everything_comes_back(table, fitted, tmp_path):
    path = tmp_path / "choice.json"
    write(fitted, path, data=table[0])
    record = read_manifest(path)
    assert record.names == ("c", "a", *record.names[2:])
    assert set(record.names) == set("abcde")
    np.testing.assert_array_equal(record.scores, fitted.scores_[fitted.order_])
    assert record.selected == ("c", "a")  # in the order of the table
    assert (record.method, record.params["n_bins"]) == ("dft", 8)
    assert record.cut == {"rule": "TopK", "k": 2, "keep": []}
    assert record.data == fingerprint(table[0])
    assert record.versions["tamis"] == tamis.__version__
    assert record.to_dict() == make_manifest(fitted, data=table[0]).to_dict()
    assert json.loads(path.read_text())["format_version"] == 1


def test_the_same_selection_gives_the_same_file(table, fitted, tmp_path):
    for name in ("one", "two"):
        write(fitted, tmp_path / name, data=table[0])
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_an_existing_file_stays_without_force(fitted, tmp_path):
    path = tmp_path / "choice.json"
    path.write_text("precious")
    with pytest.raises(InputError, match="expected a new file"):
        write(fitted, path)
    assert path.read_text() == "precious"
    write(fitted, path, force=True)
    assert read_manifest(path).method == "dft"
    assert [item.name for item in tmp_path.iterdir()] == ["choice.json"]


def test_rules_are_plain_data(table):
    from sklearn.naive_bayes import GaussianNB

    rule = CrossValidated(GaussianNB(), cv=2, grid=[1, 2], keep=["e", 1])
    cut = make_manifest(tamis.DFT(n_features_to_select=rule).fit(*table)).cut
    assert (cut["rule"], cut["grid"], cut["keep"]) == ("CrossValidated", [1, 2], ["e", "d"])
    assert cut["estimator"] == "GaussianNB()"
    grouped = TopK(2, groups={"pair": ["a", "c"]})
    cut = make_manifest(tamis.DFT(n_features_to_select=grouped).fit(*table)).cut
    assert cut["groups"] == {"pair": ["a", "c"]}
    best = make_manifest(tamis.MRMR().fit(*table)).cut
    assert best == {"rule": "BestCount", "keep": []}


def test_a_recut_is_not_taken_for_the_rule_of_the_fit(fitted):
    record = make_manifest(fitted.recut(3))
    assert record.cut == {"rule": "recut", "n_selected": 3}
    assert len(record.selected) == 3


def test_selectors_inside_a_selector_are_words(table):
    record = make_manifest(tamis.Consensus(selectors=["dft", tamis.Fisher()]).fit(*table))
    assert record.params["selectors"] == ["dft", "Fisher()"]


def test_names_of_all_kinds_survive(tmp_path):
    names = ["<script>alert(1)</script>", "größe", "a\u202eb", 'quo"te', "\ud800", "x" * 10_000]
    record = Manifest(names, list(range(6)), selected=names[::-1], method="by hand")
    write(record, tmp_path / "m.json")
    assert read_manifest(tmp_path / "m.json").names == tuple(names)


def test_nothing_selected_is_no_manifest(table):
    with pytest.warns(SelectionWarning):
        none = tamis.DFT(n_features_to_select=tamis.cutoff.Threshold(99.0)).fit(*table)
    with (
        pytest.warns(SelectionWarning),
        pytest.raises(InputError, match="at least one column in 'selected'"),
    ):
        make_manifest(none)


class Recommendation(NamedTuple):
    data: str = "colon"
    method: str = "dft"
    learner: str = "svm"
    metric: str = "accuracy"
    count: int = 2
    columns: tuple = ("c", "a")
    indices: tuple = (7, 3)
    shares: tuple = (1.0, 0.8)
    reasons: tuple = ("it is the best",)


def test_a_recommendation_is_a_selection(tmp_path):
    write(Recommendation(), tmp_path / "m.json")
    record = read_manifest(tmp_path / "m.json")
    assert (record.names, record.scores) == (("c", "a"), (1.0, 0.8))
    assert record.selected == ("a", "c")  # in the order of the table
    assert record.data == {"name": "colon"}


# Reading what anybody may have written.


def change(**parts):
    record = Manifest(["a", "b"], [2.0, 1.0], ["a"], "dft").to_dict()
    return json.dumps(record | parts)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "which is JSON"),
        ("a,b\n1,2\n", "which is JSON"),
        (b"PAR1\xff\x00", "which is JSON"),
        ("[" * 100_000, "which is JSON"),
        ("9" * 5_000, "which is JSON"),
        (change().replace("2.0", "NaN"), "NaN is no number"),
        ("{}", "got other JSON"),
        ("[1]", "got other JSON"),
        (change(format="another"), "got other JSON"),
        (change(format_version=2), "expected format_version 1, got '2'"),
        (change(format_version=True), "expected format_version 1"),
        (change(format_version=None), "expected format_version 1"),
        (change(names="ab"), "a list of column names in 'names'"),
        (change(names=["a", 3]), "strings, in 'names', got 3"),
        (change(names=[]), "at least one column in 'names'"),
        (change(names=["a", "a"]), "every column once in 'names', got 'a' twice"),
        (change(selected=[]), "at least one column in 'selected'"),
        (change(selected={"a": 1}), "a list of column names in 'selected'"),
        (change(scores=[1.0]), r"as many scores as names \(2\), got 1"),
        (change(scores=[1.0, "2"]), "finite numbers in 'scores', got '2'"),
        (change(scores=[1.0, True]), "finite numbers in 'scores'"),
        (change().replace("2.0", "1e999"), "finite numbers in 'scores', got inf"),
        (change(scores=3), "a list of numbers in 'scores'"),
        (change(method=["dft"]), "a string in 'method'"),
        (change(target=3), "a string or null in 'target'"),
        (change(params=[]), "an object in 'params'"),
        (change(cut="__import__('os')" * 9), r"an object in 'cut', got .{1,70}\.\.\."),
    ],
)
def test_a_wrong_file_is_refused_with_a_reason(tmp_path, content, message):
    path = tmp_path / "m.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message) as caught:
        read_manifest(path)
    assert str(caught.value).startswith("m.json: expected")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("part", ["names", "scores", "selected", "method", "params", "target"])
def test_every_part_is_needed(tmp_path, part):
    record = json.loads(change())
    del record[part]
    (tmp_path / "m.json").write_text(json.dumps(record))
    with pytest.raises(InputError, match=f"expected '{part}' in a selection manifest, got none"):
        read_manifest(tmp_path / "m.json")


def test_a_large_integer_is_no_score(tmp_path):
    (tmp_path / "m.json").write_text(change(scores=[10**400, 1]))
    with pytest.raises(InputError, match="finite numbers in 'scores'"):
        read_manifest(tmp_path / "m.json")


def test_a_later_part_is_no_hindrance(tmp_path):
    (tmp_path / "m.json").write_text(change(something_new=[1, 2]))
    assert read_manifest(tmp_path / "m.json").names == ("a", "b")


def test_size_is_bounded(tmp_path, simple, monkeypatch):
    write(simple, tmp_path / "m.json")
    monkeypatch.setattr("tamis.manifest.MAX_BYTES", 100)
    with pytest.raises(InputError, match="at most 100 bytes, got more"):
        read_manifest(tmp_path / "m.json")
    with pytest.raises(InputError, match="at most 100 bytes"):
        write(simple, tmp_path / "other.json")
    assert not (tmp_path / "other.json").exists()
    with pytest.raises(InputError, match="no regular file"):
        read_manifest("/dev/zero")


def test_missing_files_and_folders_are_named(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.json: expected to read"):
        read_manifest(tmp_path / "nowhere.json")
    with pytest.raises(InputError, match="expected to read a selection manifest"):
        read_manifest(tmp_path)


def test_a_record_is_checked_when_it_is_made():
    with pytest.raises(InputError, match="Manifest: expected as many scores"):
        Manifest(["a"], [], ["a"], "dft")


# Applying.


def test_columns_come_by_name_in_the_order_of_the_selection(simple):
    frame = pd.DataFrame({"d": ["x"], "c": [1], "b": [2.0], "a": [True]}, index=[7])
    reduced = apply(simple, frame)
    pd.testing.assert_frame_equal(reduced, frame[["a", "c"]])
    other = pl.DataFrame({"d": ["x"], "c": [1], "b": [2.0], "a": [True]})
    assert apply(simple, other).equals(other.select("a", "c"))
    arrow = pa.table({"c": pa.array([1], pa.int8()), "a": ["x"]})
    assert apply(simple, arrow).equals(arrow.select(["a", "c"]))
    assert apply(simple, frame, also=["d", "a"]).columns.tolist() == ["a", "c", "d"]


def test_arrays_have_numbers_for_names():
    X = np.arange(12.0).reshape(3, 4)
    record = Manifest(["x2", "x0"], [2, 1], selected=["x0", "x2"], method="dft")
    np.testing.assert_array_equal(apply(record, X), X[:, [0, 2]])
    for make in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array):
        np.testing.assert_array_equal(apply(record, make(X)).toarray(), X[:, [0, 2]])
    frame = pd.DataFrame(X, columns=[0, 1, 2, 3])
    by_number = Manifest(["0", "3"], [2, 1], selected=["0", "3"], method="dft")
    assert apply(by_number, frame).columns.tolist() == [0, 3]
    with pytest.raises(InputError, match="got a table without 'x2'"):
        apply(record, X[:, :2])
    with pytest.raises(InputError, match="two dimensions, got list"):
        apply(record, [1, 2])


def test_raw_tables_stay_raw(simple):
    raw = RawTable.from_arrow(pa.table({"c": [1], "y": ["k"], "b": [2], "a": [3]}))
    assert apply(simple, raw).names == ("a", "c")
    assert apply(simple, raw, also=["y"]).arrow.column_names == ["a", "c", "y"]
    matrix = RawTable.from_matrix(np.arange(6.0).reshape(2, 3), np.array([0, 1]), ["c", "b", "a"])
    reduced = apply(simple, matrix)
    assert reduced.names == ("a", "c")
    assert reduced.matrix.tolist() == [[2, 0], [5, 3]]
    assert reduced.target.tolist() == [0, 1]


def test_missing_columns_are_listed(simple):
    with pytest.raises(InputError, match=r"all 2 selected columns, got a table without 'a', 'c'\."):
        apply(simple, pd.DataFrame({"b": [1]}))
    many = [f"gene {j}" for j in range(200)]
    record = Manifest(many, list(range(200)), many, "dft")
    with pytest.raises(InputError, match=r"'gene 49' and 150 more\."):
        apply(record, pl.DataFrame({"b": [1]}))


def test_applying_equals_transforming(table, fitted):
    frame, _ = table
    fitted.set_output(transform="pandas")
    shuffled = frame[list("abcde")]
    pd.testing.assert_frame_equal(apply(make_manifest(fitted), shuffled), fitted.transform(frame))


# Which table it was.


def test_the_same_numbers_have_the_same_fingerprint():
    X = np.array([[1.0, 0.0], [np.nan, 3.0], [-0.0, 2.0]])
    names = ["p", "q"]
    expected = fingerprint(X, names=names)
    holders = [
        pd.DataFrame(X, columns=names),
        pd.DataFrame(X, columns=names, index=[5, 6, 7]),
        pl.DataFrame(X, schema=names),
        pl.DataFrame({"p": [1.0, None, 0.0], "q": [0, 3, 2]}),
        pa.table({"p": pa.array([1.0, None, 0.0]), "q": pa.array([0, 3, 2], pa.int8())}),
    ]
    assert all(fingerprint(holder) == expected for holder in holders)
    arrays = [sparse.csr_array(X), sparse.coo_array(X), np.asfortranarray(X), X.astype(np.float32)]
    assert all(fingerprint(array, names=names) == expected for array in arrays)
    assert (expected["n_rows"], expected["n_columns"]) == (3, 2)


def test_another_table_has_another_fingerprint():
    X = np.arange(12.0).reshape(4, 3)
    other = X.copy()
    other[2, 1] += 1e-9
    tables = [X, other, X.reshape(3, 4), X[:, ::-1], X[::-1], X[:3]]
    assert len({fingerprint(table)["sha256"] for table in tables}) == len(tables)
    renamed = fingerprint(X, names=["a", "b", "c"])
    assert renamed["content_sha256"] == fingerprint(X)["content_sha256"]
    assert renamed["sha256"] != fingerprint(X)["sha256"]


def test_words_and_wide_tables_have_fingerprints():
    frame = pd.DataFrame({"word": ["a", None, "ä"], "day": pd.to_datetime(["2024-01-01"] * 3)})
    assert fingerprint(frame) == fingerprint(frame.copy())
    assert fingerprint(frame) != fingerprint(frame.assign(word=["a", "b", "ä"]))
    wide = np.arange(2 * 700.0).reshape(2, 700)
    swapped = wide.copy()
    swapped[:, [3, 699]] = swapped[:, [699, 3]]
    assert fingerprint(wide) != fingerprint(swapped)
    assert fingerprint(wide) == fingerprint(sparse.csr_array(wide))


def test_public_names():
    assert tamis.manifest is manifest


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(0.5), 0.5),
        (np.int64(3), 3),
        (np.bool_(True), True),
        (float("inf"), None),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        ({1: (np.float64(2), None)}, {"1": [2.0, None]}),
        (np.array(["a"]), ["a"]),
        (range, "<class 'range'>"),
    ],
)
def test_plain(value, expected):
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)


def test_versions_of_what_is_not_installed():
    found = versions(["tamis", "not-a-package"])
    assert list(found) == ["python", "tamis", "not-a-package"]
    assert found["not-a-package"] == "unknown"
