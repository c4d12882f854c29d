"""walk_scores: the energy of all walks from every node, by one Krylov run."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, aslinearoperator, eigs, eigsh

from tamis._runtime.warning import warn
from tamis._validation import Number, check_value
from tamis.exceptions import InputError

Floats = NDArray[np.float64]

DAMPING = Number(float, low=0, high=1, open_low=True, open_high=True)


class WalkEnergies(NamedTuple):
    """Scores, the spectral radius, products used, and the last residual (relative)."""

    scores: Floats
    radius: float
    n_products: int
    residual: float


WalkSteps = Generator[Floats, Floats, WalkEnergies]


def walk_scores(
    A: Any, damping: float = 0.9, *, tol: float = 1e-10, max_iter: int | None = None
) -> Floats:
    """Score the nodes of a graph by the damped number of walks that start there.

    Walks of every length count, a walk of l steps with the product of its edge weights times
    ``(damping / radius) ** l``: the scores are ``(I - r A)^-1 e - e`` with ``r = damping /
    spectral radius of A``. One Krylov space gives both the radius and the solution.

    Parameters
    ----------
    A : array-like, sparse matrix or LinearOperator of shape (n, n)
        Edge weights. A LinearOperator should have no negative entries, and cycles through all
        nodes unless it is symmetric; of matrices, other ones are noticed and served with one
        eigenvalue problem more.
    damping : float, default=0.9
        In (0, 1); near 1, long walks count nearly as much as short ones.
    tol : float, default=1e-10
        Relative residual of the radius and of the solution at which to stop.
    max_iter : int or None, default=None
        Largest number of products; ``None`` means ``min(n, 1000)``.

    Returns
    -------
    scores : ndarray of shape (n,)
        Zero everywhere if the spectral radius is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import walk_scores
    >>> A = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> walk_scores(A, damping=0.5)
    array([1.27614237, 0.80473785, 0.80473785])
    """
    check_value(damping, DAMPING, who="walk_scores", name="damping")
    check_value(tol, Number(float, low=0, open_low=True), who="walk_scores", name="tol")
    at_least_one = Number(int, low=1, or_none=True)
    check_value(max_iter, at_least_one, who="walk_scores", name="max_iter")
    operator, symmetric, radius = _as_operator(A)
    if radius == 0.0:
        return np.zeros(operator.shape[0])
    return walk(
        operator.matvec, operator.shape[0], damping,
        tol=tol, max_iter=max_iter, symmetric=symmetric, radius=radius,
    ).scores  # fmt: skip


def _as_operator(A: Any) -> tuple[LinearOperator, bool, float | None]:
    """Operator, whether it is symmetric, and its radius where the Krylov space may miss it."""
    if sparse.issparse(A):
        A = A.tocsr().astype(np.float64)
    elif not isinstance(A, LinearOperator):
        A = np.asarray(A, dtype=np.float64)
    if len(A.shape) != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise InputError(
            f"walk_scores: expected a square matrix with at least one row, got shape {A.shape}."
        )
    if isinstance(A, LinearOperator):
        return A, False, None
    values = A.data if sparse.issparse(A) else A
    if not np.isfinite(values).all():
        raise InputError("walk_scores: expected finite edge weights, got NaN or inf.")
    symmetric = abs(A - A.T).max() == 0
    radius = None
    if values.size and values.min() < 0:
        radius = _full_radius(A, symmetric)
    elif not symmetric:
        radius = _radius_of_parts(A)
    return aslinearoperator(A), symmetric, radius


def _full_radius(A: Any, symmetric: bool) -> float:
    """Spectral radius of a matrix whose Krylov space may miss it: ones may be orthogonal to it."""
    if A.shape[0] < 200:
        dense = A.toarray() if sparse.issparse(A) else A
        return float(np.abs(linalg.eigvals(dense)).max())
    solver = eigsh if symmetric else eigs
    return float(np.abs(solver(A, k=1, which="LM", return_eigenvectors=False)).max())


def _radius_of_parts(A: Any) -> float | None:
    """Largest spectral radius of the strongly connected parts, or None if A is one part.

    With one-way edges between parts A is too far from normal: its Krylov space gives no digit.
    """
    n_parts, part = connected_components(sparse.csr_array(A), connection="strong")
    if n_parts == 1:
        return None
    radius = float(A.diagonal().max())
    for number in np.flatnonzero(np.bincount(part) > 1):
        nodes = np.flatnonzero(part == number)
        inside = aslinearoperator(A[nodes][:, nodes])
        options = {"tol": 1e-13, "symmetric": False}
        radius = max(radius, walk(inside.matvec, nodes.size, 0.5, **options).radius)
    return radius


def walk(
    product: Callable[[Floats], Floats], n: int, damping: float, **options: Any
) -> WalkEnergies:
    """Walk one graph, given as a function that multiplies with its matrix."""
    many = [walk_steps(n, damping, **options)]
    return walk_together(lambda vectors, _: product(vectors[:, 0])[:, None], many)[0]


def walk_together(
    product: Callable[[Floats, list[int]], Floats], walks: list[WalkSteps]
) -> list[WalkEnergies]:
    """Walk several graphs in step; `product` takes vectors as columns, and whose they are."""
    results: list[WalkEnergies | None] = [None] * len(walks)
    waiting = {number: next(steps) for number, steps in enumerate(walks)}
    while waiting:
        numbers = list(waiting)
        answers = product(np.column_stack([waiting[k] for k in numbers]), numbers)
        for column, number in enumerate(numbers):
            try:
                waiting[number] = walks[number].send(answers[:, column])
            except StopIteration as end:
                results[number] = end.value
                del waiting[number]
    return [result for result in results if result is not None]


def walk_steps(
    n: int,
    damping: float,
    *,
    tol: float = 1e-10,
    max_iter: int | None = None,
    symmetric: bool = True,
    radius: float | None = None,
    negligible: float = 1e-300,
) -> WalkSteps:
    """Run the Arnoldi process (Lanczos, if symmetric) from the vector of ones.

    Yields vectors and wants their products sent back. With V the orthonormal basis and H the
    projected matrix, the radius is that of H and the solution is ``V (I - r H)^-1 V' e``.
    """
    limit = min(n, 1000 if max_iter is None else max_iter)
    basis = [np.full(n, 1.0 / np.sqrt(n))]
    H = np.zeros((33, 32))
    for m in range(1, limit + 1):
        if m > H.shape[1]:  # few walks are that long, and the largest H has 8 MB
            H = np.pad(H, (0, H.shape[1]))
        new = np.array((yield basis[-1]), dtype=np.float64)
        for _ in range(2):  # twice keeps H exact
            for i, known in enumerate(basis):
                overlap = known @ new
                new -= overlap * known
                H[i, m - 1] += overlap
        rest = H[m, m - 1] = linalg.norm(new)
        exhausted = rest <= 1e-14 * max(np.abs(H[:m, :m]).max(), 1e-300)
        # A long run looks at its result only now and then: that costs m^3.
        if exhausted or m == limit or m % max(1, m // 16) == 0:
            used, weights, residual = _project(
                H[:m, :m], rest, damping, symmetric, radius, negligible
            )
            if residual <= tol or exhausted or m == limit:
                break
        basis.append(new / rest)
    if residual > tol and not exhausted and limit < n:
        warn(
            f"walk_scores: stopped after {limit} products with a relative residual of "
            f"{residual:.1e}, above tol={tol:g}. Allow more with max_iter."
        )
    scores = np.zeros(n)
    if used > 0.0:
        scores = np.sqrt(n) * sum(w * v for w, v in zip(weights, basis, strict=True)) - 1.0
    return WalkEnergies(scores, used, m, float(residual))


def _project(
    H: Floats, rest: float, damping: float, symmetric: bool, radius: float | None, negligible: float
) -> tuple[float, Floats, float]:
    """Radius and solution inside the Krylov space, with the residual of the worse one."""
    m = len(H)
    values, vectors = linalg.eigh((H + H.T) / 2) if symmetric else linalg.eig(H)
    top = int(np.abs(values).argmax())
    found = float(np.abs(values[top]))
    tail = float(np.abs(vectors[-1, top]))
    used = found if radius is None else max(radius, found) if symmetric else radius
    if used <= negligible:
        return 0.0, np.zeros(m), 0.0
    first = np.zeros(m)
    first[0] = 1.0
    weights = linalg.solve(np.eye(m) - damping / used * H, first)
    # Relative to the scores, not to the solution, which is e and little more if damping is small.
    size = max(float(linalg.norm(weights - first)), 1e-300)
    residual = rest * damping / used * float(abs(weights[-1])) / size
    if radius is None:
        residual = max(residual, rest * tail / used)
    return used, weights, residual
