"""Graph of neighbouring rows and its eigenvectors, shared by the spectral selectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._columns import centred_columns
from tamis._runtime.byte_sizes import given_bytes
from tamis._validation import MEMORY_LIMIT, N_JOBS, Choice, Constraint, Custom, Number
from tamis.exceptions import InputError
from tamis.statistics.neighbors import nearest_rows

Floats = NDArray[np.float64]

WEIGHTS = ("heat", "binary")
GRAPH_CONSTRAINTS: dict[str, Constraint] = {
    "n_neighbors": Number(int, low=1),
    "affinity": Custom(
        lambda value: (
            sparse.issparse(value) or isinstance(value, np.ndarray) or Choice(WEIGHTS).allows(value)
        ),
        "'heat', 'binary', or a symmetric sparse matrix of the rows' affinities",
    ),
    "width": Number(float, low=0, open_low=True, or_none=True),
    "scale": Choice((False, True)),
    "memory_limit": MEMORY_LIMIT,
    "n_jobs": N_JOBS,
}
# Squares of larger or smaller values come near the limits of float64.
SAFE = 1e100
# Below this many rows a dense eigenvalue problem takes milliseconds.
DENSE_ROWS = 400
# Restarts of ARPACK after which products give way to inverse iteration, and its shift.
MOST_RESTARTS = 100
SHIFT = 1e-6
# Rows with a smaller share of the largest degree: their entries of an eigenvector are noise.
LEAST_DEGREE = 1e-12


def row_graph(selector: Any, X: Any, varies: NDArray[np.bool_]) -> sparse.csr_array:
    """Symmetric affinities of the rows, as the parameters of the selector want them."""
    if not isinstance(selector.affinity, str):
        return _given_affinity(selector.affinity, X.shape[0], type(selector).__name__)
    rows = dense_rows(X, varies, scale=selector.scale)
    size = max(-rows.min(), rows.max())
    if selector.width is None and size > 0 and not 1 / SAFE < size < SAFE:
        rows = np.ldexp(rows, -int(np.frexp(size)[1]))  # a power of 2 is exact
    limit = given_bytes(selector.memory_limit)
    neighbors, distances = nearest_rows(
        rows, selector.n_neighbors, memory_limit=limit, n_jobs=selector.n_jobs
    )
    weights = np.ones_like(distances)
    if selector.affinity == "heat":
        width = distances.mean() if selector.width is None else selector.width
        with np.errstate(over="ignore"):  # a quotient of inf is an affinity of 0
            weights = np.exp(-distances / width) if width > 0 else weights
    # Two rows are joined if either is a neighbour of the other.
    n_rows, k = neighbors.shape
    ends = np.arange(0, n_rows * k + 1, k)
    graph = sparse.csr_array((weights.ravel(), neighbors.ravel(), ends), shape=(n_rows, n_rows))
    graph = sparse.csr_array(graph.maximum(graph.T))
    graph.eliminate_zeros()  # weights of far neighbours that are too small for a float
    if graph.nnz == 0:
        raise InputError(
            f"{type(selector).__name__}: expected a width that leaves some affinity between rows, "
            f"got {selector.width!r}, while squared distances are {distances.mean():.3g} on "
            "average. Use width=None, or a width of that size."
        )
    return graph


def dense_rows(X: Any, varies: NDArray[np.bool_], *, scale: bool) -> Floats:
    """Columns that vary as float64 rows, in their own units unless scaled.

    Centring rounds, and rounding decides between neighbours at equal distances. So it is done for
    scaled columns and for missing cells, which are put at the mean, but not for some layouts only.
    """
    if not scale:
        X = X if varies.all() else X[:, varies]
        rows = np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        if not np.isnan(rows.min()):
            return rows
        varies = np.ones(rows.shape[1], dtype=bool)
        X = rows
    return centred_columns(X, varies, scale=scale)


def _given_affinity(affinity: Any, n_rows: int, who: str) -> sparse.csr_array:
    """A user's matrix, checked, as CSR."""
    if affinity.shape != (n_rows, n_rows):
        raise InputError(
            f"{who}: expected an affinity of shape ({n_rows}, {n_rows}), one row and column "
            f"per row of X, got {affinity.shape}. Make it from the rows that are passed to fit."
        )
    graph = sparse.csr_array(affinity, dtype=np.float64, copy=True)
    graph.sum_duplicates()
    if not np.isfinite(graph.data).all() or (graph.data < 0).any():
        worst = graph.data[~(np.isfinite(graph.data) & (graph.data >= 0))][0]
        raise InputError(
            f"{who}: expected affinities that are finite and not negative, got {worst!r}. "
            "Distances are no affinities: turn them round, for example into exp(-distance)."
        )
    graph.eliminate_zeros()
    largest = graph.data.max(initial=0.0)
    if largest == 0 or graph.nnz == np.count_nonzero(graph.diagonal()):
        raise InputError(f"{who}: expected affinities between rows, got a matrix without any.")
    graph.data /= largest
    if abs(graph - graph.T).max() > 1e-10:
        raise InputError(
            f"{who}: expected a symmetric affinity, got one that differs from its transpose. "
            "Pass affinity.maximum(affinity.T), or half of their sum."
        )
    return graph


class Embedding(NamedTuple):
    """Eigenvectors of ``L y = lambda D y`` without the constant one, smallest lambda first."""

    vectors: Floats
    eigenvalues: Floats


def spectral_embedding(graph: sparse.csr_array, columns: Floats, n_vectors: int) -> Embedding:
    """The first non-trivial eigenvectors of a graph of rows; 0 in rows without neighbours.

    Of the vectors constant on every part of the graph, which share the eigenvalue 0, the basis is
    taken that follows the principal axes of the means of the centred `columns` over the parts.
    """
    inside = _joined_rows(graph)
    graph = sparse.csr_array(graph[inside][:, inside])
    root = np.sqrt(graph.sum(axis=1))
    half = sparse.diags_array(1.0 / root)
    normalised = sparse.csr_array(half @ graph @ half)
    parts = _part_vectors(graph, root)
    flat = _between_parts(parts, root, columns, inside, n_vectors)
    slopes, steep = _steep_vectors(normalised, parts, n_vectors - flat.shape[1])
    vectors = np.zeros((inside.size, flat.shape[1] + steep.shape[1]))
    vectors[inside] = np.hstack([flat, steep]) / root[:, None]
    return Embedding(vectors, np.concatenate([np.zeros(flat.shape[1]), slopes]))


def _joined_rows(graph: sparse.csr_array) -> NDArray[np.bool_]:
    """Rows whose weight in the graph can be told from rounding."""
    degree = graph.sum(axis=1)
    inside = degree > LEAST_DEGREE * degree.max()
    while True:
        kept = inside & (graph @ inside > LEAST_DEGREE * degree.max())
        if (kept == inside).all():
            return inside
        inside = kept


def _part_vectors(graph: sparse.csr_array, root: Floats) -> sparse.csr_array:
    """Orthonormal vectors for the eigenvalue 0 of the normalised Laplacian, one per part."""
    from scipy.sparse.csgraph import connected_components

    n_parts, part = connected_components(graph, directed=False)
    volume = np.bincount(part, root**2, minlength=n_parts)
    entries = (root / np.sqrt(volume)[part], (np.arange(part.size), part))
    return sparse.csr_array(entries, shape=(part.size, n_parts))


def _between_parts(
    parts: sparse.csr_array, root: Floats, columns: Floats, inside: NDArray[np.bool_], limit: int
) -> Floats:
    """Principal axes of the column means over the parts, as vectors of the rows."""
    if parts.shape[1] == 1:
        return np.empty((parts.shape[0], 0))
    table = columns if inside.all() else columns[inside]
    sums = np.asarray((parts.T * root) @ table)
    volume = np.asarray(parts.T @ root)  # roots of the volumes of the parts
    sums -= np.outer(volume, volume @ sums) / (volume @ volume)
    axes, sizes, _ = np.linalg.svd(sums, full_matrices=False)
    seen = sizes > 1e-10 * max(sizes[0], np.finfo(np.float64).tiny)
    return np.asarray(parts @ axes[:, seen][:, : min(limit, parts.shape[1] - 1)])


def _steep_vectors(
    normalised: sparse.csr_array, parts: sparse.csr_array, n_vectors: int
) -> tuple[Floats, Floats]:
    """Eigenvectors with a positive eigenvalue, smallest first."""
    n_rows, n_parts = parts.shape
    n_vectors = min(n_vectors, n_rows - n_parts)
    if n_vectors <= 0:
        return np.empty(0), np.empty((n_rows, 0))
    if n_rows <= DENSE_ROWS:
        from scipy.linalg import eigh

        # The vectors of eigenvalue 0 go to the far end of the spectrum, and so out of the way.
        matrix = normalised.toarray() - 2.0 * (parts @ parts.T).toarray()
        values, vectors = eigh(matrix, subset_by_index=(n_rows - n_vectors, n_rows - 1))
    else:
        values, vectors = _largest_by_products(normalised, parts, n_vectors)
    order = np.argsort(-values, kind="stable")
    return 1.0 - values[order], vectors[:, order]


def _largest_by_products(
    normalised: sparse.csr_array, parts: sparse.csr_array, n_vectors: int
) -> tuple[Floats, Floats]:
    from scipy.sparse.linalg import ArpackNoConvergence

    n_rows = normalised.shape[0]
    across = sparse.csr_array(parts.T)

    def product(vector: Floats) -> Floats:
        return np.asarray(normalised @ vector - 2.0 * (parts @ (across @ vector)))

    breadth = max(4 * n_vectors + 1, 40)
    try:
        return largest_vectors(product, n_rows, n_vectors, breadth, maxiter=MOST_RESTARTS)
    except ArpackNoConvergence:
        return _largest_by_solving(normalised, parts, n_vectors, breadth)


def _largest_by_solving(
    normalised: sparse.csr_array, parts: sparse.csr_array, n_vectors: int, breadth: int
) -> tuple[Floats, Floats]:
    """As by products, for long thin graphs, whose eigenvalues are close: by inverse iteration."""
    from scipy.sparse.linalg import ArpackNoConvergence, splu

    n_rows = normalised.shape[0]
    laplacian = sparse.csc_array((1.0 + SHIFT) * sparse.eye_array(n_rows) - normalised)
    solve, across = splu(laplacian).solve, sparse.csr_array(parts.T)

    def beside_parts(vector: Floats) -> Floats:
        return np.asarray(vector - parts @ (across @ vector))

    def product(vector: Floats) -> Floats:
        return beside_parts(solve(beside_parts(vector)))

    try:
        _, vectors = largest_vectors(product, n_rows, n_vectors, breadth)
    except ArpackNoConvergence as error:
        raise InputError(
            f"MCFS: expected a graph whose first eigenvectors can be told apart, got {n_rows} rows "
            "for which ARPACK did not find them. Use more neighbours, or fewer clusters."
        ) from error
    return np.einsum("ij,ij->j", vectors, normalised @ vectors), vectors


def largest_vectors(
    product: Callable[[Floats], Floats], n: int, n_vectors: int, breadth: int, **options: Any
) -> tuple[Floats, Floats]:
    """Largest eigenvalues, and their vectors, of a symmetric matrix given by its products."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    # A fixed start, else ARPACK draws one and the last digits change from fit to fit. Without any
    # symmetry: a start that duplicate columns share would hide their difference.
    start = np.random.default_rng(0).standard_normal(n)
    options = {"which": "LA", "v0": start, "ncv": min(n, breadth), **options}
    values, vectors = eigsh(operator, n_vectors, **options)
    return values, vectors
