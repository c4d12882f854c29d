"""Bayesian signed-rank test with a region of practical equivalence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from tamis._validation import Number, check_value
from tamis.evaluation.significance._scores import Floats, check_pair, differences, tolerance

_BLOCK = 1 << 20


class BayesianSignedRank(NamedTuple):
    """Probabilities found by :func:`bayesian_signed_rank`; they sum to 1.

    Attributes
    ----------
    left : float
        The difference a - b is below -rope: b has the larger scores.
    rope : float
        The two are practically the same.
    right : float
        The difference a - b is above rope: a has the larger scores.

    Examples
    --------
    >>> from tamis.evaluation.significance import bayesian_signed_rank
    >>> bayesian_signed_rank([0.9, 0.8, 0.7], [0.9, 0.8, 0.7]).rope
    1.0
    """

    left: float
    rope: float
    right: float


def bayesian_signed_rank(
    a: Any,
    b: Any,
    rope: float = 0.01,
    *,
    prior_strength: float = 0.5,
    n_draws: int = 50_000,
    random_state: int = 0,
) -> BayesianSignedRank:
    """Probability that a is practically better than b, the same, or worse, over many data sets.

    Unlike a p-value it can say that two methods are as good as each other.

    Parameters
    ----------
    a, b : array-like of shape (n,)
        Scores of the two methods on the same n >= 2 data sets, in the same order.
    rope : float, default=0.01
        Differences up to this size do not matter in practice (0.01: one point of accuracy).
    prior_strength : float, default=0.5
        Weight of the prior, one pseudo-observation of no difference, where a data set has weight 1.
    n_draws : int, default=50_000
        Draws from the posterior.
    random_state : int, default=0
        Seed of the draws.

    Returns
    -------
    BayesianSignedRank
        Probabilities `left` (b larger), `rope` and `right` (a larger).

    Notes
    -----
    With z_0 = 0 and the differences z_1 ... z_n, and weights w from a Dirichlet law with
    parameters (prior_strength, 1, ..., 1), the share of pairs to the left is the sum of w_i w_j
    over all i, j with z_i + z_j < -2 rope; likewise the right, and the rest is the region of
    practical equivalence. The probabilities are the shares of draws in which each of the three is
    the largest (a tie is divided). The standard error of a probability p is
    sqrt(p (1 - p) / n_draws), at most 0.0022. Swapping a and b swaps left and right for the same
    seed. Cost: n_draws times n. Scores of overlapping splits of one data set are not independent:
    average them first.

    References
    ----------
    A. Benavoli, G. Corani, J. Demsar and M. Zaffalon, "Time for a change: a tutorial for
    comparing multiple classifiers through Bayesian analysis", Journal of Machine Learning
    Research 18, 2017.

    Examples
    --------
    >>> from tamis.evaluation.significance import bayesian_signed_rank
    >>> a, b = [0.90, 0.82, 0.75, 0.88, 0.93], [0.85, 0.80, 0.71, 0.84, 0.92]
    >>> [round(p, 2) for p in bayesian_signed_rank(a, b)]
    [0.00, 0.03, 0.97]
    """
    who = "bayesian_signed_rank"
    a, b = check_pair(a, b, who)
    check_value(rope, Number(float, 0), who=who, name="rope")
    check_value(prior_strength, Number(float, 0, open_low=True), who=who, name="prior_strength")
    check_value(n_draws, Number(int, 100), who=who, name="n_draws")
    check_value(random_state, Number(int, 0), who=who, name="random_state")
    observed = np.concatenate([[0.0], differences(a, b)])
    order = np.argsort(observed, kind="stable")
    values = observed[order]
    # In sorted order the partners of each difference on one side are one run, whatever the draw.
    edge = 2 * (rope + tolerance(a, b).max())  # 0.85 - 0.84 is inside a rope of 0.01
    n_left = np.searchsorted(values, -edge - values, side="left")
    n_not_right = np.searchsorted(values, edge - values, side="right")
    won = np.zeros(3)
    for weights in _weights(a.size, float(prior_strength), int(n_draws), int(random_state)):
        weights = weights[:, order]
        below = np.zeros((weights.shape[0], values.size + 1))
        np.cumsum(weights, axis=1, out=below[:, 1:])
        left = (weights * below[:, n_left]).sum(axis=1)
        right = (weights * (below[:, -1:] - below[:, n_not_right])).sum(axis=1)
        won += _winners(np.column_stack([left, 1 - left - right, right]))
    return BayesianSignedRank(*(won / n_draws).tolist())


def _weights(n: int, strength: float, n_draws: int, seed: int) -> Iterator[Floats]:
    """Blocks of draws from the Dirichlet law, the pseudo-observation first."""
    random = np.random.default_rng(seed)
    rows = max(1, _BLOCK // (n + 1))
    for start in range(0, n_draws, rows):
        size = min(rows, n_draws - start)
        raw = random.standard_exponential((size, n + 1))
        raw[:, 0] = random.standard_gamma(strength, size)
        yield raw / raw.sum(axis=1, keepdims=True)


def _winners(shares: Floats) -> Floats:
    best = shares >= shares.max(axis=1, keepdims=True) - 1e-12
    return (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
