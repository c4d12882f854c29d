"""inf_fs_path: scores of Inf-FS for many alphas at little more than the cost of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.graph.inffs import InfFS, check_alphas


def inf_fs_path(
    X: Any,
    alphas: Sequence[float] = tuple(np.linspace(0, 1, 11)),
    *,
    sample_weight: Any = None,
    **params: Any,
) -> NDArray[np.float64]:
    """Score the columns for every alpha; ranks and relations are computed once.

    Parameters
    ----------
    X : array-like, DataFrame, sparse matrix or scan of shape (n_samples, n_features)
        The table; NaN marks missing values. Also what :func:`tamis.scan` makes, and Dask arrays
        and DataFrames, which are read as often as for one alpha.
    alphas : sequence of float, default=0, 0.1, ..., 1
        Weights of dispersion against non-redundancy, each in [0, 1].
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    **params
        Other parameters of :class:`~tamis.InfFS`, such as `relation` or `memory_limit`.

    Returns
    -------
    scores : ndarray of shape (n_alphas, n_features)
        One row per alpha, equal to ``InfFS(alpha=alpha).fit(X).scores_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import inf_fs_path
    >>> X, _ = load_iris(return_X_y=True)
    >>> inf_fs_path(X, [0.0, 0.5, 1.0]).argmax(axis=1)
    array([1, 2, 2])
    """
    alphas = check_alphas(alphas, "inf_fs_path")
    selector = InfFS(**params)
    return selector.path(X, alphas, sample_weight=sample_weight)
