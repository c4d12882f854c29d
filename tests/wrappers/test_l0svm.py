import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.svm import SVC

from reference import svm as plain
from tamis import L0SVM
from tamis.linear_svm import hinge


def table(seed=0, n_rows=100, n_columns=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 3] + X[:, 7] - X[:, 11] > 0).astype(int)


def test_finds_the_columns_that_make_the_target():
    X, y = table()
    fitted = L0SVM().fit(X, y)
    assert sorted(fitted.order_[:3]) == [3, 7, 11]
    assert fitted.best_n_features_ == fitted.n_selected_ == 3
    np.testing.assert_array_equal(np.flatnonzero(fitted.criterion_), [3, 7, 11])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_factors_of_the_twin(multi_class, n_classes):
    rng = np.random.default_rng(1)
    y = np.arange(30) % n_classes
    X = rng.normal(size=(30, 6)) + rng.normal(size=(n_classes, 6))[y]
    for n_rounds in (1, 2, 3):
        selector = L0SVM(multi_class=multi_class, max_rounds=n_rounds, threshold=1e-12)
        with pytest.warns(UserWarning, match="still changing"):
            fitted = selector.fit(X, y)
        factor = plain.zero_norm(X, y, np.ones(30), n_rounds, multi_class)
        np.testing.assert_allclose(fitted.scores_, n_rounds + factor, atol=1e-5)
        assert fitted.n_iter_ == n_rounds


def test_survivors_all_have_the_same_weight_on_the_scaled_columns():
    # A factor that stays has |w| equal to that of the others: the fixed point of the update.
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    fitted = L0SVM().fit(X, y)
    kept = fitted.support_
    factor = fitted.scores_[kept] - fitted.n_iter_
    scaled = SVC(kernel="linear", tol=1e-6).fit(X[:, kept] * factor, y)
    weights = np.sqrt((scaled.coef_**2).sum(axis=0))
    np.testing.assert_allclose(weights, weights.max(), rtol=3e-3)


def test_columns_that_fell_later_come_first():
    X, y = table(2)
    fitted = L0SVM().fit(X, y)
    rounds = np.floor(fitted.scores_)
    assert (np.diff(rounds[fitted.order_]) <= 0).all()
    assert np.unique(rounds).size > 2
    for k in (1, 3, 20, 150):
        assert fitted.recut(k).n_selected_ == k


def test_copies_stand_or_fall_together():
    X, y = table(3)
    fitted = L0SVM().fit(np.column_stack([X, X[:, 7], -X[:, 3], X[:, 50]]), y)
    assert fitted.scores_[7] == fitted.scores_[200]
    assert fitted.scores_[3] == fitted.scores_[201]
    assert fitted.scores_[50] == fitted.scores_[202]


def test_a_column_for_itself():
    fitted = L0SVM().fit(np.array([[0.0], [1.0], [2.0], [5.0]]), [0, 0, 1, 1])
    assert fitted.best_n_features_ == 1


def test_columns_that_say_nothing_do_not_break_it():
    # Every row is in both classes: all weights are 0.
    X = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 2, axis=0)
    fitted = L0SVM().fit(X, np.tile([0, 1], 10))
    assert np.isfinite(fitted.scores_).all()


def test_scale_and_offset():
    X, y = table(4)
    scale = 10.0 ** np.random.default_rng(0).integers(-2, 3, X.shape[1])
    plain_fit = L0SVM().fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    scaled = L0SVM(scale=True).fit(X * scale + 1e4, y)
    np.testing.assert_array_equal(scaled.support_, plain_fit.support_)
    np.testing.assert_allclose(scaled.scores_, plain_fit.scores_, rtol=1e-5)


def test_weights_of_rows_are_prices():
    X, y = table(5, 60, 20)
    weight = np.random.default_rng(0).integers(0, 3, 60)
    repeated = np.repeat(np.arange(60), weight)
    left = L0SVM().fit(X, y, sample_weight=weight)
    right = L0SVM().fit(X[repeated], y[repeated])
    np.testing.assert_allclose(left.scores_, right.scores_, rtol=1e-9)


def test_long_tables(monkeypatch):
    X, y = table(6, 300, 30)
    short = L0SVM(C=0.1).fit(X, y)
    monkeypatch.setattr(hinge, "FEW_ROWS", 100)
    long = L0SVM(C=0.1).fit(X, y)
    np.testing.assert_array_equal(short.support_, long.support_)
    np.testing.assert_allclose(short.criterion_, long.criterion_, atol=1e-4)


@pytest.mark.parametrize(
    "options", [{"C": 0}, {"threshold": 0}, {"threshold": 1}, {"max_rounds": 0}, {"scale": "no"}]
)
def test_parameters_out_of_range(options):
    X, y = table()
    with pytest.raises(ValueError, match=f"L0SVM: {next(iter(options))} must be"):
        L0SVM(**options).fit(X, y)
