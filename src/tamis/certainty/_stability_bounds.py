"""Bounds on the expected number of rarely chosen features that stability selection selects."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# What each bound takes for granted about a feature that half samples choose rarely.
ASSUMPTIONS = {
    "meinshausen-buhlmann": (
        "rows (or groups of rows) are independent draws; nothing else is assumed"
    ),
    "unimodal": (
        "rows (or groups of rows) are independent draws, and for a rarely chosen feature the share "
        "of pairs that choose it twice has a unimodal distribution"
    ),
    "r-concave": (
        "rows (or groups of rows) are independent draws, and for a rarely chosen feature the share "
        "of pairs that choose it twice has a -1/2-concave distribution, the selection frequency a "
        "-1/4-concave one"
    ),
}
# Share of features per half sample up to which the unimodal bound was proved.
LARGEST_SHARE = 1 / np.sqrt(3)


def on_grid(threshold: float, n_pairs: int) -> float:
    """The least frequency that `n_pairs` pairs can give and that reaches the threshold."""
    return float(np.ceil(2 * n_pairs * threshold - 1e-9) / (2 * n_pairs))


def expected_false(
    bound: str, threshold: float, n_per_half: int, n_candidates: int, n_pairs: int
) -> float:
    """Bound on the expected number of selected features of selection probability at most q / p.

    `threshold` must be above 1/2, q is `n_per_half`, p is `n_candidates`. With the features Z that
    a half sample chooses with probability at most q / p, and B pairs: the share of pairs that
    choose a feature of Z twice has the mean (q / p)^2 at most, because the halves of a pair are
    independent, and is at least twice the selection frequency less 1. Each bound is that of a tail
    with such a mean: Markov's, or the sharper ones for unimodal and for r-concave distributions.
    """
    threshold = on_grid(threshold, n_pairs)
    share = n_per_half / n_candidates
    both = 2 * threshold - 1
    if bound == "meinshausen-buhlmann":
        tail = share**2 / both
    elif bound == "unimodal":
        tail = share**2 * _unimodal_factor(threshold, share, n_pairs)
    else:
        tail = min(
            r_concave_tail(share**2, round(both * n_pairs), n_pairs, -0.5),
            r_concave_tail(share, round(2 * threshold * n_pairs), 2 * n_pairs, -0.25),
        )
    return n_candidates * tail


def _unimodal_factor(threshold: float, share: float, n_pairs: int) -> float:
    """Theorem 2 of Shah and Samworth: largest tail of a unimodal distribution over its mean."""
    least = 0.5 + min(share**2, 1 / (2 * n_pairs) + 0.75 * share**2)
    if share > LARGEST_SHARE or threshold <= least:
        return 1 / (2 * threshold - 1)  # Markov's holds without any condition
    if threshold <= 0.75:
        return 1 / (2 * (2 * threshold - 1 - 1 / (2 * n_pairs)))
    return 4 * (1 - threshold + 1 / (2 * n_pairs)) / (1 + 1 / n_pairs)


@lru_cache(maxsize=4096)
def r_concave_tail(mean: float, start: int, n_steps: int, r: float) -> float:
    """Largest chance of X >= start / n_steps for an r-concave X on 0, 1 / n_steps, ..., 1.

    X has at most the given mean, and r < 0: the probabilities f have a convex f^r where they are
    not 0. Of all convex functions the linear one grows most slowly, so the heaviest tail is that
    of f(i) proportional to (1 + i / a)^(1/r) on 0, ..., m; a follows from the mean, and the best m
    is found by trying all.
    """
    if mean <= 0:
        return 0.0
    least = mean * n_steps / start  # Markov's, which no distribution exceeds
    best = 0.0
    for last in range(start, n_steps + 1):
        if mean * n_steps >= last / 2:  # even the uniform distribution has a smaller mean
            return min(1.0, least)
        best = max(best, _linear_tail(mean * n_steps, start, last, 1 / r))
    return min(best, least, 1.0)


def _linear_tail(mean: float, start: int, last: int, power: float) -> float:
    """Chance of at least `start` for f(i) proportional to (1 + i / a)^power of the given mean."""
    from scipy.optimize import brentq

    steps = np.arange(last + 1)

    def excess(log_a: float) -> float:
        weights = (1 + steps / np.exp(log_a)) ** power
        return float(weights @ steps / weights.sum()) - mean

    # The mean grows with a from 0 to that of the uniform distribution, last / 2.
    low, high = -10.0, 10.0
    while excess(low) > 0:
        low -= 10
    while excess(high) < 0:
        high += 10
    weights = (1 + steps / np.exp(brentq(excess, low, high, xtol=1e-12))) ** power
    return float(weights[start:].sum() / weights.sum())


def least_threshold(
    bound: str, level: float, n_per_half: int, n_candidates: int, n_pairs: int
) -> float | None:
    """The least threshold at which the bound is at most `level`; None if there is none."""
    # Frequencies above 1/2 that the pairs can give; the bounds fall as the threshold rises.
    low, high = n_pairs + 1, 2 * n_pairs + 1
    while low < high:
        middle = (low + high) // 2
        found = expected_false(bound, middle / (2 * n_pairs), n_per_half, n_candidates, n_pairs)
        low, high = (low, middle) if found <= level else (middle + 1, high)
    return low / (2 * n_pairs) if low <= 2 * n_pairs else None


def most_per_half(
    bound: str, level: float, threshold: float, n_candidates: int, n_pairs: int
) -> int:
    """The largest number per half sample whose bound is at most `level`; at least 1."""
    low, high = 1, n_candidates
    while low < high:
        middle = (low + high + 1) // 2
        found = expected_false(bound, threshold, middle, n_candidates, n_pairs)
        low, high = (middle, high) if found <= level else (low, middle - 1)
    return low
