"""Holm's correction for many tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis.evaluation.significance._scores import check_vector
from tamis.exceptions import InputError


def holm(p_values: Any) -> tuple[float, ...]:
    """Adjusted p-values by Holm: reject those below the level, and the family-wise error holds.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)
        P-values of a family of tests, in any order.

    Returns
    -------
    tuple of float
        Adjusted p-values in the order given, never above 1.

    Notes
    -----
    The i-th smallest of m p-values is multiplied by m - i + 1, and none may be below the one
    before it. Needs no independence, and is never weaker than Bonferroni.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979.

    Examples
    --------
    >>> from tamis.evaluation.significance import holm
    >>> holm([0.01, 0.04, 0.02])
    (0.03, 0.04, 0.04)
    """
    p = check_vector(p_values, "holm", "p_values", 1)
    if p.min() < 0 or p.max() > 1:
        worst = float(p.min() if p.min() < 0 else p.max())
        raise InputError(
            f"holm: expected p-values between 0 and 1, got {worst!r}. Give p-values, not "
            "statistics or percentages."
        )
    order = np.argsort(p, kind="stable")
    raised = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    adjusted = np.empty(p.size)
    adjusted[order] = raised
    return tuple(adjusted.tolist())
