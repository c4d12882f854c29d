"""Block: a range of rows of a table, with its target and weights."""

import numpy as np
import pytest
from scipy import sparse

from tamis.statistics import Block


@pytest.mark.parametrize(
    ("form", "layout"),
    [
        (np.ascontiguousarray, "rows"),
        (np.asfortranarray, "columns"),
        (sparse.csr_array, "sparse"),
        (sparse.csc_matrix, "sparse"),
        (sparse.coo_array, "sparse"),
    ],
)
def test_layout(form, layout):
    block = Block.of(form(np.arange(12.0).reshape(3, 4)))
    assert (block.layout, block.n_rows, block.n_columns) == (layout, 3, 4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_contiguous_floats_are_not_copied(dtype, order):
    X = np.ones((3, 4), dtype=dtype, order=order)
    assert Block.of(X).X is X


def test_a_csr_matrix_of_floats_is_not_copied():
    X = sparse.csr_array(np.eye(3, dtype=np.float32))
    assert Block.of(X).X is X


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int64, np.uint64, bool, np.float16, np.longdouble, ">f8", ">f4", object]
)
def test_other_types_become_float64(dtype):
    X = np.array([[0, 1], [1, 0]]).astype(dtype)
    for table in (X, X[::-1, ::-1]):
        block = Block.of(table)
        assert block.X.dtype == np.float64
        np.testing.assert_array_equal(block.X, table.astype(np.float64))


def test_sparse_integers_become_float64():
    block = Block.of(sparse.csr_array(np.eye(2, dtype=int)))
    assert block.X.dtype == np.float64
    assert block.layout == "sparse"


def test_strided_floats_keep_their_type():
    block = Block.of(np.ones((6, 6), dtype=np.float32)[::2, ::2])
    assert block.X.dtype == np.float32
    assert block.layout == "rows"


def test_the_dense_form_is_c_ordered_for_both_orders():
    X = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(Block.of(X).dense, X)
    columns = Block.of(np.asfortranarray(X)).dense
    np.testing.assert_array_equal(columns, X.T)
    assert columns.flags.c_contiguous


def test_weights_are_ones_unless_given():
    block = Block(np.zeros((4, 1)), 1, 3)
    np.testing.assert_array_equal(block.weights, np.ones(4))
    block = Block(np.zeros((4, 1)), 1, 3, weight=np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(block.weight_slice, [2, 3])
