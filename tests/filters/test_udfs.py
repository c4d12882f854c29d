"""UDFS: formulas, both forms of the eigenproblem, ties, and what users pass."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from reference import local as plain
from tamis import UDFS
from tamis.exceptions import InputError, SelectionWarning
from tamis.filters import udfs
from tamis.filters.udfs import (
    FLOOR,
    RowSparseVectors,
    TallForm,
    WideForm,
    averaged_norms,
    local_scatter,
)
from tamis.statistics import neighbors


def planted(seed=0, n_rows=150, n_columns=50):
    """Three clusters in the first five columns."""
    rng = np.random.default_rng(seed)
    label = np.repeat([0, 1, 2], n_rows // 3)
    centres = np.array([[4, -4, 4, 0, 4], [-4, 4, 0, 4, 0], [0, 0, -4, -4, -4.0]])
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :5] += centres[label]
    return X


def everything(**options):
    return UDFS(n_features_to_select="all", max_iter=500, **options)


def run(form, n_vectors, gamma, max_iter=300, tol=1e-7):
    solver = RowSparseVectors(form, n_vectors, gamma)
    for _ in solver.iterate(max_iter, tol):
        pass
    return solver


@pytest.mark.parametrize("gamma", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_twin(gamma, lam):
    X = np.random.default_rng(1).normal(size=(40, 12)) * np.arange(1, 13)
    X[:20, :3] += 30
    fitted = everything(n_clusters=3, n_neighbors=4, gamma=gamma, regularization=lam).fit(X)
    M = plain.udfs_matrix(plain.standardised(X), 4, lam)
    # The printed start D = I gives the norms from which the first step of ours starts.
    norms, path = plain.udfs(M, 3, gamma, n_steps=fitted.n_iter_ + 1, floor=FLOOR)
    np.testing.assert_allclose(fitted.scores_, norms, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(fitted.objective_, path[1:], rtol=1e-9)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 10.0])
def test_twin_of_a_wide_table(gamma):
    X = np.random.default_rng(2).normal(size=(15, 60))
    fitted = everything(n_clusters=4, gamma=gamma).fit(X)
    M = plain.udfs_matrix(plain.standardised(X), 5, 1.0)
    start = plain.mean_null_norms(M, 4)
    norms, path = plain.udfs(M, 4, gamma, n_steps=fitted.n_iter_, floor=FLOOR, start=start)
    np.testing.assert_allclose(fitted.scores_, norms, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(fitted.objective_, path, rtol=1e-8)


def test_scatter_matrix(monkeypatch):
    X = plain.standardised(np.random.default_rng(3).normal(size=(30, 6)))
    B = local_scatter(X, 5, 0.5)
    M = TallForm(X, B).M
    np.testing.assert_allclose(M, plain.udfs_matrix(X, 5, 0.5), rtol=1e-10, atol=1e-12)
    assert np.linalg.eigvalsh(M).min() > -1e-12
    # Long tables take their products from the neighbourhoods, in small blocks.
    monkeypatch.setattr(neighbors, "ROWS_AT_ONCE", 10)
    monkeypatch.setattr(neighbors, "BLOCK_NUMBERS", 200)
    np.testing.assert_allclose(local_scatter(X, 5, 0.5).toarray(), B.toarray(), atol=1e-13)


def test_two_rows_by_hand():
    # One neighbourhood twice: H (X~'X~ + lambda I)^-1 H = H / (s + lambda), where s is the scatter
    # of the rows +1, -1 over two columns, 4. Each column of M has 2 * 2 / (4 + lambda).
    B = local_scatter(np.array([[1.0, 1.0], [-1.0, -1.0]]), 5, 1.0).toarray()
    np.testing.assert_allclose(B, 2 * np.array([[0.5, -0.5], [-0.5, 0.5]]) / 5)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dense_columns", [256, 10])
@pytest.mark.parametrize(("lam", "gamma"), [(1.0, 0.1), (1.0, 1e-3), (1e3, 10.0)])
def test_forms_agree(monkeypatch, dense_columns, lam, gamma):
    X = plain.standardised(np.random.default_rng(4).normal(size=(15, 60)))
    B = local_scatter(X, 5, lam)
    exact = run(TallForm(X, B), 4, gamma, max_iter=25)
    monkeypatch.setattr(udfs, "DENSE_COLUMNS", dense_columns)
    for form in (TallForm(X, B), WideForm(X, B)):
        other = run(form, 4, gamma, max_iter=25)
        np.testing.assert_allclose(other.path, exact.path, rtol=1e-10)
        np.testing.assert_allclose(other.norms, exact.norms, rtol=1e-7, atol=1e-10)


def test_inverse_of_both_forms():
    rng = np.random.default_rng(5)
    X = plain.standardised(rng.normal(size=(12, 30)))
    B = local_scatter(X, 3, 1.0)
    delta = 10.0 ** rng.uniform(-3, 1, 30)
    expected = np.linalg.inv(np.diag(1 / delta) + X.T @ B.toarray() @ X)
    for form in (TallForm(X, B), WideForm(X, B)):
        np.testing.assert_allclose(form.inverse(delta)(np.eye(30)), expected, atol=1e-12)


@pytest.mark.parametrize("shape", [(60, 20), (15, 270), (30, 30)])
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 5.0])
def test_objective_never_rises(shape, gamma):
    X = np.random.default_rng(6).normal(size=shape)
    X[::2, :4] += 3
    X = plain.standardised(X)
    form = udfs.form_of(X, local_scatter(X, 5, 1.0), 5)
    path = np.array(run(form, 5, gamma, max_iter=30, tol=1e-12).path)
    assert path.size > 1
    assert (np.diff(path) <= 1e-10 * path[0]).all()
    assert path[-1] >= gamma * 5  # ||W||_{2,1} of five orthonormal columns is at least 5


def test_row_lengths_are_those_of_a_projection():
    fitted = everything(n_clusters=4).fit(planted())
    assert (fitted.scores_**2).sum() == pytest.approx(4)
    assert fitted.scores_.max() <= 1 + 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_planted_columns_come_first(seed):
    fitted = UDFS(n_clusters=3, n_features_to_select=5).fit(planted(seed))
    np.testing.assert_array_equal(fitted.get_support(indices=True), np.arange(5))


def test_large_gamma_leaves_as_many_columns_as_directions():
    scores = everything(n_clusters=3, gamma=1e4).fit(planted()).scores_
    assert (scores > 1e-6).sum() == 3
    np.testing.assert_allclose(np.sort(scores)[-3:], 1.0)


@pytest.mark.parametrize("shape", [(50, 15), (15, 270)])
def test_order_of_rows_and_columns(shape):
    rng = np.random.default_rng(7)
    X = rng.normal(size=shape)
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])
    scores, moved = (everything(gamma=5.0).fit(x).scores_ for x in (X, X[rows][:, columns]))
    np.testing.assert_allclose(moved, scores[columns], rtol=1e-6, atol=1e-9)


def test_duplicate_columns():
    X = np.random.default_rng(8).normal(size=(60, 10))
    scores = everything().fit(np.column_stack([X, X[:, 0]])).scores_
    assert scores[0] == pytest.approx(scores[-1], rel=1e-9)


def test_scale_and_offset_do_not_matter():
    X = np.random.default_rng(9).normal(size=(40, 8))
    scores = everything().fit(X).scores_
    moved = X * 10.0 ** np.arange(-4, 4) + 1e3 * 10.0 ** np.arange(-4, 4)
    np.testing.assert_allclose(everything().fit(moved).scores_, scores, rtol=1e-7)


def test_missing_cells_count_as_the_mean():
    X = np.random.default_rng(10).normal(size=(40, 8))
    X[np.random.default_rng(11).random(X.shape) < 0.1] = np.nan
    # Not by a filled table: its deviation would be another one.
    form = TallForm(plain.standardised(X), local_scatter(plain.standardised(X), 5, 1.0))
    expected = run(form, 5, 1e-3, tol=1e-6).norms
    np.testing.assert_allclose(everything().fit(X).scores_, expected, rtol=1e-9)


def test_sparse_and_integer_tables():
    X = np.random.default_rng(12).poisson(1.0, size=(40, 9))
    scores = everything().fit(X).scores_
    np.testing.assert_allclose(everything().fit(sparse.csr_array(X)).scores_, scores, rtol=1e-9)
    np.testing.assert_allclose(everything().fit(X.astype(np.float32)).scores_, scores, rtol=1e-9)


def test_ties_are_averaged():
    # Four equal values of which two are wanted: half of the squares of all four rows.
    norms = averaged_norms(np.array([1.0, 2, 2, 2, 2, 5]), np.eye(6), 3)
    np.testing.assert_allclose(norms**2, [1, 0.5, 0.5, 0.5, 0.5, 0])


def test_two_rows_leave_nothing_to_choose():
    # Standardised, all columns of two rows are equal up to sign.
    X = np.random.default_rng(13).normal(size=(2, 12))
    fitted = everything(n_clusters=3).fit(X)
    np.testing.assert_allclose(fitted.scores_, np.sqrt(3 / 12))


def test_neighbours_that_are_equal_leave_nothing_to_choose():
    X = np.repeat(np.random.default_rng(14).normal(size=(10, 6)), 2, axis=0)
    fitted = everything(n_clusters=2, n_neighbors=1).fit(X)
    np.testing.assert_allclose(fitted.scores_, np.sqrt(2 / 6))
    assert fitted.objective_.size == 0
    assert fitted.n_iter_ == 0


def test_equal_rows_among_others():
    X = np.random.default_rng(15).normal(size=(30, 6))
    X[7] = X[3]
    M = plain.udfs_matrix(plain.standardised(X), 5, 1.0)
    fitted = everything(n_clusters=2).fit(X)
    norms, _ = plain.udfs(M, 2, 1e-3, n_steps=fitted.n_iter_ + 1, floor=FLOOR)
    np.testing.assert_allclose(fitted.scores_, norms, rtol=1e-7)


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_fewer_rows_than_neighbours(n_rows):
    scores = everything().fit(np.random.default_rng(16).normal(size=(n_rows, 7))).scores_
    assert np.isfinite(scores).all()
    assert (scores**2).sum() == pytest.approx(5)


def test_fewer_columns_than_clusters():
    fitted = everything(n_clusters=5).fit(load_iris().data)
    assert (fitted.scores_**2).sum() == pytest.approx(3)
    assert everything().fit(load_iris().data[:, :1]).scores_.tolist() == [1.0]


def test_constant_columns():
    X = np.random.default_rng(17).normal(size=(30, 6))
    X[:, 2], X[:, 4] = 7.0, np.nan
    fitted = everything(n_clusters=2).fit(X)
    expected = everything(n_clusters=2).fit(X[:, [0, 1, 3, 5]]).scores_
    np.testing.assert_array_equal(fitted.scores_[[0, 1, 3, 5]], expected)
    assert fitted.scores_[[2, 4]].tolist() == [0.0, 0.0]


def test_unfinished_search_warns():
    with pytest.warns(SelectionWarning, match="still falling after 2 eigenproblems"):
        UDFS(max_iter=2, tol=0).fit(planted())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters must be an int of at least 1, got 0"),
        ({"n_neighbors": 0}, "n_neighbors must be an int of at least 1, got 0"),
        ({"gamma": 0.0}, "gamma must be a float above 0, got 0.0"),
        ({"regularization": 0}, "regularization must be a float of at least 1e-10, got 0"),
        ({"tol": -1.0}, "tol must be a float of at least 0, got -1.0"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(InputError, match=message):
        UDFS(**options).fit(planted())


def test_infinite_values_and_single_rows():
    X = planted()
    X[3, 2] = np.inf
    with pytest.raises(InputError, match="UDFS"):
        UDFS().fit(X)
    with pytest.raises(InputError, match="UDFS"):
        UDFS().fit(planted()[:1])
