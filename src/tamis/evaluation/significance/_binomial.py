"""Count of wins against the binomial law, as in the ILFS paper."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtrc

from tamis._validation import Choice, check_value
from tamis.evaluation.significance._scores import (
    SHARE,
    Floats,
    check_flag,
    check_same_length,
    check_table,
    check_vector,
    differences,
)


class BinomialWins(NamedTuple):
    """What :func:`binomial_wins` counted.

    Attributes
    ----------
    wins, losses, ties : int
        Experiments where a is better than all of b, worse than one of them, or equal to the best.
    chance : float
        Chance of a win if the methods are alike.
    p_value : float
        Two-sided: chance of a count at most as likely as this one.
    p_at_least : float
        Chance of at least as many wins, the usual one-sided p-value.
    p_more_than : float
        Chance of more wins, the number that the ILFS paper prints.

    Examples
    --------
    >>> from tamis.evaluation.significance import binomial_wins
    >>> binomial_wins([3, 5, 4, 6], [1, 2, 4, 7])[:3]
    (2, 1, 1)
    """

    wins: int
    losses: int
    ties: int
    chance: float
    p_value: float
    p_at_least: float
    p_more_than: float


def binomial_wins(
    a: Any,
    b: Any,
    chance: float | None = None,
    *,
    ties: str = "drop",
    greater_is_better: bool = True,
) -> BinomialWins:
    """Is the number of experiments that a method wins more than luck (a sign test).

    Parameters
    ----------
    a : array-like of shape (n,)
        Scores of the method on n >= 2 independent experiments, one per data set.
    b : array-like of shape (n,) or (n, n_rivals)
        Scores of one rival or several; a win means to be better than all of them.
    chance : float, default=None
        Chance of a win if nothing distinguishes the methods. ``None`` is 1 / (1 + n_rivals):
        1/2 against one rival.
    ties : {"drop", "loss"}, default="drop"
        Experiments where a equals the best rival: left out of the count, or taken as not won.
    greater_is_better : bool, default=True
        Whether the larger score wins.

    Returns
    -------
    BinomialWins
        Counts and exact p-values.

    Notes
    -----
    Section 4.3 of the ILFS paper counts N = 10 experiments, one per data set. ILFS has the best
    mean of all 12 methods on k = 7 of them. The paper takes "the exact p-value" of its t tests as
    the chance of one success, and prints 4.82e-3 as the chance of "outperforming more than k
    times". The chance is not printed; 0.35 gives the printed number as P(X > 7) = P(X >= 8), so
    `p_more_than` with ``chance=0.35`` repeats it. We advise neither step: a p-value is not the
    chance to win, and the count that was seen belongs to the tail (P(X >= 7) is 0.026 at that
    chance). Hence `chance` is 1 / (number of methods) by default, and `p_at_least` or `p_value` is
    the number to report.

    Left out ties keep the test exact against one rival, and on the safe side against several.
    If every experiment is a tie the p-values are 1. Scores that agree to 1e-12 are ties.

    References
    ----------
    G. Roffo, S. Melzi, U. Castellani and A. Vinciarelli, "Infinite latent feature selection: a
    probabilistic latent graph-based ranking approach", ICCV 2017.

    Examples
    --------
    >>> from tamis.evaluation.significance import binomial_wins
    >>> a, b = [1] * 7 + [0] * 3, [0] * 7 + [1] * 3
    >>> result = binomial_wins(a, b, chance=0.35)
    >>> round(result.p_more_than, 5), round(result.p_at_least, 3)
    (0.00482, 0.026)
    >>> round(binomial_wins(a, b).p_value, 3)
    0.344
    """
    who = "binomial_wins"
    check_value(ties, Choice(("drop", "loss")), who=who, name="ties")
    check_flag(greater_is_better, who, "greater_is_better")
    a, rivals = _check_rivals(a, b, who)
    if chance is None:
        chance = 1 / (1 + rivals.shape[1])
    check_value(chance, SHARE, who=who, name="chance")
    best = rivals.max(axis=1) if greater_is_better else rivals.min(axis=1)
    lead = differences(a, best) if greater_is_better else differences(best, a)
    wins, losses = int((lead > 0).sum()), int((lead < 0).sum())
    n_ties = a.size - wins - losses
    trials = wins + losses + (n_ties if ties == "loss" else 0)
    return BinomialWins(wins, losses, n_ties, float(chance), *_tails(wins, trials, float(chance)))


def _check_rivals(a: Any, b: Any, who: str) -> tuple[Floats, Floats]:
    a = check_vector(a, who, "a", 2)
    if np.ndim(b) == 2 and np.shape(b)[1] > 1:
        rivals = check_table(b, who, "b")
    else:
        rivals = check_vector(np.ravel(b) if np.ndim(b) == 2 else b, who, "b", 2)[:, None]
    check_same_length(a.size, rivals.shape[0], who)
    return a, rivals


def _tails(wins: int, trials: int, chance: float) -> tuple[float, float, float]:
    """Two-sided, P(X >= wins) and P(X > wins)."""
    from scipy.stats import binomtest

    if trials == 0:
        return 1.0, 1.0, 1.0
    more = float(bdtrc(wins, trials, chance)) if wins < trials else 0.0
    at_least = float(bdtrc(wins - 1, trials, chance)) if wins else 1.0
    return float(binomtest(wins, trials, chance).pvalue), at_least, more
