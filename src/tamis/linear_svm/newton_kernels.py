"""Newton's method for squared losses with few weights: all steps of all strengths in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis._runtime.compilation import inline, kernel


@inline
def solve_ridge(matrix: Any, ridge: float, right: Any, factor: Any, found: Any) -> bool:
    """Solve ``(matrix + ridge) found = right`` by Cholesky; False if that is not positive."""
    d = right.size
    for i in range(d):
        for j in range(i + 1):
            total = matrix[i, j]
            if i == j:
                total += ridge
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                if not total > 0.0:
                    return False
                factor[i, i] = np.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    for i in range(d):
        total = right[i]
        for k in range(i):
            total -= factor[i, k] * found[k]
        found[i] = total / factor[i, i]
    for i in range(d - 1, -1, -1):
        total = found[i]
        for k in range(i + 1, d):
            total -= factor[k, i] * found[k]
        found[i] = total / factor[i, i]
    return True


@inline
def add_row(row: Any, sign: float, target: float, matrix: Any, right: Any) -> None:
    """Add a row to the lower half of the normal equations, or take it out (sign -1)."""
    for i in range(row.size):
        value = sign * row[i]
        right[i] += value * target
        for j in range(i + 1):
            matrix[i, j] += value * row[j]


@inline
def objective(weights: Any, values: Any, aim: Any, epsilon: float, strength: float) -> float:
    """``|w|^2 / 2 + C * sum of squared misses``."""
    total = 0.0
    for i in range(weights.size):
        total += weights[i] * weights[i]
    loss = 0.0
    for i in range(values.size):
        miss = aim[i] - values[i]
        if epsilon < 0.0:
            if aim[i] * values[i] < 1.0:
                loss += miss * miss
        elif abs(miss) > epsilon:
            loss += (abs(miss) - epsilon) ** 2
    return 0.5 * total + strength * loss


@inline
def side_of(value: float, aim: float, epsilon: float) -> int:
    """0 where the loss of a row is 0, else the sign of its miss (1 for a hinge)."""
    if epsilon < 0.0:
        return 1 if aim * value < 1.0 else 0
    miss = aim - value
    return (1 if miss > 0.0 else -1) if abs(miss) > epsilon else 0


@kernel
def few_weights_path(table: Any, aims: Any, epsilons: Any, strengths: Any, max_steps: int) -> Any:
    """Weights (n_strengths, n_columns, n_problems) and steps; steps -1 if a factor failed.

    `aims` has one column per problem: signs of a squared hinge where epsilon is negative, else
    middles of the tube. Rows that change sides are added to, or taken out of, the normal equations.
    """
    n, d = table.shape
    weights = np.zeros((strengths.size, d, aims.shape[1]))
    matrix, factor, right = np.zeros((d, d)), np.zeros((d, d)), np.zeros(d)
    aim_of_step, there, sides = np.zeros(d), np.zeros(n), np.zeros(n, dtype=np.int8)
    n_steps = 0
    for m in range(aims.shape[1]):
        aim, epsilon = np.ascontiguousarray(aims[:, m]), epsilons[m]
        x, values = np.zeros(d), np.zeros(n)
        for s in range(strengths.size):
            strength = strengths[s]
            matrix[:], right[:] = 0.0, 0.0  # afresh for every strength: no rounding piles up
            for i in range(n):
                sides[i] = side_of(values[i], aim[i], epsilon)
                if sides[i] != 0:
                    target = aim[i] - max(epsilon, 0.0) * sides[i]
                    add_row(table[i], 1.0, target, matrix, right)
            for _ in range(max_steps):
                n_steps += 1
                if not solve_ridge(matrix, 0.5 / strength, right, factor, aim_of_step):
                    return weights, -1
                changes = 0
                for i in range(n):
                    total = 0.0
                    for k in range(d):
                        total += table[i, k] * aim_of_step[k]
                    there[i] = total
                    changes += side_of(total, aim[i], epsilon) != sides[i]
                if changes == 0:
                    x[:], values[:] = aim_of_step, there
                    break
                slope = 0.0
                for k in range(d):
                    slope += x[k] * (aim_of_step[k] - x[k])
                for i in range(n):
                    if sides[i] != 0:
                        miss = aim[i] - max(epsilon, 0.0) * sides[i] - values[i]
                        slope -= 2.0 * strength * miss * (there[i] - values[i])
                start, size = objective(x, values, aim, epsilon, strength), 1.0
                while size > 1e-10:
                    point, at = x + size * (aim_of_step - x), values + size * (there - values)
                    if objective(point, at, aim, epsilon, strength) <= start + 1e-4 * size * slope:
                        break
                    size *= 0.5
                x += size * (aim_of_step - x)
                values += size * (there - values)
                for i in range(n):
                    side = side_of(values[i], aim[i], epsilon)
                    if side != sides[i]:
                        offset = max(epsilon, 0.0)
                        if sides[i] != 0:
                            add_row(table[i], -1.0, aim[i] - offset * sides[i], matrix, right)
                        if side != 0:
                            add_row(table[i], 1.0, aim[i] - offset * side, matrix, right)
                        sides[i] = side
            weights[s, :, m] = x
    return weights, n_steps
