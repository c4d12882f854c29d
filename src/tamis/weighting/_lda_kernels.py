"""Errors of linear discriminants trained on one bootstrap sample and tested on another."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.statistics.dense_kernels import add_multiples, add_products, factorise, solve
from tamis.weighting._sample_kernels import distinct, error_of, gather_columns

# Least ridge, as a share of the mean variance of the columns over all classes: where the rows of
# each class are equal, a row goes to the nearest mean, and to the larger class if rounding is all
# that sets the means apart.
LEAST_RIDGE = 1e-12


@inline
def centre(inside, outside, times, labels, n_columns, n_rows, n_others, sizes, means, variances):
    """Take the overall mean from all rows, and the class mean from the training rows.

    Fills the class `means`, and the mean variance of the columns overall and within the classes.
    """
    n = sizes.sum()
    variances[:] = 0.0
    for j in range(n_columns):
        column, other, mean = inside[j], outside[j], means[j]
        total = 0.0
        for i in range(n_rows):
            total += times[i] * column[i]
        total /= n
        for i in range(n_others):
            other[i] -= total
        mean[:] = 0.0
        for i in range(n_rows):
            column[i] -= total
            mean[labels[i]] += times[i] * column[i]
        for c in range(sizes.size):
            if sizes[c] > 0.0:
                mean[c] /= sizes[c]
        for i in range(n_rows):
            variances[0] += times[i] * column[i] ** 2
            column[i] -= mean[labels[i]]
            variances[1] += times[i] * column[i] ** 2
    variances /= n * n_columns


@inline
def solve_by_rows(factor, lines, n_columns, n_rows, ridge, b, short):
    """Solve ``(r I + U'U) x = b`` as ``x = (b - U' (r I + UU')^-1 U b) / r``; `lines` are U'."""
    short[:n_rows] = 0.0
    add_multiples(b, n_columns, lines, n_rows, short)
    solve(factor, n_rows, short)
    for j in range(n_columns):
        line, value = lines[j], b[j]
        for i in range(n_rows):
            value -= line[i] * short[i]
        b[j] = value / ridge


@kernel
def lda_errors(
    values, codes, n_classes, draws, train, test, settings, balanced, one_vs_all, out, first, last
):  # fmt: skip
    """Errors of linear discriminants; `settings` is the shrinkage s.

    The covariance within the classes is shrunk to ``(1 - s) S + s mean(diag S) I``, which is a
    ridge, and the classes have the shares of the training sample. With U'U = (1 - s) S, one row
    of U per row, the smaller one of U'U + r I and UU' + r I is factorised.
    """
    (shrinkage,) = settings
    k, n_train, n_test = draws.shape[1], train.shape[1], test.shape[1]
    columns, counts = np.empty(k, np.int64), np.empty(k)
    rows, times = np.empty(n_train, np.int64), np.empty(n_train)
    others, weights = np.empty(n_test, np.int64), np.empty(n_test)
    inside, outside = np.empty((k, n_train)), np.empty((k, n_test))
    inside_rows = np.empty((n_train, k))
    labels, found = np.empty(n_train, np.int64), np.empty(n_test, np.int64)
    means, sizes, variances = np.empty((k, n_classes)), np.empty(n_classes), np.empty(2)
    matrix = np.empty((min(k, n_train), min(k, n_train)))
    direction, short = np.empty(k), np.empty(n_train)
    scores, highest = np.empty(n_test), np.empty(n_test)
    for d in range(first, last):
        n_columns = distinct(draws[d], columns, counts)
        n_rows = distinct(train[d], rows, times)
        n_others = distinct(test[d], others, weights)
        gather_columns(values, columns, n_columns, rows, n_rows, inside)
        gather_columns(values, columns, n_columns, others, n_others, outside)
        sizes[:] = 0.0
        for i in range(n_rows):
            labels[i] = codes[rows[i]]
            sizes[labels[i]] += times[i]
        centre(inside, outside, times, labels, n_columns, n_rows, n_others, sizes, means, variances)
        ridge = max(shrinkage * variances[1], LEAST_RIDGE * variances[0])
        ridge = ridge if ridge > 0.0 else 1.0
        for i in range(n_rows):
            short[i] = np.sqrt((1.0 - shrinkage) * times[i] / n_train)
        for j in range(n_columns):
            for i in range(n_rows):
                inside[j, i] *= short[i]
        by_rows = n_rows < n_columns
        size = n_rows if by_rows else n_columns
        if by_rows:
            add_products(inside, n_columns, n_rows, matrix)
        else:
            for j in range(n_columns):
                for i in range(n_rows):
                    inside_rows[i, j] = inside[j, i]
            add_products(inside_rows, n_rows, n_columns, matrix)
        for i in range(size):
            matrix[i, i] += ridge
        factorise(matrix, size)
        # Scores are those above the score of the first class that was drawn.
        reference = -1
        for c in range(n_classes):
            if sizes[c] == 0.0:
                continue
            if reference < 0:
                reference = c
                highest[:n_others] = 0.0
                found[:n_others] = c
                continue
            for j in range(n_columns):
                direction[j] = means[j, c] - means[j, reference]
            if by_rows:
                solve_by_rows(matrix, inside, n_columns, n_rows, ridge, direction, short)
            else:
                solve(matrix, n_columns, direction)
            intercept = np.log(sizes[c] / sizes[reference])
            for j in range(n_columns):
                intercept -= 0.5 * direction[j] * (means[j, c] + means[j, reference])
            scores[:n_others] = intercept
            add_multiples(direction, n_columns, outside, n_others, scores)
            for i in range(n_others):
                if scores[i] > highest[i]:
                    highest[i], found[i] = scores[i], c
        out[d] = error_of(found, codes, others, weights, n_others, n_classes, balanced)
