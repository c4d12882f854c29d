"""Whether the best score of a fit is distinguishable from noise: a look that costs little."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.warning import warn
from tamis.cutoff.fit_data import FitData

# Cells of a table up to which the look takes some 50 ms.
MOST_CELLS = 4_000_000
N_PERMUTATIONS = 19
# The best score is at chance if more than this share of permuted targets reach it.
AT_CHANCE = 0.1
# A best feature with a p-value this small, times the number of features, needs no permutations.
CLEAR = 1e-3


def warn_if_at_chance(data: FitData, *, refit: bool = False) -> bool:
    """Warn if permuted targets, refitted if need be, reach the best score; False if not seen."""
    selector = data.selector
    if is_clear(data):
        return True
    from tamis.certainty.chance import chance_of_best

    p_value = chance_of_best(
        selector, data.X, data.y, data.sample_weight, n_permutations=N_PERMUTATIONS, refit=refit
    )
    if p_value is None:
        return False
    if p_value > AT_CHANCE:
        n_reached = round(p_value * (N_PERMUTATIONS + 1)) - 1
        name = selector.ranking_record().name(int(selector.order_[0]))
        warn(
            f"{type(selector).__name__}: the selection is not distinguishable from noise. The best "
            f"score, that of {name!r}, is reached by {n_reached} of {N_PERMUTATIONS} permuted "
            "targets. Test every feature: n_features_to_select=FalseDiscoveries(0.1) from "
            "tamis.certainty, or --select fdr:0.1."
        )
    return True


def is_clear(data: FitData) -> bool:
    """Whether an F test of the best feature leaves no doubt, however many features there are."""
    from scipy.special import fdtrc

    if not isinstance(data.X, np.ndarray) or data.sample_weight is not None:
        return False
    x = np.asarray(data.X[:, data.selector.order_[0]], dtype=np.float64)
    with np.errstate(all="ignore"):  # huge values leave doubt
        share, freedom = _explained(x, data)
    left = x.size - freedom - 1
    if not 0.0 < share < 1.0 or left < 1:
        return bool(share >= 1.0)
    p_value = fdtrc(freedom, left, share / freedom / ((1.0 - share) / left))
    return bool(p_value * data.X.shape[1] < CLEAR)


def _explained(x: NDArray[np.float64], data: FitData) -> tuple[float, int]:
    """Share of the variance that the target explains, and its degrees of freedom."""
    x = x - x.mean()
    total = float(x @ x)
    target = np.asarray(data.y).ravel()
    task = getattr(data.selector, "task_", None)
    if task is None or not total > 0.0:  # missing values, too
        return 0.0, 1
    if task == "classification":
        _, codes, counts = np.unique(target, return_inverse=True, return_counts=True)
        return float((np.bincount(codes, x) ** 2 / counts).sum()) / total, counts.size - 1
    if target.dtype.kind not in "biuf":  # dates
        return 0.0, 1
    y = target - target.mean()
    return (float(x @ y) / max(total**0.5 * float(np.linalg.norm(y)), 1e-300)) ** 2, 1
