"""The compiled forest of TreeImportance: codes, a plain twin, scikit-learn's, promises."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from checks import CHECKS
from reference import forest as plain
from tamis import TreeImportance
from tamis.exceptions import InputError
from tamis.wrappers._fast_forest import forest_gains
from tamis.wrappers._forest_kernels import MISSING, add_gains, code_columns

# Their kernels take long to compile; the default run has them in tests of the selectors.
pytestmark = pytest.mark.slow

EXEMPTIONS = {
    "check_column_permutation": "columns are drawn by position: another order, other draws",
    "check_duplicate_columns": "copies share the importance as the draws have it",
}


def codes_of(X):
    codes = np.empty(X.T.shape, dtype=np.uint8)
    columns = np.ascontiguousarray(X.T)
    code_columns(columns, np.sort(columns, axis=1), codes)
    return codes.T


def test_few_values_are_coded_without_loss():
    X = np.array([[3.0, 1.0], [-1.0, np.nan], [3.0, 1.0], [7.5, np.nan]])
    assert codes_of(X).tolist() == [[1, 0], [0, MISSING], [1, 0], [2, MISSING]]
    column = np.random.default_rng(0).integers(0, MISSING, 500)[:, None].astype(float)
    np.testing.assert_array_equal(codes_of(column), column)


def test_many_values_are_coded_by_quantiles():
    column = np.random.default_rng(0).normal(size=(1000, 1))
    codes = codes_of(column)[:, 0].astype(int)
    assert codes.max() == MISSING - 1
    assert (np.diff(codes[np.argsort(column[:, 0])]) >= 0).all()
    assert np.bincount(codes).max() <= 17  # 1000 / 63 are 15.9
    mostly_zero = np.where(column > 0.8, column, 0.0)
    codes = codes_of(mostly_zero)[:, 0]
    assert len(set(codes[mostly_zero[:, 0] == 0])) == 1
    assert len(set(codes)) > 10


@pytest.mark.parametrize("n_values", [1, 3])
@pytest.mark.parametrize("missing", [False, True])
def test_gains_are_those_of_the_plain_twin(n_values, missing):
    rng = np.random.default_rng(2)
    X = rng.permuted(np.tile(np.arange(40.0), (6, 1)), axis=1).T
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    values = rng.normal(size=(40, n_values))  # no two splits tie
    weight = rng.uniform(0.5, 2, 40)
    codes = np.ascontiguousarray(codes_of(X).T)
    for seed in (1, 2, 3):
        out = np.zeros(6)
        add_gains(codes, values, weight, 2, 4, np.array([seed], dtype=np.uint64), out)
        np.testing.assert_allclose(out, plain.tree_gains(X, values, weight, 2, 4, seed), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("max_depth", [None, 3])
def test_importances_are_like_those_of_scikit_learn(n_classes, max_depth):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    signal = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.normal(size=300)
    y = signal / signal.std()
    if n_classes:
        y = np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)
    ours = forest_gains(
        X, y, None, is_classes=n_classes > 0, n_estimators=400, max_depth=max_depth, seed=0,
        n_jobs=None,
    )  # fmt: skip
    cls = RandomForestClassifier if n_classes else RandomForestRegressor
    model = cls(400, max_features="sqrt" if n_classes else 1 / 3, max_depth=max_depth, n_jobs=2)
    theirs = model.set_params(random_state=0).fit(X, y).feature_importances_
    assert ours.sum() == pytest.approx(1)
    np.testing.assert_allclose(ours, theirs, atol=0.03)


@pytest.mark.sampled(10)
@pytest.mark.filterwarnings("ignore::tamis.exceptions.SelectionWarning")
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("check", [check for check in CHECKS if check.__name__ not in EXEMPTIONS])
def test_promise(check, task):
    check(TreeImportance(estimator="fast", n_estimators=20, random_state=0, task=task), task)


def test_shuffling_needs_another_forest():
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
    with pytest.raises(InputError, match=r"importance='impurity' for estimator='fast'"):
        TreeImportance(estimator="fast", importance="permutation").fit(X, y)


def test_depth_reaches_every_forest():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    for name in ("forest", "fast", "extra"):
        # One split sees one column; more of them see noise in the bootstrap sample's leftovers.
        shallow = TreeImportance(estimator=name, max_depth=1, n_estimators=50, random_state=0)
        deep = TreeImportance(estimator=name, n_estimators=50, random_state=0)
        assert (shallow.fit(X, y).scores_ != deep.fit(X, y).scores_).any()
