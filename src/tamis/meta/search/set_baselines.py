"""RandomSearch and NormalizedInformationGain: the yardsticks of Mufasa."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.seeds import stream
from tamis._validation import Constraint, Number
from tamis.exceptions import InputError
from tamis.meta.search._set_search import LIMITS, SetSearch
from tamis.meta.search._set_task import SetTask, Trial

Floats = NDArray[np.float64]
# Cells measured at a time where the generator has no information gain of its own.
CELLS = 20_000_000


@dataclass(kw_only=True, eq=False, repr=False)
class RandomSearch(SetSearch):
    """Draw sets of features over all values of the meta-features, and keep the best.

    Every feature of a set has meta-features of its own, drawn at random. Quality, budget and
    number of sets are those of :class:`~tamis.meta.Mufasa`, so that the difference between both
    is what the meta-features contribute.

    Parameters
    ----------
    generator, n_features_to_select, budget
        As in :class:`~tamis.meta.Mufasa`.
    n_steps : int, default=50
        Number of sets.
    estimator, cv, scoring, redraw_constant, checkpoint, random_state, n_jobs
        As in :class:`~tamis.meta.Mufasa`.

    Attributes
    ----------
    features_, n_selected_, cost_, meta_, best_score_, history_, n_measured_, support_, generator_
        As in :class:`~tamis.meta.Mufasa`.
    best_point_ : None
        The features of a set have no point in common; see `meta_`.

    Notes
    -----
    A generator may offer ``draw_any(rng, *, n_features=None, budget=None)``, which draws a set over
    all its features. Otherwise each feature comes from a point drawn uniformly from the space;
    under a budget, features that no longer fit are passed over, until twenty in a row did not fit.

    References
    ----------
    Krupka, E., Navot, A. and Tishby, N. (2008). Learning to select features using their
    properties. Journal of Machine Learning Research 9, 2349-2376, section 6.2 ("Rand Search").

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import ArraySource, RandomSearch
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> source = ArraySource(rng.normal(size=(100, 40)), np.arange(40.0)[:, None])
    >>> search = RandomSearch(n_features_to_select=5, n_steps=10, random_state=0).fit(source, y)
    >>> search.transform(source).shape
    (100, 5)
    """

    n_steps: int = 50
    redraw_constant: bool = True
    checkpoint: Any = None

    _draws_anywhere: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {**LIMITS, "n_steps": Number(int, low=1)}


@dataclass(kw_only=True, eq=False, repr=False)
class NormalizedInformationGain(SetSearch):
    """Draw far more features than the limit allows, and keep those that tell most per cost.

    Features are drawn over all values of the meta-features with `factor` times the limit, sorted
    by information gain divided by cost, and the first ones that the limit allows are kept. Each is
    judged alone, so the set may be redundant. A yardstick of :class:`~tamis.meta.Mufasa`.

    Parameters
    ----------
    generator, n_features_to_select, budget
        As in :class:`~tamis.meta.Mufasa`, for the features that are kept.
    factor : float, default=50
        How many times the limit is drawn.
    n_bins : int, default=16
        Equal bins of a column, where the generator has no information gain of its own.
    estimator, cv, scoring, random_state, n_jobs
        As in :class:`~tamis.meta.Mufasa`; used to score the set, once, for comparison.

    Attributes
    ----------
    features_, n_selected_, cost_, meta_, best_score_, history_, n_measured_, support_, generator_
        As in :class:`~tamis.meta.Mufasa`; features were chosen with the labels of all rows.
    best_point_ : None
        The features of the set have no point in common; see `meta_`.
    gain_ : ndarray of shape (n_selected,)
        Information gain of each chosen feature, in bits, best per cost first.
    n_drawn_ : int
        Features drawn, of which these were chosen.

    Notes
    -----
    The target must be classes. The prefix ends before the first feature that no longer fits, as in
    the paper; features that alone cost more than the budget are left out first. Of features
    of equal gain per cost the one drawn first comes first. A generator may offer
    ``information_gain(X, y, features)``; otherwise columns are measured in parts and scored by
    :class:`tamis.InformationGain`.

    References
    ----------
    Krupka, E., Navot, A. and Tishby, N. (2008). Learning to select features using their
    properties. Journal of Machine Learning Research 9, 2349-2376, section 6.2 ("Norm Infogain").

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import ArraySource, NormalizedInformationGain
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> X = rng.normal(size=(100, 40))
    >>> X[:, 7] += 3 * y
    >>> source = ArraySource(X, np.arange(40.0)[:, None])
    >>> NormalizedInformationGain(n_features_to_select=1, random_state=0).fit(source, y).features_
    array([7])
    """

    factor: float = 50
    n_bins: int = 16

    _draws_anywhere: ClassVar[bool] = True
    _constraints: ClassVar[dict[str, Constraint]] = {
        **LIMITS,
        "factor": Number(float, low=1),
        "n_bins": Number(int, low=2),
    }

    def _draw_set(self, task: SetTask, trial: Trial, factor: float) -> Any:
        """Many features at random, then the best per cost."""
        limit = task.limit(self.factor)
        if self.n_features_to_select is not None:
            limit = {"n_features": round(self.factor * self.n_features_to_select)}
        features = task.generator.draw_any(stream(task.seed, *trial.place, 1), **limit)
        if hasattr(task.generator, "available"):
            features = task.generator.available(task.X, features)
        self.n_drawn_ = len(features)
        if not len(features):
            return features
        cost = np.asarray(task.generator.cost(features), dtype=np.float64)
        gain = self._gain(task, features)
        chosen = self._prefix(gain, cost)
        self.gain_ = gain[chosen]
        return task.generator.join(features, chosen)

    def _gain(self, task: SetTask, features: Any) -> Floats:
        if hasattr(task.generator, "information_gain"):
            gain = task.generator.information_gain(task.X, task.quality.y, features)
            return np.asarray(gain, dtype=np.float64)
        y = task.quality.y
        size = max(1, CELLS // max(y.size, 1))
        parts = []
        for first in range(0, len(features), size):
            some = np.arange(first, min(first + size, len(features)))
            columns = task.generator.measure(task.X, task.generator.join(features, some))
            parts.append(self._gain_of_columns(np.asarray(columns), y))
        return np.concatenate(parts)

    def _gain_of_columns(self, columns: NDArray[Any], y: NDArray[Any]) -> Floats:
        from tamis.filters import InformationGain

        gain = np.zeros(columns.shape[1])
        # The filter refuses a table in which nothing varies; such features tell nothing.
        varies = np.array([bool((column != column[0]).any()) for column in columns.T])
        if varies.any():
            filter_ = InformationGain(
                n_bins=self.n_bins, n_features_to_select="all", n_jobs=self.n_jobs
            )
            gain[varies] = filter_.fit(columns[:, varies].astype(np.float64), y).gain_
        return gain

    def _prefix(self, gain: Floats, cost: Floats) -> NDArray[np.intp]:
        """Features in the order of gain per cost, as many as the limit allows."""
        if gain.shape != cost.shape:
            raise InputError(
                f"NormalizedInformationGain: expected one gain for each of {cost.size} features, "
                f"got shape {gain.shape}. Correct information_gain of the generator."
            )
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(gain > 0, gain / cost, 0.0)
        order = np.argsort(-rate, kind="stable")
        if self.n_features_to_select is not None:
            return order[: self.n_features_to_select]
        order = order[cost[order] <= (self.budget or 0.0)]
        return order[np.cumsum(cost[order]) <= (self.budget or 0.0)]
