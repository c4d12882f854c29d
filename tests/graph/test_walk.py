"""walk_scores against eigenvalues and inverse, on graphs that are hard for a Krylov space."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from reference import graph as reference
from tamis import walk_scores
from tamis.exceptions import InputError, SelectionWarning
from tamis.graph import walk as walk_module
from tamis.graph.walk import walk, walk_steps, walk_together


def random_graph(n=40, seed=0, density=1.0, *, symmetric=True):
    rng = np.random.default_rng(seed)
    A = rng.random((n, n)) * (rng.random((n, n)) < density)
    return (A + A.T) / 2 if symmetric else A


def ring(n):
    return np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0)


def line(n):
    return np.eye(n, k=1) + np.eye(n, k=-1)


def blocks(*parts):
    return sparse.block_diag(parts).toarray()


def bipartite(n, m, seed=0):
    B = np.random.default_rng(seed).random((n, m))
    return np.block([[np.zeros((n, n)), B], [B.T, np.zeros((m, m))]])


def assert_close(found, A, damping=0.9, rtol=1e-9):
    expected = reference.walk_scores(A, damping)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


GRAPHS = {
    "symmetric": random_graph(),
    "not symmetric": random_graph(symmetric=False),
    "thin": random_graph(60, density=0.05),
    "thin, not symmetric": random_graph(60, density=0.05, symmetric=False),
    "disconnected": blocks(random_graph(12), 3 * random_graph(7, seed=1), np.zeros((4, 4))),
    "one small strong part": blocks(random_graph(50) / 25, [[0, 5.0], [5.0, 0]]),
    "nearly equal parts": blocks(ring(9), (1 + 1e-6) * ring(4)),
    "equal parts": blocks(ring(9), ring(4), [[2.0]]),
    "bipartite": bipartite(9, 14),
    "star": bipartite(1, 20),
    "all equal": np.full((15, 15), 0.3),
    "identity": np.eye(11),
    "diagonal": np.diag(np.arange(8.0)),
    "one node": np.array([[0.2]]),
    "two nodes": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "line": line(120),
    "triangular": np.triu(random_graph(15), 1) / 10 + np.diag(np.linspace(0.1, 1, 15)),
    "cycle, one way": np.roll(np.eye(12), 1, axis=0),
    "cycles with a tail": np.block(
        [[random_graph(6, symmetric=False), np.ones((6, 30))],
         [np.zeros((30, 6)), np.triu(np.ones((30, 30)), 1)]]
    ),
    "large entries": 1e120 * random_graph(),
    "small entries": 1e-120 * random_graph(),
}  # fmt: skip


@pytest.mark.sampled(21)
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("damping", [1e-6, 0.5, 0.9, 0.99])
def test_equals_eigenvalues_and_inverse(name, damping):
    assert_close(walk_scores(GRAPHS[name], damping, tol=1e-13), GRAPHS[name], damping)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", ["symmetric", "not symmetric", "thin", "bipartite", "line"])
@pytest.mark.parametrize(
    "make",
    [
        sparse.csr_array,
        sparse.csc_matrix,
        sparse.coo_array,
        aslinearoperator,
        lambda A: LinearOperator(A.shape, matvec=lambda v: A @ v),
        np.asfortranarray,
        lambda A: A.tolist(),
    ],
    ids=["csr", "csc", "coo", "operator", "function", "fortran", "list"],
)
def test_any_kind_of_matrix(name, make):
    assert_close(walk_scores(make(GRAPHS[name]), tol=1e-13), GRAPHS[name])


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint8, bool])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_types_of_numbers(dtype, make):
    A = np.random.default_rng(1).integers(0, 100, (30, 30)).astype(dtype)
    assert_close(walk_scores(make(A), tol=1e-13), A)


def test_default_tolerance_is_enough_to_rank():
    A = random_graph(100, seed=2)
    expected = reference.walk_scores(A)
    np.testing.assert_allclose(walk_scores(A), expected, rtol=1e-8)
    np.testing.assert_array_equal(np.argsort(walk_scores(A)), np.argsort(expected))


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, aslinearoperator])
def test_no_edges_no_score(n, make):
    np.testing.assert_array_equal(walk_scores(make(np.zeros((n, n)))), np.zeros(n))


@pytest.mark.parametrize("n", [2, 10, 40])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_edges_without_a_cycle_have_radius_zero(n, make):
    order = np.random.default_rng(3).permutation(n)
    A = np.triu(np.ones((n, n)), 1)[order][:, order]
    np.testing.assert_array_equal(walk_scores(make(A)), np.zeros(n))


def test_one_way_edges_between_parts():
    # Radius 1 from the last node; worked by hand from the last row up: x_i = 1 + r sum_j>=i A x.
    n, damping = 40, 0.5
    A = np.triu(np.ones((n, n)), 1) + np.diag(np.linspace(0.1, 1, n))
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (1 + damping * A[i, i + 1 :] @ x[i + 1 :]) / (1 - damping * A[i, i])
    found = walk_scores(A, damping, tol=1e-13)
    np.testing.assert_allclose(found, x - 1, rtol=1e-6, atol=1e-9 * x.max())


def test_by_hand():
    # Two nodes and one edge: radius 1, all walks go to and fro: sum of 0.5^l = 1.
    np.testing.assert_allclose(walk_scores([[0, 7], [7, 0]], damping=0.5), [1.0, 1.0])
    # A graph in which all rows sum to the radius: d / (1 - d) everywhere.
    np.testing.assert_allclose(walk_scores(ring(30), damping=0.8), np.full(30, 4.0))
    # A star of four leaves, radius 2, d = 0.5: leaf l = (1 + c) / 4 and centre c = (4 + 4 l) / 4.
    star = np.zeros((5, 5))
    star[0, 1:] = star[1:, 0] = 1.0
    np.testing.assert_allclose(walk_scores(star, damping=0.5), [5 / 3] + [2 / 3] * 4)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n", [2, 20, 220])
def test_ones_may_be_orthogonal_to_the_leading_vector(n, make):
    # e is an eigenvector with value -1 + n c; (1, -1, 0, ...) has 4, and e knows nothing of it.
    A = np.full((n, n), 1.0 / n) - np.eye(n)
    A[:2, :2] += [[2.5, -2.5], [-2.5, 2.5]]
    A += np.eye(n)
    # A e = e, largest eigenvalue 5: scores are r / (1 - r) with r = 0.9 / 5.
    np.testing.assert_allclose(walk_scores(make(A)), np.full(n, 0.18 / 0.82), rtol=1e-9)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(
    ("n", "dtype"), [(30, np.float64), (30, np.float32), (30, np.int64), (205, np.float32)]
)
def test_negative_entries(symmetric, n, dtype):
    A = np.random.default_rng(4).integers(-9, 10, (n, n))
    A = (A + A.T if symmetric else A).astype(dtype)
    assert_close(walk_scores(A, tol=1e-13), A)
    assert_close(walk_scores(sparse.csr_array(A), tol=1e-13), A)


def run(A, **options):
    options = {"symmetric": True, **options}
    return walk(lambda vector: A @ vector, len(A), options.pop("damping", 0.9), **options)


def test_few_products_on_dense_positive_matrices():
    for seed in range(2):
        A = random_graph(150, seed=seed)
        result = run(A, tol=1e-10)
        assert result.n_products <= 12
        assert result.radius == pytest.approx(np.linalg.eigvalsh(A).max(), rel=1e-10)
    assert run(np.ones((50, 50))).n_products == 1


def test_products_are_counted():
    calls = []
    A = random_graph(80)
    result = walk(lambda v: calls.append(v) or A @ v, 80, 0.9)
    assert result.n_products == len(calls) > 1
    for vector in calls:
        assert np.linalg.norm(vector) == pytest.approx(1.0)


@pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-12])
def test_tolerance_is_kept(tol):
    A = random_graph(300, seed=5, density=0.02)
    result = run(A, tol=tol)
    assert result.residual <= tol
    # The residual of the linear system, with the radius that was found, relative to the solution.
    x = result.scores + 1.0
    rest = x - 0.9 / result.radius * (A @ x) - 1.0
    assert np.linalg.norm(rest) <= 1.01 * tol * np.linalg.norm(x) + 1e-13


def test_looser_tolerance_takes_fewer_products():
    A = random_graph(300, seed=5, density=0.02)
    counts = [run(A, tol=tol).n_products for tol in (1e-2, 1e-5, 1e-12)]
    assert counts == sorted(set(counts))


def test_slow_convergence_ends_where_the_space_does():
    # The line has n / 2 symmetric eigenvectors, and ones touch all of them.
    result = run(line(200), tol=1e-14)
    assert result.n_products <= 100
    assert result.radius == pytest.approx(2 * np.cos(np.pi / 201), rel=1e-12)


@pytest.mark.slow
def test_long_runs_look_at_their_result_now_and_then(monkeypatch):
    # A look costs the cube of the products so far; a look at each of 100 would cost the most.
    looks = []
    plain = walk_module._project
    monkeypatch.setattr(
        walk_module, "_project", lambda H, *rest: looks.append(len(H)) or plain(H, *rest)
    )
    run(line(200), tol=1e-14)
    assert looks[:12] == list(range(1, 13))
    assert len(looks) < 60


def test_too_few_products_warn():
    with pytest.warns(SelectionWarning, match=r"after 5 products.*above tol=1e-10.*max_iter"):
        scores = walk_scores(line(200), max_iter=5)
    assert np.isfinite(scores).all()


def test_enough_products_do_not_warn():
    assert_close(walk_scores(random_graph(), max_iter=39), random_graph(), rtol=1e-8)
    assert_close(walk_scores(line(50), max_iter=50), line(50))


def test_walks_in_step_equal_walks_alone():
    graphs = [random_graph(30, seed=6), line(30), np.eye(30), np.zeros((30, 30))]
    widths = []

    def product(vectors, numbers):
        widths.append(len(numbers))
        columns = [graphs[k] @ vector for k, vector in zip(numbers, vectors.T, strict=True)]
        return np.column_stack(columns)

    together = walk_together(product, [walk_steps(30, 0.9) for _ in graphs])
    for A, found in zip(graphs, together, strict=True):
        alone = run(A)
        np.testing.assert_array_equal(found.scores, alone.scores)
        assert (found.radius, found.n_products) == (alone.radius, alone.n_products)
    assert len(widths) == max(found.n_products for found in together)
    assert widths[0] == 4
    assert widths[-1] == 1


def test_what_is_negligible_counts_as_zero():
    A = 1e-15 * random_graph()
    assert run(A).radius > 0
    result = run(A, negligible=1e-12)
    assert result.radius == 0
    np.testing.assert_array_equal(result.scores, np.zeros(40))


@pytest.mark.parametrize(
    ("A", "message"),
    [
        (np.ones((3, 4)), r"square matrix with at least one row, got shape \(3, 4\)"),
        (sparse.csr_array((3, 4)), r"got shape \(3, 4\)"),
        (aslinearoperator(np.ones((3, 4))), r"got shape \(3, 4\)"),
        (np.ones(3), r"got shape \(3,\)"),
        (np.ones((2, 2, 2)), "square"),
        (3.0, "square"),
        (np.empty((0, 0)), r"got shape \(0, 0\)"),
        ([[1.0, np.nan], [0.0, 1.0]], "finite edge weights"),
        ([[1.0, np.inf], [0.0, 1.0]], "finite edge weights"),
        (sparse.csr_array([[1.0, np.nan], [0.0, 1.0]]), "finite edge weights"),
    ],
)
def test_bad_matrices(A, message):
    with pytest.raises(InputError, match=f"walk_scores: .*{message}"):
        walk_scores(A)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"damping": 0}, r"damping must be a float in \(0, 1\), got 0\."),
        ({"damping": 1}, r"damping must be a float in \(0, 1\), got 1\."),
        ({"damping": 1.4}, r"damping must be a float in \(0, 1\), got 1\.4\."),
        ({"damping": "most"}, "damping must be"),
        ({"tol": 0}, "tol must be a float above 0, got 0"),
        ({"tol": -1e-3}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be an int of at least 1 or None, got 0"),
        ({"max_iter": 2.5}, "max_iter must be"),
    ],
)
def test_bad_parameters(wrong, message):
    with pytest.raises(InputError, match=f"walk_scores: {message}"):
        walk_scores(np.eye(3), **wrong)
