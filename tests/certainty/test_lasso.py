"""The lasso of knockoffs against scikit-learn, and the path against its definition."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression

from tamis.certainty import lasso
from tamis.certainty.lasso import PATHS, draw_folds, lasso_cv, penalties_for, standardised


def table(seed, n, q, loss, size=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, q))
    X[:, 1::2] += X[:, ::2]
    X = X * rng.uniform(0.1, 10, q) + rng.normal(size=q)
    eta = standardised(X, np.arange(n))[: q // 5].sum(axis=0) * size
    if loss == "logistic":
        return X, (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float)
    return X, eta + rng.normal(size=n) + 3


def peer(X, y, loss, penalty):
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    if loss == "squared":
        model = Lasso(alpha=penalty, tol=1e-12, max_iter=1_000_000).fit(Z, y)
        return model.coef_, model.intercept_
    model = LogisticRegression(
        C=1 / (penalty * y.size), l1_ratio=1, solver="saga", tol=1e-10, max_iter=100_000
    ).fit(Z, y)
    return model.coef_[0], model.intercept_[0]


@pytest.mark.filterwarnings("ignore:.*penalty.*:FutureWarning")
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize(("n", "q"), [(120, 30), (100, 130)])
def test_same_as_scikit_learn(n, q, loss):
    X, y = table(0, n, q, loss)
    fit = lasso_cv(X, y, loss=loss)
    coef, intercept = peer(X, y, loss, fit.penalty)
    assert 0 < np.count_nonzero(fit.coef) < q
    np.testing.assert_allclose(fit.coef, coef, atol=2e-5)
    assert fit.intercept == pytest.approx(intercept, abs=2e-5)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_conditions_of_optimality(loss):
    """Gradients are the penalty where coefficients are not 0, and smaller elsewhere."""
    X, y = table(1, 100, 150, loss)
    fit = lasso_cv(X, y, loss=loss)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    eta = fit.intercept + Z @ fit.coef
    residual = y - (eta if loss == "squared" else 1 / (1 + np.exp(-eta)))
    gradient = Z.T @ residual / y.size
    active = fit.coef != 0
    np.testing.assert_allclose(gradient[active], fit.penalty * np.sign(fit.coef[active]), rtol=1e-5)
    assert (np.abs(gradient[~active]) <= fit.penalty * (1 + 1e-6)).all()
    assert abs(residual.mean()) < 1e-6


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_errors_are_those_of_fits_without_the_fold(loss):
    X, y = table(2, 80, 20, loss)
    rows, bounds = draw_folds(y, loss, np.random.default_rng(0))
    lines, labels = standardised(X, rows), y[rows]
    path = PATHS[loss](lines, labels, bounds)
    path.tolerance = 1e-13
    penalties = penalties_for(path)[:20]
    for k, penalty in enumerate(penalties):
        path.solve(penalty, penalties[max(k - 1, 0)])
    errors = path.held_out_errors()
    for f, (first, last) in enumerate(bounds):
        train = np.r_[0:first, last : y.size]
        own = PATHS[loss](lines[:, train], labels[train], np.zeros((1, 2), dtype=np.intp))
        own.tolerance = 1e-13
        own.solve(penalties[-1], penalties[-1])
        coefs, intercept = own.mean_solution()
        eta = intercept + coefs @ lines[:, first:last]
        z = labels[first:last]
        own_loss = (z - eta) ** 2 / 2 if loss == "squared" else np.logaddexp(0, eta) - z * eta
        assert errors[f] == pytest.approx(own_loss.sum() * len(bounds) / y.size, rel=1e-5)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("size", [0.0, 0.3, 2.0])
def test_stopping_early_does_not_change_the_choice(monkeypatch, loss, size):
    for seed in range(3):
        X, y = table(seed, 150, 40, loss, size)
        early = lasso_cv(X, y, loss=loss)
        with monkeypatch.context() as patched:
            patched.setattr(lasso, "PATIENCE", 1_000)
            whole = lasso_cv(X, y, loss=loss)
        assert whole.errors.size == 100
        assert early.penalty == whole.penalty
        np.testing.assert_allclose(early.coef, whole.coef, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_order_of_columns_does_not_matter(loss):
    X, y = table(3, 100, 60, loss)
    order = np.random.default_rng(0).permutation(60)
    one, other = lasso_cv(X, y, loss=loss), lasso_cv(X[:, order], y, loss=loss)
    assert one.penalty == pytest.approx(other.penalty)
    np.testing.assert_allclose(one.coef[order], other.coef, atol=1e-5)


def test_constant_columns_get_nothing():
    X, y = table(4, 60, 20, "squared")
    X[:, 5] = 7.0
    assert lasso_cv(X, y).coef[5] == 0.0


def test_separable_classes_have_an_end():
    X = np.random.default_rng(0).normal(size=(60, 10))
    fit = lasso_cv(X, (X[:, 0] > 0).astype(float), loss="logistic")
    assert np.isfinite(fit.coef).all()
    assert fit.coef.argmax() == 0


def test_folds_are_even_and_have_both_classes():
    y = np.r_[np.zeros(85), np.ones(20)]
    rows, bounds = draw_folds(y, "logistic", np.random.default_rng(0))
    assert sorted(rows) == list(range(105))
    sizes = bounds[:, 1] - bounds[:, 0]
    assert (sizes.sum(), sizes.min(), sizes.max()) == (105, 10, 11)
    shares = [y[rows[first:last]].sum() for first, last in bounds]
    assert set(shares) <= {2.0, 3.0}
