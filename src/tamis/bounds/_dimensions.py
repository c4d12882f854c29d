"""Dimensions of selection and classification together: Lemma 7, Theorem 8, equation 1."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tamis.bounds._numbers import (
    Numbers,
    as_choice,
    as_numbers,
    check_shapes,
    first_wrong,
    plain,
)
from tamis.bounds._selections import induced_selections
from tamis.exceptions import InputError

# Inequality (5) of the proof of Lemma 7 asks for log2(d_c) >= 2 + log2(e), that is d_c >= 10.87.
SMALLEST_CLASSIFIER_VC = 11


def vc_of_selections(classifier_vc: ArrayLike, selection_bits: ArrayLike) -> Numbers:
    """VC dimension of choosing one of a number of sets of features and a classifier (Lemma 7).

    Parameters
    ----------
    classifier_vc : array-like
        VC dimension d_c of the classifiers of n features, at least 11.
    selection_bits : array-like
        Logarithm to base 2 of the number of sets of features, at least 0.

    Returns
    -------
    dimension : float or ndarray
        Upper bound ``(d_c + log2 |H_fs| + 1) log2 d_c``.

    Notes
    -----
    Step (5) of the proof needs log2 d_c >= 2 + log2 e = 3.44, that is d_c >= 10.87; the paper
    prints "log d_c > 2", but its condition d_c >= 11 is the right one.

    Examples
    --------
    >>> from tamis.bounds import vc_of_selections
    >>> vc_of_selections(16, selection_bits=[0, 10])
    array([ 68., 108.])
    """
    classes = as_numbers("classifier_vc", classifier_vc, low=0)
    if np.any(classes < SMALLEST_CLASSIFIER_VC):
        raise InputError(
            f"tamis.bounds: classifier_vc must be at least {SMALLEST_CLASSIFIER_VC}, got "
            f"{first_wrong(classes, classes < SMALLEST_CLASSIFIER_VC)}. The proof needs "
            "log2(classifier_vc) >= 2 + log2(e). A VC dimension is an upper bound too: use 11 for "
            "a smaller class."
        )
    bits = as_numbers("selection_bits", selection_bits, low=0)
    check_shapes(classes, bits)
    return plain((classes + bits + 1) * np.log2(classes))


def joint_vc_dimension(
    classifier_vc: ArrayLike, selector_vc: ArrayLike, n_candidates: ArrayLike
) -> Numbers:
    """VC dimension of selecting features by a rule on meta-features, and classifying (Theorem 8).

    Parameters
    ----------
    classifier_vc : array-like
        VC dimension d_c of the classifiers of n features, at least 11; n + 1 for linear ones.
    selector_vc : array-like
        VC dimension d_s of the rules on k meta-features; k + 1 for linear ones, 2^k for all rules
        on binary meta-features.
    n_candidates : array-like
        Number N of features to choose from, at least 1.

    Returns
    -------
    dimension : float or ndarray
        Upper bound (d_c + d_s log2(e N / d_s) + 1) log2 d_c; see :func:`induced_selections` for
        N < d_s.

    Notes
    -----
    For d_c below 11 the proof does not hold, and the function refuses. A class of smaller dimension
    is covered by the bound for 11.

    Examples
    --------
    Linear classifiers of 1,000 features, linear rules on 4 meta-features:

    >>> from tamis.bounds import direct_vc_dimension, joint_vc_dimension
    >>> joint_vc_dimension(classifier_vc=1001, selector_vc=5, n_candidates=100_000)
    10771.1
    >>> direct_vc_dimension(classifier_vc=1001, n_candidates=100_000, n_selected=1000)
    90452.7
    """
    return vc_of_selections(
        classifier_vc, induced_selections(selector_vc, n_candidates, unit="bits")
    )


def direct_vc_dimension(
    classifier_vc: ArrayLike, n_candidates: ArrayLike, n_selected: ArrayLike
) -> Numbers:
    """VC dimension of selecting any n of N features, and classifying (equation 1).

    Parameters
    ----------
    classifier_vc : array-like
        VC dimension d_c of the classifiers of n features, at least 11.
    n_candidates : array-like
        Number N of features to choose from, at least `n_selected`.
    n_selected : array-like
        Number n of features selected, at least 1.

    Returns
    -------
    dimension : float or ndarray
        Upper bound (d_c + log2 C(N, n) + 1) log2 d_c.

    Examples
    --------
    >>> from tamis.bounds import direct_vc_dimension
    >>> direct_vc_dimension(16, n_candidates=[16, 1_000_000], n_selected=15)
    array([  84. , 1102.9])
    """
    from scipy.special import betaln

    total, chosen = as_choice(n_candidates, n_selected)
    # C(N, n) = 1 / ((N + 1) B(N - n + 1, n + 1)); the beta function keeps the digits that a
    # difference of two gamma functions of large numbers would lose. For n = N rounding may give
    # a little less than 0.
    nats = np.maximum(-np.log1p(total) - betaln(total - chosen + 1, chosen + 1), 0.0)
    return vc_of_selections(classifier_vc, nats / math.log(2))
