"""The protocols, one class each, and as_protocol, which makes one of what a user writes."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.wording import did_you_mean
from tamis._validation import Number, check_value
from tamis.evaluation.protocols import base
from tamis.evaluation.protocols.base import Parts, Protocol
from tamis.exceptions import InputError


@dataclass(frozen=True, eq=False)
class RepeatedSplits(Protocol):
    """Random splits, many times: the protocol of most papers on wide tables.

    Of classes, every split gets the same shares. A class of two or more rows has at least one
    row on either side; a single row of a class is always learned from and never scored.

    Parameters
    ----------
    n_splits : int, default=20
        How often.
    train_size : float, default=2/3
        Share of the rows to learn from.
    random_state : int, default=0
        Seed.

    Examples
    --------
    >>> from tamis.evaluation.protocols import RepeatedSplits
    >>> splits = RepeatedSplits().splits(None, ["a", "b"] * 15, True)
    >>> len(splits), splits[0].train.size, splits[0].test.size
    (20, 20, 10)
    """

    n_splits: int = 20
    train_size: float = 2 / 3
    random_state: int = 0

    def __post_init__(self) -> None:
        self._check_count("n_splits", 1)
        share = Number(float, 0, 1, open_low=True, open_high=True)
        check_value(self.train_size, share, who=self.who, name="train_size")
        self._check_count("random_state", 0)

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        rng = np.random.default_rng(self.random_state)
        for i in range(self.n_splits):
            train = base.draw_train(y, is_classes, self.train_size, rng)
            yield f"split {i + 1}", train, ~train

    def describe(self) -> str:
        """Say in one sentence what is done."""
        return (
            f"{self.n_splits} random splits, each with {self.train_size:.0%} of the rows to "
            "learn from and the rest to score, with equal shares of the classes if there are any "
            f"(seed {self.random_state})."
        )


@dataclass(frozen=True, eq=False)
class Folds(Protocol):
    """k-fold cross-validation, of which every row is scored once per repeat.

    Of classes, every fold gets its share. A class with fewer rows than folds is missing from
    some folds; the row of a class of one is scored by models that have not seen its class.

    Parameters
    ----------
    n_folds : int, default=5
        Parts.
    n_repeats : int, default=1
        How often, each time with other parts.
    random_state : int, default=0
        Seed.

    Examples
    --------
    >>> from tamis.evaluation.protocols import Folds
    >>> Folds(10).describe()
    '10-fold cross-validation, with equal shares of the classes if there are any (seed 0).'
    """

    n_folds: int = 5
    n_repeats: int = 1
    random_state: int = 0

    def __post_init__(self) -> None:
        for name, low in (("n_folds", 2), ("n_repeats", 1), ("random_state", 0)):
            self._check_count(name, low)

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        self._check_enough(y.shape[0], self.n_folds, "rows")
        rng = np.random.default_rng(self.random_state)
        for repeat in range(self.n_repeats):
            start = f"repeat {repeat + 1}, " if self.n_repeats > 1 else ""
            fold = base.deal_folds(y, is_classes, self.n_folds, rng)
            for k, (train, test) in enumerate(base.fold_parts(fold)):
                yield f"{start}fold {k + 1}", train, test

    def describe(self) -> str:
        """Say in one sentence what is done."""
        times = f", {self.n_repeats} times" if self.n_repeats > 1 else ""
        return (
            f"{self.n_folds}-fold cross-validation{times}, with equal shares of the classes if "
            f"there are any (seed {self.random_state})."
        )


@dataclass(frozen=True, eq=False)
class LeaveOneOut(Protocol):
    """Every row is scored by models that learned from all others.

    One row gives no AUC, average precision or R2: take accuracy, or an error.

    Examples
    --------
    >>> from tamis.evaluation.protocols import LeaveOneOut
    >>> splits = LeaveOneOut().splits(None, [0, 1, 0, 1], True)
    >>> splits[2].name, splits[2].train.tolist(), splits[2].test.tolist()
    ('row 3', [0, 1, 3], [2])
    """

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        n = y.shape[0]
        self._check_enough(n, 2, "rows")
        for i in range(n):
            yield f"row {i + 1}", np.delete(np.arange(n), i), [i]

    def describe(self) -> str:
        """Say in one sentence what is done."""
        return "Leave-one-out: every row is scored by models that learned from all others."


@dataclass(frozen=True, eq=False)
class PublishedSplit(Protocol):
    """One given split, so that numbers can be set beside published ones.

    Parameters
    ----------
    train, test : array-like of int or of bool
        Row numbers, or masks with one entry per row. No row may be in both.

    Examples
    --------
    >>> from tamis.evaluation.protocols import PublishedSplit
    >>> split, = PublishedSplit([0, 1, 2], [3, 4]).splits(None, [0, 1, 0, 1, 0], True)
    >>> split.test.tolist()
    [3, 4]
    """

    train: Any
    test: Any

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        yield "published", self.train, self.test

    def describe(self) -> str:
        """Say in one sentence what is done."""
        return "One given split into rows to learn from and rows to score."


@dataclass(frozen=True, eq=False)
class GroupFolds(Protocol):
    """Folds in which all rows of a group (a patient, a batch) are on the same side.

    Where every class has at least as many rows as there are folds, the folds also get similar
    shares of the classes, as far as the groups allow.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        The group of every row.
    n_folds : int, default=5
        Parts; there must be at least as many groups.

    Examples
    --------
    >>> from tamis.evaluation.protocols import GroupFolds
    >>> protocol = GroupFolds(["ann", "ann", "bob", "bob", "eve", "eve"], n_folds=3)
    >>> [split.test.tolist() for split in protocol.splits(None, [0, 1, 0, 1, 0, 1], True)]
    [[0, 1], [2, 3], [4, 5]]
    """

    groups: Any
    n_folds: int = 5

    def __post_init__(self) -> None:
        self._check_count("n_folds", 2)

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        labels, codes = np.unique(np.asarray(self.groups).astype(str), return_inverse=True)
        if codes.shape != y.shape[:1]:
            raise InputError(
                f"{self.who}: groups must have one entry per row ({y.shape[0]}), got "
                f"{codes.shape[0]}."
            )
        self._check_enough(labels.size, self.n_folds, "groups")
        for k, test in enumerate(self._folds(codes, base.class_codes(y, is_classes), is_classes)):
            yield f"fold {k + 1}", np.setdiff1d(np.arange(codes.size), test), test

    def _folds(self, groups: NDArray[Any], codes: NDArray[Any], is_classes: bool) -> list[Any]:
        """Rows of the folds, in the order of their first rows."""
        from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

        splitters: list[Any] = [GroupKFold(self.n_folds)]
        if is_classes and np.bincount(codes).min() >= self.n_folds:
            splitters.insert(0, StratifiedGroupKFold(self.n_folds))
        for splitter in splitters:
            tests = [test for _, test in splitter.split(np.zeros((groups.size, 1)), codes, groups)]
            if all(test.size for test in tests):
                break
        return sorted(tests, key=lambda rows: int(rows[0]))

    def describe(self) -> str:
        """Say in one sentence what is done."""
        n_groups = np.unique(np.asarray(self.groups).astype(str)).size
        return (
            f"{self.n_folds}-fold cross-validation in which the rows of each of {n_groups} groups "
            "stay together."
        )


@dataclass(frozen=True, eq=False)
class TimeOrder(Protocol):
    """Blocks of rows in time order, each scored by models that learned from all rows before it.

    Parameters
    ----------
    n_splits : int, default=5
        Blocks scored; the rows before the first of them are only learned from.
    gap : int, default=0
        Rows left out just before each block, where the target is known only later.
    time : array-like of shape (n_samples,) or None
        When every row was measured: anything that sorts. Rows of the same time are never on
        both sides. ``None`` means that the rows are in time order.

    Examples
    --------
    >>> from tamis.evaluation.protocols import TimeOrder
    >>> splits = TimeOrder(2).splits(None, [0, 1, 0, 1, 0, 1], True)
    >>> [(split.train.tolist(), split.test.tolist()) for split in splits]
    [([0, 1], [2, 3]), ([0, 1, 2, 3], [4, 5])]
    """

    n_splits: int = 5
    gap: int = 0
    time: Any = None

    def __post_init__(self) -> None:
        self._check_count("n_splits", 1)
        self._check_count("gap", 0)

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        n = y.shape[0]
        self._check_enough(n, self.n_splits + 1 + self.gap, "rows")
        when = np.arange(n) if self.time is None else np.asarray(self.time)
        if when.shape != (n,):
            raise InputError(
                f"{self.who}: time must have one entry per row ({n}), got {when.shape}."
            )
        when = np.unique(when, return_inverse=True)[1]
        order = np.argsort(when, kind="stable")
        block = n // (self.n_splits + 1)
        for k in range(self.n_splits):
            start = n - (self.n_splits - k) * block
            test = order[start : start + block]
            before = order[: max(start - self.gap, 0)]
            yield f"block {k + 1}", before[when[before] < when[test[0]]], test

    def describe(self) -> str:
        """Say in one sentence what is done."""
        gap = f", without the {self.gap} rows just before it" if self.gap else ""
        return (
            f"{self.n_splits} blocks in time order, each scored by models that learned from the "
            f"rows before it{gap}."
        )


@dataclass(frozen=True, eq=False)
class Splitter(Protocol):
    """Any scikit-learn splitter, or a list of pairs of row numbers.

    A splitter that draws without a seed gets seed 0, so that a comparison can be continued.

    Parameters
    ----------
    splitter : splitter or list of (train, test)
        As in :func:`sklearn.model_selection.check_cv`.
    groups : array-like of shape (n_samples,) or None
        The group of every row, for splitters that ask for it.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from tamis.evaluation.protocols import Splitter
    >>> len(Splitter(KFold(4)).splits(None, [0, 1, 0, 1], True))
    4
    """

    splitter: Any
    groups: Any = None

    def _parts(self, X: Any, y: NDArray[Any], is_classes: bool) -> Parts:
        table = np.zeros((y.shape[0], 1)) if X is None else X
        parts = list(self._frozen().split(table, y, self.groups))
        if not parts:
            raise InputError(f"{self.who}: expected at least one split, got none.")
        for i, (train, test) in enumerate(parts):
            yield f"split {i + 1}", train, test

    def _frozen(self) -> Any:
        """A splitter that gives the same splits every time; lists of pairs are wrapped."""
        from sklearn.model_selection import check_cv

        if isinstance(self.splitter, list | tuple):
            return check_cv(self.splitter)
        # False where the splitter can shuffle and does not; there a seed would be an error.
        draws = hasattr(self.splitter, "random_state") and getattr(self.splitter, "shuffle", True)
        if not draws or self.splitter.random_state is not None:
            return self.splitter
        frozen = copy.copy(self.splitter)
        frozen.random_state = 0
        return frozen

    def describe(self) -> str:
        """Say in one sentence what is done."""
        if isinstance(self.splitter, list | tuple):
            return f"{len(self.splitter)} given splits into rows to learn from and rows to score."
        return f"Splits by scikit-learn's {self._frozen()!r}."

    def as_dict(self) -> dict[str, Any]:
        """Name, sentence and parameters, as plain values that JSON can hold."""
        groups = None if self.groups is None else base.fingerprint(self.groups)
        return {"protocol": self.who, "description": self.describe(), "groups": groups}


# Four fifths to learn from, so that scores are nearly those of all rows, and every row is scored
# equally often.
DEFAULT = Folds(5, 4)
_WORDS = {"splits": RepeatedSplits, "folds": Folds, "loo": LeaveOneOut, "time": TimeOrder}


def as_protocol(value: Any, groups: Any = None) -> Protocol:
    """Turn what a user writes into a protocol.

    Parameters
    ----------
    value : str, int, splitter, list of (train, test), Protocol or None
        ``None`` is five folds, four times; ``"splits"``, ``"folds"``, ``"loo"``, ``"time"``; a
        number of folds; any scikit-learn splitter. A protocol stays as it is.
    groups : array-like of shape (n_samples,) or None
        The group of every row. With it, ``"splits"``, ``"folds"`` and a number mean
        `GroupFolds`; a splitter is given the groups.

    Examples
    --------
    >>> from tamis.evaluation.protocols import as_protocol
    >>> as_protocol("splits")
    RepeatedSplits(n_splits=20, train_size=0.6666666666666666, random_state=0)
    >>> as_protocol(10)
    Folds(n_folds=10, n_repeats=1, random_state=0)
    """
    if isinstance(value, Protocol):
        return value
    if value is None:
        return DEFAULT if groups is None else GroupFolds(groups)
    is_count = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if groups is not None and (
        is_count or (isinstance(value, str) and value in ("splits", "folds"))
    ):
        return GroupFolds(groups, int(value)) if is_count else GroupFolds(groups)
    if is_count:
        return Folds(int(value))
    if isinstance(value, str) and value in _WORDS:
        return _WORDS[value]()
    if isinstance(value, list | tuple) or callable(getattr(value, "get_n_splits", None)):
        return Splitter(value, groups)
    hint = did_you_mean(value, _WORDS)
    raise InputError(
        f"as_protocol: expected {', '.join(map(repr, _WORDS))}, a number of folds, a scikit-learn "
        f"splitter or a protocol, got {value!r}.{hint}"
    )
