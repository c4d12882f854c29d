"""``tamis compare``: the same numbers as Python, a report, a store, and what it refuses."""

import csv
import io
import json

import numpy as np
import pytest

import tamis
from tamis.cli.compare import chosen_methods, counts_of, protocol_of, show
from tamis.cli.console import Misuse
from tamis.evaluation.protocols import Folds, LeaveOneOut, RepeatedSplits, TimeOrder

FAST = ("--protocol", "3", "--counts", "1,2", "--methods", "dft,randomranking", "--n-jobs", "1")


@pytest.fixture
def options(table):
    return ("compare", table, "--target", "kind", "--exclude", "price", *FAST)


def rows(result):
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_a_pipe_gets_the_tidy_table(run, options):
    found = rows(run(*options))
    assert list(found[0]) == ["data", "method", "split", "count", "learner", "metric", "value"]
    assert {row["method"] for row in found} == {"dft", "randomranking"}
    assert {row["count"] for row in found} == {"1", "2"}
    assert len({row["split"] for row in found}) == 3
    assert {row["metric"] for row in found} >= {"accuracy"}


@pytest.mark.slow
def test_the_numbers_are_those_of_python(run, options, table):
    result = run(*options)
    prepared = tamis.data.prepare(tamis.data.read_table(table), "kind", exclude=["price"])
    same = tamis.evaluation.compare(
        ["dft", "randomranking"], (prepared.X, prepared.y), protocol=Folds(3), counts=(1, 2),
        n_jobs=1, progress=False,
    )  # fmt: skip
    ours = [float(row["value"]) for row in rows(result) if row["method"] == "dft"]
    theirs = [row.value for row in same.table().itertuples() if row.method == "dft"]
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
def test_report_json_and_store(run, options, tmp_path):
    report, out, store = tmp_path / "r.html", tmp_path / "r.json", tmp_path / "runs.sqlite"
    files = ("--report", report, "--out", out, "--store", store)
    first = run(*options, *files)
    assert f"wrote {report}" in first.stderr
    assert "<html" in report.read_text(encoding="utf-8")
    record = json.loads(out.read_text(encoding="utf-8"))
    assert record["methods"] == ["dft", "randomranking"]
    printed = json.loads(run(*options, "--store", store, "--json").stdout)
    assert printed["table"] == record["table"]
    again = run(*options, *files)
    assert again.exit_code == 1
    assert "--force" in again.stderr
    assert run(*options, *files, "--force").exit_code == 0


def test_the_view_for_people(options, run, tmp_path, capsys):
    X = np.random.default_rng(0).normal(size=(60, 5))
    found = tamis.evaluation.compare(
        ["dft", "fisher"], (X, X[:, 2] > 0), protocol=3, counts=(1, 3), n_jobs=1, progress=False
    )
    show(found)
    text = capsys.readouterr().out
    assert found.recommend().sentence in text
    assert "auc with 1 column, 95% interval" in text
    assert "<-" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--methods", "dtf"), "--methods must be one of"),
        (("--methods", "rft"), "rft is not for classification"),
        (("--counts", "1,many"), "--counts must be numbers"),
        (("--protocol", "bootstrap"), "bootstrap"),
        (("--learners", "oracle"), "oracle"),
        (("--metrics", "beauty"), "beauty"),
    ],
)
def test_what_it_refuses(refuse, options, words, message):
    code, said = refuse(*options, *words)
    assert code in (1, 2)
    assert message in said


def test_a_target_is_needed(refuse, table):
    code, message = refuse("compare", table)
    assert code == 2
    assert "--target is needed" in message


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("splits", None, 3), RepeatedSplits(20, random_state=3)),
        (("splits", 4, 0), RepeatedSplits(4, random_state=0)),
        (("7", None, 0), Folds(7, random_state=0)),
        (("folds", 3, 1), Folds(3, random_state=1)),
        (("time", 4, 0), TimeOrder(4)),
        (("loo", None, 0), LeaveOneOut()),
        ((None, None, 2), Folds(5, 4, random_state=2)),
        ((None, 10, 2), Folds(5, 2, random_state=2)),
    ],
)
def test_words_to_protocols(words, expected):
    assert protocol_of(*words).as_dict() == expected.as_dict()


def test_counts_and_methods():
    assert counts_of(None) == (1, 2, 3, 5, 10, 20, 50, 100, 200)
    assert counts_of("3, 7") == (3, 7)
    everything = chosen_methods("all", "regression")
    assert "rft" in everything
    assert "dft" not in everything
    assert len(chosen_methods(None, "classification")) == 6
    with pytest.raises(Misuse):
        chosen_methods("rft", "classification")


def test_rows_need_no_package_for_data_frames(monkeypatch):
    import numpy as np

    import tamis
    from tamis.cli.compare import show
    from tamis.cli.console import as_csv

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 4)), np.arange(40) % 2
    X[:, 1] += 2 * y
    found = tamis.compare(["dft", "variance"], {"t": (X, y)}, counts=[1, 2], progress=False)
    expected = found.table()

    def refuse(columns):
        raise AssertionError("a data frame was made")

    monkeypatch.setattr("tamis.evaluation.results.comparison.make_frame", refuse)
    lines = as_csv(found.score_rows()).splitlines()
    assert lines[0] == "data,method,split,count,learner,metric,value"
    assert len(lines) == 1 + len(expected)
    show(found)
