"""chance_of_best: whether the best score of a fit is more than a permuted target gives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis._runtime.seeds import as_seed, stream
from tamis.certainty._null import (
    ROUNDING,
    StepDown,
    permuted_scores,
    refit_scores,
    score_blocks,
)
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
        best = ranking.curve[0]
        found = refit_scores(data, permutations, states, 1)
        reached = sum(scores.max() >= best - ROUNDING * abs(best) for scores in found)
        return float((1 + reached) / (1 + n_permutations))
    counts = StepDown(ranking, permuted.least(ranking.scores))
    for batch in permutations.batches(states, n_jobs):
        targets = permuted.targets(batch)
        counts.add(score_blocks(permuted, counts.columns, targets, len(batch)))
    return float(np.min(counts.p_values()[0]))
