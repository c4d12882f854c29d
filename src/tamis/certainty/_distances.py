"""How far copies are from the features: s in cov(X_j, copy of X_j) = 1 - s_j."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation

Floats = NDArray[np.float64]

BLOCK = 32
MAX_SWEEPS = 30
# Sweeps end when no distance moves by more.
TOLERANCE = 1e-3
# Barriers of the semidefinite program, largest first, and Newton steps for each at most; the last
# one is about what is lost of the mean of s.
BARRIERS, MAX_STEPS = 0.25 ** np.arange(7), 20
# All eigenvalues of a smaller matrix are found in no time.
SMALL = 50
# A singular covariance is moved so far towards the identity.
LEAST_EIGENVALUE = 1e-6


def choose_distances(S: Floats, kind: Any) -> Floats:
    """Distances for a correlation matrix: ``2 S - diag(s)`` stays positive definite."""
    if not isinstance(kind, str):
        return feasible(S, np.asarray(kind, dtype=np.float64))
    least = least_eigenvalue(S)
    # Half of what would make the copies of one direction exact, so that the inverse exists.
    s = np.full(len(S), min(1.0, least))
    if kind == "equicorrelated":
        return np.minimum(1.0, 2 * s * (1 - LEAST_EIGENVALUE))
    if kind == "mrc":
        for _ in range(MAX_SWEEPS):
            if sweep(S, s) < TOLERANCE:
                break
        return s
    s *= 0.9  # inside of all bounds
    for barrier in BARRIERS:
        s = climb(S, s, float(barrier))
    return feasible(S, s)


def least_eigenvalue(S: Floats) -> float:
    """Smallest eigenvalue of a positive definite matrix, or up to 0.2% less."""
    from scipy.linalg import lapack
    from scipy.sparse.linalg import LinearOperator, eigsh

    if len(S) < SMALL:
        return exact_least_eigenvalue(S)
    factor = lapack.dpotrf(S, lower=1)[0]
    inverse = LinearOperator(S.shape, lambda v: lapack.dpotrs(factor, v, lower=1)[0], dtype=S.dtype)
    start = np.random.default_rng(0).standard_normal(len(S))
    largest = eigsh(inverse, k=1, which="LA", v0=start, tol=1e-2, return_eigenvectors=False)
    found = (1 - 2e-3) / float(largest[0])
    return found if is_positive(S - found * np.eye(len(S))) else exact_least_eigenvalue(S)


def exact_least_eigenvalue(S: Floats) -> float:
    """Smallest eigenvalue of a symmetric matrix."""
    from scipy.linalg import eigh

    return float(eigh(S, eigvals_only=True, subset_by_index=[0, 0])[0])


def is_positive(S: Floats) -> bool:
    """Whether a symmetric matrix is positive definite."""
    from scipy.linalg import lapack

    return not lapack.dpotrf(S, lower=1)[1]


def climb(S: Floats, s: Floats, barrier: float) -> Floats:
    """Maximise the sum of s, plus barriers where s leaves [0, 1] and ``2 S - diag(s)`` ends."""
    value, A = height(S, s, barrier)
    for _ in range(MAX_STEPS):
        slope = 1 / barrier - np.diag(A) + 1 / s - 1 / (1 - s)
        step = np.linalg.solve(A * A + np.diag(1 / s**2 + 1 / (1 - s) ** 2), slope)
        length = 1.0
        while True:
            moved = s + length * step
            new, inverse = height(S, moved, barrier)
            if new > value or length < 1e-6:
                break
            length /= 2
        if new <= value:
            break
        is_there = slope @ step < 1e-2
        s, value, A = moved, new, inverse
        if is_there:
            break
    return s


def height(S: Floats, s: Floats, barrier: float) -> tuple[float, Floats]:
    """What `climb` maximises, in units of the barrier, and the inverse of ``2 S - diag(s)``."""
    from scipy.linalg import lapack

    if s.min() <= 0 or s.max() >= 1:
        return -np.inf, S
    factor, failed = lapack.dpotrf(2 * S - np.diag(s), lower=1)
    if failed:
        return -np.inf, S
    value = s.sum() / barrier + 2 * np.log(np.diag(factor)).sum() + np.log(s * (1 - s)).sum()
    return float(value), symmetric(lapack.dpotri(factor, lower=1)[0])


def inverse_of(S: Floats) -> Floats:
    """Inverse of a positive definite matrix."""
    from scipy.linalg import lapack

    return symmetric(lapack.dpotri(lapack.dpotrf(S, lower=1)[0], lower=1)[0])


def symmetric(lower: Floats) -> Floats:
    """The symmetric matrix of a lower triangle."""
    return np.ascontiguousarray(np.tril(lower) + np.tril(lower, -1).T)


def feasible(S: Floats, s: Floats) -> Floats:
    """Distances in [0, 1], shrunk by one factor if ``2 S - diag(s)`` is not positive definite."""
    s = np.clip(s, LEAST_EIGENVALUE, 1.0)
    if is_positive(2 * (1 - LEAST_EIGENVALUE) * S - np.diag(s)):
        return s
    root = np.sqrt(s)
    least = exact_least_eigenvalue(S / np.outer(root, root))
    return np.asarray(s * min(1.0, max(2 * least, 0.0) * (1 - LEAST_EIGENVALUE)))


def sweep(S: Floats, s: Floats) -> float:
    """Move every distance once; the largest change."""
    from scipy.linalg import blas

    from tamis.certainty._knockoff_kernels import move_block

    A = inverse_of(2 * S - np.diag(s))
    largest = 0.0
    for start in range(0, len(S), BLOCK):
        lines = A[start : start + BLOCK].copy()
        updates, signs = np.empty_like(lines), np.empty(len(lines))
        with announce_compilation(move_block):
            largest = max(largest, move_block(lines, start, s, updates, signs))
        # A is symmetric, so its transpose can be updated in place, as BLAS wants it.
        blas.dgemm(1.0, (updates * signs[:, None]).T, updates.T, 1.0, A.T, trans_b=1, overwrite_c=1)
    return largest
