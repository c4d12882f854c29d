"""MCFS: eigenvectors, sparse regressions, graphs in several parts, and odd tables."""

import numpy as np
import pytest
from scipy import sparse

from reference import spectral as plain
from tamis import MCFS
from tamis.exceptions import InputError
from tamis.filters import _neighbor_graph
from tamis.filters._neighbor_graph import spectral_embedding


def table(seed=0, n_rows=60, n_columns=9):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n_rows, n_columns)) * rng.choice([0.5, 1.0, 2.0], n_columns)


def clusters(seed=0, n_rows=150, distance=6.0):
    """Columns 5, 6 and 7 tell three clusters apart, the first five are noise."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 3, n_rows)
    centres = distance * np.array([[0, 0, 0], [1, 0, 1], [0, 1, -1]])
    X = np.hstack([rng.normal(size=(n_rows, 5)), centres[label] + rng.normal(size=(n_rows, 3))])
    return X, label


def fit(X, **options):
    return MCFS(n_features_to_select="all", **options).fit(X)


@pytest.mark.parametrize("weights", ["heat", "binary"])
@pytest.mark.parametrize("shape", [(60, 9), (25, 4)])
def test_all_columns_allowed_is_least_squares(weights, shape):
    X = table(1, *shape)
    vectors, values = plain.embedding(plain.affinity(X, 5, weights), 3)
    A, targets = plain.standardised(X), plain.standardised(vectors)
    wanted = np.linalg.lstsq(A, targets)[0].T
    fitted = fit(X, n_clusters=3, affinity=weights)
    np.testing.assert_allclose(fitted.eigenvalues_, values, atol=1e-12)
    np.testing.assert_allclose(np.abs(fitted.coefficients_), np.abs(wanted), atol=1e-10)
    np.testing.assert_allclose(fitted.scores_, np.abs(wanted).max(axis=0), atol=1e-10)


@pytest.mark.parametrize("shape", [(80, 20), (30, 90)])  # with and without the matrix of products
@pytest.mark.parametrize("n_nonzero", [1, 4, 12])
def test_coefficients_solve_the_lasso(shape, n_nonzero):
    X = table(2, *shape)
    fitted = fit(X, n_clusters=3, n_nonzero=n_nonzero)
    vectors, _ = plain.embedding(plain.affinity(X), 3)
    A = plain.standardised(X)
    for coefficients, target in zip(
        fitted.coefficients_, plain.standardised(vectors).T, strict=True
    ):
        used = coefficients != 0
        assert 1 <= used.sum() <= n_nonzero
        target = target if A[:, used].T @ target @ coefficients[used] > 0 else -target
        slopes = A.T @ (target - A @ coefficients)
        penalty = np.abs(slopes).max()
        # Stationary: every column used has the same slope, against its sign; no other a larger one.
        np.testing.assert_allclose(slopes[used], penalty * np.sign(coefficients[used]), rtol=1e-8)


def test_one_step_worked_by_hand():
    # Rows on a line, joined to their neighbours only: the path 0-1-2 has y = (1, 0, -1), lambda 1.
    # The columns of unit length are (1, 0, -1) / sqrt 2 and (1, -2, 1) / sqrt 6: they do not
    # correlate, so the first step goes all the way.
    S = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    X = np.array([[0.0, 4.0], [1.0, 1.0], [2.0, 4.0]])
    fitted = fit(X, affinity=S, n_clusters=1, n_nonzero=1)
    np.testing.assert_allclose(fitted.eigenvalues_, [1.0])
    np.testing.assert_allclose(fitted.scores_, [1.0, 0.0], atol=1e-12)


def test_columns_of_the_clusters_come_first():
    for seed in range(5):
        X, _ = clusters(seed)
        fitted = MCFS(n_clusters=2, n_nonzero=2, n_features_to_select=2).fit(X)
        assert set(fitted.order_[:2]) <= {5, 6, 7}


def test_equal_columns_share_no_score():
    X, _ = clusters()
    fitted = fit(np.column_stack([X, X[:, 5], X[:, 5]]), n_clusters=2)
    assert np.isfinite(fitted.scores_).all()
    assert np.count_nonzero(fitted.scores_[[5, 8, 9]]) == 1


def test_parts_of_a_graph_are_told_apart_by_eigenvalue_0():
    X, label = clusters(distance=1000.0)
    fitted = fit(X, n_clusters=4)
    assert (fitted.eigenvalues_[:2] == 0).all()
    assert (fitted.eigenvalues_[2:] > 1e-6).all()
    vectors, _ = spectral_embedding(
        sparse.csr_array(plain.affinity(X)), plain.standardised(X), n_vectors=2
    )
    means = np.array([vectors[label == part].mean(axis=0) for part in range(3)])
    np.testing.assert_allclose(vectors, means[label], atol=1e-12)


def test_result_does_not_depend_on_the_order_of_rows_even_in_parts():
    X, _ = clusters(distance=1000.0)
    order = np.random.default_rng(1).permutation(len(X))
    for n_clusters in (1, 2, 4):
        wanted = fit(X, n_clusters=n_clusters).scores_
        np.testing.assert_allclose(fit(X[order], n_clusters=n_clusters).scores_, wanted, rtol=1e-8)


def test_fewer_directions_than_parts():
    # Four parts but one column: one vector of eigenvalue 0 follows it, the others no column does.
    X = np.repeat([0.0, 100.0, 250.0, 300.0], 8)[:, None] + table(n_rows=32, n_columns=1)
    fitted = fit(X, n_clusters=3)
    assert np.count_nonzero(fitted.eigenvalues_ == 0) == 1
    assert fitted.scores_[0] == pytest.approx(1.0, abs=0.01)


def test_products_and_dense_eigenvectors_agree(monkeypatch):
    X, _ = clusters(n_rows=200, distance=2.0)
    wanted = fit(X, n_clusters=4)
    monkeypatch.setattr(_neighbor_graph, "DENSE_ROWS", 0)
    found = fit(X, n_clusters=4)
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, atol=1e-12)
    np.testing.assert_allclose(found.scores_, wanted.scores_, rtol=1e-7)
    np.testing.assert_array_equal(found.scores_, fit(X, n_clusters=4).scores_)
    parts = fit(clusters(distance=1000.0)[0], n_clusters=5)
    monkeypatch.undo()
    np.testing.assert_allclose(
        parts.scores_, fit(clusters(distance=1000.0)[0], n_clusters=5).scores_, rtol=1e-7
    )


@pytest.mark.parametrize("n_rows", [2, 3, 6])
def test_more_clusters_than_eigenvectors(n_rows):
    fitted = fit(table(n_rows=n_rows, n_columns=3), n_clusters=50)
    assert fitted.coefficients_.shape == (n_rows - 1, 3)
    assert np.isfinite(fitted.scores_).all()


def test_rows_without_edges_belong_to_no_cluster():
    X = table(n_rows=40)
    S = plain.affinity(X)
    S[[3, 7]] = S[:, [3, 7]] = 0.0
    weak = S.copy()
    weak[3, 4] = weak[4, 3] = 1e-200  # the entries of such a row would be rounding errors
    embedding = spectral_embedding(sparse.csr_array(S), plain.standardised(X), 3)
    assert (embedding.vectors[[3, 7]] == 0).all()
    assert np.ptp(embedding.vectors, axis=0).min() > 0
    np.testing.assert_allclose(fit(X, affinity=weak).scores_, fit(X, affinity=S).scores_)


def test_missing_cells_are_at_the_mean():
    X = table()
    X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    np.testing.assert_allclose(fit(X).scores_, fit(plain.at_the_mean(X)).scores_, rtol=1e-8)


def test_units_of_columns_do_not_matter_on_a_fixed_graph():
    X = table()
    S = plain.affinity(X)
    wanted = fit(X, affinity=S).scores_
    units = 10.0 ** np.array([-170, -60, -9, -1, 0, 1, 9, 60, 140])
    np.testing.assert_allclose(fit(X * units, affinity=S).scores_, wanted, rtol=1e-8)
    np.testing.assert_allclose(fit(X + 1e6, affinity=S).scores_, wanted, rtol=1e-7)


@pytest.mark.parametrize("make", [np.asfortranarray, sparse.csr_array, np.float32, np.int64])
def test_kinds_of_tables(make):
    X = np.round(30.0 * table(n_columns=80))
    np.testing.assert_allclose(fit(make(X)).scores_, fit(X).scores_, rtol=1e-8, atol=1e-12)


def test_wide_table_and_unused_columns():
    X = table(n_rows=40, n_columns=500)
    fitted = fit(X, n_clusters=3, n_nonzero=5)
    assert 5 <= np.count_nonzero(fitted.scores_) <= 15
    unused = np.flatnonzero(fitted.scores_ == 0)
    np.testing.assert_array_equal(fitted.order_[-unused.size :], unused)


@pytest.mark.parametrize("options", [{"n_clusters": 0}, {"n_nonzero": 0}, {"affinity": None}])
def test_parameters_out_of_range(options):
    with pytest.raises(InputError, match=f"MCFS: {next(iter(options))} must be"):
        MCFS(**options).fit(table())


def test_rows_along_a_line_do_not_stall(monkeypatch):
    # Eigenvalues of a long thin graph are close: 1 - cos(k pi / n) for a path of n rows.
    u = np.linspace(0, 1, 500)
    X = np.column_stack([u, u**2, np.sin(3 * u)])
    wanted = fit(X, n_neighbors=2)
    monkeypatch.setattr(_neighbor_graph, "MOST_RESTARTS", 1)
    found = fit(X, n_neighbors=2)
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(found.scores_, wanted.scores_, rtol=1e-5)
