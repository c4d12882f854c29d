"""The linear support vector machine that SVMRFE and L0SVM share."""

import numpy as np
import pytest
from sklearn.svm import SVC

from reference import svm as plain
from tamis.linear_svm import hinge

# Their kernels take long to compile; the default run has them in tests of the selectors.
pytestmark = pytest.mark.slow

TOL, MANY = 1e-9, 100_000


def problem(seed, n_rows, n_columns, *, gap=0.0, scale=1.0, copies=False):
    rng = np.random.default_rng(seed)
    codes = np.sort(rng.integers(0, 2, n_rows)).astype(np.int32)
    codes[0], codes[-1] = 0, 1
    X = scale * rng.normal(size=(n_rows, n_columns))
    X[:, 0] += gap * codes
    if copies:
        X[1::2] = X[: n_rows - 1 : 2]
    return X, codes, rng.integers(1, 4, n_rows) * 0.5


def fit(X, codes, price, *, start=None, multi_class="ovo"):
    problems = hinge.make_problems(codes, price, multi_class)
    beta = np.zeros(problems.sign.size) if start is None else start.copy()
    gap = hinge.train_problems(np.ascontiguousarray(X.T), problems, beta, TOL, MANY)
    return problems, beta, gap


def check_optimal(X, problems, beta, atol=1e-8):
    assert (beta >= problems.low).all()
    assert (beta <= problems.high).all()
    assert abs(beta.sum()) < 1e-10 * problems.high.max() * beta.size
    assert plain.violation(X, problems.sign, problems.low, problems.high, beta) < atol


def test_two_rows_by_hand():
    # Margin from -1 to 3: w = 2 / 4, multipliers w / distance.
    X = np.array([[-1.0], [3.0]])
    _, beta, _ = fit(X, np.array([0, 1], np.int32), np.ones(2))
    np.testing.assert_allclose(np.abs(beta), 1 / 8, rtol=1e-12)
    np.testing.assert_allclose(abs(beta @ X[:, 0]), 0.5, rtol=1e-12)


def test_a_low_price_bounds_the_multipliers():
    X = np.array([[-1.0], [3.0]])
    _, beta, _ = fit(X, np.array([0, 1], np.int32), np.array([0.1, 0.05]))
    np.testing.assert_allclose(np.abs(beta), 0.05, rtol=1e-12)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("n_rows", [2, 3, 5, 12, 40, 200])
@pytest.mark.parametrize("n_columns", [1, 3, 20, 300])
@pytest.mark.parametrize("C", [0.01, 1.0, 1000.0])
def test_optimality_conditions(n_rows, n_columns, C):
    X, codes, weight = problem(n_rows + n_columns, n_rows, n_columns)
    problems, beta, gap = fit(X, codes, C * weight)
    assert gap <= TOL
    check_optimal(X, problems, beta)


@pytest.mark.parametrize("options", [{"gap": 6.0}, {"copies": True}, {"gap": 1.0, "copies": True}])
@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("n_columns", [2, 30, 100])
def test_separable_repeated_and_badly_scaled_rows(options, scale, n_columns):
    X, codes, weight = problem(1, 60, n_columns, scale=scale, **options)
    problems, beta, _ = fit(X, codes, weight)
    check_optimal(X, problems, beta)


@pytest.mark.parametrize("n_columns", [2, 8, 60])
def test_objective_and_weights_of_the_twin(n_columns):
    X, codes, weight = problem(2, 30, n_columns)
    problems, beta, _ = fit(X, codes, weight)
    slow = plain.train(X, problems.sign, weight)
    best = plain.objective(X, problems.sign, slow)
    assert plain.objective(X, problems.sign, beta) >= best - 1e-10
    np.testing.assert_allclose(X.T @ beta, X.T @ slow, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(12, 3), (60, 10), (60, 200), (200, 30)])
def test_weights_and_intercept_of_scikit_learn(seed, shape):
    X, codes, weight = problem(seed, *shape, gap=1.0)
    problems, beta, _ = fit(X, codes, weight)
    peer = SVC(kernel="linear", tol=1e-8).fit(X, codes, sample_weight=weight)
    # libsvm holds the kernel in single precision, hence no more than this.
    np.testing.assert_allclose(-X.T @ beta, peer.coef_[0], atol=2e-4 * np.abs(peer.coef_).max())
    theirs = np.zeros(codes.size)
    theirs[peer.support_] = -peer.dual_coef_[0]
    value = plain.objective(X, problems.sign, beta)
    theirs_value = plain.objective(X, problems.sign, theirs)
    np.testing.assert_allclose(value, theirs_value, rtol=1e-6)
    assert value >= theirs_value - 1e-9 * abs(value)  # ours is the exact one
    free = (np.abs(beta) > 1e-6) & (np.abs(beta) < weight - 1e-6)
    if free.any():
        slope = problems.sign - X @ (X.T @ beta)
        np.testing.assert_allclose(slope[free], slope[free][0], atol=1e-8)
        np.testing.assert_allclose(-slope[free][0], peer.intercept_[0], atol=1e-3)


def test_quadratic_program():
    cvxpy = pytest.importorskip("cvxpy")
    X, codes, weight = problem(3, 40, 6)
    problems, beta, _ = fit(X, codes, weight)
    w, b = cvxpy.Variable(6), cvxpy.Variable()
    slack = cvxpy.pos(1 - cvxpy.multiply(problems.sign, X @ w + b))
    goal = cvxpy.Minimize(cvxpy.sum_squares(w) / 2 + weight @ slack)
    value = cvxpy.Problem(goal).solve(solver=cvxpy.CLARABEL)
    np.testing.assert_allclose(plain.objective(X, problems.sign, beta), value, rtol=1e-7)
    np.testing.assert_allclose(X.T @ beta, w.value, atol=1e-6)


def test_a_warm_start_ends_where_a_cold_one_does():
    X, codes, weight = problem(4, 80, 100)
    _, start, _ = fit(X, codes, weight)
    problems, warm, _ = fit(X[:, 7:], codes, weight, start=start)
    check_optimal(X[:, 7:], problems, warm)
    _, cold, _ = fit(X[:, 7:], codes, weight)
    np.testing.assert_allclose(X[:, 7:].T @ warm, X[:, 7:].T @ cold, atol=1e-9)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("n_columns", [1, 5, 40])
def test_long_tables_get_the_same_machine(monkeypatch, C, n_columns):
    X, codes, weight = problem(5, 400, n_columns, gap=1.0)
    _, beta, _ = fit(X, codes, C * weight)
    monkeypatch.setattr(hinge, "is_long", lambda *shape: True)
    _, other, gap = fit(X, codes, C * weight)
    assert gap < 1e-9
    weights = X.T @ beta
    np.testing.assert_allclose(X.T @ other, weights, atol=1e-6 * np.abs(weights).max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.001, 1.0])
def test_long_tables_with_overlapping_classes_are_solved(seed, C):
    """Slow progress is progress: here some steps lower the gap by a few percent only."""
    X, codes, _ = problem(seed, 2500, 60)
    X[:, :6] += np.random.default_rng(seed).normal(size=(2, 6))[codes]
    _, _, gap = fit(X, codes, np.full(2500, C))
    assert gap < 1e-9


@pytest.mark.sampled(1)
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("long", [False, True])
def test_machines_of_four_classes(monkeypatch, multi_class, long):
    rng = np.random.default_rng(6)
    codes = np.sort(rng.permutation(np.arange(40) % 4)).astype(np.int32)
    X = rng.normal(size=(40, 5)) + rng.normal(size=(4, 5))[codes]
    price = rng.integers(1, 3, 40) * 0.7
    monkeypatch.setattr(hinge, "is_long", lambda *shape: long)
    problems, beta, _ = fit(X, codes, price, multi_class=multi_class)
    result = hinge.squared_weights(np.ascontiguousarray(X.T), problems, beta)
    np.testing.assert_allclose(
        result, plain.squared_weights(X, codes, price, multi_class), rtol=1e-5
    )


def test_a_machine_out_of_steps_reports_its_gap():
    X, codes, weight = problem(7, 60, 5)
    problems = hinge.make_problems(codes, weight, "ovo")
    beta = np.zeros(60)
    gap = hinge.train_problems(np.ascontiguousarray(X.T), problems, beta, TOL, 1)
    assert gap > 1e-3
    with pytest.warns(UserWarning, match=r"SVMRFE: an SVM .* max_iter"):
        hinge.warn_unless_solved(gap, TOL, "SVMRFE")
