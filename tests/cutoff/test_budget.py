"""Budget: the best columns whose costs fit."""

import numpy as np
import pytest

from tamis._ranking import Ranking
from tamis.cutoff import Budget
from tamis.exceptions import InputError, SelectionWarning

RANKING = Ranking.of([5.0, 4.0, 3.0, 2.0], names=["age", "blood", "scan", "name"])


def selected(rule, ranking=RANKING):
    support, details = rule.select(ranking)
    return np.flatnonzero(support).tolist(), details["cost"]


@pytest.mark.parametrize(
    ("budget", "expected", "cost"),
    [
        (4, [0, 3], 4.0),  # age 3, blood 5 is too dear, scan 2 too, name 1
        (5, [0, 2], 5.0),
        (8, [0, 1], 8.0),
        (10.5, [0, 1, 2], 10.0),
        (11, [0, 1, 2, 3], 11.0),
        (np.inf, [0, 1, 2, 3], 11.0),
    ],
)
def test_by_hand(budget, expected, cost):
    assert selected(Budget([3, 5, 2, 1], budget)) == (expected, cost)


def test_tenths_that_add_up_fit():
    # 0.1 + 0.2 is 0.30000000000000004
    assert selected(Budget([0.1, 0.2, 9, 9], 0.3))[0] == [0, 1]


def test_costs_by_name_leave_the_others_free():
    assert selected(Budget({"blood": 5, "scan": 2}, 2)) == ([0, 2, 3], 2.0)
    assert selected(Budget({1: 5, -2: 2}, 2)) == ([0, 2, 3], 2.0)
    assert selected(Budget({}, 0)) == ([0, 1, 2, 3], 0.0)


def test_kept_columns_are_paid_first_even_beyond_the_budget():
    assert selected(Budget([3, 5, 2, 1], 6, keep=["blood"])) == ([1, 3], 6.0)
    assert selected(Budget([3, 5, 2, 1], 1, keep=["blood", "age"])) == ([0, 1], 8.0)


def test_a_group_costs_the_sum_of_its_columns():
    rule = Budget([3, 5, 2, 1], 4, groups=[["age", "scan"]])
    assert selected(rule) == ([3], 1.0)
    rule = Budget([3, 5, 2, 1], 6, groups=[["age", "scan"]])
    assert selected(rule) == ([0, 2, 3], 6.0)


def test_constant_columns_are_not_bought_even_for_nothing():
    ranking = Ranking.of([1.0, 9.0], constant=[False, True])
    assert selected(Budget([0, 0], 10), ranking) == ([0], 0.0)


def test_no_money_no_columns():
    with pytest.warns(SelectionWarning, match="Budget: no column was selected"):
        assert selected(Budget([1, 1, 1, 1], 0)) == ([], 0.0)


@pytest.mark.parametrize("budget", [-1, float("nan"), None, "10", True], ids=repr)
def test_bad_budgets(budget):
    with pytest.raises(InputError, match="Budget: budget must be a float of at least 0, got"):
        Budget([1, 1, 1, 1], budget)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1, 2], r"costs must hold one number per column \(4\), got 2"),
        (3.0, r"costs must hold one number per column \(4\), got 1"),
        ([1, 2, -3, 4], r"costs must not be negative or missing, got .*-3"),
        ([1, 2, np.nan, 4], r"costs must not be negative or missing, got .*nan"),
        (["a", "b", "c", "d"], r"costs must be numbers, got \['a'"),
        ({"blood": "dear"}, r"costs must be numbers, got \['dear'\]"),
        ({"blod": 1}, r"costs: expected a column of the table, got 'blod'\. Did you mean 'blood'"),
        ({9: 1}, r"costs: expected a column index below 4, got 9"),
        ({"blood": -1}, r"costs must not be negative"),
    ],
)
def test_bad_costs(costs, message):
    with pytest.raises(InputError, match=f"Budget: {message}"):
        Budget(costs, 10).select(RANKING)
