"""Relations between columns: rank and linear correlation, shared information, a user's own."""

import numpy as np
import pytest
from scipy import sparse, stats

from reference import graph as reference
from tamis import InfFS
from tamis.exceptions import InputError
from tamis.graph import relations
from tamis.statistics.correlations import linear_factors, rank_factors


def table(seed=0, n_rows=50, n_columns=9, missing=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 1] = X[:, 0] ** 3
    X[:, 2] = -X[:, 0] + 0.2 * X[:, 2]
    X[:, 3:5] = rng.integers(0, 4, (n_rows, 2))
    X[rng.random(X.shape) < missing] = np.nan
    return X


def whole(X, make, *, weight=None, dtype="float64"):
    """All absolute relations at once."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    everything = (0, X.shape[1])
    if make is relations.information_tiles:
        return make(X, weight, dtype)(everything, everything)
    return make(X, weight, dtype, 1).block(everything, everything)


def twin(X, relation, *, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    return np.array([[abs(relation(x, y, weight)) for y in X.T] for x in X.T])


RANKS, LINEAR = rank_factors, linear_factors
INFORMATION = relations.information_tiles


def test_spearman_equals_scipy():
    X = table()
    expected = np.abs(stats.spearmanr(X).statistic)
    np.testing.assert_allclose(whole(X, RANKS), expected, atol=1e-13)
    np.testing.assert_allclose(twin(X, reference.spearman), expected, atol=1e-13)


def test_pearson_equals_numpy():
    X = table() + 1e4
    expected = np.abs(np.corrcoef(X.T))
    np.testing.assert_allclose(whole(X, LINEAR), expected, atol=1e-11)


def test_pearson_takes_the_mean_for_what_is_missing():
    X = table(missing=0.2)
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    np.testing.assert_allclose(whole(X, LINEAR), np.abs(np.corrcoef(filled.T)), atol=1e-13)


def test_spearman_gives_the_middle_rank_to_what_is_missing():
    X = table(missing=0.2)
    ranks = np.apply_along_axis(stats.rankdata, 0, X, nan_policy="omit")
    filled = np.where(np.isnan(ranks), np.nanmean(ranks, axis=0), ranks)
    np.testing.assert_allclose(whole(X, RANKS), np.abs(np.corrcoef(filled.T)), atol=1e-13)


@pytest.mark.parametrize(
    ("make", "relation"), [(RANKS, reference.spearman), (LINEAR, reference.pearson)]
)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_weighted_correlations(make, relation, missing, layout):
    X = table(missing=missing)
    X[np.random.default_rng(1).random(X.shape) < 0.4] = 0.0
    weight = np.random.default_rng(2).choice([0.2, 1.0, 3.0], len(X))
    expected = twin(X, relation, weight=weight)
    np.testing.assert_allclose(whole(layout(X), make, weight=weight), expected, atol=1e-13)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("make", [RANKS, LINEAR])
def test_single_precision(make, layout):
    X = table(missing=0.1)
    X[X < 0.3] = 0.0
    found = whole(layout(X), make, dtype="float32")
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, whole(X, make), atol=1e-6)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_information_equals_counting(missing, layout):
    X = table(n_rows=73, missing=missing)
    expected = twin(X, reference.mutual_information)
    np.testing.assert_allclose(whole(layout(X), INFORMATION), expected, atol=1e-12)


def test_information_weights_count_rows():
    X = table(missing=0.1)
    weight = np.random.default_rng(3).integers(1, 4, len(X))
    repeated = twin(np.repeat(X, weight, axis=0), reference.mutual_information)
    found = whole(X, INFORMATION, weight=weight.astype(float))
    np.testing.assert_allclose(found, repeated, atol=1e-12)


def test_information_of_copies_and_strangers():
    rng = np.random.default_rng(4)
    x = rng.normal(size=4000)
    X = np.column_stack([x, x, np.exp(x), rng.normal(size=4000), x**2])
    share = whole(X, INFORMATION)
    np.testing.assert_allclose(share[:3, :3], 1.0, atol=1e-12)
    # Sixteen degrees of freedom: by chance the share is about 16 / (2 * 4000 log 5) = 0.0012.
    assert share[0, 3] < 0.005
    # Rank correlation sees nothing of a square; shared information does.
    assert whole(X, RANKS)[0, 4] < 0.1
    assert share[0, 4] > 0.3


def test_information_is_a_share_of_the_smaller_entropy():
    # Ten values in five classes of two; the first two classes are one value of the other column.
    x = np.arange(10.0)
    y = np.repeat([0.0, 4.0, 6.0, 8.0], [4, 2, 2, 2])
    np.testing.assert_allclose(whole(np.column_stack([x, y]), INFORMATION), 1.0, atol=1e-12)


def test_information_where_no_row_has_both():
    X = np.full((20, 2), np.nan)
    X[:10, 0], X[10:, 1] = np.arange(10), np.arange(10)
    np.testing.assert_array_equal(whole(X, INFORMATION), np.eye(2))


def fit(relation, X, **options):
    return InfFS(alpha=0.3, relation=relation, n_features_to_select="all", **options).fit(X)


def correlate(left, right):
    return np.corrcoef(left.T, right.T)[: left.shape[1], left.shape[1] :]


@pytest.mark.parametrize("memory_limit", [None, 1])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_a_function_of_two_blocks(memory_limit, layout, monkeypatch):
    monkeypatch.setattr("tamis.graph.relation_matrix.BLOCK", 4)
    X = table()
    X[:, 6] = 5.0
    seen = []

    def relation(left, right):
        seen.append((left, right))
        return correlate(left, right)

    options = {"memory_limit": memory_limit, "precision": "double"}
    found = fit(relation, layout(X), **options)
    np.testing.assert_allclose(found.scores_, fit("pearson", X).scores_, rtol=1e-10)
    varying = np.delete(X, 6, axis=1)
    times = 1 if memory_limit is None else found.n_products_
    assert len(seen) == 3 * times  # two ranges of four columns
    for left, right in seen:
        assert left.shape == right.shape == (50, 4)
    np.testing.assert_array_equal(seen[1][0], varying[:, 4:])
    np.testing.assert_array_equal(seen[1][1], varying[:, :4])


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        (lambda left, right: np.zeros((2, 2)), r"shape \(9, 9\).*got shape \(2, 2\)"),
        (lambda left, right: 0.5, r"got shape \(\)"),
        (lambda left, right: 1.1 * correlate(left, right), r"values in \[-1, 1\].*1\.1"),
        (lambda left, right: np.nan * correlate(left, right), "nan"),
    ],
)
def test_a_bad_function(relation, message):
    with pytest.raises(InputError, match=f"InfFS: relation must return a matrix.*{message}"):
        fit(relation, table())


def test_a_function_may_be_negative():
    X = table()
    plain = fit(correlate, X).scores_
    np.testing.assert_array_equal(fit(lambda a, b: -correlate(a, b), X).scores_, plain)


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**400])
def test_pearson_does_not_depend_on_the_unit(scale):
    X = table()
    np.testing.assert_allclose(fit("pearson", X * scale).scores_, fit("pearson", X).scores_)


def test_pearson_of_the_smallest_floats():
    assert np.isfinite(fit("pearson", 1e-310 * table()).scores_).all()
