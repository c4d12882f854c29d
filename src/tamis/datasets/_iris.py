"""Iris and mixtures of its features, the synthetic experiment of the Inf-FS paper."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from tamis._validation import Choice, check_value
from tamis.datasets._parameters import check_integer, to_generator

WHO = "make_iris_combinations"
TRANSFORMS = {"linear": np.positive, "sine": np.sin}


def make_iris_combinations(
    *,
    kind: str = "linear",
    n_combinations: int = 16,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Add to the four features of iris random mixtures of them.

    The original features should be ranked first. The Inf-FS paper reports that when the mixtures
    are linear, and not when they are periodic: rank correlation only sees monotonic relations.

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

    check_value(kind, Choice(tuple(TRANSFORMS)), who=WHO, name="kind")
    n_combinations = check_integer(WHO, "n_combinations", n_combinations, 1)
    rng = to_generator(WHO, random_state)

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
