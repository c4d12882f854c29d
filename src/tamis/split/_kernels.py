"""Best cut of every column from its summary by bins; arrays in, arrays out."""

import numpy as np

from tamis._jit import inline, kernel


@inline
def xlog2x(x, table):
    """``x * log2(x)``; whole numbers, which unweighted counts are, come from a table."""
    i = int(x)
    if i < table.shape[0] and x == i:
        return table[i]
    return x * np.log2(x)


@kernel
def entropy_losses(counts, table, losses, base, first, last):
    """Weighted entropy, in bits, left and right of every cut of columns first to last.

    With n_c the weight of class c on one side and n their sum, a side contributes
    ``n log n - sum_c n_c log n_c`` (n times its entropy), so no probability is ever formed.
    """
    n_classes, _, n_bins = counts.shape
    whole = np.empty(n_classes)
    left = np.empty(n_classes)
    for j in range(first, last):
        total = 0.0
        for c in range(n_classes):
            whole[c] = 0.0
            left[c] = 0.0
            for b in range(n_bins):
                whole[c] += counts[c, j, b]
            total += whole[c]
        if not total > 0.0:
            losses[j, :] = np.nan
            base[j] = np.nan
            continue
        bits = xlog2x(total, table)
        for c in range(n_classes):
            bits -= xlog2x(whole[c], table)
        base[j] = max(bits / total, 0.0)
        loss = base[j]
        for b in range(n_bins - 1):
            moved = 0.0
            for c in range(n_classes):
                left[c] += counts[c, j, b]
                moved += counts[c, j, b]
            if moved > 0.0:  # an empty bin moves no row across the cut
                n_left = 0.0
                n_right = 0.0
                bits = 0.0
                for c in range(n_classes):
                    right = max(whole[c] - left[c], 0.0)
                    n_left += left[c]
                    n_right += right
                    bits -= xlog2x(left[c], table) + xlog2x(right, table)
                bits += xlog2x(n_left, table) + xlog2x(n_right, table)
                loss = max(bits / total, 0.0)
            losses[j, b] = loss


@kernel
def variance_losses(sums, losses, base, first, last):
    """Weighted mean squared error around the two means, for every cut of columns first to last."""
    n_bins = sums.shape[1]
    for j in range(first, last):
        w, t, tt = 0.0, 0.0, 0.0
        for b in range(n_bins):
            w += sums[j, b, 0]
            t += sums[j, b, 1]
            tt += sums[j, b, 2]
        if not w > 0.0:
            losses[j, :] = np.nan
            base[j] = np.nan
            continue
        base[j] = max(tt - t * t / w, 0.0) / w
        left_w, left_t = 0.0, 0.0
        for b in range(n_bins - 1):
            left_w += sums[j, b, 0]
            left_t += sums[j, b, 1]
            right_w = w - left_w
            if left_w > 0.0 and right_w > 0.0:
                # What the two means explain; a difference of squares would lose its digits.
                gap = left_t / left_w - (t - left_t) / right_w
                losses[j, b] = max(base[j] - left_w * right_w / (w * w) * gap * gap, 0.0)
            else:
                losses[j, b] = base[j]
