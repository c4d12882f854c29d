"""Columns that vary, and dense ones without holes."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from tamis._columns import centred_columns, find_constant
from tamis.exceptions import InputError

WHO = SimpleNamespace(n_jobs=1)


class TestFindConstant:
    def test_constant_empty_and_unweighted_columns(self):
        X = np.array([[1.0, np.nan, 5, 1e8], [1, np.nan, 5, 1e8 + 1], [1, np.nan, 7, 1e8]])
        assert find_constant(WHO, X, None).tolist() == [True, True, False, False]
        weight = np.array([1.0, 1.0, 0.0])  # what is left of column 2 is 5 and 5
        assert find_constant(WHO, X, weight).tolist() == [True, True, True, False]
        assert find_constant(WHO, sparse.csr_array(X), None).tolist() == [True, True, False, False]

    def test_values_that_cannot_be_squared(self):
        with pytest.raises(InputError, match="got inf in column 1"):
            find_constant(WHO, np.array([[1, np.inf], [2, 0]]), None)
        with pytest.raises(InputError, match=r"below 1e150, got 1e\+200 in column 0"):
            find_constant(WHO, np.array([[1e200, 1], [2, 0]]), None)
        # A constant column is never squared.
        assert find_constant(WHO, np.array([[1e200, 1], [1e200, 0]]), None)[0]


class TestCentredColumns:
    def test_by_hand(self):
        X = np.array([[1.0, 10.0, 4.0], [3.0, np.nan, 4.0], [5.0, 30.0, 4.0]])
        expected = [[-2, -10], [0, 0], [2, 10]]
        np.testing.assert_allclose(centred_columns(X, np.array([0, 1])), expected)
        np.testing.assert_allclose(centred_columns(X, np.array([True, True, False])), expected)
        scaled = centred_columns(X, np.array([0, 1]), scale=True)
        np.testing.assert_allclose(scaled, [[-(1.5**0.5), -1], [0, 0], [1.5**0.5, 1]])

    def test_weights_are_repeated_rows(self):
        rng = np.random.default_rng(0)
        X, weight = rng.normal(size=(20, 3)), rng.integers(1, 4, 20)
        X[3, 1] = np.nan
        repeated = np.repeat(np.arange(20), weight)
        every = np.arange(3)
        whole = centred_columns(X[repeated], every, scale=True)
        weighted = centred_columns(X, every, weight.astype(float), scale=True)
        np.testing.assert_allclose(whole, weighted[repeated], atol=1e-12)

    @pytest.mark.parametrize("n_columns", [1, 255, 256, 600])
    def test_tiles_and_sparse_tables(self, n_columns):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(9, n_columns)) * (rng.random((9, n_columns)) < 0.4)
        chosen = np.sort(rng.choice(n_columns, max(1, n_columns // 2), replace=False))
        dense = centred_columns(X, chosen)
        np.testing.assert_allclose(dense, X[:, chosen] - X[:, chosen].mean(axis=0), atol=1e-14)
        np.testing.assert_array_equal(centred_columns(sparse.csr_array(X), chosen), dense)
        assert dense.flags.c_contiguous

    @pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e9, 1e140])
    def test_any_unit(self, scale):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(50, 2))
        out = centred_columns(X * scale, np.arange(2), scale=True)
        np.testing.assert_allclose(out.std(axis=0), 1)
        np.testing.assert_allclose(out, centred_columns(X, np.arange(2), scale=True), atol=1e-12)

    def test_a_large_offset_leaves_no_mean(self):
        X = 1e8 + np.random.default_rng(0).integers(0, 4, (100, 2)).astype(np.float32)
        out = centred_columns(X, np.arange(2))
        assert abs(out.mean(axis=0)).max() < 1e-12

    def test_columns_without_cells(self):
        X = np.full((4, 2), np.nan)
        np.testing.assert_array_equal(
            centred_columns(X, np.arange(2), scale=True), np.zeros((4, 2))
        )

    def test_the_table_is_not_changed(self):
        X = np.array([[1.0, np.nan], [2.0, 3.0]])
        X.setflags(write=False)
        centred_columns(X, np.arange(2), scale=True)
