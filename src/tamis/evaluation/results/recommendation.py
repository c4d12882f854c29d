"""Recommendation: which method, how many columns, which ones, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tamis.evaluation.results.results import (
    Results,
    chosen_columns,
    frequency,
    mean_ranks,
    set_stability,
)
from tamis.evaluation.results.tables import Mean, mean_of

__all__ = ["Recommendation"]

# Below this nobody waits: methods that take less are equally fast.
QUICK_SECONDS = 1.0


@dataclass(frozen=True)
class Recommendation:
    """What to use, and how sure one can be.

    Attributes
    ----------
    data : str
        The data set.
    method, learner, metric : str
        The method, the estimator its features were scored with, and the metric that decided.
    count : int
        How many columns.
    columns : list of str
        Their names: those most often among the best `count` over the splits, the surest first.
    indices : list of int
        The same by position.
    shares : list of float
        Share of the splits that have each among their best.
    shares_low, shares_high : list of float
        95% interval of each share.
    mean_ranks : list of float
        Mean rank of each, 1 is best.
    score, low, high : float
        Expected score on new rows and its 95% interval.
    stability, stability_low, stability_high : float
        Nogueira's index of the sets and its interval.
    sentence : str
        All this in plain words.
    reasons : list of str
        Why this one.
    rivals : list of str
        Other methods within one standard error of the best score.

    Examples
    --------
    >>> from tamis.evaluation.results.comparison import Recommendation
    >>> list(Recommendation.__annotations__)[:4]
    ['data', 'method', 'learner', 'metric']
    """

    data: str
    method: str
    learner: str
    metric: str
    count: int
    columns: list[str]
    indices: list[int]
    shares: list[float]
    shares_low: list[float]
    shares_high: list[float]
    mean_ranks: list[float]
    score: float
    low: float
    high: float
    stability: float
    stability_low: float
    stability_high: float
    sentence: str
    reasons: list[str]
    rivals: list[str]


@dataclass(frozen=True)
class _Candidate:
    method: str
    learner: str
    count: int
    found: Mean


def recommend(results: Results, data: int, metric: str | None = None) -> Recommendation | None:
    """The fewest columns, then the fastest method, within one standard error of the best."""
    measure = results.metric(metric, data)
    sign = 1.0 if measure.greater_is_better else -1.0
    everything = _candidates(results, data, measure.name)
    baselines = [c for c in everything if _is_random(results, c.method)]
    candidates = [c for c in everything if c not in baselines] or everything
    if not candidates:
        return None
    best = max(candidates, key=lambda c: sign * c.found.mean)
    slack = 0.0 if np.isnan(best.found.standard_error) else best.found.standard_error
    close = [c for c in candidates if sign * (best.found.mean - c.found.mean) <= slack]
    fewest = min(c.count for c in close)
    close = [c for c in close if c.count == fewest]
    costs = {c.method: _cost(results, data, c.method) for c in close}
    quickest = min(costs.values())
    close = [c for c in close if costs[c.method] <= 10 * quickest]
    stabilities = {c.method: _stability(results, data, c) for c in close}
    chosen = max(
        close,
        key=lambda c: (np.nan_to_num(stabilities[c.method]["nogueira"]), sign * c.found.mean),
    )
    rivals = _rivals(candidates, chosen, best, sign, slack)
    reasons = _reasons(chosen, best, measure.name, rivals, baselines, sign, slack)
    return _recommendation(results, data, measure.name, chosen, reasons, rivals)


def _candidates(results: Results, data: int, metric: str) -> list[_Candidate]:
    setting = results.setting(data)
    overlap = results.overlap(data)
    found = [
        _Candidate(
            method,
            learner.name,
            count,
            mean_of(results.values(data, method, count, learner.name, metric), overlap),
        )
        for method in results.plan.selectors
        for learner in setting.learners
        for count in setting.counts
    ]
    # A method that failed on some splits was not measured on the same rows as the others.
    most = max((c.found.n for c in found), default=0)
    return [c for c in found if c.found.n == most and most > 0]


def _is_random(results: Results, method: str) -> bool:
    return type(results.plan.selectors[method]).__name__ == "RandomRanking"


def _cost(results: Results, data: int, method: str) -> float:
    seconds = [
        unit.select_seconds
        for (of, name, _), unit in results.units.items()
        if of == data and name == method and unit.error is None
    ]
    return max(QUICK_SECONDS, float(np.median(seconds)))


def _stability(results: Results, data: int, candidate: _Candidate) -> dict[str, float]:
    return set_stability(results.orders(data, candidate.method), candidate.count)


def _rivals(
    candidates: list[_Candidate], chosen: _Candidate, best: _Candidate, sign: float, slack: float
) -> list[str]:
    names = [
        c.method
        for c in candidates
        if c.method != chosen.method and sign * (best.found.mean - c.found.mean) <= slack
    ]
    return list(dict.fromkeys(names))


def _reasons(
    chosen: _Candidate,
    best: _Candidate,
    metric: str,
    rivals: list[str],
    baselines: list[_Candidate],
    sign: float,
    slack: float,
) -> list[str]:
    reasons = []
    if chosen == best:
        reasons.append(f"It has the best mean {metric} of all, {best.found.mean:.3f}.")
    else:
        reasons.append(
            f"The best mean {metric} is {best.found.mean:.3f} ({best.method} with {best.count} "
            f"columns and {best.learner}), with a standard error of {slack:.3f}; "
            f"{chosen.found.mean:.3f} is within it."
        )
    reasons.append(f"No method comes that close with fewer columns than {chosen.count}.")
    if rivals:
        reasons.append(
            f"As close with this or another number of columns: {', '.join(rivals)}. Of those with "
            "as few columns, the slow are passed over, and then the most stable is taken."
        )
    chance = max(baselines, key=lambda c: sign * c.found.mean, default=None)
    if chance is not None and sign * (chosen.found.mean - chance.found.mean) <= slack:
        reasons.append(
            f"Beware: randomly chosen columns reach {chance.found.mean:.3f}, which is as good. "
            "Nothing here shows that selecting helps."
        )
    return reasons


def _recommendation(
    results: Results,
    data: int,
    metric: str,
    chosen: _Candidate,
    reasons: list[str],
    rivals: list[str],
) -> Recommendation:
    table = results.setting(data).table
    orders = results.orders(data, chosen.method)
    columns = chosen_columns(orders, chosen.count)
    shares = frequency(orders, chosen.count)
    agreement = set_stability(orders, chosen.count)
    found = chosen.found
    return Recommendation(
        data=table.name,
        method=chosen.method,
        learner=chosen.learner,
        metric=metric,
        count=chosen.count,
        columns=[table.columns[j] for j in columns],
        indices=columns.tolist(),
        shares=shares.share[columns].tolist(),
        shares_low=shares.low[columns].tolist(),
        shares_high=shares.high[columns].tolist(),
        mean_ranks=mean_ranks(orders)[columns].tolist(),
        score=found.mean,
        low=found.low,
        high=found.high,
        stability=agreement["nogueira"],
        stability_low=agreement["low"],
        stability_high=agreement["high"],
        sentence=_sentence(table.name, metric, chosen, agreement, orders),
        reasons=reasons,
        rivals=rivals,
    )


def _sentence(
    data: str,
    metric: str,
    chosen: _Candidate,
    agreement: dict[str, float],
    orders: NDArray[np.int32],
) -> str:
    found = chosen.found
    text = (
        f"On {data}, use {chosen.method} with {chosen.count} columns: expect {metric} "
        f"{found.mean:.3f} with {chosen.learner}"
    )
    if np.isfinite(found.low):
        text += f" (95% interval {found.low:.3f} to {found.high:.3f})"
    if np.isfinite(agreement["nogueira"]):
        text += (
            f"; other rows of the same kind give columns that agree to {agreement['nogueira']:.2f} "
            "(1 is the same columns, 0 is chance)"
        )
    splits = orders.shape[0]
    return f"{text}. Measured on {splits} split{'s' if splits > 1 else ''}."
