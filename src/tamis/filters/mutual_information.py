"""MutualInformation: what a column tells about the target, by bins, neighbours or a posterior."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tamis._base import Scores
from tamis._binned import BINS
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._runtime.compilation import announce_compilation
from tamis._runtime.seeds import as_seed, stream
from tamis._runtime.threads import effective_jobs, run_parts
from tamis._validation import N_JOBS, Choice, Constraint, Custom, Number
from tamis.data.partitioned import check_in_memory
from tamis.data.target import Target
from tamis.data.task import TASK
from tamis.exceptions import InputError
from tamis.filters import information
from tamis.passes import MemoryEngine
from tamis.passes.engine import Levels
from tamis.statistics import ClassHistogram
from tamis.statistics.permuted import complete
from tamis.statistics.permuted_counts import MOST_BINS, PermutedGains

Floats = NDArray[np.float64]

# Size of the noise that breaks ties, in units of a column's deviation (Kraskov et al.).
NOISE = 1e-10
# Cells and columns that a thread takes at a time, and such parts between two looks at callbacks.
PART_CELLS = 2**16
PART_COLUMNS = 128
PARTS_PER_STEP = 16


# A numeric target for the neighbour search: as given, its deviation, scaled with noise, its order.
ScaledTarget = tuple[Floats, float, Floats, NDArray[np.int64]]


@dataclass(kw_only=True, eq=False, repr=False)
class MutualInformation(information.InformationSelector):
    """Mutual information of every column and the target, in nats.

    It is 0 for a column that is independent of the target, and finds dependence of any shape. Four
    estimators of it: counts in equal bins, which is fast and takes weights; distances to nearest
    neighbours, as in scikit-learn, for smooth numeric columns and some hundred rows or more; and
    the mean or a lower credible value of its posterior distribution, for columns with few rows.

    Parameters
    ----------
    estimator : {"binned", "knn", "posterior_mean", "lower_credible"}, default="binned"
        ``"binned"`` takes the shares of classes in bins as they are. ``"knn"`` is the estimate of
        `mutual_info_classif` and `mutual_info_regression` of scikit-learn.
        ``"posterior_mean"`` and ``"lower_credible"`` add prior counts to those of the bins.
    n_bins : int, default=16
        Number of bins of a column, and of bins with equal shares of rows of a numeric target; not
        used by ``"knn"``.
    bins : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equal shares of the rows: then an outlier moves no other value
        to another bin, and scores depend on the order of the values only. Quantiles need a table
        in memory.
    n_neighbors : int, default=3
        Neighbours for ``"knn"``; more of them mean less variance and more bias.
    level : float, default=0.95
        Probability with which the mutual information lies above the ``"lower_credible"`` value.
    prior : {"jeffreys", "perks", "uniform"} or float, default="jeffreys"
        Prior count of every cell of the table of occupied bins and classes: 1/2, one shared by
        all cells, 1, or a number of your own.
    task : {"auto", "classification", "regression"}, default="auto"
        ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    discrete_features : "auto", bool or array-like, default="auto"
        Columns whose values ``"knn"`` takes as categories: all or none, a mask, or indices.
        ``"auto"`` means all of a sparse and none of a dense table.
    random_state : int, RandomState or None, default=None
        Seed of the small noise by which ``"knn"`` breaks ties. The noise of a column follows from
        the seed and its own values: neither its position nor other columns matter.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="auto"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The estimate in nats (divide by log 2 for bits), not negative.
    standard_error_ : ndarray of shape (n_features,)
        Posterior standard deviation; only for ``"posterior_mean"`` and ``"lower_credible"``.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target, unless it is numeric.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Missing values take no part: a column is scored by its observed rows.

    Bins: O(n_samples n_features) time in two passes, sparse zeros are counted unvisited. With r
    bins, s classes and n rows, pure noise scores about (r - 1) (s - 1) / 2n under ``"binned"``: use
    fewer bins for few rows. Weights need not be whole; only their ratios matter to ``"binned"``,
    whereas to the posterior a weight of 2 is the evidence of two rows. Bins without any row are no
    outcomes and get no prior count. The mean is exact; the variance has two orders of 1/n, and a
    Beta distribution with both moments gives the credible value. A tiny prior count (``"perks"``
    with many cells) leaves only the first order of the variance usable.

    Neighbours: O(n_samples log(n_samples) n_features) time for classes; for a numeric target about
    sqrt(n_samples) points are looked at for each, more where values repeat. Sparse columns are made
    dense some at a time. Equal to scikit-learn to rounding where values do not repeat; ties are
    broken by other noise, which an offset of the column does not enlarge. Constant columns score 0,
    columns of tiny scale are scaled too, `n_neighbors` is cut to what a table offers, sparse
    columns may be continuous, and cells may be missing. Unequal weights are an error.

    References
    ----------
    Ross, B. C. (2014). Mutual information between discrete and continuous data sets. PLoS ONE
    9(2), e87357. https://doi.org/10.1371/journal.pone.0087357

    Kraskov, A., Stögbauer, H. and Grassberger, P. (2004). Estimating mutual information. Physical
    Review E 69, 066138. https://doi.org/10.1103/PhysRevE.69.066138

    Zaffalon, M. and Hutter, M. (2002). Robust feature selection by mutual information
    distributions. UAI, 577-584. https://arxiv.org/abs/cs/0206006

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import MutualInformation
    >>> X, y = load_iris(return_X_y=True)
    >>> MutualInformation().fit(X, y).scores_.round(2)
    array([0.54, 0.32, 0.97, 0.99])
    >>> selector = MutualInformation(estimator="lower_credible", n_features_to_select=2)
    >>> selector.fit(X, y).get_support()
    array([False, False,  True,  True])
    """

    estimator: str = "binned"
    n_bins: int = 16
    bins: str = "uniform"
    n_neighbors: int = 3
    level: float = 0.95
    prior: str | float = "jeffreys"
    task: str = "auto"
    discrete_features: Any = "auto"
    random_state: Any = None
    n_features_to_select: Any = "auto"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Mutual information with the target: binned, nearest-neighbour or Bayesian.",
        tasks=BOTH_TASKS,
        cost="T n + n B K; knn T log T n",
        reference="Zaffalon and Hutter 2002, Ross 2014",
        nonlinear="yes",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        "estimator": Choice(("binned", "knn", "posterior_mean", "lower_credible")),
        "n_bins": Number(int, low=2, high=1_000_000),
        "bins": BINS,
        "n_neighbors": Number(int, low=1),
        "level": Number(float, low=0, high=1, open_low=True, open_high=True),
        "prior": Custom(
            lambda value: (
                Choice(("jeffreys", "perks", "uniform")).allows(value)
                or Number(float, low=0, open_low=True).allows(value)
            ),
            "'jeffreys', 'perks', 'uniform' or a float above 0",
        ),
        "task": TASK,
        "discrete_features": Custom(
            lambda value: (
                value == "auto"
                if isinstance(value, str)
                else isinstance(value, bool | np.bool_) or hasattr(value, "__len__")
            ),
            "'auto', a bool, a mask or column indices",
        ),
        "n_jobs": N_JOBS,
    }

    def _levels(self) -> Levels:
        return partial(information.equal_shares, n_bins=self.n_bins)

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        if self.estimator == "knn":
            return self._score_by_neighbours(X, y, weight)
        return super()._score(X, y, weight)

    def _score_by_neighbours(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        check_in_memory(X, type(self).__name__, "estimator='knn'", "estimator='binned'")
        outcome = Target.of(y, self.task, weight, X.shape[0], type(self).__name__)
        self._note_target(outcome)
        ranges = self._ranges_of(self._find_ranges(MemoryEngine(X, None, weight)))
        if weight is not None:
            used = weight[weight > 0]
            if used.min() < used.max():
                raise InputError(
                    f"{type(self).__name__}: estimator='knn' expected rows of equal weight, "
                    "because a neighbour counts or does not, got a sample_weight from "
                    f"{used.min():g} to {used.max():g}. Use estimator='binned', or leave out "
                    "sample_weight."
                )
            if used.size < weight.size:
                parts: Any = (None if part is None else part[weight > 0] for part in outcome[1:])
                X, outcome = X[weight > 0], Target(outcome.classes, *parts)
        scores = self._neighbour_scores(X, outcome, ranges)
        return np.where(ranges.constant, 0.0, scores), ranges.constant

    def _finish(self, statistic: ClassHistogram, constant: NDArray[np.bool_]) -> Floats:
        counts = self._counts(statistic)
        if self.estimator == "binned":
            return information.over_columns(information.plug_in, counts)

        def moments(part: Floats) -> Floats:
            return np.array(information.posterior(information.with_prior(part, self.prior)))

        posterior = information.Posterior(*information.over_columns(moments, counts))
        self.standard_error_ = np.sqrt(posterior.variance)
        if self.estimator == "posterior_mean":
            return posterior.mean
        return information.lower_credible(posterior, self.level)

    def _may_have_law(self) -> bool:
        return self.estimator == "binned"

    def _law_p_values(self) -> Floats | None:
        if self.estimator != "binned":
            return None
        return self._law.p_values(self.scores_, self._unit_weight)

    def _permuted(self, X: Any, y: Any, weight: Floats | None) -> PermutedGains | None:
        if (
            self.estimator != "binned"
            or self.n_bins > MOST_BINS
            or not complete(X, weight, self.n_jobs)
        ):
            return None
        outcome = Target.of(y, self.task_, weight, X.shape[0], type(self).__name__)
        codes: Any = outcome.codes
        if outcome.values is not None:
            codes = information.equal_shares(outcome.values, None, self.n_bins)
        return self._permuted_information(X, codes, 1.0)

    def _neighbour_scores(self, X: Any, outcome: Target, ranges: Any) -> Floats:
        """Estimates by nearest neighbours, some columns at a time."""
        from scipy.special import psi

        n_rows, n_columns = X.shape
        discrete = self._discrete_columns(X)
        seed = as_seed(self.random_state, type(self).__name__)
        target = None if outcome.values is None else _scaled_target(outcome.values, seed)
        with np.errstate(divide="ignore"):
            digamma = psi(np.arange(n_rows + 1.0))
        X = X.tocsc() if sparse.issparse(X) else X
        scores = np.zeros(n_columns)

        def work(columns: NDArray[np.intp]) -> None:
            table, is_discrete = _dense_columns(X, columns), bool(discrete[columns[0]])
            if not is_discrete:
                high = np.maximum(-ranges.low, ranges.high)[columns]
                table = _scaled(table, high, seed)
            kernel, rest = _kernel(is_discrete, outcome, target)
            if not (is_discrete and target is None):
                rest = (*rest, min(self.n_neighbors, n_rows), digamma)
            by_column, result = np.ascontiguousarray(table.T), np.empty(columns.size)
            with announce_compilation(kernel):
                kernel(by_column, np.argsort(by_column, axis=1), *rest, result)
            scores[columns] = result

        parts = _parts(discrete, ranges.constant, n_rows)
        threads = effective_jobs(self.n_jobs)
        firsts = range(0, len(parts), PARTS_PER_STEP)
        for first in self.steps("columns", firsts, len(firsts)):
            run_parts(work, parts[first : first + PARTS_PER_STEP], threads)
        return scores

    def _discrete_columns(self, X: Any) -> NDArray[np.bool_]:
        """Mask of the columns whose values are categories."""
        given, n_columns = self.discrete_features, X.shape[1]
        if isinstance(given, str):
            given = bool(sparse.issparse(X))
        given = np.asarray(given)
        if given.dtype == bool and given.shape in ((), (n_columns,)):
            return np.full(n_columns, given)
        mask = np.zeros(n_columns, dtype=bool)
        whole = given.ndim == 1 and (given.dtype.kind in "iu" or given.size == 0)
        if not whole or (given.size and not (-n_columns <= given.min() <= given.max() < n_columns)):
            raise InputError(
                f"{type(self).__name__}: discrete_features must be 'auto', a bool, a mask of "
                f"{n_columns} values or column indices below {n_columns}, got "
                f"{self.discrete_features!r}."
            )
        mask[given.astype(np.intp)] = True
        return mask


def _kernel(
    discrete: bool, outcome: Target, target: ScaledTarget | None
) -> tuple[Any, tuple[Any, ...]]:
    """Kernel for columns of one kind and the kind of the target, and what it has to know of it."""
    from tamis.filters import _knn_kernels as kernels

    if target is None:
        kernel = kernels.values_with_classes if discrete else kernels.numbers_with_classes
        return kernel, (outcome.codes, outcome.n_classes)
    if discrete:
        return kernels.values_with_numbers, target[2:]
    return kernels.numbers_with_numbers, target


def _parts(
    discrete: NDArray[np.bool_], constant: NDArray[np.bool_], n_rows: int
) -> list[tuple[NDArray[np.intp]]]:
    """Columns of one kind, a few at a time; those that never vary are left out."""
    width = max(1, min(PART_COLUMNS, PART_CELLS // n_rows))
    kinds = [np.flatnonzero(kind & ~constant) for kind in (discrete, ~discrete)]
    return [(some[a : a + width],) for some in kinds for a in range(0, some.size, width)]


def _dense_columns(X: Any, columns: NDArray[np.intp]) -> Floats:
    # Column-major, so that sums run in scikit-learn's order and agree to the last bit.
    table = X[:, columns]
    table = table.toarray() if sparse.issparse(table) else table
    return np.asarray(table, dtype=np.float64, order="F")


def _scaled(table: Floats, high: Floats, seed: int) -> Floats:
    """Centred columns in units of their deviation, plus noise that breaks ties."""
    # A power of two changes no digit, and keeps the squares of tiny and huge values in range.
    exponent = np.clip(np.frexp(high)[1], -1000, 1000)
    noise = np.column_stack([noise_of(column, seed) for column in table.T])
    table = table * np.ldexp(1.0, -exponent)
    # Noise is small beside the deviation, so an offset must not take its digits.
    table -= np.nanmean(table, axis=0)
    spread = np.nanstd(table, axis=0)
    table /= np.where(spread > 0, spread, 1.0)
    table += NOISE * noise
    return table


def _scaled_target(values: Floats, seed: int) -> ScaledTarget:
    scaled = values - values.mean()
    spread = float(np.std(scaled))
    spread = spread if spread > 0 else 1.0
    scaled /= spread
    scaled += NOISE * noise_of(values, seed)
    return values, spread, scaled, np.argsort(scaled)


def noise_of(values: Floats, seed: int) -> Floats:
    """Random numbers for one column that depend on a seed and its values, and nothing else."""
    plain = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and no minus zero
    digest = hashlib.blake2b(plain.tobytes(), digest_size=16).digest()
    return stream(seed, *np.frombuffer(digest, np.uint32).tolist()).standard_normal(values.size)
