"""chance_of_best: whether the best score of a fit is more than a permuted target gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis._runtime.seeds import as_seed, stream
from tamis._runtime.warning import warn
from tamis.certainty._null import StepDown, permuted_scores, score_blocks
from tamis.certainty._refits import least_reached, refit_scores
from tamis.certainty.permutations import Permutations, draw_states
from tamis.cutoff.fit_data import FitData

# Place of the random numbers; the rules have others.
QUICK = 3


def chance_of_best(
    selector: Any,
    X: Any,
    y: Any,
    weight: Any = None,
    *,
    n_permutations: int = 19,
    refit: bool = False,
    random_state: Any = 0,
) -> float | None:
    """P-value of the best score of a fitted selector, where it takes about the time of a fit.

    The share of permutations of the target, the true order counted as one, in which any feature
    reaches the best score.

    Parameters
    ----------
    selector : BaseSelector
        A fitted selector.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The table that was fitted.
    y : array-like of shape (n_samples,)
        Its target.
    weight : ndarray of shape (n_samples,) or None, default=None
        Weights of the rows.
    n_permutations : int, default=19
        Number of permutations; no p-value is below ``1 / (n_permutations + 1)``.
    refit : bool, default=False
        Fit selectors on the permuted targets that cannot do without.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.

    Returns
    -------
    p_value : float or None
        None for a selector without a target, or one that would have to be refitted and must not.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> from tamis.certainty import chance_of_best
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 100)), rng.integers(0, 2, 60)
    >>> chance_of_best(tamis.Fisher(n_features_to_select=5).fit(X, y), X, y) > 0.05
    True
    """
    data = FitData(selector, X, y, weight)
    ranking = selector.ranking_record()
    if not getattr(selector, "_supervised", True) or not ranking.useful.size:
        return None
    permuted = permuted_scores(data)
    if permuted is None and not refit:
        return None
    permutations = Permutations.of(data.target.size, weight, None, None, "chance_of_best")
    states = draw_states(stream(as_seed(random_state, "chance_of_best"), QUICK), n_permutations)
    n_jobs = getattr(selector, "n_jobs", None)
    if permuted is None:
        best = least_reached(ranking.curve[0])
        found = refit_scores(data, permutations, states, 1)
        reached = sum(scores.max() >= best for scores in found)
        return float((1 + reached) / (1 + n_permutations))
    counts = StepDown(ranking, permuted.least(ranking.scores))
    for batch in permutations.batches(states, n_jobs):
        targets = permuted.targets(batch)
        counts.add(score_blocks(permuted, counts.columns, targets, len(batch)))
    return float(np.min(counts.p_values()[0]))


def warn_by_law(selector: Any, level: float) -> bool:
    """Warn if the law of the scores leaves the best one at chance; False if it does not tell.

    The smallest p-value times the number of features is at most the chance that any of them is as
    small. It needs no rows, only what the fit has kept of them.
    """
    p_values, ranking = selector._law_p_values(), selector.ranking_record()
    if p_values is None:
        bounds = selector._p_value_bounds()  # they show a relation, but never that there is none
        return bounds is not None and bounds.min() * ranking.useful.size <= level
    if selector._law_is_rough():
        return False
    best = int(np.argmin(np.where(ranking.constant, np.inf, p_values)))
    n_features = ranking.useful.size
    if p_values[best] * n_features > level:
        warn(
            f"{type(selector).__name__}: the selection is not distinguishable from noise. The "
            f"smallest p-value, that of {ranking.name(best)!r}, is {p_values[best]:.2g}, and the "
            f"best of {n_features:,} features may be as small by chance. Test every feature: "
            "n_features_to_select=FalseDiscoveries(0.1) from tamis.certainty, or --select fdr:0.1."
        )
    return True
