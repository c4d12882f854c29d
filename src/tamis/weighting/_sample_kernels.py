"""What the kernels of the estimators share: distinct rows and columns of a draw, and errors.

Columns of the table are rows of `values`. What was drawn several times is visited once: columns are
a set, rows carry how often they were drawn.
"""

import numpy as np

from tamis._runtime.compilation import inline


@inline
def distinct(drawn):
    """Distinct numbers of `drawn`, sorted, and how often each occurs."""
    found = np.sort(drawn)
    times = np.ones(found.size)
    n = 1
    for i in range(1, found.size):
        if found[n - 1] == found[i]:
            times[n - 1] += 1.0
        else:
            found[n] = found[i]
            n += 1
    return found[:n], times[:n]


@inline
def gather(values, columns, rows, n_ones):
    """Some rows and columns, one line per column, and lines of ones after them."""
    out = np.empty((columns.size + n_ones, rows.size))
    out[columns.size :] = 1.0
    for j in range(columns.size):
        column, copy = values[columns[j]], out[j]
        for i in range(rows.size):
            copy[i] = column[rows[i]]
    return out


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
def error_of(found, truth, weights, n_classes, balanced):
    """Error of the classes `found` for rows of the classes `truth`."""
    wrong, total = np.zeros(n_classes), np.zeros(n_classes)
    for i in range(truth.size):
        c = int(truth[i])
        total[c] += weights[i]
        if found[i] != c:
            wrong[c] += weights[i]
    return error_rate(wrong, total, balanced)
