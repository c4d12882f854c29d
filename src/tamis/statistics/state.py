"""Stateful: a statistic whose state can be stored in a checkpoint and restored from it."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray


class Stateful:
    """Mixin of statistics: give the state as arrays and numbers, and take it over again.

    A class declares in `state_names` the attributes that ``update`` and ``merge`` change:
    arrays, numbers and other statistics. What the constructor was given is not among them.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.statistics import Block, Moments
    >>> seen = Moments(1).update(Block.of(np.array([[1.0], [3.0]])))
    >>> Moments(1).restore(seen.state()).finish().mean
    array([2.])
    """

    state_names: ClassVar[tuple[str, ...]]

    def state(self) -> dict[str, Any]:
        """The attributes that change, as arrays, numbers and dicts of them; not copied.

        Returns
        -------
        state : dict
            By the names of the attributes.
        """
        found = {name: getattr(self, name) for name in self.state_names}
        return {
            name: value.state() if isinstance(value, Stateful) else value
            for name, value in found.items()
        }

    def restore(self, state: Any) -> Self:
        """Take over the state of another object of the same construction.

        Parameters
        ----------
        state : dict
            From :meth:`state`; the arrays are taken over, not copied.

        Returns
        -------
        self : object
            With the state of the other one.

        Raises
        ------
        ValueError
            When names, types or shapes differ from those of this object, which must be empty.
        """
        self._check_names(state, self.state_names)
        for name in self.state_names:
            setattr(self, name, self._taken(name, state[name]))
        self._check_state()
        return self

    def _check_names(self, state: Any, names: tuple[str, ...]) -> None:
        if not isinstance(state, dict) or set(state) != set(names):
            raise ValueError(f"{type(self).__name__} with other attributes")

    def _taken(self, name: str, found: Any) -> Any:
        empty = getattr(self, name)
        if isinstance(empty, Stateful):
            return empty.restore(found)
        if empty is None:  # an array that is made when it is needed
            return None if found is None else self._array(name, found, self._late_shape, np.float64)
        if isinstance(empty, np.ndarray):
            return self._array(name, found, empty.shape, empty.dtype)
        if type(found) is not type(empty):
            raise ValueError(f"{type(self).__name__}.{name} of another type")
        return found

    def _array(self, name: str, found: Any, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        if not isinstance(found, np.ndarray) or (found.shape, found.dtype) != (shape, dtype):
            raise ValueError(f"{type(self).__name__}.{name} of another shape or type")
        return found

    @property
    def _late_shape(self) -> tuple[int, ...]:
        """Shape of the array of float64 that is None in an empty object, if there is one."""
        raise NotImplementedError

    def _check_state(self) -> None:
        """Raise ValueError for values that a kernel could not take."""


class StatefulByClass(Stateful):
    """Statistic of classes, of which more may be met later."""

    # Arrays with room for every class, and the axis along which they have it.
    class_axes: ClassVar[dict[str, int]]

    def add_classes(self, positions: NDArray[np.intp], n_classes: int) -> None:
        """Make room for classes met later; `positions` says where the known ones go."""
        for name, axis in self.class_axes.items():
            known = np.moveaxis(getattr(self, name), axis, 0)
            table = np.zeros((n_classes, *known.shape[1:]))
            table[positions] = known
            setattr(self, name, np.ascontiguousarray(np.moveaxis(table, 0, axis)))
