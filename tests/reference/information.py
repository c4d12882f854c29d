"""Slow literal twins of the information filters."""

import numpy as np
from scipy.special import digamma


def bin_numbers(column, n_bins):
    """Equal bins of the range; a value on a border counts above it."""
    cuts = np.linspace(np.nanmin(column), np.nanmax(column), n_bins + 1)[1:-1]
    return np.searchsorted(cuts, column, side="right")


def table_of(column, codes, weight, n_bins, n_classes):
    """Weight per bin and class of the observed rows."""
    table = np.zeros((n_bins, n_classes))
    for i in np.flatnonzero(~np.isnan(column) & (weight > 0)):
        rows = np.where(weight > 0, column, np.nan)
        table[bin_numbers(rows, n_bins)[i], codes[i]] += weight[i]
    return table


def information_of(table):
    """Mutual information in nats of a table of weights, cell by cell."""
    share = table / table.sum()
    total = 0.0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            if share[i, j] > 0:
                expected = share[i].sum() * share[:, j].sum()
                total += share[i, j] * np.log(share[i, j] / expected)
    return total


def sampled_information(parameters, n_samples, seed):
    """Mutual information of tables drawn from a Dirichlet distribution."""
    rng = np.random.default_rng(seed)
    draws = rng.dirichlet(parameters.ravel(), n_samples).reshape(-1, *parameters.shape)
    expected = draws.sum(axis=2, keepdims=True) * draws.sum(axis=1, keepdims=True)
    logs = np.log(np.maximum(draws, 1e-300) / expected)
    return (draws * logs).sum(axis=(1, 2))


def ross(line, groups, n_neighbors):
    """Ross's estimate from the matrix of all distances."""
    sizes = np.array([(groups == g).sum() for g in groups])
    line, groups = line[sizes > 1], groups[sizes > 1]
    if line.size == 0:
        return 0.0
    total = 0.0
    for i in range(line.size):
        own = np.sort(np.abs(line[groups == groups[i]] - line[i]))
        k = min(n_neighbors, own.size - 1)
        within = (np.abs(line - line[i]) < own[k]).sum()
        total += digamma(k) - digamma(own.size) - digamma(max(within, 1))
    return max(0.0, digamma(line.size) + total / line.size)


def kraskov(x, y, n_neighbors):
    """Estimate of Kraskov et al. from the matrix of all distances."""
    k = min(n_neighbors, x.size - 1)
    dx, dy = np.abs(x[:, None] - x), np.abs(y[:, None] - y)
    total = 0.0
    for i in range(x.size):
        radius = np.sort(np.maximum(dx[i], dy[i]))[k]
        total += digamma((dx[i] < radius).sum()) + digamma((dy[i] < radius).sum())
    return max(0.0, digamma(x.size) + digamma(k) - total / x.size)
