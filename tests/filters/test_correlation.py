"""Correlation: values and ranks, classes and numbers, holes, weights, streams."""

import os
import pickle

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.feature_selection import f_classif

import tamis
from reference import moments as plain
from reference.moments import table
from tamis import Correlation
from tamis.exceptions import InputError

KINDS = {"pearson": plain.pearson, "spearman": plain.spearman}


def everything(**options):
    return Correlation(n_features_to_select="all", **options)


def numeric(seed=0, **options):
    X, y = table(seed, **options)
    return X, y + np.random.default_rng(seed).normal(size=len(y)).round(1)


def weights(weighted, n_rows):
    return np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.5], n_rows) if weighted else None


def by_class(X, y, weight, kind, label):
    if kind == "pearson":
        return plain.per_column(
            plain.one_class, X, y, weight, correlation=plain.pearson, label=label
        )
    return plain.per_column(plain.one_class, X, y, weight, correlation=plain.spearman, label=label)


def test_hand_worked_numbers():
    # x = 0 1 2, y = 0 0.5 4: covariance 4 / 3, variances 2 / 3 and 19 / 6; the ranks agree.
    X, y = np.array([[0.0, 2], [1, 1], [2, 0]]), [0.0, 0.5, 4.0]
    fitted = everything().fit(X, y)
    r = 4 / 3 / np.sqrt(2 / 3 * 19 / 6)
    np.testing.assert_allclose(fitted.correlations_, [[r, -r]])
    np.testing.assert_allclose(fitted.scores_, [r, r])
    ranks = everything(kind="spearman").fit(X, y)
    np.testing.assert_allclose(ranks.correlations_, [[1.0, -1.0]])


def test_hand_worked_classes():
    # 0 2 | 4 8: gaps of 2.5 from 3.5, spread 25 + 10: r = sqrt(25 / 35), b above a.
    X = np.array([[0.0], [2], [4], [8]])
    fitted = everything().fit(X, ["a", "a", "b", "b"])
    np.testing.assert_allclose(fitted.correlations_, [[np.sqrt(5 / 7)]])
    # Three classes 0 | 2 | 4 8: mean 3.5; between 12.25 + 2.25 + 2 * 6.25 = 27 of 35.
    fitted = everything().fit(X, list("abcc"))
    expected = [-3.5 / np.sqrt(3 / 4 * 35), -1.5 / np.sqrt(3 / 4 * 35), 5 / np.sqrt(35)]
    np.testing.assert_allclose(fitted.correlations_[:, 0], expected)
    assert fitted.scores_[0] == pytest.approx(np.sqrt(27 / 35))
    assert everything(classes="max").fit(X, list("abcc")).scores_[0] == pytest.approx(expected[2])
    mean = np.abs(expected).mean()
    assert everything(classes="mean").fit(X, list("abcc")).scores_[0] == pytest.approx(mean)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_equal_the_plain_formula(kind, missing, weighted):
    X, y = numeric(missing=missing)
    weight = weights(weighted, len(y))
    fitted = everything(kind=kind).fit(X, y, sample_weight=weight)
    expected = plain.per_column(KINDS[kind], X, y, weight)
    np.testing.assert_allclose(fitted.correlations_, [expected], rtol=1e-10, atol=1e-13)
    np.testing.assert_array_equal(fitted.scores_, np.abs(fitted.correlations_[0]))
    assert fitted.scores_[4] == fitted.scores_[5]
    assert fitted.constant_[3]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_equal_the_plain_formula(kind, n_classes, missing, weighted):
    X, y = table(seed=1, n_classes=n_classes, missing=missing)
    weight = weights(weighted, len(y))
    rows = np.array([by_class(X, y, weight, kind, k) for k in range(n_classes)])
    seen = np.ones(len(y)) if weight is None else weight
    holds = (~np.isnan(X) & (seen > 0)[:, None])[:, None] & (y[:, None] == range(n_classes))[
        ..., None
    ]
    n_seen = np.maximum(holds.any(axis=0).sum(axis=0), 1)
    joined = {
        "multiple": plain.per_column(plain.multiple, X, y, weight, ranks=kind == "spearman"),
        "max": np.abs(rows).max(axis=0),
        "mean": np.abs(rows).sum(axis=0) / n_seen,
    }
    for classes, expected in joined.items():
        fitted = everything(kind=kind, classes=classes).fit(X, y, sample_weight=weight)
        expected = np.abs(rows[1]) if n_classes == 2 else expected
        np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-7, atol=1e-10)
        shown = rows[1:] if n_classes == 2 else rows
        np.testing.assert_allclose(fitted.correlations_, shown, rtol=1e-9, atol=1e-12)


def test_multiple_correlation_of_two_classes_is_the_correlation():
    X, y = table(seed=2, n_classes=2)
    expected = plain.per_column(plain.multiple, X, y)
    np.testing.assert_allclose(everything().fit(X, y).scores_, expected, rtol=1e-9)


def test_multiple_correlation_orders_as_the_f_statistic():
    X, y = table(seed=3, n_classes=4)
    X = np.delete(X, 3, axis=1)
    r, n = everything().fit(X, y).scores_, len(y)
    np.testing.assert_allclose(r**2 / (1 - r**2) * (n - 4) / 3, f_classif(X, y)[0], rtol=1e-9)


def test_perfect_columns_score_one():
    rng = np.random.default_rng(4)
    y = rng.normal(size=200)
    X = np.column_stack([rng.normal(size=200), 1e8 - y, np.exp(3 * y), 7 * y])
    X[::3, 3] = np.nan
    linear, ranked = (everything(kind=kind).fit(X, y).scores_ for kind in KINDS)
    np.testing.assert_allclose(linear[[1, 3]], 1.0, rtol=1e-8)
    np.testing.assert_allclose(ranked[1:], 1.0, rtol=1e-12)
    assert linear[2] < 0.9
    codes = rng.integers(0, 3, 200)
    X = np.column_stack([rng.normal(size=200), codes * 0.1, np.where(codes == 1, 5.0, codes)])
    for kind in KINDS:
        np.testing.assert_allclose(everything(kind=kind).fit(X, codes).scores_[1:], 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_that_is_constant_where_a_column_is_seen_gives_nothing(kind):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    y[:30] = 0.1
    X[30:, 2] = np.nan
    weight = rng.random(60)
    for make in (np.asarray, sparse.csr_array):
        assert everything(kind=kind).fit(make(X), y, sample_weight=weight).scores_[2] == 0
    codes = (np.arange(60) >= 30) * 1 + (np.arange(60) >= 45)
    for classes in ("multiple", "max", "mean"):
        fitted = everything(kind=kind, classes=classes).fit(X, codes, sample_weight=weight)
        assert fitted.scores_[2] == 0
        assert (fitted.correlations_[:, 2] == 0).all()


@pytest.mark.parametrize("offset", [1e8, -1e6])
def test_large_offsets_do_not_cancel(offset):
    rng = np.random.default_rng(6)
    X = np.round(rng.normal(size=(500, 10)), 3) * 1024
    y = np.round(X[:, 0] + 300 * rng.normal(size=500)) / 4
    expected = everything(task="regression").fit(X, y)
    shifted = everything(task="regression").fit(X + offset, y + offset)
    np.testing.assert_allclose(shifted.scores_, expected.scores_, rtol=1e-7, atol=1e-9)
    expected = everything(task="classification").fit(X, y > 0)
    shifted = everything(task="classification").fit(X + offset, y > 0)
    np.testing.assert_allclose(shifted.scores_, expected.scores_, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_units_do_not_matter(scale):
    X, y = numeric(seed=7)
    selector = everything(task="regression")
    expected = selector.fit(X, y).scores_
    np.testing.assert_allclose(selector.fit(X * scale, y).scores_, expected, rtol=1e-9)
    np.testing.assert_allclose(selector.fit(X, y * scale).scores_, expected, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "layout",
    [np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2], sparse.csr_array],
    ids=["fortran", "strided", "csr"],
)
def test_layout_does_not_matter(kind, layout, missing, weighted):
    X, y = numeric(seed=8, missing=missing)
    X[np.random.default_rng(4).random(X.shape) < 0.6] = 0.0
    X[:, 8] += 1e6 * (X[:, 8] != 0)
    weight = weights(weighted, len(y))
    for target in (y, np.round(y)):
        whole = everything(kind=kind).fit(X, target, sample_weight=weight)
        other = everything(kind=kind).fit(layout(X), target, sample_weight=weight)
        np.testing.assert_allclose(other.correlations_, whole.correlations_, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(other.constant_, whole.constant_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, np.int64, bool])
def test_types_of_numbers(kind, dtype):
    rng = np.random.default_rng(9)
    X, y = rng.integers(0, 100, size=(80, 6)).astype(dtype), rng.normal(size=80)
    expected = plain.per_column(KINDS[kind], X, y)
    np.testing.assert_allclose(
        everything(kind=kind).fit(X, y).correlations_[0], expected, rtol=1e-9
    )


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_blocks_equal_the_whole(size, make):
    X, y = numeric(seed=10, missing=0.2)
    weight = weights(True, len(y))
    for target, task in ((y + 1e6, "regression"), (np.round(y), "auto")):
        whole = everything(task=task).fit(X, target, sample_weight=weight)
        stream = everything(task=task)
        for start in range(0, len(y), size):
            rows = slice(start, start + size)
            if weight[rows].any():
                stream.partial_fit(make(X[rows]), target[rows], sample_weight=weight[rows])
        np.testing.assert_allclose(stream.correlations_, whole.correlations_, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(stream.scores_, whole.scores_, rtol=1e-8, atol=1e-9)


def test_a_fit_in_many_blocks_equals_one(monkeypatch):
    X, y = numeric(seed=11, missing=0.1)
    whole = everything().fit(X, y)
    monkeypatch.setattr("tamis.passes.memory.BLOCK_BYTES", X[:9].nbytes)
    np.testing.assert_allclose(
        everything().fit(X, y).scores_, whole.scores_, rtol=1e-10, atol=1e-13
    )


def test_a_stream_survives_pickling():
    X, y = numeric(seed=12)
    first = everything().partial_fit(X[:40], y[:40])
    resumed = pickle.loads(pickle.dumps(first)).partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(resumed.scores_, first.partial_fit(X[40:], y[40:]).scores_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_threads_do_not_change_a_bit(kind, order, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X, y = numeric(seed=13, n_rows=2000, n_columns=300)
    X[np.random.default_rng(1).random(X.shape) < 1e-3] = np.nan
    X = np.asarray(X, order=order)
    for target in (y, np.round(y)):
        one, many = (everything(kind=kind, n_jobs=n).fit(X, target) for n in (1, 5))
        np.testing.assert_array_equal(one.scores_, many.scores_)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_of_a_column_have_the_same_score(kind):
    rng = np.random.default_rng(14)
    x, y = rng.normal(size=700), rng.normal(size=700)
    X = np.repeat(x[:, None], 1027, axis=1)  # more than a tile
    for target in (y, np.digitize(y, [-1, 0, 1])):
        assert np.unique(everything(kind=kind).fit(X, target).scores_).size == 1


@pytest.mark.parametrize("kind", KINDS)
def test_two_rows(kind):
    X = np.array([[0.0, 3.0, 1.0], [1.0, 2.0, 1.0]])
    for y in ([0.5, 1.5], ["a", "b"]):
        fitted = everything(kind=kind).fit(X, y)
        np.testing.assert_allclose(fitted.correlations_, [[1.0, -1.0, 0.0]])


def test_messages():
    X, y = numeric()
    with pytest.raises(InputError, match="Correlation: kind must be"):
        Correlation(kind="kendall").fit(X, y)
    with pytest.raises(InputError, match="Correlation: classes must be"):
        Correlation(classes="sum").fit(X, y)
    with pytest.raises(InputError, match="expected kind='pearson' for partial_fit"):
        everything(kind="spearman").partial_fit(X, y)
    for kind in KINDS:
        with pytest.raises(InputError, match="numeric target"):
            everything(kind=kind, task="regression").fit(X, np.full(len(y), "a"))
        with pytest.raises(InputError, match="target that varies"):
            everything(kind=kind, task="regression").fit(X, np.ones(len(y)))
        with pytest.raises(InputError, match="inf in column 1"):
            everything(kind=kind).fit(np.where(np.arange(14) == 1, np.inf, X), y)


@pytest.mark.sampled(1)
@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
@pytest.mark.parametrize("name", ["colon", "mfeat"])
def test_real_data(name):
    X, y = tamis.datasets.load(name, return_X_y=True)
    X = np.asarray(X, dtype=np.float64)
    target = X[:, 7]
    some = np.random.default_rng(0).choice(X.shape[1], 150, replace=False)
    some = some[X[:, some].std(axis=0) > 0]
    for kind, peer in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        fitted = everything(kind=kind, task="regression").fit(X, target)
        expected = [peer(X[:, j], target).statistic for j in some]
        np.testing.assert_allclose(fitted.correlations_[0, some], expected, rtol=1e-10, atol=1e-10)
        fitted = everything(kind=kind).fit(X, y)
        label = fitted.classes_[1]
        expected = [peer(X[:, j], y == label).statistic for j in some]
        row = fitted.correlations_[0 if fitted.classes_.size == 2 else 1]
        np.testing.assert_allclose(row[some], expected, rtol=1e-10, atol=1e-10)
