"""RandomRanking: a random order, as a control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tamis._base import BaseSelector, Scores
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._validation import N_JOBS, Constraint, Custom, Number


@dataclass(kw_only=True, eq=False, repr=False)
class RandomRanking(BaseSelector):
    """Columns in random order: the control that every other method must beat.

    In a comparison it shows what the learner makes of any columns at all. No target is used, and
    of the table only which columns never vary: these come last.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Seed; ``None`` gives another order in every fit.
    n_features_to_select : int, float, "elbow", "all" or rule, default="elbow"
        The cut; see :mod:`tamis.cutoff`. A count says more here than an elbow.
    n_jobs : int or None, default=None
        Threads that look for constant columns; ``None`` uses all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Uniform random numbers in (0, 1]; 0 for constant columns.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    One read of the data, then O(n_features). The numbers belong to positions, not to columns: after
    moving columns, the same seed gives other columns the high scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import RandomRanking
    >>> data = load_iris(as_frame=True)
    >>> selector = RandomRanking(random_state=0, n_features_to_select=2).fit(data.data)
    >>> selector.n_selected_
    2
    """

    random_state: Any = None
    n_features_to_select: Any = "elbow"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="A random order, as the baseline that every method must beat.",
        tasks=BOTH_TASKS,
        cost="n",
        reference="none",
        scope="not at all",
    )

    _supervised: ClassVar[bool] = False
    _n_stages: ClassVar[int | None] = 0
    _constraints: ClassVar[dict[str, Constraint]] = {
        "random_state": Custom(
            lambda value: (
                isinstance(value, np.random.RandomState)
                or Number(int, low=0, high=2**32 - 1, or_none=True).allows(value)
            ),
            "None, an int in [0, 2**32 - 1] or a numpy RandomState",
        ),
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: NDArray[np.float64] | None) -> Scores:
        constant = self._find_constant(X, weight)
        scores = 1.0 - check_random_state(self.random_state).random_sample(constant.size)
        return np.where(constant, 0.0, scores), constant
