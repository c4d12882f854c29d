"""Tables with known truth, for the simulations of `certainty.py`.

Every design is a function of a random generator that returns ``X, y, related, needed``: which
features are related to the target at all, and which ones are still related given all others.
"""

import numpy as np
from scipy import stats


def ar_rows(rng, n, p, rho):
    """Gaussian rows with covariance ``rho ** |i - j|``."""
    X = rng.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return X


def block_rows(rng, n, p, rho, size):
    """Gaussian rows in blocks whose features have correlation `rho`."""
    common = np.repeat(rng.standard_normal((n, p // size)), size, axis=1)
    return np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.standard_normal((n, p))


# Noise: the target is independent of everything.


def noise_independent(rng, n=60, p=500):
    return rng.standard_normal((n, p)), rng.integers(0, 2, n)


def noise_correlated(rng, n=60, p=500):
    return block_rows(rng, n, p, 0.9, p), rng.integers(0, 2, n)


def noise_discrete(rng, n=60, p=500):
    return rng.binomial(2, rng.uniform(0.02, 0.5, p), (n, p)).astype(float), rng.integers(0, 2, n)


def noise_heavy(rng, n=60, p=500):
    return rng.standard_t(2, (n, p)), rng.integers(0, 2, n)


def noise_unbalanced(rng, n=105, p=500):
    return rng.standard_normal((n, p)), rng.permutation(np.arange(n) % 21 == 0).astype(int)


NOISE = {
    "independent": noise_independent,
    "correlated 0.9": noise_correlated,
    "discrete": noise_discrete,
    "heavy-tailed": noise_heavy,
    "classes 1:20": noise_unbalanced,
}


# Truth: some features matter.


def linear(rng, X, n_needed, size, noise=1.0):
    """A linear target of features chosen at random; coefficients of one size and any sign."""
    needed = np.zeros(X.shape[1], bool)
    needed[rng.choice(X.shape[1], n_needed, replace=False)] = True
    signs = rng.choice([-1.0, 1.0], n_needed)
    return X[:, needed] @ (size * signs) + noise * rng.standard_normal(len(X)), needed


def independent(rng, n=200, p=400):
    X = rng.standard_normal((n, p))
    y, needed = linear(rng, X, 20, 0.4)
    return X, y, needed, needed


def blocks(rng, n=200, p=400):
    X = block_rows(rng, n, p, 0.9, 5)
    y, needed = linear(rng, X, 10, 0.6)
    return X, y, needed.reshape(-1, 5).any(axis=1).repeat(5), needed


def classes(rng, n=200, p=400):
    X = rng.standard_normal((n, p))
    value, needed = linear(rng, X, 20, 0.8, noise=0.0)
    y = (rng.random(n) < 1 / (1 + np.exp(-value))).astype(int)
    return X, y, needed, needed


def genotypes(rng, n=300, p=400):
    X = rng.binomial(2, rng.uniform(0.1, 0.5, p), (n, p)).astype(float)
    y, needed = linear(rng, X, 20, 0.5)
    return X, y, needed, needed


def heavy_tails(rng, n=200, p=400):
    X = rng.standard_t(3, (n, p))
    y, needed = linear(rng, X, 20, 0.4)
    return X, y, needed, needed


# For conditional questions the joint law of the features matters.


def chain(rng, n=500, p=150):
    X = ar_rows(rng, n, p, 0.5)
    y, needed = linear(rng, X, 30, 0.25)
    return X, y, np.ones(p, bool), needed


def tight_blocks(rng, n=500, p=150):
    X = block_rows(rng, n, p, 0.7, 5)
    y, needed = linear(rng, X, 30, 0.4)
    return X, y, needed.reshape(-1, 5).any(axis=1).repeat(5), needed


def copula(rng, n=500, p=150):
    """Margins with heavy tails under a Gaussian copula."""
    X = stats.t(3).ppf(stats.norm.cdf(ar_rows(rng, n, p, 0.5)))
    y, needed = linear(rng, X, 30, 0.2)
    return X, y, np.ones(p, bool), needed


def logistic_chain(rng, n=600, p=150):
    X = ar_rows(rng, n, p, 0.5)
    value, needed = linear(rng, X, 30, 0.7, noise=0.0)
    y = (rng.random(n) < 1 / (1 + np.exp(-value))).astype(int)
    return X, y, np.ones(p, bool), needed


def factors(rng, n=300, p=400):
    """Few factors behind many features, fewer rows than features."""
    X = rng.standard_normal((n, 5)) @ rng.standard_normal((5, p)) * 0.4
    X += rng.standard_normal((n, p))
    y, needed = linear(rng, X, 30, 0.6)
    return X, y, np.ones(p, bool), needed


MARGINAL = {
    "independent": independent,
    "blocks 0.9": blocks,
    "classes": classes,
    "genotypes": genotypes,
    "heavy tails": heavy_tails,
}
CONDITIONAL = {
    "chain 0.5": chain,
    "blocks 0.7": tight_blocks,
    "copula": copula,
    "logistic": logistic_chain,
    "factors, n < p": factors,
}
