"""Protocol: what all protocols have in common, and what comes out of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Number, check_value
from tamis.evaluation._rows import Rows, check_parts, fingerprint
from tamis.exceptions import InputError

# Names of splits, and for each the rows to learn from and the rows to score.
Parts = tuple[list[str], list[tuple[Any, Any]]]


class Split(NamedTuple):
    """Rows to learn from and rows to score.

    Parameters
    ----------
    name : str
        Different for every split of a protocol.
    train, test : ndarray of int
        Sorted row numbers; no row is in both.

    Examples
    --------
    >>> from tamis.evaluation.protocols import Folds
    >>> split = Folds(3).splits(None, [0, 0, 0, 1, 1, 1], True)[0]
    >>> split.name, split.train.size, split.test.size
    ('fold 1', 4, 2)
    """

    name: str
    train: Rows
    test: Rows


@dataclass(frozen=True, eq=False)
class Protocol:
    """Base of the protocols: rows in, splits out, the same ones every time.

    A subclass writes `_parts` and `describe`.

    Examples
    --------
    >>> from tamis.evaluation.protocols import LeaveOneOut, Protocol
    >>> isinstance(LeaveOneOut(), Protocol)
    True
    """

    @property
    def who(self) -> str:
        """Name used in messages."""
        return type(self).__name__

    def splits(self, X: Any, y: Any, is_classes: bool) -> list[Split]:
        """Cut the rows into parts to learn from and parts to score.

        Parameters
        ----------
        X : table or None
            Only the number of its rows matters; scikit-learn splitters get it as it is.
        y : array-like of shape (n_samples,)
            The target.
        is_classes : bool
            Whether the target is classes: then every part gets its share of each.

        Returns
        -------
        splits : list of Split
            The same for the same rows and parameters.
        """
        y = np.asarray(y)
        names, parts = self._parts(X, y, is_classes)
        checked = [
            check_parts(train, test, y.shape[0], f"{self.who}: {name}")
            for name, (train, test) in zip(names, parts, strict=True)
        ]
        return [Split(name, *rows) for name, rows in zip(names, checked, strict=True)]

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        """Names of the splits, and their training and test rows."""
        raise NotImplementedError

    def describe(self) -> str:
        """Say in one sentence what is done."""
        raise NotImplementedError

    def as_dict(self) -> dict[str, Any]:
        """Name, sentence and parameters, as plain values that JSON can hold.

        Row numbers and labels are given by their number and a fingerprint.
        """
        shown: dict[str, Any] = {"protocol": self.who, "description": self.describe()}
        for field in fields(self):
            value = getattr(self, field.name)
            plain = value is None or isinstance(value, bool | int | float | str)
            shown[field.name] = value if plain else fingerprint(value)
        return shown


def check_count(protocol: Protocol, name: str, low: int) -> None:
    """Complain if a parameter is not a whole number from `low` on."""
    check_value(getattr(protocol, name), Number(int, low), who=protocol.who, name=name)


def check_enough(protocol: Protocol, n: int, needed: int, what: str) -> None:
    """Complain if there are fewer than needed."""
    if n < needed:
        raise InputError(
            f"{protocol.who}: expected at least {needed} {what}, got {n}. Ask for fewer parts."
        )
