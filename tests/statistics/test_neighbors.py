"""Nearest rows: exact, in any precision, with any memory and number of threads."""

import tracemalloc

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from reference.spectral import nearest
from tamis.statistics import neighbors
from tamis.statistics.neighbors import nearest_rows


@pytest.fixture(params=["single", "double"])
def precision(request, monkeypatch):
    monkeypatch.setattr(neighbors, "LEAST_ROWS", 0 if request.param == "single" else 10**9)


def table(kind, n_rows, n_columns):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    if kind == "integers":
        return rng.integers(0, 3, X.shape).astype(float)
    if kind == "offset":
        return X + 1e8 * rng.standard_normal(n_columns)
    if kind == "repeated rows":
        return X[rng.integers(0, max(1, n_rows // 4), n_rows)]
    if kind == "far clusters":
        return X + 1e6 * rng.integers(0, 3, n_rows)[:, None]
    if kind == "units":
        return X * 10.0 ** rng.integers(-30, 30, n_columns)
    if kind == "two giants":  # the mean lies between them, and the others vanish beside them
        X *= 1e-30
        X[:2] = [[1e30], [-1e30]]
    return X


def test_points_on_a_line():
    X = np.array([[0.0], [1.0], [3.0], [3.0], [7.0]])
    rows, distances = nearest_rows(X, 2)
    assert rows.dtype == np.int64
    assert rows.tolist() == [[1, 2], [0, 2], [3, 1], [2, 1], [2, 3]]
    assert distances.tolist() == [[1, 9], [1, 4], [0, 4], [0, 4], [16, 16]]


@pytest.mark.parametrize(
    "kind",
    ["normal", "integers", "offset", "repeated rows", "far clusters", "units", "two giants"],
)
@pytest.mark.parametrize(
    ("shape", "k"),
    [((2, 1), 5), ((9, 3), 4), ((130, 70), 1), ((200, 6), 7), ((70, 2), 69), ((40, 2100), 3)],
)
def test_equals_all_distances(kind, shape, k, precision):
    X = table(kind, *shape)
    wanted_rows, wanted = nearest(X, k)
    for memory_limit in (None, 1):  # one tile, and tiles of 64 rows
        rows, distances = nearest_rows(X, k, memory_limit=memory_limit)
        np.testing.assert_allclose(distances, wanted, rtol=1e-12)
        # Distances that differ in the last digit may change places between two ways of adding.
        if kind in ("normal", "integers"):
            np.testing.assert_array_equal(rows, wanted_rows)
        again = np.array([np.sum((X[rows[i]] - X[i]) ** 2, axis=1) for i in range(len(X))])
        np.testing.assert_allclose(distances, again, rtol=1e-12)


def test_equals_scikit_learn_on_many_rows():
    X = table("normal", 2500, 12)
    rows, distances = nearest_rows(X, 6)
    theirs = NearestNeighbors(n_neighbors=6, algorithm="kd_tree").fit(X).kneighbors()
    np.testing.assert_array_equal(rows, theirs[1])
    np.testing.assert_allclose(np.sqrt(distances), theirs[0], rtol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "integers", "far clusters"])
def test_same_bits_for_threads_memory_and_precision(kind, monkeypatch):
    X = table(kind, 1500, 40)
    wanted = nearest_rows(X, 5, n_jobs=1)
    results = [nearest_rows(X, 5, n_jobs=3), nearest_rows(X, 5, memory_limit=500_000)]
    monkeypatch.setattr(neighbors, "LEAST_ROWS", 10**9)
    results.append(nearest_rows(X, 5))
    for rows, distances in results:
        np.testing.assert_array_equal(rows, wanted[0])
        np.testing.assert_array_equal(distances, wanted[1])


def test_equal_rows_come_in_their_order(precision):
    rows, distances = nearest_rows(np.full((150, 3), 0.1), 4, memory_limit=1)
    assert (distances == 0).all()
    assert rows[0].tolist() == [1, 2, 3, 4]
    assert rows[2].tolist() == [0, 1, 3, 4]
    assert rows[-1].tolist() == [0, 1, 2, 3]


def test_more_neighbours_than_rows():
    rows, distances = nearest_rows(np.array([[0.0], [2.0], [5.0]]), 10)
    assert rows.tolist() == [[1, 2], [0, 2], [1, 0]]
    assert distances.tolist() == [[4, 25], [4, 9], [9, 25]]
    assert nearest_rows(np.zeros((1, 3)), 2)[0].shape == (1, 0)


def test_input_is_not_changed_and_may_have_any_order():
    X = table("normal", 60, 5)
    before = X.copy()
    X.setflags(write=False)
    wanted = nearest_rows(X, 3)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(nearest_rows(np.asfortranarray(X), 3)[0], wanted[0])
    np.testing.assert_array_equal(nearest_rows(np.repeat(X, 2, axis=0)[::2], 3)[1], wanted[1])


def test_memory_stays_below_the_limit():
    X = table("normal", 4000, 8)
    nearest_rows(X[:1100], 5)  # compile
    tracemalloc.start()
    nearest_rows(X, 5, memory_limit=4_000_000, n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    results = 2 * 8 * 4000 * 5
    assert peak < 4_000_000 + 2 * results  # all distances would take 128 MB
