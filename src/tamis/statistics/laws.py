"""Known laws of scores for columns that are independent of the target: p-values, never 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis.statistics.law_of_f import SMALLEST, Floats

# Step of an integral over log odds that leaves an error of 1e-17.
WIDEST_STEP = 0.25
# Columns whose integrals are computed in one go.
COLUMNS_AT_A_TIME = 4096
# The law of G is rough if more than this share of cells expects fewer rows than this.
FEW_ROWS, ROUGH_SHARE = 5.0, 0.2


def fisher_p_values(ratio: Floats, first: Floats, second: Floats) -> Floats:
    """P-values of Fisher's plain ratio of two classes with so many rows, for normal errors.

    With D the difference of the means and variances s of the classes, the ratio is
    ``c D^2 / (s_1 + s_2)``. Their sum has no chi-squared law if the classes differ in size, but the
    share B of the first in the sum of squares within has a Beta distribution, independent of that
    sum: given B, the ratio follows F with 1 and n - 2 degrees of freedom. One integral is left.
    """
    p_values = np.ones(ratio.size)
    sizes, which = np.unique(np.column_stack([first, second]), axis=0, return_inverse=True)
    for number, (one, other) in enumerate(sizes):
        if min(one, other) >= 1 and one + other > 2:
            chosen = which.reshape(-1) == number
            p_values[chosen] = _fisher_p_values(ratio[chosen], one, other)
    return np.maximum(p_values, SMALLEST)


def _fisher_p_values(ratio: Floats, one: float, other: float) -> Floats:
    from scipy.special import fdtrc

    n = one + other
    squared_gap = ratio * n**2 / (one**2 + other**2)  # D^2 / (s_1 + s_2)
    if min(one, other) == 1:  # the other class has all of the variance
        per_row, weight = np.full(1, 1.0 / (n - 2)), np.ones(1)
    else:
        share, weight = _beta_nodes((one - 1) / 2, (other - 1) / 2)
        per_row = share / (one - 1) + (1 - share) / (other - 1)
    p_values = np.empty(ratio.size)
    for first in range(0, ratio.size, COLUMNS_AT_A_TIME):
        part = slice(first, first + COLUMNS_AT_A_TIME)
        f = (n - 2) * squared_gap[part, None] * per_row / (1 / one + 1 / other)
        p_values[part] = fdtrc(1.0, n - 2, f) @ weight
    return p_values


def _beta_nodes(a: float, b: float) -> tuple[Floats, Floats]:
    """Nodes and weights of the mean over a Beta distribution: trapezoids of the log odds.

    These converge faster than any power, because the density of the log odds x falls off on both
    sides, as exp(a x) and exp(-b x). The mean is at ``log(a / b)``; far out in the tail of F,
    the integrand lies about twice as far from 0.
    """
    from scipy.special import expit, log_expit

    centre, spread = np.log(a / b), np.sqrt(1 / a + 1 / b)
    low = min(centre, 2 * centre) - 8 * spread - 40 / a
    high = max(centre, 2 * centre) + 8 * spread + 40 / b
    n_nodes = int(np.ceil((high - low) / min(spread / 2, WIDEST_STEP)))
    x = np.linspace(low, high, n_nodes)
    logarithm = a * log_expit(x) + b * log_expit(-x)
    density = np.exp(logarithm - logarithm.max())
    return expit(x), density / density.sum()


def g_p_values(information: Floats, total: Floats, freedom: Floats) -> Floats:
    """P-values of information in nats, of which 2 n times is about chi-squared."""
    from scipy.special import chdtrc

    tested = freedom > 0
    p_values = np.ones(information.size)
    p_values[tested] = chdtrc(freedom[tested], 2.0 * total[tested] * information[tested])
    return np.maximum(p_values, SMALLEST)


def is_rough(per_bin: Floats, per_class: Floats) -> NDArray[np.bool_]:
    """Whether more than a fifth of the cells of a column's table expect fewer than 5 rows.

    `per_bin` is ``[column, bin]``, `per_class` ``[class, column]``.
    """
    total = np.maximum(per_bin.sum(axis=1), 1.0)
    few, cells = np.zeros(total.size), np.zeros(total.size)
    for rows in per_class:
        expected = per_bin * (rows / total)[:, None]
        few += ((expected > 0) & (expected < FEW_ROWS)).sum(axis=1)
        cells += (expected > 0).sum(axis=1)
    return np.asarray(few > ROUGH_SHARE * cells)
