"""TreeImportance: gains, shuffles, the ensembles by name and what users pass."""

import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from tamis import TreeImportance
from tamis._rows import listed_rows
from tamis.exceptions import InputError, MissingDependencyError

BOOSTED = ["xgboost", "lightgbm"]


def table(seed=0, n_rows=120, n_columns=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 2] + X[:, 5] > 0).astype(int), X[:, 2] + X[:, 5]


def few(**options):
    options = {
        "n_estimators": 30,
        "random_state": 0,
        "n_features_to_select": 2,
        "n_jobs": 1,
    } | options
    return TreeImportance(**options)


def chosen(selector):
    return np.flatnonzero(selector.support_).tolist()


# Gains.


def test_gain_of_a_stump_by_hand():
    # One split of column 1 separates the classes: it gains everything.
    X = np.array([[0, 0], [1, 0], [0, 1], [1, 1.0]])
    stump = DecisionTreeClassifier(max_depth=1)
    fitted = TreeImportance(estimator=stump, n_features_to_select="all").fit(X, [0, 0, 1, 1])
    assert fitted.scores_.tolist() == [0.0, 1.0]


def test_gains_of_two_levels_by_hand():
    # Squared error 0, 4, 10, 14 around 7: the first column takes off 25 of 29, the second 4.
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
    tree = DecisionTreeRegressor()
    fitted = TreeImportance(estimator=tree, task="regression", n_features_to_select="all")
    np.testing.assert_allclose(fitted.fit(X, [0, 4, 10, 14]).scores_, [25 / 29, 4 / 29])


@pytest.mark.parametrize(
    ("name", "model"), [("forest", RandomForestClassifier), ("extra", ExtraTreesClassifier)]
)
def test_gains_are_those_of_scikit_learn(name, model):
    X, y, _ = table()
    seed = np.random.RandomState(3).randint(np.iinfo(np.int32).max)
    unit = ((X - X.min(axis=0)) / np.ptp(X, axis=0)).astype(np.float32)
    rows = listed_rows(X, y, None).rows  # the order that the trees see
    model = model(n_estimators=30, random_state=seed)
    expected = model.fit(unit[rows], y[rows]).feature_importances_
    fitted = few(estimator=name, random_state=3).fit(X, y)
    np.testing.assert_allclose(fitted.scores_, expected, rtol=1e-9)


def test_regression_forest_looks_at_a_third_of_the_columns():
    X, _, target = table()
    seed = np.random.RandomState(3).randint(np.iinfo(np.int32).max)
    unit = ((X - X.min(axis=0)) / np.ptp(X, axis=0)).astype(np.float32)
    model = RandomForestRegressor(30, random_state=seed, max_features=1 / 3)
    rows = listed_rows(X, target, None).rows  # the order that the trees see
    expected = model.fit(unit[rows], target[rows]).feature_importances_
    scores = few(random_state=3).fit(X, target).scores_
    # Splits of a few rows tie and are decided by the rounding of the standardised target.
    np.testing.assert_allclose(scores, expected, atol=0.01)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", ["forest", "extra", *BOOSTED])
@pytest.mark.parametrize("importance", ["impurity", "permutation"])
@pytest.mark.parametrize("numeric", [False, True])
def test_every_ensemble_finds_the_columns(name, importance, numeric):
    if name in BOOSTED:
        pytest.importorskip(name)
    X, y, target = table(n_rows=200)
    selector = few(estimator=name, importance=importance)
    fitted = selector.fit(X, target if numeric else np.array(["no", "yes"])[y])
    assert chosen(fitted) == [2, 5]
    assert hasattr(fitted, "classes_") is not numeric
    if importance == "impurity":
        assert fitted.scores_.sum() == pytest.approx(1.0)
    else:
        assert fitted.held_out_score_ > 0.7


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["forest", *BOOSTED])
def test_threads_do_not_matter(name):
    if name in BOOSTED:
        pytest.importorskip(name)
    X, y, _ = table(n_rows=300, n_columns=20)
    for importance in ("impurity",) if name in BOOSTED else ("impurity", "permutation"):
        options = {"importance": importance, "n_repeats": 1, "n_estimators": 10}
        one, two = (few(estimator=name, n_jobs=n, **options).fit(X, y).scores_ for n in (1, 2))
        np.testing.assert_array_equal(one, two)


# Shuffles.


def test_shuffling_a_column_that_is_not_used_costs_nothing():
    X, _, _ = table()
    stump = DecisionTreeClassifier(max_depth=1)
    fitted = few(estimator=stump, importance="permutation", n_repeats=20).fit(X, X[:, 4] > 0)
    assert fitted.held_out_score_ > 0.9
    assert fitted.order_[0] == 4
    # Half of the rows keep their side when shuffled.
    assert fitted.scores_[4] == pytest.approx(0.5, abs=0.15)
    assert (np.delete(fitted.scores_, 4) == 0).all()


def test_rows_are_held_out():
    # Noise is learned by heart on the rows seen; on others it is worth nothing.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 5)), rng.integers(0, 2, 400)
    by_gain = few().fit(X, y).scores_
    by_loss = few(importance="permutation").fit(X, y)
    assert by_gain.min() > 0.1
    assert abs(by_loss.scores_).max() < 0.15  # two standard errors of 100 held-out rows are 0.1
    assert by_loss.held_out_score_ < 0.65


def test_scoring_and_an_estimator_without_gains():
    X, y, _ = table()
    model = LogisticRegression()
    fitted = few(estimator=model, importance="permutation", scoring="neg_log_loss").fit(X, y)
    assert chosen(fitted) == [2, 5]
    assert fitted.held_out_score_ < 0
    with pytest.raises(InputError, match=r"feature_importances_.*importance='permutation'"):
        few(estimator=model).fit(X, y)


def test_a_constant_column_is_last_even_below_negative_importances():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(100, 6)), rng.integers(0, 2, 100)
    X[:, 3] = 5.0
    fitted = few(importance="permutation", n_features_to_select=5).fit(X, y)
    assert fitted.scores_.min() < 0
    assert fitted.scores_[3] == fitted.scores_.min()
    assert not fitted.support_[3]


@pytest.mark.slow
def test_classes_too_small_to_be_in_both_parts():
    X, y, _ = table(n_rows=40)
    y[0] = 7
    assert chosen(few(importance="permutation", n_estimators=100).fit(X, y)) == [2, 5]


def test_two_rows_leave_one_to_train_on():
    fitted = few(importance="permutation", n_features_to_select="all").fit([[0.0], [1.0]], [0, 1])
    assert np.isfinite(fitted.scores_).all()
    with pytest.raises(InputError, match="TreeImportance: expected rows to train on"):
        few(importance="permutation", test_size=0.9).fit([[0.0], [1.0]], [0, 1])


# Tables, targets and weights.


@pytest.mark.parametrize("name", ["forest", "fast", "extra", *BOOSTED])
def test_offsets_and_tiny_units(name):
    # Float32 knows 1e8 to within 8, and scikit-learn takes values within 1e-7 as equal.
    if name in BOOSTED:
        pytest.importorskip(name)
    X, y, target = table(n_rows=200)
    X[:, 2] += 1e8
    X[:, 5] *= 1e-12
    assert chosen(few(estimator=name).fit(X, y)) == [2, 5]
    assert chosen(few(estimator=name).fit(X, 1e8 + target)) == [2, 5]
    assert chosen(few(estimator=name).fit(X * 1e140, y)) == [2, 5]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ["forest", "extra", *BOOSTED])
def test_sparse_tables_and_holes(name):
    if name in BOOSTED:
        pytest.importorskip(name)
    X, y, _ = table(n_rows=200)
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0.0
    for importance in ("impurity", "permutation"):
        selector = few(estimator=name, importance=importance, n_repeats=2)
        dense = selector.fit(X, y).scores_
        np.testing.assert_allclose(selector.fit(sparse.csr_array(X), y).scores_, dense, rtol=1e-9)
    X[5:9, 2] = np.nan
    dense = few(estimator=name).fit(X, y).scores_
    compressed = few(estimator=name).fit(sparse.csr_array(X), y).scores_
    np.testing.assert_allclose(compressed, dense, rtol=1e-9)


def test_missing_values_can_tell_the_classes_apart():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 4)), rng.integers(0, 2, 100)
    X[y == 1, 1] = np.nan
    assert few().fit(X, y).order_[0] == 1


def test_rows_without_weight_are_not_there():
    X, y, _ = table()
    weight = np.ones(120)
    weight[:30] = 0
    X[:30, 0] = 1e6
    left = few().fit(X, y, sample_weight=weight).scores_
    np.testing.assert_allclose(left, few().fit(X[30:], y[30:]).scores_, rtol=1e-9)


@pytest.mark.slow
def test_weights_reach_the_trees():
    # Column 0 tells the classes in the heavy half, column 1 in the light one.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 2))
    X[:200, 0] += 4 * y[:200]
    X[200:, 1] += 4 * y[200:]
    heavy = np.repeat([10.0, 1.0], 200)
    for importance in ("impurity", "permutation"):
        selector = few(importance=importance, n_features_to_select="all")
        assert selector.fit(X, y, sample_weight=heavy).order_[0] == 0
        assert selector.fit(X, y, sample_weight=heavy[::-1]).order_[0] == 1


def test_integers_are_classes_unless_said_otherwise():
    X, _, target = table()
    y = np.round(target).astype(int)
    assert few().fit(X, y).classes_.size == np.unique(y).size
    numeric = few(task="regression").fit(X, y)
    assert not hasattr(numeric, "classes_")
    assert chosen(numeric) == [2, 5]


def test_estimator_of_the_user_is_not_touched():
    data = load_iris()
    model = RandomForestClassifier(10)
    first, second = (few(estimator=model).fit(data.data, data.target).scores_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert model.random_state is None
    assert not hasattr(model, "estimators_")


@pytest.mark.parametrize("package", BOOSTED)
def test_missing_package(package, monkeypatch):
    X, y, _ = table()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=f"pip install {package}"):
        few(estimator=package).fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("estimator", "tree"),
        ("importance", "gain"),
        ("n_estimators", 0),
        ("max_depth", 0),
        ("n_repeats", 0),
        ("test_size", 1.0),
        ("task", "classes"),
    ],
)
def test_parameters_out_of_range(name, value):
    X, y, _ = table()
    with pytest.raises(InputError, match=f"TreeImportance: {name} must be"):
        TreeImportance(**{name: value}).fit(X, y)


def test_infinite_values_name_the_column():
    X, y, _ = table()
    X[3, 6] = -np.inf
    with pytest.raises(InputError, match=r"TreeImportance: .* got inf in column 6"):
        few().fit(X, y)


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("seed", range(3))
def test_storage_rows_and_weights_change_nothing(seed, task, offset):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((60, 6)) < 0.5, 0.0, rng.normal(size=(60, 6))) + offset
    y = X[:, 0] - offset + rng.normal(size=60)
    y = y if task == "regression" else (y > 0).astype(int)

    def scores(X, y, weight=None):
        return TreeImportance(n_estimators=20, random_state=0).fit(X, y, weight).scores_

    wanted, rows, times = scores(X, y), rng.permutation(60), rng.integers(0, 4, 60)
    np.testing.assert_array_equal(scores(sparse.csr_array(X), y), wanted)
    np.testing.assert_array_equal(scores(X[rows], y[rows]), wanted)
    repeated = scores(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_array_equal(scores(X, y, times), repeated)
