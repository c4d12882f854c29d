"""SourceRFE and SourceRandom: what the selection by meta-features is compared with."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tamis._runtime.seeds import draw_seed
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Constraint, Custom, Number
from tamis.exceptions import InputError
from tamis.meta.sources._selector import (
    COUNT_OR_SHARE,
    Indices,
    Measuring,
    SourceSelector,
    count_of,
)


class SourceRFE(SourceSelector):
    """Recursive elimination among the candidates of a source, or among some drawn at random.

    Candidates are measured first, then the ones of lowest quality are dropped in a few steps,
    with the quality measured anew after each. Measuring all candidates gives the result that
    :class:`MFPFS` aims at with a fraction of the measurements; measuring as many as `MFPFS` does,
    drawn at random, shows what the meta-features are worth.

    Parameters
    ----------
    n_measured : int, float or None, default=None
        How many candidates to measure, or which share of them, drawn at random; ``None`` means
        all. At least as many as are selected.
    n_eliminations : int, default=6
        Steps from the measured to the selected number, each dropping about the same share.
    n_features_to_select, quality, random_state, n_jobs
        As in :class:`MFPFS`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_candidates,)
        Number of candidates for the best; those that stayed longer have more, of one step
        those of higher quality; 0 for candidates that were not measured.
    criterion_ : ndarray of shape (n_candidates,)
        Quality in the last step that a candidate took part in, NaN if it was not measured.
    history_ : list of dict
        For every step `n_candidates`, `n_dropped` and `n_left`.
    n_measured_, cost_, measured_, failed_
        As of :class:`MFPFS`.
    order_, ranking_, support_, n_selected_, n_features_in_, feature_names_in_
        As for every selector.

    Notes
    -----
    With the default quality these are ``RFEall`` and, with `n_measured`, ``RFEsmall`` of Krupka
    et al. (2008), section 5.2: six steps. Step ``i`` of ``s`` keeps ``m (n / m)^(i / s)`` of the
    ``m`` measured candidates; of equal quality the lower index stays. Candidates that cannot be
    measured are left out with a warning, and others are drawn in their place.

    References
    ----------
    Krupka, E., Navot, A. and Tishby, N. (2008). Learning to select features using their
    properties. Journal of Machine Learning Research 9, 2349-2376.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis.meta import ArraySource, SourceRFE
    >>> X, y = load_iris(return_X_y=True)
    >>> source = ArraySource(X, [[0, 0], [0, 1], [1, 0], [1, 1]])  # petal or not, width or not
    >>> selector = SourceRFE(n_features_to_select=2).fit(source, y)
    >>> selector.get_support(), selector.n_measured_
    (array([False, False,  True,  True]), 4)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_features_to_select": COUNT_OR_SHARE,
        "n_measured": Custom(
            lambda value: value is None or COUNT_OR_SHARE.allows(value),
            f"{COUNT_OR_SHARE.describe()}, or None for all",
        ),
        "n_eliminations": Number(int, low=1),
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        *,
        n_features_to_select: float = 0.1,
        n_measured: float | None = None,
        n_eliminations: int = 6,
        quality: Any = "svm_weights",
        random_state: Any = None,
        n_jobs: int | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.n_measured = n_measured
        self.n_eliminations = n_eliminations
        self.quality = quality
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _select(self, measuring: Measuring, y: Any, count: int, random: Any) -> None:
        n_measured = self._n_measured(count)
        seed = draw_seed(random)
        alive = np.sort(measuring.measure(random.permutation(self.n_features_in_), n_measured))
        measuring.require(alive.size, count, type(self).__name__)
        ratio, n_steps = count / alive.size, self.n_eliminations
        sizes = [round(alive.size * ratio ** (step / n_steps)) for step in range(1, n_steps)]
        sizes.append(count)
        fallen: list[Indices] = []
        for size in self.steps("eliminations", sizes, len(sizes)):
            self.criterion_[alive] = self._quality_of(measuring, alive, y, seed)
            best = self._by_criterion(alive, [])
            self.history_.append(
                {"n_candidates": alive.size, "n_dropped": alive.size - size, "n_left": size}
            )
            fallen.append(best[size:])
            alive = np.sort(best[:size])
        # If a callback ended the loop, the last qualities decide on all that are left.
        self._rank(self._by_criterion(alive, fallen), count)

    def _n_measured(self, count: int) -> int:
        who, n_candidates = type(self).__name__, self.n_features_in_
        if self.n_measured is None:
            return n_candidates
        n_measured = count_of(self.n_measured, n_candidates)
        if n_measured < count:
            raise InputError(
                f"{who}: expected n_measured to be at least the {count} features to select, got "
                f"{self.n_measured!r}, that is, {n_measured} candidates."
            )
        if n_measured > n_candidates:
            warn(
                f"{who}: asked to measure {n_measured} candidates, but there are {n_candidates}; "
                "all are measured."
            )
        return min(n_measured, n_candidates)


class SourceRandom(SourceSelector):
    """Random selection among the candidates of a source: the baseline of :class:`MFPFS`.

    Nothing is measured in `fit`. What a method that measures gains has to be gained over this.

    Parameters
    ----------
    n_features_to_select, random_state
        As in :class:`MFPFS`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_candidates,)
        Number of candidates for the first one drawn, 1 for the last.
    n_measured_, cost_, measured_, failed_, history_
        As of :class:`MFPFS`; nothing is measured.
    order_, ranking_, support_, n_selected_, n_features_in_, feature_names_in_
        As for every selector.

    Notes
    -----
    Smaller selections with the same seed are part of larger ones. `transform` measures the
    selected candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import ArraySource, SourceRandom
    >>> source = ArraySource(np.zeros((5, 100)), np.arange(100.0).reshape(-1, 1))
    >>> selector = SourceRandom(n_features_to_select=3, random_state=0).fit(source)
    >>> selector.n_selected_, selector.n_measured_
    (3, 0)
    """

    _constraints: ClassVar[dict[str, Constraint]] = {"n_features_to_select": COUNT_OR_SHARE}
    _needs_target: ClassVar[bool] = False

    def __init__(self, *, n_features_to_select: float = 0.1, random_state: Any = None):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def _select(self, measuring: Measuring, y: Any, count: int, random: Any) -> None:
        self._rank(random.permutation(self.n_features_in_), count)
