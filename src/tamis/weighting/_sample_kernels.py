"""What the kernels of the estimators share: distinct rows and columns of a draw, and errors.

The columns of the table are rows of `values`, `codes` are the classes. For each draw there are
columns, training rows and test rows. What was drawn several times is visited once: columns are a
set, rows carry how often they were drawn.
"""

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
