"""Compiled training of linear SVMs with hinge loss on a Gram matrix.

A problem is solved in the dual, written with signed multipliers: of all ``beta`` that sum to 0
and lie in a box (from 0 to the price of the row, on the side of its class), it minimises
``beta' K beta / 2 - y' beta``. Its weights are ``X' beta``. ``slope = y - K beta`` is the downhill
direction; at the optimum no row that may grow has a steeper slope than a row that may shrink.
"""

from typing import Any, NamedTuple

import numpy as np

from tamis._runtime.compilation import inline, kernel

# A pivot below this share of its diagonal means that the row depends on the ones before.
SINGULAR = 1e-11
# Rows so near to a bound of their box, as a share of the box, are at the bound for Newton's step.
AT_BOUND = 1e-12
# Relative rounding error of a product of the Gram matrix with the multipliers.
ROUNDING = 4e-16


class Dual(NamedTuple):
    """A problem under way, with the lower Cholesky factor of `gram + shift` of its free rows."""

    gram: Any
    shift: float
    sign: Any
    low: Any
    high: Any
    beta: Any
    slope: Any
    factor: Any
    free: Any
    move: Any
    ones: Any


@inline
def dot(left, right, size):
    """Inner product, in four sums that never depend on where the arrays lie."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    i = 0
    while i + 4 <= size:
        a += left[i] * right[i]
        b += left[i + 1] * right[i + 1]
        c += left[i + 2] * right[i + 2]
        d += left[i + 3] * right[i + 3]
        i += 4
    while i < size:
        a += left[i] * right[i]
        i += 1
    return (a + b) + (c + d)


@inline
def solve_forward(factor, size, x):
    """Solve ``factor z = x`` in place, for a lower triangle."""
    for i in range(size):
        x[i] = (x[i] - dot(factor[i], x, i)) / factor[i, i]


@inline
def solve_backward(factor, size, x):
    """Solve ``factor' z = x`` in place, for a lower triangle."""
    for i in range(size - 1, -1, -1):
        x[i] /= factor[i, i]
        for j in range(i):
            x[j] -= factor[i, j] * x[i]


@inline
def fresh_slope(p):
    """Compute ``slope = sign - gram beta`` anew."""
    gram, beta, slope = p.gram, p.beta, p.slope
    for i in range(beta.size):
        slope[i] = p.sign[i]
    for j in range(beta.size):
        if beta[j] != 0.0:
            for i in range(beta.size):
                slope[i] -= beta[j] * gram[j, i]


@inline
def steepest(low, high, beta, slope):
    """Steepest row that may grow, and how much the flattest that may shrink lies below it."""
    best, top, bottom = -1, -np.inf, np.inf
    for i in range(beta.size):
        if beta[i] < high[i] and slope[i] > top:
            top = slope[i]
            best = i
        if beta[i] > low[i] and slope[i] < bottom:
            bottom = slope[i]
    return best, top - bottom


@inline
def move_pair(p, i):
    """Shift weight to row `i` from the row that lowers the objective most (second order)."""
    gram, low, high, beta, slope = p.gram, p.low, p.high, p.beta, p.slope
    j, most = -1, 0.0
    for k in range(beta.size):
        rise = slope[i] - slope[k]
        if rise > 0.0 and beta[k] > low[k]:
            curve = max(gram[i, i] + gram[k, k] - 2.0 * gram[i, k], 1e-300)
            if rise * rise > most * curve:
                most = rise * rise / curve
                j = k
    if j < 0:
        return
    curve = gram[i, i] + gram[j, j] - 2.0 * gram[i, j]
    # Two rows that cannot be told apart have no curve but rounding: go to the bound.
    flat = curve <= 4.0 * ROUNDING * (gram[i, i] + gram[j, j])
    step = np.inf if flat else (slope[i] - slope[j]) / curve
    up, down = high[i] - beta[i], beta[j] - low[j]
    step = min(step, min(up, down))
    beta[i] = high[i] if step == up else beta[i] + step
    beta[j] = low[j] if step == down else beta[j] - step
    for k in range(beta.size):
        slope[k] -= step * (gram[i, k] - gram[j, k])


@inline
def border(gram, shift, factor, free, size, row):
    """Write the line of the factor that `row` would get; returns its diagonal and pivot."""
    line = factor[size]
    for a in range(size):
        line[a] = gram[row, free[a]] + shift
    solve_forward(factor, size, line)
    diagonal = gram[row, row] + shift
    return diagonal, diagonal - dot(line, line, size)


@inline
def append(gram, shift, factor, free, size, row):
    """Let `row` into the free set; returns the new size, the old one if it depends on the rest."""
    diagonal, pivot = border(gram, shift, factor, free, size, row)
    if pivot <= SINGULAR * diagonal:
        return size
    factor[size, size] = np.sqrt(pivot)
    free[size] = row
    return size + 1


@inline
def remove(p, size, place):
    """Take the row at `place` out of the free set; returns the new size."""
    factor, free = p.factor, p.free
    for i in range(place, size - 1):
        free[i] = free[i + 1]
        for j in range(i + 2):
            factor[i, j] = factor[i + 1, j]
    for j in range(place, size - 1):  # rotate away what now stands right of the diagonal
        length = np.hypot(factor[j, j], factor[j, j + 1])
        cosine, sine = factor[j, j] / length, factor[j, j + 1] / length
        for i in range(j, size - 1):
            left, right = factor[i, j], factor[i, j + 1]
            factor[i, j] = cosine * left + sine * right
            factor[i, j + 1] = cosine * right - sine * left
    return size - 1


@inline
def gather_free(p):
    """Start the free set anew with the rows inside their box, as many as are independent."""
    low, high, beta = p.low, p.high, p.beta
    size = 0
    for i in range(beta.size):
        margin = AT_BOUND * (high[i] - low[i])
        if low[i] + margin < beta[i] < high[i] - margin:
            size = append(p.gram, p.shift, p.factor, p.free, size, i)
    return size


@inline
def move_free(p, size, total):
    """Move the free rows by `move`, or by the share of it at which one of them meets a bound.

    The largest entry takes what rounding misses to the sum `total`. Returns the share and the place
    of the row at its bound, -1 if none is.
    """
    gram, low, high, beta, slope = p.gram, p.low, p.high, p.beta, p.slope
    free, move = p.free, p.move
    largest, missing = 0, total
    for a in range(size):
        missing -= move[a]
        if abs(move[a]) > abs(move[largest]):
            largest = a
    move[largest] += missing
    share, place = 1.0, -1
    for a in range(size):
        i = free[a]
        if move[a] > 0.0 and beta[i] + share * move[a] > high[i]:
            share, place = (high[i] - beta[i]) / move[a], a
        elif move[a] < 0.0 and beta[i] + share * move[a] < low[i]:
            share, place = (low[i] - beta[i]) / move[a], a
    share = max(share, 0.0)
    for a in range(size):
        i = free[a]
        step = share * move[a]
        if a == place:
            beta[i] = high[i] if move[a] > 0.0 else low[i]
        else:
            beta[i] = min(max(beta[i] + step, low[i]), high[i])
        if step != 0.0:
            for k in range(beta.size):
                slope[k] -= step * gram[i, k]
    return share, place


@inline
def settle(p, size):
    """Give all free rows one slope, by Newton's method; rows that meet a bound leave the set."""
    slope, free, move, ones = p.slope, p.free, p.move, p.ones
    while size > 1:
        for a in range(size):
            move[a] = slope[free[a]]
            ones[a] = 1.0
        solve_forward(p.factor, size, move)
        solve_backward(p.factor, size, move)
        solve_forward(p.factor, size, ones)
        solve_backward(p.factor, size, ones)
        level = move[:size].sum() / ones[:size].sum()
        for a in range(size):
            move[a] -= level * ones[a]
        _, place = move_free(p, size, 0.0)
        if place < 0:
            break
        size = remove(p, size, place)
    return size


@inline
def raise_row(p, size, row, tol):
    """Move `row` until it has the slope of the free rows, which make room and keep one slope.

    At the end `row` joins the set, is at its other bound, or depends on the set. Returns the size.
    """
    gram, low, high, beta, slope = p.gram, p.low, p.high, p.beta, p.slope
    move, ones = p.move, p.ones
    while size > 0:
        rise = slope[row] - slope[p.free[0]]
        up = 1.0 if rise > 0.0 else -1.0
        room = high[row] - beta[row] if rise > 0.0 else beta[row] - low[row]
        if abs(rise) <= tol or room <= 0.0:
            return size
        diagonal, pivot = border(gram, p.shift, p.factor, p.free, size, row)
        for a in range(size):
            move[a] = p.factor[size, a]
            ones[a] = 1.0
        solve_backward(p.factor, size, move)
        solve_forward(p.factor, size, ones)
        solve_backward(p.factor, size, ones)
        excess = move[:size].sum() - 1.0
        total = ones[:size].sum()
        independent = pivot > SINGULAR * diagonal
        step = abs(rise) / (pivot + excess * excess / total) if independent else np.inf
        own = step >= room
        step = min(step, room)
        for a in range(size):
            move[a] = -up * step * (move[a] - excess / total * ones[a])
        share, place = move_free(p, size, -up * step)
        for k in range(beta.size):
            slope[k] -= share * step * up * gram[row, k]
        if place < 0:
            if own:
                beta[row] = high[row] if up > 0.0 else low[row]
                return size
            beta[row] += up * step
            p.factor[size, size] = np.sqrt(pivot)
            p.free[size] = row
            return size + 1
        beta[row] = min(max(beta[row] + up * share * step, low[row]), high[row])
        size = remove(p, size, place)
    return size


@inline
def noise(gram, beta):
    """How exactly a slope can be known at all."""
    total, widest = 0.0, 0.0
    for i in range(beta.size):
        length = np.sqrt(max(gram[i, i], 0.0))
        total += abs(beta[i]) * length
        widest = max(widest, length)
    return ROUNDING * total * widest


@inline
def worst_row(p, size):
    """Row whose slope differs most from that of the free ones although it could move."""
    low, high, beta, slope, free = p.low, p.high, p.beta, p.slope, p.free
    is_free = np.zeros(beta.size, dtype=np.bool_)
    level = 0.0
    for a in range(size):
        is_free[free[a]] = True
        level += slope[free[a]] / size
    worst, most = -1, 0.0
    for i in range(beta.size):
        if is_free[i]:
            continue
        rise = slope[i] - level
        if rise > most and beta[i] < high[i]:
            most, worst = rise, i
        elif -rise > most and beta[i] > low[i]:
            most, worst = -rise, i
    return worst, most


@inline
def train(gram, sign, low, high, beta, tol, max_iter):
    """Train one problem from the multipliers in `beta`, in place; returns the gap that is left.

    A cold start begins with steps of two rows. Then an active-set method ends exactly: the rows
    inside their box form the free set, whose slopes are kept equal through a Cholesky factor; one
    by one the rows that violate optimality most are moved.
    """
    n = beta.size
    slope, move, ones = np.empty(n), np.empty(n + 1), np.empty(n + 1)
    factor, free = np.empty((n + 1, n + 1)), np.empty(n + 1, dtype=np.int64)
    shift = max(np.trace(gram) / n, 1e-300)
    p = Dual(gram, shift, sign, low, high, beta, slope, factor, free, move, ones)
    fresh_slope(p)
    gap = np.inf
    if not beta.any():
        for _ in range(2 * n):
            i, gap = steepest(low, high, beta, slope)
            if gap <= 0.1:
                break
            move_pair(p, i)
    size = settle(p, gather_free(p))
    goal = max(tol, noise(gram, beta))
    repairs = 0
    for step in range(max_iter):
        i, gap = steepest(low, high, beta, slope)
        most = gap
        if gap > goal and size > 0:
            i, most = worst_row(p, size)
        if most <= 0.5 * goal or gap <= goal:  # nothing to move: is it true without rounding?
            fresh_slope(p)
            size = settle(p, size)
            goal = max(tol, noise(gram, beta))
            _, gap = steepest(low, high, beta, slope)
            repairs += 1
            if gap <= goal:
                return min(gap, tol)
            if repairs % 3 == 0:
                size = gather_free(p)
            if repairs > 12:
                return gap
            continue
        if size == 0:
            j, _ = steepest(-high, -low, -beta, -slope)
            size = append(gram, shift, factor, free, 0, j)
        before = beta[i]
        size = raise_row(p, size, i, 0.1 * goal)
        if beta[i] == before:  # a free row stood at its bound: get it away by a plain step
            i, _ = steepest(low, high, beta, slope)
            move_pair(p, i)
            size = settle(p, gather_free(p))
        elif step % 50 == 49:
            fresh_slope(p)
            size = settle(p, size)
    return gap


@kernel
def centre(columns, weight, scale):
    """Centre, and scale, columns in place, NaN to 0; equal columns stay equal to the last bit."""
    for column in columns:
        total = 0.0
        for i in range(column.size):
            if not np.isnan(column[i]):
                total += weight[i]
        for _ in range(2):  # the second round takes off what rounding left of a large mean
            mean = 0.0
            for i in range(column.size):
                if not np.isnan(column[i]):
                    mean += weight[i] * column[i]
            column -= mean / total
        spread = 0.0
        for i in range(column.size):
            if np.isnan(column[i]):
                column[i] = 0.0
            spread += weight[i] * column[i] * column[i]
        if scale and spread > 0.0:
            column /= np.sqrt(spread / total)


@kernel
def train_problems(gram, ranges, starts, sign, low, high, beta, tol, max_iter):
    """Train every problem on its rows of one Gram matrix; returns the largest gap left."""
    worst = 0.0
    for m in range(ranges.shape[0]):
        a0, a1, b0, b1 = ranges[m]
        part = gram
        if a0 > 0 or a1 < b0 or b1 < gram.shape[0]:
            size = a1 - a0
            part = np.empty((size + b1 - b0, size + b1 - b0))
            for i in range(part.shape[0]):
                row = gram[a0 + i if i < size else b0 + i - size]
                for j in range(part.shape[0]):
                    part[i, j] = row[a0 + j if j < size else b0 + j - size]
        a, b = starts[m], starts[m + 1]
        gap = train(part, sign[a:b], low[a:b], high[a:b], beta[a:b], tol, max_iter)
        worst = max(worst, gap)
    return worst


@kernel
def squared_weights(columns, alive, ranges, starts, beta, out):
    """Squared weight of every column left, summed over the problems."""
    for a in range(alive.size):
        column = columns[alive[a]]
        total = 0.0
        for m in range(ranges.shape[0]):
            first = starts[m]
            a0, a1, b0, b1 = ranges[m]
            middle = first + a1 - a0
            weight = dot(column[a0:a1], beta[first:middle], a1 - a0)
            weight += dot(column[b0:b1], beta[middle : starts[m + 1]], b1 - b0)
            total += weight * weight
        out[a] = total
