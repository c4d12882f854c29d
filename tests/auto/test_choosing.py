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
    # Rows say 1 or 0. Eight features are wrong on 2 of 20 rows, two on 3 others, one on 10.
    right = np.ones((20, 3))
    right[:2, 0] = right[2:5, 1] = right[:10, 2] = 0.0
    found = gather([(np.arange(20), right)], n_rows=20)
    # Eight against two: 0.05 with a standard error of 0.11; against one: 0.4, 0.11.
    assert choosing.pick(choices(8, 2, 1), found).n_features == 2
    right[5:8, 1] = 0.0  # 0.2 with a standard error of 0.14
    found = gather([(np.arange(20), right)], n_rows=20)
    assert choosing.pick(choices(8, 2, 1), found).n_features == 8


def test_another_method_may_need_fewer_features():
    right = np.ones((20, 3))
    right[:2, 0] = right[2:5, 1] = right[2:4, 2] = 0.0
    found = gather([(np.arange(20), right)], n_rows=20)
    others = [choosing.Choice(METHODS[k], RidgeModel(2), 2) for k in (1, 2)]
    # Both others do as well as the first, the last one a little better.
    assert choosing.pick([*choices(5), *others], found) == others[1]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((100, 4), (1, 2, 3, 4)),
        ((60, 500), (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25)),
        ((20, 500), (1, 2, 3, 4, 5, 6, 7, 8, 10)),
        ((100, 17), (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 17)),
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
    assert related_features(noise, np.arange(80)).tolist() == list(range(50))


def test_a_plan_gets_poorer_with_less_time():
    X = np.zeros((200, 20))
    small = problem(X, np.arange(200) % 2)
    rich, poor = (planning.make_plan(small, seconds, None, 1) for seconds in (None, 0.5))
    assert (rich.n_repeats, rich.n_folds, rich.n_pairs) == (1, 10, planning.MOST_PAIRS)
    assert rich.too_slow == rich.too_large == ()
    assert len(poor.methods) + len(poor.too_slow) == len(rich.methods)
    assert poor.n_repeats * poor.n_folds < rich.n_repeats * rich.n_folds
    assert poor.methods


def test_a_wide_table_leaves_out_what_takes_too_long():
    class Wide:
        shape = (6_000, 12_000)

    wide = problem(np.zeros((4, 2)), [0, 1, 0, 1])._replace(X=Wide(), rows=np.arange(6_000))
    plan = planning.make_plan(wide, None, None, 2)
    assert "ReliefF" in {method.name for method in plan.too_slow}
    assert {method.name for method in plan.too_large} == {"lasso path"}
    assert plan.n_workers == 1  # two copies of the table are too few for two processes
    assert planning.make_plan(wide, None, 5_000_000_000, 2).n_workers == 2
    small = planning.make_plan(wide, None, 700_000_000, 2)
    assert small.n_workers == 1
    assert {method.name for method in small.too_large} == {"lasso path", "random forest"}
    assert planning.make_plan(wide, None, 1, 2).methods  # the cheapest in any case


def test_what_is_tried_does_not_depend_on_processes():
    small = problem(np.zeros((300, 400)), np.arange(300) % 2)
    one, two = (planning.make_plan(small, 5.0, None, n_jobs) for n_jobs in (1, 2))
    assert one._replace(n_workers=2) == two


def test_all_features_by_products_and_by_gradients(monkeypatch):
    from tamis.auto import expected

    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 60)) + 0.5 * y[:, None]
    table = problem(X, y)
    choice = choosing.Choice(METHODS[0], RidgeModel(2), 3)
    train, test = np.arange(150), np.arange(150, 200)
    exact = expected._votes_of_all(table, choice, train, test, 1e9)
    monkeypatch.setattr(expected, "COLUMNS_AT_ONCE", 16)
    products = expected._votes_of_all(table, choice, train, test, 1e9)
    np.testing.assert_allclose(products, exact, atol=1e-6)
    monkeypatch.setattr(expected, "MOST_PRODUCTS", 100)
    gradients = expected._votes_of_all(table, choice, train, test, 1e9)
    assert np.corrcoef(gradients[:, 1], exact[:, 1])[0, 1] > 0.98
    assert expected._votes_of_all(table, choice, train, test, 4.0 * 200 * 60 - 1) is None


def test_r_squared_of_small_folds_is_not_too_small():
    # Predictions that explain half of the variance, scored on folds of five rows.
    rng = np.random.default_rng(0)
    y = rng.normal(size=2_000)
    table = problem(np.zeros((2_000, 1)), y, n_classes=0)
    votes = (y + rng.normal(size=2_000))[:, None] / 2  # the best guess from y plus noise
    folds = np.arange(2_000).reshape(-1, 5)
    found = np.mean([table.by_row(votes[rows], rows).mean() for rows in folds])
    assert found == pytest.approx(0.5, abs=0.03)
