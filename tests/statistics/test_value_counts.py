"""ValueCounts: exact ranks and quantiles of every column."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import rankdata

from reference import statistics as plain
from tamis.statistics import Block, ValueCounts
from tamis.statistics.value_counts import ColumnCounts

NAN = np.nan


def column(values, weight=None):
    X = np.array(values, dtype=np.float64)[:, None]
    weight = None if weight is None else np.array(weight, dtype=np.float64)
    return ValueCounts(1).update(Block.of(X, weight=weight)).finish()[0]


def test_by_hand():
    values, weights = column([3.0, 1.0, NAN, 3.0, 2.0])
    np.testing.assert_array_equal(values, [1, 2, 3])
    np.testing.assert_array_equal(weights, [1, 1, 2])


def test_ranks_by_hand():
    counts = column([3.0, 1.0, 3.0, 2.0])  # sorted: 1, 2, 3, 3
    np.testing.assert_array_equal(counts.rank([1.0, 2.0, 3.0]), [1, 2, 3.5])
    np.testing.assert_array_equal(counts.rank([0.0, 2.5, 9.0, NAN]), [0.5, 2.5, 4.5, NAN])


def test_quantiles_by_hand():
    counts = column([30.0, 10.0, 20.0, 40.0])
    shares = [0.0, 0.25, 0.26, 0.5, 0.75, 0.99, 1.0]
    np.testing.assert_array_equal(counts.quantile(shares), [10, 10, 20, 20, 30, 40, 40])


def test_weighted_quantiles_by_hand():
    counts = column([1.0, 2.0, 3.0], weight=[0.1, 0.2, 0.7])
    np.testing.assert_array_equal(counts.quantile([0.05, 0.1, 0.3, 0.31]), [1, 1, 2, 3])
    # Two of three equal weights are two thirds on paper; of the floats 0.1 they are a bit less.
    counts = column([1.0, 2.0, 3.0], weight=[0.1, 0.1, 0.1])
    np.testing.assert_array_equal(counts.quantile([1 / 3, 2 / 3]), [1, 2])
    assert counts.quantile(np.nextafter(2 / 3, 1)) == 2


def test_nothing_observed_has_no_quantile():
    counts = column([NAN, NAN])
    assert counts.values.size == 0
    np.testing.assert_array_equal(counts.quantile([0.0, 0.5]), [NAN, NAN])


def test_zeros_that_are_not_stored_come_as_one_value():
    X = sparse.csr_array(([2.0, NAN, 0.0], ([0, 1, 2], [0, 0, 0])), shape=(5, 1))
    values, weights = ValueCounts(1).update(Block.of(X)).finish()[0]
    np.testing.assert_array_equal(values, [0, 2])
    np.testing.assert_array_equal(weights, [3, 1])


def test_rounding_of_weights_invents_no_zero():
    # Were the weights of all rows and of the stored entries summed in different orders, a zero of
    # weight 1e-17 would be left over.
    rng = np.random.default_rng(0)
    for n_rows in range(2, 200):
        X, weight = rng.uniform(1.0, 2.0, (n_rows, 1)), rng.random(n_rows)
        block = Block.of(sparse.csr_array(X)[:, [0]], weight=weight)
        values, _ = ValueCounts(1).update(block).finish()[0]
        assert values[0] >= 1.0


def test_minus_zero_is_zero():
    values, weights = column([0.0, -0.0, 1.0])
    np.testing.assert_array_equal(values, [0, 1])
    np.testing.assert_array_equal(weights, [2, 1])


@pytest.mark.parametrize("seed", range(5))
def test_ranks_and_quantiles_equal_their_definitions(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 12, 50) / 4
    counts = column(x)
    np.testing.assert_array_equal(counts.rank(x), rankdata(x))
    np.testing.assert_array_equal(counts.rank(x), [plain.average_rank(value, x) for value in x])
    weight = rng.integers(1, 16, 50) / 8
    weighted = column(x, weight)
    for q in rng.integers(0, 65, 20) / 64:
        assert weighted.quantile(q) == plain.quantile(x.tolist(), weight.tolist(), float(q))


def test_memory_grows_with_distinct_values_only():
    statistic = ValueCounts(1)
    for _ in range(5):
        statistic.update(Block.of(np.tile([[1.0], [2.0]], (500, 1))))
    (counts,) = statistic.finish()
    assert isinstance(counts, ColumnCounts)
    np.testing.assert_array_equal(counts.values, [1, 2])
    np.testing.assert_array_equal(counts.weights, [2500, 2500])
