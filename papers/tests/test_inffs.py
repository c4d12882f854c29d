"""The experiments of the Inf-FS paper, on small data, and the arithmetic in them."""

from __future__ import annotations

from queue import Queue

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch
from tamis import Fisher, datasets
from tamis.evaluation.significance import paired_t

from tamis_papers import _stand_ins, reproduce
from tamis_papers._published import published
from tamis_papers._reproduce import _pairs
from tamis_papers.inffs import (
    _patches,
    colon,
    mixing,
    other_data,
    protocol,
    shrinking,
    stopwatch,
    times,
)
from tamis_papers.inffs.stopwatch import TableSize


def small_table(name: str) -> Bunch:
    """A table of the form of a known one, with little in it."""
    rng = np.random.default_rng(len(name))
    if name in ("mnist", "fashion_mnist"):
        y = np.arange(400) % 10
        X = rng.integers(0, 256, (400, 784)) * (rng.random((400, 784)) < 0.4)
        X[:, 100:160] += (y[:, None] == np.arange(60) % 10) * 60
        return Bunch(X=X.astype(np.float32), y=y, split=np.arange(400) % 2)
    if name == "usps":
        return Bunch(X=rng.normal(size=(60, 256)).astype(np.float32), y=np.arange(60) % 10)
    if name == "movie_reviews":
        X = sparse.csr_array(rng.random((12, 6)) < [0.1, 0.9, 0.3, 0.95, 0.0, 0.5])
        return Bunch(X=X.astype(np.uint8), y=np.arange(12) % 2)
    y = np.arange(36) % 2
    X = rng.normal(size=(36, 220)) + np.outer(y, np.linspace(1.5, 0, 220))
    return Bunch(X=2.0**X, y=y)


@pytest.fixture
def small_data(monkeypatch):
    monkeypatch.setattr(datasets, "load", small_table)
    _patches.load_features.cache_clear()
    yield
    _patches.load_features.cache_clear()


def quick(name, folder):
    return reproduce(name, quick=True, folder=folder, n_jobs=1, progress=False)


def check(found, n_claims):
    assert len(found.claims) == n_claims
    assert all(claim["evidence"] != "not checked" for claim in found.claims)
    assert any(row["ours"] is not None for row in found.rows)
    assert found.remarks


@pytest.mark.slow
def test_figure_1(tmp_path):
    found = quick("inffs-fig1", tmp_path)
    check(found, 4)
    best = [row["ours"] for row in found.rows]
    assert all(2.5 <= value <= 18.5 for value in best)


@pytest.mark.slow
def test_table_2(tmp_path, monkeypatch):
    monkeypatch.setattr(times, "QUICK", TableSize(60, 10, 3))
    monkeypatch.setattr(times, "_selectors", lambda quick: {"Fisher": Fisher()})
    found = quick("inffs-table2", tmp_path)
    check(found, 2)
    mine = next(row for row in found.rows if row["ours"] is not None)
    assert mine["repeats"] == 3
    assert mine["case"]["data"] == "60 x 10, 3 classes"  # not judged against the paper's size


@pytest.mark.slow
def test_a_method_that_fails_has_no_time():
    assert stopwatch.seconds_of("no selector", (60, 10, 3), 0, 5.0)["seconds"] == []


@pytest.mark.slow
def test_table_3(tmp_path, small_data):
    found = quick("inffs-table3", tmp_path)
    check(found, 2)
    counts = {row["case"]["n_features"] for row in found.rows if row["ours"] is not None}
    assert counts == {10, 50, 200}


@pytest.mark.slow
def test_tables_of_a_single_split(tmp_path, small_data, monkeypatch):
    monkeypatch.setattr(other_data, "QUICK", {"lymphoma": 2})
    for name in ("inffs-table3", "inffs-table4"):
        found = reproduce(name, quick=True, folder=tmp_path, n_jobs=1, progress=False, repeats=1)
        held = {claim["name"]: claim["holds"] for claim in found.claims}
        assert held["best-everywhere"] is None
        assert not any("nan" in claim["evidence"] for claim in found.claims)
        assert any("1 split" in remark for remark in found.remarks)


@pytest.mark.slow
def test_table_4(tmp_path, small_data, monkeypatch):
    monkeypatch.setattr(other_data, "QUICK", {"lymphoma": 2, "madelon": 2})
    check(quick("inffs-table4", tmp_path), 3)


def test_table_6(tmp_path, small_data, monkeypatch):
    plan = shrinking.ShrinkingPlan((80, 40, 30), 2, 6, 60, ("Fisher", shrinking.OURS))
    monkeypatch.setattr(shrinking, "QUICK", plan)
    found = quick("inffs-table6", tmp_path)
    check(found, 4)
    whole = [row for row in found.rows if row["case"].get("n_train") == 80]
    stable = [row["ours"] for row in whole if row["case"]["metric"] == "stability D_JS"]
    assert stable == [1.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("repeats", [1, 2])
def test_few_repeats(tmp_path, small_data, monkeypatch, repeats):
    plan = shrinking.ShrinkingPlan((80, 40, 30), 4, 6, 60, ("Fisher", shrinking.OURS))
    monkeypatch.setattr(shrinking, "QUICK", plan)
    monkeypatch.setattr(mixing, "QUICK", {"colon": 3, "lymphoma": 3})
    for name in ("inffs-fig1", "inffs-table6", "inffs-fig2"):
        found = reproduce(
            name, quick=True, folder=tmp_path, n_jobs=1, progress=False, repeats=repeats
        )
        ours = [row["ours"] for row in found.rows if row["ours"] is not None]
        assert np.isfinite(ours).all()
        if repeats == 1 and name != "inffs-fig2":  # there data sets are the sample
            assert {claim["holds"] for claim in found.claims} == {None}
    assert any("1 split of" in one if repeats == 1 else "2 splits of" in one
               for one in found.remarks)  # fmt: skip


@pytest.mark.slow
def test_figure_2(tmp_path, small_data, monkeypatch):
    monkeypatch.setattr(mixing, "QUICK", {"colon": 2, "lymphoma": 1})
    check(quick("inffs-fig2", tmp_path), 6)


# What is measured in a complete run meets the numbers of the paper.


def fake_scores(data, methods, metrics=("auc", "accuracy"), n_splits=3):
    rng = np.random.default_rng(0)
    return {
        (name, method, metric): 80 + rng.random((n_splits, 5))
        for name in data
        for method in methods
        for metric in metrics
    }


def unmatched(name, measurements):
    pairs = _pairs(published(name).values, measurements)
    return {pair.theirs.case["method"] for pair in pairs if pair.theirs and pair.ours is None}


def test_every_number_of_the_tables_has_ours():
    scores = fake_scores(["colon"], colon.NINE)
    left = unmatched("inffs-table3", colon._measurements(scores, protocol.COUNTS))
    assert left == {"state of the art [26]"}
    scores = fake_scores(other_data.N_SPLITS, other_data.FIVE)
    left = unmatched("inffs-table4", other_data._measurements(scores))
    assert left == {"state of the art (as cited)"}
    cells = {
        (method, size): np.ones(2) for method in shrinking.FIVE for size in shrinking.FULL.sizes
    }
    assert not unmatched("inffs-table6", shrinking._measurements(shrinking.FULL, cells, cells))
    found = {name: {"seconds": [1.0], "stopped": False} for name in times._selectors(True)}
    measured = stopwatch.time_measurements(found, times.DATA, times.PAPER, times.PAPER)
    assert not unmatched("inffs-table2", measured)


# Arithmetic, by hand.


def test_scores_become_tables_in_percent():
    cells = {("d", "m", 50, "svm", "auc"): [0.2, 0.4], ("d", "m", 10, "svm", "auc"): [0.1, 0.3]}
    tables = protocol._as_tables(cells)
    assert np.allclose(tables["d", "m", "auc"], [[10, 20], [30, 40]])


def test_difference_is_tested_on_common_splits():
    scores = {
        ("d", "a", "auc"): np.array([[90.0, 80], [70, 60], [80, 90]]),
        ("d", "b", "auc"): np.array([[80.0, 80], [70, 50]]),
    }
    p = protocol.p_of_difference(scores, "d", "auc", "a", "b")
    assert p == paired_t([85, 65], [80, 60], test_share=1 / 3).p_value
    assert np.isnan(protocol.p_of_difference({**scores, ("d", "b", "auc"): np.ones((1, 2))},
                                              "d", "auc", "a", "b"))  # fmt: skip


def test_order_of_times():
    found = {
        "a": {"seconds": [3.0, 1.1, 2.0], "stopped": False},
        "b": {"seconds": [1.0], "stopped": False},
        "c": {"seconds": [1.5], "stopped": True},
        "d": {"seconds": [], "stopped": False},
    }
    assert stopwatch.median_seconds(found) == {"a": 2.0, "b": 1.0, "c": 1.5}
    wrong, n_pairs = stopwatch.reversed_pairs(found, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})
    assert (wrong, n_pairs) == ([("a", "b")], 3)  # c takes longer than 1.5 s: nothing is known
    assert stopwatch.in_words(found) == "b 1 s, c over 1.5 s, a 2 s"
    found["b"]["seconds"].append(1.2)  # some runs of a are faster, some slower
    assert stopwatch.reversed_pairs(found, {"a": 1.0, "b": 2.0})[0] == []


def test_a_method_is_stopped_at_the_limit():
    assert stopwatch._collect(Queue(), 0.01) == ([0.01], True)
    lines = Queue()
    for line in (b"seconds 1.5\n", b"seconds 2\n", b""):
        lines.put(line)
    assert stopwatch._collect(lines, 60.0) == ([1.5, 2.0], False)


def test_normalised_scores():
    values = np.zeros((1, 4, 11))
    values[0, :, 3], values[0, :, 10] = 0.8, 0.4
    curves = mixing._normalised({"one": values})
    assert curves["80% of all"][0, 3] == 1.0
    assert curves["10"][0, 10] == 0.5
    assert mixing.peak_shares(curves["50"])[0.3] == 1.0


def test_figure_2_as_the_paper_has_it():
    curve = np.array([[0.8, 0.95, 1.0, 0.95, 0.9, 0.88, 0.85, 0.8, 0.78, 0.75, 0.7]] * 3)
    held = {claim.name: claim.holds for claim in mixing._claims(curve, ["a", "b", "c"])}
    assert held.pop("low-at-0") is False  # 0.7 at alpha 1 is lower
    assert held.pop("robust") is False
    assert all(held.values())


def test_figure_2_with_a_flat_top():
    rng = np.random.default_rng(0)
    curve = 0.99 + 0.01 * rng.random((9, 11))
    held = {claim.name: claim.holds for claim in mixing._claims(curve, list("abcdefghi"))}
    assert held["peak-0.2"] is None or held["peak-0.2"] is False
    assert held["low-at-0"] is held["seventy"] is held["best-mix"] is False
    assert held["falls-after"] in (None, False)


def test_splits_in_words():
    words = "20 splits of a, c; 1 split of b"
    assert protocol.splits_by_data({"a": 20, "b": 1, "c": 20}) == words


def test_who_is_best_needs_a_second_split():
    scores = {("d", "ours", "auc"): np.array([[90.0], [91], [92]]),
              ("d", "other", "auc"): np.array([[80.0], [80.5], [82]])}  # fmt: skip
    first, behind = ("d", "ours", None), ("d", "other", None)
    assert protocol.is_best(scores, "auc", [first], "ours") is True
    assert protocol.is_best(scores, "auc", [behind], "other") is True  # only told who is first
    swapped = {key: 170 - values for key, values in scores.items()}
    assert protocol.is_best(swapped, "auc", [behind], "ours") is False
    single = {key: values[:1] for key, values in swapped.items()}
    assert protocol.is_best(single, "auc", [behind], "ours") is None
    assert protocol.is_best(single, "auc", [first], "ours") is None


def test_close_to_the_state_of_the_art():
    assert colon._is_close(np.array([[88.0, 89.0], [80.0, 89.5]])) is True
    assert colon._is_close(np.array([[70.0], [71.0], [72.0]])) is False
    assert colon._is_close(np.array([[70.0], [100.0]])) is None
    assert colon._is_close(np.array([[89.6]])) is None


def draws_of(**values):
    return {(name, 10): np.array(one) for name, one in values.items()}


def test_orders_that_chance_may_have_made():
    plan = shrinking.FULL._replace(methods=("Fisher", shrinking.OURS), n_draws=3)
    names = {10: [shrinking.OURS, "Fisher"]}
    clear = {(shrinking.OURS, 10): np.array([0.9, 0.91, 0.92]), ("Fisher", 10): np.zeros(3)}
    assert shrinking._leads(clear, names, plan) is True
    assert shrinking._leads(clear, names, plan._replace(n_draws=1)) is None
    behind = {key: -values for key, values in clear.items()}
    assert shrinking._leads(behind, {10: ["Fisher", shrinking.OURS]}, plan) is False
    values = draws_of(a=[3.0, 3.1], b=[2.0, 2.2], c=[2.1, 1.0])
    assert shrinking._are_in_order(values, ["a", "b", "c"], 10) is True
    assert shrinking._are_in_order(values, ["b", "c", "a"], 10) is None
    assert shrinking._are_in_order(draws_of(a=[1.0, 1.01], b=[2.0, 2.0]), ["a", "b"], 10) is False


def test_draw_of_rows_keeps_the_shares():
    y = np.repeat([0, 1], [60, 20])
    rows = shrinking.draw_rows(y, 40, np.random.default_rng(0))
    assert np.array_equal(np.bincount(y[rows]), [30, 10])
    assert np.array_equal(shrinking.draw_rows(y, 80, np.random.default_rng(0)), np.arange(80))


def test_agreement_of_tops():
    # One column of four: each list is a point mass, D = log 2, D* = log 4.
    assert shrinking.agreement([[0], [3]], 4) == pytest.approx(0.5)
    assert shrinking.agreement([[2, 1], [2, 1]], 5) == 1.0
    assert shrinking.agreement([[2, 1], [1, 2]], 5) < 1.0


def test_agreement_of_disjoint_tops_of_the_paper():
    tops = [list(range(1000)), list(range(1000, 2000))]
    assert shrinking.agreement(tops, 4096) == pytest.approx(0.542, abs=5e-4)


def test_features_from_patches():
    images = np.zeros((2, 784), dtype=np.float32)
    images[1].reshape(28, 28)[:6, :6] = np.arange(6) * 50.0
    filters = _patches.patches_of(images)[1, 0, 0][:, None]
    filters = filters / np.linalg.norm(filters)
    features = _patches.features_of(images, filters)
    assert features.shape == (2, 4)
    assert np.array_equal(features[0], np.zeros(4))  # nothing on the picture
    assert np.allclose(features[1], [1, 0, 0, 0])  # only the upper left quarter answers


# Stand-ins.


def test_gisette_like(small_data):
    X, y, probes = _stand_ins.gisette_like(0, n_features=900)
    assert (X.shape, X.dtype) == ((80, 900), np.float32)
    assert np.array_equal(np.unique(y, return_counts=True)[1], [40, 40])
    assert probes.sum() == 450
    real = {tuple(np.sort(column)) for column in X[:, ~probes].T}
    assert {tuple(np.sort(column)) for column in X[:, probes].T} <= real
    same, *_ = _stand_ins.gisette_like(0, n_features=900)
    assert np.array_equal(X, same)


def test_gina_like(small_data, monkeypatch):
    monkeypatch.setattr(_stand_ins, "GINA_ROWS", 100)
    X, y = _stand_ins.gina_like(0)
    assert X.shape == (100, 970)
    assert set(np.unique(y)) == {0, 1}


def test_usps_like(small_data):
    X, y = _stand_ins.usps_like(0)
    assert X.shape == (60, 241)
    assert y.mean() == 0.2


def test_polarity_keeps_the_words_of_most_reviews(small_data):
    X, _ = _stand_ins.polarity_like(n_words=2)
    whole = small_table("movie_reviews").X.toarray()
    assert np.array_equal(X.toarray(), whole[:, [1, 3]])
