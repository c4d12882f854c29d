"""Columns to small whole numbers, and what joint counts of them say; arrays in, arrays out."""

import numpy as np

from tamis._runtime.compilation import inline, kernel
from tamis.statistics._column_bin_kernels import fill_column_slots, narrow_columns

MISSING = 255
# A table of 8-bit codes has room for this many levels.
MOST_LEVELS = 255
# A rank that is closer than this below the border of two bins is above it.
BORDER = 1e-9
# Two cuts whose entropies differ by less are equally good; the lower one is taken.
TIE = 1e-10


@inline
def x_log_x(x, table):
    """``x log2(x)``, looked up where all weights are whole numbers."""
    if table.shape[0] > 0:
        return table[int(x)]
    if x > 0.0:
        return x * np.log2(x)
    return 0.0


@inline
def add_value(x, values, count, most):
    """Put `x` into the ascending `values` if it is new; how many there are, or one too many."""
    place = 0
    while place < count and values[place] < x:
        place += 1
    if place < count and values[place] == x:
        return count
    if count == most:
        return most + 1
    for k in range(count, place, -1):
        values[k] = values[k - 1]
    values[place] = x
    return count + 1


@inline
def keep_values(x, n_bins, levels, out):
    """Code a column by its distinct values; how many, or 0 if there are more than `n_bins`."""
    count = 0
    for i in range(x.shape[0]):
        if x[i] == x[i]:
            count = add_value(x[i], levels, count, n_bins)
            if count > n_bins:
                return 0
    for i in range(x.shape[0]):
        out[i] = MISSING
        for k in range(count):
            if levels[k] == x[i]:
                out[i] = k
                break
    return max(count, 1)


@kernel
def code_uniform(values, bins, table, n_levels):
    """Equal bins; a value on a cut is above it."""
    n_bins = bins[5]
    is_narrow = narrow_columns(bins)
    levels = np.empty(n_bins)
    slots = np.empty(values.shape[1], dtype=np.int32)
    for j in range(values.shape[0]):
        n_levels[j] = keep_values(values[j], n_bins, levels, table[j])
        if n_levels[j] == 0:
            n_levels[j] = n_bins
            fill_column_slots(values[j], j, bins, is_narrow, slots)
            for i in range(slots.shape[0]):
                table[j, i] = slots[i] if slots[i] < n_bins else MISSING


@inline
def mark_missing(x, order, out):
    """Code the missing cells, which come last in the order; number of the others."""
    n_seen = x.shape[0]
    while n_seen > 0 and x[order[n_seen - 1]] != x[order[n_seen - 1]]:
        n_seen -= 1
        out[order[n_seen]] = MISSING
    return n_seen


@inline
def find_quantiles(x, weight, n_bins, cuts):
    """Cuts between bins of nearly equal weight, by mid-rank, of ascending values; how many.

    Equal values stay together, NaN comes last and takes no part. At most `n_bins` distinct values
    have a bin each. A cut is the least value above it.
    """
    total, distinct, n_seen = 0.0, 0, 0
    while n_seen < x.shape[0] and x[n_seen] == x[n_seen]:
        total += weight[n_seen]
        distinct += n_seen == 0 or x[n_seen] != x[n_seen - 1]
        n_seen += 1
    below = 0.0
    last, n_cuts, group, i = -1, 0, 0, 0
    while i < n_seen:
        end, tied = i, 0.0
        while end < n_seen and x[end] == x[i]:
            tied += weight[end]
            end += 1
        place = group
        if distinct > n_bins:
            # Sums of fractional weights must not decide between two bins by rounding.
            middle = (below + tied / 2.0) * n_bins / total + BORDER
            place = min(int(middle), n_bins - 1)
        if place != last and last >= 0:
            cuts[n_cuts] = x[i]
            n_cuts += 1
        last = place
        below += tied
        group += 1
        i = end
    return n_cuts


@kernel
def quantile_cuts(values, weight, n_bins, cuts):
    """Cuts of sorted columns, the rows of `values`; the last one repeats.

    `weight` has a row per column or one for all, and `cuts` are infinite beforehand.
    """
    for j in range(values.shape[0]):
        n = find_quantiles(values[j], weight[min(j, weight.shape[0] - 1)], n_bins, cuts[j])
        for b in range(max(n, 1), n_bins - 1):
            cuts[j, b] = cuts[j, n - 1] if n > 0 else np.inf


@kernel
def code_quantile(values, order, weight, n_bins, table, n_levels):
    """Bins of nearly equal weight by mid-rank; equal values stay together."""
    cuts = np.empty(n_bins)
    for j in range(values.shape[0]):
        n_seen = mark_missing(values[j], order[j], table[j])
        x, w = values[j][order[j]], weight[order[j]]
        n_cuts = find_quantiles(x, w, n_bins, cuts)
        level = 0
        for i in range(n_seen):
            if level < n_cuts and x[i] == cuts[level]:
                level += 1
            table[j, order[j, i]] = level
        n_levels[j] = n_cuts + 1


@inline
def count_classes(order, classes, weight, first, last, counts):
    """Weight of every class at some positions, into `counts`; the sum of all."""
    counts[:] = 0.0
    total = 0.0
    for i in range(first, last):
        counts[classes[order[i]]] += weight[order[i]]
        total += weight[order[i]]
    return total


@inline
def classes_and_entropy(order, classes, weight, first, last, counts):
    """Number of classes at some positions and their entropy in bits."""
    total = count_classes(order, classes, weight, first, last, counts)
    k = 0
    entropy = 0.0
    for c in range(counts.shape[0]):
        if counts[c] > 0.0:
            k += 1
            entropy -= counts[c] / total * np.log2(counts[c] / total)
    return k, entropy


@inline
def best_cut(x, order, classes, weight, first, last, left, right, x_log_x_table):
    """Begin of the upper part in the cut of least class entropy; -1 if it costs more bits."""
    total = count_classes(order, classes, weight, first, last, right)
    left[:] = 0.0
    whole = 0.0
    k = 0
    for c in range(right.shape[0]):
        whole += x_log_x(right[c], x_log_x_table)
        k += right[c] > 0.0
    if k < 2:
        return -1
    entropy = (x_log_x(total, x_log_x_table) - whole) / total
    below, above = 0.0, total
    sum_left, sum_right = 0.0, whole
    best, at = np.inf, -1
    for i in range(first, last - 1):
        row = order[i]
        c, w = classes[row], weight[row]
        # Only the class of the row that changes sides changes the sums.
        sum_left -= x_log_x(left[c], x_log_x_table)
        sum_right -= x_log_x(right[c], x_log_x_table)
        left[c] += w
        right[c] = max(right[c] - w, 0.0)
        below += w
        above -= w
        sum_left += x_log_x(left[c], x_log_x_table)
        sum_right += x_log_x(right[c], x_log_x_table)
        if x[order[i + 1]] == x[row]:
            continue
        parts = x_log_x(below, x_log_x_table) - sum_left + x_log_x(above, x_log_x_table) - sum_right
        if parts / total < best - TIE:
            best = parts / total
            at = i + 1
    if at < 0:
        return -1
    k_left, entropy_left = classes_and_entropy(order, classes, weight, first, at, left)
    k_right, entropy_right = classes_and_entropy(order, classes, weight, at, last, right)
    # log2(3^k - 2), written so that many classes do not overflow.
    delta = k * np.log2(3.0) + np.log2(1.0 - 2.0 * 3.0 ** (-float(k)))
    delta -= k * entropy - k_left * entropy_left - k_right * entropy_right
    cost = (np.log2(max(total - 1.0, 1.0)) + delta) / total
    return at if entropy - best > cost + TIE else -1


@kernel
def code_mdl(values, order, weight, classes, n_classes, x_log_x_table, table, n_levels):
    """Bins by recursive cuts of least class entropy, accepted by description length."""
    n_rows = values.shape[1]
    left, right = np.empty(n_classes), np.empty(n_classes)
    is_cut = np.zeros(n_rows + 1, dtype=np.bool_)
    stack = np.empty((n_rows + 1, 2), dtype=np.int64)
    for j in range(values.shape[0]):
        x = values[j]
        n_seen = mark_missing(x, order[j], table[j])
        is_cut[:] = False
        stack[0, 0], stack[0, 1] = 0, n_seen
        depth = 1
        n = 1
        while depth > 0 and n < MOST_LEVELS:
            depth -= 1
            first, last = stack[depth]
            at = best_cut(x, order[j], classes, weight, first, last, left, right, x_log_x_table)
            if at >= 0:
                is_cut[at] = True
                n += 1
                stack[depth, 0], stack[depth, 1] = at, last
                stack[depth + 1, 0], stack[depth + 1, 1] = first, at
                depth += 2
        level = 0
        for i in range(n_seen):
            level += is_cut[i]
            table[j, order[j, i]] = level
        n_levels[j] = n


@kernel
def least_of_levels(values, table, least):
    """Least value of every level of columns that are the rows of `values`."""
    for j in range(values.shape[0]):
        for i in range(values.shape[1]):
            level = table[j, i]
            if level != MISSING and values[j, i] < least[j, level]:
                least[j, level] = values[j, i]


@inline
def bits_of_counts(counts, sums, x_log_x_table):
    """Bits shared by the two sides of a table of counts, and the entropies of both."""
    sums[:] = 0.0
    both, left, right, total = 0.0, 0.0, 0.0, 0.0
    for a in range(counts.shape[0]):
        subtotal = 0.0
        for b in range(counts.shape[1]):
            both += x_log_x(counts[a, b], x_log_x_table)
            subtotal += counts[a, b]
            sums[b] += counts[a, b]
        left += x_log_x(subtotal, x_log_x_table)
        total += subtotal
    for b in range(counts.shape[1]):
        right += x_log_x(sums[b], x_log_x_table)
    if total == 0.0:
        return 0.0, 0.0, 0.0
    whole = x_log_x(total, x_log_x_table)
    return (
        max((both - left - right + whole) / total, 0.0),
        max((whole - left) / total, 0.0),
        max((whole - right) / total, 0.0),
    )


@kernel
def counted_information(counts, first_level, n_levels, first_slot, one_levels, out):
    """As `joint_information`, for all columns, from counts of their levels with those of one."""
    sums = np.zeros(n_levels.max())
    nothing = np.zeros(0)
    for j in range(n_levels.shape[0]):
        m = n_levels[j]
        out[0, j], out[1, j], out[2, j] = 0.0, 0.0, 0.0
        if m > 1:
            first = first_level[j]
            table = counts[first : first + m, first_slot : first_slot + one_levels]
            bits = bits_of_counts(table.T, sums[:m], nothing)
            out[0, j], out[1, j], out[2, j] = bits


@kernel
def joint_information(
    table, n_levels, one, one_levels, weight, x_log_x_table, columns, first, last, out
):
    """Bits that one column shares with others, its entropy, and theirs, in rows both know.

    `one` holds codes with -1 for missing; all three are 0 for a column of one level.
    """
    most = 1
    for c in range(first, last):
        most = max(most, n_levels[columns[c]])
    counts = np.zeros((one_levels, most))
    sums = np.zeros(most)
    for c in range(first, last):
        j = columns[c]
        m = n_levels[j]
        out[0, c], out[1, c], out[2, c] = 0.0, 0.0, 0.0
        if m == 1:  # common after "mdl", and slow to count: every row waits for the one before
            continue
        counts[:, :m] = 0.0
        row = table[j]
        for i in range(row.shape[0]):
            if row[i] != MISSING and one[i] >= 0:
                counts[one[i], row[i]] += weight[i]
        bits = bits_of_counts(counts[:, :m], sums[:m], x_log_x_table)
        out[0, c], out[1, c], out[2, c] = bits


@kernel
def few_values(X, start, stop, columns, first, last, values, count):
    """Add the values of some columns to their lists; a count of one too many ends a list."""
    most = values.shape[1]
    for i in range(start, stop):
        for c in range(first, last):
            j = columns[c]
            x = np.float64(X[i, j])
            if x == x and count[j] <= most:
                count[j] = add_value(x, values[j], count[j], most)


@inline
def level_of(x, cuts, first, last):
    """Number of cuts at or below `x`."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if cuts[middle] <= x:
            low = middle + 1
        else:
            high = middle
    return low - first


@kernel
def code_ones(X, start, stop, cuts, first_cut, batch, offsets, ones):
    """Slot of every row in the counts of some columns, -1 where the cell is missing."""
    for a in range(batch.shape[0]):
        j = batch[a]
        for i in range(start, stop):
            x = np.float64(X[i, j])
            slot = -1
            if x == x:
                slot = offsets[a] + level_of(x, cuts, first_cut[j], first_cut[j + 1])
            ones[i - start, a] = slot


@kernel
def count_pairs(X, start, stop, weight, cuts, first_cut, ones, first, last, counts):
    """Add weights to ``counts[level of a column, slot of a one]``, columns without a cut apart."""
    for i in range(start, stop):
        w = weight[i]
        for j in range(first, last):
            if first_cut[j + 1] == first_cut[j]:
                continue
            x = np.float64(X[i, j])
            if x != x:
                continue
            level = first_cut[j] + j + level_of(x, cuts, first_cut[j], first_cut[j + 1])
            for a in range(ones.shape[1]):
                if ones[i - start, a] >= 0:
                    counts[level, ones[i - start, a]] += w
