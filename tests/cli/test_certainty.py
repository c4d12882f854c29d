"""Tests from the command line: rules with a level, and a word about selections at chance."""

import csv
import io
import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Paths of a table with two related columns of forty, and of one with none."""
    rng = np.random.default_rng(1)  # of 0, column 19 is related to y by chance
    y = np.arange(100) % 2
    X = rng.standard_normal((100, 40))
    noise = X.copy()
    X[:, :2] += 1.5 * y[:, None]
    folder = tmp_path_factory.mktemp("tables")
    for name, table in (("signal", X), ("noise", noise)):
        header = ",".join([*(f"c{j}" for j in range(40)), "y"])
        rows = np.column_stack([table, y])
        np.savetxt(folder / f"{name}.csv", rows, delimiter=",", header=header, comments="")
    return folder


def run(capfd, *words):
    from tamis.cli import main

    code = main([str(word) for word in words])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("select", "column"),
    [("fdr:0.1", "q_value"), ("fwer:0.05", "p_value"), ("shadows:0.1", "p_value")],
)
def test_csv_has_the_values_of_the_test(capfd, tables, select, column):
    words = ("rank", tables / "signal.csv", "--target", "y", "--select", select)
    code, out, _ = run(capfd, *words)
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    level = float(select.partition(":")[2])
    assert all((float(row[column]) <= level) == (row["selected"] == "true") for row in rows)
    assert {row["feature"] for row in rows if row["selected"] == "true"} == {"c0", "c1"}


def test_json_has_question_and_assumption(capfd, tables):
    words = ("rank", tables / "signal.csv", "--target", "y", "--select", "fdr:0.1", "--json")
    record = json.loads(run(capfd, *words)[1])
    details = record["cut"]["details"]
    assert details["level"] == 0.1
    assert "marginal" in details["question"]
    assert details["assumption"]
    assert details["guarantee"]
    assert "p_values" not in details
    assert 0 < record["features"][0]["q_value"] <= 0.1


def test_knockoffs_and_stability_run(capfd, tables):
    words = ("rank", tables / "signal.csv", "--target", "y", "--select")
    code, out, _ = run(capfd, *words, "knockoffs:0.2")
    assert code == 0
    assert "e_value" in out.splitlines()[0]
    code, out, _ = run(capfd, *words, "stability", "--method", "anovaf")
    assert code == 0
    assert sum(row["selected"] == "true" for row in csv.DictReader(io.StringIO(out))) == 2


@pytest.mark.parametrize("method", ["dft", "svmrfe"])
def test_a_selection_at_chance_says_so(capfd, tables, method):
    words = ("rank", tables / "noise.csv", "--target", "y", "--method", method, "--select", "5")
    code, _, err = run(capfd, *words)
    assert code == 0
    assert "the selection is not distinguishable from noise" in err
    words = ("rank", tables / "signal.csv", "--target", "y", "--method", method, "--select", "5")
    assert "distinguishable" not in run(capfd, *words)[2]


def test_rows_read_block_by_block(capfd, tables, tmp_path):
    """Compared by the law of the scores, or said not to be."""
    for name in ("noise", "signal"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "part.csv").write_text((tables / f"{name}.csv").read_text())
    base = ("--target", "y", "--select", "5", "--method")
    _, _, err = run(capfd, "rank", tmp_path / "noise", *base, "anovaf")
    assert "the selection is not distinguishable from noise" in err
    _, _, err = run(capfd, "rank", tmp_path / "signal", *base, "anovaf")
    assert "noise" not in err.replace(str(tmp_path), "")
    code, _, err = run(capfd, "rank", tmp_path / "noise", *base, "dft")
    assert code == 0
    assert "not compared with noise, because the rows are read block by block" in err


def test_nothing_is_an_answer(capfd, tables):
    words = ("rank", tables / "noise.csv", "--target", "y", "--select", "fwer:0.05")
    code, out, err = run(capfd, *words)
    assert code == 0
    assert "no column was selected. At this level, no feature is distinguishable from noise" in err
    assert "true" not in out


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        ("fdr:2", "FalseDiscoveries: level must be a float in (0, 1), got 2"),
        ("fwer:1", "FamilyWise: level must be a float in (0, 1), got 1"),
        ("knockoffs:0", "Knockoffs: level must be a float in (0, 1), got 0"),
        ("shadows:nan", "Shadows: level must be a float in (0, 1), got nan"),
        ("stability:-1", "StabilitySelection: level must be a float above 0, got -1"),
        ("fwer:", "the level must be a number, as in fdr:0.1, got ''"),
        ("knockoffs:x", "the level must be a number, as in fdr:0.1, got 'x'"),
        ("fdx:0.1", "did you mean 'fdr'?"),
    ],
)
def test_bad_levels_are_usage_errors(capfd, tables, select, reason):
    words = ("rank", tables / "noise.csv", "--target", "y", "--select", select)
    code, _, err = run(capfd, *words)
    assert code == 2
    assert reason in err


def test_a_method_without_a_target_cannot_be_tested(capfd, tables):
    words = ("rank", tables / "noise.csv", "--method", "variance", "--select", "fdr:0.1")
    code, _, err = run(capfd, *words)
    assert code == 1
    assert "FalseDiscoveries: expected a selector that uses the target, got Variance" in err


@pytest.mark.parametrize(
    ("select", "reason"),
    [
        ("fwer:0.05", "expected at least 20 different orders of the target"),
        ("knockoffs", "expected at least two rows of every class, got one of 'v'"),
        ("stability", "expected at least 4 rows for two half samples, got 3"),
    ],
)
def test_too_few_rows(capfd, tmp_path, select, reason):
    (tmp_path / "few.csv").write_text("a,b,y\n1,2,u\n2,1,v\n3,4,u\n")
    code, out, err = run(capfd, "rank", tmp_path / "few.csv", "--target", "y", "--select", select)
    assert (code, out) == (1, "")
    assert reason in err
