"""SourceSelector, the base of the selectors of a source, and the baselines of MFPFS."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tamis._base import BaseSelector
from tamis._ranking import Ranking
from tamis._runtime.callbacks import CallbackSupportMixin, with_callbacks
from tamis._runtime.seeds import draw_seed
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Constraint, Custom, Number, check_parameters
from tamis.cutoff.fraction import Fraction
from tamis.exceptions import InputError, MeasurementError
from tamis.meta.sources.feature_source import FeatureSource, as_source
from tamis.meta.sources.qualities import check_quality_name, check_quality_target, measure_quality

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

COUNT_OR_SHARE = Custom(
    lambda value: Number(int, low=1).allows(value) or Number(float, 0, 1, True).allows(value),
    "an int of at least 1 or a float in (0, 1]",
)


def _count_of(value: Any, n_candidates: int) -> int:
    whole = isinstance(value, int | np.integer)
    return int(value) if whole else Fraction(float(value)).count(n_candidates)


class Measuring:
    """What a run has asked a source for, and what failed; known columns count, too."""

    def __init__(self, source: FeatureSource):
        self.source = source
        self.taken: list[int] = []
        self.failed: list[int] = []

    def measure(self, wanted: Indices, count: int) -> Indices:
        """Measure the first `count` candidates; the next ones stand in for those that fail."""
        found: list[int] = []
        start = 0
        while len(found) < count and start < wanted.size:
            batch = wanted[start : start + count - len(found)]
            start += batch.size
            good = self.source.available(batch)
            found += good.tolist()
            self.failed += batch[~np.isin(batch, good)].tolist()
        self.taken = list(dict.fromkeys([*self.taken, *found]))
        return np.array(found, dtype=np.int64)

    def require(self, n_left: int, n_wanted: int, who: str) -> None:
        """Raise if failures leave fewer candidates than are wanted."""
        if n_left < n_wanted:
            failures = self.source.failures
            raise MeasurementError(
                f"{who}: expected {n_wanted} candidates that can be measured, got {n_left}; "
                f"{self.reasons()} Fix the cause and call retry_failed() of the source, or ask "
                "for fewer features.",
                {index: failures.get(index, "") for index in self.failed},
            )

    def reasons(self) -> str:
        """How many candidates failed, and why the first one did."""
        first = self.failed[0]
        reason = self.source.failures.get(first, "it could not be measured")
        return f"{len(self.failed)} failed, the first is candidate {first} ({reason})."


@dataclass(kw_only=True, eq=False, repr=False)
class SourceSelector(SelectorMixin, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the selectors of candidates; a subclass writes ``_select``."""

    n_features_to_select: float = 0.1
    random_state: Any = None

    _constraints: ClassVar[dict[str, Constraint]] = {"n_features_to_select": COUNT_OR_SHARE}
    _needs_target: ClassVar[bool] = True
    # The same loop with callbacks, and the same table, as for selectors that fit on a table.
    steps: ClassVar[Any] = BaseSelector.steps
    to_frame: ClassVar[Any] = BaseSelector.to_frame
    _forget: ClassVar[Any] = BaseSelector._forget
    _get_support_mask: ClassVar[Any] = BaseSelector._get_support_mask

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, source: Any, y: Any = None) -> Any:
        """Select among the candidates of a source.

        Parameters
        ----------
        source : FeatureSource
            Or any object with `meta` and `measure`.
        y : array-like of shape (n_samples,)
            The target.
        """
        check_parameters(self, self._constraints)
        who = type(self).__name__
        if self._needs_target:
            check_quality_name(self.quality, who)
            y = check_quality_target(self.quality, y, who)
        self._forget()
        source = as_source(source)
        self.n_features_in_ = source.n_candidates
        if source.feature_names is not None:
            self.feature_names_in_ = np.array(source.candidate_names(), dtype=object)
        count = _count_of(self.n_features_to_select, self.n_features_in_)
        root = self._init_callback_context(max_subtasks=1)
        root.call_on_fit_task_begin(estimator=self, X=source, y=y)
        measuring = Measuring(source)
        self.history_: list[dict[str, Any]] = []
        if self._needs_target:
            self.criterion_ = np.full(self.n_features_in_, np.nan)
        if count >= self.n_features_in_:
            self._keep_all(count)
        else:
            self._select(measuring, y, count, check_random_state(self.random_state))
        self._account(measuring)
        if measuring.failed:
            warn(f"{who}: some candidates are left out; {measuring.reasons()}")
        root.call_on_fit_task_end(estimator=self, X=source, y=y)
        return self

    def _select(self, measuring: Measuring, y: Any, count: int, random: Any) -> None:
        """Measure, and call `_rank`."""
        raise NotImplementedError

    def _keep_all(self, count: int) -> None:
        """Nothing to choose, and so nothing to measure."""
        if count > self.n_features_in_:
            warn(
                f"{type(self).__name__}: asked for {count} features, but there are "
                f"{self.n_features_in_} candidates; all are kept."
            )
        self._rank(np.empty(0, dtype=np.int64), 0)
        self.support_[:], self.n_selected_ = True, self.n_features_in_

    def _rank(self, ordered: Indices, count: int) -> None:
        """Select the first `count` of the ordered candidates; others have a score of 0."""
        scores = np.zeros(self.n_features_in_)
        scores[ordered] = np.arange(self.n_features_in_, self.n_features_in_ - ordered.size, -1)
        ranking = Ranking.of(scores)
        self.scores_, self.order_, self.ranking_ = ranking.scores, ranking.order, ranking.positions
        self.support_ = np.zeros(self.n_features_in_, dtype=bool)
        self.support_[ordered[:count]] = True
        self.n_selected_ = int(self.support_.sum())

    def _by_criterion(self, alive: Indices, fallen: list[Indices]) -> Indices:
        """Candidates that are left, best first, then those dropped, the last ones first."""
        alive = alive[np.argsort(-self.criterion_[alive], kind="stable")]
        return np.concatenate([alive, *reversed(fallen)])

    def _account(self, measuring: Measuring) -> None:
        self.measured_ = np.array(measuring.taken, dtype=np.int64)
        self.n_measured_ = len(measuring.taken)
        self.cost_ = float(measuring.source.costs()[measuring.taken].sum())
        self.failed_ = np.array(measuring.failed, dtype=np.int64)

    def _quality_of(self, measuring: Measuring, indices: Indices, y: Any, seed: int) -> Floats:
        """Quality of measured candidates, given each other."""
        columns = measuring.source.columns(indices)
        if len(columns) != len(y):
            raise InputError(
                f"{type(self).__name__}: expected a target with {len(columns)} values, one per row "
                f"of the measured columns, got {len(y)}. Check that source and y go together."
            )
        # A copy of a selector: what it learned on another table does not apply here.
        quality = clone(self.quality) if hasattr(self.quality, "fit") else self.quality
        return measure_quality(quality, columns, y, random_state=seed, n_jobs=self.n_jobs)

    def ranking_record(self, names: Any = None) -> Ranking:
        """Scores and order as the record that plots and reports read."""
        check_is_fitted(self, "scores_")
        names = getattr(self, "feature_names_in_", None) if names is None else names
        return Ranking(self.scores_, self.order_, np.zeros(self.scores_.size, bool), names)

    def transform(self, source: Any) -> Any:
        """Columns of the selected candidates, in the order of the candidates.

        Parameters
        ----------
        source : FeatureSource
            With the same candidates as in fit, perhaps on other rows. Columns that it does not
            know yet are measured, others are not.
        """
        check_is_fitted(self, "support_")
        source = as_source(source)
        if source.n_candidates != self.n_features_in_:
            raise InputError(
                f"{type(self).__name__}: expected a source with {self.n_features_in_} candidates, "
                f"as in fit, got {source.n_candidates}. Pass the same candidates in the same order."
            )
        return source.columns(np.flatnonzero(self.support_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.target_tags.required = self._needs_target
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class SourceRFE(SourceSelector):
    """Recursive elimination among the candidates of a source, or among some drawn at random.

    Candidates are measured first, then the worst are dropped in a few steps, with the quality found
    anew after each. Measuring all gives the result that :class:`MFPFS` aims at; measuring as many
    as `MFPFS` does, drawn at random, shows what the meta-features are worth.

    Parameters
    ----------
    n_measured : int, float or None, default=None
        How many random candidates to measure, at least as many as are selected, or which share
        of them; ``None`` means all.
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

    n_measured: float | None = None
    n_eliminations: int = 6
    quality: Any = "svm_weights"
    n_jobs: int | None = None

    _constraints: ClassVar[dict[str, Constraint]] = {
        **SourceSelector._constraints,
        "n_measured": Custom(
            lambda value: value is None or COUNT_OR_SHARE.allows(value),
            f"{COUNT_OR_SHARE.describe()}, or None for all",
        ),
        "n_eliminations": Number(int, low=1),
        "n_jobs": N_JOBS,
    }

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
        n_measured = _count_of(self.n_measured, n_candidates)
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

    _needs_target: ClassVar[bool] = False

    def _select(self, measuring: Measuring, y: Any, count: int, random: Any) -> None:
        self._rank(random.permutation(self.n_features_in_), count)
