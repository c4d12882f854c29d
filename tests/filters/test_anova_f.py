"""AnovaF: scikit-learn's numbers, perfect columns, holes, weights, streams."""

import os
import pickle

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.feature_selection import f_classif, f_regression

import tamis
from reference import moments as plain
from reference.moments import table
from tamis import AnovaF
from tamis.exceptions import InputError

PERFECT = 1e30
SMALLEST = np.finfo(float).tiny


def everything(**options):
    return AnovaF(n_features_to_select="all", **options)


def numeric(seed=0, **options):
    X, y = table(seed, **options)
    return X, y + np.random.default_rng(seed).normal(size=len(y))


def columns_of(function, X, y, weight=None):
    """F and probability of every column, by the plain formula."""
    weight = np.ones(len(y)) if weight is None else weight
    pairs = []
    for x in X.T:
        part = plain.observed(x.astype(float), y, weight)
        pairs.append(function(*part) if np.unique(part[0]).size > 1 else (0.0, 1.0))
    F, p = np.array(pairs).T
    huge = ~np.isfinite(F) | (F > 1e20)
    return np.where(huge, PERFECT, F), np.where(huge, 0.0, p)


def test_hand_worked_classes():
    # Classes 0 2 and 4 8: between 2 * 12.5 = 25 on 1, within 2 + 8 = 10 on 2: F = 5.
    fitted = everything().fit(np.array([[0.0, 1], [2, 5], [4, 5], [8, 1]]), ["a", "a", "b", "b"])
    np.testing.assert_allclose(fitted.scores_, [5.0, 0.0], rtol=1e-14)
    np.testing.assert_allclose(fitted.pvalues_, [stats.f.sf(5, 1, 2), 1.0])


def test_hand_worked_line():
    # x = 0 1 2, y = 0 0.5 0: no line. x = 0 1 1 against y = 0.5 1 2: r^2 = 4 / 7, F = 4 / 3.
    X = np.array([[0.0, 0], [1, 1], [2, 1]])
    assert everything().fit(X, [0.0, 0.5, 0.0]).scores_[0] == pytest.approx(0, abs=1e-30)
    assert everything().fit(X, [0.5, 1.0, 2.0]).scores_[1] == pytest.approx(4 / 3)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_plain_formula(n_classes, missing, weighted):
    X, y = table(n_classes=n_classes, missing=missing)
    weight = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.5], len(y)) if weighted else None
    numbers = y + np.random.default_rng(3).normal(size=len(y)).round(1)
    for target, function in ((y, plain.anova), (numbers, plain.line)):
        fitted = everything().fit(X, target, sample_weight=weight)
        F, p = columns_of(function, X, target, weight)
        np.testing.assert_allclose(fitted.scores_, F, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(fitted.pvalues_, p, rtol=1e-7, atol=1e-300)
        assert fitted.scores_[4] == fitted.scores_[5]


def test_equals_scikit_learn():
    X, y = table(seed=3, n_rows=200, n_columns=40)
    X = np.delete(X, 3, axis=1)
    fitted = everything().fit(X, y)
    F, p = f_classif(X, y)
    np.testing.assert_allclose(fitted.scores_, F, rtol=1e-10)
    np.testing.assert_allclose(fitted.pvalues_, p, rtol=1e-9)
    target = X[:, 1] / X[:, 1].std() + np.random.default_rng(0).normal(size=len(y))
    fitted = everything().fit(X, target)
    F, p = f_regression(X, target)
    np.testing.assert_allclose(fitted.scores_, F, rtol=1e-10)
    np.testing.assert_allclose(fitted.pvalues_, p, rtol=1e-9)
    assert not hasattr(fitted, "classes_")


def test_weights_count_rows():
    X, y = numeric(seed=4, missing=0.1)
    weight = np.random.default_rng(3).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    for target in (y, np.round(y)):
        ours = everything().fit(X, target, sample_weight=weight)
        theirs = everything().fit(X[repeated], target[repeated])
        np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.pvalues_, theirs.pvalues_, rtol=1e-7)


def test_perfect_columns_come_first_and_are_finite():
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 400)
    perfect = [y * 0.1, 1e8 + y / 10, np.where(y == 1, np.nan, y)]
    X = np.column_stack([rng.normal(size=400), y + 1e-8 * rng.normal(size=400), *perfect])
    fitted = everything().fit(X, y)
    np.testing.assert_array_equal(fitted.scores_[2:], PERFECT)
    np.testing.assert_array_equal(fitted.pvalues_[1:], SMALLEST)  # never 0
    assert 1e10 < fitted.scores_[1] < PERFECT
    target = rng.normal(size=400)
    X = np.column_stack(
        [rng.normal(size=400), target + 1e-4 * rng.normal(size=400), 3 - 2 * target, target / 7]
    )
    X[::3, 3] = np.nan
    fitted = everything().fit(X, target)
    np.testing.assert_array_equal(fitted.scores_[2:], PERFECT)
    np.testing.assert_array_equal(fitted.pvalues_[2:], SMALLEST)
    assert fitted.scores_[1] < 1e12


def test_columns_without_an_f_score_nothing():
    X, y = numeric(seed=6)
    X[:, 8] = np.nan
    X[:2, 8] = [1.0, 2.0]  # two rows: no degrees of freedom
    fitted = everything().fit(X, y)
    assert (fitted.scores_[8], fitted.pvalues_[8]) == (0.0, 1.0)
    classes = np.arange(len(y)) % 3
    X[:3, 8] = [1.0, 2.0, 5.0]  # one row per class
    fitted = everything().fit(X, classes)
    assert (fitted.scores_[8], fitted.pvalues_[8]) == (0.0, 1.0)
    assert (fitted.scores_[3], fitted.pvalues_[3]) == (0.0, 1.0)


def test_a_target_that_is_constant_where_a_column_is_seen_gives_nothing():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(60, 4)), rng.normal(size=60)
    y[:30] = 0.1
    X[30:, 2] = np.nan
    for make in (np.asarray, sparse.csr_array):
        assert everything().fit(make(X), y).scores_[2] == 0


@pytest.mark.parametrize("offset", [1e8, -1e6])
def test_large_offsets_do_not_cancel(offset):
    rng = np.random.default_rng(8)
    X = np.round(rng.normal(size=(500, 10)), 3) * 1024
    for y in (rng.integers(0, 4, 500), np.round(rng.normal(size=500), 3) * 64 + X[:, 0] / 16):
        expected = everything().fit(X, y).scores_
        shifted = everything(task="regression" if y.dtype == float else "auto")
        target = y + offset if y.dtype == float else y
        np.testing.assert_allclose(
            shifted.fit(X + offset, target).scores_, expected, rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    "layout",
    [np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2], sparse.csr_array],
    ids=["fortran", "strided", "csr"],
)
def test_layout_does_not_matter(layout, missing):
    X, y = numeric(seed=9, missing=missing)
    X[np.random.default_rng(4).random(X.shape) < 0.6] = 0.0
    weight = np.random.default_rng(5).random(len(y)) + 0.5
    for target in (y, np.round(y)):
        whole = everything().fit(X, target, sample_weight=weight)
        other = everything().fit(layout(X), target, sample_weight=weight)
        np.testing.assert_allclose(other.scores_, whole.scores_, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(other.pvalues_, whole.pvalues_, rtol=1e-7)


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_blocks_equal_the_whole(size, make):
    X, y = numeric(seed=11, missing=0.2)
    weight = np.random.default_rng(8).choice([0.0, 0.5, 2.0], len(y))
    for target, task in ((y + 1e6, "regression"), (np.round(y), "auto")):
        whole = everything(task=task).fit(X, target, sample_weight=weight)
        stream = everything(task=task)
        for start in range(0, len(y), size):
            rows = slice(start, start + size)
            if weight[rows].any():
                stream.partial_fit(make(X[rows]), target[rows], sample_weight=weight[rows])
        np.testing.assert_allclose(stream.scores_, whole.scores_, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(stream.pvalues_, whole.pvalues_, rtol=1e-6)


def test_a_stream_keeps_its_kind_of_target():
    X, y = numeric(seed=12)
    stream = everything().partial_fit(X[:40], y[:40])
    resumed = pickle.loads(pickle.dumps(stream)).partial_fit(X[40:], np.round(y[40:]))
    whole = everything().fit(X, np.concatenate([y[:40], np.round(y[40:])]))
    np.testing.assert_allclose(resumed.scores_, whole.scores_, rtol=1e-9, atol=1e-12)
    with pytest.raises(InputError, match="continuous"):
        everything().partial_fit(X[:40], np.round(y[:40])).partial_fit(X[40:], y[40:])


@pytest.mark.parametrize("order", ["C", "F"])
def test_threads_do_not_change_a_bit(order, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X, y = numeric(seed=13, n_rows=3000, n_columns=600)
    X[np.random.default_rng(1).random(X.shape) < 1e-3] = np.nan
    X = np.asarray(X, order=order)
    for target in (y, np.round(y)):
        one, many = (everything(n_jobs=n).fit(X, target) for n in (1, 5))
        np.testing.assert_array_equal(one.scores_, many.scores_)


def test_messages():
    X, y = table()
    with pytest.raises(InputError, match="AnovaF: task must be"):
        AnovaF(task="odd").fit(X, y)
    with pytest.raises(InputError, match="more rows than classes"):
        everything().fit(X[:3], ["a", "b", "c"])
    with pytest.raises(InputError, match="more rows than two"):
        everything().fit(X[:2], [0.5, 1.5])
    with pytest.raises(InputError, match="mean should be 1"):
        everything().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    with pytest.raises(InputError, match="target that varies"):
        everything(task="regression").fit(X, np.ones(len(y)))


@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
@pytest.mark.parametrize("name", ["colon", "mfeat"])
def test_real_data(name):
    X, y = tamis.datasets.load(name, return_X_y=True)
    X = np.asarray(X, dtype=np.float64)
    fitted = everything().fit(X, y)
    varies = ~fitted.constant_
    F, p = f_classif(X[:, varies], y)
    # Theirs cancels where the class means nearly agree.
    np.testing.assert_allclose(fitted.scores_[varies], F, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(fitted.pvalues_[varies], p, rtol=1e-7, atol=1e-300)
    target = X[:, 7]
    fitted = everything(task="regression").fit(np.delete(X, 7, axis=1), target)
    varies = ~fitted.constant_
    F, p = f_regression(np.delete(X, 7, axis=1)[:, varies], target)
    near = F < 1e4  # beyond, 1 - r^2 has few digits on either side
    np.testing.assert_allclose(fitted.scores_[varies][near], F[near], rtol=1e-10, atol=1e-10)
