"""Stability of whole rankings and of their tops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import effective_jobs, run_parts
from tamis._validation import N_JOBS, Number, check_value
from tamis.evaluation.stability import lists
from tamis.exceptions import InputError


def jensen_shannon(rankings: Any, top: int | None = None) -> float:
    """Agreement of rankings that counts the best ranks most.

    Every list becomes a distribution over the features that gives more to better ranks; the
    index compares their Jensen-Shannon divergence with that of random lists. It is the index of
    the Inf-FS paper. With `top`, what comes after the first ranks does not matter.

    Parameters
    ----------
    rankings : array-like of int of shape (n_lists, n_features)
        Ranks, 1 is best, one list per row, such as ``ranking_`` of selectors.
    top : int, default=None
        Compare the first `top` ranks only. ``None`` compares all ranks.

    Returns
    -------
    stability : float
        In [0, 1]: 1 for identical lists. N random lists give about 1/N (1.2/N for many lists), not
        0, so say the number of lists beside the value. With a small `top` of many features,
        random lists give far more (see Notes).

    Notes
    -----
    With l features, rank r gives p = (1 + 1/r + ... + 1/l) / (2 l), and in the `top` k of a
    ranking p = (1 + 1/r + ... + 1/k) / (2 k), else 0. D is the mean over lists of KL(p_i || mean p)
    and D* = sum p log(p l); the index is 1 - D / D*. As all lists have the same
    D* = KL(p_i || uniform), this is KL(mean p || uniform) / D*: one pass over the ranks.

    N lists whose tops share no feature give 1 - log(N) / D* rather than 0: 0.79 for 5 lists, the
    top 10 and 20,000 features. Compare such values only at equal N, `top` and l, or
    use :func:`nogueira` on the tops, which is 0 for random ones. A single feature gives 1.

    References
    ----------
    Guzmán-Martínez and Alaiz-Rodríguez (2011). Feature selection stability assessment based on the
    Jensen-Shannon divergence. ECML PKDD 2011, 597-612.

    Examples
    --------
    >>> from tamis.evaluation.stability import jensen_shannon
    >>> rankings = [[1, 2, 3, 4], [1, 2, 4, 3], [1, 3, 2, 4]]
    >>> jensen_shannon(rankings)
    0.87
    >>> jensen_shannon(rankings, top=1)
    1.0
    """
    ranks = lists.check_permutations(rankings, "jensen_shannon")
    n_features = ranks.shape[1]
    if top is not None:
        check_value(top, Number(int, 1, n_features), who="jensen_shannon", name="top")
    top = n_features if top is None else int(top)
    share = np.zeros(n_features)
    share[:top] = (1.0 + np.cumsum(1.0 / np.arange(top, 0, -1))[::-1]) / (2.0 * top)
    first = share[ranks[0] - 1]
    # Centred on the first list, so that identical lists give exactly 1.
    mean = first + (share[ranks - 1] - first).mean(axis=0)
    return ratio_of_divergences(mean, divergence_from_uniform(first))


def divergence_from_uniform(p: NDArray[np.float64]) -> float:
    """Kullback-Leibler divergence of a distribution from the uniform one."""
    held = p[p > 0]
    return float((held * np.log(held * p.size)).sum())


def ratio_of_divergences(mean: NDArray[np.float64], of_one_list: float) -> float:
    """The index from the mean distribution; 1 where all lists must be the same."""
    if of_one_list <= 0:
        return 1.0
    return min(max(divergence_from_uniform(mean) / of_one_list, 0.0), 1.0)


def spearman(rankings: Any) -> float:
    """Mean over all pairs of lists of Spearman's rank correlation.

    All ranks count alike, so the long tail of useless features weighs most. Look at
    :func:`jensen_shannon` too if only the top of the lists is used.

    Parameters
    ----------
    rankings : array-like of shape (n_lists, n_features)
        Ranks, 1 is best, one list per row, such as ``ranking_`` of selectors. Features may share
        a rank; they get the mean of the ranks that they take up.

    Returns
    -------
    stability : float
        1 for identical lists, about 0 for random ones, -1 for two opposite ones.

    Notes
    -----
    The mean over pairs follows from the variance of the standardised ranks of every feature over
    the lists. A single feature gives 1.

    Examples
    --------
    >>> from tamis.evaluation.stability import spearman
    >>> spearman([[1, 2, 3], [1, 2, 3], [2, 1, 3]])
    0.67
    """
    from scipy.stats import rankdata

    table = lists.check_ranks(rankings, "spearman")
    n_lists, n_features = table.shape
    if n_features == 1:
        return 1.0
    if not lists.are_permutations(table):
        table = rankdata(table, axis=1)
    centred = table - (n_features + 1) / 2.0
    length = np.sqrt((centred * centred).sum(axis=1, keepdims=True))
    _check_not_all_equal(length[:, 0] == 0, "spearman")
    unit = centred / length
    # 1 - correlation is half the squared distance; from the first list, so that zero stays zero.
    unit = unit - unit[0]
    unit -= unit.mean(axis=0)
    return max(1.0 - float((unit * unit).sum()) / (n_lists - 1), -1.0)


def kendall(rankings: Any, *, n_jobs: int | None = None) -> float:
    """Mean over all pairs of lists of Kendall's tau-b.

    The share of pairs of features that two lists put in the same order, less the share that they
    put in opposite orders.

    Parameters
    ----------
    rankings : array-like of shape (n_lists, n_features)
        Ranks, 1 is best, one list per row, such as ``ranking_`` of selectors. Features may share
        a rank.
    n_jobs : int, default=None
        Threads; ``None`` means all cores. The result does not depend on it.

    Returns
    -------
    stability : float
        1 for identical lists, about 0 for random ones, -1 for two opposite ones.

    Notes
    -----
    Cost: n_features log(n_features) for every pair of lists. A single feature gives 1.

    References
    ----------
    Kendall (1945). The treatment of ties in ranking problems. Biometrika 33, 239-251.
    https://doi.org/10.1093/biomet/33.3.239

    Knight (1966). A computer method for calculating Kendall's tau with ungrouped data. Journal of
    the American Statistical Association 61, 436-439.
    https://doi.org/10.1080/01621459.1966.10480879

    Examples
    --------
    >>> from tamis.evaluation.stability import kendall
    >>> kendall([[1, 2, 3], [1, 2, 3], [2, 1, 3]])
    0.56
    """
    check_value(n_jobs, N_JOBS, who="kendall", name="n_jobs")
    table = lists.check_ranks(rankings, "kendall")
    n_lists, n_features = table.shape
    if n_features == 1:
        return 1.0
    from tamis.evaluation.stability._kernels import kendall_with_later

    codes, orders, ties = _codes_of(table)
    _check_not_all_equal(ties == n_features * (n_features - 1) // 2, "kendall")
    out = np.zeros((n_lists, n_lists))
    parts = [(codes, orders, ties, i, out) for i in range(n_lists - 1)]
    with announce_compilation(kendall_with_later):
        run_parts(kendall_with_later, parts, effective_jobs(n_jobs))
    return float(out[np.triu_indices(n_lists, 1)].mean())


def _codes_of(
    table: NDArray[Any],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Ranks from 0 without gaps, the features by rank, and the tied pairs of every list."""
    codes = np.empty(table.shape, dtype=np.int32)
    orders = np.empty(table.shape, dtype=np.int32)
    ties = np.zeros(table.shape[0], dtype=np.int64)
    for i, row in enumerate(table):
        orders[i] = np.argsort(row, kind="stable")
        new = np.diff(row[orders[i]], prepend=row[orders[i, 0]]) > 0
        codes[i, orders[i]] = np.cumsum(new)
        sizes = np.bincount(codes[i])
        ties[i] = (sizes * (sizes - 1) // 2).sum()
    return codes, orders, ties


def _check_not_all_equal(equal: NDArray[np.bool_], who: str) -> None:
    if equal.any():
        raise InputError(
            f"{who}: list {int(np.argmax(equal))} gives the same rank to all features, so it has "
            "no order to compare. Leave it out."
        )
