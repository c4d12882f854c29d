"""LLCFS: ridge models, predictions, weights, and what users pass."""

import os

import numpy as np
import pytest
from scipy import sparse

import tamis
from reference import local as plain
from tamis import LLCFS
from tamis.exceptions import InputError
from tamis.filters import llcfs
from tamis.filters.llcfs import (
    LocalLearning,
    local_models,
    prediction_matrix,
    smallest_vectors,
)
from tamis.statistics import neighbors


def planted(seed=0, n_rows=150, n_columns=50):
    """Three clusters in the first five columns."""
    rng = np.random.default_rng(seed)
    label = np.repeat([0, 1, 2], n_rows // 3)
    centres = np.array([[2, -2, 2, 0, 2], [-2, 2, 0, 2, 0], [0, 0, -2, -2, -2.0]])
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :5] += centres[label]
    return X


def everything(**options):
    return LLCFS(n_features_to_select="all", **options)


def run(X, n_clusters, n_neighbors, beta, max_iter):
    solver = LocalLearning(X, n_clusters, n_neighbors, beta, None)
    for _ in solver.iterate(max_iter, 0.0):
        pass
    return solver


@pytest.mark.parametrize("beta", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("shape", "k"), [((30, 8), 6), ((14, 40), 5), ((9, 5), 30)])
def test_twin(shape, k, beta):
    X = np.random.default_rng(0).normal(size=shape) * 10.0 ** np.arange(shape[1]) ** 0.2
    X[::2, :2] *= 4
    fitted = everything(n_clusters=3, n_neighbors=k, beta=beta, max_iter=4, tol=0.0).fit(X)
    tau, path = plain.llcfs(plain.standardised(X), 3, k, beta, n_steps=4)
    np.testing.assert_allclose(fitted.scores_, tau, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(fitted.objective_, path, rtol=1e-7, atol=1e-10)
    assert fitted.n_iter_ == 4


def test_models_are_ridge_regressions():
    rng = np.random.default_rng(1)
    X, tau = rng.normal(size=(20, 6)), rng.dirichlet(np.ones(6))
    table = X * np.sqrt(tau)
    near = np.array([plain.neighbours(table, i, 7) for i in range(20)])
    models = list(local_models(table, near, 2.0))
    A = prediction_matrix(near, models).toarray()
    ((_, R, _),) = models
    for i in range(20):
        w, b = plain.ridge_maps(X, near[i], tau, 2.0)
        np.testing.assert_allclose(tau[:, None] * (X[near[i]].T @ R[i]), w, atol=1e-12)
        np.testing.assert_allclose(A[i, near[i]], X[i] @ w + b, atol=1e-12)
    # A constant target is predicted without error.
    np.testing.assert_allclose(A.sum(axis=1), 1.0)


def test_small_beta_predicts_the_mean():
    X = np.random.default_rng(2).normal(size=(12, 4))
    near = np.array([plain.neighbours(X, i, 3) for i in range(12)])
    A = prediction_matrix(near, local_models(X, near, 1e-12))
    np.testing.assert_allclose(A.data, 1 / 3, atol=1e-9)


@pytest.mark.parametrize("dense_factor_rows", [5000, 10])
def test_eigenvectors_of_many_rows(monkeypatch, dense_factor_rows):
    X = plain.standardised(planted(n_rows=90, n_columns=12))
    near = np.array([plain.neighbours(X, i, 12) for i in range(90)])
    A = prediction_matrix(near, local_models(X, near, 1.0))
    values, vectors = smallest_vectors(A, 4)
    monkeypatch.setattr(llcfs, "DENSE_ROWS", 10)
    monkeypatch.setattr(llcfs, "DENSE_FACTOR_ROWS", dense_factor_rows)
    others, other_vectors = smallest_vectors(A, 4)
    np.testing.assert_allclose(others, values, atol=1e-9)
    np.testing.assert_allclose(
        other_vectors @ other_vectors.T, vectors @ vectors.T, rtol=1e-6, atol=1e-8
    )


def test_small_blocks(monkeypatch):
    X = plain.standardised(planted(n_rows=60, n_columns=14))
    expected = run(X, 3, 8, 1.0, 3)
    monkeypatch.setattr(neighbors, "ROWS_AT_ONCE", 10)
    monkeypatch.setattr(neighbors, "BLOCK_NUMBERS", 500)
    monkeypatch.setattr(llcfs, "TILE_NUMBERS", 500)
    monkeypatch.setattr(llcfs, "KEPT_NUMBERS", 500)
    blocks = run(X, 3, 8, 1.0, 3)
    np.testing.assert_allclose(blocks.tau, expected.tau, rtol=1e-8)
    np.testing.assert_allclose(blocks.path, expected.path, rtol=1e-8, atol=1e-13)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(3))
def test_planted_columns_come_first(seed):
    fitted = LLCFS(n_clusters=3, n_features_to_select=5).fit(planted(seed))
    np.testing.assert_array_equal(fitted.get_support(indices=True), np.arange(5))
    assert fitted.scores_[:5].sum() > 0.5  # equal weights would give them 0.1
    assert fitted.objective_[-1] < fitted.objective_[0]


def test_weights_sum_to_one():
    scores = everything().fit(planted()).scores_
    assert scores.sum() == pytest.approx(1)
    assert (scores >= 0).all()


@pytest.mark.parametrize("shape", [(50, 15), (20, 300)])
def test_order_of_rows_and_columns(shape):
    rng = np.random.default_rng(3)
    X = rng.normal(size=shape)
    scores = everything(n_neighbors=10, max_iter=5).fit(X).scores_
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])
    moved = everything(n_neighbors=10, max_iter=5).fit(X[rows][:, columns]).scores_
    np.testing.assert_allclose(moved, scores[columns], rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("shape", [pytest.param((60, 10), marks=pytest.mark.slow), (15, 200)])
def test_duplicate_columns(shape):
    X = np.random.default_rng(4).normal(size=shape)
    scores = everything().fit(np.column_stack([X, X[:, 0]])).scores_
    assert scores[0] == scores[-1]


def test_scale_and_offset_do_not_matter():
    X = np.random.default_rng(5).normal(size=(40, 8))
    moved = X * 10.0 ** np.arange(-4, 4) + 1e3 * 10.0 ** np.arange(-4, 4)
    scores = [everything(max_iter=5).fit(table).scores_ for table in (X, moved)]
    np.testing.assert_allclose(scores[1], scores[0], rtol=1e-6)


def test_missing_cells_count_as_the_mean():
    X = np.random.default_rng(6).normal(size=(40, 8))
    X[np.random.default_rng(7).random(X.shape) < 0.1] = np.nan
    scores = everything(n_neighbors=9, max_iter=4, tol=0.0).fit(X).scores_
    tau, _ = plain.llcfs(plain.standardised(X), 5, 9, 1.0, n_steps=4)
    np.testing.assert_allclose(scores, tau, rtol=1e-7)


def test_sparse_and_integer_tables():
    X = np.random.default_rng(8).poisson(1.0, size=(40, 9))
    scores = everything(max_iter=5).fit(X).scores_
    for other in (sparse.csr_array(X), X.astype(np.float32)):
        np.testing.assert_allclose(everything(max_iter=5).fit(other).scores_, scores, rtol=1e-9)


def test_clusters_far_apart_leave_the_weights_alone():
    # No row has a neighbour in the other cluster, so that the indicator is constant around it.
    X = np.random.default_rng(9).normal(size=(40, 3))
    X[20:] += 1e6
    fitted = everything(n_clusters=2, n_neighbors=5).fit(X)
    np.testing.assert_allclose(fitted.scores_, 1 / 3)
    assert fitted.converged_
    assert fitted.n_iter_ == 1
    # With neighbours in the other cluster, there is something to learn.
    assert np.ptp(everything(n_clusters=2, n_neighbors=30).fit(X).scores_) > 0


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_fewer_rows_than_neighbours(n_rows):
    scores = everything().fit(np.random.default_rng(10).normal(size=(n_rows, 7))).scores_
    assert np.isfinite(scores).all()
    assert scores.sum() == pytest.approx(1)


def test_two_rows_are_equal_in_all_columns():
    # One neighbour each: every model is flat, and the columns stay equal.
    scores = everything().fit(np.random.default_rng(11).normal(size=(2, 4))).scores_
    np.testing.assert_allclose(scores, 1 / 4)


def test_equal_rows_among_others():
    X = np.random.default_rng(12).normal(size=(30, 6))
    X[7] = X[3]
    scores = everything(n_clusters=3, n_neighbors=8, max_iter=3, tol=0.0).fit(X).scores_
    tau, _ = plain.llcfs(plain.standardised(X), 3, 8, 1.0, n_steps=3)
    np.testing.assert_allclose(scores, tau, rtol=1e-7)


def test_constant_columns():
    X = np.random.default_rng(13).normal(size=(30, 6))
    X[:, 2], X[:, 4] = 7.0, np.nan
    fitted = everything().fit(X)
    np.testing.assert_array_equal(
        fitted.scores_[[0, 1, 3, 5]], everything().fit(X[:, [0, 1, 3, 5]]).scores_
    )
    assert fitted.scores_[[2, 4]].tolist() == [0.0, 0.0]


def test_one_cluster_is_taken_as_two():
    X = planted(n_rows=60, n_columns=8)
    one, two = (everything(n_clusters=c, max_iter=3).fit(X).scores_ for c in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an int of at least 1, got 0"),
        ({"n_neighbors": 0}, "n_neighbors must be an int of at least 1, got 0"),
        ({"beta": 0.0}, r"beta must be a float in \(0, 1e\+10\], got 0.0"),
        ({"max_iter": 0}, "max_iter must be an int of at least 1, got 0"),
        ({"tol": -1.0}, "tol must be a float of at least 0, got -1.0"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(InputError, match=message):
        LLCFS(**options).fit(planted())


def test_infinite_values_and_single_rows():
    X = planted()
    X[3, 2] = np.inf
    with pytest.raises(InputError, match="LLCFS"):
        LLCFS().fit(X)
    with pytest.raises(InputError, match="LLCFS"):
        LLCFS().fit(planted()[:1])


@pytest.mark.skipif("TAMIS_DATA" not in os.environ, reason="needs the data sets in TAMIS_DATA")
def test_colon_against_the_twin():
    X = tamis.datasets.load("colon", download=False).X[:, :60]
    scores = everything(max_iter=2, tol=0.0).fit(X).scores_
    tau, _ = plain.llcfs(plain.standardised(X), 5, 15, 1.0, n_steps=2)
    np.testing.assert_allclose(scores, tau, rtol=1e-6)
