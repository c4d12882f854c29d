"""LaplacianScore: by hand, against dense matrices, its invariances, and odd tables."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from reference import spectral as plain
from tamis import LaplacianScore
from tamis.exceptions import InputError
from tamis.filters._neighbor_graph import row_graph


def table(seed=0, n_rows=60, n_columns=9):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, n_columns)) * rng.choice([0.5, 1.0, 2.0], n_columns)


def clusters(seed=0, n_rows=150):
    """Three columns tell three clusters apart, five are noise."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n_rows)
    centres = np.array([[0, 0, 0], [6, 0, 6], [0, 6, -6]])
    return np.hstack(
        [rng.standard_normal((n_rows, 5)), centres[label] + rng.normal(size=(n_rows, 3))]
    )


def laplacian(X, **options):
    return LaplacianScore(n_features_to_select="all", **options).fit(X).laplacian_scores_


def test_worked_by_hand():
    # Edges 0-1 and 2-3 of weight 1, all degrees 1, mean 0: the first column never differs along an
    # edge; the second by 2 along both: f'Lf = 4 + 4, f'Df = 4; the third: f'Lf = 4, f'Df = 2.
    S = sparse.csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]))
    X = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, 0], [-1, -1, 0]])
    fitted = LaplacianScore(affinity=S, n_features_to_select=1).fit(X)
    np.testing.assert_allclose(fitted.laplacian_scores_, [0, 2, 2], atol=1e-15)
    np.testing.assert_allclose(fitted.scores_, [1, -1, -1], atol=1e-15)
    assert fitted.order_[0] == 0


def test_loops_count_in_the_degrees_only():
    # D = (2, 1, 1), S as printed: f~ = f - (2 f0 + f1 + f2) / 4.
    S = np.array([[1.0, 1, 0], [1, 0, 0], [0, 0, 1]])
    X = np.array([[1.0], [0.0], [2.0]])
    np.testing.assert_allclose(laplacian(X, affinity=S), plain.laplacian_scores(X, S))


@pytest.mark.parametrize("weights", ["heat", "binary"])
@pytest.mark.parametrize(("shape", "k"), [((60, 9), 5), ((40, 70), 1), ((5, 3), 9), ((2, 4), 5)])
def test_equals_dense_matrices(weights, shape, k):
    X = table(1, *shape)
    wanted = plain.laplacian_scores(X, plain.affinity(X, k, weights))
    np.testing.assert_allclose(laplacian(X, affinity=weights, n_neighbors=k), wanted, rtol=1e-11)


def test_width_is_that_of_the_heat_kernel():
    X = table()
    wanted = plain.laplacian_scores(X, plain.affinity(X, 4, width=3.0))
    np.testing.assert_allclose(laplacian(X, n_neighbors=4, width=3.0), wanted, rtol=1e-11)


def test_scale_divides_by_the_deviation():
    X = table()
    wanted = plain.laplacian_scores(X, plain.affinity(X / X.std(axis=0)))
    np.testing.assert_allclose(laplacian(X, scale=True), wanted, rtol=1e-11)
    units = 10.0 ** np.arange(-4, 5)
    np.testing.assert_allclose(laplacian(X * units, scale=True), wanted, rtol=1e-9)


def test_missing_cells_are_at_the_mean_and_add_nothing():
    X = table()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    wanted = plain.laplacian_scores(X, plain.affinity(plain.at_the_mean(X)))
    np.testing.assert_allclose(laplacian(X), wanted, rtol=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_graph_is_that_of_scikit_learn(seed):
    X = table(seed, 80, 6)
    theirs = kneighbors_graph(X, 5)
    theirs = theirs.maximum(theirs.T).toarray()
    selector = LaplacianScore(affinity="binary")
    np.testing.assert_array_equal(row_graph(selector, X, np.ones(6, bool)).toarray(), theirs)


def test_shift_and_unit_of_a_column_do_not_matter_on_a_fixed_graph():
    X = table()
    S = plain.affinity(X)
    wanted = laplacian(X, affinity=S)
    np.testing.assert_allclose(laplacian(X * -3e5 + 7.0, affinity=S), wanted, rtol=1e-9)
    np.testing.assert_allclose(laplacian(X * 1e-170, affinity=S), wanted, rtol=1e-9)
    np.testing.assert_allclose(laplacian(X * 1e140, affinity=S), wanted, rtol=1e-9)
    np.testing.assert_allclose(laplacian(X, affinity=1e-200 * S), wanted, rtol=1e-9)
    # Shifted far, the numbers themselves lose digits, but not more than that.
    np.testing.assert_allclose(laplacian(X + 1e8, affinity=S), wanted, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-170, 1e-60, 1e60, 1e140])
def test_unit_of_the_table_does_not_matter(unit):
    X = table()
    np.testing.assert_allclose(laplacian(X * unit), laplacian(X), rtol=1e-9)


def test_columns_of_the_clusters_come_first():
    for seed in range(5):
        fitted = LaplacianScore(n_features_to_select=3).fit(clusters(seed))
        assert np.flatnonzero(fitted.support_).tolist() == [5, 6, 7]
        assert (fitted.scores_[5:] > 0.7).all()


def test_column_that_varies_on_rows_without_edges_only():
    X = table(n_rows=6, n_columns=3)
    X[:5, 1] = 0.1
    S = np.zeros((6, 6))
    S[np.arange(4), np.arange(1, 5)] = 1.0
    fitted = LaplacianScore(affinity=sparse.csr_matrix(S + S.T), n_features_to_select=2).fit(X)
    assert fitted.laplacian_scores_[1] == 2.0
    assert fitted.support_.tolist() == [True, False, True]
    wanted = plain.laplacian_scores(X[:5, [0, 2]], (S + S.T)[:5, :5])
    np.testing.assert_allclose(fitted.laplacian_scores_[[0, 2]], wanted, rtol=1e-12)


def test_far_row_whose_weights_vanish():
    X = table(n_rows=2000, n_columns=3)
    X[7] = 1e6
    scores = laplacian(X)
    others = np.delete(X, 7, axis=0)
    graph = row_graph(LaplacianScore(), X, np.ones(3, bool))
    assert graph.sum(axis=1)[7] == 0
    np.testing.assert_allclose(
        scores, laplacian(others, affinity=np.delete(np.delete(graph.toarray(), 7, 0), 7, 1))
    )


def test_repeated_rows_only():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 8, axis=0)
    assert laplacian(X, n_neighbors=3).tolist() == [0.0, 0.0]  # nobody differs from a neighbour


def test_constant_and_huge_constant_columns():
    X = np.column_stack([np.full(60, 1e300), table(), np.full(60, np.nan)])
    fitted = LaplacianScore(n_features_to_select="all").fit(X)
    np.testing.assert_allclose(fitted.scores_[1:-1], 1.0 - laplacian(table()))
    assert fitted.scores_[[0, -1]].tolist() == [-1.0, -1.0]
    assert fitted.constant_.tolist() == [True] + [False] * 9 + [True]


@pytest.mark.parametrize("make", [np.asfortranarray, sparse.csr_array, np.float32, np.int64])
def test_kinds_of_tables(make):
    X = np.round(3.0 * table(n_columns=130))
    np.testing.assert_allclose(laplacian(make(X)), laplacian(X), rtol=1e-12)


@pytest.mark.slow
def test_same_bits_for_every_number_of_threads():
    X = table(n_rows=1200, n_columns=200)
    np.testing.assert_array_equal(
        laplacian(X, n_jobs=1), laplacian(X, n_jobs=3, memory_limit=10**6)
    )


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((3, 3)), r"shape \(60, 60\).*got \(3, 3\)"),
        (-np.ones((60, 60)), r"not negative, got.*-1"),
        (np.full((60, 60), np.nan), "finite"),
        (np.triu(np.ones((60, 60))), "symmetric"),
        (np.eye(60), "between rows"),
        (sparse.csr_array((60, 60)), "between rows"),
    ],
)
def test_affinities_that_cannot_be_used(matrix, words):
    with pytest.raises(InputError, match=f"(?s)LaplacianScore: .*{words}"):
        LaplacianScore(affinity=matrix).fit(table())


@pytest.mark.parametrize(
    "options",
    [{"n_neighbors": 0}, {"affinity": "cosine"}, {"width": 0.0}, {"scale": 1}, {"memory_limit": 0}],
)
def test_parameters_out_of_range(options):
    with pytest.raises(InputError, match=f"LaplacianScore: {next(iter(options))} must be"):
        LaplacianScore(**options).fit(table())


def test_given_affinity_is_not_changed():
    S = sparse.csr_array(plain.affinity(table()) * 5.0)
    before = S.toarray()
    laplacian(table(), affinity=S)
    np.testing.assert_array_equal(S.toarray(), before)
