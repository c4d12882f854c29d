"""Generalisation bounds for features chosen by meta-features: section 7 of Krupka et al. (2008).

Choosing features by a search of few meta-features can overfit far less than choosing them one by
one, because far fewer sets of features are within reach. These functions say how much less.
Every argument may be an array; arguments broadcast, and scalars give a float. In Theorems 4 and 5,
ln is the natural logarithm and log that to base 2; in section 7.2 every log is to base 2.

An error above 1 says nothing (the bound is vacuous); it is returned as it is, because it may still
be compared with another one. With a few thousand samples most of these bounds are vacuous.

=================================  ==============  ================================================
function                           in the paper    what it bounds
=================================  ==============  ================================================
:func:`mufasa_bound`               Theorem 4       error with features found by Mufasa
:func:`bartlett_bound`             Theorem 5       error with features fixed beforehand
:func:`union_bound`                proof of 4      error with one of so many sets of features
:func:`direct_bound`               after 4         error with any n of N features
:func:`selection_term`             g(J)            what Mufasa adds inside the root
:func:`direct_selection_term`      n ln N          what choosing any n of N adds there
:func:`selection_count_finite`     Lemma 1         sets within reach, few meta-feature values
:func:`selection_count_any`        Lemma 2         sets within reach, any meta-features
:func:`induced_selections`         Lemma 6         sets that a class of rules can select
:func:`vc_of_selections`           Lemma 7         VC dimension, so many sets
:func:`joint_vc_dimension`         Theorem 8       VC dimension, rule on meta-features
:func:`direct_vc_dimension`        equation 1      VC dimension, any n of N features
=================================  ==============  ================================================

References
----------
Krupka, E., Navot, A., Tishby, N. (2008). Learning to Select Features using their Properties.
Journal of Machine Learning Research 9, 2349-2376.

Examples
--------
The example of section 7.1 compares the two terms for the digits of section 6.2, which took J = 50
steps. It says "n ln N = J n ln(2n) = 375000" for N = n 2^J candidates, but the logarithm of n 2^J
is ln n + J ln 2. The paper does not print n; J n ln(2n) is 375,000 at n = 988, so about 1,000:

>>> from math import log
>>> from tamis.bounds import direct_selection_term, selection_term
>>> n_steps, n = 50, 1000
>>> round(n_steps * n * log(2 * n)), round(n_steps * 988 * log(2 * 988))  # as printed
(380045, 374888)
>>> round(direct_selection_term(n * 2**n_steps, n))  # n (ln n + J ln 2)
41565

Against it stands ``ln(J |MF|) = 11``. The paper does not print ``|MF|`` either; 11 asks for 1,197
values of the meta-features (rounded, for 727 to 1,974). With i inputs there are only i + 1 shares
of positive ones, so numInputs (1 to 8) and percentPos make 44 pairs; with shiftInvLen (1 to 8) that
is 352, and with three to five values of scatter 1,056 to 1,760:

>>> pairs = sum(n_inputs + 1 for n_inputs in range(1, 9))
>>> selection_term(n_steps, [pairs * 8 * n_scatter for n_scatter in (3, 4, 5)])
array([10.9, 11.2, 11.4])

Had each of 101 percentages counted, and 26 values of scatter, it would be 16. With real numbers it
is J ln 2:

>>> selection_term(n_steps, 8 * 101 * 8 * 26), selection_term(n_steps)
(15.9, 34.7)

The examples of section 7.2, for 1,000 of 100,000 features and linear classifiers (their VC
dimension is n + 1): any choice of features; a linear rule on k = 4 meta-features (k + 1); any rule
on k = 4 binary meta-features (2^k).

>>> from tamis.bounds import direct_vc_dimension, joint_vc_dimension
>>> direct_vc_dimension(classifier_vc=1001, n_candidates=100_000, n_selected=1000)
90452.7
>>> joint_vc_dimension(classifier_vc=1001, selector_vc=[4 + 1, 2**4], n_candidates=100_000)
array([10771.1, 12228.2])
"""

from __future__ import annotations

import math
import sys
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.exceptions import InputError

__all__ = [
    "bartlett_bound",
    "direct_bound",
    "direct_selection_term",
    "direct_vc_dimension",
    "induced_selections",
    "joint_vc_dimension",
    "mufasa_bound",
    "selection_count_any",
    "selection_count_finite",
    "selection_term",
    "union_bound",
    "vc_of_selections",
]

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = float | Floats

# Inequality (5) of the proof of Lemma 7 asks for log2(d_c) >= 2 + log2(e), that is d_c >= 10.87.
SMALLEST_CLASSIFIER_VC = 11


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
    class on new samples is at most the value returned. The number of candidate features does not
    matter.

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
        Probability with which the bound holds, in (0, 1), such as 0.95: the paper's 1 - delta,
        not its delta.
    n_steps : array-like
        Number J of steps of Mufasa, at least 1.
    n_meta_values : array-like or None, default=None
        Number ``|MF|`` of points of the space of meta-features, at least 1;
        :attr:`tamis.meta.MetaSpace.size` knows it. ``None`` or ``math.inf``: infinite.

    Returns
    -------
    bound : float or ndarray
        train_error + sqrt(2/m (d ln(34 e m / d) log2(578 m) + ln(8 / (margin delta)) + g(J))),
        with g(J) of :func:`selection_term`. Above 1 it says nothing.

    Notes
    -----
    The theorem is for two classes and one run of J steps with one set of features each; with
    restarts or several proposals per step, J is the number of all sets evaluated. It assumes that
    the space of meta-features was chosen before the data were seen. The formula grows with d up to
    d = 34 m and would fall after it; a larger d counts as 34 m, where the bound is far above 1
    anyway.

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

    It is the bound of Bartlett (1998), on which the others rest.

    Parameters
    ----------
    train_error, n_samples, fat_dimension, margin, confidence : array-like
        As in :func:`mufasa_bound`.

    Returns
    -------
    bound : float or ndarray
        train_error + sqrt(2/m (d ln(34 e m / d) log2(578 m) + ln(8 / (margin delta)))). Above 1 it
        says nothing.

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
    sets made by ten experts (ln 10).

    Parameters
    ----------
    train_error, n_samples, fat_dimension, margin, confidence : array-like
        As in :func:`mufasa_bound`.
    selection_nats : array-like
        Natural logarithm of the number of sets, at least 0.

    Returns
    -------
    bound : float or ndarray
        As :func:`mufasa_bound`, with `selection_nats` for g(J).

    Examples
    --------
    >>> from math import log
    >>> from tamis.bounds import union_bound
    >>> union_bound(0.02, 1_000_000, 10, 0.5, 0.95, selection_nats=[0.0, log(10)])
    array([0.11669, 0.11671])
    """
    error = _numbers("train_error", train_error, low=0, high=1)
    samples = _numbers("n_samples", n_samples, low=1)
    fat = _numbers("fat_dimension", fat_dimension, low=0, open_low=True)
    gamma = _numbers("margin", margin, low=0, high=1, open_low=True)
    sure = _numbers("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
    chosen = _numbers("selection_nats", selection_nats, low=0)
    _check_shapes(error, samples, fat, gamma, sure, chosen)
    fat = np.minimum(fat, 34 * samples)
    capacity = fat * (np.log(34 * samples / fat) + 1) * np.log2(578 * samples)
    doubt = math.log(8) - np.log(gamma) - np.log1p(-sure)
    return _plain(error + np.sqrt(2 / samples * (capacity + doubt + chosen)))


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

    The paper compares Theorem 4 with the bound of Gilad-Bachrach, Navot and Tishby (2004) for
    direct selection, of the same form; its example puts n ln N in the place of g(J).

    Parameters
    ----------
    train_error, n_samples, fat_dimension, margin, confidence : array-like
        As in :func:`mufasa_bound`.
    n_candidates : array-like
        Number N of features to choose from, at least `n_selected`.
    n_selected : array-like
        Number n of features chosen, at least 1.

    Returns
    -------
    bound : float or ndarray
        As :func:`mufasa_bound`, with n ln N for g(J). Above 1 it says nothing.

    Notes
    -----
    It follows from :func:`union_bound`, since there are at most N^n sets of n features.

    Examples
    --------
    >>> from tamis.bounds import direct_bound, mufasa_bound
    >>> direct_bound(0.02, 1_000_000, 101, 0.5, 0.95, n_candidates=1e6, n_selected=100)
    0.309
    """
    term = direct_selection_term(n_candidates, n_selected)
    return union_bound(train_error, n_samples, fat_dimension, margin, confidence, term)


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
    steps = _numbers("n_steps", n_steps, low=1)
    values = _meta_values(n_meta_values)
    _check_shapes(steps, values)
    return _plain(np.minimum(steps * math.log(2), np.log(steps) + np.log(values)))


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
    total, chosen = _choice(n_candidates, n_selected)
    return _plain(chosen * np.log(total))


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
    steps = _numbers("n_steps", n_steps, low=1)
    values = _meta_values(n_meta_values)
    _check_shapes(steps, values)
    if unit == "count":
        with np.errstate(over="ignore"):
            return _plain(steps * values)
    return _in_unit(np.log2(steps) + np.log2(values), unit)


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
    return _in_unit(_numbers("n_steps", n_steps, low=1) - 1, unit)


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
    rules = _numbers("selector_vc", selector_vc, low=0)
    total = _numbers("n_candidates", n_candidates, low=1)
    _check_shapes(rules, total)
    shatters = rules > total
    # A class of dimension 0 holds one rule as far as the features can tell: 0 bits.
    safe = np.where(rules > 0, rules, 1.0)
    bits = rules * (np.log2(total / safe) + math.log2(math.e))
    return _in_unit(np.where(shatters, total, bits), unit)


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
    classes = _numbers("classifier_vc", classifier_vc, low=0)
    if np.any(classes < SMALLEST_CLASSIFIER_VC):
        raise InputError(
            f"tamis.bounds: classifier_vc must be at least {SMALLEST_CLASSIFIER_VC}, got "
            f"{_bad(classes, classes < SMALLEST_CLASSIFIER_VC)}. The proof needs "
            "log2(classifier_vc) >= 2 + log2(e). A VC dimension is an upper bound too: use 11 for "
            "a smaller class."
        )
    bits = _numbers("selection_bits", selection_bits, low=0)
    _check_shapes(classes, bits)
    return _plain((classes + bits + 1) * np.log2(classes))


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

    total, chosen = _choice(n_candidates, n_selected)
    # C(N, n) = 1 / ((N + 1) B(N - n + 1, n + 1)); the beta function keeps the digits that a
    # difference of two gamma functions of large numbers would lose. For n = N rounding may give
    # a little less than 0.
    nats = np.maximum(-np.log1p(total) - betaln(total - chosen + 1, chosen + 1), 0.0)
    return vc_of_selections(classifier_vc, nats / math.log(2))


def _numbers(
    name: str,
    value: Any,
    *,
    low: float,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
    or_infinite: bool = False,
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
        raise InputError(f"tamis.bounds: {name} must be {expected}, got {_bad(numbers, ~inside)}.")
    return numbers


def _meta_values(value: Any) -> Floats:
    """Number of meta-feature values; None, and numbers beyond float64, count as infinite."""
    too_large = isinstance(value, int) and value > sys.float_info.max
    endless = value is None or too_large
    return _numbers("n_meta_values", math.inf if endless else value, low=1, or_infinite=True)


def _choice(n_candidates: Any, n_selected: Any) -> tuple[Floats, Floats]:
    total = _numbers("n_candidates", n_candidates, low=1)
    chosen = _numbers("n_selected", n_selected, low=1)
    _check_shapes(total, chosen)
    total, chosen = np.broadcast_arrays(total, chosen)
    if np.any(chosen > total):
        place = np.argmax(chosen > total)
        raise InputError(
            "tamis.bounds: n_selected must be at most n_candidates, got "
            f"{chosen.flat[place]:g} of {total.flat[place]:g}."
        )
    return total, chosen


def _check_shapes(*arrays: Floats) -> None:
    try:
        np.broadcast_shapes(*(array.shape for array in arrays))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InputError(
            "tamis.bounds: expected numbers, or arrays whose shapes broadcast together, got the "
            f"shapes {shapes}."
        ) from None


def _in_unit(bits: Floats, unit: str) -> Numbers:
    if unit == "count":
        with np.errstate(over="ignore"):
            return _plain(np.exp2(bits))
    if unit not in ("bits", "nats"):
        raise InputError(f"tamis.bounds: unit must be 'count' or 'nats' or 'bits', got {unit!r}.")
    return _plain(bits if unit == "bits" else bits * math.log(2))


def _bad(numbers: Floats, wrong: NDArray[np.bool_]) -> str:
    """First number that is wrong, as text."""
    return repr(float(np.atleast_1d(numbers)[np.atleast_1d(wrong)][0]))


def _plain(numbers: Any) -> Numbers:
    """Python float for a scalar."""
    return float(numbers) if np.ndim(numbers) == 0 else np.asarray(numbers)
