"""MetaSpace: the points that a search of meta-features visits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from itertools import product
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._validation import Number
from tamis.exceptions import InputError
from tamis.meta.search.dimensions import Categorical, Dimension, Integer, Ordered, Real

Point = dict[str, Any]
Constraint = Callable[[Point], bool]
# Source of random numbers, or a seed for it.
Rng: TypeAlias = np.random.Generator | int | None

# Tries before `sample` gives up, and before `near` stays where it is.
SAMPLE_TRIES = 10_000
NEAR_TRIES = 1_000

# Up to this many points, those that satisfy the constraints are counted one by one.
COUNTED = 100_000


class MetaSpace:
    """Space of meta-features, one named dimension each, possibly with constraints.

    A point is a dict with one value per name. :class:`~tamis.meta.Mufasa` moves among the points
    and draws features that have such properties.

    Parameters
    ----------
    dimensions : dict
        Name of each meta-feature -> :class:`~tamis.meta.Integer`, :class:`~tamis.meta.Real`,
        :class:`~tamis.meta.Ordered` or :class:`~tamis.meta.Categorical`.
    constraints : iterable of callables, default=()
        Each takes a point (a dict of its own, free to change) and returns whether it is allowed.

    Attributes
    ----------
    names : tuple of str
        Names of the dimensions, in the order given; also that of the columns of arrays.
    dimensions, constraints : mapping, tuple
        As given, read only.

    Notes
    -----
    A step is that of Krupka, Navot and Tishby (2008), Algorithm 3: Gaussian noise on every
    coordinate, rounded to the nearest valid value; each dimension says how. Steps are clipped, not
    reflected, so points of the border are visited more often. An integer of a narrow range often
    stays: with ``step=0.1``, the middle of 1 to 3 is left once in 80 steps, the middle of 1 to 8
    every second time. With ``step > 0``, one step reaches every value of every dimension.

    Points against the constraints are drawn again: `sample` is uniform among the allowed points,
    and `near` has the law above given that the point is allowed. Where few points in thousands
    are allowed, list them in one dimension of tuples instead.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import Categorical, Integer, MetaSpace, Real
    >>> space = MetaSpace({"inputs": Integer(1, 8), "spread": Real(1, 3.5)})
    >>> rng = np.random.default_rng(0)
    >>> point = space.sample(rng)
    >>> space.valid(space.near(point, rng, step=0.1))
    True
    >>> space.to_array({"inputs": 3, "spread": 2.5})
    array([3. , 2.5])
    >>> MetaSpace({"a": Integer(0, 9), "b": Integer(0, 9)},
    ...           constraints=[lambda point: point["a"] <= point["b"]]).size
    55
    """

    def __init__(
        self, dimensions: Mapping[str, Dimension], *, constraints: Iterable[Constraint] = ()
    ):
        if not isinstance(dimensions, Mapping) or not dimensions:
            raise InputError(
                "MetaSpace: expected a dict with a name and a dimension for at least one "
                f"meta-feature, got {dimensions!r}."
            )
        for name, kind in dimensions.items():
            if not isinstance(name, str):
                raise InputError(f"MetaSpace: expected names that are str, got {name!r}.")
            if not isinstance(kind, Integer | Real | Ordered | Categorical):
                raise InputError(
                    f"MetaSpace: expected Integer, Real, Ordered or Categorical for {name!r}, got "
                    f"{kind!r}."
                )
        rules = tuple(constraints) if isinstance(constraints, Iterable) else (constraints,)
        if not isinstance(constraints, Iterable) or not all(callable(rule) for rule in rules):
            raise InputError(
                "MetaSpace: constraints must be a list of functions that take a point and return "
                f"whether it is allowed, got {constraints!r}."
            )
        self.names, self.constraints = tuple(dimensions), rules
        self._dimensions = dict(dimensions)

    @property
    def dimensions(self) -> Mapping[str, Dimension]:
        """The dimensions by name, read only."""
        return MappingProxyType(self._dimensions)

    @cached_property
    def size(self) -> float:
        """Number of points: an int, or ``math.inf`` if a dimension is real.

        With constraints, the allowed points are counted if there are at most 100,000 without
        them. Otherwise the number without constraints is given, which is an upper bound.
        """
        kinds = self._dimensions.values()
        sizes = [kind.size for kind in kinds]
        total = math.inf if math.inf in sizes else math.prod(sizes)
        if not self.constraints or total > COUNTED:
            return total
        points = product(*map(_all_values, kinds))
        return sum(self._allows(dict(zip(self.names, values, strict=True))) for values in points)

    def sample(self, rng: Rng = None) -> Point:
        """Draw a point, a dict with Python values; all allowed points are equally likely.

        Parameters
        ----------
        rng : numpy Generator, int or None, default=None
            Source of random numbers, or a seed for it.
        """
        rng = np.random.default_rng(rng)
        for _ in range(SAMPLE_TRIES):
            point = {name: kind.sample(rng) for name, kind in self._dimensions.items()}
            if self._allows(point):
                return point
        raise InputError(
            f"MetaSpace: none of {SAMPLE_TRIES:,} points drawn satisfies the constraints. Check "
            "them, or list the allowed combinations in one Ordered or Categorical dimension."
        )

    def near(self, point: Mapping[str, Any], rng: Rng = None, step: float = 0.1) -> Point:
        """Make a random step from a point to an allowed one, or stay if 1,000 tries find none.

        Parameters
        ----------
        point : mapping
            A valid point; it is not changed.
        rng : numpy Generator, int or None, default=None
            As for `sample`.
        step : float, default=0.1
            Standard deviation of the step as a share of the width of each dimension; 0 stays.
        """
        start = self.check(point)
        if not Number(float, 0.0, open_high=True).allows(step):
            raise InputError(f"MetaSpace.near: step must be a finite float >= 0, got {step!r}.")
        rng = np.random.default_rng(rng)
        for _ in range(NEAR_TRIES):
            moved = {
                name: kind.near(start[name], rng, step) for name, kind in self._dimensions.items()
            }
            if self._allows(moved):
                return moved
        return start

    def valid(self, point: Any) -> bool:
        """Whether the point has a right value for every name and satisfies the constraints."""
        try:
            self.check(point)
        except InputError:
            return False
        return True

    def check(self, point: Any) -> Point:
        """Give a point (a mapping) as a new dict with Python values in the order of `names`.

        Raises :class:`~tamis.exceptions.InputError` if it is not a point of the space.
        """
        if not isinstance(point, Mapping):
            raise InputError(
                f"MetaSpace: expected a dict with {_names(self.names)}, got {point!r}."
            )
        missing = [name for name in self.names if name not in point]
        unknown = [name for name in point if name not in self._dimensions]
        if missing or unknown:
            raise InputError(
                f"MetaSpace: expected a point with {_names(self.names)}, got one with "
                f"{_names(point)}: missing {missing}, unknown {unknown}."
            )
        checked = self._convert("check", [point[name] for name in self.names])
        if not self._allows(checked):
            raise InputError(f"MetaSpace: the point {checked!r} is against a constraint.")
        return checked

    def to_array(self, points: Point | Iterable[Point]) -> NDArray[np.float64]:
        """Give points as numbers, one column per name; ordered and unordered values by place.

        Parameters
        ----------
        points : dict or iterable of dicts
            One point, which gives an array of one dimension, or several.
        """
        if isinstance(points, Mapping):
            return np.array(self._encode(points))
        rows = [self._encode(point) for point in points]
        return np.array(rows, dtype=np.float64).reshape(-1, len(self.names))

    def from_array(self, array: ArrayLike) -> Any:
        """Give back the points that `to_array` made numbers of, a dict or a list of dicts.

        Parameters
        ----------
        array : array-like of shape (n_dimensions,) or (n_points, n_dimensions)
            As made by `to_array`.
        """
        rows = np.asarray(array, dtype=np.float64)
        if rows.ndim not in (1, 2) or rows.shape[-1] != len(self.names):
            raise InputError(
                f"MetaSpace.from_array: expected {len(self.names)} columns, one for each of "
                f"{_names(self.names)}, got an array of shape {rows.shape}."
            )
        points = [self.check(self._convert("decode", row)) for row in np.atleast_2d(rows).tolist()]
        return points[0] if rows.ndim == 1 else points

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetaSpace):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        text = ", ".join(f"{name!r}: {kind!r}" for name, kind in self._dimensions.items())
        if not self.constraints:
            return f"MetaSpace({{{text}}})"
        rules = ", ".join(getattr(rule, "__name__", repr(rule)) for rule in self.constraints)
        return f"MetaSpace({{{text}}}, constraints=[{rules}])"

    def _key(self) -> tuple[Any, ...]:
        return tuple(self._dimensions.items()), self.constraints

    def _allows(self, point: Point) -> bool:
        return all(bool(rule(dict(point))) for rule in self.constraints)

    def _encode(self, point: Mapping[str, Any]) -> list[float]:
        checked = self.check(point)
        return [kind.encode(checked[name]) for name, kind in self._dimensions.items()]

    def _convert(self, method: str, values: list[Any]) -> Point:
        """Ask every dimension to check or decode its value; its complaint gets the name."""
        point = {}
        for (name, kind), value in zip(self._dimensions.items(), values, strict=True):
            try:
                point[name] = getattr(kind, method)(value)
            except InputError as error:
                raise InputError(f"MetaSpace: {name!r} is wrong. {error}") from None
        return point


def _all_values(kind: Dimension) -> Iterable[Any]:
    if isinstance(kind, Integer):
        return range(kind.low, kind.high + 1)
    return (kind.low,) if isinstance(kind, Real) else kind.values


def _names(names: Iterable[Any]) -> str:
    return ", ".join(repr(name) for name in names) or "no names"
