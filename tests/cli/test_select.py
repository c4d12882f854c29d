import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tamis.data import read_table


def test_the_reduced_table_keeps_rows_cells_and_order(run, table, tmp_path):
    out = tmp_path / "reduced.csv"
    result = run(
        "select", table, "--target", "kind", "--exclude", "price", "--select", "2", "--out", out
    )
    assert result.exit_code == 0
    assert result.stdout == ""
    lines = [line.split(",") for line in table.read_text().splitlines()]
    wanted = [lines[0].index(name) for name in ("strong", "weak", "kind")]
    expected = [",".join(cells[j] for j in wanted) for cells in lines]
    assert out.read_text().splitlines() == expected


def test_it_says_how_many_columns_were_kept(run, table, tmp_path):
    out = tmp_path / "reduced.csv"
    result = run("select", table, "--target", "kind", "--select", "2", "--out", out)
    assert f"kept 2 of 9 columns and the target 'kind', all 60 rows: {out}\n" in result.stderr


def test_types_stay_in_parquet(run, tmp_path):
    columns = {
        "small": pa.array([1, 2, 3, 4] * 5, pa.int8()),
        "y": pa.array(["a", "a", "b", "b"] * 5).dictionary_encode(),
        "when": pa.array(range(20), pa.timestamp("ms")),
        "tag": pa.array([f"tag {i}" for i in range(20)]),
    }
    source, out = tmp_path / "t.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table(columns), source)
    result = run("select", source, "--target", "y", "--select", "1", "--keep", "tag", "--out", out)
    assert result.exit_code == 0
    expected = pa.table({name: columns[name] for name in ("small", "y", "tag")})
    assert pq.read_table(out).equals(expected)


def test_keep_carries_a_column_that_was_not_ranked(run, table, tmp_path):
    out = tmp_path / "reduced.csv"
    options = ("--select", "1", "--keep", "patient_id", "--exclude", "patient_id,price")
    assert run("select", table, "--target", "kind", *options, "--out", out).exit_code == 0
    assert read_table(out).names == ("strong", "patient_id", "kind")


def test_rows_without_a_target_stay(run, write, tmp_path):
    rows = [f"{i % 2 + i / 100},{i},{i % 2}" for i in range(12)]
    source = write("a,b,y\n" + "\n".join(rows) + "\n7,7,\n")
    out = tmp_path / "out.csv"
    result = run("select", source, "--target", "y", "--select", "1", "--out", out)
    assert "note: 1 row with no target left out" in result.stderr
    assert out.read_text().splitlines()[-1] == "7,"


def test_sparse_npz_to_npz(run, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = np.where(rng.random((30, 4)) < 0.3, rng.normal(size=(30, 4)), 0.0)
    X[:, 2] = y
    rows, cols = np.nonzero(X)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=30))])
    source, out = tmp_path / "s.npz", tmp_path / "out.npz"
    np.savez(source, data=X[rows, cols], indices=cols, indptr=indptr, shape=(30, 4), y=y)
    assert run("select", source, "--select", "1", "--out", out).exit_code == 0
    reduced = read_table(out)
    assert reduced.names == ("x2",)
    assert reduced.matrix.toarray().ravel().tolist() == y.tolist()


def test_json_prints_the_ranking(run, table, tmp_path):
    out = tmp_path / "r.csv"
    result = run("select", table, "--target", "kind", "--select", "3", "--out", out, "--json")
    assert json.loads(result.stdout)["n_selected"] == 3


def test_a_target_is_needed(refuse, table, tmp_path, folder_is_clean):
    code, message = refuse("select", table, "--out", tmp_path / "r.csv")
    assert code == 2
    assert message.startswith("tamis select: --target is needed")
    assert "'noise', 'strong'" in message
    folder_is_clean("patients.csv")


def test_out_is_needed(refuse, table):
    code, message = refuse("select", table, "--target", "kind")
    assert code == 2
    assert "--out" in message
    assert "See 'tamis select --help'." in message


def test_existing_output_stays_without_force(run, refuse, table, write, folder_is_clean):
    out = write("precious", "r.csv")
    code, message = refuse("select", table, "--target", "kind", "--out", out)
    assert (code, out.read_text()) == (1, "precious")
    assert "--force" in message
    assert run("select", table, "--target", "kind", "--out", out, "--force").exit_code == 0
    assert out.read_text() != "precious"
    folder_is_clean("patients.csv", "r.csv")


def test_the_output_is_checked_before_the_data(refuse, write, tmp_path):
    out = write("precious", "r.csv")
    code, message = refuse("select", tmp_path / "missing.csv", "--target", "y", "--out", out)
    assert code == 1
    assert "r.csv: expected a new file" in message


def test_ctrl_c_while_writing_leaves_nothing(refuse, table, tmp_path, monkeypatch, folder_is_clean):
    def half(arrow, path):
        path.write_bytes(b"PAR1 half")
        raise KeyboardInterrupt

    monkeypatch.setattr("pyarrow.parquet.write_table", half)
    code, message = refuse("select", table, "--target", "kind", "--out", tmp_path / "r.parquet")
    assert code == 1
    assert message.endswith("tamis select: interrupted; nothing was written\n")
    folder_is_clean("patients.csv")


def test_ctrl_c_after_writing_says_so(refuse, table, tmp_path, monkeypatch):
    out = tmp_path / "r.csv"

    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("tamis.cli.select.summarize", stop)
    code, message = refuse("select", table, "--target", "kind", "--out", out, "--json")
    assert code == 1
    assert f"interrupted; already written: {out}" in message
    assert out.exists()


@pytest.mark.parametrize("name", ["r.xlsx", "r"])
def test_an_unknown_output_format_is_usage(refuse, table, tmp_path, name):
    code, message = refuse("select", table, "--target", "kind", "--out", tmp_path / name)
    assert code == 2
    assert ".parquet" in message
