import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.data import read_table
from tamis.manifest import Manifest, read_manifest, write_manifest

OPTIONS = ("--target", "kind", "--exclude", "price", "--select", "2")


@pytest.fixture
def choice(run, table, tmp_path):
    """Write a manifest by the command itself and return its path."""
    path = tmp_path / "choice.json"
    out = tmp_path / "first.csv"
    result = run("select", table, *OPTIONS, "--out", out, "--write-manifest", path)
    assert result.exit_code == 0, result.stderr
    assert f"wrote {path}\n" in result.stderr
    out.unlink()
    return path


def test_the_manifest_says_what_was_selected(choice, table):
    record = read_manifest(choice)
    assert record.selected == ("strong", "weak")
    assert record.names[:2] == ("strong", "weak")
    assert (record.method, record.target, record.task) == ("anovaf", "kind", "classification")
    assert record.cut["rule"] == "TopK"
    assert record.data["n_rows"] == 60
    assert record.data["n_columns"] == len(record.names)


def test_it_applies_to_another_table(run, choice, write, tmp_path):
    other = write("weak,more,strong\n007,x,1.50\n,y,2\n", "other.csv")
    out = tmp_path / "r.csv"
    result = run("select", other, "--manifest", choice, "--out", out)
    assert result.exit_code == 0
    assert out.read_text() == "strong,weak\n1.50,007\n2,\n"
    assert f"kept 2 of 3 columns as choice.json says (anovaf), all 2 rows: {out}" in result.stderr
    assert result.stdout == ""


def test_types_stay(run, choice, tmp_path):
    columns = {
        "weak": pa.array([1, None], pa.int8()),
        "when": pa.array([0, 1], pa.timestamp("ms")),
        "strong": pa.array(["a", "b"]).dictionary_encode(),
        "y": pa.array([True, False]),
    }
    source, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table(columns), source)
    options = ("--manifest", choice, "--keep", "when", "--target", "y", "--out", out)
    assert run("select", source, *options).exit_code == 0
    expected = pa.table({name: columns[name] for name in ("strong", "weak", "when", "y")})
    assert pq.read_table(out).equals(expected)


def test_columns_kept_without_a_score_are_in_the_manifest(run, table, tmp_path):
    path, out = tmp_path / "m.json", tmp_path / "r.csv"
    more = ("--keep", "patient_id", "--exclude", "patient_id", "--write-manifest", path)
    assert run("select", table, *OPTIONS, *more, "--out", out).exit_code == 0
    assert read_manifest(path).selected == ("strong", "weak", "patient_id")
    again = tmp_path / "again.csv"
    assert run("select", table, "--manifest", path, "--out", again).exit_code == 0
    assert read_table(again).names == ("strong", "weak", "patient_id")


def test_npz_keeps_its_target(run, tmp_path):
    import numpy as np

    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 4))
    X[:, 2] += 3 * y
    source, path, out = tmp_path / "s.npz", tmp_path / "m.json", tmp_path / "out.npz"
    np.savez(source, X=X, y=y)
    options = ("--select", "1", "--write-manifest", path)
    assert run("select", source, *options, "--out", tmp_path / "a.npz").exit_code == 0
    assert run("select", source, "--manifest", path, "--out", out).exit_code == 0
    reduced = read_table(out)
    assert reduced.names == ("x2",)
    np.testing.assert_array_equal(reduced.matrix[:, 0], X[:, 2])
    np.testing.assert_array_equal(reduced.target, y)


@pytest.mark.parametrize(
    "option",
    [
        ("--method", "dft"),
        ("--select", "3"),
        ("--task", "regression"),
        ("--columns", "weak"),
        ("--include", "day"),
        ("--exclude", "weak"),
        ("--param", "n_bins=3"),
        ("--n-jobs", "1"),
        ("--json",),
        ("--write-manifest", "other.json"),
    ],
)
def test_what_would_choose_otherwise_is_usage(refuse, table, choice, tmp_path, option):
    code, message = refuse(
        "select", table, "--manifest", choice, *option, "--out", tmp_path / "r.csv"
    )
    assert code == 2
    assert message.startswith("tamis select: --manifest says which columns to write")
    assert option[0] in message
    assert not (tmp_path / "r.csv").exists()


def test_missing_columns_are_a_failure_that_lists_them(refuse, choice, write, tmp_path):
    other = write("weak,more\n1,2\n", "other.csv")
    code, message = refuse("select", other, "--manifest", choice, "--out", tmp_path / "r.csv")
    assert code == 1
    assert "other.csv: expected all 2 selected columns, got a table without 'strong'" in message
    assert not (tmp_path / "r.csv").exists()


def test_an_unknown_target_is_usage(refuse, table, choice, tmp_path):
    options = ("--manifest", choice, "--target", "knid", "--out", tmp_path / "r.csv")
    code, message = refuse("select", table, *options)
    assert code == 2
    assert "did you mean 'kind'?" in message


@pytest.mark.parametrize("content", ["", "{}", json.dumps({"format": "x"}), "\x00\x01"])
def test_another_file_is_a_failure(refuse, table, write, tmp_path, content):
    path = write(content, "m.json")
    code, message = refuse("select", table, "--manifest", path, "--out", tmp_path / "r.csv")
    assert code == 1
    assert "m.json: expected a selection manifest" in message


def test_a_missing_manifest_is_named(refuse, table, tmp_path):
    options = ("--manifest", tmp_path / "m.json", "--out", tmp_path / "r.csv")
    code, message = refuse("select", table, *options)
    assert code == 1
    assert "m.json" in message


def test_an_existing_manifest_stays_without_force(run, refuse, table, write, tmp_path):
    path = write("precious", "m.json")
    options = ("select", table, *OPTIONS, "--out", tmp_path / "r.csv", "--write-manifest", path)
    code, _ = refuse(*options)
    assert (code, path.read_text()) == (1, "precious")
    assert not (tmp_path / "r.csv").exists()
    assert run(*options, "--force").exit_code == 0
    assert read_manifest(path).method == "anovaf"


def test_a_manifest_over_the_tables_is_usage(refuse, table, tmp_path):
    out = tmp_path / "r.csv"
    for path in (table, out):
        options = ("--out", out, "--write-manifest", path, "--force")
        code, message = refuse("select", table, *OPTIONS, *options)
        assert code == 2
        assert "--write-manifest must not be" in message
    assert not out.exists()


def test_names_from_a_manifest_are_printed_harmless(refuse, table, tmp_path):
    path = tmp_path / "m.json"
    evil = "\x1b[2Jgone\u202e"
    write_manifest(Manifest([evil], [1.0], [evil], "\x1b[31m"), path)
    code, message = refuse("select", table, "--manifest", path, "--out", tmp_path / "r.csv")
    assert code == 1
    assert "\x1b" not in message
    assert "\u202e" not in message
