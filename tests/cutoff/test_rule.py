"""What all rules share: columns always kept, and columns that go together."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from tamis._ranking import Ranking
from tamis.cutoff import (
    Budget,
    CrossValidated,
    Elbow,
    Fraction,
    Mass,
    PermutationNull,
    Threshold,
    TopK,
)
from tamis.exceptions import InputError, SelectionWarning

NAMES = ["alpha", "beta", "gamma", "delta", "epsilon"]
RANKING = Ranking.of([5.0, 4.0, 3.0, 2.0, 1.0], names=NAMES)


def selected(rule, ranking=RANKING):
    return np.flatnonzero(rule.select(ranking)[0]).tolist()


@pytest.mark.parametrize(
    "keep", [["delta"], [3], [-2], "delta", 3, np.int64(3), np.array([3]), ("delta", 3), {3}]
)
def test_keep_takes_names_and_indices(keep):
    assert selected(TopK(2, keep=keep)) == [0, 3]


def test_kept_columns_count():
    assert selected(TopK(3, keep=["alpha", "epsilon"])) == [0, 1, 4]


def test_more_kept_columns_than_asked_for_are_all_kept():
    assert selected(TopK(1, keep=["gamma", "delta", "epsilon"])) == [2, 3, 4]


def test_without_names_columns_are_called_as_in_scikit_learn():
    assert selected(TopK(2, keep=["x4"]), Ranking.of([3.0, 2.0, 1.0, 1.0, 1.0])) == [0, 4]


def test_a_constant_column_can_be_kept_by_name():
    ranking = Ranking.of([3.0, 0.0, 2.0], constant=[False, True, False])
    assert selected(TopK(2, keep=[1]), ranking) == [0, 1]
    assert selected(Threshold(3.0, keep=[1]), ranking) == [0, 1]


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (["bta"], r"TopK: keep: expected a column of the table, got 'bta'\. Did you mean 'beta'\?"),
        (["zzzzzz"], r"TopK: keep: expected a column of the table, got 'zzzzzz'\.$"),
        ([5], r"TopK: keep: expected a column index below 5, got 5\."),
        ([-6], r"TopK: keep: expected a column index below 5, got -6\."),
        ([1.5], r"TopK: keep: expected column names or indices, got 1\.5\."),
        (1.5, r"TopK: keep: expected column names or indices, got 1\.5\."),
        ([True], r"TopK: keep: expected column names or indices, got True\."),
        (np.array([True, False] * 2), r"TopK: keep: expected column names or indices, got"),
        ([None], r"TopK: keep: expected column names or indices, got None\."),
        ([["beta"]], r"TopK: keep: expected column names or indices, got \['beta'\]\."),
    ],
)
def test_unknown_columns(keep, message):
    with pytest.raises(InputError, match=message):
        TopK(2, keep=keep).select(RANKING)


GROUPS = {
    "lists of names": [["alpha", "delta"], ["beta", "epsilon"]],
    "lists of indices": [[0, 3], [1, -1]],
    "tuples and sets": ({0, 3}, (1, "epsilon")),
    "ranges": [range(0, 4, 3), range(1, 5, 3)],
    "arrays": [np.array([0, 3]), np.array(["beta", "epsilon"])],
    "mapping": {"first": ["alpha", "delta"], "second": [1, 4]},
    "mapping with one column alone": {"first": [0, 3], "second": [1, 4], "third": "gamma"},
    "labels": ["a", "b", "c", "a", "b"],
    "label array": np.array([7, 8, 9, 7, 8]),
    "mixed labels": [None, 2, "c", None, 2],
}


@pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)
def test_all_forms_of_groups(groups):
    assert selected(TopK(2, groups=groups)) == [0, 3]
    assert selected(TopK(4, groups=groups)) == [0, 1, 3, 4]
    assert selected(TopK(5, groups=groups)) == [0, 1, 2, 3, 4]


def test_a_group_has_the_rank_of_its_best_column():
    assert selected(TopK(3, groups=[["alpha", "epsilon"]])) == [0, 1, 4]


def test_a_group_that_does_not_fit_is_passed_over():
    assert selected(TopK(2, groups=[["alpha", "delta", "epsilon"]])) == [1, 2]


def test_room_left_by_a_group_is_not_for_constant_columns():
    ranking = Ranking.of([5.0, 4.0, 3.0, 2.0, 0.0], constant=[False] * 4 + [True])
    assert selected(TopK(2, groups=[[0, 1, 2]]), ranking) == [3]
    assert selected(TopK(5, groups=[[0, 1, 2]]), ranking) == [0, 1, 2, 3, 4]


def test_nothing_fits_warns():
    with pytest.warns(SelectionWarning, match="TopK: no column was selected"):
        assert selected(TopK(1, groups=[["alpha", "beta"], [2, 3, 4]])) == []


def test_keep_brings_its_group():
    assert selected(TopK(3, keep=["epsilon"], groups=[["delta", "epsilon"]])) == [0, 3, 4]


def test_a_constant_column_comes_with_its_group():
    ranking = Ranking.of([3.0, 0.0, 2.0], constant=[False, True, False])
    assert selected(TopK(2, groups=[[0, 1]]), ranking) == [0, 1]


@pytest.mark.parametrize("groups", [[], {}, np.array([])])
def test_no_groups_at_all(groups):
    assert selected(TopK(2, groups=groups)) == [0, 1]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([["alpha", "beta"], ["gamma", "beta"]], r"expected every column in one group, got 'beta'"),
        ([[0, 1], ["beta"]], r"expected every column in one group, got 'beta' in two"),
        (["a", "b"], r"must hold lists of columns or one label per column \(5\), got 2 labels"),
        ("alpha", r"must hold lists of columns or one label per column \(5\), got 1 labels"),
        ([["alpah"]], r"expected a column of the table, got 'alpah'\. Did you mean 'alpha'"),
        ([[9]], r"expected a column index below 5, got 9"),
        ({"a": [1.5]}, r"expected column names or indices, got 1\.5"),
    ],
)
def test_bad_groups(groups, message):
    with pytest.raises(InputError, match=f"TopK: groups:? {message}"):
        TopK(2, groups=groups).select(RANKING)


RULES = {
    "TopK": lambda **rest: TopK(2, **rest),
    "Fraction": lambda **rest: Fraction(0.4, **rest),
    "Threshold": lambda **rest: Threshold(4.0, **rest),
    "Mass": lambda **rest: Mass(0.6, **rest),
    "Budget": lambda **rest: Budget([1] * 5, 2, **rest),
}


@pytest.mark.parametrize("make", RULES.values(), ids=RULES)
def test_every_rule_takes_keep_and_groups(make):
    assert selected(make()) == [0, 1]
    assert 4 in selected(make(keep=["epsilon"]))
    together = selected(make(groups=[["alpha", "delta"]]))
    assert {0, 3} <= set(together)


def test_rules_without_a_limit_add_what_is_kept():
    assert selected(Threshold(4.0, keep=["epsilon"])) == [0, 1, 4]
    assert selected(Threshold(4.0, groups=[["beta", "epsilon"]])) == [0, 1, 4]


@pytest.mark.parametrize("rule", [PermutationNull(), CrossValidated(GaussianNB())])
def test_rules_that_look_at_the_data_ask_for_it(rule):
    with pytest.raises(InputError, match=rf"{rule.who}: expected the training data.*recut\(rule"):
        rule.select(RANKING)


def test_details_are_what_the_rule_found_out():
    found = Elbow("late").select(Ranking.of([9.0, 8.5, 1.0, 0.9, 0.8]))[1]
    assert found == {"early": 2, "late": 2, "early_range": (2, 2), "late_range": (2, 2)}
