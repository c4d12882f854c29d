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
TOLERANCE = 1e-4
# Barriers of the semidefinite program, largest first; the last one is about what is lost of the
# mean of s. Much smaller ones leave no digits in the inverse.
BARRIERS = np.repeat(0.5 ** np.arange(2, 11), 2)
# A singular covariance is moved so far towards the identity.
LEAST_EIGENVALUE = 1e-6


def choose_distances(S: Floats, kind: Any) -> Floats:
    """Distances for a correlation matrix: ``2 S - diag(s)`` stays positive definite."""
    from scipy.linalg import eigh

    if not isinstance(kind, str):
        return feasible(S, np.asarray(kind, dtype=np.float64))
    least = float(eigh(S, eigvals_only=True, subset_by_index=[0, 0])[0])
    # Half of what would make the copies of one direction exact, so that the inverse exists.
    s = np.full(len(S), min(1.0, least))
    if kind == "equicorrelated":
        return np.minimum(1.0, 2 * s * (1 - LEAST_EIGENVALUE))
    if kind == "mrc":
        for _ in range(MAX_SWEEPS):
            if sweep(S, s, 0.0) < TOLERANCE:
                break
        return s
    for barrier in BARRIERS:
        sweep(S, s, float(barrier))
    return feasible(S, s)


def feasible(S: Floats, s: Floats) -> Floats:
    """Distances in [0, 1], shrunk by one factor if ``2 S - diag(s)`` is not positive definite."""
    from scipy.linalg import eigh

    s = np.clip(s, LEAST_EIGENVALUE, 1.0)
    root = np.sqrt(s)
    least = float(eigh(S / np.outer(root, root), eigvals_only=True, subset_by_index=[0, 0])[0])
    return np.asarray(s * min(1.0, max(2 * least, 0.0) * (1 - LEAST_EIGENVALUE)))


def sweep(S: Floats, s: Floats, barrier: float) -> float:
    """Move every distance once; the largest change."""
    from scipy.linalg import lapack

    from tamis.certainty._distance_kernels import move_block

    factor, _ = lapack.dpotrf(2 * S - np.diag(s), lower=1)
    inverse, _ = lapack.dpotri(factor, lower=1)
    A = np.tril(inverse) + np.tril(inverse, -1).T
    largest = 0.0
    for start in range(0, len(S), BLOCK):
        lines = A[start : start + BLOCK].copy()
        updates, signs = np.empty_like(lines), np.empty(len(lines))
        with announce_compilation(move_block):
            largest = max(largest, move_block(lines, start, barrier, s, updates, signs))
        A += (updates.T * signs) @ updates
    return largest
