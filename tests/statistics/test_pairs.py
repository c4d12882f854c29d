"""FewValues, PairCounts and CrossProducts against their definitions, from any blocks and merges."""

from itertools import pairwise

import numpy as np
import pytest

from reference import pairs as plain
from reference.tables import FORMS, mixed_table
from tamis.passes import MemoryEngine, run_pass
from tamis.statistics import CrossProducts, Cuts, FewValues, PairCounts

N_CLASSES = 3
every_form = pytest.mark.parametrize("form", FORMS)


@pytest.fixture(scope="module")
def table():
    X = mixed_table(60)
    rng = np.random.default_rng(0)
    return X, rng.integers(0, N_CLASSES, 60).astype(np.int32), rng.uniform(0.1, 2.0, 60)


@pytest.fixture(scope="module")
def cuts(table):
    X, _, _ = table
    lists = [np.unique(column[~np.isnan(column)])[1 : 1 + j % 5] for j, column in enumerate(X.T)]
    return [cuts.tolist() for cuts in lists]


def in_pieces(make, X, codes, weight, form):
    """A statistic from merged pieces, whose blocks have seven rows."""
    parts = [
        run_pass(make(), MemoryEngine(FORMS[form](X[a:b]), codes[a:b], weight[a:b], block_rows=7))
        for a, b in pairwise([0, 1, 20, 45, len(X)])
    ]
    total = make()
    for part in parts:
        assert total.merge(part) is total
    return total


@every_form
@pytest.mark.parametrize("most", [1, 3, 100])
def test_few_values(form, most, table):
    X, codes, weight = table
    found = in_pieces(lambda: FewValues(X.shape[1], most), X, codes, weight, form).finish()
    for values, count, expected in zip(*found, plain.few_values(X, most), strict=True):
        assert count == (-1 if expected is None else len(expected))
        if expected is not None:
            assert values[:count].tolist() == expected


@every_form
@pytest.mark.parametrize("with_target", [False, True])
def test_pair_counts(form, with_target, table, cuts):
    X, codes, weight = table
    batch = np.array([4, 0, 3])
    n_codes = N_CLASSES if with_target else 0
    made = Cuts.of(cuts)
    statistic = in_pieces(lambda: PairCounts(made, batch, n_codes), X, codes, weight, form)
    counts, first_level, first_slot = statistic.finish()
    ones = [
        (slot, plain.pair_counts(X, weight, cuts, j))
        for slot, j in zip(first_slot, batch, strict=True)
    ]
    if with_target:
        ones.append((0, plain.pair_counts(X, weight, cuts, 0, codes)))
    for slot, tables in ones:
        for first, expected in zip(first_level, tables, strict=True):
            m, n = expected.shape
            found = counts[first : first + m, slot : slot + n]
            np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_pair_counts_that_saw_nothing(cuts):
    made = Cuts.of(cuts)
    counts = PairCounts(made, np.array([1]), 2).finish().counts
    assert counts.shape == (made.n_levels.sum(), 2 + made.n_levels[1])
    assert not counts.any()


@every_form
def test_cross_products(form, table):
    X, codes, weight = table
    batch = np.array([2, 0])
    centre, scale = np.arange(X.shape[1]) - 2.0, np.linspace(0.5, 2, X.shape[1])
    found = in_pieces(lambda: CrossProducts(batch, centre, scale), X, codes, weight, form).finish()
    expected = plain.cross_products(X, weight, batch, centre, scale)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("form", ["rows", "columns"])
def test_threads_and_blocks_change_no_counts(form, monkeypatch):
    monkeypatch.setattr("tamis._runtime.threads.CELLS_WORTH_A_THREAD", 1)
    X = np.random.default_rng(1).normal(size=(50, 200))
    made = Cuts.of([[-0.5, 0.5]] * 200)
    one, *others = (
        run_pass(
            PairCounts(made, np.arange(4)),
            MemoryEngine(FORMS[form](X), block_rows=rows),
            n_jobs=n_jobs,
        ).finish()
        for n_jobs, rows in [(1, 50), (2, 50), (3, 1), (16, 7)]
    )
    for other in others:
        np.testing.assert_array_equal(other.counts, one.counts)


def test_cuts():
    cuts = Cuts.of([[1.0, 2.0], [], [5.0]])
    assert cuts.n_levels.tolist() == [3, 1, 2]
    assert cuts.take([2, 0]).values.tolist() == [5.0, 1.0, 2.0]
    assert cuts.column(1).size == 0
    assert Cuts.of([]).n_levels.size == 0
