"""A random forest on codes, grown by plain loops: the gains of its splits."""

import numpy as np

WORD = 2**64


class SplitMix:
    """The generator of the kernel, in whole numbers of Python."""

    def __init__(self, seed):
        self.state = int(seed)

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
        return ((z ^ (z >> 31)) >> 11) % n


def impurity(values, weight):
    """Weighted sum of squares about the mean: Gini's impurity for columns of 0 and 1."""
    mean = weight @ values / weight.sum()
    return float((weight @ (values - mean) ** 2).sum())


def tree_gains(X, values, weight, n_tried, max_depth, seed):
    """Share of every column in the gains of one tree; NaN is missing, every value may be cut at."""
    random, (n_rows, n_columns) = SplitMix(seed), X.shape
    bag = np.zeros(n_rows)
    for _ in range(n_rows):
        i = random.below(n_rows)
        bag[i] += weight[i]
    gains, columns = np.zeros(n_columns), list(range(n_columns))
    waiting = [(np.flatnonzero(bag), 0)]
    while waiting:
        rows, depth = waiting.pop()
        if rows.size < 2 or depth == max_depth:
            continue
        own = impurity(values[rows], bag[rows])
        best, tried = (1e-9, -1, None), 0
        for j in range(n_columns):
            other = j + random.below(n_columns - j)
            columns[j], columns[other] = columns[other], columns[j]
            sides = list(splits(X[rows, columns[j]]))
            for left in sides:
                parts = rows[left], rows[~left]
                gain = own - sum(impurity(values[part], bag[part]) for part in parts)
                if gain > best[0] + 1e-9:
                    best = gain, columns[j], left
            tried += bool(sides)
            if tried >= n_tried:
                break
        if best[1] < 0:
            continue
        gains[best[1]] += best[0]
        waiting += [(rows[best[2]], depth + 1), (rows[~best[2]], depth + 1)]
    return gains / gains.sum() if gains.sum() > 0 else gains


def splits(column):
    """Masks of the rows that go left, missing ones right first."""
    missing = np.isnan(column)
    for with_missing in [False, True] if missing.any() else [False]:
        for cut in np.unique(column[~missing]):
            left = np.where(missing, with_missing, column <= cut)
            if left.any() and not left.all():
                yield left
