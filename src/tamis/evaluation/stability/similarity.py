"""Stability of sets when features can stand in for each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from tamis.evaluation.stability import lists
from tamis.exceptions import InputError

# Rows of the similarity matrix looked at together.
TILE = 1024
TOLERANCE = 1e-8


def similarity_adjusted(sets: Any, similarity: Any) -> float:
    """Effective stability: a feature that gives way to a similar one is no change.

    Of two columns that say the same, a selector takes now one and now the other, which other
    measures call unstable. Without similarities it is the value of :func:`nogueira`.

    Parameters
    ----------
    sets : iterable of lists of int, or bool array of shape (n_lists, n_features)
        Indices of the selected features of every list, or masks such as ``support_``.
    similarity : array-like or sparse matrix of shape (n_features, n_features)
        Symmetric, from 0 (unrelated) to 1 (as good as the same), 1 on the diagonal: for example
        the absolute values of a correlation matrix.

    Returns
    -------
    stability : float
        1 for identical sets and for sets that differ only by features of similarity 1. For random
        sets of one size 0 on average, whatever the similarities.

    Notes
    -----
    1 - tr(C S) / tr(C S0) for the similarities C, the unbiased covariance matrix S of the selection
    indicators, and the matrix S0 that random sets of the same sizes have: with d features, the
    mean size k and the mean squared size q, (k/d) (1 - k/d) on the diagonal and
    (q - k) / (d² - d) - k²/d² elsewhere.

    Where C has negative eigenvalues, as absolute correlations may have, the value can exceed 1; the
    squares of correlations never do that. If random sets could not differ, the value is 1. Cost:
    n_lists m² operations for the m features that some lists select and others do not.

    References
    ----------
    Sechidis, Papangelou, Nogueira, Weatherall and Brown (2019). On the stability of feature
    selection in the presence of feature correlations. ECML PKDD 2019.

    Examples
    --------
    >>> from tamis.evaluation.stability import nogueira, similarity_adjusted
    >>> similarity = [[1.0, 0.9, 0.0, 0.0], [0.9, 1.0, 0.0, 0.0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> sets = [[0, 2], [1, 2], [0, 2]]  # columns 0 and 1 are nearly the same
    >>> nogueira(sets, n_features=4).value
    0.33
    >>> similarity_adjusted(sets, similarity)
    0.92
    """
    matrix = _check_similarity(similarity)
    n = matrix.shape[0]
    mask = lists.check_sets(sets, n, "similarity_adjusted")
    counts, sizes = mask.sum(axis=0), mask.sum(axis=1).astype(np.float64)
    mean = sizes.mean() / n
    alone = mean * (1.0 - mean)
    together = ((sizes * sizes).mean() - sizes.mean()) / max(n * n - n, 1) - mean * mean
    # The diagonal holds ones, so its sum is n.
    expected = alone * n + together * (float(matrix.sum()) - n)
    if expected <= 1e-12 * n * alone or np.all(mask == mask[0]):
        return 1.0
    moved = np.flatnonzero((counts > 0) & (counts < mask.shape[0]))
    deviations = mask[:, moved] - counts[moved] / mask.shape[0]
    # Trace of similarities times covariance, of the features whose selection varies.
    trace = 0.0
    for first in range(0, moved.size, TILE):
        products = matrix[moved[first : first + TILE]][:, moved] @ deviations.T
        trace += float((products * deviations[:, first : first + TILE].T).sum())
    return float(1.0 - trace / (mask.shape[0] - 1) / expected)


def _check_similarity(similarity: Any) -> Any:
    if issparse(similarity):
        matrix = similarity.tocsr().astype(np.float64)
    else:
        matrix = np.asarray(similarity)
        if matrix.dtype.kind not in "iufb":
            raise _refusal(f"values of type {matrix.dtype}")
        matrix = matrix.astype(np.float64, copy=False)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 1:
        raise _refusal(f"shape {matrix.shape}")
    values = matrix.data if issparse(matrix) else matrix
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        remedy = " A constant column has no correlation: set its similarities to 0."
        raise _refusal("NaN or infinite values", remedy)
    if low < -TOLERANCE or high > 1.0 + TOLERANCE:
        remedy = " Take absolute values of correlations."
        raise _refusal(f"values from {low:.6g} to {high:.6g}", remedy)
    if np.abs(matrix.diagonal() - 1.0).max() > TOLERANCE:
        raise _refusal("a diagonal that is not 1")
    if _asymmetry(matrix) > TOLERANCE:
        raise _refusal("a matrix that is not symmetric")
    return matrix


def _asymmetry(matrix: Any) -> float:
    if issparse(matrix):
        return float(abs(matrix - matrix.T).max())
    return max(
        float(np.abs(matrix[i : i + TILE] - matrix[:, i : i + TILE].T).max())
        for i in range(0, matrix.shape[0], TILE)
    )


def _refusal(got: str, remedy: str = "") -> InputError:
    return InputError(
        "similarity_adjusted: similarity must be a symmetric matrix (n_features, n_features) of "
        f"values in [0, 1] with ones on the diagonal, got {got}.{remedy}"
    )
