"""ReliefF: columns in which near rows of other classes differ and those of one class agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tamis._base import BaseSelector, Scores
from tamis._columns import find_constant, turned_columns
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._margin_weights import margin_vectors, weights_of_margins
from tamis._runtime.compilation import announce_compilation
from tamis._runtime.memory import as_bytes
from tamis._validation import MEMORY_LIMIT, N_JOBS, Choice, Constraint, Custom, Number
from tamis.data import checks
from tamis.data.target import Target
from tamis.data.task import TASK
from tamis.exceptions import InputError
from tamis.filters._distances import (
    Columns,
    add_differences,
    distance_blocks,
    nearest_rows,
    scale_to_unit,
)
from tamis.filters._permuted_pairs import PermutedPairs, split_by_target

Floats = NDArray[np.float64]

# Bytes that the differences of all pairs of rows may take, for permuted targets.
MOST_PAIR_BYTES = 2**28
# What a pair of near rows takes while its differences are added.
BYTES_PER_PAIR = 48


@dataclass(kw_only=True, eq=False, repr=False)
class ReliefF(BaseSelector):
    """ReliefF and RReliefF: columns that tell near rows of different targets apart.

    Every row looks at its nearest rows of the same class (hits) and of every other class (misses).
    A column scores by how much it differs from the misses less how much it differs from the hits.
    Nearness is judged in all columns together, so columns that matter only jointly (such as both
    inputs of an exclusive or) are found.

    Parameters
    ----------
    n_neighbors : int, default=10
        Hits, and misses of every other class, per row; for a numeric target nearest rows. Where a
        class has fewer, what there is.
    discrete_features : "auto", bool, or array-like of bool, int or str, default="auto"
        Columns whose values are equal or not, with nothing between: a mask, positions or names;
        True or False for all or none. ``"auto"`` takes columns with at most `discrete_threshold`
        different values which on average are held by two rows or more.
    discrete_threshold : int, default=10
        See `discrete_features`.
    n_samples : int or None, default=None
        Rows whose neighbours are looked at, drawn without repetition; ``None`` means all.
    sample_weighting : bool, default=False
        Weigh rows by how usual their margin is, for steadier scores from few rows; needs classes.
    task : {"auto", "classification", "regression"}, default="auto"
        ``"auto"`` infers it (:func:`tamis.data.infer_task`).
    memory_limit : int, float, str or None, default=None
        Bytes for the distances held at a time; ``None`` means a quarter of the free memory.
    random_state : int, RandomState instance or None, default=None
        Draws the rows if `n_samples` is given.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="auto"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        In [-1, 1]; about 0 or below for columns without use.
    discrete_ : ndarray of bool of shape (n_features,)
        Columns that were taken as discrete.
    classes_ : ndarray of shape (n_classes,)
        Labels; only for classes.
    sample_weights_ : ndarray of shape (n_samples,)
        Weights of the rows, summing to their number; only with `sample_weighting`.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    The difference of two rows in a column is the distance as a share of the column's range, or 0
    and 1 for equal and unequal discrete values. The distance of two rows is the sum over columns.
    Classes: ``score = mean over rows of (sum over other classes c of P(c) / (1 - P(own)) times the
    mean difference to the misses in c, less the mean difference to the hits)``. A row alone in
    its class has no hit and is left out, but can be a miss of others. Numbers: RReliefF with
    equally weighted neighbours.

    Rows that tie for the last of the k places (distances within 1e-12 of each other) share them, so
    the order of the rows does not matter. Missing cells: distances are means over the columns that
    both rows have; in a column, a row's means are over the hits and misses with both cells, 0 if
    there are none of either. For a numeric target, means are over all pairs with both cells, times
    the share of these pairs. Constant columns take no part and get the lowest score.

    Time: n_samples n_rows n_features, half of it with all rows in one block. Memory: a float64
    copy of the table, and blocks of distances within `memory_limit`. Sparse tables are made dense.

    References
    ----------
    Kononenko, I. (1994). Estimating attributes: analysis and extensions of RELIEF. ECML.
    https://doi.org/10.1007/3-540-57868-4_57

    Robnik-Sikonja, M. and Kononenko, I. (2003). Theoretical and empirical analysis of ReliefF and
    RReliefF. Machine Learning, 53, 23-69. https://doi.org/10.1023/A:1025667309714

    Yu, L., Han, Y. and Berens, M. E. (2012). Stable gene selection from microarray data via sample
    weighting. IEEE/ACM Transactions on Computational Biology and Bioinformatics, 9(1), 262-272.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import ReliefF
    >>> X = np.random.default_rng(0).integers(0, 2, size=(200, 5))
    >>> y = X[:, 0] ^ X[:, 1]  # neither column says anything by itself
    >>> ReliefF(n_features_to_select=2).fit(X, y).get_support()
    array([ True,  True, False, False, False])
    """

    n_neighbors: int = 10
    discrete_features: Any = "auto"
    discrete_threshold: int = 10
    n_samples: int | None = None
    sample_weighting: bool = False
    task: str = "auto"
    memory_limit: float | str | None = None
    random_state: Any = None
    n_features_to_select: Any = "auto"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Difference between nearest neighbours of other classes and of the same class.",
        tasks=BOTH_TASKS,
        cost="T^2 n",
        reference="Kononenko 1994",
        scope="one at a time, neighbours by all",
        nonlinear="yes",
        scaling="no, scaled to ranges",
    )

    _n_stages: ClassVar[int | None] = 1
    _constraints: ClassVar[dict[str, Constraint]] = {
        "n_neighbors": Number(int, low=1),
        "discrete_features": Custom(
            lambda value: (
                value is not None and (not isinstance(value, str) or value == "auto")
                and (isinstance(value, bool | str) or np.iterable(value))
            ),
            "'auto', True, False, or a mask, positions or names of columns",
        ),
        "discrete_threshold": Number(int, low=1),
        "n_samples": Number(int, low=1, or_none=True),
        "sample_weighting": Choice((True, False)),
        "task": TASK,
        "memory_limit": MEMORY_LIMIT,
        "n_jobs": N_JOBS,
    }  # fmt: skip

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        outcome = Target.of(y, self.task, None, X.shape[0], type(self).__name__)
        self._note_target(outcome)
        self._check_together(outcome)
        constant = find_constant(self, X, None)
        scores = np.zeros(constant.size)
        if constant.all():
            return scores, constant
        columns = self._columns(X, np.flatnonzero(~constant))
        rows, row_weight = self._sample(columns, outcome)
        scores[columns.origin] = self._add_up(columns, rows, row_weight, outcome)
        scores[constant] = min(float(scores.min()), 0.0)
        return scores, constant

    def _order_work(self, X: Any) -> int:
        return int(X.shape[0]) ** 2

    def _permuted(self, X: Any, y: Any, weight: Floats | None) -> PermutedPairs | None:
        n_rows, n_columns = X.shape
        fixed = self.n_samples is None and not self.sample_weighting
        room = 4 * n_rows * (n_rows - 1) // 2 * n_columns
        if not fixed or room > as_bytes(self.memory_limit) or room > MOST_PAIR_BYTES:
            return None
        columns = self._columns(X, np.flatnonzero(~self.constant_))
        if columns.holes:
            return None
        outcome = Target.of(y, self.task_, None, n_rows, type(self).__name__)
        return PermutedPairs(columns, outcome, self.n_neighbors, n_columns, self.n_jobs)

    def _check_together(self, outcome: Target) -> None:
        who = type(self).__name__
        if outcome.codes is None and self.sample_weighting:
            raise InputError(
                f"{who}: expected classes with sample_weighting=True, got a numeric target, "
                "which has no margin. Set sample_weighting=False, or task='classification'."
            )
        if outcome.codes is not None and np.bincount(outcome.codes).max() < 2:
            raise InputError(
                f"{who}: expected a class with at least two rows, got {outcome.n_classes} classes "
                "of one row each. Set task='regression' if the target is a number."
            )

    def _columns(self, X: Any, varies: NDArray[np.intp]) -> Columns:
        """The columns that vary, scaled, the discrete ones last."""
        values = turned_columns(X, varies)
        discrete = self._find_discrete(values, varies, X.shape[1])
        self.discrete_ = np.zeros(X.shape[1], dtype=bool)
        self.discrete_[varies[discrete]] = True
        if discrete.any() and not discrete.all():
            order = np.argsort(discrete, kind="stable")
            values, varies = values[order], varies[order]
        return Columns(values, varies, int((~discrete).sum()), scale_to_unit(values))

    def _find_discrete(
        self, values: Floats, varies: NDArray[np.intp], n_columns: int
    ) -> NDArray[np.bool_]:
        from tamis.filters import _relief_kernels as kernels

        if not isinstance(self.discrete_features, str):
            return self._named_columns(np.asarray(self.discrete_features), n_columns)[varies]
        count = np.empty(varies.size, dtype=np.int64)
        with announce_compilation(kernels.count_distinct):
            kernels.count_distinct(values, self.discrete_threshold, count)
        few: NDArray[np.bool_] = count <= self.discrete_threshold
        few[few] = 2 * count[few] <= (~np.isnan(values[few])).sum(axis=1)
        return few

    def _named_columns(self, wanted: NDArray[Any], n_columns: int) -> NDArray[np.bool_]:
        if wanted.dtype == bool and wanted.shape in ((), (n_columns,)):
            return np.full(n_columns, wanted)
        names = checks.names_of(self)
        if wanted.ndim == 1 and wanted.dtype.kind in "UO" and names is not None:
            positions = {name: j for j, name in enumerate(names)}
            wanted = np.array([positions.get(name, n_columns) for name in wanted], dtype=np.intp)
        fits = wanted.ndim == 1 and (wanted.dtype.kind in "iu" or wanted.size == 0)
        if not fits or ((wanted < -n_columns) | (wanted >= n_columns)).any():
            raise InputError(
                f"{type(self).__name__}: discrete_features must be 'auto', True, False, or a mask, "
                f"positions or names of the {n_columns} columns, got {self.discrete_features!r}."
            )
        mask = np.zeros(n_columns, dtype=bool)
        mask[wanted.astype(np.intp)] = True
        return mask

    def _sample(self, columns: Columns, outcome: Target) -> tuple[NDArray[np.intp], Floats]:
        """Rows whose neighbours are looked at, and the weight of each."""
        n_rows = columns.values.shape[1]
        rows, weight = np.arange(n_rows), np.ones(n_rows)
        if outcome.codes is not None:
            if self.sample_weighting:
                weight = weights_of_margins(margins_of(columns, outcome.codes, self.n_jobs))
                self.sample_weights_ = weight.copy()
            weight[np.bincount(outcome.codes)[outcome.codes] == 1] = 0.0
        useful = np.flatnonzero(weight)
        if self.n_samples is not None and self.n_samples < useful.size:
            random = check_random_state(self.random_state)
            rows = np.sort(random.choice(useful, self.n_samples, replace=False))
        return rows, weight[rows]

    def _add_up(
        self, columns: Columns, rows: NDArray[np.intp], row_weight: Floats, outcome: Target
    ) -> Floats:
        """Scores of the columns from the pairs of near rows, block by block."""
        n_columns, n_rows = columns.values.shape
        limit = as_bytes(self.memory_limit)
        height = max(1, limit // (8 * (n_rows * (2 if columns.holes else 1) + n_columns)))
        most_pairs = max(n_rows, limit // (4 * BYTES_PER_PAIR))
        codes = np.zeros(n_rows, np.int32) if outcome.codes is None else outcome.codes
        weight = np.zeros(n_rows)
        weight[rows] = row_weight
        by_row = weight if columns.holes and outcome.is_classes else None
        sums, totals = np.zeros((4, n_columns)), np.zeros(2)
        for part, distances in distance_blocks(columns, rows, height, self.n_jobs, self.steps):
            for row, near, share in nearest_rows(
                distances, part, codes, self.n_neighbors, most_pairs, self.n_jobs
            ):
                apart, alike = split_by_target(row, near, share * weight[row], outcome)
                add_differences(columns, (row, near, apart, alike), by_row, sums, self.n_jobs)
                # One after the other, so that no bit depends on how many pairs come at a time.
                totals[0] = np.cumsum(np.append(totals[0], apart))[-1]
                totals[1] = np.cumsum(np.append(totals[1], alike))[-1]
        if by_row is not None:
            return sums[0] / row_weight.sum()
        if not columns.holes:
            sums[2:] = totals[:, None]
        return scores_of_sums(sums, totals)


def scores_of_sums(sums: Floats, totals: Floats) -> Floats:
    """Mean difference of pairs of different target less that of equal ones, times shares seen."""
    seen, total = sums[2:], totals[:, None]
    mean = np.divide(sums[:2], seen, out=np.zeros_like(seen), where=seen > 0)
    share = np.divide(seen, total, out=np.ones_like(seen), where=total > 0)
    return np.asarray((mean[0] - mean[1]) * np.minimum(share.min(axis=0), 1.0))


def margins_of(columns: Columns, codes: NDArray[np.int32], n_jobs: int | None) -> Floats:
    """Margin vector of every row, with the differences that ReliefF uses."""
    n = columns.n_continuous
    margins = np.empty(columns.values.shape[::-1])
    margins[:, :n] = margin_vectors(columns.values[:n].T, codes, n_jobs)
    for j in range(n, columns.values.shape[0]):
        margins[:, j] = _discrete_margin(columns.values[j], codes)
    return margins


def _discrete_margin(values: Floats, codes: NDArray[np.int32]) -> Floats:
    """Unequal rows of other classes less unequal rows of the own class, from a table of counts."""
    margin = np.zeros(values.size)
    seen = ~np.isnan(values)
    _, code = np.unique(values[seen], return_inverse=True)
    own = codes[seen]
    table = np.zeros((code.max() + 1, int(codes.max()) + 1))
    np.add.at(table, (code, own), 1.0)
    unequal = table.sum(axis=0) - table  # per value and class: rows of the class with another value
    margin[seen] = (unequal.sum(axis=1)[:, None] - 2.0 * unequal)[code, own]
    return margin
