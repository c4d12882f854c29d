"""What the learners share: distinct rows and columns of a draw, products, counted errors."""

import numpy as np

from tamis._runtime.compilation import inline


@inline
def distinct(drawn, found, times):
    """Write the distinct numbers of `drawn`, sorted, and how often each occurs."""
    ordered = np.sort(drawn)
    n = 0
    for i in range(ordered.size):
        if n > 0 and found[n - 1] == ordered[i]:
            times[n - 1] += 1.0
        else:
            found[n] = ordered[i]
            times[n] = 1.0
            n += 1
    return n


@inline
def gather_columns(values, columns, n_columns, rows, n_rows, out):
    """Copy some rows and columns; a row of `out` is a column of the table."""
    for j in range(n_columns):
        column, copy = values[columns[j]], out[j]
        for i in range(n_rows):
            copy[i] = column[rows[i]]


@inline
def add_products(lines, n_lines, size, out):
    """Write the upper triangle of the sum of ``outer(line, line)`` over the lines.

    Four lines at a time, so that `out` is read and written a quarter as often.
    """
    for i in range(size):
        out[i, :size] = 0.0
    whole = n_lines - n_lines % 4
    for j in range(0, whole, 4):
        for i in range(size):
            a, b, c, d = lines[j, i], lines[j + 1, i], lines[j + 2, i], lines[j + 3, i]
            first, second = lines[j, i:size], lines[j + 1, i:size]
            third, fourth = lines[j + 2, i:size], lines[j + 3, i:size]
            target = out[i, i:size]
            for m in range(size - i):
                target[m] += (a * first[m] + b * second[m]) + (c * third[m] + d * fourth[m])
    for j in range(whole, n_lines):
        for i in range(size):
            a, line, target = lines[j, i], lines[j, i:size], out[i, i:size]
            for m in range(size - i):
                target[m] += a * line[m]


@inline
def add_multiples(factors, n_factors, lines, size, out):
    """Add the lines, each times its factor, to `out`."""
    whole = n_factors - n_factors % 4
    for j in range(0, whole, 4):
        a, b, c, d = factors[j], factors[j + 1], factors[j + 2], factors[j + 3]
        first, second, third, fourth = lines[j], lines[j + 1], lines[j + 2], lines[j + 3]
        for m in range(size):
            out[m] += (a * first[m] + b * second[m]) + (c * third[m] + d * fourth[m])
    for j in range(whole, n_factors):
        a, line = factors[j], lines[j]
        for m in range(size):
            out[m] += a * line[m]


@inline
def factorise(matrix, size):
    """Replace the upper triangle of a positive definite matrix by R, where R'R is the matrix."""
    for j in range(size):
        pivot = matrix[j, j:size]
        root = np.sqrt(pivot[0])
        for m in range(size - j):
            pivot[m] /= root
        for i in range(1, size - j):
            factor, above, target = pivot[i], pivot[i:], matrix[j + i, j + i : size]
            for m in range(size - j - i):
                target[m] -= factor * above[m]


@inline
def solve(factor, size, b):
    """Solve ``R'R x = b`` in place."""
    for j in range(size):
        b[j] /= factor[j, j]
        line, rest, value = factor[j, j + 1 : size], b[j + 1 : size], b[j]
        for m in range(size - j - 1):
            rest[m] -= value * line[m]
    for p in range(size):
        j = size - 1 - p
        line, rest, value = factor[j, j + 1 : size], b[j + 1 : size], b[j]
        for m in range(p):
            value -= line[m] * rest[m]
        b[j] = value / factor[j, j]


@inline
def error_rate(wrong, total, balanced):
    """Share of wrong predictions, or the mean of that share over the classes that occur."""
    if not balanced:
        return wrong.sum() / total.sum()
    rate = 0.0
    n_present = 0
    for c in range(total.size):
        if total[c] > 0.0:
            rate += wrong[c] / total[c]
            n_present += 1
    return rate / n_present


@inline
def error_of(found, codes, others, weights, n_others, n_classes, balanced):
    """Error of the classes `found` for the rows `others`."""
    wrong, total = np.zeros(n_classes), np.zeros(n_classes)
    for i in range(n_others):
        truth = codes[others[i]]
        total[truth] += weights[i]
        if found[i] != truth:
            wrong[truth] += weights[i]
    return error_rate(wrong, total, balanced)
