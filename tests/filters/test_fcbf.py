"""FCBF: predominant columns against a literal filter, and what users pass."""

import os

import numpy as np
import pytest
from scipy import sparse

import tamis
from reference import codes as plain_codes
from reference import greedy as plain
from tamis import FCBF
from tamis.exceptions import InputError, SelectionWarning


def table(seed=0, n_rows=120, *, missing=0.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    X = rng.normal(size=(n_rows, 16))
    X[:, 1] += 1.5 * y
    X[:, 2] = X[:, 1] + 0.05 * rng.normal(size=n_rows)
    X[:, 4] += 1.2 * (y == 2)
    X[:, 5] = rng.integers(0, 4, n_rows) + (y == 0)
    X[:, 7] = 3.0
    X[:, 9] = X[:, 4]
    X[:, 10] = 1e8 + X[:, 4] + 0.3 * rng.normal(size=n_rows)
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X, y


def check(X, y, *, weight=None, **options):
    selector = FCBF(**options).fit(X, y, sample_weight=weight)
    weight = np.ones(len(y)) if weight is None else weight
    there = weight > 0
    X, y, weight = X[there], y[there], weight[there]
    columns = plain_codes.code_table(
        X, selector.strategy, selector.n_bins, classes=y, weight=weight
    )
    kept, uncertainty = plain.fcbf(columns, y, weight, selector.threshold)
    assert selector.order_[: len(kept)].tolist() == kept
    assert selector.best_n_features_ == len(kept)
    assert np.flatnonzero(selector.predominant_).tolist() == sorted(kept)
    np.testing.assert_array_equal(selector.support_, selector.predominant_)
    np.testing.assert_allclose(selector.criterion_, uncertainty, rtol=1e-9, atol=1e-12)
    rest = selector.order_[len(kept) :]
    assert (np.diff(selector.criterion_[rest]) <= 1e-12).all()
    return selector


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("strategy", ["mdl", "quantile", "uniform"])
def test_equals_a_literal_filter(strategy, missing, seed):
    X, y = table(seed, missing=missing)
    assert check(X, y, strategy=strategy, n_bins=4).n_selected_ > 1


def test_equals_a_literal_filter_with_weights_and_threshold():
    X, y = table(5, missing=0.1)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(y))
    check(X, y, weight=weight)
    assert check(X, y, strategy="quantile", threshold=0.08).n_selected_ < 5


def test_by_hand():
    """The classes are two bits. A bit has SU 2/3; its copy is removed, the other bit is not.

    The last column is the exclusive or of the bits, with SU 2/3 and nothing in common with either.
    """
    y = np.tile([0, 1, 2, 3], 5)
    first, second = y // 2, y % 2
    X = np.column_stack([first, np.zeros(20), 1 - first, second, first ^ second])
    selector = FCBF(strategy="uniform").fit(X, y)
    np.testing.assert_allclose(selector.criterion_, [2 / 3, 0, 2 / 3, 2 / 3, 2 / 3])
    assert selector.predominant_.tolist() == [True, False, False, True, True]
    assert selector.order_.tolist() == [0, 3, 4, 2, 1]
    assert selector.scores_.tolist() == [4, 0, 1, 3, 2]


def test_a_copy_is_never_kept():
    X, y = table(1)
    X = np.column_stack([X, X])
    selector = FCBF().fit(X, y)
    assert not selector.support_[16:].any()
    np.testing.assert_array_equal(selector.support_[:16], FCBF().fit(X[:, :16], y).support_)


def test_columns_without_information_tie():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 100)
    X = rng.normal(size=(100, 8))
    X[:, 6] += 3 * y
    selector = FCBF().fit(X, y)
    assert selector.get_support(indices=True).tolist() == [6]
    assert (selector.n_levels_ > 1).tolist() == selector.support_.tolist()
    assert selector.scores_.tolist() == [1, 1, 1, 1, 1, 1, 8, 1]


def test_nothing_predominant_warns_and_keeps_one():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.tile([0, 1], 20)
    with pytest.warns(SelectionWarning, match="FCBF: expected a column with a symmetrical"):
        selector = FCBF().fit(X, y)
    assert selector.n_selected_ == selector.best_n_features_ == 1
    assert not selector.predominant_.any()
    assert FCBF(n_features_to_select=3).fit(X, y).n_selected_ == 3  # no warning: a number is given


def test_sparse_strings_and_float32():
    X, y = table(2)
    X[np.random.default_rng(0).random(X.shape) < 0.4] = 0.0
    X = X.astype(np.float32)
    dense = FCBF().fit(X, y)
    for other, target in (
        (sparse.csr_array(X), y),
        (X.astype(np.float64), np.array(["x", "yy", "a"])[y]),
    ):
        found = FCBF().fit(other, target)
        np.testing.assert_array_equal(found.order_, dense.order_)
        np.testing.assert_allclose(found.criterion_, dense.criterion_, rtol=1e-12)


def test_two_rows():
    assert FCBF().fit([[0.0, 1.0], [1.0, 1.0]], ["b", "a"]).support_.tolist() == [True, False]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"threshold": 1.0}, "threshold must be a float in"),
        ({"threshold": -0.1}, "threshold must be a float in"),
        ({"strategy": "kmeans"}, "strategy must be"),
        ({"n_bins": 1}, "n_bins must be"),
    ],
)
def test_bad_parameters(options, word):
    with pytest.raises(InputError, match=f"FCBF: {word}"):
        FCBF(**options).fit(*table())


def test_bad_targets():
    X, y = table()
    with pytest.raises(InputError, match="FCBF: expected a target of classes"):
        FCBF().fit(X, y + 0.5)
    with pytest.raises(InputError, match="FCBF: expected a target with at least two classes"):
        FCBF().fit(X, np.zeros(len(y)))


def test_real_data_equal_a_literal_filter():
    if "TAMIS_DATA" not in os.environ:
        pytest.skip("TAMIS_DATA is not set: the colon data are needed")
    data = tamis.datasets.load("colon")
    y = np.unique(data.y, return_inverse=True)[1]
    assert check(data.X[:, ::20].astype(np.float64), y).n_selected_ > 1
