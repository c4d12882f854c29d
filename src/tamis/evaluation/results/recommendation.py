"""Recommendation: which method, how many columns, which ones, and why."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from tamis.evaluation.results.tables import Mean, Results, frequency_rows, mean_of, set_stability

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
    merit: float  # the mean score, larger is better


def recommend(results: Results, data: int, metric: str | None = None) -> Recommendation | None:
    """The fewest columns, then the fastest method, within one standard error of the best."""
    measure = results.metric(metric, data)
    everything = _candidates(results, data, measure)
    random = {m for m, s in results.plan.selectors.items() if type(s).__name__ == "RandomRanking"}
    baselines = [c for c in everything if c.method in random]
    candidates = [c for c in everything if c.method not in random] or everything
    if not candidates:
        return None
    best = max(candidates, key=lambda c: c.merit)
    slack = float(np.nan_to_num(best.found.standard_error))
    close = [c for c in candidates if best.merit - c.merit <= slack]
    fewest = min(c.count for c in close)
    short = [c for c in close if c.count == fewest]
    seconds = {
        c.method: [unit.select_seconds for unit in results.successes(data, c.method)] for c in short
    }
    costs = {method: max(QUICK_SECONDS, float(np.median(s))) for method, s in seconds.items()}
    quick = [c for c in short if costs[c.method] <= 10 * min(costs.values())]
    orders = {c.method: results.orders(data, c.method) for c in quick}
    agreements = {method: set_stability(found, fewest) for method, found in orders.items()}
    chosen = max(quick, key=lambda c: (np.nan_to_num(agreements[c.method]["nogueira"]), c.merit))
    rivals = list(dict.fromkeys(c.method for c in close if c.method != chosen.method))
    agreement, found, table = agreements[chosen.method], chosen.found, results.settings[data].table
    top = list(islice(frequency_rows(orders[chosen.method], fewest, table.columns), fewest))
    return Recommendation(
        data=table.name,
        method=chosen.method,
        learner=chosen.learner,
        metric=measure.name,
        count=fewest,
        columns=[row["column"] for row in top],
        indices=[row["index"] for row in top],
        shares=[row["share"] for row in top],
        shares_low=[row["low"] for row in top],
        shares_high=[row["high"] for row in top],
        mean_ranks=[row["mean_rank"] for row in top],
        score=found.mean,
        low=found.low,
        high=found.high,
        stability=agreement["nogueira"],
        stability_low=agreement["low"],
        stability_high=agreement["high"],
        sentence=_sentence(
            table.name, measure.name, chosen, agreement["nogueira"], len(orders[chosen.method])
        ),
        reasons=_reasons(chosen, best, measure.name, rivals, baselines, slack),
        rivals=rivals,
    )


def _candidates(results: Results, data: int, metric: Any) -> list[_Candidate]:
    setting, overlap = results.settings[data], results.overlap(data)
    sign = 1.0 if metric.greater_is_better else -1.0
    learners = [learner.name for learner in setting.learners]
    found = []
    for method, learner, count in product(results.methods, learners, setting.counts):
        mean = mean_of(results.values(data, method, count, learner, metric.name), overlap)
        found.append(_Candidate(method, learner, count, mean, sign * mean.mean))
    # A method that failed on some splits was not measured on the same rows as the others.
    most = max((c.found.n for c in found), default=0)
    return [c for c in found if c.found.n == most and most > 0]


def _reasons(
    chosen: _Candidate,
    best: _Candidate,
    metric: str,
    rivals: list[str],
    baselines: list[_Candidate],
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
    chance = max(baselines, key=lambda c: c.merit, default=None)
    if chance is not None and chosen.merit - chance.merit <= slack:
        reasons.append(
            f"Beware: randomly chosen columns reach {chance.found.mean:.3f}, which is as good. "
            "Nothing here shows that selecting helps."
        )
    return reasons


def _sentence(data: str, metric: str, chosen: _Candidate, agreement: float, n_splits: int) -> str:
    found = chosen.found
    text = (
        f"On {data}, use {chosen.method} with {chosen.count} columns: expect {metric} "
        f"{found.mean:.3f} with {chosen.learner}"
    )
    if np.isfinite(found.low):
        text += f" (95% interval {found.low:.3f} to {found.high:.3f})"
    if np.isfinite(agreement):
        text += (
            f"; other rows of the same kind give columns that agree to {agreement:.2f} "
            "(1 is the same columns, 0 is chance)"
        )
    return f"{text}. Measured on {n_splits} split{'s' if n_splits > 1 else ''}."
