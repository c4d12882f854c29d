"""Neighbour estimates of mutual information; `order` is the argsort of every row of `columns`.

The table `psi` holds digammas. Distances are taken exactly as scikit-learn takes them, since a last
bit may decide whether a neighbour is counted.
"""

import numpy as np

from tamis._runtime.compilation import inline, kernel

# Points on which the two ways of searching a plane are tried.
TRIALS = 16


@inline
def observed(column):
    """Number of cells that are not missing; these lead the order."""
    return column.size - np.isnan(column).sum()


@inline
def last_within(values, n, position, radius, direction):
    """Farthest point of a sorted line closer than `radius` or at 0; steps double, then halve."""
    inside = position
    step = 1
    while step > 0:
        reached = inside + direction * step
        if 0 <= reached < n:
            distance = direction * (values[reached] - values[position])
            if distance < radius or distance == 0.0:
                inside = reached
                step *= 2
                continue
        step //= 2
    return inside


@inline
def count_within(values, n, position, radius):
    """Points of a sorted line closer than `radius`, or at distance 0, the point included."""
    last = last_within(values, n, position, radius, 1)
    return last - last_within(values, n, position, radius, -1) + 1


@inline
def keep_nearest(nearest, k, distance):
    """Insert a distance into the sorted list of the k smallest."""
    if distance < nearest[k - 1]:
        slot = k - 1
        while slot > 0 and nearest[slot - 1] > distance:
            nearest[slot] = nearest[slot - 1]
            slot -= 1
        nearest[slot] = distance


@inline
def rounded_radius(values, first, last, position, k, nearest):
    """Distance to the k-th of at most 2 k + 1 neighbours, rounded as scikit-learn does there."""
    x = values[position]
    nearest[:k] = np.inf
    for other in range(first, last):
        if other != position:
            y = values[other]
            keep_nearest(nearest, k, max(0.0, (x * x + (-2.0 * (x * y))) + y * y))
    return np.sqrt(nearest[k - 1])


@inline
def group_radii(values, first, last, n_neighbors, radii, nearest):
    """Distance of every point of a sorted group to its k-th neighbour in the group; k."""
    n = last - first
    k = min(n_neighbors, n - 1)
    if k >= n // 2:
        for position in range(first, last):
            radii[position] = rounded_radius(values, first, last, position, k, nearest)
        return k
    left = first  # of the window of k + 1 points that is nearest to the position
    for position in range(first, last):
        x = values[position]
        while left + k + 1 < last and x - values[left] > values[left + k + 1] - x:
            left += 1
        radii[position] = max(x - values[left], values[left + k] - x)
    return k


@inline
def groups_and_line(line, groups, n, n_groups, n_neighbors, psi):
    """Ross's estimate for a sorted line of `n` points; a group of one point is left out."""
    grouped, radii, rest = np.empty(n), np.empty(n), np.empty(n)
    place = np.empty(n, dtype=np.int64)
    starts = np.zeros(n_groups + 1, dtype=np.int64)
    for i in range(n):
        starts[groups[i] + 1] += 1
    for g in range(n_groups):
        starts[g + 1] += starts[g]
    fill = starts[:-1].copy()
    kept = 0
    for i in range(n):
        g = groups[i]
        if starts[g + 1] - starts[g] > 1:
            rest[kept] = grouped[fill[g]] = line[i]
            place[fill[g]] = kept
            fill[g] += 1
            kept += 1
    if kept == 0:
        return 0.0
    nearest = np.empty(n_neighbors)
    total = 0.0
    for g in range(n_groups):
        size = starts[g + 1] - starts[g]
        if size < 2:
            continue
        k = group_radii(grouped, starts[g], starts[g + 1], n_neighbors, radii, nearest)
        total += size * (psi[k] - psi[size])
        for i in range(starts[g], starts[g + 1]):
            total -= psi[count_within(rest, kept, place[i], radii[i])]
    return max(0.0, psi[kept] + total / kept)


@kernel
def numbers_with_classes(columns, order, codes, n_classes, n_neighbors, psi, scores):
    """Continuous columns against classes."""
    n_rows = columns.shape[1]
    line = np.empty(n_rows)
    groups = np.empty(n_rows, dtype=np.int64)
    for j in range(columns.shape[0]):
        n = observed(columns[j])
        for i in range(n):
            line[i] = columns[j, order[j, i]]
            groups[i] = codes[order[j, i]]
        scores[j] = groups_and_line(line, groups, n, n_classes, n_neighbors, psi)


@inline
def value_codes(column, order, n, codes):
    """Number the distinct values of a sorted column; how many there are."""
    code = -1
    for i in range(n):
        if i == 0 or column[order[i]] != column[order[i - 1]]:
            code += 1
        codes[order[i]] = code
    return code + 1


@kernel
def values_with_numbers(columns, order, target, target_order, n_neighbors, psi, scores):
    """Discrete columns against a numeric target, whose order is known."""
    n_rows = columns.shape[1]
    line = np.empty(n_rows)
    groups, codes = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    for j in range(columns.shape[0]):
        n_values = value_codes(columns[j], order[j], observed(columns[j]), codes)
        n = 0
        for i in target_order:
            if not np.isnan(columns[j, i]):
                line[n] = target[i]
                groups[n] = codes[i]
                n += 1
        scores[j] = groups_and_line(line, groups, n, n_values, n_neighbors, psi)


@kernel
def values_with_classes(columns, order, codes, n_classes, scores):
    """Discrete columns against classes: the plug-in estimate, value after value."""
    per_class = np.empty(n_classes)
    whole = np.empty(n_classes)
    for j in range(columns.shape[0]):
        n = observed(columns[j])
        whole[:] = 0.0
        for i in range(n):
            whole[codes[order[j, i]]] += 1.0
        total = 0.0
        start = 0
        while start < n:
            value = columns[j, order[j, start]]
            per_class[:] = 0.0
            stop = start
            while stop < n and columns[j, order[j, stop]] == value:
                per_class[codes[order[j, stop]]] += 1.0
                stop += 1
            for c in range(n_classes):
                m = per_class[c]
                if m > 0.0:
                    total += m * np.log(m / (stop - start) * (n / whole[c]))
            start = stop
        scores[j] = max(0.0, total / max(n, 1))


@inline
def chebyshev_radius(line, other, n, position, k, nearest):
    """Distance to the k-th neighbour in the plane by the larger difference; points looked at.

    Neighbours are visited along the sorted `line` until it alone puts them farther than the k-th.
    """
    x = line[position]
    y = other[position]
    nearest[:k] = np.inf
    farthest = np.inf
    looked = 0
    for direction in (1, -1):
        reached = position + direction
        while 0 <= reached < n and abs(line[reached] - x) < farthest:
            gap = abs(other[reached] - y)
            if gap < farthest:
                keep_nearest(nearest, k, max(abs(line[reached] - x), gap))
                farthest = nearest[k - 1]
            reached += direction
        looked += abs(reached - position)
    return farthest, looked


@inline
def trial(line, other, n, k, nearest):
    """Points looked at in a few searches along a line."""
    looked = 0
    for t in range(min(TRIALS, n)):
        looked += chebyshev_radius(line, other, n, t * n // min(TRIALS, n), k, nearest)[1]
    return looked


@inline
def rescale_target(raw, spread, column, target, scaled):
    """Target in units of its deviation over the observed cells; whether it varies there."""
    n = 0
    mean = 0.0
    for i in range(raw.shape[0]):
        if not np.isnan(column[i]):
            n += 1
            mean += (raw[i] - mean) / n
    squares = 0.0
    for i in range(raw.shape[0]):
        if not np.isnan(column[i]):
            squares += ((raw[i] - mean) / spread) ** 2
    if squares <= 0.0:
        return False
    unit = np.sqrt(squares / n)
    for i in range(raw.shape[0]):
        scaled[i] = target[i] / unit
    return True


@kernel
def numbers_with_numbers(
    columns, order, raw, spread, target, target_order, n_neighbors, psi, scores
):
    """Kraskov's first estimate; `target` is `raw` in units of its deviation, plus noise."""
    n_rows = columns.shape[1]
    x_line, y_line = np.empty(n_rows), np.empty(n_rows)
    y_along_x, x_along_y = np.empty(n_rows), np.empty(n_rows)
    # Positions along x: of the rows, and of the points along y.
    place, partner = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    scaled = np.empty(n_rows)
    nearest = np.empty(n_neighbors)
    for j in range(columns.shape[0]):
        column = columns[j]
        n = observed(column)
        for i in range(n_rows):
            scaled[i] = target[i]
        if n < 2 or (n < n_rows and not rescale_target(raw, spread, column, target, scaled)):
            scores[j] = 0.0
            continue
        k = min(n_neighbors, n - 1)
        for i in range(n):
            x_line[i] = column[order[j, i]]
            y_along_x[i] = scaled[order[j, i]]
            place[order[j, i]] = i
        m = 0
        for i in target_order:
            if not np.isnan(column[i]):
                y_line[m] = scaled[i]
                x_along_y[m] = column[i]
                partner[m] = place[i]
                m += 1
        along_x = trial(x_line, y_along_x, n, k, nearest) <= trial(y_line, x_along_y, n, k, nearest)
        total = 0.0
        for m in range(n):
            p = partner[m]
            if along_x:
                radius = chebyshev_radius(x_line, y_along_x, n, p, k, nearest)[0]
            else:
                radius = chebyshev_radius(y_line, x_along_y, n, m, k, nearest)[0]
            total += psi[count_within(x_line, n, p, radius)]
            total += psi[count_within(y_line, n, m, radius)]
        scores[j] = max(0.0, psi[n] + psi[k] - total / n)
