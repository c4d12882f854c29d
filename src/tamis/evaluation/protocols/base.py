"""Protocol: what all protocols have in common, and the arithmetic of rows behind them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Number, check_value
from tamis.exceptions import InputError

Rows = NDArray[np.intp]


def draw_train(
    y: NDArray[Any], is_classes: bool, share: float, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Mask of rows to learn from, a random `share` of the rows of every class.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.evaluation import draw_train
    >>> y = np.repeat(["a", "b"], [6, 4])
    >>> int(draw_train(y, True, 0.5, np.random.default_rng(0)).sum())
    5
    """
    codes = class_codes(y, is_classes)
    n = codes.size
    if n < 2:
        raise InputError(f"RepeatedSplits: expected at least 2 rows, got {n}.")
    counts = _shares(np.bincount(codes), share, rng)
    train = np.zeros(n, dtype=bool)
    shuffled = rng.permutation(n)
    for code, count in enumerate(counts):
        train[shuffled[codes[shuffled] == code][:count]] = True
    return train


def _shares(sizes: Rows, share: float, rng: np.random.Generator) -> Rows:
    """How many of every class to learn from; what rounding leaves goes by largest remainder."""
    exact = sizes * share
    counts = np.floor(exact).astype(np.intp)
    left = round(sizes.sum() * share) - counts.sum()
    mixed = rng.permutation(sizes.size)  # or equal remainders always favour the first class
    largest = mixed[np.argsort(counts[mixed] - exact[mixed], kind="stable")]
    counts[largest[:left]] += 1
    return np.clip(counts, 1, np.maximum(sizes - 1, 1))


def deal_folds(y: NDArray[Any], is_classes: bool, n_folds: int, rng: np.random.Generator) -> Rows:
    """Fold of every row, dealt out like cards: folds differ by one row at most, in every class."""
    codes = class_codes(y, is_classes)
    shuffled = rng.permutation(codes.size)
    dealt = shuffled[np.argsort(codes[shuffled], kind="stable")]
    fold = np.empty(codes.size, dtype=np.intp)
    fold[dealt] = np.arange(codes.size) % n_folds
    return fold


def fold_parts(fold: Rows) -> list[tuple[Rows, Rows]]:
    """Rows to learn from and rows to score, for every fold."""
    folds = range(int(fold.max()) + 1)
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in folds]


def class_codes(y: NDArray[Any], is_classes: bool) -> Rows:
    """Number of the class of every row; 0 for regression."""
    if not is_classes:
        return np.zeros(y.shape[0], dtype=np.intp)
    return np.unique(y, return_inverse=True)[1].reshape(-1)


def _check_parts(train: Any, test: Any, n_rows: int, who: str) -> tuple[Rows, Rows]:
    """Sorted row numbers of both parts, which must not meet."""
    train = _row_numbers(train, n_rows, f"{who}: train")
    test = _row_numbers(test, n_rows, f"{who}: test")
    both = np.intersect1d(train, test)
    if both.size:
        raise InputError(
            f"{who}: expected no row in both train and test, got {both.size}, the first is row "
            f"{int(both[0])}. Scores on rows learned from mean nothing."
        )
    return train, test


def _row_numbers(rows: Any, n_rows: int, who: str) -> Rows:
    rows = np.asarray(rows)
    if rows.dtype.kind == "b":
        if rows.shape != (n_rows,):
            raise InputError(f"{who} must be a mask of {n_rows} rows, got shape {rows.shape}.")
        rows = np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise InputError(f"{who} must be a list of row numbers or a mask, got {rows!r}.")
    if not rows.size:
        raise InputError(f"{who} must hold at least one row, got none.")
    if rows.min() < 0 or rows.max() >= n_rows:
        raise InputError(
            f"{who} must hold row numbers from 0 to {n_rows - 1}, got {int(rows.min())} to "
            f"{int(rows.max())}."
        )
    return np.unique(rows).astype(np.intp)


def fingerprint(values: Any) -> dict[str, Any]:
    """Number and a short digest of values that are too many to show."""
    text = np.asarray(values).astype(str)
    digest = hashlib.sha256("\0".join(text.ravel().tolist()).encode()).hexdigest()
    return {"n": int(text.size), "sha256": digest[:16]}


# For every split, its name, the rows to learn from and the rows to score.
Parts = Iterator[tuple[str, Any, Any]]


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
        """Rows to learn from and rows to score; the same for the same rows and parameters.

        Parameters
        ----------
        X : table or None
            Only the number of its rows matters; scikit-learn splitters get it as it is.
        y : array-like of shape (n_samples,)
            The target.
        is_classes : bool
            Whether the target is classes: then every part gets its share of each.
        """
        y = np.asarray(y)
        return [
            Split(name, *_check_parts(train, test, y.shape[0], f"{self.who}: {name}"))
            for name, train, test in self._parts(X, y, is_classes)
        ]

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        """Name, training and test rows of every split."""
        raise NotImplementedError

    def describe(self) -> str:
        """Say in one sentence what is done."""
        raise NotImplementedError

    def _check_count(self, name: str, low: int) -> None:
        check_value(getattr(self, name), Number(int, low), who=self.who, name=name)

    def _check_enough(self, n: int, needed: int, what: str) -> None:
        if n < needed:
            raise InputError(
                f"{self.who}: expected at least {needed} {what}, got {n}. Ask for fewer parts."
            )

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
