"""What all statistics promise: any layout, any blocks, any tree of merges, any threads."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from reference import statistics as plain
from reference.tables import FORMS, mixed_table, read_only, with_explicit_zeros
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import (
    Bins,
    Block,
    ClassHistogram,
    Moments,
    Ranges,
    TargetSums,
    ValueCounts,
)

N_CLASSES = 3


def bins_of(X):
    return Bins.between(*plain.ranges(X), n_bins=5)


@dataclass(frozen=True)
class Case:
    """A statistic, its finished numbers as a list of arrays, and what they should be."""

    make: Any
    numbers: Any
    expected: Any


def flat(columns):
    return [np.asarray(part) for column in columns for part in column]


CASES = {
    "Ranges": Case(
        make=lambda bins: Ranges(bins.low.size),
        numbers=lambda statistic: list(statistic.finish()),
        expected=lambda X, codes, weight, bins: list(plain.ranges(X)),
    ),
    "Moments": Case(
        make=lambda bins: Moments(bins.low.size),
        numbers=lambda statistic: list(statistic.finish()),
        expected=lambda X, codes, weight, bins: list(plain.moments(X, weight)),
    ),
    "ClassHistogram": Case(
        make=lambda bins: ClassHistogram(bins, N_CLASSES),
        numbers=lambda statistic: [statistic.finish().table.copy()],
        expected=lambda X, codes, weight, bins: [
            plain.class_histogram(X, codes, weight, bins.cuts(), N_CLASSES)
        ],
    ),
    "TargetSums": Case(
        make=lambda bins: TargetSums(bins),
        numbers=lambda statistic: list(statistic.finish()[:2]),
        expected=lambda X, codes, weight, bins: list(
            plain.target_sums(X, codes + 0.5, weight, bins.cuts())
        ),
    ),
    "ValueCounts": Case(
        make=lambda bins: ValueCounts(bins.low.size),
        numbers=lambda statistic: flat(statistic.finish()),
        expected=lambda X, codes, weight, bins: flat(plain.value_counts(X, weight)),
    ),
}

every_statistic = pytest.mark.parametrize("name", CASES)


def target_for(name, codes):
    return codes + 0.5 if name == "TargetSums" else codes


def codes_for(X, seed=3):
    return np.random.default_rng(seed).integers(0, N_CLASSES, X.shape[0]).astype(np.int32)


def summary(name, X, codes, weight, bins, *, block_rows=None, n_jobs=1):
    engine = MemoryEngine(X, target_for(name, codes), weight, block_rows=block_rows)
    return run_pass(CASES[name].make(bins), engine, n_jobs=n_jobs)


def assert_close(actual, expected):
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        # Weights that sparse blocks leave over are differences, exact to rounding of the total.
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def assert_same(actual, expected):
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.sampled(16)
@every_statistic
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_equals_its_definition(name, form, weighted):
    X = mixed_table()
    codes, bins = codes_for(X), bins_of(X)
    weight = np.random.default_rng(5).uniform(0.1, 2.0, len(X)) if weighted else None
    expected = CASES[name].expected(X, codes, np.ones(len(X)) if weight is None else weight, bins)
    for block_rows in (1, 7, None):
        got = summary(name, FORMS[form](X), codes, weight, bins, block_rows=block_rows)
        assert_close(CASES[name].numbers(got), expected)


@every_statistic
@pytest.mark.parametrize("form", ["rows", "columns", "csr explicit zeros"])
def test_rows_of_weight_zero_are_not_there(name, form):
    X = mixed_table()
    X[10], X[11] = 1e6, -1e6
    codes = codes_for(X)
    weight = np.random.default_rng(5).choice([0.0, 0.5, 3.0], len(X))
    weight[[10, 11]] = 0.0
    weight[20:40] = 0.0  # whole blocks of nothing
    there = weight > 0
    bins = bins_of(X[there])
    expected = CASES[name].expected(X[there], codes[there], weight[there], bins)
    for block_rows in (1, 7, None):
        got = summary(name, FORMS[form](X), codes, weight, bins, block_rows=block_rows)
        assert_close(CASES[name].numbers(got), expected)


@every_statistic
@pytest.mark.parametrize("form", ["rows", "csr explicit zeros"])
def test_weight_two_is_the_row_twice(name, form):
    X = mixed_table(40)
    codes, bins = codes_for(X), bins_of(X)
    weight = np.where(np.arange(40) % 4 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(40), weight.astype(int))
    once = summary(name, FORMS[form](X), codes, weight, bins)
    repeated = summary(name, FORMS[form](X[twice]), codes[twice], None, bins)
    assert_close(CASES[name].numbers(once), CASES[name].numbers(repeated))


@every_statistic
def test_any_tree_of_merges_equals_the_whole(name):
    X = mixed_table(120)
    codes, bins = codes_for(X), bins_of(X)
    weight = np.random.default_rng(6).uniform(0.1, 2.0, len(X))
    whole = CASES[name].numbers(summary(name, X, codes, weight, bins))
    rng = np.random.default_rng(7)
    for _ in range(10):
        bounds = np.unique([0, 120, *rng.integers(0, 120, 8)])
        parts = []
        for a, b in pairwise(bounds):
            form = FORMS[rng.choice(list(FORMS))]
            parts.append(summary(name, form(X[a:b]), codes[a:b], weight[a:b], bins))
        while len(parts) > 1:
            i, j = rng.choice(len(parts), 2, replace=False)
            parts[i].merge(parts[j])
            del parts[j]
        assert_close(CASES[name].numbers(parts[0]), whole)


@every_statistic
def test_dense_and_sparse_blocks_mix_in_one_statistic(name):
    X = mixed_table()
    codes, bins = codes_for(X), bins_of(X)
    weight = np.random.default_rng(8).uniform(0.1, 2.0, len(X))
    statistic = CASES[name].make(bins)
    forms = ["rows", "csr", "columns", "float32 csr", "float32 rows", "csr explicit zeros"]
    for form, rows in zip(forms, np.array_split(np.arange(len(X)), len(forms)), strict=True):
        target = target_for(name, codes[rows])
        statistic.update(Block.of(FORMS[form](X[rows]), target, weight[rows]))
    assert_close(CASES[name].numbers(statistic), CASES[name].expected(X, codes, weight, bins))


@every_statistic
def test_merge_returns_the_first_and_leaves_the_second_alone(name):
    X = mixed_table(30)
    codes, bins = codes_for(X), bins_of(X)
    first = summary(name, X[:20], codes[:20], None, bins)
    second = summary(name, sparse.csr_array(X[20:]), codes[20:], None, bins)
    before = CASES[name].numbers(second)
    assert first.merge(second) is first
    assert_same(CASES[name].numbers(second), before)


@pytest.mark.sampled(3)
@every_statistic
@pytest.mark.parametrize("form", ["rows", "columns", "csr"])
def test_threads_change_nothing(name, form, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X = mixed_table(60, 200)
    codes, bins = codes_for(X), bins_of(X)
    weight = np.random.default_rng(9).uniform(0.1, 2.0, len(X))
    one, *others = (
        CASES[name].numbers(
            summary(name, FORMS[form](X), codes, weight, bins, block_rows=25, n_jobs=n_jobs)
        )
        for n_jobs in (1, 2, 3, 16)
    )
    for other in others:
        assert_same(other, one)


@pytest.mark.parametrize("form", ["rows", "columns", "csr"])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ["ClassHistogram", "TargetSums"])
def test_lanes_agree(name, form, n_jobs, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X = mixed_table(50, 70)
    codes, bins = codes_for(X), bins_of(X)
    weight = np.random.default_rng(10).uniform(0.1, 2.0, len(X))
    expected = CASES[name].expected(X, codes, weight, bins)
    for lanes in (1, 2, 8):
        rest = (N_CLASSES,) if name == "ClassHistogram" else ()
        kind = {"ClassHistogram": ClassHistogram, "TargetSums": TargetSums}[name]
        statistic = kind(bins, *rest, lanes=lanes)
        # Blocks of three rows have fewer rows than there are lanes.
        engine = MemoryEngine(FORMS[form](X), target_for(name, codes), weight, block_rows=3)
        got = run_pass(statistic, engine, n_jobs=n_jobs)
        assert_close(CASES[name].numbers(got), expected)
        single = CASES[name].make(bins).merge(got)
        assert_close(CASES[name].numbers(single), expected)


@pytest.mark.sampled(1)
@every_statistic
def test_many_columns_use_several_tiles(name):
    X = mixed_table(6, 2500)
    codes, bins = codes_for(X), bins_of(X)
    got = summary(name, X, codes, None, bins)
    assert_close(CASES[name].numbers(got), CASES[name].expected(X, codes, np.ones(6), bins))


@every_statistic
@pytest.mark.parametrize("form", ["rows", "columns", "csr", "float32 rows"])
def test_blocks_without_rows_leave_no_trace(name, form):
    X = mixed_table(20)
    codes, bins = codes_for(X), bins_of(X)
    nothing = Block.of(FORMS[form](X)[:0], target_for(name, codes[:0]), np.empty(0))
    statistic = CASES[name].make(bins).update(nothing)
    statistic.update(Block.of(FORMS[form](X), target_for(name, codes)))
    statistic.update(nothing).merge(CASES[name].make(bins))
    expected = CASES[name].expected(X, codes, np.ones(20), bins)
    assert_close(CASES[name].numbers(statistic), expected)


@every_statistic
def test_nothing_seen_is_nothing_known(name):
    X = mixed_table(20)
    bins = bins_of(X)
    got = CASES[name].numbers(CASES[name].make(bins))
    assert_same(got, CASES[name].expected(X[:0], np.empty(0, np.int32), np.empty(0), bins))


@every_statistic
def test_a_block_is_only_its_own_rows(name):
    X = mixed_table(30)
    codes, bins = codes_for(X), bins_of(X)
    weight = np.random.default_rng(11).uniform(0.1, 2.0, len(X))
    rows = slice(4, 21)
    expected = CASES[name].expected(X[rows], codes[rows], weight[rows], bins)
    for table in (X, np.asfortranarray(X), with_explicit_zeros(X)):
        block = Block(table, rows.start, rows.stop, target_for(name, codes), weight)
        got = CASES[name].make(bins).update(block)
        assert_close(CASES[name].numbers(got), expected)


@every_statistic
@pytest.mark.parametrize("form", ["rows", "columns", "strided", "csr explicit zeros"])
def test_the_callers_arrays_are_never_changed(name, form):
    X = mixed_table()
    codes, bins = codes_for(X), bins_of(X)
    weight = np.random.default_rng(12).uniform(0.1, 2.0, len(X))
    table, target = FORMS[form](X), target_for(name, codes).copy()
    stored = (table.data, table.indices, table.indptr) if sparse.issparse(table) else (table,)
    arrays = (*stored, target, weight, *bins[:-1])
    before = [array.copy() for array in arrays]
    engine = MemoryEngine(table, target, weight, block_rows=11)
    run_pass(CASES[name].make(bins), engine).merge(CASES[name].make(bins)).finish()
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.sampled(1)
@every_statistic
def test_read_only_data_and_memory_maps_are_fine(name, tmp_path):
    X = mixed_table(25)
    codes, bins = codes_for(X), bins_of(X)
    weight = np.random.default_rng(13).uniform(0.1, 2.0, len(X))
    np.save(tmp_path / "table.npy", X)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    csr = sparse.csr_array(X)
    csr.data.flags.writeable = csr.indices.flags.writeable = csr.indptr.flags.writeable = False
    expected = CASES[name].expected(X, codes, weight, bins)
    target = read_only(target_for(name, codes))
    for table in (read_only(X), mapped, csr):
        engine = MemoryEngine(table, target, read_only(weight))
        assert_close(CASES[name].numbers(run_pass(CASES[name].make(bins), engine)), expected)


@every_statistic
def test_indices_of_64_bits_are_fine(name):
    X = mixed_table(25)
    codes, bins = codes_for(X), bins_of(X)
    csr = sparse.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    got = CASES[name].make(bins).update(Block.of(csr, target_for(name, codes)))
    expected = CASES[name].expected(X, codes, np.ones(25), bins)
    assert_close(CASES[name].numbers(got), expected)
