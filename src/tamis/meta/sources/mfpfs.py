"""MFPFS: drop candidates that their properties tell to be bad, and measure few of the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from tamis._runtime.seeds import draw_seed
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Choice, Constraint, Custom, Number
from tamis.meta._meta_encoder import read_columns
from tamis.meta.quality_map import REGRESSOR, QualityMap
from tamis.meta.sources.meta_table import take_rows
from tamis.meta.sources.source_selectors import COUNT_OR_SHARE, Indices, Measuring, SourceSelector

Floats = NDArray[np.float64]
# A map of one point could not tell anything apart.
LEAST_DRAWN = 2


@dataclass(kw_only=True, eq=False, repr=False)
class MFPFS(SourceSelector):
    """Meta-feature based predictive feature selection.

    For candidates that are expensive to measure and whose properties (meta-features) are
    known beforehand. Each round measures a few random candidates, learns from them which
    properties make a candidate good, predicts the quality of all that are left, and drops the
    worst half. Of ten candidates for each one selected it measures about one in four.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.1
        How many candidates, or which share of them. More than there are keeps all, with a warning.
    alphas : sequence of float, default=(0.4, 0.8, 1.0, 1.2)
        Candidates drawn in each round, as a multiple of the number to select; the last one is
        used again if there are more rounds. At least 2 are drawn, and at most all that are left.
    drop : float, default=0.5
        Share of the candidates dropped in a round; at least one goes.
    quality : str, callable or estimator, default="svm_weights"
        How good measured candidates are, found anew in each round; see :func:`measure_quality`.
    regressor : regressor, QualityMap or None, default=None
        Learns quality from meta-features; ``None`` is the default of :class:`QualityMap`.
    reuse : bool, default=True
        Whether a draw takes candidates first that are left and measured already, and fills up with
        new ones; ``False`` draws from all that are left alike.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.
    n_jobs : int or None, default=None
        Threads for the quality; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    n_measured_, cost_ : int, float
        Number of candidates measured, the selected ones included, and their total cost.
    measured_, failed_ : ndarray of int
        The measured candidates, in this order, and those that could not be measured.
    history_ : list of dict
        For every round `alpha`, `n_candidates` (at its start), `n_drawn`, `n_new` (not measured
        before), `n_failed`, `n_dropped`, `n_left`, `cost` of the new ones, `correlation` of the map
        and `drawn`, the indices.
    quality_map_ : QualityMap or None
        The map of the last round.
    criterion_ : ndarray of shape (n_candidates,)
        Quality predicted in the last round that a candidate took part in; NaN without one.
    scores_ : ndarray of shape (n_candidates,)
        Number of candidates for the best, and one less for each that follows: first those
        selected, then those dropped in the last round, and so on; of one round by predicted
        quality, of equal quality by lower index. 0 for those that failed.
    order_, ranking_, support_, n_selected_, n_features_in_, feature_names_in_
        As for every selector.

    Notes
    -----
    Algorithm 2 of the paper. The map of a round learns from the candidates drawn in this round
    only, as printed: the quality of a candidate depends on the others, and candidates that were
    dropped no longer count. With ``reuse=False`` draws are independent of each other, as the text
    of the paper says, and of 10 n candidates about 2.6 n are measured with the default schedule;
    with ``reuse=True`` about 2.4 n. See :doc:`/families/meta` for departures from the paper.

    No candidate is measured twice. Selected candidates that no round has drawn are measured at the
    end, so that `n_measured_` and `cost_` tell the whole price. A candidate that cannot be measured
    is left out with a warning and another one takes its place. Columns that the source knows from
    an earlier run are used and counted, but not measured again: an interrupted run resumes where
    it was if it is started again with the same seed.

    References
    ----------
    Krupka, E., Navot, A. and Tishby, N. (2008). Learning to select features using their
    properties. Journal of Machine Learning Research 9, 2349-2376.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import MFPFS, ArraySource
    >>> random = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> place = np.linspace(0, 1, 400)  # columns in the middle tell the classes apart
    >>> X = random.normal(size=(100, 400)) + np.outer(y, np.exp(-((place - 0.5) ** 2) / 0.005))
    >>> source = ArraySource(X, place.reshape(-1, 1))
    >>> selector = MFPFS(n_features_to_select=40, random_state=0).fit(source, y)
    >>> bool(np.abs(place[selector.support_] - 0.5).mean() < 0.1), selector.n_measured_ < 110
    (True, True)
    """

    alphas: Any = (0.4, 0.8, 1.0, 1.2)
    drop: float = 0.5
    quality: Any = "svm_weights"
    regressor: Any = None
    reuse: bool = True
    n_jobs: int | None = None

    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_features_to_select": COUNT_OR_SHARE,
        "alphas": Custom(
            lambda value: (
                np.ndim(value) == 1
                and len(value) > 0
                and all(Number(float, 0, np.inf, True, True).allows(alpha) for alpha in value)
            ),
            "a sequence of numbers above 0",
        ),
        "drop": Number(float, low=0, high=1, open_low=True, open_high=True),
        "regressor": REGRESSOR,
        "reuse": Choice((False, True)),
        "n_jobs": N_JOBS,
    }

    def _keep_all(self, count: int) -> None:
        super()._keep_all(count)
        self.quality_map_: Any = None

    def _select(self, measuring: Measuring, y: Any, count: int, random: Any) -> None:
        seed = draw_seed(random)
        # Errors in the properties are reported before anything is paid for.
        read_columns(measuring.source.meta, type(self).__name__)
        self.quality_map_ = None
        alive, fallen = np.arange(self.n_features_in_), []
        n_rounds = _count_rounds(alive.size, count, self.drop)
        try:
            for number in self.steps("rounds", range(n_rounds), n_rounds):
                if alive.size == count:  # failures have done the rest
                    break
                drawn = self._draw(measuring, alive, number, count, random)
                alive = alive[~np.isin(alive, measuring.failed)]
                measuring.require(alive.size, count, type(self).__name__)
                best = self._judge(measuring, alive, drawn, y, seed)
                n_left = _after(best.size, count, self.drop)
                self.history_[number].update(
                    n_dropped=best.size - n_left, n_left=n_left, drawn=drawn,
                    correlation=self.quality_map_.correlation_,
                )  # fmt: skip
                fallen.append(best[n_left:])
                alive = np.sort(best[:n_left])
        except KeyboardInterrupt:
            self._keep_unfinished(measuring, alive, fallen)
            raise
        self._finish(measuring, alive, fallen, count)

    def _draw(
        self, measuring: Measuring, alive: Indices, number: int, count: int, random: Any
    ) -> Indices:
        """Random candidates of a round, measured."""
        alpha = self.alphas[min(number, len(self.alphas) - 1)]
        wanted, before = random.permutation(alive), measuring.taken
        if self.reuse:
            known = np.isin(wanted, before)
            wanted = np.concatenate([wanted[known], wanted[~known]])
        n_drawn = max(LEAST_DRAWN, math.floor(alpha * count + 0.5))
        n_failed = len(measuring.failed)
        drawn = measuring.measure(wanted, n_drawn)
        new = drawn[~np.isin(drawn, before)]
        cost = float(measuring.source.costs()[new].sum())
        self.history_.append({
            "alpha": float(alpha), "n_candidates": alive.size, "n_drawn": drawn.size,
            "n_new": new.size, "n_failed": len(measuring.failed) - n_failed, "cost": cost,
        })  # fmt: skip
        return drawn

    def _judge(
        self, measuring: Measuring, alive: Indices, drawn: Indices, y: Any, seed: int
    ) -> Indices:
        """Candidates left, best first, by the map learned from those drawn."""
        meta = measuring.source.meta
        quality = self._quality_of(measuring, drawn, y, seed)
        quality_map = QualityMap(regressor=self.regressor)
        if isinstance(self.regressor, QualityMap):
            quality_map = clone(self.regressor)
        if quality_map.random_state is None:
            quality_map.set_params(random_state=seed)
        self.quality_map_ = quality_map.fit(take_rows(meta, drawn), quality)
        self.criterion_[alive] = self.quality_map_.predict(take_rows(meta, alive))
        return self._by_criterion(alive, [])

    def _finish(
        self, measuring: Measuring, alive: Indices, fallen: list[Indices], count: int
    ) -> None:
        """Take those of highest predicted quality that can be measured."""
        ordered = self._by_criterion(alive, fallen)
        chosen = measuring.measure(ordered, count)
        n_good = self.n_features_in_ - len(set(measuring.failed))
        measuring.require(n_good, count, type(self).__name__)
        rest = ordered[~np.isin(ordered, [*measuring.failed, *chosen])]
        self._rank(np.concatenate([chosen, rest]), count)

    def _keep_unfinished(self, measuring: Measuring, alive: Indices, fallen: list[Indices]) -> None:
        """Rank by the rounds that were done, and keep all candidates that they left."""
        if not fallen:
            return
        self.history_ = self.history_[: len(fallen)]
        self._account(measuring)
        self._rank(self._by_criterion(alive, fallen), alive.size)
        warn(
            f"{type(self).__name__}: stopped after {len(fallen)} rounds; the {alive.size} "
            "candidates that were left are kept, and what was measured is known to the source."
        )


def _after(n_left: int, n_wanted: int, drop: float) -> int:
    """Candidates left by a round; 0.29 * 100 is 28.999999999999996, and 29 go."""
    return max(n_wanted, n_left - max(1, math.floor(drop * n_left + 1e-9)))


def _count_rounds(n_left: int, n_wanted: int, drop: float) -> int:
    """Rounds of the algorithm if no measurement fails."""
    rounds = 0
    while n_left > n_wanted:
        n_left = _after(n_left, n_wanted, drop)
        rounds += 1
    return rounds
