"""Knockoffs: features that beat copies of themselves, with the false discovery rate controlled."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._ranking import Ranking
from tamis._runtime.fingerprint import data_fingerprint, fingerprint
from tamis._runtime.memory import free_memory
from tamis._runtime.seeds import as_seed, stream
from tamis._runtime.threads import effective_jobs
from tamis._runtime.warning import warn
from tamis._validation import N_JOBS, Custom, Number, check_value
from tamis.certainty._copies_done import CopiesDone
from tamis.certainty._knockoff_statistics import (
    Importances,
    LassoImportances,
    SelectorImportances,
    statistic_of,
)
from tamis.certainty._latent import sampled_deviation, some_columns
from tamis.certainty.e_values import e_bh, knockoff_e_values, knockoff_threshold
from tamis.certainty.gaussian_knockoffs import GaussianKnockoffs
from tamis.certainty.low_rank_knockoffs import LowRankKnockoffs
from tamis.certainty.rule import CONDITIONAL, CertaintyRule
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut
from tamis.exceptions import InputError

Floats = NDArray[np.float64]

# With more features, "auto" takes the sampler whose cost is linear in their number.
MOST_FOR_GAUSSIAN = 2_000
# A feature that is correlated with its copy by more has no usable copy.
TOO_SIMILAR = 0.99
# Streams of random numbers: ranks of equal values, copies, swaps and folds, the diagnosis.
RANKS, COPIES, STATISTICS, DIAGNOSIS = range(4)
N_NAMED = 5


@dataclass(frozen=True, eq=False)
class Knockoffs(CertaintyRule):
    """Keep the features that are more important than knockoff copies of themselves.

    A knockoff copy of a feature has the same relations to all other features, and none to the
    target beyond them. A feature whose importance clearly exceeds that of its copy adds something
    to all others. The false discovery rate is at most `level`, whatever the relation to the target.

    Parameters
    ----------
    level : float, default=0.1
        The false discovery rate, in (0, 1).
    n_copies : int, default=1
        Number of copies. One is the fastest and finds most where few features matter, but another
        seed may select others. Several copies are combined through e-values, which is more stable.
        At least ``1 / level`` features must be found together.
    sampler : {"auto", "gaussian", "low_rank"}, callable or sampler, default="auto"
        How copies are made: :class:`GaussianKnockoffs`, :class:`LowRankKnockoffs`, such an object
        with other settings, or a function ``(X, rng) -> copy`` of the features that are not
        constant. "auto" takes the first up to 2,000 features.
    statistic : {"lasso", "selector"} or callable, default="lasso"
        Importance of a feature: the size of its lasso coefficient at the cross-validated penalty
        (squared loss, or logistic loss for classes, one class against the others if there are more
        than two), the score of the selector fitted on features and copies, or a function
        ``(X_both, y, rng) -> importances`` of the 2 n_features columns, whose order is random.
    copy_level : float or None, default=None
        Level inside one copy, which its threshold is taken from; None takes `level` for one copy
        and half of it for several.
    random_state : int, RandomState instance or None, default=0
        Seed of the copies, the swaps and the folds.
    n_jobs : int or None, default=None
        Copies that are made at the same time; None for one per core. The result is the same.
    checkpoint : str, Path or None, default=None
        File in which finished copies are stored, so that an interrupted fit resumes; removed at the
        end. Needs an int as `random_state`.
    strata : None
        Not used: rows must be independent.
    keep, groups : optional
        As in :class:`~tamis.certainty.CertaintyRule`; groups of features only.

    Notes
    -----
    `cut_details_` holds ``W`` (copies x features), ``e_values``, ``copy_correlations`` (of each
    feature with its copies) and ``covariance_deviation``: the largest deviation of the covariance
    of a copy from what was promised (for a function, from that of the table), its standard error,
    and what sampling alone may give. Constant features are not tested: their statistic and e-value
    are 0. In expectation, the e-values of all nulls together are at most the number of tested
    features, which is what e-BH needs.

    Time per copy is that of the sampler and of the statistic on twice the columns. Memory is about
    eight tables, plus four per job; W takes 8 bytes per feature and copy.

    Missing values, sample weights (unless the selector is the statistic) and categories are errors;
    a sparse table is made dense if memory allows.

    References
    ----------
    Candes, E., Fan, Y., Janson, L. and Lv, J. (2018). Panning for gold: model-X knockoffs for high
    dimensional controlled variable selection. Journal of the Royal Statistical Society B 80(3).
    doi:10.1111/rssb.12265

    Ren, Z. and Barber, R. F. (2024). Derandomised knockoffs: leveraging e-values for false
    discovery rate control. Journal of the Royal Statistical Society B 86(1).
    doi:10.1093/jrsssb/qkad085

    Examples
    --------
    >>> import numpy as np, tamis
    >>> from tamis.certainty import Knockoffs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 60))
    >>> y = X[:, :12].sum(axis=1) + rng.normal(size=200)
    >>> selector = tamis.Correlation(n_features_to_select=Knockoffs(0.1)).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 14, 58])
    >>> selector.recut(Knockoffs(0.4)).n_selected_
    20
    """

    level: float = 0.1
    n_copies: int = 1
    sampler: Any = "auto"
    statistic: Any = "lasso"
    copy_level: float | None = None
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None
    checkpoint: str | Path | None = None

    question: ClassVar[str] = CONDITIONAL
    null_hypothesis: ClassVar[str] = (
        "the feature is independent of the target given all other features"
    )
    assumption: ClassVar[str] = (
        "rows are independent, and the sampler knows the joint distribution of the features"
    )
    guarantee: ClassVar[str] = (
        "the expected share of false discoveries among the selected features is at most the level"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_value(self.n_copies, Number(int, low=1), who=self.who, name="n_copies")
        check_value(self.sampler, SAMPLER, who=self.who, name="sampler")
        check_value(self.statistic, STATISTIC, who=self.who, name="statistic")
        check_value(self.n_jobs, N_JOBS, who=self.who, name="n_jobs")
        share = Number(float, low=0, high=1, open_low=True, open_high=True, or_none=True)
        check_value(self.copy_level, share, who=self.who, name="copy_level")
        if self.strata is not None:
            raise InputError(
                f"{self.who}: strata must be None, because nothing is permuted, got labels. Make "
                "them a feature, or use a marginal rule."
            )
        if self.checkpoint is not None and not Number(int).allows(self.random_state):
            raise InputError(
                f"{self.who}: random_state must be an int with a checkpoint, got "
                f"{self.random_state!r}, with which no fit can resume."
            )

    def settings(self) -> dict[str, Any]:
        """Parameters on which the statistics of the copies depend."""
        without = ("copy_level", "n_jobs", "checkpoint")
        return {name: value for name, value in super().settings().items() if name not in without}

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Features that pass, with the e-values at this level."""
        cut = super().find(ranking, data)
        return cut._replace(details={**cut.details, **self._at_level(cut.details)})

    def decide(self, evidence: dict[str, Any], ranking: Ranking) -> NDArray[np.bool_]:
        """Features beyond the threshold of the only copy, or those that e-BH selects."""
        W = evidence["W"]
        if len(W) == 1 and self.copy_level is None:
            return np.asarray(W[0] >= knockoff_threshold(W[0], self.level))
        tested = ~ranking.constant
        selected = np.zeros(ranking.n_columns, dtype=bool)
        selected[tested] = e_bh(self._at_level(evidence)["e_values"][tested], self.level)
        return selected

    def _at_level(self, evidence: dict[str, Any]) -> dict[str, Any]:
        level = self.copy_level or (self.level if self.n_copies == 1 else self.level / 2)
        W = evidence["W"]
        return {
            "e_values": knockoff_e_values(W, level, evidence["n_tested"]),
            "thresholds": np.array([knockoff_threshold(line, level) for line in W]),
        }

    def gather(self, ranking: Ranking, data: FitData) -> dict[str, Any]:
        """Statistics of all copies."""
        self._check_data(ranking, data)
        with one_blas_thread():
            return self._gather(ranking, data)

    def _gather(self, ranking: Ranking, data: FitData) -> dict[str, Any]:
        tested = np.flatnonzero(~ranking.constant)
        X = self._dense(data.X, tested, ranking)
        seed = as_seed(self.random_state, self.who)
        draw, deviation = self._prepare(X, seed)
        importances = self._importances(data)
        y = data.target
        done = self._copies_done(data, seed, tested.size)

        def one_copy(number: int) -> tuple[int, Floats, Floats]:
            copy = draw(stream(seed, COPIES, number))
            similar = correlations(X, copy)
            W = statistic_of(X, copy, y, importances, stream(seed, STATISTICS, number))
            return number, W, similar

        try:
            for number, W, similar in self._run(one_copy, done.pending(), data):
                done.keep(number, W, similar)
        finally:
            done.finish()
        if len(done.W) < self.n_copies:
            warn(f"{self.who}: stopped after {len(done.W)} of {self.n_copies} copies, which count.")
        return self._evidence(done, tested, ranking, deviation)

    def _evidence(
        self, done: CopiesDone, tested: NDArray[np.intp], ranking: Ranking, deviation: Any
    ) -> dict[str, Any]:
        W = np.zeros((len(done.W), ranking.n_columns))
        similar = np.ones(ranking.n_columns)
        W[:, tested] = done.W
        if len(done.W):
            similar[tested] = done.similar.mean(axis=0)
            self._warn_of_twins(similar, tested, ranking)
        return {
            "W": W,
            "n_tested": int(tested.size),
            "copy_correlations": similar,
            "covariance_deviation": deviation,
        }

    def _warn_of_twins(self, similar: Floats, tested: NDArray[np.intp], ranking: Ranking) -> None:
        twins = tested[similar[tested] > TOO_SIMILAR]
        if twins.size:
            names = ", ".join(repr(ranking.name(j)) for j in twins[:N_NAMED])
            more = f" and {twins.size - N_NAMED} more" if twins.size > N_NAMED else ""
            warn(
                f"{self.who}: {twins.size} of {tested.size} features have no usable copy, because "
                f"the others determine them: {names}{more}. They cannot be selected. Leave out "
                "duplicated and collinear columns."
            )

    def _run(self, function: Any, numbers: list[int], data: FitData) -> Iterator[Any]:
        """Results in order; copies run on threads unless the selector has its own."""
        jobs = min(effective_jobs(self.n_jobs), len(numbers))
        steps = data.selector.steps
        if jobs <= 1 or self.statistic != "lasso":
            for number in steps("copies", numbers, len(numbers)):
                yield function(number)
            return
        pool = ThreadPoolExecutor(jobs)
        try:
            yield from steps("copies", pool.map(function, numbers), len(numbers))
        finally:
            pool.shutdown(cancel_futures=True)

    def _prepare(self, X: Floats, seed: int) -> tuple[Any, Any]:
        """Function that draws copies, and how far their covariance is from what was promised."""
        sampler = self.sampler
        if isinstance(sampler, str):
            small = sampler == "gaussian" or (sampler == "auto" and X.shape[1] <= MOST_FOR_GAUSSIAN)
            sampler = GaussianKnockoffs() if small else LowRankKnockoffs()
        if hasattr(sampler, "prepare"):
            prepared = sampler.prepare(X, stream(seed, RANKS))
            return prepared.draw, prepared.deviation(stream(seed, DIAGNOSIS))

        def draw(rng: np.random.Generator) -> Floats:
            copy = np.asarray(sampler(X, rng), dtype=np.float64)
            if copy.shape != X.shape or not np.isfinite(copy).all():
                got = f"shape {copy.shape}" if copy.shape != X.shape else "NaN or inf"
                raise InputError(
                    f"{self.who}: sampler must return a finite table of shape {X.shape}, got {got}."
                )
            return copy

        rng = stream(seed, DIAGNOSIS)
        return draw, sampled_deviation(X, draw(rng), some_columns(X.shape[1], rng))

    def _importances(self, data: FitData) -> Importances:
        if self.statistic == "lasso":
            return LassoImportances(data, self.who)
        return SelectorImportances(data) if self.statistic == "selector" else self.statistic

    def _copies_done(self, data: FitData, seed: int, n_tested: int) -> CopiesDone:
        needed = 16 * self.n_copies * data.X.shape[1]
        if needed > free_memory() // 2:
            most = free_memory() // (32 * data.X.shape[1])
            raise InputError(
                f"{self.who}: n_copies must be at most {most:,}, so that the statistics of "
                f"{data.X.shape[1]:,} features fit in memory, got {self.n_copies:,}."
            )
        mark = ""
        if self.checkpoint is not None:
            statistic = data.selector if self.statistic == "selector" else self.statistic
            parts = self.settings() | {"statistic": statistic}
            mark = fingerprint(parts, seed, data_fingerprint(data.X, data.target))
        return CopiesDone(self.n_copies, n_tested, self.checkpoint, mark, self.who)

    def _check_data(self, ranking: Ranking, data: FitData) -> None:
        if self.labels_rows(ranking.n_columns):
            raise InputError(
                f"{self.who}: groups must be groups of features, got one label per row. Rows must "
                "be independent: keep one row of each group, or use a marginal rule."
            )
        if data.sample_weight is not None and self.statistic != "selector":
            raise InputError(
                f"{self.who}: expected no sample_weight, got some, which the statistic "
                f"{self.statistic!r} does not use. Fit without, or use statistic='selector'."
            )
        codes = getattr(data.selector, "column_codes_", {})
        named = [name for name, code in codes.items() if code is not None]
        if named and isinstance(self.sampler, str):
            raise InputError(
                f"{self.who}: expected numbers, got categories or dates in column {named[0]!r}, "
                "which no Gaussian copy can replace. Encode them as numbers, or pass a sampler of "
                "your own."
            )

    def _dense(self, X: Any, tested: NDArray[np.intp], ranking: Ranking) -> Floats:
        """The columns to be tested as finite float64 numbers, by columns."""
        needed = 8 * X.shape[0] * tested.size * 12
        if needed > free_memory():
            raise InputError(
                f"{self.who}: expected a table whose copies fit in memory, got {X.shape[0]:,} x "
                f"{tested.size:,}, for which about {needed / 2**30:.1f} GiB are needed. Select "
                "fewer features first, on other rows."
            )
        X = X[:, tested]
        table = np.array(X.toarray() if sparse.issparse(X) else X, dtype=np.float64, order="F")
        bad = np.flatnonzero(~np.isfinite(table).all(axis=0))
        if bad.size:
            raise InputError(
                f"{self.who}: expected no missing values, got some in column "
                f"{ranking.name(tested[bad[0]])!r} ({bad.size} such columns). Impute them first, "
                "or leave these columns out."
            )
        return table


SAMPLER = Custom(
    lambda value: (
        value in ("auto", "gaussian", "low_rank") if isinstance(value, str) else callable(value)
    ),
    "'auto', 'gaussian', 'low_rank', a sampler or a function (X, rng) -> copy",
)
STATISTIC = Custom(
    lambda value: value in ("lasso", "selector") if isinstance(value, str) else callable(value),
    "'lasso', 'selector' or a function (X_both, y, rng) -> importances",
)


def correlations(X: Floats, copy: Floats) -> Floats:
    """Correlation of every column with its copy; 1 where either is constant."""
    a, b = X - X.mean(axis=0), copy - copy.mean(axis=0)
    product = np.einsum("ij,ij->j", a, b)
    size = np.sqrt(np.einsum("ij,ij->j", a, a) * np.einsum("ij,ij->j", b, b))
    return np.asarray(np.where(size > 0, product / np.where(size > 0, size, 1), 1.0))


def one_blas_thread() -> Any:
    """So that results do not depend on the number of jobs, nor jobs wait for each other."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, user_api="blas")
