"""ClassMoments: weight, mean and variance of every column within every class."""

import numpy as np
import pytest
from scipy import sparse

from reference import ilfs as plain
from reference.tables import FORMS, mixed_table
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Block, ClassMoments

NAN = np.nan


def codes_for(X, n_classes=3):
    return np.random.default_rng(3).integers(0, n_classes, X.shape[0]).astype(np.int32)


def assert_close(actual, expected):
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array])
def test_by_hand(form):
    # Class 0: 1 and 3, a single 5. Class 1: 8; nothing.
    X = np.array([[1.0, 5.0], [8.0, NAN], [3.0, NAN]])
    block = Block.of(form(X), np.array([0, 1, 0], np.int32))
    result = ClassMoments(2, 2).update(block).finish()
    np.testing.assert_array_equal(result.weight, [[2, 1], [1, 0]])
    np.testing.assert_array_equal(result.mean, [[2, 5], [8, NAN]])
    np.testing.assert_array_equal(result.variance, [[1, 0], [0, NAN]])
    np.testing.assert_array_equal(result.class_weight, [2, 1])


@pytest.mark.sampled(16)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block_rows", [1, 7, None])
def test_equals_its_definition(form, weighted, block_rows):
    X = mixed_table()
    codes = codes_for(X)
    weight = np.random.default_rng(5).uniform(0.1, 2.0, len(X)) if weighted else np.ones(len(X))
    engine = MemoryEngine(FORMS[form](X), codes, weight, block_rows=block_rows)
    result = run_pass(ClassMoments(X.shape[1], 3), engine).finish()
    assert_close(result[:3], plain.class_moments(X, codes, weight, 3))
    np.testing.assert_allclose(result.class_weight, np.bincount(codes, weight), rtol=1e-13)


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, sparse.csr_array])
@pytest.mark.parametrize("block_rows", [1, 50, None])
def test_a_large_offset_does_not_cost_the_variance(form, block_rows):
    X = 1e9 + np.random.default_rng(0).normal(size=(300, 2))
    codes = codes_for(X, 2)
    engine = MemoryEngine(form(X), codes, block_rows=block_rows)
    result = run_pass(ClassMoments(2, 2), engine).finish()
    _, mean, variance = plain.class_moments(X, codes, np.ones(300), 2)
    np.testing.assert_allclose(result.mean, mean, rtol=1e-14)
    np.testing.assert_allclose(result.variance, variance, rtol=1e-6)


@pytest.mark.parametrize("form", ["rows", "columns", "csr"])
def test_threads_change_nothing(form, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X = mixed_table(150, 200)
    codes = codes_for(X)
    weight = np.random.default_rng(9).uniform(0.1, 2.0, len(X))
    one, *others = (
        run_pass(
            ClassMoments(200, 3), MemoryEngine(FORMS[form](X), codes, weight), n_jobs=n
        ).finish()
        for n in (1, 2, 5)
    )
    for other in others:
        for left, right in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)


def test_parts_of_any_form_merge():
    X = mixed_table(120)
    codes = codes_for(X)
    weight = np.random.default_rng(6).uniform(0.1, 2.0, len(X))
    whole = ClassMoments(X.shape[1], 3)
    for form, rows in zip(FORMS, np.array_split(np.arange(120), len(FORMS)), strict=True):
        part = ClassMoments(X.shape[1], 3)
        part.update(Block.of(FORMS[form](X[rows]), codes[rows], weight[rows]))
        before = part.finish()
        assert whole.merge(part) is whole
        np.testing.assert_array_equal(part.finish().mean, before.mean)
    assert_close(whole.finish()[:3], plain.class_moments(X, codes, weight, 3))
    np.testing.assert_allclose(whole.finish().class_weight, np.bincount(codes, weight))


def test_classes_met_later_find_room():
    X = np.array([[1.0], [5.0]])
    statistic = ClassMoments(1, 2).update(Block.of(X, np.array([0, 1], np.int32)))
    statistic.add_classes(np.array([2, 0]), 3)
    statistic.update(Block.of(np.array([[7.0], [3.0]]), np.array([1, 2], np.int32)))
    result = statistic.finish()
    np.testing.assert_array_equal(result.mean[:, 0], [5, 7, 2])
    np.testing.assert_array_equal(result.variance[:, 0], [0, 0, 1])
    np.testing.assert_array_equal(result.class_weight, [1, 1, 2])


def test_nothing_seen_is_nothing_known():
    result = ClassMoments(2, 2).update(Block.of(np.empty((0, 2)), np.empty(0, np.int32))).finish()
    assert np.isnan(result.mean).all()
    np.testing.assert_array_equal(result.weight, np.zeros((2, 2)))


def test_a_block_is_only_its_own_rows():
    X = mixed_table(30)
    codes = codes_for(X)
    rows = slice(4, 21)
    expected = plain.class_moments(X[rows], codes[rows], np.ones(17), 3)
    for form in ("rows", "columns", "csr explicit zeros"):
        block = Block(FORMS[form](X), 4, 21, codes)
        assert_close(ClassMoments(X.shape[1], 3).update(block).finish()[:3], expected)
