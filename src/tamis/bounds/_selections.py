"""Sets of features within reach, and dimensions: g(J), Lemmas 1, 2, 6, 7, Theorem 8, equation 1."""

from __future__ import annotations

import math
import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln

from tamis.exceptions import InputError

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = float | Floats


def selection_term(n_steps: ArrayLike, n_meta_values: ArrayLike | None = None) -> Numbers:
    """What a search by Mufasa adds to the bound: g(J) of Theorem 4.

    It is ``min(J ln 2, ln(J |MF|))`` in nats, as printed; Lemma 2 would allow (J - 1) ln 2.

    Parameters
    ----------
    n_steps, n_meta_values : array-like
        As in :func:`mufasa_bound`.

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
    n_candidates, n_selected : array-like
        As in :func:`direct_bound`.

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
    """Sets of features within reach of Mufasa, ``J |MF|`` for finitely many values (Lemma 1).

    Parameters
    ----------
    n_steps, n_meta_values : array-like
        As in :func:`mufasa_bound`.
    unit : {"count", "nats", "bits"}, default="count"
        The number itself, its natural logarithm, or its logarithm to base 2.

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

    Given the random numbers, only the J - 1 answers to "is it better?" depend on the data, hence
    2^(J - 1); as a count infinite for more than 1,024 steps, which a float does not hold.

    Parameters
    ----------
    n_steps : array-like
        Number J of steps, at least 1.
    unit : {"count", "nats", "bits"}, default="count"
        As in :func:`selection_count_finite`.

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

    They are (e N / d_s)^d_s if N >= d_s, otherwise 2^N, all sets. As a count it may be infinite.
    The proof rests on the lemma of Sauer, which needs N >= d_s; the paper leaves that out.

    Parameters
    ----------
    selector_vc : array-like
        VC dimension d_s of the class of rules, at least 0.
    n_candidates : array-like
        Number N of features, at least 1.
    unit : {"count", "nats", "bits"}, default="count"
        As in :func:`selection_count_finite`.

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


def vc_of_selections(classifier_vc: ArrayLike, selection_bits: ArrayLike) -> Numbers:
    """VC dimension of choosing one of a number of sets of features and a classifier (Lemma 7).

    It is at most ``(d_c + log2 |H_fs| + 1) log2 d_c``. Step (5) of the proof needs log2 d_c >= 2 +
    log2 e = 3.44, that is d_c >= 10.87; the paper prints "log d_c > 2", but its condition d_c >= 11
    is the right one.

    Parameters
    ----------
    classifier_vc : array-like
        VC dimension d_c of the classifiers of n features, at least 11; a class of smaller
        dimension is covered by the bound for 11.
    selection_bits : array-like
        Logarithm to base 2 of the number of sets of features, at least 0.

    Examples
    --------
    >>> from tamis.bounds import vc_of_selections
    >>> vc_of_selections(16, selection_bits=[0, 10])
    array([ 68., 108.])
    """
    remedy = (
        " The proof needs log2(classifier_vc) >= 2 + log2(e). A VC dimension is an upper bound too:"
        " use 11 for a smaller class."
    )
    classes = as_numbers("classifier_vc", classifier_vc, low=11, remedy=remedy)
    bits = as_numbers("selection_bits", selection_bits, low=0)
    check_shapes(classes, bits)
    return plain((classes + bits + 1) * np.log2(classes))


def joint_vc_dimension(
    classifier_vc: ArrayLike, selector_vc: ArrayLike, n_candidates: ArrayLike
) -> Numbers:
    """VC dimension of selecting features by a rule on meta-features, and classifying (Theorem 8).

    It is at most (d_c + d_s log2(e N / d_s) + 1) log2 d_c; see :func:`induced_selections` for
    N < d_s.

    Parameters
    ----------
    classifier_vc : array-like
        As in :func:`vc_of_selections`; n + 1 for linear classifiers.
    selector_vc : array-like
        VC dimension d_s of the rules on k meta-features; k + 1 for linear ones, 2^k for all rules
        on binary meta-features.
    n_candidates : array-like
        Number N of features to choose from, at least 1.

    Examples
    --------
    Section 7.2: linear classifiers of 1,000 of 100,000 features, with linear rules on k = 4
    meta-features, any rule on k = 4 binary ones, and any choice of features:

    >>> from tamis.bounds import direct_vc_dimension, joint_vc_dimension
    >>> joint_vc_dimension(classifier_vc=1001, selector_vc=[4 + 1, 2**4], n_candidates=100_000)
    array([10771.1, 12228.2])
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

    It is at most (d_c + log2 C(N, n) + 1) log2 d_c.

    Parameters
    ----------
    classifier_vc : array-like
        As in :func:`vc_of_selections`.
    n_candidates, n_selected : array-like
        As in :func:`direct_bound`.

    Examples
    --------
    >>> from tamis.bounds import direct_vc_dimension
    >>> direct_vc_dimension(16, n_candidates=[16, 1_000_000], n_selected=15)
    array([  84. , 1102.9])
    """
    total, chosen = as_choice(n_candidates, n_selected)
    # C(N, n) = 1 / ((N + 1) B(N - n + 1, n + 1)); the beta function keeps the digits that a
    # difference of two gamma functions of large numbers would lose. For n = N rounding may give
    # a little less than 0.
    nats = np.maximum(-np.log1p(total) - betaln(total - chosen + 1, chosen + 1), 0.0)
    return vc_of_selections(classifier_vc, nats / math.log(2))


def as_numbers(
    name: str,
    value: Any,
    *,
    low: float,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    or_infinite: bool = False,
    remedy: str = "",
) -> Floats:
    """Give the argument as float64, if all of it lies in the interval."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "iufO":
            raise TypeError("bools, texts, dates and complex numbers are no numbers here")
        numbers = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"tamis.bounds: {name} must be a number or an array of numbers, got {value!r}."
        ) from None
    inside = (numbers > low) if open_low else (numbers >= low)
    inside &= (numbers < high) if open_high else (numbers <= high)
    inside &= or_infinite | np.isfinite(numbers)
    if not inside.all():
        expected = f"above {low:g}" if open_low else f"at least {low:g}"
        if math.isfinite(high):
            expected += f" and {'below' if open_high else 'at most'} {high:g}"
        if not or_infinite:
            expected = f"finite and {expected}"
        wrong = float(numbers[~inside][0])
        raise InputError(f"tamis.bounds: {name} must be {expected}, got {wrong!r}.{remedy}")
    return numbers


def as_meta_values(value: Any) -> Floats:
    """Number of meta-feature values; None, and numbers beyond float64, count as infinite."""
    endless = value is None or (isinstance(value, int) and value > sys.float_info.max)
    return as_numbers("n_meta_values", math.inf if endless else value, low=1, or_infinite=True)


def as_choice(n_candidates: Any, n_selected: Any) -> tuple[Floats, Floats]:
    total = as_numbers("n_candidates", n_candidates, low=1)
    chosen = as_numbers("n_selected", n_selected, low=1)
    check_shapes(total, chosen)
    total, chosen = np.broadcast_arrays(total, chosen)
    wrong = chosen > total
    if wrong.any():
        raise InputError(
            "tamis.bounds: n_selected must be at most n_candidates, got "
            f"{chosen[wrong][0]:g} of {total[wrong][0]:g}."
        )
    return total, chosen


def check_shapes(*arrays: Floats) -> None:
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InputError(
            "tamis.bounds: expected numbers, or arrays whose shapes broadcast together, got the "
            f"shapes {shapes}."
        ) from None


def in_unit(bits: Floats, unit: str) -> Numbers:
    if unit == "count":
        with np.errstate(over="ignore"):
            return plain(np.exp2(bits))
    if unit not in ("bits", "nats"):
        raise InputError(f"tamis.bounds: unit must be 'count' or 'nats' or 'bits', got {unit!r}.")
    return plain(bits if unit == "bits" else bits * math.log(2))


def plain(numbers: Any) -> Numbers:
    """Python float for a scalar."""
    return float(numbers) if np.ndim(numbers) == 0 else np.asarray(numbers)
