"""Loops that shuffle rows, and that count how often permuted scores reach the true ones."""

import numpy as np

from tamis._runtime.compilation import inline, kernel


@inline
def scramble(state):
    """A number of 64 random bits, from a state that grows by a constant (splitmix64)."""
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def shuffle_units(members, size, bounds, states, out):
    """Write one order of the rows per state: units of one kind exchange their places.

    The rows of unit u are ``members[start[u] : start[u] + size[u]]``; units ``bounds[k]`` to
    ``bounds[k + 1]`` are of one kind and of one size. Other rows stay.
    """
    n_units = size.shape[0]
    start = np.zeros(n_units + 1, np.int64)
    for u in range(n_units):
        start[u + 1] = start[u] + size[u]
    place = np.empty(n_units, np.int32)
    simple = bounds.shape[0] == 2 and n_units == out.shape[1]  # all rows, in their order
    for q in range(states.shape[0]):
        row = out[q]
        for i in range(row.shape[0]):
            row[i] = i
        state = states[q]
        if simple:
            for u in range(n_units - 1, 0, -1):
                state += np.uint64(0x9E3779B97F4A7C15)
                high = scramble(state) >> np.uint64(32)
                v = np.int64((high * np.uint64(u + 1)) >> np.uint64(32))
                row[u], row[v] = row[v], row[u]
            continue
        for k in range(bounds.shape[0] - 1):
            a, b = bounds[k], bounds[k + 1]
            for u in range(a, b):
                place[u] = u
            for u in range(b - 1, a, -1):
                state += np.uint64(0x9E3779B97F4A7C15)
                high = scramble(state) >> np.uint64(32)
                v = a + np.int64((high * np.uint64(u - a + 1)) >> np.uint64(32))
                place[u], place[v] = place[v], place[u]
        for u in range(n_units):
            to, source = start[u], start[place[u]]
            for t in range(size[u]):
                row[members[to + t]] = members[source + t]


@kernel
def count_step_down(statistic, least, best, adjusted, single):
    """Take in columns, worst first: counts of one column alone, and of the best so far."""
    for j in range(statistic.shape[0]):
        line, own = statistic[j], least[j]
        alone = 0
        together = 0
        for q in range(line.shape[0]):
            best[q] = max(best[q], line[q])
            alone += line[q] >= own
            together += best[q] >= own
        single[j] += alone
        adjusted[j] += together


@kernel
def count_until(statistic, least, most, hits, tries):
    """Go on counting for every column until it has `most` hits; `tries` counts the orders."""
    for j in range(statistic.shape[0]):
        line, own = statistic[j], least[j]
        count = 0
        for q in range(line.shape[0]):
            count += line[q] >= own
        if hits[j] + count < most:
            hits[j] += count
            tries[j] += line.shape[0]
            continue
        for q in range(line.shape[0]):
            tries[j] += 1
            hits[j] += line[q] >= own
            if hits[j] == most:
                break
