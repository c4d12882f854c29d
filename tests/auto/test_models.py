"""Ridge models against scikit-learn's, with the leave-one-out error by hand."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from tamis.auto import models


def by_hand(Z, Y, weight, unseen):
    """Try every penalty, leave out every row, fit anew."""
    share = weight / weight.sum()
    centred = Z - share @ Z
    values = np.linalg.eigvalsh((centred * share[:, None]).T @ centred)
    unit = values[values > 1e-12 * values.max()].mean() * weight.sum()
    errors = []
    for penalty in models.PENALTIES:
        error = 0.0
        for i in range(len(Z)):
            rest = np.arange(len(Z)) != i
            model = Ridge(alpha=penalty * unit).fit(Z[rest], Y[rest], sample_weight=weight[rest])
            error += weight[i] * ((Y[i] - model.predict(Z[[i]])) ** 2).sum()
        errors.append(error)
    best = models.PENALTIES[int(np.argmin(errors))]
    return Ridge(alpha=best * unit).fit(Z, Y, sample_weight=weight).predict(unseen)


@pytest.mark.parametrize("n_features", [4, 40])
def test_ridge_is_scikit_learns_at_the_best_penalty(n_features):
    rng = np.random.default_rng(0)
    Z, unseen = rng.normal(size=(20, n_features)), rng.normal(size=(5, n_features))
    Y = np.column_stack([Z[:, 0] + rng.normal(size=20), rng.normal(size=20)])
    weight = rng.uniform(0.5, 2.0, 20)
    found = models.ridge_predictions(Z, Y, weight, unseen)
    np.testing.assert_allclose(found, by_hand(Z, Y, weight, unseen), atol=1e-8)
    products = np.vstack([Z, unseen]) @ Z.T
    np.testing.assert_allclose(models.ridge_from_products(products, Y, weight), found, atol=1e-8)


def test_gaussian_features_span_the_kernel():
    rng = np.random.default_rng(1)
    seen, unseen = rng.normal(size=(30, 3)), rng.normal(size=(8, 3))
    one, other = models.gaussian_features(seen, unseen)
    np.testing.assert_allclose(one @ one.T, rbf_kernel(seen, gamma=1 / 3), atol=1e-6)
    np.testing.assert_allclose(other @ one.T, rbf_kernel(unseen, seen, gamma=1 / 3), atol=1e-6)


def test_scale_moves_outliers_in_and_fills_missing_values():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [99999.0], [np.nan]])
    scale = models.Scale.of(X, np.ones(6))
    # Quartiles 1, 2 and 3: values further than 10 * 2 from the median count as 22.
    known = np.array([0.0, 1.0, 2.0, 3.0, 22.0])
    expected = (known - known.mean()) / known.std()
    np.testing.assert_allclose(scale(X)[:5, 0], expected)
    assert scale(X)[5, 0] == 0.0


def test_a_rare_binary_feature_keeps_its_values():
    X = (np.arange(100) == 7).astype(float)[:, None]
    scaled = models.Scale.of(X, np.ones(100))(X)
    assert scaled[7] - scaled[0] == pytest.approx(1 / X.std())


def test_classes_weigh_the_same():
    y = np.array([0] * 30 + [1] * 3)
    _, weight = models.RidgeModel(2).targets(y, np.ones(33))
    assert weight[:30].sum() == pytest.approx(weight[30:].sum())


def test_a_class_that_was_not_seen_gets_no_votes():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(20, 2)), np.array([0, 2] * 10)
    votes = models.EstimatorModel(LogisticRegression(), 3).votes(X, y, np.ones(20), X[:3])
    assert (votes[:, 1] == -np.inf).all()
    assert np.isfinite(votes[:, [0, 2]]).all()


@pytest.mark.parametrize("shape", [(120, 40), (60, 200)])
def test_gradients_solve_the_same_equations(shape):
    rng = np.random.default_rng(0)
    Z, Y, weight = rng.normal(size=shape), rng.normal(size=(shape[0], 2)), rng.random(shape[0])
    unseen = rng.normal(size=(7, shape[1]))
    penalties = np.array([0.1, 2.0])
    found = models.GradientRidge(Z, weight).fit(Y, penalties)
    share = weight / weight.sum()
    rows = np.sqrt(share)[:, None] * (Z - share @ Z)
    targets = np.sqrt(share)[:, None] * (Y - share @ Y)
    unit = np.linalg.eigvalsh(rows @ rows.T)[-min(shape[0] - 1, shape[1]) :].mean()
    assert found.unit == pytest.approx(unit)
    for k, penalty in enumerate(penalties):
        system = rows.T @ rows + penalty * unit * np.eye(shape[1])
        coef = np.linalg.solve(system, rows.T @ targets[:, k])
        want = share @ Y[:, k] + (unseen - share @ Z) @ coef
        np.testing.assert_allclose(found(unseen)[:, k], want, atol=5e-3)


def test_gradients_choose_a_penalty_that_predicts():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(400, 150))
    truth = Z[:, :3].sum(axis=1)
    Y = (truth + rng.normal(size=400))[:, None]
    exact = models.ridge_predictions(Z[:300], Y[:300], np.ones(300), Z[300:])[:, 0]
    single = models.ridge_by_gradients(
        Z[:300].astype(np.float32), Y[:300], np.ones(300), Z[300:].astype(np.float32)
    )[:, 0]
    errors = [np.mean((each - truth[300:]) ** 2) for each in (exact, single, 0 * single)]
    assert errors[1] < 1.2 * errors[0] < errors[2]
