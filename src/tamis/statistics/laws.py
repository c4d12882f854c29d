"""Known laws of scores for columns that are independent of the target: p-values, never 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The smallest p-value there is.
SMALLEST = float(np.finfo(np.float64).tiny)
# Nodes of the integral over the share of one class in the variance within.
N_NODES = 128
# The law of G is rough if more than this share of cells expects fewer rows than this.
FEW_ROWS, ROUGH_SHARE = 5.0, 0.2


def f_p_values(ratio: Floats, between: Floats, within: Floats) -> Floats:
    """P-values of explained over unexplained squares, by the F distribution; 1 without freedom."""
    from scipy.special import fdtrc

    tested = (between > 0) & (within > 0)
    p_values = np.ones(ratio.size)
    f = ratio[tested] / between[tested] * within[tested]
    p_values[tested] = fdtrc(between[tested], within[tested], f)
    return np.maximum(p_values, SMALLEST)


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
    from scipy.special import fdtrc, roots_jacobi

    n = one + other
    squared_gap = ratio * n**2 / (one**2 + other**2)  # D^2 / (s_1 + s_2)
    if min(one, other) == 1:  # the other class has all of the variance
        share, weight = np.ones(1), np.ones(1)
        per_row = 1.0 / (n - 2) * share
    else:
        # Density of B on [0, 1] is that of the Jacobi weights on [-1, 1].
        nodes, weight = roots_jacobi(N_NODES, (other - 1) / 2 - 1, (one - 1) / 2 - 1)
        share, weight = (1 + nodes) / 2, weight / weight.sum()
        per_row = share / (one - 1) + (1 - share) / (other - 1)
    f = (n - 2) * squared_gap[:, None] * per_row / (1 / one + 1 / other)
    return np.asarray(fdtrc(1.0, n - 2, f) @ weight)


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
