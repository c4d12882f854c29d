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


def test_curves_are_the_means_of_the_table(found):
    curves, table = found.curves(), found.table()
    assert len(curves) == 4 * 3 * 3
    keys = ["data", "method", "count", "learner", "metric"]
    means = table.groupby(keys)["value"].mean()
    for row in curves.itertuples():
        assert row.mean == pytest.approx(
            means[row.data, row.method, row.count, row.learner, row.metric]
        )
        assert 0 <= row.low < row.mean < row.high <= 1 or row.mean in (0, 1)
        assert row.low < row.high
        assert row.n == 6


def test_standard_error_of_one_fold_each_by_hand():
    """Every row is tested once: s^2/n over rows, and over folds s^2 (1/4 + 1/3)."""
    found = compare(["fisher"], made(), protocol=Folds(4), counts=[2], **OPTIONS)
    values = found.table().query("metric == 'accuracy'")["value"]
    share = values.mean()  # folds of 15 rows
    rows = share * (1 - share) / 59
    row = found.curves().query("metric == 'accuracy'").iloc[0]
    assert row["standard_error"] ** 2 == pytest.approx(rows + values.var() * (1 / 4 + 1 / 3))


def test_a_metric_of_ones_own_has_the_interval_of_nadeau_and_bengio():
    def own(model, X, y):
        return 100 * float(np.mean(model.predict(X) == y))

    found = compare(["fisher"], made(), protocol=Folds(4), counts=[2], metrics=own, **OPTIONS)
    values, row = found.table()["value"], found.curves().iloc[0]
    error = values.std() * np.sqrt(1 / 4 + 1 / 3)
    assert row["standard_error"] == pytest.approx(error)
    assert row["high"] == pytest.approx(values.mean() + stats.t(3).ppf(0.975) * error)


def test_beside_every_method_there_are_random_all_and_no_features(found):
    rows = {
        (row["method"], row["count"]): row
        for row in found.baseline_rows()
        if row["metric"] == "auc"
    }
    assert set(rows) == {("guessing", 0), ("random features", 2), ("random features", 5),
                         ("random features", 15), ("all features", 15)}  # fmt: skip
    assert rows["guessing", 0]["mean"] == 0.5
    curves = found.curves().query("metric == 'auc' and method == 'fisher'").set_index("count")
    # All columns are all columns, up to their order.
    assert rows["all features", 15]["mean"] == pytest.approx(curves.loc[15, "mean"], abs=0.02)
    best = found.recommend()
    assert best.guess_score == 0.5
    assert best.random_score == rows["random features", best.count]["mean"]
    assert best.all_score == rows["all features", 15]["mean"]


def test_leave_one_out():
    found = compare(["fisher"], made(n=12), protocol=LeaveOneOut(), counts=[2], **OPTIONS)
    curves = found.curves().set_index("metric")
    assert curves.loc["accuracy", "n"] == 12
    assert found.recommend().metric == "accuracy"  # of one row there is no AUC
    assert len(found.failures()) == 0


def test_stability_is_that_of_disjoint_halves(found):
    rows = found.stability().query("method == 'fisher'").set_index("count")
    X, y = made()
    halves = found._results.settings[0].halves
    assert [half.name for half in halves[:2]] == ["half 1a", "half 1b"]
    assert np.intersect1d(halves[0].train, halves[1].train).size == 0
    orders = [
        tamis.Fisher(n_features_to_select="all").fit(X[half.train], y[half.train]).order_
        for half in halves
    ]
    pairs = [np.array(orders[i : i + 2]) for i in range(0, len(orders), 2)]
    assert rows.loc[5, "n"] == len(pairs) == 3
    expected = np.mean([stability.kuncheva(pair[:, :5], 15) for pair in pairs])
    assert rows.loc[5, "nogueira"] == pytest.approx(expected)
    assert rows.loc[5, "low"] < expected < rows.loc[5, "high"]
    jaccard = np.mean([stability.jaccard(pair[:, :5]) for pair in pairs])
    assert rows.loc[5, "jaccard"] == pytest.approx(jaccard)
    assert np.isnan(rows.loc[15, "nogueira"])  # all columns: nothing was chosen
    ranks = [np.argsort(pair, axis=1) + 1 for pair in pairs]
    top = found.stability(top=3).query("method == 'fisher'")["jensen_shannon"].iloc[0]
    assert top == pytest.approx(np.mean([stability.jensen_shannon(r, top=3) for r in ranks]))
    with pytest.raises(InputError, match="top must be"):
        found.stability(top=0)


def test_significance_over_splits(found):
    rows = found.significance().set_index("method")
    best = rows.index[0]
    assert rows.loc[best, "is_best"]
    assert rows["mean"].max() == rows.loc[best, "mean"]
    assert (rows["p_value"] <= 1).all()
    table = found.table().query("metric == 'auc'")
    assert rows.loc["dft", "mean"] == pytest.approx(table.query("method == 'dft'")["value"].mean())
    assert rows.loc["randomranking", "p_value"] < rows.loc["dft", "p_value"]
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
    curves = several.curves().query("metric == 'auc'")
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
    rows = found.curves().query("metric == 'auc' and method != 'randomranking'")
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
    assert best.is_better_than_random is False
    assert best.sentence.startswith("On data, nothing is shown to beat 2 random columns.")


def test_signal_is_praised():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 15)), np.arange(80) % 2
    X[:, :3] += 2.0 * y[:, None]
    found = compare(["fisher"], (X, y), protocol=Folds(5, 2), counts=[2, 3], **OPTIONS)
    best = found.recommend()
    assert best.is_better_than_random
    assert 0 < best.gain_low < best.gain < best.gain_high
    assert best.sentence.startswith(f"On data, use {best.method} with {best.count} columns: expect")
    assert "random columns" in best.sentence
    assert "guessing 0.500" in best.sentence


@pytest.mark.slow
def test_noise_has_no_stability_and_is_seldom_called_better_than_random():
    values, better = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        data = rng.standard_normal((60, 30)), np.arange(60) % 2
        found = compare(["fisher", "dft"], data, protocol=Folds(5, 2), counts=[3], **OPTIONS)
        values += [row["nogueira"] for row in found.stability().to_dict("records")]
        better.append(found.recommend().is_better_than_random)
    error = np.std(values, ddof=1) / np.sqrt(30)
    assert abs(np.mean(values)) < 3.5 * error
    assert np.mean(better) <= 0.15


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
    X *= np.arange(1, 16)  # so that columns differ by their variance
    options = {**OPTIONS, "learners": DummyClassifier()}
    methods = {"wild": tamis.TreeImportance(n_estimators=2), "steady": tamis.Variance()}
    found = compare(methods, (X, y), protocol=RepeatedSplits(5), counts=[4], **options)
    assert found.recommend().method == "steady"
    assert found.recommend().rivals == ["wild"]
