"""Coordinate steps for the distances s of knockoffs, a block of coordinates at a time."""

import numpy as np

from tamis._runtime.compilation import kernel


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
