"""The record of a real comparison, small but with everything in it, and its page."""

import json

import numpy as np
import pytest

from report.example import HOSTILE
from tamis import RFT
from tamis.evaluation.protocols import PublishedSplit
from tamis.report import check_summary, render, summarize, write_report
from tamis.report._figures import Context

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
    assert answer["score"] == pytest.approx(best.score)
    assert answer["columns"] == best.columns
    assert answer["indices"] == best.indices
    assert len(summary["table"]["rows"]) == len(one.table())
    assert len(summary["data"][0]["scores"]) == len(one.curves())
    assert summary["data"][0]["significance"]["test"] == "t over rows"
    assert summary["significance"] is None


def test_a_page_is_rendered_from_a_saved_file(one, two, tmp_path):
    for number, found in enumerate((one, two)):
        saved, page = tmp_path / f"{number}.json", tmp_path / f"{number}.html"
        found.to_json(saved)
        record = json.loads(saved.read_text(encoding="utf-8"))
        assert record == found.to_dict() == summarize(found)
        write_report(record, page)
        assert page.read_text(encoding="utf-8") == render(found.to_dict(), str(number))
        twin = write_report(found, tmp_path / f"{number}-twin.json")
        assert json.loads(twin.read_text(encoding="utf-8")) == record


def test_one_split_and_nothing_but_failures_are_records_too():
    X, y = make_table()
    alone = compare(["dft"], (X, y), protocol=PublishedSplit(range(40), range(40, 60)),
                    counts=[2], n_jobs=1, progress=False)  # fmt: skip
    assert summarize(alone)["data"][0]["significance"]["reason"] is not None
    assert "Ranks across methods" not in render(summarize(alone))
    with pytest.warns(UserWarning, match="failed"):
        failed = compare({"rft": RFT()}, (X, np.where(y, "a", "b")), protocol=3, counts=[2],
                         n_jobs=1, progress=False)  # fmt: skip
    assert summarize(failed)["data"][0]["answer"] is None
    assert "No recommendation" in render(summarize(failed))


def test_several_data_sets_are_ranked_over_data(two):
    summary = summarize(two)
    assert summary["significance"]["over"] == "data sets"
    assert [data["name"] for data in summary["data"]] == ["a", "b"]
    assert 'id="d1"' in render(summary)


def test_intervals_on_the_page_stay_where_a_metric_can_be(one):
    record = one.to_dict()
    data = record["data"][0]
    context = Context("d0", data, record["methods"], record["level"])
    for metric in ("accuracy", "auc"):
        for row in context.scores("svm", metric):
            assert 0 <= row["low"] <= row["mean"] <= row["high"] <= 1
            assert row["low"] < row["high"]


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
    assert set(summary["data"][0]["answer"]["columns"]) >= set(HOSTILE[:5])
    render(summary).encode()
