"""A wide table like one of gene expression, whose relevant features are known."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from tamis._validation import Number, check_value
from tamis.datasets._generators import _check

# Of the weakest relevant feature, relative to the strongest.
WEAKEST = 1 / 3


def make_expression_like(
    *,
    n_samples: int = 100,
    n_features: int = 1500,
    n_relevant: int = 10,
    block_size: int = 5,
    correlation: float = 0.95,
    effect: float = 1.4,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Draw a two-class problem with few rows and many features in correlated blocks.

    A few features differ between the classes by a shift of their mean, some clearly and some
    hardly. Every feature has near-copies in its block, so that several sets of features are equally
    right. Use it to see what a method finds and misses on a wide table.

    Parameters
    ----------
    n_samples : int, default=100
        Rows, half of them in each class, at least 4.
    n_features : int, default=1500
        Columns, at least ``n_relevant * block_size``.
    n_relevant : int, default=10
        Features that differ between the classes, each in a block of its own.
    block_size : int, default=5
        Features per block; the last block may be smaller.
    correlation : float, default=0.95
        Correlation of the first feature of a block with the others, within a class.
    effect : float, default=1.4
        Distance of the class means of the strongest relevant feature, in standard deviations within
        a class. The others decrease evenly to a third of it.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; `None` draws anew each time.

    Returns
    -------
    Bunch
        - `X`, float64 of shape (n_samples, n_features), columns in random order
        - `y`, labels 0 and 1
        - `feature_names`, ``gene 0001``, ``gene 0002``...
        - `relevant`, the relevant columns, strongest first; `effects`, how strong each is
        - `block`, the block that each column belongs to: those of the same block are near-copies

    Notes
    -----
    The first feature of a block is ``shift * y + z``, where z is standard normal; the others are
    ``correlation`` times the first plus normal noise, with variance 1 within a class. Features of
    different blocks are independent within a class. The best possible AUC is
    ``Phi(sqrt(sum(effects ** 2) / 2))``.

    Examples
    --------
    >>> from tamis.datasets import make_expression_like
    >>> data = make_expression_like(n_features=200, random_state=0)
    >>> data.X.shape, data.relevant.size, int((data.block == data.block[data.relevant[0]]).sum())
    ((100, 200), 10, 5)
    >>> data.effects[[0, -1]].round(2)
    array([1.4 , 0.47])
    """
    who = "make_expression_like"
    check_value(n_relevant, Number(int, 1), who=who, name="n_relevant")
    check_value(block_size, Number(int, 1), who=who, name="block_size")
    rng = _check(
        who,
        random_state,
        n_samples=(n_samples, Number(int, 4)),
        n_features=(n_features, Number(int, n_relevant * block_size)),
        correlation=(correlation, Number(float, 0, 1)),
        effect=(effect, Number(float, 0)),
    )
    y = rng.permutation(np.arange(n_samples) % 2)
    effects = effect * np.linspace(1.0, WEAKEST, n_relevant)
    block = np.arange(n_features) // block_size
    shift = np.zeros(block[-1] + 1)
    shift[:n_relevant] = effects
    first = rng.standard_normal((n_samples, shift.size)) + y[:, None] * shift
    X = correlation * first[:, block]
    X += np.sqrt(1.0 - correlation**2) * rng.standard_normal(X.shape)
    X[:, ::block_size] = first

    order = rng.permutation(n_features)
    place = np.argsort(order)
    return Bunch(
        X=np.ascontiguousarray(X[:, order]),
        y=y,
        feature_names=[f"gene {column + 1:04d}" for column in range(n_features)],
        relevant=place[np.arange(n_relevant) * block_size],
        effects=effects,
        block=block[order],
    )
