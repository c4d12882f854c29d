"""The three-class mixture of ternary features of the OFW paper."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from tamis.datasets._parameters import check_integer, check_share, to_generator

WHO = "make_ofw_ternary"
# The sets F_i^j of section 5.1.1, one row per class i, numbered from 1 as printed.
PRINTED_GROUPS = (
    ((1, 3, 5, 7), (1, 5), (3, 7)),
    ((2, 4, 6, 8), (2, 4), (6, 8)),
    ((1, 4, 8, 9), (1, 8), (4, 9)),
)
N_RELEVANT = 9
NOISE = 3


def make_ofw_ternary(
    *,
    n_samples: int = 500,
    n_features: int = 100,
    signal_share: float = 0.9,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Draw the synthetic example of the OFW paper: ternary features, three classes.

    Nine features matter, each for one or two classes, and never alone. It shows whether a method
    prefers the features that serve several classes.

    Parameters
    ----------
    n_samples : int, default=500
        Rows; the paper trains on 500 and tests on 100 more.
    n_features : int, default=100
        Columns, at least 9.
    signal_share : float, default=0.9
        The paper's q: share of the rows drawn from a component with relevant features. The others
        are noise.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; `None` draws anew each time.

    Returns
    -------
    Bunch
        - `X`, float64 of shape (n_samples, n_features), values -1, 0, 1
        - `y`, labels 0, 1, 2, as many of each as possible, in random order
        - `feature_names`, ``delta1``, ``delta2``... as in the paper
        - `relevant`, columns 0 to 8; `reusable`, columns 0, 3, 7, which serve two classes
        - `groups`, for each class the three sets of columns that are 1 together
        - `component`, which of the three sets made each row; 3 for noise
        - `probability_of_one`, exact, of shape (3, n_features): class by feature

    Notes
    -----
    Class i is the mixture ``q/3 (mu(F_i^1) + mu(F_i^2) + mu(F_i^3)) + (1 - q) mu({})``, where
    under ``mu(F)`` the features of F are 1 and all others are uniform on -1, 0, 1, independently.
    The paper's sets and features are numbered from 1, ours from 0. It does not say how frequent
    the classes are; we take them equal. Its text gives conditional entropies of the class of
    1.009 (irrelevant feature), 0.852 (one class) and 0.856 (two classes); for the mixture as
    printed, with equal classes, they are 1.099, 1.025 and 1.024 nats. The conclusion drawn there
    holds all the same: they do not tell the last two kinds apart.

    References
    ----------
    S. Gadat and L. Younes, "A stochastic algorithm for feature selection in pattern recognition",
    Journal of Machine Learning Research 8, 509-547, 2007, section 5.1.1.

    Examples
    --------
    >>> from tamis.datasets import make_ofw_ternary
    >>> data = make_ofw_ternary(random_state=0)
    >>> data.X.shape, data.relevant.tolist(), data.reusable.tolist()
    ((500, 100), [0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 3, 7])
    >>> data.probability_of_one[:, 0]  # delta1 serves the first and the third class
    array([0.73, 0.33, 0.73])
    """
    n_samples = check_integer(WHO, "n_samples", n_samples, 1)
    n_features = check_integer(WHO, "n_features", n_features, N_RELEVANT)
    signal_share = check_share(WHO, "signal_share", signal_share)
    rng = to_generator(WHO, random_state)

    groups = [[np.array(group) - 1 for group in groups] for groups in PRINTED_GROUPS]
    y = rng.permutation(np.arange(n_samples) % len(groups))
    component = np.where(
        rng.random(n_samples) < signal_share, rng.integers(NOISE, size=n_samples), NOISE
    )
    X = rng.integers(-1, 2, size=(n_samples, n_features)).astype(np.float64)
    for label, sets in enumerate(groups):
        for number, columns in enumerate(sets):
            rows = np.flatnonzero((y == label) & (component == number))
            X[np.ix_(rows, columns)] = 1.0
    return Bunch(
        X=X,
        y=y,
        feature_names=[f"delta{column + 1}" for column in range(n_features)],
        relevant=np.arange(N_RELEVANT),
        reusable=_reusable(groups),
        groups=groups,
        component=component,
        probability_of_one=_probability_of_one(groups, n_features, signal_share),
    )


def _reusable(groups: list[list[np.ndarray]]) -> np.ndarray:
    # The first set of a class holds all its features.
    columns, n_classes = np.unique(np.concatenate([sets[0] for sets in groups]), return_counts=True)
    return columns[n_classes > 1]


def _probability_of_one(
    groups: list[list[np.ndarray]], n_features: int, signal_share: float
) -> np.ndarray:
    certain = np.zeros((len(groups), n_features))
    for label, sets in enumerate(groups):
        for columns in sets:
            certain[label, columns] += signal_share / len(sets)
    return certain + (1.0 - certain) / 3.0
