"""Errors of linear discriminants trained on one bootstrap sample and tested on another."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.statistics.dense_kernels import add_multiples, add_products, factorise, solve
from tamis.weighting._sample_kernels import distinct, error_of, gather

# Least ridge, as a share of the mean variance of the columns over all classes: where the rows of
# each class are equal, a row goes to the nearest mean, and to the larger class if rounding is all
# that sets the means apart.
LEAST_RIDGE = 1e-12


@inline
def centre(inside, outside, times, labels, sizes):
    """Centre in place; class means, and mean variances of the columns overall and within."""
    n, means = sizes.sum(), np.zeros((inside.shape[0], sizes.size))
    overall, within = 0.0, 0.0
    for j in range(inside.shape[0]):
        column, other, mean = inside[j], outside[j], means[j]
        total = 0.0
        for i in range(times.size):
            total += times[i] * column[i]
        total /= n
        for i in range(other.size):
            other[i] -= total
        for i in range(times.size):
            column[i] -= total
            mean[labels[i]] += times[i] * column[i]
        for c in range(sizes.size):
            if sizes[c] > 0.0:
                mean[c] /= sizes[c]
        for i in range(times.size):
            overall += times[i] * column[i] ** 2
            column[i] -= mean[labels[i]]
            within += times[i] * column[i] ** 2
    return means, overall / (n * inside.shape[0]), within / (n * inside.shape[0])


@inline
def solve_by_rows(factor, lines, ridge, b):
    """Solve ``(r I + U'U) x = b`` as ``x = (b - U' (r I + UU')^-1 U b) / r``; `lines` are U'."""
    n_columns, n_rows = lines.shape
    short = np.zeros(n_rows)
    add_multiples(b, n_columns, lines, n_rows, short)
    solve(factor, n_rows, short)
    for j in range(n_columns):
        value = b[j]
        for i in range(n_rows):
            value -= lines[j, i] * short[i]
        b[j] = value / ridge


@kernel
def lda_errors(
    values, codes, n_classes, draws, train, test, settings, balanced, one_vs_all, out, first, last
):  # fmt: skip
    """Errors of linear discriminants; `settings` is the shrinkage s.

    The covariance within the classes is shrunk to ``(1 - s) S + s mean(diag S) I``, which is a
    ridge r. With U'U = (1 - s) S, the smaller one of U'U + r I and UU' + r I is factorised.
    """
    (shrinkage,) = settings
    for d in range(first, last):
        columns, _ = distinct(draws[d])
        rows, times = distinct(train[d])
        others, weights = distinct(test[d])
        inside, outside = gather(values, columns, rows, 0), gather(values, columns, others, 0)
        labels, sizes = codes[rows], np.zeros(n_classes)
        for i in range(rows.size):
            sizes[labels[i]] += times[i]
        means, overall, within = centre(inside, outside, times, labels, sizes)
        ridge = max(shrinkage * within, LEAST_RIDGE * overall)
        ridge = ridge if ridge > 0.0 else 1.0
        inside *= np.sqrt((1.0 - shrinkage) * times / train.shape[1])
        by_rows = rows.size < columns.size
        lines = inside if by_rows else inside.T.copy()
        size = lines.shape[1]
        matrix = np.empty((size, size))
        add_products(lines, lines.shape[0], size, matrix)
        for i in range(size):
            matrix[i, i] += ridge
        factorise(matrix, size)
        # Scores are those above the score of the first class that was drawn.
        reference = np.flatnonzero(sizes)[0]
        highest, found = np.zeros(others.size), np.full(others.size, reference)
        for c in range(reference + 1, n_classes):
            if sizes[c] == 0.0:
                continue
            direction = means[:, c] - means[:, reference]
            if by_rows:
                solve_by_rows(matrix, inside, ridge, direction)
            else:
                solve(matrix, size, direction)
            intercept = np.log(sizes[c] / sizes[reference])
            for j in range(columns.size):
                intercept -= 0.5 * direction[j] * (means[j, c] + means[j, reference])
            scores = np.full(others.size, intercept)
            add_multiples(direction, columns.size, outside, others.size, scores)
            for i in range(others.size):
                if scores[i] > highest[i]:
                    highest[i], found[i] = scores[i], c
        out[d] = error_of(found, codes[others], weights, n_classes, balanced)
