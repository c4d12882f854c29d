"""The table of bad input in the foundation issue, as the command line meets it."""

import os

import numpy as np
import pytest


def rows(n=12, y=lambda i: i // 6):
    return "".join(f"{i},{i % 3},{y(i)}\n" for i in range(n))


def test_missing_target_column_suggests_the_closest(refuse, table):
    code, message = refuse("rank", table, "--target", "knd")
    assert code == 2
    assert message.startswith("tamis rank: patients.csv: expected a column named 'knd'")
    assert "did you mean 'kind'?" in message


@pytest.mark.parametrize("option", ["--columns", "--include", "--exclude", "--keep"])
def test_unknown_column_names_are_usage(refuse, table, option):
    code, message = refuse("rank", table, "--target", "kind", option, "weak,strang")
    assert code == 2
    assert "did you mean 'strong'?" in message


def test_contradicting_names_are_usage(refuse, table):
    code, message = refuse(
        "rank", table, "--target", "kind", "--columns", "weak", "--exclude", "weak"
    )
    assert code == 2
    assert "'weak' in both" in message


def test_target_with_one_class(refuse, write):
    code, message = refuse("rank", write("a,b,y\n" + rows(y=lambda i: 1)), "--target", "y")
    assert code == 1
    assert "expected target 'y' to have at least two different values, got only 1" in message


def test_target_of_the_wrong_length(refuse, tmp_path):
    np.savez(tmp_path / "m.npz", X=np.eye(4), y=np.arange(3))
    code, message = refuse("rank", tmp_path / "m.npz")
    assert code == 1
    assert "m.npz" in message


def test_a_column_with_an_infinite_value_is_left_out_with_a_note(run, write):
    result = run("rank", write("a,b,y\ninf,1,0\n" + rows()), "--target", "y", "--json")
    assert result.exit_code == 0
    assert "left out 1 column with infinite values: 'a'" in result.stderr
    assert '"b"' in result.stdout


def test_infinite_values_everywhere(refuse, write):
    code, message = refuse("rank", write("a,y\ninf,0\n1,1\n-inf,1\n"), "--target", "y")
    assert code == 1
    assert (
        "expected at least one column of finite numbers, got infinite values in all: 'a'" in message
    )


def test_empty_file(refuse, write):
    code, message = refuse("rank", write(""), "--target", "y")
    assert (code, message) == (
        1,
        "tamis rank: t.csv: expected a table, got an empty file (0 bytes).\n",
    )


def test_header_without_rows(refuse, write):
    code, message = refuse("rank", write("a,b,y\n"), "--target", "y")
    assert code == 1
    assert "expected at least one row of data" in message


def test_ragged_csv(refuse, write):
    code, message = refuse("rank", write("a,b,y\n1,2,0\n1,2\n3,4,1\n"), "--target", "y")
    assert code == 1
    assert "t.csv" in message
    assert "3" in message


def test_duplicate_column_names(refuse, write):
    code, message = refuse("rank", write("a,a,y\n" + rows()), "--target", "y")
    assert code == 1
    assert "expected every column name once, got 'a' more than once" in message


def test_unreadable_parquet(refuse, write):
    code, message = refuse("rank", write("not parquet", "t.parquet"), "--target", "y")
    assert code == 1
    assert "expected a Parquet file, got a damaged or other file" in message


def test_missing_file_suggests_the_closest(refuse, table):
    code, message = refuse("rank", table.with_name("patient.csv"), "--target", "kind")
    assert code == 1
    assert "patients.csv" in message


@pytest.mark.parametrize("command", ["rank", "select"])
def test_unwritable_output(refuse, table, tmp_path, command):
    out = tmp_path / "no" / "such" / "out.csv"
    code, message = refuse(command, table, "--target", "kind", "--out", out)
    assert code == 1
    assert "expected an existing folder" in message


def test_output_in_a_read_only_folder(refuse, table, monkeypatch, tmp_path):
    def forbidden(path, *args):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", forbidden)
    code, message = refuse("select", table, "--target", "kind", "--out", tmp_path / "r.parquet")
    assert code == 1
    assert "Permission denied; nothing was changed" in message


@pytest.mark.parametrize("select", ["0", "-3", "1.5", "elbw", "true", "nan", "0.0", ""])
def test_select_must_make_sense(refuse, table, select):
    code, message = refuse("rank", table, "--target", "kind", "--select", select)
    assert code == 2
    assert message.startswith(
        "tamis rank: --select must be auto, elbow, early, late, all, a count such as 20, a share "
        "such as 0.1, or a test with its level: fdr:0.1, fwer:0.05, knockoffs:0.1, shadows, "
        f"stability, got {select!r}"
    )


def test_a_misspelt_rule_is_suggested(refuse, table):
    _, message = refuse("rank", table, "--target", "kind", "--select", "elbw")
    assert message.endswith("did you mean 'elbow'?\n")


def test_one_bin(refuse, table):
    more = ("--method", "dft", "--param", "n_bins=1")
    code, message = refuse("rank", table, "--target", "kind", *more)
    assert (code, message) == (2, "tamis rank: DFT: n_bins must be an int in [2, 1e+06], got 1.\n")


def test_unknown_parameter(refuse, table):
    more = ("--method", "dft", "--param", "n_bin=8")
    code, message = refuse("rank", table, "--target", "kind", *more)
    assert code == 2
    assert "DFT has no parameter 'n_bin'; did you mean 'n_bins'? it has: " in message


@pytest.mark.parametrize(
    ("param", "advice"),
    [
        ("n_bins", "--param must be name=value"),
        ("n_features_to_select=3", "use the option --select instead"),
        ("n_jobs=2", "use the option --n-jobs instead"),
    ],
)
def test_malformed_parameters(refuse, table, param, advice):
    code, message = refuse("rank", table, "--target", "kind", "--param", param)
    assert code == 2
    assert advice in message


def test_unknown_method(refuse, table):
    code, message = refuse("rank", table, "--target", "kind", "--method", "dtf")
    assert code == 2
    assert "--method must be one of anovaf, " in message
    assert "got 'dtf'; did you mean 'dft'?" in message


def test_dft_on_measurements_points_to_the_default_and_task(refuse, table):
    code, message = refuse("rank", table, "--target", "price", "--method", "dft")
    assert code == 2
    assert "--method dft is for classification" in message
    assert "use --method anovaf, or --task classification" in message


def test_rft_on_words_points_to_the_default_only(refuse, table):
    code, message = refuse("rank", table, "--target", "kind", "--method", "rft")
    assert code == 2
    assert message.endswith("use --method anovaf\n")


def test_regression_on_words(refuse, table):
    code, message = refuse("rank", table, "--target", "kind", "--task", "regression")
    assert code == 1
    assert "got text such as 'no'" in message


def test_all_columns_constant(refuse, write):
    path = write("a,b,y\n" + "".join(f"1,2,{i % 2}\n" for i in range(8)))
    code, message = refuse("rank", path, "--target", "y")
    assert code == 1
    assert "expected at least one column with two different values" in message


def test_all_values_missing(refuse, write):
    path = write("a,b,y\n" + "".join(f",,{i % 2}\n" for i in range(8)))
    code, message = refuse("rank", path, "--target", "y")
    assert code == 1
    assert "constant or empty columns" in message


def test_target_missing_everywhere(refuse, write):
    path = write("a,b,y\n" + "".join(f"{i},1,\n" for i in range(8)))
    code, message = refuse("rank", path, "--target", "y")
    assert code == 1
    assert "expected values in target 'y'" in message


@pytest.mark.parametrize("name", ["r.xlsx", "r.npz", "r"])
def test_an_unknown_ranking_format_is_usage(refuse, table, tmp_path, name):
    code, message = refuse("rank", table, "--target", "kind", "--out", tmp_path / name)
    assert code == 2
    assert "--out must end in .csv, .tsv, .json, .parquet or .feather" in message


def test_no_failure_leaves_a_file(refuse, table, write, tmp_path, folder_is_clean):
    constant = write("a,y\n1,0\n1,1\n")
    assert refuse("select", constant, "--target", "y", "--out", tmp_path / "r.csv")[0] == 1
    assert refuse("rank", constant, "--target", "y", "--out", tmp_path / "r.json")[0] == 1
    folder_is_clean("patients.csv", "t.csv")
