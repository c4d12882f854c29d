"""Paired t test, plain or corrected for splits that overlap."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from tamis._validation import Number, check_value
from tamis.evaluation.significance._scores import SHARE, check_pair, differences, tolerance


class PairedT(NamedTuple):
    """What :func:`paired_t` found; differences are a minus b.

    Attributes
    ----------
    statistic : float
        The mean difference in standard errors.
    p_value : float
        Two-sided.
    degrees : float
        Degrees of freedom, the number of pairs minus one.
    mean : float
        Mean difference.
    standard_error : float
        Standard error of the mean difference, corrected if that was asked for.
    low, high : float
        Confidence interval of the mean difference.

    Examples
    --------
    >>> from tamis.evaluation.significance import paired_t
    >>> paired_t([0.9, 0.8, 0.9], [0.7, 0.7, 0.6])._fields[:2]
    ('statistic', 'p_value')
    """

    statistic: float
    p_value: float
    degrees: float
    mean: float
    standard_error: float
    low: float
    high: float


def paired_t(
    a: Any, b: Any, test_share: float | None = None, *, confidence: float = 0.95
) -> PairedT:
    """Paired t test of two methods, also for overlapping splits of one data set.

    Scores from random splits or folds of one table are not independent: their rows overlap. The
    plain test takes them as independent and finds differences where there are none, the more
    splits the more of them. Give `test_share` to correct the variance for it.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two methods on the same n >= 2 splits or data sets, in the same order.
    test_share : float, default=None
        Share of the rows in the test part of every split, between 0 and 1: 1/3 for splits with 2/3
        of the rows for training, 1/k for k folds. ``None`` is the plain test, for scores that are
        independent, such as one per data set.
    confidence : float, default=0.95
        Level of the interval of the mean difference.

    Returns
    -------
    PairedT
        Statistic, two-sided p-value, degrees of freedom, mean difference, its standard error and
        interval.

    Notes
    -----
    The variance of the mean of n differences with variance s² is taken as
    s² (1/n + n_test / n_train) in place of s² / n, with n - 1 degrees of freedom. The correction
    is an approximation: it takes the correlation of two splits to be the share of test rows.
    Without any difference the p-value is 1; if all differences are the same number other than 0,
    the statistic is infinite and the p-value 0. Differences below 1e-12 of the scores are rounding
    and count as 0.

    References
    ----------
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52,
    2003. https://doi.org/10.1023/A:1024068626366

    Examples
    --------
    >>> from tamis.evaluation.significance import paired_t
    >>> a, b = [0.90, 0.85, 0.88, 0.91, 0.87], [0.86, 0.84, 0.85, 0.86, 0.85]
    >>> round(paired_t(a, b).p_value, 3)
    0.013
    >>> round(paired_t(a, b, test_share=1 / 3).p_value, 3)
    0.086
    """
    who = "paired_t"
    a, b = check_pair(a, b, who)
    if test_share is not None:
        check_value(test_share, SHARE, who=who, name="test_share")
    check_value(confidence, Number(float, 0, 1, True, True), who=who, name="confidence")
    difference = differences(a, b)
    mean, degrees = float(difference.mean()), float(a.size - 1)
    overlap = 0.0 if test_share is None else test_share / (1 - test_share)
    error = float(difference.std(ddof=1) * np.sqrt(1 / a.size + overlap))
    if np.ptp(difference) <= tolerance(a, b).max():  # the same number up to rounding
        error = 0.0
    statistic = mean / error if error else float(np.copysign(np.inf, mean)) if mean else 0.0
    p_value = float(2 * stdtr(degrees, -abs(statistic)))
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * error
    return PairedT(statistic, p_value, degrees, mean, error, mean - half, mean + half)
