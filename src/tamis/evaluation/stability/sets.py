"""Stability of selected sets, and how often each feature is selected."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from tamis._validation import Number, check_value
from tamis.evaluation.stability import lists
from tamis.evaluation.stability.rankings import ratio_of_divergences

# Columns multiplied at once: float32 counts stay exact, and the copy of the mask small.
TILE = 65_536


class StabilityInterval(NamedTuple):
    """A stability with its confidence interval.

    Attributes
    ----------
    value, low, high : float
        The estimate, and the ends of the interval.
    level : float
        Confidence of the interval.

    Examples
    --------
    >>> from tamis.evaluation.stability import StabilityInterval
    >>> StabilityInterval(0.8, 0.7, 0.9, 0.95).value
    0.8
    """

    value: float
    low: float
    high: float
    level: float


def kuncheva(sets: Any, n_features: int) -> float:
    """Kuncheva's consistency index: overlap of sets of one size, corrected for chance.

    Parameters
    ----------
    sets : iterable of lists of int, or bool array of shape (n_lists, n_features)
        Indices of the selected features of every list, or masks such as ``support_``. All of the
        same size.
    n_features : int
        Number of features there were to select from.

    Returns
    -------
    stability : float
        1 for identical sets, 0 on average for random ones.

    Notes
    -----
    Mean over pairs of (r n - k²) / (k (n - k)) for k of n features with r in common. If no or all
    features are selected, 1.

    References
    ----------
    Kuncheva (2007). A stability index for feature selection. Artificial Intelligence and
    Applications, 390-395.

    Examples
    --------
    >>> from tamis.evaluation.stability import kuncheva
    >>> kuncheva([[0, 1, 2], [0, 1, 3]], n_features=10)
    0.52
    """
    mask = lists.check_sets(sets, n_features, "kuncheva")
    size = lists.check_equal_sizes(mask, "kuncheva")
    if size in (0, n_features):
        return 1.0
    counts = mask.sum(axis=0)
    # Pairs of lists that share a feature, over all features, are the sizes of all overlaps.
    n_pairs = mask.shape[0] * (mask.shape[0] - 1)
    overlap = float((counts * (counts - 1)).sum()) / n_pairs
    return (overlap * n_features - size**2) / (size * (n_features - size))


def nogueira(sets: Any, n_features: int, *, level: float = 0.95) -> StabilityInterval:
    """Stability of Nogueira, Sechidis and Brown with its confidence interval.

    The measure to use if in doubt: sets may differ in size, it is corrected for chance, and it
    comes with an interval. For sets of one size the value is that of :func:`kuncheva`.

    Parameters
    ----------
    sets : iterable of lists of int, or bool array of shape (n_lists, n_features)
        Indices of the selected features of every list, or masks such as ``support_``.
    n_features : int
        Number of features there were to select from.
    level : float, default=0.95
        Confidence of the interval.

    Returns
    -------
    stability : StabilityInterval
        ``value``, ``low``, ``high`` and ``level``. The value is 1 for identical sets and 0 on
        average for random ones.

    Notes
    -----
    The value is 1 - mean(s²) / ((k/d) (1 - k/d)) for the unbiased variances s² of the d selection
    indicators and the mean set size k; 1 if no or all features are selected. The interval is
    Student's, not cut at 1, with the standard deviation of the jackknife: with 5 lists it holds in
    96 to 99% of simulations, the normal one of the paper in 67 to 82%. It takes the lists as
    independent: for lists from overlapping splits of one table it is narrower than it should be.

    References
    ----------
    Nogueira, Sechidis and Brown (2018). On the stability of feature selection algorithms. Journal
    of Machine Learning Research 18 (174), 1-54.

    Examples
    --------
    >>> from tamis.evaluation.stability import nogueira
    >>> stability = nogueira([[0, 1], [0, 1, 2], [0, 3]], n_features=10)
    >>> stability.value, stability.low, stability.high
    (0.44, -0.91, 1.79)
    """
    mask = lists.check_sets(sets, n_features, "nogueira")
    check_value(level, lists.LEVEL, who="nogueira", name="level")
    n_lists, counts = mask.shape[0], mask.sum(axis=0)
    value = _nogueira(counts[None, :], n_lists)[0]
    half = float(stdtrit(n_lists - 1, 0.5 + level / 2.0)) * _deviation(mask, counts, value)
    return StabilityInterval(float(value), float(value - half), float(value + half), float(level))


def _nogueira(counts: NDArray[Any], n_lists: int) -> NDArray[np.float64]:
    """Nogueira's estimate for rows of counts: how many of the lists hold each feature."""
    n = counts.shape[1]
    share = counts.sum(axis=1) / (n_lists * n)
    spread = share * (1.0 - share)
    unstable = (counts * (n_lists - counts)).sum(axis=1) / (n_lists * (n_lists - 1) * n)
    return 1.0 - unstable / np.where(spread > 0, spread, 1.0)


def _deviation(mask: NDArray[np.bool_], counts: NDArray[Any], value: float) -> float:
    """Standard deviation of the estimate by leaving out every list; of two, how far from 1."""
    n_lists = mask.shape[0]
    if n_lists == 2:
        return abs(1.0 - value) / 2.0
    without = np.array([_nogueira((counts - row)[None, :], n_lists - 1)[0] for row in mask])
    # Lists that do not differ leave exactly nothing.
    without -= without[0]
    return float(np.sqrt((n_lists - 1) / n_lists * ((without - without.mean()) ** 2).sum()))


def jaccard(sets: Any) -> float:
    """Mean over all pairs of sets of what they share over what they hold together.

    Parameters
    ----------
    sets : iterable of lists of int, or bool array of shape (n_lists, n_features)
        Indices of the selected features of every list, or masks such as ``support_``.

    Returns
    -------
    stability : float
        1 for identical sets, 0 for sets without a common feature. Not corrected for chance: larger
        sets overlap more, so compare values of one set size only.

    Notes
    -----
    Two empty sets are identical: 1.

    Examples
    --------
    >>> from tamis.evaluation.stability import jaccard
    >>> jaccard([[0, 1, 2], [1, 2, 3], [0, 1, 2]])
    0.67
    """
    mask = lists.mask_of_sets(sets, None, "jaccard")
    n_lists, n = mask.shape
    shared = np.zeros((n_lists, n_lists))
    for first in range(0, n, TILE):
        tile = mask[:, first : first + TILE].astype(np.float32)
        shared += tile @ tile.T
    first_of_pair, second = np.triu_indices(n_lists, 1)
    sizes = mask.sum(axis=1)
    common = shared[first_of_pair, second]
    union = sizes[first_of_pair] + sizes[second] - common
    return float(np.where(union > 0, common / np.maximum(union, 1), 1.0).mean())


def jensen_shannon_sets(sets: Any, n_features: int) -> float:
    """Jensen-Shannon index of sets: :func:`jensen_shannon` where the order inside does not count.

    Parameters
    ----------
    sets : iterable of lists of int, or bool array of shape (n_lists, n_features)
        Indices of the selected features of every list, or masks such as ``support_``. All of the
        same size.
    n_features : int
        Number of features there were to select from.

    Returns
    -------
    stability : float
        In [0, 1]: 1 for identical sets. Not corrected for chance as :func:`kuncheva` is: N sets
        without any common feature give 1 - log(N) / log(n / k), which is large when few of many
        features are selected. Say N beside the value.

    Notes
    -----
    Every selected feature has 1/k, and D* = log(n / k). If no or all features are selected, 1.

    References
    ----------
    Guzmán-Martínez and Alaiz-Rodríguez (2011). Feature selection stability assessment based on the
    Jensen-Shannon divergence. ECML PKDD 2011, 597-612.

    Examples
    --------
    >>> from tamis.evaluation.stability import jensen_shannon_sets
    >>> jensen_shannon_sets([[0, 1], [0, 2]], n_features=8)
    0.75
    """
    mask = lists.check_sets(sets, n_features, "jensen_shannon_sets")
    size = lists.check_equal_sizes(mask, "jensen_shannon_sets")
    if size in (0, n_features):
        return 1.0
    counts = mask.sum(axis=0)
    if not (counts % mask.shape[0]).any():
        return 1.0
    mean = counts / (mask.shape[0] * size)
    return ratio_of_divergences(mean, float(np.log(n_features / size)))


class SelectionFrequency(NamedTuple):
    """Share of the lists that select each feature, with its confidence interval.

    Attributes
    ----------
    share, low, high : ndarray of shape (n_features,)
        Share of the lists that hold the feature, and the ends of its interval.
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
        Indices of the selected features of every list, or masks such as ``support_``.
    n_features : int
        Number of features there were to select from.
    level : float, default=0.95
        Confidence of the interval of each feature, one by one.

    Notes
    -----
    The interval takes the lists as independent. For overlapping splits of one table, read it as
    what other splits of this table would give, not other tables.

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
    mask = lists.check_sets(sets, n_features, "selection_frequency")
    check_value(level, lists.LEVEL, who="selection_frequency", name="level")
    return wilson(mask.sum(axis=0), mask.shape[0], float(level))


def wilson(counts: NDArray[Any], n_lists: int, level: float) -> SelectionFrequency:
    """Shares of `n_lists` with Wilson's interval, one per feature; one list is enough."""
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
        Indices of the selected features of every list, or masks such as ``support_``.
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
    A feature selected in all of N lists has the lower end N / (N + z²), with z² = 3.84 for a level
    of 0.95: a share of 0.5 needs 4 lists at least, 0.8 needs 16 and 0.9 needs 35.

    Examples
    --------
    >>> from tamis.evaluation.stability import stable_set
    >>> stable_set([[0, 1], [0, 2], [0, 1], [0, 1]], n_features=4).tolist()
    [0]
    """
    mask = lists.check_sets(sets, n_features, "stable_set")
    check_value(share, Number(float, 0, 1, open_high=True), who="stable_set", name="share")
    check_value(level, lists.LEVEL, who="stable_set", name="level")
    counts = mask.sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    low = wilson(counts, mask.shape[0], float(level)).low
    return order[low[order] > share]
