"""Generator: what a search of meta-features draws features from."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis.exceptions import InputError
from tamis.meta.search.meta_space import MetaSpace


@runtime_checkable
class Generator(Protocol):
    """Draws features that have given properties, and measures them; any class with these methods.

    :class:`~tamis.meta.Mufasa` asks it for sets of features at the points of `space`. It is the
    p(v | u) of Krupka, Navot and Tishby (2008): a point u of the space gives a distribution of
    features v. No base class is needed. A set of features, `features` below, may be anything with a
    length that `draw` or `join` made: an array of column numbers, or a record of what to compute.

    Attributes
    ----------
    space : MetaSpace
        Where to search.

    Notes
    -----
    `draw` uses no random numbers but those of the generator it is given, so that the same seed
    gives the same features. `measure` changes nothing and depends on nothing but its arguments:
    it may be called by several threads, for training and later for new samples.

    Examples
    --------
    Features are columns of a table, and columns that stand side by side are alike:

    >>> import numpy as np
    >>> from tamis.meta import Generator, Integer, MetaSpace
    >>> class Window:
    ...     space = MetaSpace({"place": Integer(0, 90)})
    ...     def draw(self, point, rng, *, n_features=None, budget=None):
    ...         count = n_features if budget is None else int(budget)  # each costs 1
    ...         return point["place"] + rng.choice(10, count, replace=False)
    ...     cost = lambda self, features: np.ones(len(features))
    ...     meta = lambda self, features: np.asarray(features, dtype=float)[:, None]
    ...     measure = lambda self, X, features: X[:, features]
    ...     join = lambda self, features, chosen: features[chosen]
    >>> isinstance(Window(), Generator)
    True
    >>> features = Window().draw({"place": 20}, np.random.default_rng(0), n_features=4)
    >>> Window().measure(np.zeros((5, 100)), features).shape
    (5, 4)
    """

    space: MetaSpace

    def draw(
        self,
        point: dict[str, Any],
        rng: np.random.Generator,
        *,
        n_features: int | None = None,
        budget: float | None = None,
    ) -> Any:
        """Draw a set of features with the properties of a point, for the other methods.

        Parameters
        ----------
        point : dict
            A point of `space`.
        rng : numpy Generator
            Source of random numbers.
        n_features : int or None, default=None
            How many; exactly one of `n_features` and `budget` is given.
        budget : float or None, default=None
            Draw until the total cost would exceed it.
        """
        ...

    def cost(self, features: Any) -> NDArray[np.float64]:
        """Cost of each feature of a set, numbers >= 0 of shape (len(features),)."""
        ...

    def meta(self, features: Any) -> NDArray[np.float64]:
        """Meta-features of each feature of a set, of shape (len(features), n_meta)."""
        ...

    def measure(self, X: Any, features: Any) -> NDArray[Any]:
        """Values of the features on samples, of shape (n_samples, len(features)).

        `X` are samples, in whatever form the generator takes. The result may have any dtype of
        numbers; a small one saves memory.
        """
        ...

    def join(self, features: Any, chosen: ArrayLike) -> Any:
        """Subset of a set, by a mask of bools or by indices, in the order of the indices."""
        ...


def check_one_limit(count: Any, budget: Any, who: str, name: str = "n_features") -> None:
    """Raise unless exactly one of number and budget is given."""
    if (count is None) == (budget is None):
        raise InputError(
            f"{who}: expected exactly one of {name} and budget, got {count!r} and {budget!r}."
        )
