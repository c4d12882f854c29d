"""AnyPoint: a generator that also draws over all points, whether it was made for that or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Features in a row that do not fit the rest of a budget, after which the set is full.
MISSES = 20
# A budget would never be used up by features that cost nothing.
MOST = 1_000_000


class AnyPoint:
    """Generator whose sets are lists of features, each from a random point of the space.

    The protocol has no method that puts two sets together, so a set is kept as a list of sets of
    one feature each.

    Parameters
    ----------
    generator : Generator
        Draws the features.
    """

    def __init__(self, generator: Any):
        self.generator = generator
        self.space = generator.space

    @classmethod
    def of(cls, generator: Any) -> Any:
        """Give the generator itself if it can draw over all points."""
        return generator if hasattr(generator, "draw_any") else cls(generator)

    def draw_any(
        self,
        rng: np.random.Generator,
        *,
        n_features: int | None = None,
        budget: float | None = None,
    ) -> list[Any]:
        """Draw features, each at a random point, until there are enough or the budget is used."""
        found: list[Any] = []
        misses = 0
        left = np.inf if budget is None else float(budget)
        wanted = MOST if n_features is None else n_features
        while len(found) < wanted and misses < MISSES and left > 0:
            one = self.generator.draw(self.space.sample(rng), rng, n_features=1)
            cost = float(np.sum(self.generator.cost(one)))
            if len(one) == 0 or cost > left:
                misses += 1
                continue
            found.append(one)
            left -= cost
            misses = 0
        return found

    def draw(self, point: Any, rng: np.random.Generator, **limit: Any) -> list[Any]:
        """Draw features of one point, one by one."""
        features = self.generator.draw(point, rng, **limit)
        return [self.generator.join(features, [j]) for j in range(len(features))]

    def cost(self, features: list[Any]) -> NDArray[np.float64]:
        """Cost of each feature."""
        return np.array([float(np.sum(self.generator.cost(one))) for one in features])

    def meta(self, features: list[Any]) -> NDArray[np.float64]:
        """Meta-features of each feature."""
        return np.concatenate([np.asarray(self.generator.meta(one)) for one in features])

    def measure(self, X: Any, features: list[Any]) -> NDArray[Any]:
        """Columns of the features side by side."""
        return np.hstack([np.asarray(self.generator.measure(X, one)) for one in features])

    def join(self, features: list[Any], chosen: ArrayLike) -> list[Any]:
        """Some of the features."""
        chosen = np.asarray(chosen)
        places = np.flatnonzero(chosen) if chosen.dtype == bool else chosen
        return [features[int(j)] for j in places]
