"""BeyondChance for scores without a known law: permutations at once, another test, or none."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._rows import listed_rows
from tamis._runtime.warning import warn
from tamis.certainty._law import with_q_values
from tamis.certainty._null import permuted_scores
from tamis.certainty._sequential import LEAST, enough_permutations, permuted_p_values
from tamis.certainty.false_discoveries import ENOUGH_HITS, FalseDiscoveries
from tamis.certainty.permutations import TooFewOrders
from tamis.certainty.rule import CertaintyRule
from tamis.cutoff.elbow import find_elbows
from tamis.cutoff.fit_data import FitData
from tamis.filters.correlation import Correlation

# Pairs of rows that all permutations may look at: some seconds.
MOST_WORK = 300_000_000


def gather_without_law(rule: CertaintyRule, ranking: Ranking, data: FitData) -> dict[str, Any]:
    """P-values and q-values, and which test they belong to."""
    if data.X is None or data.y is None:
        return _without_rows(ranking, data)
    try:
        return _with_rows(rule, ranking, data)
    except TooFewOrders:
        if rule.strata is not None or rule._is_flat():
            raise
        # So few rows that no order of the target is rare: nothing can be beyond chance.
        return {"tested": "scores", **with_q_values(ranking, np.ones(ranking.n_columns))}


def _listed(data: FitData) -> FitData:
    """Rows in an order by content, as often as they weigh where weights are counts."""
    codes = np.unique(np.asarray(data.y), return_inverse=True)[1].ravel()
    rows, weight = listed_rows(data.X, codes, data.sample_weight)
    return data._replace(X=data.X[rows], y=np.asarray(data.y)[rows], sample_weight=weight)


def _with_rows(rule: CertaintyRule, ranking: Ranking, data: FitData) -> dict[str, Any]:
    if rule.strata is None and not rule._is_flat():
        data = _listed(data)
    test = FalseDiscoveries(rule.level, strata=rule.strata, groups=rule.groups)
    by_itself = marginal(test, data)
    n_found = int((by_itself["q_values"] <= test.level).sum())
    count = _enough(test, ranking.useful.size, n_found)
    quick = count * data.selector._order_work(data.X) <= MOST_WORK
    permuted = permuted_scores(data) if quick else None
    if permuted is None:
        return by_itself
    test = replace(test, n_permutations=count)
    p_values, tries = permuted_p_values(test, ranking, data, permuted)
    return {"tested": "scores", **with_q_values(ranking, p_values, tries)}


def _enough(test: FalseDiscoveries, n_features: int, n_found: int) -> int:
    """Permutations with ten hits at the edge of a selection of as many features."""
    edge = test.level * max(n_found, 1) / n_features
    return min(
        max(LEAST, math.ceil(ENOUGH_HITS / edge)), enough_permutations(n_features, test.level)
    )


def marginal(test: FalseDiscoveries, data: FitData) -> dict[str, Any]:
    """Test the correlation of every feature with the target, of ranks if the table is dense."""
    dense = isinstance(data.X, np.ndarray)
    selector = Correlation(
        kind="spearman" if dense else "pearson",
        task=getattr(data.selector, "task_", "auto"),
        n_features_to_select="all",
        n_jobs=getattr(data.selector, "n_jobs", None),
    )
    weight = data.sample_weight
    selector.fit(data.X, data.y, sample_weight=weight)
    if np.isnan(selector._unit_weight):  # the law has as many rows as weigh as much if equal
        selector._unit_weight = float(weight @ weight / weight.sum())
    found = test.gather(selector.ranking_record(), data._replace(selector=selector))
    return {
        "tested": "rank correlation" if dense else "correlation",
        **found,
        "number": _own_number(data.selector),
    }


def _without_rows(ranking: Ranking, data: FitData) -> dict[str, Any]:
    """What blocks of rows have left behind may still bound p-values; if not, nothing is tested."""
    who = type(data.selector).__name__
    bound = data.selector._p_value_bounds()
    if bound is not None:
        return {"tested": "scores", **with_q_values(ranking, bound), "source": "bound"}
    number = data.selector.best_n_features_ if data.selector._chooses_count else None
    kept = "the elbow" if number is None else "the number that the method finds best"
    warn(
        f"{who}: the features were not tested against chance, because that needs all rows in "
        f"memory; {kept} is kept. Give a number, or use a method with a known law, such as AnovaF."
    )
    if number is None:
        number = find_elbows(ranking.curve)[0]
    return {"tested": "nothing", "n_permutations": 0, "source": "nothing", "number": number}


def _own_number(selector: Any) -> int | None:
    finds_one = selector._chooses_count and not selector._best_is_elbow
    return selector.best_n_features_ if finds_one else None


def first_ones(level: float, evidence: dict[str, Any], ranking: Ranking) -> NDArray[np.bool_]:
    """The first features of the order: the method's own number, or as many as have passed."""
    count, tested = evidence["number"], evidence["tested"] != "nothing"
    if tested:
        n_passed = int((evidence["q_values"] <= level).sum())
        count = n_passed if count is None or not n_passed else count
    mask = np.zeros(ranking.n_columns, bool)
    mask[ranking.useful[:count]] = True
    return mask


def statements(details: dict[str, Any]) -> dict[str, str]:
    """What another test than that of the scores says, and what it does not."""
    if details["tested"] == "nothing":
        return {
            "question": "None: the features were not tested.",
            "null_hypothesis": "", "assumption": "", "guarantee": "",
        }  # fmt: skip
    return {
        "question": "How many features are related to the target, each by itself? (marginal)",
        "null_hypothesis": f"the {details['tested']} of the feature with the target is 0",
        "assumption": "the law of the correlation holds; features are independent or positively "
        "dependent",
        "guarantee": "if no feature is related to the target, the chance of selecting any is at "
        "most the level; of the features selected, the test says how many, not which",
    }
