"""The choice, and the plan that says what is tried."""

import numpy as np
import pytest

from tamis.auto import choosing, planning
from tamis.auto.methods import METHODS, related_features
from tamis.auto.models import RidgeModel
from tamis.auto.problem import Problem
from tamis.evaluation.intervals import gather
from tamis.evaluation.metrics import make_metric


def problem(X, y, n_classes=2, groups=None):
    metric = make_metric(
        "auc" if n_classes else "r2", "classification" if n_classes else "regression"
    )
    models = RidgeModel(n_classes), RidgeModel(n_classes, "gaussian")
    n = len(X)
    return Problem(X, np.asarray(y), np.ones(n), groups, n_classes, metric, models, np.arange(n))


def choices(*counts):
    return [choosing.Choice(METHODS[0], RidgeModel(2), count) for count in counts]


def test_fewest_features_that_do_as_well():
    # Rows say 1 or 0. Eight features are right on 9 of 10 rows, two on 8 of the same, one on 5.
    right = np.array([[1] * 9 + [0], [1] * 8 + [0] * 2, [1] * 5 + [0] * 5], dtype=float).T
    found = gather([(np.arange(10), right)], n_rows=10)
    # Eight against two: 0.1 with a standard error of 0.1; against one: 0.4, 0.16.
    assert choosing.pick(choices(8, 2, 1), found).n_features == 2
    right[6:8, 1] = 0.0  # 0.3 with a standard error of 0.15
    found = gather([(np.arange(10), right)], n_rows=10)
    assert choosing.pick(choices(8, 2, 1), found).n_features == 8


def test_other_methods_do_not_shorten_the_best():
    right = np.array([[1] * 10, [1] * 10], dtype=float).T
    right[0, 1] = 0.0
    found = gather([(np.arange(10), right)], n_rows=10)
    other = choosing.Choice(METHODS[1], RidgeModel(2), 1)
    assert choosing.pick([*choices(5), other], found).n_features == 5


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((100, 4), (1, 2, 3, 4)),
        ((100, 500), (1, 2, 3, 5, 8, 13, 20, 32, 50)),
        ((20, 500), (1, 2, 3, 5, 8)),
        ((100, 25), (1, 2, 3, 5, 8, 13, 20, 25)),
    ],
)
def test_counts(shape, expected):
    X = np.zeros(shape)
    assert choosing.counts_for(problem(X, np.arange(shape[0]) % 2)) == expected


def test_folds_keep_groups_together_and_classes_apart():
    y, groups = np.arange(60) // 3 % 2, np.arange(60) // 3
    for train, test in problem(np.zeros((60, 2)), y, groups=groups).folds(
        5, np.random.default_rng(0)
    ):
        assert not np.intersect1d(groups[train], groups[test]).size
    for train, test in problem(np.zeros((60, 2)), y).folds(5, np.random.default_rng(0)):
        assert np.bincount(y[test]).tolist() == [6, 6]
        assert train.size == 48


def test_related_features_are_all_if_none_is():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = rng.normal(size=(80, 50))
    noise = problem(X, y)
    X = X.copy()
    X[:, 7] += 2 * y
    assert related_features(problem(X, y), np.arange(80)).tolist() == [7]
    assert related_features(noise, np.arange(80)) == slice(None)


def test_a_plan_gets_poorer_with_less_time():
    X = np.zeros((200, 20))
    small = problem(X, np.arange(200) % 2)
    rich, poor = planning.make_plan(small, None, 1), planning.make_plan(small, 0.5, 1)
    assert (rich.n_repeats, rich.n_folds) == (2, 5)
    assert rich.left_out == ()
    assert len(poor.methods) + len(poor.left_out) == len(rich.methods)
    assert poor.n_repeats * poor.n_folds < rich.n_repeats * rich.n_folds
    assert poor.methods


def test_a_wide_table_leaves_out_what_takes_too_long():
    class Wide:
        shape = (6_000, 12_000)

    wide = problem(np.zeros((4, 2)), [0, 1, 0, 1])._replace(X=Wide(), rows=np.arange(6_000))
    names = {method.name for method in planning.make_plan(wide, None, 1).left_out}
    assert "ReliefF" in names
