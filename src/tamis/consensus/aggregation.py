"""Several rankings of the same columns made into one score per column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.exceptions import InputError

__all__ = ["RobustRanks", "borda", "median_rank", "robust_rank_aggregation"]

Floats = NDArray[np.float64]
# Below this a Beta probability is computed by its logarithm, for it would soon be 0.
TINY = 1e-250


class RobustRanks(NamedTuple):
    """What robust rank aggregation says about every column.

    Parameters
    ----------
    scores : ndarray of shape (n_columns,)
        Minus the decimal logarithm of the corrected probability, before it is cut at 1.
    pvalues : ndarray of shape (n_columns,)
        The corrected probability, at most 1; 0 if it is too small for a float.

    Examples
    --------
    >>> from tamis.consensus import robust_rank_aggregation
    >>> ranks = robust_rank_aggregation([[1, 2, 3, 4], [1, 3, 2, 4], [1, 4, 3, 2]])
    >>> ranks.pvalues.round(4)
    array([0.0469, 1.    , 1.    , 1.    ])
    """

    scores: Floats
    pvalues: Floats


def borda(rankings: ArrayLike) -> Floats:
    """Mean share of the other columns that a column is ahead of, of shape (n_columns,).

    1 is for a column that is first in every list, 0 for one that is always last.

    Parameters
    ----------
    rankings : array-like of shape (n_lists, n_columns)
        One ranking per row: the rank of every column, 1 for the best. Equal ranks are ties and
        count as half a win; NaN means that a list does not have the column, which is then behind
        all that it has.

    References
    ----------
    de Borda, J.-C. (1781). Mémoire sur les élections au scrutin. Académie royale des sciences.

    Examples
    --------
    >>> from tamis.consensus import borda
    >>> borda([[1, 2, 3], [1, 3, 2]])
    array([1.  , 0.25, 0.25])
    """
    ranks = as_ranks(rankings, "borda")
    return (ranks.shape[1] - ranks.mean(axis=0)) / max(ranks.shape[1] - 1, 1)


def median_rank(rankings: ArrayLike) -> Floats:
    """Share of the other columns that a column is ahead of at its median rank.

    1 is for a median rank of 1, 0 for that of the last column. A list that is far off changes a
    median little, and a mean much.

    Parameters
    ----------
    rankings : array-like of shape (n_lists, n_columns)
        As for :func:`borda`; ties get their mean rank.

    Examples
    --------
    >>> from tamis.consensus import median_rank
    >>> median_rank([[1, 2, 3], [1, 2, 3], [3, 2, 1]])
    array([1. , 0.5, 0. ])
    """
    ranks = as_ranks(rankings, "median_rank")
    return (ranks.shape[1] - np.median(ranks, axis=0)) / max(ranks.shape[1] - 1, 1)


def robust_rank_aggregation(rankings: ArrayLike) -> RobustRanks:
    """Probability that chance puts a column so far ahead in so many lists.

    A column may be far behind in some lists and still be found: its k best ranks are compared with
    those of a column in random places, for every k, and the least likely k counts. The result is
    a :class:`RobustRanks` with `scores`, larger is better, and `pvalues`.

    Parameters
    ----------
    rankings : array-like of shape (n_lists, n_columns)
        As for :func:`borda`, but ties get their worst rank, so that the p-value stays a bound.

    Notes
    -----
    With the sorted ranks r(1) <= ... <= r(m) of a column in m lists, as shares of the number of
    columns, rho is the least of the probabilities that the k-th smallest of m uniform numbers is
    at most r(k), and the p-value is m rho, at most 1. The bound is that of Bonferroni for the m
    values of k; it is not corrected for the number of columns.

    The p-value supposes *independent* lists. For methods that look at the same rows, or draws of
    rows from one table, read it as a score.

    References
    ----------
    Kolde, R., Laur, S., Adler, P. and Vilo, J. (2012). Robust rank aggregation for gene list
    integration and meta-analysis. Bioinformatics 28, 573-580.
    https://doi.org/10.1093/bioinformatics/btr709

    Examples
    --------
    >>> from tamis.consensus import robust_rank_aggregation
    >>> ranks = robust_rank_aggregation([[1, 2, 3, 4], [1, 3, 2, 4], [4, 2, 3, 1]])
    >>> ranks.pvalues.round(3)
    array([0.469, 1.   , 1.   , 1.   ])
    """
    ranks = as_ranks(rankings, "robust_rank_aggregation", ties="max")
    n_lists, n_columns = ranks.shape
    shares = np.sort(ranks / n_columns, axis=0)
    least = np.zeros(n_columns)  # logarithm of rho, at most that of 1
    for k in range(1, n_lists + 1):
        np.minimum(least, _log_beta(shares[k - 1], k, n_lists), out=least)
    corrected = least + np.log(n_lists)
    return RobustRanks(-corrected / np.log(10), np.exp(np.minimum(corrected, 0.0)))


def _log_beta(share: Floats, k: int, n_lists: int) -> Floats:
    """Logarithm of the probability that the k-th of n uniform numbers is at most `share`."""
    from scipy.special import betainc, betaln, hyp2f1

    a, b = float(k), float(n_lists - k + 1)
    probability = betainc(a, b, share)
    small = probability < TINY
    out = np.log(np.where(small, 1.0, probability))
    if small.any():
        # DLMF 8.17.8, all of whose terms are positive.
        x = share[small]
        series = np.log(hyp2f1(a + b, 1.0, a + 1.0, x))
        out[small] = a * np.log(x) + b * np.log1p(-x) - np.log(a) - betaln(a, b) + series
    return out


def as_ranks(rankings: Any, who: str, ties: str = "average") -> Floats:
    """Rankings as ranks from 1 to the number of columns, columns that a list lacks at its end."""
    from scipy.stats import rankdata

    try:
        table = np.asarray(rankings, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{who}: expected rankings as numbers, one row of n_columns ranks per list, got "
            f"{type(rankings).__name__} of something else. Pass ranks, not names."
        ) from error
    if table.ndim != 2 or table.size == 0:
        raise InputError(
            f"{who}: expected rankings of shape (n_lists, n_columns) with at least one of each, "
            f"got shape {table.shape}. Put one ranking in every row."
        )
    return rankdata(np.where(np.isnan(table), np.inf, table), method=ties, axis=1)


def mean_agreement(ranks: Floats) -> float:
    """Mean Spearman correlation of all pairs of lists; NaN for one list or one column."""
    n_lists, n_columns = ranks.shape
    if n_lists < 2 or n_columns < 2:
        return float("nan")
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1, keepdims=True))
    unit = np.divide(centred, length, out=np.zeros_like(centred), where=length > 0)
    total = (unit.sum(axis=0) ** 2).sum() - (unit**2).sum()
    return float(total / (n_lists * (n_lists - 1)))
