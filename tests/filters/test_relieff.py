"""ReliefF: by hand, against the plain form, against skrebate, and what users pass."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import tamis
from reference import relief as plain
from tamis import ReliefF
from tamis._margin_weights import margin_vectors, margin_weights
from tamis.exceptions import InputError


def scores(X, y, **options):
    return ReliefF(n_features_to_select="all", **options).fit(X, y).scores_


def table(seed, *, missing=0.0, n_classes=3, repeated=False, n_rows=45, n_columns=37):
    """Columns of all scales, a third of them discrete, with ties; which are discrete; classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-8, 6, n_columns)
    discrete = rng.random(n_columns) < 0.3
    X[:, discrete] = rng.integers(0, 4, (n_rows, int(discrete.sum())))
    y = rng.integers(0, n_classes, n_rows)
    y[-1] = n_classes  # alone in its class
    X[:, 0] += y * np.abs(X[:, 0]).max()
    if repeated:
        X[n_rows // 2 :] = X[: n_rows - n_rows // 2]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, discrete


def test_worked_by_hand():
    # Ranges 4 and 2. Row 0: hit 1 (1/4, 1), nearest miss 2 (3/4, 0): +1/2, -1. Row 1: hit 0
    # (1/4, 1), nearest miss 3 (3/4, 0): +1/2, -1. Rows 2 and 3 in the same way, by symmetry.
    X = [[0, 0], [1, 2], [3, 0], [4, 2]]
    result = scores(X, [0, 0, 1, 1], n_neighbors=1, discrete_features=False)
    np.testing.assert_allclose(result, [0.5, -1.0])


def test_regression_worked_by_hand():
    # One column, one neighbour each: 0-1 (gap 1/4, target 1/2), 1-0, 4-1 (gap 3/4, target 1/2).
    # N_dC = 3/2, N_dA = 5/4, N_dC&dA = 5/8: 5/12 - 5/12 = 0.
    # With the second column, constant and so no column at all, the same.
    X = [[0, 7], [1, 7], [4, 7]]
    result = scores(X, [0.0, 0.5, 1.0], n_neighbors=1, discrete_features=False)
    np.testing.assert_allclose(result, [0.0, 0.0], atol=1e-15)


def test_columns_that_matter_only_together():
    X = np.random.default_rng(0).integers(0, 2, size=(300, 20))
    selector = ReliefF(n_features_to_select=2).fit(X, X[:, 3] ^ X[:, 11])
    assert selector.get_support(indices=True).tolist() == [3, 11]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("missing", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("k", [1, 6, 60])
def test_twin(missing, repeated, k):
    X, y, discrete = table(k, missing=missing, repeated=repeated)
    options = {"n_neighbors": k, "discrete_features": discrete}
    result = scores(X, y, **options)
    np.testing.assert_allclose(result, plain.relieff(X, y, k, discrete), atol=1e-12)
    target = np.random.default_rng(1).normal(size=len(y))
    result = scores(X, target, **options)
    np.testing.assert_allclose(result, plain.rrelieff(X, target, k, discrete), atol=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_twin_with_sample_weighting(missing):
    X, y, discrete = table(3, missing=missing)
    selector = ReliefF(sample_weighting=True, discrete_features=discrete, n_neighbors=4).fit(X, y)
    weights = plain.margin_weights(plain.margin_vectors(plain.differences(X, discrete), y))
    np.testing.assert_allclose(selector.sample_weights_, weights)
    np.testing.assert_allclose(
        selector.scores_, plain.relieff(X, y, 4, discrete, weights), atol=1e-12
    )


def test_regression_is_the_printed_algorithm():
    X, y = load_diabetes(return_X_y=True)
    result = scores(X, y, task="regression", discrete_features=False)
    np.testing.assert_allclose(result, plain.rrelieff_as_printed(X, y, 10), atol=1e-12)


class TestAgainstSkrebate:
    """skrebate (MIT) as a black box; where it differs, a plain form says in what."""

    @staticmethod
    def peer(X, y, **options):
        package = pytest.importorskip("skrebate")
        model = package.ReliefF(n_neighbors=10, n_features_to_select=2, **options)
        return model.fit(np.asarray(X, dtype=float), np.asarray(y)).feature_importances_

    @pytest.mark.sampled(1)
    def test_two_classes(self):
        X, y = load_breast_cancer(return_X_y=True)
        np.testing.assert_allclose(scores(X, y), self.peer(X, y), atol=1e-12)

    @pytest.mark.slow
    def test_colon(self):
        if not os.environ.get("TAMIS_DATA"):
            pytest.skip("TAMIS_DATA is not set: the colon data are needed")
        data = tamis.datasets.load("colon")
        y = np.unique(data.y, return_inverse=True)[1]
        X = data.X[:, ::4]  # the peer takes seconds for all of them
        np.testing.assert_allclose(scores(X, y), self.peer(X, y), atol=1e-12)

    def test_balanced_classes(self):
        # Iris is on a grid: ties for the tenth place, which skrebate gives to one of the rows.
        X, y = load_iris(return_X_y=True)
        result, expected = scores(X, y), self.peer(X, y)
        assert np.corrcoef(result, expected)[0, 1] > 0.999999
        np.testing.assert_allclose(result, expected, atol=2e-4)

    @pytest.mark.slow
    def test_unbalanced_classes(self):
        # skrebate has no prior of the class in the weight of a miss; Kononenko (1994) has.
        X, y = load_wine(return_X_y=True)
        peer = self.peer(X, y)
        np.testing.assert_allclose(peer, plain.relieff_equal_misses(X, y, 10), atol=1e-12)
        assert np.corrcoef(scores(X, y), peer)[0, 1] > 0.98

    @pytest.mark.slow
    def test_missing_cells(self):
        X, y = load_breast_cancer(return_X_y=True)
        X, y = X[:150, :12].copy(), y[:150]
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
        np.testing.assert_allclose(scores(X, y), self.peer(X, y), atol=1e-12)

    def test_discrete_columns_beside_continuous_ones(self):
        # By itself skrebate counts a continuous difference as 0 or 1 beside discrete columns. A
        # column per value, and each continuous column twice, is the same distance times two.
        X, y = load_breast_cancer(return_X_y=True)
        X, y = X[:200, :12].copy(), y[:200]
        for j in range(3):
            X[:, j] = np.digitize(X[:, j], np.quantile(X[:, j], [0.3, 0.6, 0.8]))
        ones = (X[:, :3, None] == np.arange(4)).reshape(200, 12)
        wide = self.peer(np.hstack([X[:, 3:], X[:, 3:], ones]), y, categorical_threshold=1)
        expected = np.append(wide[18:].reshape(3, 4).sum(axis=1) / 2, wide[:9])
        selector = ReliefF(n_features_to_select="all").fit(X, y)
        assert selector.discrete_.tolist() == [True] * 3 + [False] * 9
        np.testing.assert_allclose(selector.scores_, expected, atol=1e-12)

    @pytest.mark.slow
    def test_numeric_target(self):
        # skrebate has no RReliefF: rows within one deviation of the target are hits.
        X, y = load_diabetes(return_X_y=True)
        peer = self.peer(X, y, categorical_threshold=1)
        np.testing.assert_allclose(peer, plain.relief_by_threshold(X, y, 10), atol=1e-12)


def test_the_order_of_rows_does_not_matter_with_ties():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(80, 6))
    y = (X[:, 0] + rng.integers(0, 2, 80)) > 1
    order = rng.permutation(80)
    for options in ({}, {"discrete_features": False}):
        np.testing.assert_allclose(
            scores(X, y, **options), scores(X[order], y[order], **options), atol=1e-13
        )


def test_ties_that_rounding_breaks():
    """On a grid, sums in another order of columns differ in the last bit, and must tie still."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 13, size=(60, 9)) * 0.1
    y = rng.integers(0, 3, 60)
    order = rng.permutation(9)
    options = {"discrete_features": False, "n_neighbors": 5}
    np.testing.assert_allclose(
        scores(X, y, **options)[order], scores(X[:, order], y, **options), atol=1e-13
    )


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_memory_limit_changes_no_bit(missing):
    X, y, _ = table(0, missing=missing, n_rows=150)
    full = scores(X, y)
    for limit in (1, 20_000, 200_000):
        np.testing.assert_array_equal(scores(X, y, memory_limit=limit), full)


def test_units_and_offsets_do_not_matter():
    X = np.random.default_rng(0).integers(0, 1000, size=(60, 5)).astype(float)
    y = X[:, 0] > 500
    expected = scores(X, y)
    np.testing.assert_allclose(scores(X + 1e8, y), expected, atol=1e-12)
    np.testing.assert_allclose(scores(X * 1e-300, y), expected, atol=1e-12)
    np.testing.assert_allclose(scores(X * 1e140, y), expected, atol=1e-12)


def test_sparse_equals_dense():
    X, y, _ = table(1)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0.0
    np.testing.assert_array_equal(scores(sparse.csr_array(X), y), scores(X, y))


class TestDiscreteFeatures:
    X = np.column_stack([np.tile([0, 1, 2, 9], 8), np.arange(32) ** 1.5, np.arange(32) % 11])
    y = np.arange(32) % 2

    def test_auto(self):
        assert ReliefF().fit(self.X, self.y).discrete_.tolist() == [True, False, False]
        wide = ReliefF(discrete_threshold=11).fit(self.X, self.y)
        assert wide.discrete_.tolist() == [True, False, True]

    def test_few_rows_are_not_few_values(self):
        few = ReliefF().fit(self.X[:7], self.y[:7])
        assert few.discrete_.tolist() == [False, False, False]

    @pytest.mark.parametrize(
        "given", [[True, False, True], [0, 2], [-3, -1], ["a", "c"], np.array(["a", "c"])]
    )
    def test_mask_positions_and_names(self, given):
        frame = pd.DataFrame(self.X, columns=["a", "b", "c"])
        selector = ReliefF(discrete_features=given).fit(frame, self.y)
        assert selector.discrete_.tolist() == [True, False, True]

    def test_all_or_none(self):
        assert ReliefF(discrete_features=True).fit(self.X, self.y).discrete_.all()
        assert not ReliefF(discrete_features=False).fit(self.X, self.y).discrete_.any()
        assert not ReliefF(discrete_features=[]).fit(self.X, self.y).discrete_.any()

    @pytest.mark.parametrize("given", [[3], [-4], ["z"], [True, False], [[0, 1]], [0.5], "some"])
    def test_nonsense(self, given):
        with pytest.raises(InputError, match="ReliefF: discrete_features must be 'auto', True"):
            ReliefF(discrete_features=given).fit(self.X, self.y)

    def test_many_values_differ_by_equality_only(self):
        values = np.arange(32)
        result = scores(np.column_stack([values, -values, values**3]), self.y,
                        discrete_features=True)  # fmt: skip
        np.testing.assert_array_equal(result, [0.0, 0.0, 0.0])  # all differ from all


class TestSampleWeighting:
    def test_margins(self):
        X, y, _ = table(5, missing=0.1)
        X = X * 10.0 ** -np.floor(np.log10(np.nanmax(np.abs(X), axis=0)))
        codes = y.astype(np.int32)
        expected = plain.margin_vectors(np.abs(X[:, None] - X[None]), y)
        np.testing.assert_allclose(margin_vectors(X, codes), expected, atol=1e-10)

    def test_weights(self):
        X, y, _ = table(6)
        X = X - X.mean(axis=0)
        codes = y.astype(np.int32)
        margins = plain.margin_vectors(np.abs(X[:, None] - X[None]), y)
        result = margin_weights(X, codes)
        np.testing.assert_allclose(result, plain.margin_weights(margins), rtol=1e-6)
        assert result.sum() == pytest.approx(len(y))
        np.testing.assert_array_equal(margin_weights(X, codes, n_jobs=1), result)

    def test_a_wrong_label_weighs_least(self):
        rng = np.random.default_rng(0)
        codes = (np.arange(30) % 2).astype(np.int32)
        X = rng.normal(size=(30, 10)) + 3.0 * codes[:, None]
        codes[7] = 0
        assert margin_weights(X, codes).argmin() == 7

    def test_equal_margins_weigh_the_same(self):
        codes = np.array([0, 1], dtype=np.int32)
        np.testing.assert_array_equal(margin_weights(np.array([[1.0, 2], [3, 5]]), codes), [1, 1])

    def test_needs_classes(self):
        with pytest.raises(InputError, match="ReliefF: expected classes with sample_weighting"):
            ReliefF(sample_weighting=True).fit([[1], [2], [3]], [0.1, 0.2, 0.4])


class TestSampledRows:
    @pytest.mark.slow
    def test_mean_over_all_rows(self):
        """Every row sampled once is the score of all rows."""
        X, y, _ = table(2)
        X, y = X[:-1], y[:-1]
        full = scores(X, y)
        np.testing.assert_array_equal(scores(X, y, n_samples=len(y)), full)
        np.testing.assert_array_equal(scores(X, y, n_samples=1000), full)
        draws = [scores(X, y, n_samples=20, random_state=seed) for seed in range(300)]
        np.testing.assert_allclose(np.mean(draws, axis=0), full, atol=0.02)
        assert np.std(draws, axis=0).max() > 0.01

    def test_seed(self):
        X, y, _ = table(2)
        one, two, other = (scores(X, y, n_samples=9, random_state=seed) for seed in (1, 1, 2))
        np.testing.assert_array_equal(one, two)
        assert (one != other).any()


class TestEdges:
    def test_two_rows_per_class(self):
        assert np.isfinite(scores([[0.0, 3], [1, 1], [5, 2], [6, 2]], list("aabb"))).all()

    def test_every_row_a_class(self):
        with pytest.raises(InputError, match=r"at least two rows.*task='regression'"):
            ReliefF(task="classification").fit([[1.0], [2], [3]], [1, 2, 3])

    def test_rows_without_a_common_column(self):
        X = np.full((6, 3), np.nan)
        X[0:2, 0], X[2:4, 1], X[4:6, 2] = [1, 2], [1, 2], [1, 2]
        np.testing.assert_array_equal(scores(X, [0, 1, 0, 1, 0, 1]), np.zeros(3))

    def test_a_column_with_two_cells_is_not_the_best(self):
        X, y = load_breast_cancer(return_X_y=True)
        X = np.column_stack([X, np.full(len(y), np.nan)])
        X[np.flatnonzero(y == 0)[0], -1], X[np.flatnonzero(y == 1)[0], -1] = 0.0, 1.0
        assert abs(scores(X, y)[-1]) < 0.01

    def test_repeated_rows_of_different_classes(self):
        X = np.array([[0.0, 1], [0, 1], [0, 1], [0, 1], [1, 0]])
        assert np.isfinite(scores(X, [0, 1, 0, 1, 1])).all()

    def test_constant_columns_are_below_negative_scores(self):
        X = np.column_stack([np.ones(4), [0, 0, 1, 1], [0, 2, 0, 2.0]])
        result = scores(X, [0, 0, 1, 1], n_neighbors=1, discrete_features=False)
        assert result[0] == result.min() == result[2] < 0

    @pytest.mark.parametrize(
        ("name", "value"),
        [("n_neighbors", 0), ("n_neighbors", 2.5), ("discrete_threshold", 0), ("n_samples", 0),
         ("sample_weighting", 1), ("memory_limit", 0), ("task", "both")],
    )  # fmt: skip
    def test_parameters(self, name, value):
        with pytest.raises(InputError, match=f"ReliefF: {name} must be .*got {value!r}"):
            ReliefF(**{name: value}).fit([[1.0], [2], [3], [4]], [0, 0, 1, 1])
