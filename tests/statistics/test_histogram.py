"""ClassHistogram: weight of every class in every bin of every column."""

import numpy as np
import pytest
from scipy import sparse

from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Bins, Block, ClassHistogram

X = np.array([[0.0, 4.0], [1.0, np.nan], [2.0, 0.0], [4.0, 1.0]])
CODES = np.array([0, 0, 1, 1], dtype=np.int32)
BINS = Bins.between([0.0, 0.0], [4.0, 4.0], n_bins=2)  # the cut is 2, and 2 goes right


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array])
def test_by_hand(form):
    result = ClassHistogram(BINS, n_classes=2).update(Block.of(form(X), CODES)).finish()
    np.testing.assert_array_equal(result.counts[0], [[2, 0], [0, 1]])
    np.testing.assert_array_equal(result.counts[1], [[0, 2], [2, 0]])
    np.testing.assert_array_equal(result.table[:, :, -1], [[0, 1], [0, 0]])
    assert result.whole


def test_weights_by_hand():
    weight = np.array([0.5, 2.0, 1.0, 0.25])
    result = ClassHistogram(BINS, 2).update(Block.of(X, CODES, weight)).finish()
    np.testing.assert_array_equal(result.counts[:, 0], [[2.5, 0], [0, 1.25]])
    np.testing.assert_array_equal(result.table[:, 1, -1], [2.0, 0.0])
    assert not result.whole


def test_whole_needs_whole_weights_everywhere():
    whole, broken = (ClassHistogram(BINS, 2) for _ in range(2))
    whole.update(Block.of(X, CODES, np.array([1.0, 2.0, 3.0, 4.0])))
    broken.update(Block.of(X, CODES, np.array([1.0, 2.0, 3.0, 4.5])))
    assert whole.finish().whole
    assert not whole.merge(broken).finish().whole


def test_whole_looks_only_at_the_rows_of_the_block():
    block = Block(X, 0, 2, CODES, np.array([1.0, 2.0, 0.3, 0.7]))
    assert ClassHistogram(BINS, 2).update(block).finish().whole


def test_a_class_may_have_no_rows():
    result = ClassHistogram(BINS, 3).update(Block.of(sparse.csr_array(X), CODES)).finish()
    np.testing.assert_array_equal(result.table[2], np.zeros((2, 3)))


@pytest.mark.parametrize("form", [np.array, sparse.csr_array])
def test_classes_met_later_find_room(form):
    # The known classes 0 and 1 become 2 and 0; class 1 is new.
    statistic = ClassHistogram(BINS, 2).update(Block.of(form(X), CODES))
    statistic.add_classes(np.array([2, 0]), n_classes=3)
    statistic.update(Block.of(form(np.array([[3.0, 3.0]])), np.array([1], np.int32)))
    counts = statistic.finish().counts
    np.testing.assert_array_equal(counts[2], [[2, 0], [0, 1]])
    np.testing.assert_array_equal(counts[0], [[0, 2], [2, 0]])
    np.testing.assert_array_equal(counts[1], [[0, 1], [0, 1]])
    np.testing.assert_array_equal(statistic.class_weight, [2, 1, 2])


def test_every_row_is_counted_once_per_column():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(500, 40))
    table[rng.random(table.shape) < 0.2] = np.nan
    codes = rng.integers(0, 4, 500).astype(np.int32)
    bins = Bins.between(np.full(40, -1.0), np.full(40, 1.0), n_bins=7)
    counted = ClassHistogram(bins, 4).update(Block.of(table, codes)).finish().table.sum(axis=2)
    np.testing.assert_array_equal(counted, np.repeat(np.bincount(codes)[:, None], 40, axis=1))


def test_rounding_of_weights_is_not_a_row():
    # Every cell is stored and missing, so no weight may be left for zeros, not even 1e-16.
    rng = np.random.default_rng(0)
    for n_rows in range(2, 100):
        cells = sparse.csr_array(np.full((n_rows, 1), np.nan))
        codes = np.arange(n_rows, dtype=np.int32) % 2
        engine = MemoryEngine(cells, codes, rng.random(n_rows), block_rows=7)
        result = run_pass(ClassHistogram(Bins.between([0.0], [1.0], 2), 2), engine).finish()
        np.testing.assert_array_equal(result.counts, np.zeros((2, 1, 2)))
