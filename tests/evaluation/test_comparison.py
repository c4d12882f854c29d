"""Comparison: the numbers of its tables, worked by hand or by the functions they come from."""

import json

import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

import tamis
from tamis.evaluation import compare, significance, stability
from tamis.evaluation.protocols import Folds, LeaveOneOut, RepeatedSplits
from tamis.evaluation.results.record import pairwise_correlation
from tamis.evaluation.results.tables import mean_of
from tamis.exceptions import InputError

OPTIONS = {"n_jobs": 1, "progress": False, "learners": LogisticRegression()}


def made(seed=0, n=60, columns=15):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, columns)), np.arange(n) % 2
    X[:, :3] += 1.2 * y[:, None]
    return X, y


@pytest.fixture(scope="module")
def found():
    methods = ["dft", "fisher", "variance", "randomranking"]
    return compare(methods, made(), protocol=RepeatedSplits(6), counts=[2, 5, 15], **OPTIONS)


@pytest.fixture(scope="module")
def several():
    data = {f"set {i}": made(i) for i in range(4)}
    return compare(["fisher", "variance", "randomranking"], data, protocol=3, counts=[3], **OPTIONS)


def test_mean_by_hand():
    got = mean_of(np.array([0.5, 0.7, np.nan, 0.9]), None)
    # Mean 0.7, deviation 0.2; Student's t with 2 degrees of freedom is 4.3027.
    assert got.n == 3
    assert got.mean == pytest.approx(0.7)
    assert got.standard_error == pytest.approx(0.2 / np.sqrt(3))
    assert got.high - got.mean == pytest.approx(4.302653 * 0.2 / np.sqrt(3))
    corrected = mean_of(np.array([0.5, 0.7, 0.9]), 0.5)
    assert corrected.standard_error == pytest.approx(0.2 * np.sqrt(1 / 3 + 1 / 2))
    assert np.isnan(mean_of(np.array([0.5]), None).low)
    assert mean_of(np.array([np.nan]), None).n == 0


@pytest.mark.slow
def test_curves_are_the_means_of_the_table(found):
    curves, table = found.curves(), found.table()
    assert len(curves) == 4 * 3 * 3
    keys = ["data", "method", "count", "learner", "metric"]
    means = table.groupby(keys)["value"].agg(["mean", "std"])
    for row in curves.itertuples():
        mean, deviation = means.loc[(row.data, row.method, row.count, row.learner, row.metric)]
        assert row.mean == pytest.approx(mean)
        # Two thirds to learn from: the correction adds 1/2.
        error = deviation * np.sqrt(1 / 6 + 1 / 2)
        assert row.standard_error == pytest.approx(error)
        assert row.high == pytest.approx(mean + stats.t(5).ppf(0.975) * error)
        assert row.n == 6


def test_folds_need_no_correction():
    found = compare(["fisher"], made(), protocol=Folds(4), counts=[2], **OPTIONS)
    values = found.table().query("metric == 'accuracy'")["value"]
    row = found.curves().query("metric == 'accuracy'").iloc[0]
    assert row["standard_error"] == pytest.approx(values.std() / 2)


def test_leave_one_out():
    found = compare(["fisher"], made(n=12), protocol=LeaveOneOut(), counts=[2], **OPTIONS)
    curves = found.curves().set_index("metric")
    assert curves.loc["accuracy", "n"] == 12
    assert "auc" not in curves.index  # of one row there is none
    assert found.failures()["error"].str.contains("auc").all()


def test_stability_is_that_of_the_rankings(found):
    rows = found.stability().query("method == 'fisher'").set_index("count")
    orders = found.rankings("data", "fisher")
    assert orders.shape == (6, 15)
    expected = stability.nogueira(orders[:, :5], 15)
    assert rows.loc[5, "nogueira"] == pytest.approx(expected.value)
    assert rows.loc[5, "low"] == pytest.approx(expected.low)
    assert rows.loc[5, "jaccard"] == pytest.approx(stability.jaccard(orders[:, :5]))
    ranks = np.argsort(orders, axis=1) + 1
    assert rows.loc[2, "jensen_shannon"] == pytest.approx(stability.jensen_shannon(ranks))
    assert np.isnan(rows.loc[15, "nogueira"])  # all columns: nothing was chosen
    top = found.stability(top=3).query("method == 'fisher'")["jensen_shannon"].iloc[0]
    assert top == pytest.approx(stability.jensen_shannon(ranks, top=3))
    with pytest.raises(InputError, match="top must be"):
        found.stability(top=0)


def test_significance_over_splits(found):
    rows = found.significance().set_index("method")
    table = found.table().query("metric == 'accuracy'")
    means = table.groupby(["split", "method"], sort=False)["value"].mean().unstack()
    best = rows.index[0]
    assert rows.loc[best, "is_best"]
    assert rows["mean"].max() == rows.loc[best, "mean"]
    others = [name for name in found.methods if name != best]
    raw = [significance.paired_t(means[best], means[name], 1 / 3).p_value for name in others]
    for name, p_value in zip(others, significance.holm(raw), strict=True):
        assert rows.loc[name, "p_value"] == pytest.approx(p_value)
    one = found.significance("balanced_error", count=2).set_index("method")
    values = found.table().query("metric == 'balanced_error' and count == 2")
    assert one.loc["dft", "mean"] == pytest.approx(values.query("method == 'dft'")["value"].mean())
    assert one["mean"].iloc[0] == one["mean"].min()  # less is better
    with pytest.raises(InputError, match="count must be one of"):
        found.significance(count=3)
    with pytest.raises(InputError, match="metric must be one of"):
        found.significance("r2")


@pytest.mark.slow
def test_significance_over_data(several):
    rows = several.significance()
    curves = several.curves().query("metric == 'accuracy'")
    table = curves.pivot(index="data", columns="method", values="mean")[several.methods]
    expected = significance.compare_many(table.to_numpy(), several.methods)
    assert rows["method"].iloc[0] == expected.best == "fisher"
    ranks = dict(zip(expected.names, expected.average_ranks, strict=True))
    assert rows.set_index("method")["average_rank"].to_dict() == pytest.approx(ranks)
    assert len(several.significance(data="set 1")) == 3
    with pytest.raises(InputError, match="Choose among 'set 0'"):
        several.recommend()
    assert several.recommend("set 2").data == "set 2"


def test_one_method_has_no_significance():
    found = compare(["fisher"], made(), protocol=2, counts=[2], **OPTIONS)
    assert len(found.significance()) == 0
    assert found.to_dict()["data"][0]["significance"]["reason"].startswith("fewer than two")


def test_selection_frequency_by_hand(found):
    rows = found.selection_frequency("data", "dft", 2)
    orders = found.rankings("data", "dft")
    assert rows["share"].sum() == pytest.approx(2)
    assert rows["share"].is_monotonic_decreasing
    first = rows.iloc[0]
    assert first["column"] == f"x{first['index']}"
    assert first["share"] == np.mean([first["index"] in order[:2] for order in orders])
    ranks = [list(order).index(first["index"]) + 1 for order in orders]
    assert first["mean_rank"] == pytest.approx(np.mean(ranks))
    with pytest.raises(InputError, match="method must be one of"):
        found.selection_frequency("data", "relieff", 2)
    with pytest.raises(InputError, match="data must be one of"):
        found.rankings("other", "dft")


def test_times_and_probes(found):
    times = found.times()
    assert times["n"].tolist() == [6] * 4
    assert (times["select_seconds"] > 0).all()
    assert len(found.probes()) == 0


def test_probes_are_counted():
    X, y = made()
    bunch = type("Bunch", (), {"X": X, "y": y, "relevant": [0, 1, 2]})()
    found = compare(["fisher", "randomranking"], bunch, protocol=3, counts=[3, 15], **OPTIONS)
    rows = found.probes().set_index(["method", "count"])["mean"]
    assert rows["fisher", 15] == pytest.approx(12 / 15)
    assert rows["fisher", 3] < rows["randomranking", 3]


def test_the_recommendation_is_the_simplest_within_one_standard_error(found):
    best = found.recommend()
    rows = found.curves().query("metric == 'accuracy' and method != 'randomranking'")
    top = rows.loc[rows["mean"].idxmax()]
    close = rows[rows["mean"] >= top["mean"] - top["standard_error"]]
    assert best.count == close["count"].min()
    assert best.method in set(close[close["count"] == best.count]["method"])
    assert len(best.columns) == len(best.indices) == len(best.shares) == best.count
    assert best.low < best.score < best.high
    assert str(best.count) in best.sentence
    assert best.shares == sorted(best.shares, reverse=True)
    again = found.selection_frequency("data", best.method, best.count)
    assert again["index"].tolist()[: best.count] == best.indices


def test_noise_is_not_praised():
    rng = np.random.default_rng(5)
    data = rng.standard_normal((40, 10)), np.arange(40) % 2
    options = {**OPTIONS, "learners": DummyClassifier()}
    found = compare(["randomranking", "fisher"], data, protocol=4, counts=[2, 5], **options)
    best = found.recommend()
    assert best.method == "fisher"
    assert any(reason.startswith("Beware") for reason in best.reasons)


def test_the_record_is_json_and_complete(found, several, tmp_path):
    record = found.to_dict()
    text = json.dumps(record, allow_nan=False)
    assert json.loads(text) == record
    (data,) = record["data"]
    assert data["n_rows"] == 60
    assert len(data["fingerprint"]) == 64
    assert data["protocol"]["protocol"] == "RepeatedSplits"
    assert data["answer"]["method"] == found.recommend().method
    assert len(data["scores"]) == len(found.curves())
    assert len(data["stability"]) == len(found.stability())
    assert np.shape(data["correlation"]["values"]) == (data["answer"]["count"],) * 2
    shares = np.array(data["frequencies"]["shares"])
    assert shares.shape == (len(data["frequencies"]["columns"]), 4)
    assert shares[:, 0].sum() == pytest.approx(data["frequencies"]["count"])
    assert len(record["table"]["rows"]) == len(found.table())
    assert set(record["versions"]) == {
        "python", "tamis", "numpy", "scipy", "scikit-learn", "numba"
    }  # fmt: skip
    assert record["seeds"][0]["seeds"] == [
        job.seed for job in found._results.plan.jobs if job.method == "dft"
    ]
    assert several.to_dict()["significance"]["test"] == "nemenyi"
    found.to_json(tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text()) == record
    with pytest.raises(InputError, match="force"):
        found.to_json(tmp_path / "found.json")
    found.to_json(tmp_path / "found.json", force=True)


def test_names_of_columns_are_text(tmp_path):
    X, y = made()
    names = ["<script>alert(1)</script>", '"', "\u202eabc", "n" * 10_000, "\ud800", ""]
    bunch = type("Bunch", (), {"X": X[:, :6], "y": y, "feature_names": names})()
    found = compare(["fisher"], bunch, protocol=2, counts=[6], **OPTIONS)
    assert sorted(found.recommend().columns) == sorted(names)
    found.to_json(tmp_path / "found.json")
    assert json.loads((tmp_path / "found.json").read_text())["data"][0]["answer"]["count"] == 6


def test_the_record_stays_small_on_wide_tables():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 20_000)), np.arange(30) % 2
    found = compare(["variance", "fisher"], (X, y), protocol=2, counts=[200], **OPTIONS)
    assert len(json.dumps(found.to_dict())) < 200_000


def test_correlation_of_columns():
    rng = np.random.default_rng(0)
    table = rng.standard_normal((50, 3))
    np.testing.assert_allclose(pairwise_correlation(table), np.corrcoef(table.T), atol=1e-12)
    table[:10, 0] = np.nan
    table[:, 2] = 1e300 * np.sign(table[:, 1])
    table = np.column_stack([table, np.ones(50)])
    got = pairwise_correlation(table)
    assert got[0, 1] == pytest.approx(np.corrcoef(table[10:, 0], table[10:, 1])[0, 1])
    assert np.isfinite(got[1, 2])
    assert np.isnan(got[3]).all()


def test_polars_where_it_is_in_use(found, monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.delitem(__import__("sys").modules, "pandas")
    assert isinstance(found.curves(), polars.DataFrame)
    assert isinstance(found.significance(), polars.DataFrame)


def test_equal_methods_are_told_apart_by_stability():
    X, y = made()
    options = {**OPTIONS, "learners": DummyClassifier()}
    methods = {"wild": tamis.TreeImportance(n_estimators=2), "steady": tamis.Variance()}
    found = compare(methods, (X, y), protocol=RepeatedSplits(5), counts=[4], **options)
    assert found.recommend().method == "steady"
    assert found.recommend().rivals == ["wild"]
