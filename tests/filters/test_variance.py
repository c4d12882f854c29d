"""Variance: numbers, holes, weights, streams."""

import os

import numpy as np
import pytest
from scipy import sparse

import tamis
from reference import moments as plain
from reference.moments import table
from tamis import Variance
from tamis.exceptions import InputError


def everything(**options):
    return Variance(n_features_to_select="all", **options)


def test_hand_worked():
    X = np.array([[0.0, 1, 5], [0, 2, 5], [6, np.nan, 5]])
    np.testing.assert_allclose(everything().fit(X).scores_, [8.0, 0.25, 0.0])
    np.testing.assert_allclose(everything(ddof=1).fit(X).scores_, [12.0, 0.5, 0.0])
    np.testing.assert_allclose(everything(scale="range").fit(X).scores_, [8 / 36, 0.25, 0.0])


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sparse.csr_array])
def test_equals_the_plain_formula(ddof, missing, weighted, make):
    X, y = table(missing=missing)
    X[np.random.default_rng(1).random(X.shape) < 0.4] = 0.0
    weight = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 2.5], len(y)) if weighted else None
    fitted = everything(ddof=ddof).fit(make(X), sample_weight=weight)
    expected = plain.per_column(plain.variance, X, y, weight, ddof=ddof)
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize(("offset", "rtol"), [(1e8, 1e-10), (1e12, 1e-7)])
def test_large_offsets_do_not_cancel(offset, rtol):
    X = np.round(np.random.default_rng(3).normal(size=(300, 5)), 3) * 1024
    X -= X.min(axis=0)
    expected = X.round().var(axis=0)
    np.testing.assert_allclose(everything().fit(X.round() + offset).scores_, expected, rtol=rtol)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_range_takes_the_units_away(scale):
    X, _ = table(seed=4)
    np.testing.assert_allclose(
        everything(scale="range").fit(X * scale).scores_,
        everything(scale="range").fit(X).scores_,
        rtol=1e-9,
    )


def test_a_tiny_range_is_divided_out_without_underflow():
    X = np.array([[0.0], [1e-150], [2e-150], [3e-150]])
    assert everything(scale="range").fit(X).scores_[0] == pytest.approx(5 / 36, rel=1e-6)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_blocks_equal_the_whole(size):
    X, y = table(seed=5, missing=0.2)
    weight = np.random.default_rng(8).choice([0.0, 0.5, 2.0], len(y))
    for options in ({}, {"ddof": 1, "scale": "range"}):
        whole = everything(**options).fit(X, sample_weight=weight)
        stream = everything(**options)
        for start in range(0, len(y), size):
            rows = slice(start, start + size)
            if weight[rows].any():
                stream.partial_fit(X[rows], sample_weight=weight[rows])
        np.testing.assert_allclose(stream.scores_, whole.scores_, rtol=1e-9, atol=1e-13)
        np.testing.assert_array_equal(stream.constant_, whole.constant_)


def test_messages():
    X, _ = table()
    with pytest.raises(InputError, match="Variance: ddof must be 0 or 1, got 2"):
        Variance(ddof=2).fit(X)
    with pytest.raises(InputError, match="Variance: scale must be"):
        Variance(scale="mean").fit(X)
    X[3, 4] = -np.inf
    with pytest.raises(InputError, match="inf in column 4"):
        everything().fit(X)


@pytest.mark.skipif(
    not os.environ.get("TAMIS_DATA"), reason="set TAMIS_DATA to the folder with the data sets"
)
@pytest.mark.parametrize("name", ["colon", "mfeat"])
def test_real_data(name):
    X = np.asarray(tamis.datasets.load(name, return_X_y=True)[0], dtype=np.float64)
    np.testing.assert_allclose(everything().fit(X).scores_, X.var(axis=0), rtol=1e-10, atol=1e-20)
