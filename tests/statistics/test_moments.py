"""Moments: weight, mean and variance of every column."""

import numpy as np
import pytest
from scipy import sparse

from reference import statistics as plain
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Block, Moments

NAN = np.nan


def moments(X, weight=None):
    X = X if sparse.issparse(X) else np.array(X, dtype=np.float64)
    weight = None if weight is None else np.array(weight, dtype=np.float64)
    return Moments(X.shape[1]).update(Block.of(X, weight=weight)).finish()


def test_by_hand():
    # 1, 2, 6: mean 3, squared deviations 4 + 1 + 9. A single value has variance 0.
    weight, mean, variance = moments([[1.0, NAN, NAN], [2.0, 5.0, NAN], [6.0, NAN, NAN]])
    np.testing.assert_array_equal(weight, [3.0, 1.0, 0.0])
    np.testing.assert_allclose(mean, [3.0, 5.0, NAN], rtol=1e-15)
    np.testing.assert_allclose(variance, [14 / 3, 0.0, NAN], rtol=1e-15)


def test_weights_by_hand():
    # 1 with weight 3 and 5 with weight 1: mean 2, variance (3 * 1 + 9) / 4.
    result = moments([[1.0], [5.0]], weight=[3.0, 1.0])
    np.testing.assert_allclose(np.ravel(result), [4.0, 2.0, 3.0], rtol=1e-15)


def test_zeros_that_are_not_stored_by_hand():
    # 0, 0, 3, 5: mean 2, squared deviations 4 + 4 + 1 + 9.
    X = sparse.csr_array(([3.0, 5.0], ([1, 3], [0, 0])), shape=(4, 1))
    np.testing.assert_allclose(np.ravel(moments(X)), [4.0, 2.0, 4.5], rtol=1e-15)


def test_variance_of_an_arithmetic_progression():
    X = np.arange(1.0, 1001.0)[:, None]  # (n^2 - 1) / 12
    assert moments(X).variance[0] == pytest.approx((1000**2 - 1) / 12, rel=1e-14)


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("block_rows", [1, 50, None])
def test_a_large_offset_does_not_cost_the_variance(form, block_rows):
    rng = np.random.default_rng(0)
    X = 1e9 + rng.normal(size=(300, 2))
    for weight in (np.ones(300), rng.uniform(0.1, 2.0, 300)):
        engine = MemoryEngine(form(X), weight=weight, block_rows=block_rows)
        result = run_pass(Moments(2), engine).finish()
        _, mean, variance = plain.moments(X, weight)
        np.testing.assert_allclose(result.mean, mean, rtol=1e-14)
        np.testing.assert_allclose(result.variance, variance, rtol=1e-6)


def test_merging_parts_far_apart_by_hand():
    # Two points at 0, two at 10: variance 25, all of it between the parts.
    parts = [Moments(1).update(Block.of(np.full((2, 1), x))) for x in (0.0, 10.0)]
    weight, mean, variance = parts[0].merge(parts[1]).finish()
    assert (weight[0], mean[0], variance[0]) == (4.0, 5.0, 25.0)


def test_a_result_is_not_changed_by_what_comes_later():
    statistic = Moments(1).update(Block.of(np.array([[1.0], [3.0]])))
    early = statistic.finish()
    statistic.update(Block.of(np.array([[100.0]])))
    assert (early.weight[0], early.mean[0], early.variance[0]) == (2.0, 2.0, 1.0)
