"""Newton's method for squared losses, against LIBLINEAR and against conditions of optimality."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC, LinearSVR

from tamis.linear_svm import squared_hinge
from tamis.linear_svm.squared_hinge import hinge, newton_path, tube, with_bias

STRENGTHS = [0.01, 0.1, 1.0, 10.0, 100.0]


@pytest.mark.parametrize("shape", [(40, 5), (40, 39), (25, 120)])
@pytest.mark.parametrize("seed", range(3))
def test_newton_solves_the_problem_of_linear_svc_and_svr(shape, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape)
    y = X[:, 0] + rng.normal(size=shape[0])
    sign = np.where(y > 0, 1.0, -1.0)
    options = {"dual": False, "tol": 1e-10, "max_iter": 100_000}
    for strength, weights in zip(
        STRENGTHS, newton_path(with_bias(X), [hinge(sign)], STRENGTHS)[0][..., 0], strict=True
    ):
        model = LinearSVC(C=strength, **options).fit(X, sign)
        np.testing.assert_allclose(weights[:-1], model.coef_[0], atol=1e-5)
        np.testing.assert_allclose(weights[-1], model.intercept_[0], atol=1e-5)
    for strength, weights in zip(
        STRENGTHS, newton_path(with_bias(X), [tube(y, 0.1)], STRENGTHS)[0][..., 0], strict=True
    ):
        model = LinearSVR(
            C=strength, epsilon=0.1, loss="squared_epsilon_insensitive", **options
        ).fit(X, y)
        np.testing.assert_allclose(weights[:-1], model.coef_, atol=1e-5)


def gradient(A, loss, C, weights):
    active, target = loss(A @ weights)
    return weights - 2 * C * A[active].T @ (target - A @ weights)[active]


@pytest.mark.parametrize("rows_per_column", [0, 1000])
@pytest.mark.parametrize("shape", [(30, 4), (20, 60)])
def test_problems_solved_together_are_each_at_their_optimum(monkeypatch, rows_per_column, shape):
    monkeypatch.setattr(squared_hinge, "ROWS_PER_COLUMN", rows_per_column)
    rng = np.random.default_rng(0)
    A = with_bias(rng.normal(size=shape))
    codes = rng.integers(0, 3, shape[0])
    y = rng.normal(size=shape[0])
    losses = [hinge(np.where(codes == k, 1.0, -1.0)) for k in range(3)] + [tube(y, 0.2)]
    weights, n_steps = newton_path(A, losses, STRENGTHS)
    assert weights.shape == (len(STRENGTHS), A.shape[1], 4)
    assert n_steps < 15 * len(STRENGTHS)
    for C, found in zip(STRENGTHS, weights, strict=True):
        for loss, one in zip(losses, found.T, strict=True):
            assert np.abs(gradient(A, loss, C, one)).max() < 1e-8 * max(1.0, C)


def test_a_matrix_that_rounding_left_indefinite_is_still_solved():
    factor = squared_hinge._factor(np.array([[1.0, 2.0], [2.0, 1.0]]), 0.0)
    found = squared_hinge._solve(factor, np.array([3.0, 3.0]))
    np.testing.assert_allclose(found, [1.0, 1.0])
