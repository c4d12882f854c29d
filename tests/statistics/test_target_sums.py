"""TargetSums: weight and sum of a numeric target by bin, and its squares."""

import numpy as np
import pytest
from scipy import sparse

from reference import statistics as plain
from reference.tables import FORMS, mixed_table
from tamis.statistics import Bins, Block, TargetSums

X = np.array([[0.0, 4.0], [1.0, np.nan], [2.0, 0.0], [4.0, 1.0]])
TARGET = np.array([1.0, -3.0, 5.0, 7.0])
BINS = Bins.between([0.0, 0.0], [4.0, 4.0], n_bins=2)  # the cut is 2, and 2 goes right


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array])
def test_by_hand(form):
    result = TargetSums(BINS).update(Block.of(form(X), TARGET)).finish()
    np.testing.assert_array_equal(result.sums[0], [[2, -2], [2, 12]])
    np.testing.assert_array_equal(result.sums[1], [[2, 12], [1, 1]])
    np.testing.assert_array_equal(result.squares, [84, 75])  # 1 + 9 + 25 + 49, and without the 9


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array])
def test_weights_by_hand(form):
    weight = np.array([2.0, 1.0, 0.5, 4.0])
    result = TargetSums(BINS).update(Block.of(form(X), TARGET, weight)).finish()
    np.testing.assert_array_equal(result.sums[0], [[3, -1], [4.5, 30.5]])
    np.testing.assert_array_equal(result.sums[1], [[4.5, 30.5], [2, 2]])
    np.testing.assert_array_equal(result.squares, [219.5, 210.5])


def test_the_total_counts_rows_with_missing_cells_too():
    statistic = TargetSums(BINS).update(Block.of(X, TARGET))
    np.testing.assert_array_equal(statistic.total, [4, 10, 84])


def test_different_centres_merge_by_hand():
    # The same targets as above, once seen from 1 and once from 3; the result is seen from 1.
    first = TargetSums(BINS, centre=1.0).update(Block.of(X[:2], TARGET[:2] - 1.0))
    second = TargetSums(BINS, centre=3.0).update(Block.of(X[2:], TARGET[2:] - 3.0))
    result = first.merge(second).finish()
    assert result.centre == 1.0
    np.testing.assert_array_equal(result.sums[0], [[2, -4], [2, 10]])
    np.testing.assert_array_equal(result.sums[1], [[2, 10], [1, 0]])
    np.testing.assert_array_equal(result.squares, [0 + 16 + 16 + 36, 0 + 16 + 36])
    np.testing.assert_array_equal(first.total, [4, 6, 68])


def test_any_tree_of_merges_with_any_centres_equals_the_whole():
    table = mixed_table(120)
    rng = np.random.default_rng(1)
    target, weight = rng.uniform(2.0, 4.0, 120), rng.uniform(0.1, 2.0, 120)
    bins = Bins.between(*plain.ranges(table), n_bins=6)
    sums, squares = plain.target_sums(table, target, weight, bins.cuts())
    for _ in range(10):
        parts = []
        for rows in np.array_split(rng.permutation(120), 9):
            centre = rng.uniform(-3.0, 3.0)
            form = FORMS[rng.choice(list(FORMS))]
            block = Block.of(form(table[rows]), target[rows] - centre, weight[rows])
            parts.append(TargetSums(bins, centre).update(block))
        whole = TargetSums(bins)
        while len(parts) > 1:
            i, j = rng.choice(len(parts), 2, replace=False)
            parts[i].merge(parts[j])
            del parts[j]
        result = whole.merge(parts[0]).finish()
        np.testing.assert_allclose(result.sums, sums, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(result.squares, squares, rtol=1e-12, atol=1e-12)


def test_a_centre_keeps_the_squares_of_a_large_offset():
    # About 1e9 the squares of y itself have no digits left for a variance of 2 / 3.
    y = 1e9 + np.array([1.0, 2.0, 3.0])
    block = Block.of(np.array([[0.0], [1.0], [2.0]]), y - 1e9)
    result = TargetSums(Bins.between([0.0], [2.0], 2), centre=1e9).update(block).finish()
    weight, first = result.sums[0].sum(axis=0)
    assert result.squares[0] / weight - (first / weight) ** 2 == pytest.approx(2 / 3, rel=1e-14)


def test_rounding_of_weights_is_not_a_row():
    # Every cell is stored and missing, so no weight may be left for zeros, not even 1e-16.
    rng = np.random.default_rng(0)
    for n_rows in range(2, 100):
        cells = sparse.csr_array(np.full((n_rows, 1), np.nan))
        block = Block.of(cells, rng.normal(size=n_rows), rng.random(n_rows))
        result = TargetSums(Bins.between([0.0], [1.0], 2)).update(block).finish()
        np.testing.assert_array_equal(result.sums, np.zeros((1, 2, 2)))
