"""Tables like madelon: clusters on the corners of a cube, repeats, and many useless columns."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from tamis._validation import Choice, check_value
from tamis.datasets._parameters import check_integer, check_share, to_generator

WHO = "make_madelon_like"
SEPARATION = 2.0
# The cube has 2**12 corners then.
MAX_DIMENSION = 12
LABELLING = Choice(("random", "parity"))


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
    The design is that of madelon, with two departures. All columns have the same variance, which
    otherwise gives the informative ones away. And values are not rounded, so that redundant
    columns are exact combinations. We do not call ``sklearn.datasets.make_classification``: when
    there are as many clusters as corners it takes the corners in order and labels them by turns,
    so that one column alone separates the classes (seen in scikit-learn 1.9.1).

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
    n_informative = check_integer(WHO, "n_informative", n_informative, 1, MAX_DIMENSION)
    check_value(labelling, LABELLING, who=WHO, name="labelling")
    n_samples = check_integer(WHO, "n_samples", n_samples, 2**n_informative)
    n_redundant = check_integer(WHO, "n_redundant", n_redundant, 0)
    n_probes = check_integer(WHO, "n_probes", n_probes, 0)
    label_noise = check_share(WHO, "label_noise", label_noise)
    rng = to_generator(WHO, random_state)

    corners = _corners(n_informative)
    corner_labels = _label_corners(labelling, corners, rng)
    corner = rng.permutation(np.arange(n_samples) % len(corners))
    signal = _draw_clusters(corners, corner, rng)
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


def _corners(dimension: int) -> np.ndarray:
    bits = np.arange(2**dimension)[:, None] >> np.arange(dimension)
    return 2 * (bits & 1) - 1


def _label_corners(labelling: str, corners: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if labelling == "parity":
        return corners.prod(axis=1)
    return rng.permutation(np.resize([-1, 1], len(corners)))


def _draw_clusters(corners: np.ndarray, corner: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    dimension = corners.shape[1]
    # A random matrix per cluster: the informative columns are correlated, differently in each.
    shapes = rng.uniform(-1.0, 1.0, size=(len(corners), dimension, dimension))
    points = rng.standard_normal((len(corner), dimension))
    return SEPARATION * corners[corner] + np.einsum("ij,ijk->ik", points, shapes[corner])
