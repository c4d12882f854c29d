"""Errors of small decision trees grown on one bootstrap sample and tested on another."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.weighting._error_kernels import distinct, error_of, gather

# A split is better than another only by more than rounding, so that ties go to the lower column.
CLEARLY = 1.0 + 1e-12
# Column of a node that is not split.
LEAF = -1


@inline
def best_cut(column, order, start, stop, times, labels, counts, left, least, best):
    """Best cut of the rows ``order[start:stop]`` by one column, if clearly better than `best`.

    The purity ``sum_c L_c^2 / |L| + sum_c R_c^2 / |R|`` grows as the Gini impurity falls. Returns
    the purity and the position after which to cut, -1 for none.
    """
    size, squares_left, squares_right, size_left = 0.0, 0.0, 0.0, 0.0
    for c in range(counts.size):
        left[c] = 0.0
        size += counts[c]
        squares_right += counts[c] * counts[c]
    position = -1
    for p in range(start, stop - 1):
        i = order[p]
        c, t = labels[i], times[i]
        right = counts[c] - left[c]
        squares_left += t * (2.0 * left[c] + t)
        squares_right -= t * (2.0 * right - t)
        left[c] += t
        size_left += t
        if size - size_left < least:
            break
        if size_left < least or column[order[p + 1]] <= column[i]:
            continue
        purity = squares_left / size_left + squares_right / (size - size_left)
        if purity > best * CLEARLY:
            best, position = purity, p
    return best, position


@inline
def between(low, high):
    """Middle of two numbers, never the higher one."""
    middle = low / 2.0 + high / 2.0
    return middle if low < middle < high else low


@inline
def divide(order, start, stop, goes_left, spare):
    """Put the rows that go left first, in every column's order; returns where the others begin."""
    border = start
    for line in order:
        border, n_spare = start, 0
        for p in range(start, stop):
            i = line[p]
            if goes_left[i]:
                line[border] = i
                border += 1
            else:
                spare[n_spare] = i
                n_spare += 1
        for p in range(n_spare):
            line[border + p] = spare[p]
    return border


@inline
def count_classes(rows, times, labels, counts):
    """Count the classes of some rows; returns the largest and the number of those present."""
    counts[:] = 0.0
    for i in rows:
        counts[labels[i]] += times[i]
    most, n_present = 0, 0
    for c in range(counts.size):
        n_present += counts[c] > 0.0
        if counts[c] > counts[most]:
            most = c
    return most, n_present


@inline
def grow(inside, times, labels, n_classes, max_depth, least):
    """Nodes of a tree and their cuts; a node is column, child, class, first row, end and depth.

    The left child is `child`, the right one comes next; those still to be split are a queue.
    """
    n_columns, n_rows = inside.shape
    order = np.empty((n_columns, n_rows), np.int64)
    for j in range(n_columns):
        sorted_rows = np.argsort(inside[j])
        for i in range(n_rows):
            order[j, i] = sorted_rows[i]
    counts, left = np.empty(n_classes), np.empty(n_classes)
    goes_left, spare = np.empty(n_rows, np.bool_), np.empty(n_rows, np.int64)
    nodes, cuts = np.empty((2 * n_rows, 6), np.int64), np.empty(2 * n_rows)
    nodes[0, 3:] = (0, n_rows, 0)
    n_nodes, node = 1, 0
    while node < n_nodes:
        start, stop, depth = nodes[node, 3], nodes[node, 4], nodes[node, 5]
        most, n_present = count_classes(order[0, start:stop], times, labels, counts)
        nodes[node, 0], nodes[node, 2] = LEAF, most
        best, split, position = 0.0, LEAF, -1
        if n_present > 1 and depth < max_depth:
            for j in range(n_columns):
                best, found = best_cut(
                    inside[j], order[j], start, stop, times, labels, counts, left, least, best
                )
                if found >= 0:
                    split, position = j, found
        if split != LEAF:
            line = order[split]
            for p in range(start, stop):
                goes_left[line[p]] = p <= position
            column = inside[split]
            cuts[node] = between(column[line[position]], column[line[position + 1]])
            border = divide(order, start, stop, goes_left, spare)
            nodes[node, 0], nodes[node, 1] = split, n_nodes
            nodes[n_nodes, 3:] = (start, border, depth + 1)
            nodes[n_nodes + 1, 3:] = (border, stop, depth + 1)
            n_nodes += 2
        node += 1
    return nodes, cuts


@kernel
def cart_errors(
    values, codes, n_classes, draws, train, test, settings, balanced, one_vs_all, out, first, last
):  # fmt: skip
    """Errors of trees by Gini impurity; `settings` are the depth and the least rows of a leaf.

    Equal gains go to the lower column, then to the lower cut. A node of two classes and two values
    is split even if that gains nothing at once.
    """
    max_depth, least = settings
    for d in range(first, last):
        columns, _ = distinct(draws[d])
        rows, times = distinct(train[d])
        others, weights = distinct(test[d])
        inside = gather(values, columns, rows, 0)
        nodes, cuts = grow(inside, times, codes[rows], n_classes, max_depth, least)
        found = np.empty(others.size, np.int64)
        for i in range(others.size):
            node = 0
            while nodes[node, 0] != LEAF:
                value = values[columns[nodes[node, 0]], others[i]]
                node = nodes[node, 1] + (value > cuts[node])
            found[i] = nodes[node, 2]
        out[d] = error_of(found, codes[others], weights, n_classes, balanced)
