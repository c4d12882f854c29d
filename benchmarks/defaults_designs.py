"""Tables with known truth on which `defaults.py` compares default cutoffs.

Every design is a function of a random generator that returns ``X, y, related``: which features
are related to the target, marginally or together with another one.
"""

import numpy as np


def logits(rng, value):
    """Class labels whose log odds are `value`."""
    return (rng.random(value.size) < 1.0 / (1.0 + np.exp(-value))).astype(int)


def chosen(rng, p, k):
    """Mask of `k` of `p` features."""
    mask = np.zeros(p, bool)
    mask[rng.choice(p, k, replace=False)] = True
    return mask


def noise(rng, n, p, task):
    X = rng.standard_normal((n, p))
    y = rng.integers(0, 2, n) if task == "classification" else rng.standard_normal(n)
    return X, y, np.zeros(p, bool)


def linear(rng, n, p, k, task, size):
    X = rng.standard_normal((n, p))
    related = chosen(rng, p, k)
    value = X[:, related] @ (size * rng.choice([-1.0, 1.0], k))
    if task == "classification":
        return X, logits(rng, value), related
    return X, value + rng.standard_normal(n), related


def blocks(rng, n=200, p=500, size=10, k=5):
    """Features in blocks of correlation 0.9; one feature of each of five blocks matters."""
    common = np.repeat(rng.standard_normal((n, p // size)), size, axis=1)
    X = np.sqrt(0.9) * common + np.sqrt(0.1) * rng.standard_normal((n, p))
    matters = size * rng.choice(p // size, k, replace=False) + rng.integers(0, size, k)
    value = X[:, matters] @ rng.choice([-1.0, 1.0], k)
    related = np.zeros(p, bool)
    for column in matters // size:  # the other features of a block are related through it
        related[column * size : (column + 1) * size] = True
    return X, logits(rng, value), related


def xor(rng, n=500, p=100):
    X = rng.standard_normal((n, p))
    related = chosen(rng, p, 2)
    one, other = X[:, related].T
    return X, ((one > 0) ^ (other > 0)).astype(int), related


def shifted(rng, X, y, related, size):
    """Features of the second class, moved by `size` up or down."""
    X[:, related] += np.outer(y, size * rng.choice([-1.0, 1.0], related.sum()))
    return X, y, related


def heavy(rng, n=200, p=2000, k=10):
    """Features with t(2) noise."""
    y = rng.integers(0, 2, n)
    return shifted(rng, rng.standard_t(2, (n, p)), y, chosen(rng, p, k), 1.0)


def rare(rng, n=1000, p=500, k=10):
    """Binary features of which 2% are ones; 8% in the second class for those that matter."""
    y = rng.integers(0, 2, n)
    related = chosen(rng, p, k)
    rate = np.where(related & (y[:, None] == 1), 0.08, 0.02)
    return (rng.random((n, p)) < rate).astype(float), y, related


def unbalanced(rng, n=1020, p=500, k=10):
    """Classes 1:50."""
    y = rng.permutation(np.arange(n) % 51 == 0).astype(int)
    return shifted(rng, rng.standard_normal((n, p)), y, chosen(rng, p, k), 1.0)


def giant(rng, n=200, p=500):
    """One giant and eight medium effects."""
    y = rng.integers(0, 2, n)
    related = chosen(rng, p, 9)
    X = rng.standard_normal((n, p))
    sizes = rng.permutation([6.0, *[0.8] * 8])
    X[:, related] += np.outer(y, sizes)
    return X, y, related


CLASSES, NUMBERS = "classification", "regression"
# Name, task and how a table is drawn.
DESIGNS = {
    "noise, 200 x 2,000": (CLASSES, lambda rng: noise(rng, 200, 2000, CLASSES)),
    "noise, 2,000 x 50": (CLASSES, lambda rng: noise(rng, 2000, 50, CLASSES)),
    "noise, regression": (NUMBERS, lambda rng: noise(rng, 200, 2000, NUMBERS)),
    "linear, regression": (NUMBERS, lambda rng: linear(rng, 200, 2000, 10, NUMBERS, 0.5)),
    "linear, classes": (CLASSES, lambda rng: linear(rng, 200, 2000, 10, CLASSES, 1.0)),
    "linear, 1,000 x 2,000": (CLASSES, lambda rng: linear(rng, 1000, 2000, 10, CLASSES, 0.5)),
    "blocks of 0.9": (CLASSES, blocks),
    "XOR": (CLASSES, xor),
    "t(2) noise": (CLASSES, heavy),
    "rare binary": (CLASSES, rare),
    "classes 1:50": (CLASSES, unbalanced),
    "one giant": (CLASSES, giant),
}
NOISE = [name for name in DESIGNS if name.startswith("noise")]
