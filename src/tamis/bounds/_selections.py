"""How many sets of features a way of choosing can reach: g(J) and Lemmas 1, 2 and 6."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tamis.bounds._numbers import (
    Numbers,
    as_choice,
    as_meta_values,
    as_numbers,
    check_shapes,
    in_unit,
    plain,
)


def selection_term(n_steps: ArrayLike, n_meta_values: ArrayLike | None = None) -> Numbers:
    """What a search by Mufasa adds to the bound: g(J) of Theorem 4.

    Parameters
    ----------
    n_steps : array-like
        Number J of steps of Mufasa, at least 1.
    n_meta_values : array-like or None, default=None
        Number ``|MF|`` of points of the space of meta-features; ``None`` or ``math.inf``: infinite.

    Returns
    -------
    nats : float or ndarray
        ``min(J ln 2, ln(J |MF|))``.

    Notes
    -----
    Lemma 2 would allow (J - 1) ln 2; the theorem prints J ln 2, which is kept.

    Examples
    --------
    >>> from tamis.bounds import selection_term
    >>> selection_term([2, 10, 1000], 4)
    array([1.386, 3.689, 8.294])
    >>> selection_term(1000)
    693.147
    """
    steps = as_numbers("n_steps", n_steps, low=1)
    values = as_meta_values(n_meta_values)
    check_shapes(steps, values)
    return plain(np.minimum(steps * math.log(2), np.log(steps) + np.log(values)))


def direct_selection_term(n_candidates: ArrayLike, n_selected: ArrayLike) -> Numbers:
    """What choosing any n of N features adds to the bound: n ln N, in the place of g(J).

    Parameters
    ----------
    n_candidates : array-like
        Number N of features to choose from, at least `n_selected`.
    n_selected : array-like
        Number n of features chosen, at least 1.

    Returns
    -------
    nats : float or ndarray
        n ln N.

    Examples
    --------
    >>> from tamis.bounds import direct_selection_term
    >>> direct_selection_term(n_candidates=1e6, n_selected=100)
    1381.55
    """
    total, chosen = as_choice(n_candidates, n_selected)
    return plain(chosen * np.log(total))


def selection_count_finite(
    n_steps: ArrayLike, n_meta_values: ArrayLike, *, unit: str = "count"
) -> Numbers:
    """Sets of features within reach of Mufasa, for finitely many meta-feature values (Lemma 1).

    Parameters
    ----------
    n_steps : array-like
        Number J of steps, at least 1.
    n_meta_values : array-like
        Number ``|MF|`` of points of the space of meta-features, at least 1.
    unit : {"count", "nats", "bits"}, default="count"
        The number itself, its natural logarithm, or its logarithm to base 2.

    Returns
    -------
    count : float or ndarray
        ``J |MF|``.

    Examples
    --------
    >>> from tamis.bounds import selection_count_finite
    >>> selection_count_finite(50, 1408)
    70400.0
    >>> selection_count_finite(50, 1408, unit="bits")
    16.1
    """
    steps = as_numbers("n_steps", n_steps, low=1)
    values = as_meta_values(n_meta_values)
    check_shapes(steps, values)
    if unit == "count":
        with np.errstate(over="ignore"):
            return plain(steps * values)
    return in_unit(np.log2(steps) + np.log2(values), unit)


def selection_count_any(n_steps: ArrayLike, *, unit: str = "count") -> Numbers:
    """Sets of features within reach of Mufasa, whatever the meta-features are (Lemma 2).

    Given the random numbers, only the J - 1 answers to "is it better?" depend on the data.

    Parameters
    ----------
    n_steps : array-like
        Number J of steps, at least 1.
    unit : {"count", "nats", "bits"}, default="count"
        The number itself, its natural logarithm, or its logarithm to base 2.

    Returns
    -------
    count : float or ndarray
        2^(J - 1); as a count infinite for more than 1,024 steps, which a float does not hold.

    Examples
    --------
    >>> from tamis.bounds import selection_count_any
    >>> selection_count_any([1, 2, 11])
    array([1., 2., 1024.])
    >>> selection_count_any(2000, unit="bits")
    1999.0
    """
    return in_unit(as_numbers("n_steps", n_steps, low=1) - 1, unit)


def induced_selections(
    selector_vc: ArrayLike, n_candidates: ArrayLike, *, unit: str = "count"
) -> Numbers:
    """Sets of features that a class of rules on meta-features can select (Lemma 6).

    Parameters
    ----------
    selector_vc : array-like
        VC dimension d_s of the class of rules, at least 0.
    n_candidates : array-like
        Number N of features, at least 1.
    unit : {"count", "nats", "bits"}, default="count"
        The number itself, its natural logarithm, or its logarithm to base 2.

    Returns
    -------
    count : float or ndarray
        (e N / d_s)^d_s if N >= d_s, otherwise 2^N, all sets. As a count it may be infinite.

    Notes
    -----
    The lemma rests on the lemma of Sauer, which needs N >= d_s; the paper leaves that out. For N
    below about 3 d_s, 2^N would be smaller too; there the printed form is kept.

    Examples
    --------
    >>> from tamis.bounds import induced_selections
    >>> induced_selections(1, 100)  # thresholds on a line select 101 sets
    271.8
    >>> induced_selections(5, 100_000, unit="bits")
    78.652
    """
    rules = as_numbers("selector_vc", selector_vc, low=0)
    total = as_numbers("n_candidates", n_candidates, low=1)
    check_shapes(rules, total)
    shatters = rules > total
    # A class of dimension 0 holds one rule as far as the features can tell: 0 bits.
    safe = np.where(rules > 0, rules, 1.0)
    bits = rules * (np.log2(total / safe) + math.log2(math.e))
    return in_unit(np.where(shatters, total, bits), unit)
