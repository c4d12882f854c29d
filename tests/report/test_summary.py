"""The summary of a real comparison, small but with everything in it."""

import json

import numpy as np
import pytest

from report.example import HOSTILE
from tamis.report import check_summary, render, summarize

compare = pytest.importorskip("tamis.evaluation").compare


def make_table(n_columns=12, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, n_columns))
    X[:, 3] += 3 * y
    return X, y


@pytest.fixture(scope="module")
def one():
    return compare(
        ["dft", "variance", "randomranking"], {"made up": make_table()}, protocol=3, counts=[1, 4],
        n_jobs=1, progress=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def two():
    data = {"a": make_table(), "b": make_table(20, 1)}
    return compare(["dft", "variance"], data, protocol=3, counts=[1, 4], n_jobs=1, progress=False)


def test_numbers_are_those_of_the_comparison(one):
    summary = summarize(one)
    answer, best = summary["data"][0]["answer"], one.recommend()
    assert (answer["method"], answer["count"]) == (best.method, best.count)
    assert answer["mean"] == pytest.approx(best.score)
    assert [column["name"] for column in answer["columns"]] == best.columns
    assert [column["index"] for column in answer["columns"]] == best.indices
    assert summary["table"]["n_rows"] == len(one.table())
    assert len(summary["data"][0]["scores"]) == len(one.curves())
    assert summary["data"][0]["ranks"]["test"] == "corrected t"
    assert summary["ranks"] is None


def test_record_and_json_of_it_give_the_same_summary(one):
    assert summarize(json.loads(json.dumps(one.to_dict()))) == summarize(one)


def test_several_data_sets_are_ranked_over_data(two):
    summary = summarize(two)
    assert summary["ranks"]["over"] == "data sets"
    assert [data["name"] for data in summary["data"]] == ["a", "b"]
    assert 'id="d1"' in render(summary)


def test_intervals_stay_where_a_metric_can_be(one):
    for row in summarize(one)["data"][0]["scores"]:
        if row["metric"] in ("accuracy", "auc"):
            assert 0 <= row["low"] <= row["mean"] <= row["high"] <= 1


def test_a_comparison_writes_its_page(one, tmp_path):
    one.to_html(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert text == render(summarize(one), "report")
    assert "Columns are ranked and every parameter is tuned on the training rows" in text


def test_hostile_names_of_columns_arrive_whole():
    pandas = pytest.importorskip("pandas")
    names = [name.replace("\ud800", "") for name in HOSTILE]  # pandas takes UTF-8 only
    X, y = make_table(len(names))
    frame = pandas.DataFrame(X, columns=names)
    found = compare(["dft"], {"<b>": (frame, y)}, protocol=3, counts=[12], n_jobs=1, progress=False)
    summary = check_summary(summarize(found))
    assert {c["name"] for c in summary["data"][0]["answer"]["columns"]} >= set(HOSTILE[:5])
    render(summary).encode()
