"""answer: which features, how many, how sure, by one call."""

from __future__ import annotations

import warnings
from typing import Any

from tamis.auto.auto_selector import AutoSelector
from tamis.auto.record import Answer


def answer(
    X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None, **options: Any
) -> Answer:
    """Find the features that matter, and say how sure.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        The table; NaN marks missing values.
    y : array-like of shape (n_samples,)
        The target: class labels, or numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows.
    groups : array-like of shape (n_samples,), default=None
        Group of every row, such as the patient; rows of a group stay together.
    **options
        Parameters of :class:`AutoSelector`, such as `time_limit` or `n_jobs`.

    Returns
    -------
    answer : Answer
        Print it; `answer.selector` goes into a pipeline.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 30)), rng.integers(0, 2, 60)
    >>> X[:, 4] += 2 * y
    >>> tamis.answer(X, y, time_limit=2).columns[0]
    '4'
    """
    selector = AutoSelector(**options)
    given = {"sample_weight": sample_weight, "groups": groups}
    with warnings.catch_warnings():
        # The answer says so itself.
        warnings.filterwarnings("ignore", "AutoSelector: no column was selected")
        selector.fit(X, y, **{name: value for name, value in given.items() if value is not None})
    return selector.answer_
