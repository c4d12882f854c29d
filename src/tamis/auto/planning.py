"""Plan: how much is tried within limits, by estimates that depend on the table only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tamis.auto.choosing import Inner, counts_for
from tamis.auto.methods import SECONDS_TO_RELATE, Method, methods_for
from tamis.auto.problem import Problem

# Seconds of one core that are planned for where no limit is given.
USUAL_SECONDS = 300.0
# Share of a limit that is planned for: estimates are rough.
PLANNED_SHARE = 0.5
# Share of the plan that the rankings of one method may take.
LARGEST_SHARE = 0.4
# Seconds to judge one set of features by one model: for a set, and for a row of it.
SECONDS_PER_SET, SECONDS_PER_ROW = 3e-4, 5e-7
# From rich to poor: repeats and folds outside, repeats and folds inside.
SCHEMES = (
    (1, 10, 2, 5), (1, 10, 1, 5), (1, 5, 1, 5), (1, 5, 1, 3), (1, 3, 1, 3), (1, 3, 1, 2),
)  # fmt: skip
# With more rows, more folds add little. With fewer, ten folds learn from nearly all rows; five
# understate what the features predict.
MANY_ROWS = 500
# Memory beyond the table where no limit is given: this, or two copies of the table.
USUAL_BYTES = 2**30
# What a process takes before it has any rows.
BYTES_PER_PROCESS = 2**27
# Pairs of half samples for the selection frequencies, and the share of the time for them.
FEWEST_PAIRS, MOST_PAIRS, SHARE_OF_HALVES = 5, 25, 0.1


class Plan(NamedTuple):
    """What is tried, on how many folds, by how many processes."""

    methods: tuple[Method, ...]
    too_slow: tuple[Method, ...]
    too_large: tuple[Method, ...]
    n_repeats: int
    n_folds: int
    inner: Inner
    n_pairs: int  # of half samples
    bytes_left: float
    n_workers: int


def make_plan(
    problem: Problem, time_limit: float | None, memory_limit: int | None, n_jobs: int
) -> Plan:
    """The richest plan within the limits, without the methods that would take most of them.

    What is tried does not depend on `n_jobs`; only so many processes work as fit in memory.
    """
    n_rows, n_features = problem.X.shape
    seconds = USUAL_SECONDS if time_limit is None else PLANNED_SHARE * time_limit
    one_copy = 8.0 * n_rows * n_features
    room = max(2.0 * one_copy, USUAL_BYTES) if memory_limit is None else float(memory_limit)
    known = methods_for(problem)
    cost = {method: method.seconds(n_rows, n_features) for method in known}
    too_large = tuple(m for m in known if m.copies * one_copy > room)
    poorest = _n_rankings(SCHEMES[-1])
    too_slow = tuple(
        m for m in known if m not in too_large and cost[m] * poorest > LARGEST_SHARE * seconds
    )
    methods = tuple(m for m in known if m not in too_large and m not in too_slow)
    methods = methods or (min(known, key=lambda method: cost[method]),)
    per_set = (SECONDS_PER_SET + SECONDS_PER_ROW * n_rows) * max(1.0, problem.n_classes / 3)
    n_sets = len(methods) * len(problem.models) * len(counts_for(problem))
    once = sum(cost[method] for method in methods) + n_sets * per_set
    relating = SECONDS_TO_RELATE * n_rows * n_features
    once += relating
    schemes = SCHEMES[2:] if n_rows > MANY_ROWS else SCHEMES
    chosen = next((s for s in schemes if _n_rankings(s) * once <= seconds), schemes[-1])
    # Half the rows, twice: a ranking of a pair takes no longer than one of all rows.
    dearest = max(cost[method] for method in methods) + relating
    # Processes share a copy of the table, and each has its own rows beside its packages.
    each = max(method.copies for method in methods) * one_copy + BYTES_PER_PROCESS
    return Plan(
        methods=methods,
        too_slow=tuple(m for m in too_slow if m not in methods),
        too_large=tuple(m for m in too_large if m not in methods),
        n_repeats=chosen[0],
        n_folds=chosen[1],
        inner=Inner(chosen[3], chosen[2]),
        n_pairs=int(np.clip(SHARE_OF_HALVES * seconds / dearest, FEWEST_PAIRS, MOST_PAIRS)),
        bytes_left=room,
        n_workers=int(max(1, min(n_jobs, (room - one_copy) // each))),
    )


def _n_rankings(scheme: tuple[int, int, int, int]) -> int:
    """Rankings per method: on inner folds, outside and for the table as a whole."""
    outer_repeats, outer_folds, inner_repeats, inner_folds = scheme
    return (outer_repeats * outer_folds + 1) * (inner_repeats * inner_folds + 1)
