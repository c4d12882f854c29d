"""mRMR, FCBF and CFS, literally: every pair computed, every set tried."""

from itertools import combinations

import numpy as np

from reference.codes import information, uncertainty


def correlation(a, b, weight):
    """Absolute correlation; a missing cell is at the mean of its column."""
    deviations = []
    for x in (a, b):
        seen = ~np.isnan(x)
        mean = np.average(x[seen], weights=weight[seen])
        deviations.append(np.where(seen, x - mean, 0.0))
    a, b = deviations
    return abs((weight * a * b).sum()) / np.sqrt((weight * a * a).sum() * (weight * b * b).sum())


def f_of_classes(x, classes, weight):
    """One-way analysis of variance over the observed rows."""
    seen = ~np.isnan(x)
    x, classes, weight = x[seen], classes[seen], weight[seen]
    mean = np.average(x, weights=weight)
    between = within = 0.0
    labels = np.unique(classes)
    if labels.size < 2:
        return 0.0
    for label in labels:
        group, share = x[classes == label], weight[classes == label]
        centre = np.average(group, weights=share)
        between += share.sum() * (centre - mean) ** 2
        within += (share * (group - centre) ** 2).sum()
    freedom = max(weight.sum() - labels.size, 1.0)
    within = max(within, 1e-12 * (between + within))  # a column without error has a finite F
    return (between / (labels.size - 1)) / (within / freedom)


def f_of_line(x, y, weight):
    seen = ~np.isnan(x)
    share = correlation(x[seen], y[seen], weight[seen]) ** 2
    return share / max(1 - share, 1e-12) * max(weight[seen].sum() - 2, 1.0)


def pairwise(columns, relation, weight):
    return np.array([[relation(a, b, weight) for b in columns] for a in columns])


def shared_bits(a, b, weight):
    return information(a, b, weight)[0]


def mrmr(relevance, redundancy, combine, count):
    """Order, and the criterion of every column at its choice or at the end."""
    n = len(relevance)
    chosen, criterion = [], np.array(relevance, dtype=float)
    for step in range(count + 1):
        left = [j for j in range(n) if j not in chosen]
        for j in left:
            if chosen:
                mean = np.mean([redundancy[j, s] for s in chosen])
                criterion[j] = (
                    relevance[j] - mean
                    if combine == "difference"
                    else relevance[j] / max(mean, 1e-3)
                )
        if step == count or not left:
            break
        top = max(criterion[j] for j in left)
        near = 1e-9 * max(abs(top), 1e-3)
        chosen.append(next(j for j in left if criterion[j] >= top - near))
    return chosen, criterion


def fcbf(columns, classes, weight, threshold=0.0):
    """Predominant columns, best first, and the uncertainty of all with the classes."""
    with_classes = np.array([uncertainty(x, classes, weight) for x in columns])
    ranked = sorted(range(len(columns)), key=lambda j: (-round(with_classes[j], 11), j))
    waiting = [j for j in ranked if with_classes[j] >= threshold and with_classes[j] > 1e-12]
    kept = []
    while waiting:
        best = waiting.pop(0)
        kept.append(best)
        waiting = [
            j
            for j in waiting
            if uncertainty(columns[best], columns[j], weight) < with_classes[j] - 1e-12
        ]
    return kept, with_classes


def merit(columns, relevance, agreement):
    """Hall's merit of a set: ``k a / sqrt(k + k (k - 1) b)``."""
    k = len(columns)
    a = np.mean([relevance[j] for j in columns])
    b = np.mean([agreement[i, j] for i, j in combinations(columns, 2)]) if k > 1 else 0.0
    return k * a / np.sqrt(k + k * (k - 1) * b)


def best_set(relevance, agreement):
    """Highest merit of all sets, by trying them all."""
    n = len(relevance)
    sets = [c for k in range(1, n + 1) for c in combinations(range(n), k)]
    return max(sets, key=lambda c: round(merit(c, relevance, agreement), 11))


def best_first(relevance, agreement, max_stale):
    """Best-first search with every candidate set in one open list; the set in order of entry."""
    able = [j for j in range(len(relevance)) if relevance[j] > 1e-12]
    waiting, seen = [()], {frozenset()}
    best, best_merit, stale = (), 0.0, 0
    while waiting and stale < max_stale:
        waiting.sort(key=lambda c: -round(merit(c, relevance, agreement), 11) if c else 0.0)
        node = waiting.pop(0)
        stale += 1
        for j in able:
            child = (*node, j)
            if j in node:
                continue
            if merit(child, relevance, agreement) > best_merit + 1e-11:
                best, best_merit, stale = child, merit(child, relevance, agreement), 0
            if frozenset(child) not in seen:
                seen.add(frozenset(child))
                waiting.append(child)
    return best, best_merit
