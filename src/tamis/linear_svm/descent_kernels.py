"""Compiled training of linear SVMs on tiny samples, for loops that train thousands of them.

All minimise ``|w|^2 / 2 + C sum_i times_i loss(signs_i w x_i)``; the intercept is the weight of a
last feature of ones.
"""

import numpy as np

from tamis._runtime.compilation import inline
from tamis.statistics.dense_kernels import add_multiples, add_products, factorise, solve

HINGE, SQUARED_HINGE = 0, 1


@inline
def violation(alpha, gradient, upper):
    """Gradient of the dual in one variable, without the part that its bounds hold back."""
    if alpha <= 0.0:
        return min(gradient, 0.0)
    if alpha >= upper:
        return max(gradient, 0.0)
    return gradient


@inline
def bounds_of(times, n_rows, C, loss, upper, ridge):
    """Upper bounds of the dual variables, and what the loss adds to the diagonal."""
    for i in range(n_rows):
        upper[i] = C * times[i] if loss == HINGE else np.inf
        ridge[i] = 0.0 if loss == HINGE else 0.5 / (C * times[i])


@inline
def train_on_products(products, upper, ridge, signs, n_rows, tolerance, max_epochs, alpha, margins):
    """Dual coordinate descent for a linear SVM, on the products of all pairs of rows.

    Minimises ``|w|^2 / 2 + C sum_i times_i loss(signs_i w x_i)``. Leaves ``alpha_i signs_i``, the
    share of row i in w, in `alpha`.
    """
    alpha[:n_rows] = 0.0
    margins[:n_rows] = 0.0
    for _ in range(max_epochs):
        worst = 0.0
        for i in range(n_rows):
            gradient = signs[i] * margins[i] - 1.0 + ridge[i] * alpha[i]
            gradient = violation(alpha[i], gradient, upper[i])
            if gradient == 0.0:
                continue
            worst = max(worst, abs(gradient))
            moved = min(max(alpha[i] - gradient / (products[i, i] + ridge[i]), 0.0), upper[i])
            change = (moved - alpha[i]) * signs[i]
            alpha[i] = moved
            line = products[i]
            for m in range(n_rows):
                margins[m] += change * line[m]
        if worst < tolerance:
            break
    for i in range(n_rows):
        alpha[i] *= signs[i]


@inline
def train_on_rows(
    rows, upper, ridge, signs, n_rows, n_columns, tolerance, max_epochs, alpha, squares, w
):  # fmt: skip
    """The same on the rows themselves, whose last entry is 1; leaves the weights in `w`."""
    for i in range(n_rows):
        squares[i] = ridge[i]
        for j in range(n_columns):
            squares[i] += rows[i, j] * rows[i, j]
    alpha[:n_rows] = 0.0
    w[:n_columns] = 0.0
    for _ in range(max_epochs):
        worst = 0.0
        for i in range(n_rows):
            row = rows[i]
            margin = 0.0
            for j in range(n_columns):
                margin += w[j] * row[j]
            gradient = signs[i] * margin - 1.0 + ridge[i] * alpha[i]
            gradient = violation(alpha[i], gradient, upper[i])
            if gradient == 0.0:
                continue
            worst = max(worst, abs(gradient))
            moved = min(max(alpha[i] - gradient / squares[i], 0.0), upper[i])
            change = (moved - alpha[i]) * signs[i]
            alpha[i] = moved
            for j in range(n_columns):
                w[j] += change * row[j]
        if worst < tolerance:
            break


@inline
def weights_from(alpha, inside, n_rows, n_columns, w):
    """``w = sum_i alpha_i x_i``, where `inside` holds the columns."""
    for j in range(n_columns):
        column = inside[j]
        total = 0.0
        for i in range(n_rows):
            total += alpha[i] * column[i]
        w[j] = total


@inline
def objective(w, n_columns, margins, signs, times, n_rows, C):
    """``|w|^2 / 2 + C sum_i times_i max(0, 1 - signs_i margins_i)^2``."""
    total = 0.0
    for i in range(n_rows):
        lack = max(1.0 - signs[i] * margins[i], 0.0)
        total += times[i] * lack * lack
    total *= C
    for j in range(n_columns):
        total += 0.5 * w[j] * w[j]
    return total


@inline
def train_by_newton(
    columns, rows, times, signs, n_rows, n_columns, C, tolerance, max_epochs, w, margins, pull
):  # fmt: skip
    """Newton's method for the squared hinge: few steps, each of the cost of a least squares fit.

    Without upper bounds all rows that lack a margin move in every round of the descent, which then
    takes hundreds of rounds; where columns are fewer than rows this is cheaper.
    """
    matrix, active = np.empty((n_columns, n_columns)), np.empty((n_rows, n_columns))
    direction, moved = np.empty(n_columns), np.empty(n_columns)
    longest = 0.0
    for i in range(n_rows):
        square = 0.0
        for j in range(n_columns):
            square += rows[i, j] * rows[i, j]
        longest = max(longest, square)
    w[:n_columns] = 0.0
    margins[:n_rows] = 0.0
    value = objective(w, n_columns, margins, signs, times, n_rows, C)
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
        weights_from(pull, columns, n_rows, n_columns, direction)
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
            margins[:n_rows] = 0.0
            add_multiples(moved, n_columns, columns, n_rows, margins)
            value = objective(moved, n_columns, margins, signs, times, n_rows, C)
            if value < before:
                break
            length *= 0.5
        if value >= before:  # nothing is left to gain but rounding
            break
        w[:n_columns] = moved
