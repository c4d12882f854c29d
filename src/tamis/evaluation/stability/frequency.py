"""How often every feature is selected, and which ones are reliably so."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Number, check_value
from tamis.evaluation.stability import _lists


class SelectionFrequency(NamedTuple):
    """Share of the lists that select each feature, with its confidence interval.

    Attributes
    ----------
    share : ndarray of shape (n_features,)
        Share of the lists that hold the feature.
    low, high : ndarray of shape (n_features,)
        Ends of the interval.
    level : float
        Confidence of the interval.

    Examples
    --------
    >>> from tamis.evaluation.stability import selection_frequency
    >>> selection_frequency([[0], [0, 1]], n_features=2).share
    array([1. , 0.5])
    """

    share: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    level: float


def selection_frequency(sets: Any, n_features: int, level: float = 0.95) -> SelectionFrequency:
    """Share of the lists that select each feature, with its Wilson interval.

    Parameters
    ----------
    sets : iterable of lists of int, or bool array of shape (n_lists, n_features)
        Indices of the selected features of every list, or a mask such as ``support_`` of
        selectors per row.
    n_features : int
        Number of features there were to select from.
    level : float, default=0.95
        Confidence of the interval of each feature, one by one.

    Returns
    -------
    frequency : SelectionFrequency
        ``share``, ``low`` and ``high``, one number per feature, and ``level``.

    Notes
    -----
    The interval takes the lists as independent. Lists from overlapping splits of one table are
    not: read it as what other splits of this table would give, not other tables.

    References
    ----------
    Wilson (1927). Probable inference, the law of succession, and statistical inference. Journal
    of the American Statistical Association 22, 209-212.
    https://doi.org/10.1080/01621459.1927.10502953

    Examples
    --------
    >>> from tamis.evaluation.stability import selection_frequency
    >>> frequency = selection_frequency([[0, 1], [0, 2], [0, 1], [0, 1]], n_features=4)
    >>> frequency.share
    array([1.  , 0.75, 0.25, 0.  ])
    >>> frequency.low
    array([0.51, 0.30, 0.05, 0.  ])
    """
    mask = _lists.check_sets(sets, n_features, "selection_frequency")
    check_value(level, _lists.LEVEL, who="selection_frequency", name="level")
    return _wilson(mask.sum(axis=0), mask.shape[0], float(level))


def _wilson(counts: NDArray[Any], n_lists: int, level: float) -> SelectionFrequency:
    from scipy.special import ndtri

    squared = float(ndtri(0.5 + level / 2.0)) ** 2
    share = counts / n_lists
    centre = (counts + squared / 2.0) / (n_lists + squared)
    inside = counts * (1.0 - share) + squared / 4.0
    half = np.sqrt(squared * inside) / (n_lists + squared)
    # Never selected and always selected: the ends are 0 and 1, not a rounding away from them.
    low = np.where(counts == 0, 0.0, centre - half)
    high = np.where(counts == n_lists, 1.0, centre + half)
    return SelectionFrequency(share, low, high, level)


def stable_set(
    sets: Any, n_features: int, share: float = 0.5, level: float = 0.95
) -> NDArray[np.int64]:
    """Features whose selection frequency is above a share with confidence.

    Parameters
    ----------
    sets : iterable of lists of int, or bool array of shape (n_lists, n_features)
        Indices of the selected features of every list, or a mask such as ``support_`` of
        selectors per row.
    n_features : int
        Number of features there were to select from.
    share : float, default=0.5
        The lower end of the interval of :func:`selection_frequency` must exceed this.
    level : float, default=0.95
        Confidence of that interval.

    Returns
    -------
    features : ndarray of int
        Indices, the most frequent first; of equal frequencies the lower index comes first.

    Notes
    -----
    Few lists prove little: a feature selected in all of N lists has the lower end
    N / (N + z²), with z² = 3.84 for a level of 0.95. A share of 0.5 needs 4 lists at least, 0.8
    needs 16 and 0.9 needs 35.

    Examples
    --------
    >>> from tamis.evaluation.stability import stable_set
    >>> stable_set([[0, 1], [0, 2], [0, 1], [0, 1]], n_features=4).tolist()
    [0]
    """
    mask = _lists.check_sets(sets, n_features, "stable_set")
    check_value(share, Number(float, 0, 1, open_high=True), who="stable_set", name="share")
    check_value(level, _lists.LEVEL, who="stable_set", name="level")
    counts = mask.sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    low = _wilson(counts, mask.shape[0], float(level)).low
    return order[low[order] > share]
