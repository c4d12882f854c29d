"""Recommendation: which method, how many columns, which ones, how sure, and why."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from tamis.evaluation.intervals import Difference, RowScores, corrected_score, score_interval
from tamis.evaluation.results.tables import (
    Cell,
    Floats,
    Results,
    frequency_rows,
    set_stability,
)
from tamis.evaluation.run.plan import BASELINE

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
        Expected score on new rows of choosing like this, and its 95% interval: the choice of
        method, number and estimator is corrected for, by bootstrap bias correction.
    measured : float
        Mean score of the chosen method and number, not corrected for having been chosen.
    random_score, all_score, guess_score : float
        Mean score of as many random columns, of all columns and of a constant prediction, on the
        same splits; NaN where not known.
    gain, gain_low, gain_high : float
        By how much `score` is better than `random_score`, positive for better also where less is
        better, with its 95% interval, paired by row.
    is_better_than_random : bool or None
        Whether that interval lies above 0; None where it is not known.
    stability, stability_low, stability_high : float
        Agreement of the columns that disjoint halves of the rows give, beyond chance (Nogueira),
        and its interval: what two independent tables of half as many rows would give.
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
    measured: float
    random_score: float
    all_score: float
    guess_score: float
    gain: float
    gain_low: float
    gain_high: float
    is_better_than_random: bool | None
    stability: float
    stability_low: float
    stability_high: float
    sentence: str
    reasons: list[str]
    rivals: list[str]


class _Field(NamedTuple):
    """Everything that may be recommended, one entry per method, learner and count."""

    cells: list[Cell]
    scores: RowScores
    sign: float  # 1 where more is better
    counts: Floats
    costs: Floats  # seconds of selecting, at least those that nobody waits for
    agreements: Floats

    def choose(self, scores: Floats, errors: Floats) -> int:
        """The fewest columns, then not slow, then the best score, within one standard error.

        Of equal scores the more stable: to choose by stability first would make it look better.
        """
        close = self.close(scores, errors)
        short = close[self.counts[close] == self.counts[close].min()]
        quick = short[self.costs[short] <= 10 * self.costs[short].min()]
        return int(quick[np.lexsort((-self.agreements[quick], -self.sign * scores[quick]))[0]])

    def close(self, scores: Floats, errors: Floats) -> Any:
        """Positions within one standard error of the best score."""
        merit = self.sign * scores
        best = int(np.argmax(merit))
        return np.flatnonzero(merit[best] - merit <= np.nan_to_num(errors[best]))


def recommend(results: Results, data: int, metric: str | None = None) -> Recommendation | None:
    """The fewest columns, then the fastest method, within one standard error of the best."""
    measure = results.metric(metric, data)
    field = _field(results, data, measure)
    if field is None:
        return None
    errors = np.sqrt([field.scores.variance(one)[0] for one in np.eye(len(field.cells))])
    place = field.choose(field.scores.scores, errors)
    score, optimism = corrected_score(field.scores, field.choose)
    if not np.isfinite(score) or len(field.cells) == 1:
        score, optimism = float(field.scores.scores[place]), 0.0
    variance, degrees = field.scores.variance(np.eye(len(field.cells))[place])
    n_splits = int(field.scores.splits.shape[0])
    error = float(np.sqrt(variance)) if n_splits > 1 else float("nan")
    n_rows = results.effective(data, measure)
    # How large the correction is, is not known either: both ends of the doubt are inside.
    ends = [
        score_interval(value, error, measure, n_rows, degrees=degrees)
        for value in (score, float(field.scores.scores[place]))
    ]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    _, method, count, learner, _ = field.cells[place]
    others = _baselines(results, field.cells[place], field.sign, optimism)
    orders, table = results.orders(data, method), results.settings[data].table
    top = list(islice(frequency_rows(orders, count, table.columns), count))
    agreement = set_stability(results.pairs(data, method), count)
    close = [field.cells[i][1] for i in field.close(field.scores.scores, errors)]
    answer = {
        "data": table.name,
        "method": method,
        "learner": learner,
        "metric": measure.name,
        "count": count,
        "columns": [row["column"] for row in top],
        "indices": [row["index"] for row in top],
        "shares": [row["share"] for row in top],
        "shares_low": [row["low"] for row in top],
        "shares_high": [row["high"] for row in top],
        "mean_ranks": [row["mean_rank"] for row in top],
        "score": score,
        "low": low,
        "high": high,
        "measured": float(field.scores.scores[place]),
        **others,
        "stability": agreement["nogueira"],
        "stability_low": agreement["low"],
        "stability_high": agreement["high"],
        "rivals": list(dict.fromkeys(name for name in close if name != method)),
    }
    return Recommendation(
        **answer,
        sentence=_sentence(answer, n_splits),
        reasons=_reasons(answer, field, errors),
    )


def _field(results: Results, data: int, measure: Any) -> _Field | None:
    """What may be recommended: no random ranking, and nothing that failed on some splits."""
    setting = results.settings[data]
    random = {m for m, s in results.plan.selectors.items() if type(s).__name__ == "RandomRanking"}
    methods = [method for method in results.methods if method not in random] or results.methods
    learners = [learner.name for learner in setting.learners]
    cells = [
        (data, method, count, learner, measure.name)
        for method, learner, count in product(methods, learners, setting.counts)
    ]
    n_scores = np.array([np.isfinite(results.values(*cell)).sum() for cell in cells])
    cells = [cell for cell, n in zip(cells, n_scores, strict=True) if n == n_scores.max() > 0]
    scores = results.row_scores(cells) if cells else None
    if scores is None:
        return None
    seconds = {
        method: np.median([unit.select_seconds for unit in results.successes(data, method)])
        for method in {cell[1] for cell in cells}
    }
    pairs = {method: results.pairs(data, method) for method in seconds}
    agreements = {
        where: set_stability(pairs[where[0]], where[1])["nogueira"]
        for where in {(cell[1], cell[2]) for cell in cells}
    }
    return _Field(
        cells,
        scores,
        1.0 if measure.greater_is_better else -1.0,
        np.array([cell[2] for cell in cells], dtype=np.float64),
        np.array([max(QUICK_SECONDS, float(seconds[cell[1]])) for cell in cells]),
        np.nan_to_num([agreements[cell[1], cell[2]] for cell in cells]),
    )


def _baselines(results: Results, cell: Cell, sign: float, optimism: float) -> dict[str, Any]:
    """Random, all and no columns on the same splits, and the gain over random ones."""
    data, _, count, learner, metric = cell
    n_columns = results.settings[data].table.X.shape[1]
    known: dict[str, float] = {}
    for name, n in (("random_score", count), ("all_score", n_columns), ("guess_score", 0)):
        values = results.values(data, BASELINE, n, learner, metric)
        values = values[np.isfinite(values)]
        known[name] = float(values.mean()) if values.size else float("nan")
    found: Difference | None = None
    pair = results.row_scores([cell, (data, BASELINE, count, learner, metric)])
    if pair is not None and pair.splits.shape[0] > 1 and count < n_columns:
        found = pair.difference(0, 1, of_model=True)
    if found is None or not np.isfinite(found.low):
        unknown = dict.fromkeys(("gain", "gain_low", "gain_high"), float("nan"))
        # Where every row gives the same, nothing is better; else nothing is known.
        is_equal = found is not None and found.mean == 0
        return {**known, **unknown, "is_better_than_random": False if is_equal else None}
    ends = sorted((sign * (found.low - optimism), sign * (found.high - optimism)))
    gain = sign * (found.mean - optimism)
    shown = {"gain": gain, "gain_low": ends[0], "gain_high": ends[1]}
    return {**known, **shown, "is_better_than_random": bool(ends[0] > 0)}


def _reasons(answer: dict[str, Any], field: _Field, errors: Floats) -> list[str]:
    scores, metric, count = field.scores.scores, answer["metric"], answer["count"]
    place = int(np.argmax(field.sign * scores))
    _, method, number, learner, _ = field.cells[place]
    reasons = []
    if (method, number, learner) == (answer["method"], count, answer["learner"]):
        reasons.append(f"It has the best mean {metric} of all, {scores[place]:.3f}.")
    else:
        reasons.append(
            f"The best mean {metric} is {scores[place]:.3f} ({method} with {_columns(number)} and "
            f"{learner}), with a standard error of {np.nan_to_num(errors[place]):.3f}; "
            f"{answer['measured']:.3f} is within it."
        )
    if count > field.counts.min():
        reasons.append(f"No method comes that close with fewer than {_columns(count)}.")
    if answer["rivals"]:
        reasons.append(
            f"As close with this or another number of columns: {', '.join(answer['rivals'])}. Of "
            "those with as few columns, the slow are passed over, and then the best is taken."
        )
    if len(field.cells) > 1:
        reasons.append(
            f"The mean {metric} was {answer['measured']:.3f}; the expected one, "
            f"{answer['score']:.3f}, is corrected for the choice among {len(field.cells)} "
            "(bootstrap bias correction: chosen by rows and splits drawn at random, scored on the "
            "others)."
        )
    if np.isfinite(answer["gain_low"]):
        reasons.append(
            f"It is better than {_columns(count, 'random')} by {answer['gain']:.3f} (95% interval "
            f"{answer['gain_low']:.3f} to {answer['gain_high']:.3f}, paired by row)."
        )
    return reasons


def _columns(count: int, kind: str = "") -> str:
    kind = f"{kind} " if kind else ""
    return f"{count:,} {kind}column{'' if count == 1 else 's'}"


def _sentence(answer: dict[str, Any], n_splits: int) -> str:
    count, metric = answer["count"], answer["metric"]
    text = f"On {answer['data']}, use {answer['method']} with {_columns(count)}: expect {metric} "
    if answer["is_better_than_random"] is False:
        text = (
            f"On {answer['data']}, nothing is shown to beat {_columns(count, 'random')}. The best "
            f"choice is {answer['method']} with {_columns(count)}: expect {metric} "
        )
    text += f"{answer['score']:.3f} with {answer['learner']}"
    if np.isfinite(answer["low"]):
        text += f" (95% interval {answer['low']:.3f} to {answer['high']:.3f})"
    text += ", the choice included; "
    beside = {
        "all columns": answer["all_score"],
        _columns(count, "random"): answer["random_score"],
        "guessing": answer["guess_score"],
    }
    text += ", ".join(f"{name} {score:.3f}" for name, score in beside.items() if score == score)
    if np.isfinite(answer["stability"]):
        text += (
            f". Independent tables of half as many rows give columns that agree to "
            f"{answer['stability']:.2f} (1 is the same columns, 0 is chance)"
        )
    return f"{text}. Measured on {n_splits} split{'s' if n_splits > 1 else ''}."
