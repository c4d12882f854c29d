"""Compiled training of linear SVMs on tiny samples, for loops that train thousands of them.

All minimise ``|w|^2 / 2 + C sum_i times_i loss(signs_i w x_i)``; a last feature of ones is the
intercept.
"""

import numpy as np

from tamis._runtime.compilation import inline
from tamis.statistics.dense_kernels import add_multiples, add_products, factorise, solve

HINGE, SQUARED_HINGE = 0, 1
# Up to so many rows the products of all pairs of rows are kept: a step of the descent then moves
# the margins of all rows, and rows that do not move cost nothing. More would leave the cache.
MOST_ROWS_OF_PRODUCTS = 500


@inline
def uses_newton(columns, loss):
    """Whether Newton is cheaper: without upper bounds the descent takes hundreds of rounds."""
    return loss == SQUARED_HINGE and columns.shape[0] < columns.shape[1]


@inline
def lines_of(columns, loss):
    """One line per row that `train` works on, for all signs: products with all rows, or the row."""
    n_columns, n_rows = columns.shape
    if n_rows > MOST_ROWS_OF_PRODUCTS or uses_newton(columns, loss):
        return columns.T.copy()
    products = np.empty((n_rows, n_rows))
    add_products(columns, n_columns, n_rows, products)
    for i in range(n_rows):
        for m in range(i):
            products[i, m] = products[m, i]
    return products


@inline
def train(columns, lines, times, signs, settings):
    """Weights of the columns; `settings` are C, the loss, the tolerance and the most rounds."""
    C, loss, tolerance, max_epochs = settings
    if uses_newton(columns, loss):
        return train_by_newton(columns, lines, times, signs, C, tolerance, max_epochs)
    upper, ridge = np.full(times.size, np.inf), np.zeros(times.size)
    for i in range(times.size):
        if loss == HINGE:
            upper[i] = C * times[i]
        else:
            ridge[i] = 0.5 / (C * times[i])
    return train_by_descent(columns, lines, upper, ridge, signs, tolerance, max_epochs)


@inline
def train_by_descent(columns, lines, upper, ridge, signs, tolerance, max_epochs):
    """Dual coordinate descent, by margins or weights; `ridge` is added to the diagonal."""
    n_rows, width = signs.size, lines.shape[1]
    on_products = n_rows <= MOST_ROWS_OF_PRODUCTS
    curvature, alpha, state = ridge.copy(), np.zeros(n_rows), np.zeros(width)
    for i in range(n_rows):
        if on_products:
            curvature[i] += lines[i, i]
        else:
            for j in range(width):
                curvature[i] += lines[i, j] * lines[i, j]
    for _ in range(max_epochs):
        worst = 0.0
        for i in range(n_rows):
            line = lines[i]
            margin = 0.0
            if on_products:
                margin = state[i]
            else:
                for j in range(width):
                    margin += state[j] * line[j]
            gradient = signs[i] * margin - 1.0 + ridge[i] * alpha[i]
            if alpha[i] <= 0.0:
                gradient = min(gradient, 0.0)
            elif alpha[i] >= upper[i]:
                gradient = max(gradient, 0.0)
            if gradient == 0.0:
                continue
            worst = max(worst, abs(gradient))
            moved = min(max(alpha[i] - gradient / curvature[i], 0.0), upper[i])
            change = (moved - alpha[i]) * signs[i]
            alpha[i] = moved
            for j in range(width):
                state[j] += change * line[j]
        if worst < tolerance:
            break
    return weights_from(alpha * signs, columns) if on_products else state


@inline
def weights_from(shares, columns):
    """``w = sum_i shares_i x_i``."""
    w = np.empty(columns.shape[0])
    for j in range(w.size):
        total = 0.0
        for i in range(shares.size):
            total += shares[i] * columns[j, i]
        w[j] = total
    return w


@inline
def objective(w, margins, signs, times, C):
    """``|w|^2 / 2 + C sum_i times_i max(0, 1 - signs_i margins_i)^2``."""
    total = 0.0
    for i in range(signs.size):
        lack = max(1.0 - signs[i] * margins[i], 0.0)
        total += times[i] * lack * lack
    total *= C
    for weight in w:
        total += 0.5 * weight * weight
    return total


@inline
def train_by_newton(columns, rows, times, signs, C, tolerance, max_epochs):
    """Newton's method for the squared hinge: few steps, each of the cost of a least squares fit."""
    n_columns, n_rows = columns.shape
    matrix, active = np.empty((n_columns, n_columns)), np.empty((n_rows, n_columns))
    w, moved = np.zeros(n_columns), np.empty(n_columns)
    margins, pull = np.zeros(n_rows), np.empty(n_rows)
    longest = 0.0
    for i in range(n_rows):
        square = 0.0
        for j in range(n_columns):
            square += rows[i, j] * rows[i, j]
        longest = max(longest, square)
    value = objective(w, margins, signs, times, C)
    for _ in range(max_epochs):
        n_active = 0
        for i in range(n_rows):
            lack = 1.0 - signs[i] * margins[i]
            pull[i] = 2.0 * C * times[i] * signs[i] * max(lack, 0.0)
            if lack > 0.0:
                scale = np.sqrt(2.0 * C * times[i])
                for j in range(n_columns):
                    active[n_active, j] = scale * rows[i, j]
                n_active += 1
        direction = weights_from(pull, columns)
        square = 0.0
        for j in range(n_columns):
            direction[j] -= w[j]
            square += direction[j] ** 2
        # The gradient times the longest row bounds the violation that the descent looks at.
        if square * longest < tolerance * tolerance:
            break
        add_products(active, n_active, n_columns, matrix)
        for j in range(n_columns):
            matrix[j, j] += 1.0
        factorise(matrix, n_columns)
        solve(matrix, n_columns, direction)
        length, before = 1.0, value
        while length > 1e-10:  # a whole step may overshoot where rows change sides
            for j in range(n_columns):
                moved[j] = w[j] + length * direction[j]
            margins[:] = 0.0
            add_multiples(moved, n_columns, columns, n_rows, margins)
            value = objective(moved, margins, signs, times, C)
            if value < before:
                break
            length *= 0.5
        if value >= before:  # nothing is left to gain but rounding
            break
        for j in range(n_columns):
            w[j] = moved[j]
    return w
