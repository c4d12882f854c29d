"""TokenCounts: how close the cells of every column lie to their own class."""

import numpy as np
import pytest
from scipy import sparse

from reference import ilfs as plain
from reference.tables import FORMS, mixed_table
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import Block, ClassMoments, TokenCounts

DENSE_AND_SPARSE = pytest.mark.parametrize(
    "form", [np.array, np.asfortranarray, sparse.csr_array], ids=["rows", "columns", "csr"]
)


def counted(X, codes, *, weight=None, form=np.array, block_rows=None, n_jobs=1, **options):
    codes = np.asarray(codes, dtype=np.int32)
    engine = MemoryEngine(form(np.asarray(X)), codes, weight, block_rows=block_rows)
    n_classes = int(codes.max()) + 1
    moments = run_pass(ClassMoments(engine.X.shape[1], n_classes), engine).finish()
    return run_pass(TokenCounts(moments, **options), engine, n_jobs=n_jobs).finish()


@DENSE_AND_SPARSE
def test_by_hand(form):
    # Means 1 and 5. Distances own, other: 0: 1, 25; 2: 1, 9; 4: 1, 9; 6: 1, 25.
    # Closeness 25/26, 9/10, 9/10, 25/26. Of twenty tokens: 20, 19, 19, 20.
    X = [[0.0], [2.0], [4.0], [6.0]]
    counts = counted(X, [0, 0, 1, 1], form=form, n_tokens=20).counts[0]
    assert counts.tolist() == [0.0] * 18 + [2.0, 2.0]


@DENSE_AND_SPARSE
def test_borders_by_hand(form):
    # Means 0 and 4; the values 2 lie half way: closeness 1/2, on the border between 3 and 4.
    X = [[-2.0], [0.0], [2.0], [2.0], [4.0], [6.0]]
    # -2 and 6: 36 / 40 = 0.9, token 6; 0 and 4: on their mean, token 6.
    counts = counted(X, [0, 0, 0, 1, 1, 1], form=form).counts[0]
    assert counts.tolist() == [0, 0, 0, 2, 0, 4]


def test_a_border_is_a_border_whatever_the_rounding():
    # Means are 0.1 k exactly up to rounding; all values lie half way between them.
    rng = np.random.default_rng(0)
    base = np.array([0.1, 0.5, 0.3, 0.7, 0.3, 0.5])  # means 0.3 and 0.5
    for scale in (1.0, 1 / 3, 7.3, 1e6 / 3):
        for _ in range(5):
            rows = rng.permutation(6)
            x, codes = base[rows] * scale, np.array([0, 0, 0, 1, 1, 1])[rows]
            half = np.append(x, [0.4 * scale] * 2)[:, None]
            weight = np.append(np.ones(6), [1e-12, 1e-12])
            table = counted(half, np.append(codes, [0, 1]), weight=weight).counts[0]
            assert table[3] == pytest.approx(2e-12)


@DENSE_AND_SPARSE
def test_limits_by_hand(form):
    codes = [0, 0, 1, 1]
    # Equal means, all values on them: a guess. Perfect: one everywhere. On the other mean: zero.
    X = np.array([[5.0, 1.0, 2.0], [5.0, 1.0, 0.0], [5.0, 2.0, 1.0], [5.0, 2.0, 1.0]])
    assert counted(X[:, :1], codes, form=form).counts.tolist() == [[0, 0, 0, 4, 0, 0]]
    assert counted(X[:, 1:2], codes, form=form).counts.tolist() == [[0, 0, 0, 0, 0, 4]]
    swapped = np.array([[3.0], [3.0], [0.0], [1.0], [1.0], [7.0]])  # means 2 and 3
    counts = counted(swapped, [0, 0, 0, 1, 1, 1], form=form).counts[0]
    assert counts[0] == 2  # the threes of class 0 lie on the mean of class 1
    three = np.array([[0.0], [0.0], [0.0], [0.0], [1.0], [-1.0]])  # three classes, all means 0
    assert counted(three, [0, 0, 1, 1, 2, 2], form=form).counts[0, 2] == 6  # 1/3
    complement = counted(three, [0, 0, 1, 1, 2, 2], form=form, closeness="complement")
    assert complement.counts[0, 4] == 6  # 2/3


@DENSE_AND_SPARSE
def test_equal_means_are_equal_whatever_the_rounding(form):
    # Both means are 0.3, added up in different orders; cells on them must be guesses.
    left, right = [0.1, 0.2, 0.3, 0.6], [0.6, 0.3, 0.2, 0.1]
    X = np.array(left * 3 + right * 3 + [0.3, 0.3])[:, None]
    counts = counted(X, [0] * 12 + [1] * 12 + [0, 1], form=form).counts[0]
    assert counts.tolist() == [0, 0, 0, 26, 0, 0]


@DENSE_AND_SPARSE
@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_of_one_class_have_no_tokens(form, n_classes):
    X = np.array([[1.0, 1.0], [2.0, 2.0], [np.nan, 3.0], [np.nan, 4.0], [np.nan, np.nan]])
    codes = [0, 0, 1, 1, n_classes - 1]
    result = counted(X, codes, form=form)
    assert not result.counts[0].any()
    assert result.missing[0] == 5
    assert result.counts[1].sum() == 4


@pytest.mark.sampled(8)
@pytest.mark.parametrize("closeness", ["inverse", "complement"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("form", FORMS)
def test_equals_exact_fractions(form, n_classes, closeness):
    X = mixed_table()
    codes = np.random.default_rng(3).integers(0, n_classes, len(X)).astype(np.int32)
    X[codes == 1, 5] = np.nan  # a class that is not observed
    weight = np.random.default_rng(4).choice([0.5, 1.0, 3.0], len(X))
    expected = plain.token_counts(X, codes, weight, n_classes, closeness=closeness)
    for block_rows in (11, None):
        result = counted(
            X, codes, weight=weight, form=FORMS[form], block_rows=block_rows, closeness=closeness
        )
        np.testing.assert_allclose(result.table, expected, rtol=1e-12, atol=1e-12)


def test_both_definitions_agree_for_two_classes():
    X = np.random.default_rng(0).normal(size=(500, 40))
    codes = np.arange(500) % 2
    for n_tokens in (2, 6, 19):
        one, other = (
            counted(X, codes, n_tokens=n_tokens, closeness=closeness).table
            for closeness in ("inverse", "complement")
        )
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("closeness", "expected"), [("inverse", 1 / 8), ("complement", 7 / 8)])
def test_a_useless_column_of_many_classes(closeness, expected):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(8000, 1))
    codes = rng.integers(0, 8, 8000)
    counts = counted(X, codes, n_tokens=1000, closeness=closeness).counts[0]
    assert np.average((np.arange(1000) + 0.5) / 1000, weights=counts) == pytest.approx(
        expected, abs=0.02
    )


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e30, 1e140])
def test_units_do_not_matter(scale):
    rng = np.random.default_rng(2)
    X = 3.0 + rng.normal(size=(50, 6))
    codes = rng.integers(0, 3, 50)
    np.testing.assert_array_equal(counted(X * scale, codes).table, counted(X, codes).table)


@pytest.mark.parametrize("form", ["rows", "columns", "csr"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_threads_change_nothing(form, n_classes, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X = mixed_table(60, 200)
    codes = np.arange(60) % n_classes
    weight = np.random.default_rng(9).uniform(0.1, 2.0, 60)
    one, two, many = (
        counted(X, codes, weight=weight, form=FORMS[form], n_jobs=n).table for n in (1, 2, 7)
    )
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, many)


def test_parts_of_any_form_merge():
    X = mixed_table(121)
    codes = (np.arange(121) % 3).astype(np.int32)
    weight = np.random.default_rng(6).uniform(0.1, 2.0, 121)
    moments = ClassMoments(X.shape[1], 3).update(Block.of(X, codes, weight)).finish()
    whole = TokenCounts(moments).update(Block.of(X, codes, weight))
    merged = TokenCounts(moments)
    for form, rows in zip(FORMS, np.array_split(np.arange(121), len(FORMS)), strict=True):
        block = Block.of(FORMS[form](X[rows]), codes[rows], weight[rows])
        part = TokenCounts(moments).update(block)
        before = part.finish().table
        assert merged.merge(part) is merged
        np.testing.assert_array_equal(part.finish().table, before)
    np.testing.assert_allclose(merged.finish().table, whole.finish().table, rtol=1e-12, atol=1e-12)
    assert merged.weight_seen == pytest.approx(weight.sum())


def test_cells_of_a_class_without_a_mean_have_no_token():
    first = Block.of(np.array([[1.0], [2.0]]), np.array([0, 1], np.int32))
    for n_classes in (3, 4):
        moments = ClassMoments(1, n_classes).update(first).finish()
        for form in (np.array, np.asfortranarray, sparse.csr_array):
            later = Block.of(form(np.array([[1.0], [0.0]])), np.array([2, 2], np.int32))
            result = TokenCounts(moments).update(first).update(later).finish()
            assert result.table[0].tolist() == [0, 0, 0, 0, 0, 2, 2]
