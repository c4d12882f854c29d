"""Rows in an order of their own."""

import numpy as np
import pytest
from scipy import sparse

from tamis._rows import distinct_rows, listed_rows


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40, 3)).astype(float)
    X[5, 1] = np.nan
    return X, rng.integers(0, 2, 40).astype(np.int32)


def content(X, y, found):
    weight = np.ones(found.rows.size) if found.weight is None else found.weight
    return X[found.rows].tolist(), y[found.rows].tolist(), weight.tolist()


def test_equal_rows_of_a_class_are_one(table):
    X, y = table
    found = distinct_rows(X, y, None)
    kinds = {(*np.where(np.isnan(row), -1, row), c) for row, c in zip(X, y, strict=True)}
    assert found.rows.size == len(kinds)
    assert found.weight.sum() == 40


@pytest.mark.parametrize("make", [distinct_rows, listed_rows])
def test_the_order_of_the_rows_is_nothing(table, make):
    X, y = table
    order = np.random.default_rng(1).permutation(40)
    weight = np.random.default_rng(2).random(40)
    for w in (None, weight):
        one = content(X, y, make(X, y, w))
        other = content(
            X[order], y[order], make(X[order], y[order], None if w is None else w[order])
        )
        np.testing.assert_array_equal(one[0], other[0])
        assert one[1] == other[1]
        if (
            make is distinct_rows or w is None
        ):  # equal rows may come with their weights in any order
            np.testing.assert_allclose(one[2], other[2])


@pytest.mark.parametrize("make", [distinct_rows, listed_rows])
def test_a_weight_of_two_is_the_row_twice(table, make):
    X, y = table
    weight = np.random.default_rng(1).integers(0, 4, 40).astype(float)
    repeated = np.repeat(np.arange(40), weight.astype(int))
    one = content(X, y, make(X, y, weight))
    other = content(X[repeated], y[repeated], make(X[repeated], y[repeated], None))
    np.testing.assert_array_equal(one[0], other[0])
    assert one[1:] == other[1:]


def test_the_names_of_the_classes_are_nothing(table):
    """But for rows that differ in their class only."""
    X, y = np.random.default_rng(0).normal(size=(30, 2)), table[1][:30]
    np.testing.assert_array_equal(
        distinct_rows(X, y, None).rows, distinct_rows(X, 1 - y, None).rows
    )


@pytest.mark.parametrize("make", [distinct_rows, listed_rows])
def test_layout_type_and_sign_of_zero_are_nothing(table, make):
    X, y = table
    plain = make(X, y, None)
    X_signed = np.where(X == 0, -0.0, X)
    for other in (np.asfortranarray(X), X.astype(np.float32), X_signed, sparse.csr_array(X)):
        np.testing.assert_array_equal(make(other, y, None).rows, plain.rows)


def test_weights_that_are_no_counts_stay_weights(table):
    X, y = table
    weight = np.random.default_rng(1).random(40) + 0.1
    found = listed_rows(X, y, weight)
    np.testing.assert_array_equal(found.weight, weight[found.rows])
    assert listed_rows(X, y, np.full(40, 0.5)).weight is None
    many = np.ones(40)
    many[0] = 1e6  # too many repetitions
    assert listed_rows(X, y, many).weight.max() == 1e6


def test_blocks_of_rows(table, monkeypatch):
    X, y = table
    plain = distinct_rows(X, y, None)
    monkeypatch.setattr("tamis._rows.BLOCK_CELLS", 7)
    np.testing.assert_array_equal(distinct_rows(X, y, None).rows, plain.rows)
