"""MemoryEngine: row blocks of a matrix in memory."""

import numpy as np
import pytest
from scipy import sparse

from reference.tables import FORMS, read_only
from tamis.passes import MemoryEngine
from tamis.passes import memory as module


def dense_rows(block):
    rows = block.X[block.start : block.stop]
    return rows.toarray() if sparse.issparse(rows) else rows


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block_rows", [1, 3, 10, 99, None])
def test_every_row_comes_once_and_in_order(form, block_rows):
    X = np.arange(40.0).reshape(10, 4)
    target, weight = np.arange(10), np.arange(1.0, 11.0)
    engine = MemoryEngine(FORMS[form](X), target, weight, block_rows=block_rows)
    blocks = list(engine)
    assert len(blocks) == len(engine)
    np.testing.assert_array_equal(np.concatenate([dense_rows(block) for block in blocks]), X)
    targets = [block.target[block.start : block.stop] for block in blocks]
    np.testing.assert_array_equal(np.concatenate(targets), target)
    np.testing.assert_array_equal(np.concatenate([b.weight_slice for b in blocks]), weight)
    assert all(block.n_rows <= (block_rows or 10) for block in blocks)


def test_blocks_by_hand():
    engine = MemoryEngine(np.zeros((5, 2)), block_rows=2)
    assert [(block.start, block.stop) for block in engine] == [(0, 2), (2, 4), (4, 5)]
    assert len(MemoryEngine(np.zeros((4, 2)), block_rows=2)) == 2


def test_an_engine_can_be_walked_again():
    engine = MemoryEngine(np.arange(6.0).reshape(3, 2), block_rows=2)
    first, second = ([block.n_rows for block in engine] for _ in range(2))
    assert first == second == [2, 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_contiguous_floats_are_used_in_place(dtype, order):
    X = read_only(np.ones((6, 4), dtype=dtype, order=order))
    for block in MemoryEngine(X, weight=np.ones(6), block_rows=4):
        assert np.shares_memory(block.X, X)


def test_a_csr_matrix_of_floats_is_used_in_place():
    X = sparse.csr_array(np.eye(6))
    for block in MemoryEngine(X, block_rows=4):
        assert np.shares_memory(block.X.data, X.data)


def test_a_matrix_that_must_be_copied_is_copied_in_small_pieces(monkeypatch):
    monkeypatch.setattr(module, "COPY_BYTES", 8 * 4 * 3)  # three rows of four numbers
    X = np.arange(40).reshape(10, 4)
    assert [block.n_rows for block in MemoryEngine(X)] == [3, 3, 3, 1]
    assert [block.n_rows for block in MemoryEngine(X.astype(float)[:, ::2])] == [6, 4]


def test_a_row_larger_than_a_block_is_a_block(monkeypatch):
    monkeypatch.setattr(module, "BLOCK_BYTES", 1)
    assert [block.n_rows for block in MemoryEngine(np.zeros((3, 5)))] == [1, 1, 1]
    assert [block.n_rows for block in MemoryEngine(sparse.csr_array(np.ones((3, 5))))] == [1, 1, 1]


@pytest.mark.parametrize(
    ("form", "dtype"),
    [
        *((np.array, dtype) for dtype in (bool, np.int8, np.int64, np.float16, np.longdouble)),
        *((sparse.csr_array, dtype) for dtype in (bool, np.int8, np.int64)),
    ],
)
def test_other_types_are_cast(form, dtype):
    X = np.array([[0, 1], [1, 1], [0, 0]]).astype(dtype)
    blocks = list(MemoryEngine(form(X), block_rows=2))
    assert {block.X.dtype for block in blocks} == {np.dtype(np.float64)}
    np.testing.assert_array_equal(np.concatenate([dense_rows(block) for block in blocks]), X)


@pytest.mark.parametrize("form", ["rows", "columns", "strided", "csr", "csc", "float32 rows"])
def test_rows_of_weight_zero_are_left_out(form):
    X = np.arange(24.0).reshape(6, 4)
    weight = np.array([0.0, 2.0, 0.0, 0.0, 0.5, 1.0])
    blocks = list(MemoryEngine(FORMS[form](X), np.arange(6), weight, block_rows=2))
    np.testing.assert_array_equal(np.concatenate([dense_rows(b) for b in blocks]), X[[1, 4, 5]])
    np.testing.assert_array_equal(np.concatenate([b.target for b in blocks]), [1, 4, 5])
    np.testing.assert_array_equal(np.concatenate([b.weight for b in blocks]), [2, 0.5, 1])
    assert [block.n_rows for block in blocks] == [1, 0, 2]


def test_target_and_weight_are_optional():
    (block,) = MemoryEngine(np.ones((2, 2), dtype=int))
    assert block.target is None
    assert block.weight is None


def test_size_in_bytes():
    assert MemoryEngine(np.zeros((3, 5), dtype=np.float32)).n_bytes == 60
    assert MemoryEngine(sparse.csr_array(np.eye(7))).n_bytes == 56
