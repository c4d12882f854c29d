"""Generators of data whose relevant features are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from tamis._validation import Choice, Constraint, Custom, Number, check_value

TRANSFORMS = {"linear": np.positive, "sine": np.sin}
# The sets F_i^j of section 5.1.1 of the OFW paper, one row per class i, numbered from 1 as printed.
PRINTED_GROUPS = (
    ((1, 3, 5, 7), (1, 5), (3, 7)),
    ((2, 4, 6, 8), (2, 4), (6, 8)),
    ((1, 4, 8, 9), (1, 8), (4, 9)),
)
N_RELEVANT = 9
NOISE = 3
# Distance of the corners of madelon's cube from its centre, along every axis.
SEPARATION = 2.0
# The cube has 2**12 corners then.
MAX_DIMENSION = 12
SEED = Custom(
    lambda value: (
        isinstance(value, np.random.Generator) or Number(int, 0, or_none=True).allows(value)
    ),
    "None, an int of at least 0 or a numpy Generator",
)


def _check(who: str, random_state: Any, **checks: tuple[Any, Constraint]) -> np.random.Generator:
    """Check the parameters; returns the generator of the draws."""
    for name, (value, constraint) in {**checks, "random_state": (random_state, SEED)}.items():
        check_value(value, constraint, who=who, name=name)
    return np.random.default_rng(random_state)


def make_iris_combinations(
    *,
    kind: str = "linear",
    n_combinations: int = 16,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Add to the four features of iris random mixtures of them.

    The original features should be ranked first. In the Inf-FS paper they are when the mixtures are
    linear, and not when they are periodic: rank correlation only sees monotonic relations.

    Parameters
    ----------
    kind : {"linear", "sine"}, default="linear"
        Mix the features themselves, or their sines.
    n_combinations : int, default=16
        Number of mixtures, at least 1.
    random_state : int, numpy.random.Generator or None, default=None
        Seed of the mixing coefficients; `None` draws anew each time.

    Returns
    -------
    Bunch
        - `X`, float64 of shape (150, 4 + n_combinations), the original features first
        - `y`, the species, 0 to 2
        - `feature_names`
        - `relevant`, columns 0 to 3
        - `coefficients`, of shape (n_combinations, 4): rows are not negative and sum to 1

    Notes
    -----
    The paper speaks of "the linear convex combination of the sin of the features": the sine comes
    first, then the combination. It does not say how the coefficients are drawn; ours are uniform
    over all convex combinations. It repeats the experiment 20 times: pass 20 seeds.

    References
    ----------
    G. Roffo, S. Melzi and M. Cristani, "Infinite feature selection", IEEE International Conference
    on Computer Vision, 4202-4210, 2015, section 4.1. :doi:`10.1109/ICCV.2015.478`

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.datasets import make_iris_combinations
    >>> data = make_iris_combinations(kind="sine", random_state=0)
    >>> data.X.shape, data.relevant.tolist()
    ((150, 20), [0, 1, 2, 3])
    >>> np.allclose(data.X[:, 4:], np.sin(data.X[:, :4]) @ data.coefficients.T)
    True
    """
    # Imported here: sklearn.datasets is slow to import and rarely needed.
    from sklearn.datasets import load_iris

    rng = _check(
        "make_iris_combinations",
        random_state,
        kind=(kind, Choice(tuple(TRANSFORMS))),
        n_combinations=(n_combinations, Number(int, 1)),
    )
    iris = load_iris()
    n_original = iris.data.shape[1]
    # Dirichlet with all parameters 1 is the uniform law on the simplex.
    coefficients = rng.dirichlet(np.ones(n_original), size=n_combinations)
    mixtures = TRANSFORMS[kind](iris.data) @ coefficients.T
    return Bunch(
        X=np.hstack([iris.data, mixtures]),
        y=iris.target,
        feature_names=[
            *iris.feature_names,
            *(f"{kind} combination {number}" for number in range(n_combinations)),
        ],
        relevant=np.arange(n_original),
        coefficients=coefficients,
    )


def make_madelon_like(
    *,
    n_samples: int = 2000,
    n_informative: int = 5,
    n_redundant: int = 15,
    n_probes: int = 480,
    labelling: str = "random",
    label_noise: float = 0.01,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Draw a two-class problem where columns matter together and hardly alone.

    Each corner of a cube is a cluster with a label of its own, as in an exclusive or. Use it to
    see whether a method finds interactions, and what it does with columns that repeat others.

    Parameters
    ----------
    n_samples : int, default=2000
        Rows, at least one per corner.
    n_informative : int, default=5
        Dimension of the cube, 1 to 12; it has ``2 ** n_informative`` corners.
    n_redundant : int, default=15
        Columns that are linear combinations of the informative ones.
    n_probes : int, default=480
        Columns of noise.
    labelling : {"random", "parity"}, default="random"
        Labels of the corners. "random", as in madelon: half of them, at random, so a single
        column may tell a little by chance. "parity": neighbouring corners differ, so that the
        corner tells nothing unless all informative dimensions are known.
    label_noise : float, default=0.01
        Probability that the label of a row is the wrong one.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; `None` draws anew each time.

    Returns
    -------
    Bunch
        - `X`, float64 of shape (n_samples, n_informative + n_redundant + n_probes), columns in
          random order, each with mean 0 and variance 1
        - `y`, labels -1 and 1
        - `feature_names`, ``x0``, ``x1``...
        - `informative`, `redundant`, `probes`: the columns of each kind, sorted
        - `relevant`, the informative and redundant columns, sorted
        - `corner`, which corner each row belongs to; `corner_labels`, the label of each corner

    Notes
    -----
    The design is that of madelon, but all columns have the same variance, which otherwise gives
    the informative ones away, and values are not rounded, so that redundant columns are exact
    combinations. ``sklearn.datasets.make_classification`` labels the corners by turns when there
    are as many clusters as corners, so that one column alone separates the classes.

    References
    ----------
    I. Guyon, S. Gunn, A. Ben-Hur and G. Dror, "Result analysis of the NIPS 2003 feature selection
    challenge", Advances in Neural Information Processing Systems 17, 545-552, 2004.

    Examples
    --------
    >>> from tamis.datasets import make_madelon_like
    >>> data = make_madelon_like(n_samples=64, n_probes=10, random_state=0)
    >>> data.X.shape, len(data.informative), len(data.redundant), len(data.probes)
    ((64, 30), 5, 15, 10)
    >>> data.corner_labels.sum()
    np.int64(0)
    """
    who, dimension = "make_madelon_like", Number(int, 1, MAX_DIMENSION)
    check_value(n_informative, dimension, who=who, name="n_informative")
    rng = _check(
        who,
        random_state,
        labelling=(labelling, Choice(("random", "parity"))),
        n_samples=(n_samples, Number(int, 2**n_informative)),
        n_redundant=(n_redundant, Number(int, 0)),
        n_probes=(n_probes, Number(int, 0)),
        label_noise=(label_noise, Number(float, 0, 1)),
    )
    corners = 2 * (np.arange(2**n_informative)[:, None] >> np.arange(n_informative) & 1) - 1
    corner_labels = corners.prod(axis=1)
    if labelling == "random":
        corner_labels = rng.permutation(np.resize([-1, 1], len(corners)))
    corner = rng.permutation(np.arange(n_samples) % len(corners))
    # A random matrix per cluster: the informative columns are correlated, differently in each.
    shapes = rng.uniform(-1.0, 1.0, size=(len(corners), n_informative, n_informative))
    points = rng.standard_normal((n_samples, n_informative))
    signal = SEPARATION * corners[corner] + np.einsum("ij,ijk->ik", points, shapes[corner])
    combinations = rng.uniform(-1.0, 1.0, size=(n_informative, n_redundant))
    probes = rng.standard_normal((n_samples, n_probes))
    X = np.hstack([signal, signal @ combinations, probes])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = corner_labels[corner] * np.where(rng.random(n_samples) < label_noise, -1, 1)

    order = rng.permutation(X.shape[1])
    # Column j of the result is column order[j] of X, so kinds[j] tells where it comes from.
    kinds = np.searchsorted(np.cumsum([n_informative, n_redundant]), order, side="right")
    return Bunch(
        X=np.ascontiguousarray(X[:, order]),
        y=y,
        feature_names=[f"x{column}" for column in range(X.shape[1])],
        relevant=np.flatnonzero(kinds < 2),
        informative=np.flatnonzero(kinds == 0),
        redundant=np.flatnonzero(kinds == 1),
        probes=np.flatnonzero(kinds == 2),
        corner=corner,
        corner_labels=corner_labels,
    )


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
        The paper's q: share of the rows drawn with relevant features; the others are noise.
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
    the classes are; we take them equal. The conditional entropies of the class are then 1.099
    (irrelevant feature), 1.025 (one class) and 1.024 nats (two classes), where the paper prints
    1.009, 0.852 and 0.856; in both, they do not tell the last two kinds apart.

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
    rng = _check(
        "make_ofw_ternary",
        random_state,
        n_samples=(n_samples, Number(int, 1)),
        n_features=(n_features, Number(int, N_RELEVANT)),
        signal_share=(signal_share, Number(float, 0, 1)),
    )
    groups = [[np.array(group) - 1 for group in groups] for groups in PRINTED_GROUPS]
    y = rng.permutation(np.arange(n_samples) % len(groups))
    component = np.where(
        rng.random(n_samples) < signal_share, rng.integers(NOISE, size=n_samples), NOISE
    )
    X = rng.integers(-1, 2, size=(n_samples, n_features)).astype(np.float64)
    certain = np.zeros((len(groups), n_features))
    for label, sets in enumerate(groups):
        for number, columns in enumerate(sets):
            rows = np.flatnonzero((y == label) & (component == number))
            X[np.ix_(rows, columns)] = 1.0
            certain[label, columns] += signal_share / len(sets)
    # The first set of a class holds all its features.
    columns, n_classes = np.unique(np.concatenate([sets[0] for sets in groups]), return_counts=True)
    return Bunch(
        X=X,
        y=y,
        feature_names=[f"delta{column + 1}" for column in range(n_features)],
        relevant=np.arange(N_RELEVANT),
        reusable=columns[n_classes > 1],
        groups=groups,
        component=component,
        probability_of_one=certain + (1.0 - certain) / 3.0,
    )
