"""Bounds on the error: Theorems 4 and 5 and what stands beside them."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tamis.bounds._selections import (
    Numbers,
    as_numbers,
    check_shapes,
    direct_selection_term,
    plain,
    selection_term,
)


def mufasa_bound(
    train_error: ArrayLike,
    n_samples: ArrayLike,
    fat_dimension: ArrayLike,
    margin: ArrayLike,
    confidence: ArrayLike,
    n_steps: ArrayLike,
    n_meta_values: ArrayLike | None = None,
) -> Numbers:
    """Error of a classifier on features that Mufasa chose (Theorem 4).

    With probability `confidence` over the training samples, the error of every classifier of the
    class on new samples is at most the value returned, whatever the number of candidate features:
    train_error + sqrt(2/m (d ln(34 e m / d) log2(578 m) + ln(8 / (margin delta)) + g(J))), with
    g(J) of :func:`selection_term`.

    Parameters
    ----------
    train_error : array-like
        Share of training samples that are wrong or have a margin below `margin`, in [0, 1].
    n_samples : array-like
        Number m of training samples, at least 1.
    fat_dimension : array-like
        Fat-shattering dimension d of the class of classifiers at ``margin / 32``, above 0. An upper
        bound of it will do, such as the n + 1 of linear classifiers of n features.
    margin : array-like
        Margin, in (0, 1].
    confidence : array-like
        Probability with which the bound holds, in (0, 1), such as 0.95: the paper's 1 - delta.
    n_steps : array-like
        Number J of steps of Mufasa, at least 1.
    n_meta_values : array-like or None, default=None
        Number ``|MF|`` of points of the space of meta-features, at least 1;
        :attr:`tamis.meta.MetaSpace.size` knows it. ``None`` or ``math.inf``: infinite.

    Notes
    -----
    The theorem is for two classes and a space of meta-features chosen before the data were seen.
    With restarts or several proposals per step, J is the number of all sets evaluated. A d above
    34 m counts as 34 m, where the printed formula would begin to fall; the bound is vacuous there.

    Examples
    --------
    >>> from tamis.bounds import bartlett_bound, mufasa_bound
    >>> mufasa_bound(0.02, 1_000_000, 100, margin=0.5, confidence=0.95, n_steps=50,
    ...              n_meta_values=[1408, float("inf")])
    array([0.30284, 0.30293])
    >>> bartlett_bound(0.02, 1_000_000, 100, margin=0.5, confidence=0.95)  # features fixed
    0.30280
    """
    term = selection_term(n_steps, n_meta_values)
    return union_bound(train_error, n_samples, fat_dimension, margin, confidence, term)


def bartlett_bound(
    train_error: ArrayLike,
    n_samples: ArrayLike,
    fat_dimension: ArrayLike,
    margin: ArrayLike,
    confidence: ArrayLike,
) -> Numbers:
    """Error of a classifier on features fixed before the data are seen (Theorem 5).

    It is the bound of Bartlett (1998), on which the others rest: :func:`mufasa_bound` without g(J).

    Parameters
    ----------
    train_error, n_samples, fat_dimension, margin, confidence : array-like
        As in :func:`mufasa_bound`.

    Examples
    --------
    >>> from tamis.bounds import bartlett_bound
    >>> bartlett_bound(0.02, [10_000, 1_000_000], 10, margin=0.5, confidence=0.95)
    array([0.7375, 0.1167])
    """
    return union_bound(train_error, n_samples, fat_dimension, margin, confidence, 0.0)


def union_bound(
    train_error: ArrayLike,
    n_samples: ArrayLike,
    fat_dimension: ArrayLike,
    margin: ArrayLike,
    confidence: ArrayLike,
    selection_nats: ArrayLike,
) -> Numbers:
    """Error of a classifier on one of a number of sets of features (proof of Theorem 4).

    It holds for every way to choose one of sets that were listed before the data are seen, such as
    sets made by ten experts (ln 10). It is :func:`mufasa_bound` with `selection_nats` for g(J).

    Parameters
    ----------
    train_error, n_samples, fat_dimension, margin, confidence : array-like
        As in :func:`mufasa_bound`.
    selection_nats : array-like
        Natural logarithm of the number of sets, at least 0.

    Examples
    --------
    >>> from math import log
    >>> from tamis.bounds import union_bound
    >>> union_bound(0.02, 1_000_000, 10, 0.5, 0.95, selection_nats=[0.0, log(10)])
    array([0.11669, 0.11671])
    """
    error = as_numbers("train_error", train_error, low=0, high=1)
    samples = as_numbers("n_samples", n_samples, low=1)
    fat = as_numbers("fat_dimension", fat_dimension, low=0, open_low=True)
    gamma = as_numbers("margin", margin, low=0, high=1, open_low=True)
    sure = as_numbers("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    chosen = as_numbers("selection_nats", selection_nats, low=0)
    check_shapes(error, samples, fat, gamma, sure, chosen)
    fat = np.minimum(fat, 34 * samples)
    capacity = fat * (np.log(34 * samples / fat) + 1) * np.log2(578 * samples)
    doubt = math.log(8) - np.log(gamma) - np.log1p(-sure)
    return plain(error + np.sqrt(2 / samples * (capacity + doubt + chosen)))


def direct_bound(
    train_error: ArrayLike,
    n_samples: ArrayLike,
    fat_dimension: ArrayLike,
    margin: ArrayLike,
    confidence: ArrayLike,
    n_candidates: ArrayLike,
    n_selected: ArrayLike,
) -> Numbers:
    """Error of a classifier on features chosen freely, any n of N.

    The paper compares Theorem 4 with it, after Gilad-Bachrach, Navot and Tishby (2004). It is
    :func:`union_bound` with n ln N, since there are at most N^n sets of n features.

    Parameters
    ----------
    train_error, n_samples, fat_dimension, margin, confidence : array-like
        As in :func:`mufasa_bound`.
    n_candidates : array-like
        Number N of features to choose from, at least `n_selected`.
    n_selected : array-like
        Number n of features chosen, at least 1.

    Examples
    --------
    >>> from tamis.bounds import direct_bound, mufasa_bound
    >>> direct_bound(0.02, 1_000_000, 101, 0.5, 0.95, n_candidates=1e6, n_selected=100)
    0.309
    """
    term = direct_selection_term(n_candidates, n_selected)
    return union_bound(train_error, n_samples, fat_dimension, margin, confidence, term)
