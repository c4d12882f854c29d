"""Errors of small models trained on one bootstrap sample and tested on another.

Columns of the table are rows of `values`. What was drawn several times is visited once: columns are
a set, rows carry how often they were drawn.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.linear_svm.descent_kernels import lines_of, train
from tamis.statistics.dense_kernels import add_multiples, add_products, factorise, solve

EUCLIDEAN, MISMATCH = 0, 1
# Least ridge, as a share of the mean variance of the columns over all classes: where the rows of
# each class are equal, a row goes to the nearest mean, and to the larger class if rounding is all
# that sets the means apart.
LEAST_RIDGE = 1e-12


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


@kernel
def svm_errors(
    values, codes, n_classes, draws, train_rows, test_rows, settings, balanced, one_vs_all, out,
    first, last,
):  # fmt: skip
    """Errors of linear SVMs; `settings` are C, the loss, the tolerance and the most epochs.

    With `one_vs_all` (and with two classes) the error is the average over the problems of one class
    against the rest; without, a row gets the class with the largest decision value.
    """
    n_problems = 1 if n_classes == 2 else n_classes
    for d in range(first, last):
        columns, _ = distinct(draws[d])
        rows, times = distinct(train_rows[d])
        others, weights = distinct(test_rows[d])
        inside, outside = gather(values, columns, rows, 1), gather(values, columns, others, 1)
        labels, truth = codes[rows], codes[others]
        lines = lines_of(inside, settings[1])
        surest, winner = np.full(others.size, -np.inf), np.zeros(others.size, np.int64)
        average = 0.0
        for problem in range(n_problems):
            positive = 1 if n_problems == 1 else problem
            signs = np.empty(labels.size)
            one_sign = True
            for i in range(labels.size):
                signs[i] = 1.0 if labels[i] == positive else -1.0
                one_sign &= signs[i] == signs[0]
            decisions = np.full(others.size, np.inf * signs[0])
            if not one_sign:
                w = train(inside, lines, times, signs, settings)
                decisions[:] = 0.0
                add_multiples(w, w.size, outside, others.size, decisions)
            average += error_of(decisions > 0.0, truth == positive, weights, 2, balanced)
            for i in range(others.size):
                if decisions[i] > surest[i]:
                    surest[i], winner[i] = decisions[i], problem
        out[d] = average / n_problems
        if n_problems > 1 and not one_vs_all:
            out[d] = error_of(winner, truth, weights, n_classes, balanced)


@inline
def squared_distances(inside, point, out):
    """Squared Euclidean distances of a point to all rows, four columns at a time."""
    n_columns, n_rows = inside.shape
    out[:] = 0.0
    whole = n_columns - n_columns % 4
    for j in range(0, whole, 4):
        first, second, third, fourth = inside[j], inside[j + 1], inside[j + 2], inside[j + 3]
        p, q, r, s = point[j], point[j + 1], point[j + 2], point[j + 3]
        for i in range(n_rows):
            a, b, c, d = first[i] - p, second[i] - q, third[i] - r, fourth[i] - s
            out[i] += (a * a + b * b) + (c * c + d * d)
    for j in range(whole, n_columns):
        column, p = inside[j], point[j]
        for i in range(n_rows):
            a = column[i] - p
            out[i] += a * a


@inline
def mismatches(inside, point, out):
    """Numbers of columns in which a point differs from each row."""
    out[:] = 0.0
    for j in range(point.size):
        column, p = inside[j], point[j]
        for i in range(out.size):
            out[i] += 1.0 if column[i] != p else 0.0


@inline
def nearest_class(distances, times, labels, votes, nearest):
    """Class with most votes among the nearest rows; rows tied for the last places share them."""
    n_rows, n_neighbors = distances.size, nearest.size
    n_kept = 0  # the smallest distances, a row as often as it was drawn
    limit = np.inf
    for i in range(n_rows):
        value = distances[i]
        if value >= limit:
            continue
        copies = int(times[i])
        while copies > 0 and (n_kept < n_neighbors or value < nearest[n_kept - 1]):
            p = n_kept if n_kept < n_neighbors else n_kept - 1
            while p > 0 and nearest[p - 1] > value:
                nearest[p] = nearest[p - 1]
                p -= 1
            nearest[p] = value
            n_kept = min(n_kept + 1, n_neighbors)
            copies -= 1
        if n_kept == n_neighbors:
            limit = nearest[n_kept - 1]
    limit = nearest[n_kept - 1]
    votes[:] = 0.0
    below, tied = 0.0, 0.0
    for i in range(n_rows):
        if distances[i] > limit:
            continue
        if distances[i] < limit:
            below += times[i]
            votes[labels[i]] += times[i]
        else:
            tied += times[i]
    share = min((n_kept - below) / tied, 1.0)
    for i in range(n_rows):
        if distances[i] == limit:
            votes[labels[i]] += times[i] * share
    best = 0
    for c in range(votes.size):
        if votes[c] > votes[best] + 1e-12:
            best = c
    return best


@kernel
def neighbor_errors(
    values, codes, n_classes, draws, train, test, settings, balanced, one_vs_all, out, first, last
):  # fmt: skip
    """Errors of nearest neighbours; `settings` are how many, and the distance."""
    n_neighbors, distance = settings
    votes, nearest = np.empty(n_classes), np.empty(min(n_neighbors, train.shape[1]))
    for d in range(first, last):
        columns, _ = distinct(draws[d])
        rows, times = distinct(train[d])
        others, weights = distinct(test[d])
        inside, labels = gather(values, columns, rows, 0), codes[rows]
        point, away = np.empty(columns.size), np.empty(rows.size)
        found = np.empty(others.size, np.int64)
        for t in range(others.size):
            for j in range(columns.size):
                point[j] = values[columns[j], others[t]]
            if distance == EUCLIDEAN:
                squared_distances(inside, point, away)
            else:
                mismatches(inside, point, away)
            found[t] = nearest_class(away, times, labels, votes, nearest)
        out[d] = error_of(found, codes[others], weights, n_classes, balanced)


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
