"""Columns as small whole numbers, and what their joint counts say."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics import mutual_info_score

from reference import codes as plain
from tamis.statistics import Bins, Block, ClassHistogram
from tamis.statistics.codes import (
    MISSING,
    CodedColumns,
    code_columns,
    rows_with_weight,
    symmetrical,
    x_log_x_table,
)


def table(seed=0, n_rows=70, *, missing=0.1):
    """Columns of many kinds, and classes that some of them tell."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_rows)
    X = np.column_stack(
        [
            rng.normal(size=n_rows) + 2 * y,
            rng.normal(size=n_rows),
            rng.integers(0, 3, n_rows),
            rng.integers(0, 40, n_rows),
            np.round(rng.exponential(size=n_rows), 1) * 1e-9,
            1e8 + rng.normal(size=n_rows) + y,
            np.full(n_rows, 7.0),
            np.where(y == 1, 5.0, rng.normal(size=n_rows)),
        ]
    )
    X[rng.random(X.shape) < missing] = np.nan
    X[:, 1] = np.nan if seed == 1 else X[:, 1]
    return X, y


def levels(X, strategy, **options):
    codes = code_columns(X, strategy=strategy, **{"n_bins": 5, **options})
    found = codes.table.astype(int)
    assert ((found < codes.n_levels[:, None]) | (found == MISSING)).all()
    return np.where(found == MISSING, -1, found)


class TestLevels:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("strategy", ["uniform", "quantile", "mdl"])
    def test_equal_the_plain_ones(self, strategy, seed):
        X, y = table(seed)
        np.testing.assert_array_equal(
            levels(X, strategy, classes=y), plain.code_table(X, strategy, classes=y)
        )

    @pytest.mark.parametrize("weights", [[1.0, 2.0, 5.0], [0.25, 1.0, 2.7]])
    @pytest.mark.parametrize("strategy", ["quantile", "mdl"])
    def test_equal_the_plain_ones_with_weights(self, strategy, weights):
        X, y = table(2)
        weight = np.random.default_rng(3).choice(weights, len(y))
        np.testing.assert_array_equal(
            levels(X, strategy, classes=y, weight=weight),
            plain.code_table(X, strategy, classes=y, weight=weight),
        )

    def test_uniform_by_hand(self):
        X = np.array([[0.0], [1.0], [1.9], [2.0], [8.0], [np.nan], [3.99], [4.0]])
        assert levels(X, "uniform", n_bins=4)[0].tolist() == [0, 0, 0, 1, 3, -1, 1, 2]

    def test_uniform_bins_are_those_of_the_statistics(self):
        x = np.random.default_rng(0).normal(size=(500, 1))
        bins = Bins.between(x.min(axis=0), x.max(axis=0), 12)
        block = Block.of(x, target=np.zeros(500, np.int32))
        counts = ClassHistogram(bins, 1).update(block).finish().counts[0, 0]
        np.testing.assert_array_equal(np.bincount(levels(x, "uniform", n_bins=12)[0]), counts)

    def test_quantile_by_hand(self):
        X = np.array([5.0, 1, 2, 3, 4, 6, 7, 8])[:, None]
        assert levels(X, "quantile", n_bins=4)[0].tolist() == [2, 0, 0, 1, 1, 2, 3, 3]
        # Ties stay together; the ranks 2.5, 5.5, 6.5, 7.5 of 8 lie in thirds 0, 2, 2, 2.
        X = np.array([0.0, 0, 0, 0, 0, 1, 2, 3])[:, None]
        assert levels(X, "quantile", n_bins=3)[0].tolist() == [0, 0, 0, 0, 0, 1, 1, 1]

    @pytest.mark.parametrize("strategy", ["uniform", "quantile"])
    def test_few_values_stay_what_they_are(self, strategy):
        X = np.array([[-1e9, 0.0, 3.0, 3.5, np.nan, 0.0, -0.0]]).T
        assert levels(X, strategy, n_bins=4)[0].tolist() == [0, 1, 2, 3, -1, 1, 1]

    def test_cuts_of_iris_are_the_published_ones(self):
        """R's package discretization prints these cut points for mdlp(iris)."""
        X, y = load_iris(return_X_y=True)
        published = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
        expected = [np.searchsorted(cuts, x) for cuts, x in zip(published, X.T, strict=True)]
        np.testing.assert_array_equal(levels(X, "mdl", classes=y), expected)

    def test_description_length_by_hand(self):
        """Two classes of 4: gain 1 against (log2(7) + log2(7) - 2) / 8 = 0.4518."""
        x = np.arange(8.0)[:, None]
        clean, mixed = np.repeat([0, 1], 4), np.array([0, 1, 1, 0, 0, 1, 1, 0])
        assert levels(x, "mdl", classes=clean)[0].tolist() == clean.tolist()
        assert levels(x, "mdl", classes=mixed)[0].tolist() == [0] * 8
        # One of each: gain 1 against (log2(1) + log2(7) - 2) / 2 = 0.4037.
        assert levels(x[:2], "mdl", classes=np.array([0, 1]))[0].tolist() == [0, 1]

    def test_many_classes_and_more_levels_than_fit(self):
        n = 700
        X = np.arange(n, dtype=float)[:, None]
        codes = code_columns(
            X, n_bins=5, strategy="mdl", classes=np.arange(n) // 2, weight=np.full(n, 50.0)
        )
        assert codes.n_levels[0] == 255
        assert codes.table.max() == 254
        assert (np.diff(codes.table[0].astype(int)) >= 0).all()

    @pytest.mark.parametrize("strategy", ["uniform", "quantile", "mdl"])
    def test_sparse_float32_order_and_threads_change_nothing(self, strategy):
        rng = np.random.default_rng(5)
        X = rng.normal(size=(300, 900)).astype(np.float32)
        X[rng.random(X.shape) < 0.6] = 0.0
        X[rng.random(X.shape) < 0.05] = np.nan
        y = rng.integers(0, 2, 300)
        one = levels(X, strategy, classes=y, n_jobs=1)
        for other in (sparse.csr_matrix(X), X.astype(np.float64), np.asfortranarray(X)):
            np.testing.assert_array_equal(levels(other, strategy, classes=y, n_jobs=3), one)


class TestJointCounts:
    @pytest.mark.parametrize("seed", [0, 1])
    @pytest.mark.parametrize("weights", [[1.0], [1.0, 2.0, 3.0], [0.3, 1.7]])
    def test_equal_the_plain_ones(self, weights, seed):
        X, y = table(seed)
        weight = np.random.default_rng(3).choice(weights, len(y))
        codes = code_columns(X, n_bins=6, strategy="quantile", weight=weight)
        coded = CodedColumns(codes, weight, None)
        plain_codes = plain.code_table(X, "quantile", 6, weight=weight)
        for j in (0, 3, 6):
            found = coded.pairs(*codes.column(j), None)
            expected = [plain.information(plain_codes[j], b, weight) for b in plain_codes]
            varies = codes.n_levels > 1
            np.testing.assert_allclose(found, np.transpose(expected) * varies, atol=1e-12)
            shares = [plain.uncertainty(plain_codes[j], b, weight) for b in plain_codes]
            np.testing.assert_allclose(
                symmetrical(*coded.pairs(*codes.column(j), None)), shares, rtol=1e-9, atol=1e-12
            )

    def test_equals_scikit_learn(self):
        X, y = table(3, missing=0.0)
        codes = code_columns(X, n_bins=5, strategy="uniform")
        found = CodedColumns(codes, np.ones(len(y)), 1).pairs(y, 3, None)[0]
        expected = [mutual_info_score(y, row) / np.log(2) for row in codes.table]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)

    def test_uncertainty_by_hand(self):
        """A fair bit, itself, its negation, its two halves, a constant, an independent bit."""
        bit = np.array([0, 0, 0, 0, 1, 1, 1, 1])
        halves = np.array([0, 0, 1, 1, 2, 2, 3, 3])
        X = np.column_stack([bit, 1 - bit, halves, np.zeros(8), [0, 1, 0, 1, 0, 1, 0, 1]])
        coded = CodedColumns(code_columns(X, n_bins=5, strategy="uniform"), np.ones(8), 1)
        found = symmetrical(*coded.pairs(bit, 2, None))
        np.testing.assert_allclose(found, [1, 1, 2 / 3, 0, 0], atol=1e-15)
        assert symmetrical(*coded.pairs(np.zeros(8, int), 1, None)).tolist() == [0] * 5

    def test_weights_are_repeated_rows(self):
        X, y = table(4)
        weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
        repeated = np.repeat(np.arange(len(y)), weight.astype(int))
        kept, classes, weight = rows_with_weight(X, y, weight)
        results = []
        for rows, target, share in (
            (kept, classes, weight),
            (X[repeated], y[repeated], np.ones(repeated.size)),
        ):
            codes = code_columns(rows, n_bins=5, strategy="mdl", classes=target, weight=share)
            results.append(CodedColumns(codes, share, 1).pairs(target, 3, None))
        np.testing.assert_array_equal(*results)

    def test_chosen_columns_and_threads(self):
        rng = np.random.default_rng(6)
        X, y = rng.normal(size=(2000, 300)), rng.integers(0, 4, 2000)
        codes = code_columns(X, n_bins=7, strategy="quantile")
        one, two = (CodedColumns(codes, np.ones(2000), n) for n in (1, 2))
        whole = one.pairs(y, 4, None)[0]
        np.testing.assert_array_equal(two.pairs(y, 4, None)[0], whole)
        some = np.array([250, 3, 77])
        np.testing.assert_array_equal(two.pairs(y, 4, some)[0], whole[some])

    def test_logarithms_are_looked_up_for_whole_weights_only(self):
        assert x_log_x_table(np.array([0.5, 0.5])).size == 0
        assert x_log_x_table(np.array([2.0**20, 1.0])).size == 0
        np.testing.assert_allclose(
            x_log_x_table(np.array([1.0, 3.0])), [0, 0, 2, 3 * np.log2(3), 8]
        )
