"""Coordinate descent: for the lasso, on a working set of columns, and for the distances s.

A problem of the lasso is one fold: its training rows, its coefficients `b`, its gradient. All
problems share the working set. Eq. 5 and 11 of Friedman, Hastie and Tibshirani (2010).
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Smallest curvature of the logistic loss of a row; fitted probabilities of 0 and 1 have none.
LEAST_CURVATURE = 1e-5


@inline
def shrink(value, threshold):
    """Soft threshold."""
    if value > threshold:
        return value - threshold
    if value < -threshold:
        return value + threshold
    return 0.0


@kernel
def descend_squared(grams, size, penalty, tolerance, max_sweeps, gradients, coefs):
    """Minimise ``b'Gb / 2 - c'b + penalty |b|_1`` for every problem, in place.

    `grams` are G (problems, columns, columns) and `gradients` are ``c - Gb``. After a sweep of all
    columns, those that are not zero are swept until no step changes the fit by `tolerance`.
    """
    for f in range(coefs.shape[0]):
        gram, gradient, b = grams[f], gradients[f], coefs[f]
        whole = True
        for _ in range(max_sweeps):
            largest = 0.0
            for j in range(size):
                old = b[j]
                if old == 0.0 and (not whole or abs(gradient[j]) <= penalty):
                    continue
                curvature = gram[j, j]
                if curvature <= 0.0:
                    continue
                new = shrink(gradient[j] + curvature * old, penalty) / curvature
                change = new - old
                if change != 0.0:
                    b[j] = new
                    largest = max(largest, curvature * change * change)
                    line = gram[j]
                    for m in range(size):
                        gradient[m] -= change * line[m]
            if largest <= tolerance:
                if whole:
                    break
                whole = True
            else:
                whole = False


@inline
def logistic_loss(margins, first, last, labels):
    """Sum over the training rows of ``log(1 + exp(eta)) - y eta``."""
    total = 0.0
    for i in range(margins.size):
        if i < first or i >= last:
            eta = margins[i]
            total += max(eta, 0.0) + np.log1p(np.exp(-abs(eta))) - labels[i] * eta
    return total


@kernel
def descend_logistic(
    lines, size, labels, firsts, lasts, penalty, tolerance, max_rounds, max_sweeps,
    intercepts, coefs, margins, used,
):  # fmt: skip
    """Proximal Newton steps for every problem, in place.

    Rows ``firsts[f]:lasts[f]`` are held out. `lines` are the columns of the working set, `margins`
    (problems, rows) are kept equal to intercept plus product, for held-out rows too.
    """
    n_rows = labels.size
    weights, residual = np.empty(n_rows), np.empty(n_rows)
    step, trial, moved = np.empty(size), np.empty(n_rows), np.empty(n_rows)
    curvatures = np.empty(size)
    for f in range(coefs.shape[0]):
        first, last, b, eta = firsts[f], lasts[f], coefs[f], margins[f]
        n_train = n_rows - (last - first)
        bound = penalty * n_train
        limit = tolerance * n_train
        objective = logistic_loss(eta, first, last, labels)
        for j in range(size):
            objective += bound * abs(b[j])
        for round_ in range(max_rounds):
            used[f] = round_
            total = 0.0
            for i in range(n_rows):
                if first <= i < last:
                    weights[i] = 0.0
                    residual[i] = 0.0
                else:
                    share = 1.0 / (1.0 + np.exp(-eta[i]))
                    weights[i] = max(share * (1.0 - share), LEAST_CURVATURE)
                    residual[i] = labels[i] - share
                    total += weights[i]
            # The quadratic model at eta: `residual` is its negative gradient per row.
            shift = 0.0
            moved[:] = 0.0
            for j in range(size):
                step[j] = b[j]
                curvatures[j] = -1.0
            whole = True
            biggest = 0.0
            for _ in range(max_sweeps):
                largest = 0.0
                rest = 0.0
                for i in range(n_rows):
                    rest += residual[i]
                change = rest / total
                shift += change
                largest = max(largest, total * change * change)
                for i in range(n_rows):
                    residual[i] -= change * weights[i]
                for j in range(size):
                    if step[j] == 0.0 and not whole:
                        continue
                    line = lines[j]
                    slope = np.dot(line, residual)
                    if step[j] == 0.0 and abs(slope) <= bound:
                        continue
                    if curvatures[j] < 0.0:
                        for i in range(n_rows):
                            trial[i] = weights[i] * line[i]
                        curvatures[j] = np.dot(trial, line)
                    curvature = curvatures[j]
                    if curvature <= 0.0:
                        continue
                    new = shrink(slope + curvature * step[j], bound) / curvature
                    change = new - step[j]
                    if change != 0.0:
                        step[j] = new
                        largest = max(largest, curvature * change * change)
                        for i in range(n_rows):
                            residual[i] -= change * weights[i] * line[i]
                biggest = max(biggest, largest)
                if largest <= limit:
                    if whole:
                        break
                    whole = True
                else:
                    whole = False
            if biggest <= limit:
                break
            for j in range(size):
                change = step[j] - b[j]
                if change != 0.0:
                    line = lines[j]
                    for i in range(n_rows):
                        moved[i] += change * line[i]
            for i in range(n_rows):
                moved[i] += shift
            # A full step may overshoot where probabilities are near 0 or 1.
            length = 1.0
            for _ in range(20):
                for i in range(n_rows):
                    trial[i] = eta[i] + length * moved[i]
                value = logistic_loss(trial, first, last, labels)
                for j in range(size):
                    value += bound * abs(b[j] + length * (step[j] - b[j]))
                if value <= objective + 1e-12 * abs(objective):
                    break
                length *= 0.5
            objective = value
            for i in range(n_rows):
                eta[i] = trial[i]
            for j in range(size):
                b[j] += length * (step[j] - b[j])
            intercepts[f] += length * shift


@kernel
def move_block(lines, start, s, updates, signs):
    """Move the coordinates of a block, each to its optimum, in place.

    `lines` are the rows of ``A = (2 S - diag(s))^-1`` that belong to the block, from `start` on.
    Lowering a diagonal entry by `delta` adds ``delta / (1 - delta a_jj) A_j A_j'`` to A (Sherman
    and Morrison); the sum of 1 / s_j and the trace of A is minimised. Returns the largest change.
    """
    n_block, n = lines.shape
    largest = 0.0
    for i in range(n_block):
        line, j = lines[i], start + i
        a = line[j]
        root = np.sqrt(np.dot(line, line))
        delta = (1.0 - root * s[j]) / (a + root)
        factor = delta / (1.0 - delta * a)
        for k in range(n_block):
            if k != i:
                share = factor * line[start + k]
                other = lines[k]
                for m in range(n):
                    other[m] += share * line[m]
        size = np.sqrt(abs(factor))
        for m in range(n):
            updates[i, m] = size * line[m]
            line[m] += factor * a * line[m]
        signs[i] = 1.0 if factor >= 0.0 else -1.0
        s[j] += delta
        largest = max(largest, abs(delta))
    return largest
