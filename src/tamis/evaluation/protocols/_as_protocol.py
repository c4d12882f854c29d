"""as_protocol: what a user writes becomes a protocol."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from tamis.evaluation.protocols._folds import Folds
from tamis.evaluation.protocols._group_folds import GroupFolds
from tamis.evaluation.protocols._leave_one_out import LeaveOneOut
from tamis.evaluation.protocols._protocol import Protocol
from tamis.evaluation.protocols._repeated_splits import RepeatedSplits
from tamis.evaluation.protocols._splitter import Splitter
from tamis.evaluation.protocols._time_order import TimeOrder
from tamis.exceptions import InputError

_WORDS = {"splits": RepeatedSplits, "folds": Folds, "loo": LeaveOneOut, "time": TimeOrder}


def as_protocol(value: Any, groups: Any = None) -> Protocol:
    """Turn what a user writes into a protocol.

    Parameters
    ----------
    value : str, int, splitter, list of (train, test) or Protocol
        ``"splits"``, ``"folds"``, ``"loo"``, ``"time"``; a number of folds; any scikit-learn
        splitter.
    groups : array-like of shape (n_samples,) or None
        The group of every row. With it, ``"splits"``, ``"folds"`` and a number mean
        `GroupFolds`; a splitter is given the groups.

    Returns
    -------
    protocol : Protocol
        As it was, if it is one.

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
    close = difflib.get_close_matches(str(value), _WORDS, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InputError(
        f"as_protocol: expected {', '.join(map(repr, _WORDS))}, a number of folds, a scikit-learn "
        f"splitter or a protocol, got {value!r}.{hint}"
    )
