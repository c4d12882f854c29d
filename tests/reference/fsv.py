"""FSV as the paper prints it: dense linear programs in w, gamma, y, z and v."""

import numpy as np
from scipy.optimize import linprog


def linear_program(A, B, price, penalty, weight_A=None, weight_B=None):
    """min (1 - penalty)(mean y + mean z) + price @ v; returns w, gamma and the minimum."""
    m, n = A.shape
    k = B.shape[0]
    share_A = np.full(m, 1 / m) if weight_A is None else weight_A / weight_A.sum()
    share_B = np.full(k, 1 / k) if weight_B is None else weight_B / weight_B.sum()
    rows = [
        # -A w + e gamma + e <= y
        np.hstack([-A, np.ones((m, 1)), -np.eye(m), np.zeros((m, k)), np.zeros((m, n))]),
        # B w - e gamma + e <= z
        np.hstack([B, -np.ones((k, 1)), np.zeros((k, m)), -np.eye(k), np.zeros((k, n))]),
        # w <= v and -w <= v
        np.hstack([np.eye(n), np.zeros((n, 1 + m + k)), -np.eye(n)]),
        np.hstack([-np.eye(n), np.zeros((n, 1 + m + k)), -np.eye(n)]),
    ]
    right = np.concatenate([-np.ones(m + k), np.zeros(2 * n)])
    cost = np.concatenate(
        [np.zeros(n + 1), (1 - penalty) * share_A, (1 - penalty) * share_B, price]
    )
    bounds = [(None, None)] * (n + 1) + [(0, None)] * (m + k) + [(None, None)] * n
    result = linprog(cost, A_ub=np.vstack(rows), b_ub=right, bounds=bounds, method="highs")
    assert result.status == 0
    return result.x[:n], result.x[n], result.fun


def objective(A, B, w, gamma, penalty, alpha):
    """The concave objective as printed, at the best y, z and v for a plane."""
    errors = np.maximum(0, 1 - (A @ w - gamma)).mean() + np.maximum(0, 1 + (B @ w - gamma)).mean()
    return (1 - penalty) * errors + penalty * (1 - np.exp(-alpha * np.abs(w))).sum()


def successive(A, B, penalty=0.05, alpha=5.0, start=1.0, tol=1e-6, max_iter=100, least=0.0):
    """Successive linearization from v = start; prices stay above `least` of the price at 0."""
    v = np.full(A.shape[1], start)
    path = []
    for _ in range(max_iter):
        price = penalty * alpha * np.maximum(np.exp(-alpha * v), least)
        w, gamma, _ = linear_program(A, B, price, penalty)
        v = np.abs(w)
        path.append(objective(A, B, w, gamma, penalty, alpha))
        if len(path) > 1 and path[-2] - path[-1] <= tol:
            break
    return w, gamma, np.array(path)
