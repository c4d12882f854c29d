"""Ranges: smallest and largest value of every column."""

import numpy as np
import pytest
from scipy import sparse

from tamis.statistics import Block, Ranges

NAN, INF = np.nan, np.inf


def ranges(X):
    X = X if sparse.issparse(X) else np.array(X, dtype=np.float64)
    return Ranges(X.shape[1]).update(Block.of(X)).finish()


def test_by_hand():
    low, high = ranges([[3.0, -1.0, NAN], [1.0, NAN, NAN], [2.0, -5.0, NAN]])
    np.testing.assert_array_equal(low, [1.0, -5.0, NAN])
    np.testing.assert_array_equal(high, [3.0, -1.0, NAN])


def test_a_zero_that_is_not_stored_counts():
    # Columns: one stored positive, one stored negative, all stored, none stored, a stored NaN.
    rows, columns = [0, 0, 0, 1, 2, 1], [0, 1, 2, 2, 2, 4]
    values = [4.0, -4.0, 5.0, 6.0, 7.0, NAN]
    low, high = ranges(sparse.csr_array((values, (rows, columns)), shape=(3, 5)))
    np.testing.assert_array_equal(low, [0.0, -4.0, 5.0, 0.0, 0.0])
    np.testing.assert_array_equal(high, [4.0, 0.0, 7.0, 0.0, 0.0])


def test_a_sparse_column_of_stored_nan_has_no_range():
    X = sparse.csr_array(([NAN, NAN], ([0, 1], [0, 0])), shape=(2, 1))
    low, high = ranges(X)
    np.testing.assert_array_equal(low, [NAN])
    np.testing.assert_array_equal(high, [NAN])


def test_constant_columns_have_one_value_or_none():
    result = ranges([[1.0, 7.0, NAN, 7.0], [2.0, 7.0, NAN, NAN]])
    np.testing.assert_array_equal(result.constant, [False, True, True, True])


def test_infinite_values_and_extents_are_flagged():
    result = ranges([[INF, -INF, 1e308, 1.0, NAN], [0.0, 0.0, -1e308, 2.0, NAN]])
    np.testing.assert_array_equal(result.infinite, [True, True, True, False, False])


@pytest.mark.parametrize("n_rows", [1, 3, 4, 5, 31, 32, 33, 63, 64, 65])
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_extremes_may_be_in_any_row(n_rows, order):
    # One column per row: in column i the smallest and largest value is that of row i.
    X = np.zeros((n_rows, 2 * n_rows), order=order)
    X[np.arange(n_rows), np.arange(n_rows)] = -1.0
    X[np.arange(n_rows), n_rows + np.arange(n_rows)] = 1.0
    low, high = Ranges(2 * n_rows).update(Block.of(X)).finish()
    np.testing.assert_array_equal(low[:n_rows], -np.ones(n_rows))
    np.testing.assert_array_equal(high[n_rows:], np.ones(n_rows))


def test_float32_values_are_not_rounded():
    X = np.array([[0.1], [0.2]], dtype=np.float32)
    low, high = Ranges(1).update(Block.of(X)).finish()
    assert low[0] == np.float64(np.float32(0.1))
    assert high[0] == np.float64(np.float32(0.2))


def test_a_result_is_not_changed_by_what_comes_later():
    statistic = Ranges(1).update(Block.of(np.array([[1.0], [2.0]])))
    early = statistic.finish()
    statistic.update(Block.of(np.array([[0.0], [9.0]])))
    assert (early.low[0], early.high[0]) == (1.0, 2.0)
