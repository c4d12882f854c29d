"""SVMRFE: recursive elimination of columns by the weights of a linear support vector machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tamis._base import Scores, WeightedSelector
from tamis._facts import SelectorFacts
from tamis._margin_weights import margin_weights
from tamis._runtime.compilation import announce_compilation
from tamis._runtime.threads import effective_jobs, run_parts
from tamis._validation import N_JOBS, Choice, Constraint, Custom, Number
from tamis.data.labels import check_two_classes, check_weighted_classes
from tamis.linear_svm import hinge

Floats = NDArray[np.float64]

STEP = Custom(
    lambda value: Number(int, low=1).allows(value) or Number(float, 0, 1, True, True).allows(value),
    "an int of at least 1 or a float in (0, 1)",
)
# Progress is reported so many times during one elimination.
TURNS = 100
# The Gram matrix is made anew when what is left of it is a quarter of what it was: columns that
# were taken out leave rounding errors of their size behind.
FADED = 0.25
# With so few columns it is made anew in every round, which then costs no more than taking one out.
FEW_COLUMNS = 4


@dataclass(kw_only=True, eq=False, repr=False)
class SVMRFE(WeightedSelector):
    """Recursive feature elimination by a linear support vector machine.

    A linear SVM is trained, the columns with the smallest squared weights are dropped, and it is
    trained again on the rest, until no column is left. The column dropped last is the best. Of
    redundant columns one stays. A classic for wide tables such as gene expression.

    Parameters
    ----------
    C : float, default=1.0
        Price of a unit of slack: the larger, the less the model tolerates rows on the wrong
        side of its margin.
    step : int or float, default=1
        Columns dropped in a round: a number, or a share, in (0, 1), of the columns that are left
        (at least one goes).
    multi_class : {"ovo", "ovr"}, default="ovo"
        Binary problems for more than two classes: one for each pair of classes, or each class
        against the rest. Squared weights are summed over them.
    scale : bool, default=False
        Divide every column by its standard deviation first.
    n_bootstraps : int, default=0
        If positive, that many eliminations on bootstrap samples of the rows, drawn within the
        classes, whose positions are averaged.
    sample_weighting : bool, default=False
        Multiply the price of every row by a weight that is small where the row's margin is
        unlike that of the others.
    tol : float, default=1e-9
        Largest violation of the optimality conditions of a problem, on the scale where the margin
        is 1.
    max_iter : int, default=100_000
        Most steps of the solver in one training.
    random_state : int, RandomState instance or None, default=None
        Seed of the bootstrap samples.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default=0.5
        The cutoff; see :mod:`tamis.cutoff`. An order has no elbow; 0.5 keeps half of the columns,
        as scikit-learn's ``RFE`` does.
    n_jobs : int or None, default=None
        Threads over the bootstrap samples; ``None`` uses all cores. The result does not depend on
        it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Number of varying columns for the best, 1 for the one dropped first, 0 for constant
        columns; with bootstraps the mean of these.
    criterion_ : ndarray of shape (n_features,)
        Squared weight of every column in the round that dropped it, summed over the problems
        (mean over bootstraps); 0 for constant columns.
    n_iter_ : int
        Rounds, that is, trainings of all problems, in one elimination.
    row_weights_ : ndarray of shape (n_samples,)
        Weights of the rows if `sample_weighting` is set, 0 for rows without `sample_weight`.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    The model is that of scikit-learn's ``SVC(kernel="linear")``: hinge loss, intercept without
    penalty, one problem per pair of classes; with ``step=1`` the order is that of ``RFE`` around
    it, but for columns of nearly equal weight, for ``SVC`` stops at ``tol=1e-3``. Columns dropped
    in one round are ordered by weight, and of equal weights the higher index goes first. A share as
    `step` counts from the columns left, as in the papers; ``RFE`` counts from all columns.

    Each problem starts from the multipliers of the round before and ends at its exact optimum by an
    active-set method. A round costs about ``n_samples^2 + n_samples n_left`` multiplications, or
    ``n_samples n_left^2`` for tables of more than 2,000 rows and 8 rows per column. The table is
    copied as dense float64 columns, once more for each bootstrap under way.

    Missing cells are at the mean of their column. Weights depend on the units of the columns: set
    `scale` if these differ. `C` is an absolute price, so sample weights of 2 mean the same as each
    row twice. Weights of rows by `sample_weighting` see a repeated row as two.

    References
    ----------
    Guyon, I., Weston, J., Barnhill, S. and Vapnik, V. (2002). Gene selection for cancer
    classification using support vector machines. Machine Learning, 46, 389-422.
    https://doi.org/10.1023/A:1012487302797

    Abeel, T., Helleputte, T., Van de Peer, Y., Dupont, P. and Saeys, Y. (2010). Robust biomarker
    identification for cancer diagnosis with ensemble feature selection methods. Bioinformatics,
    26(3), 392-398. https://doi.org/10.1093/bioinformatics/btp630

    Yu, L., Han, Y. and Berens, M. E. (2012). Stable gene selection from microarray data via sample
    weighting. IEEE/ACM Transactions on Computational Biology and Bioinformatics, 9(1), 262-272.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import SVMRFE
    >>> data = load_iris(as_frame=True)
    >>> selector = SVMRFE(n_features_to_select=2, scale=True).fit(data.data, data.target)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> selector.ranking_
    array([4, 3, 2, 1])
    """

    C: float = 1.0
    step: float = 1
    multi_class: str = "ovo"
    scale: bool = False
    n_bootstraps: int = 0
    sample_weighting: bool = False
    tol: float = 1e-9
    max_iter: int = 100_000
    random_state: Any = None
    n_features_to_select: Any = 0.5
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Recursive elimination of the features with the smallest linear SVM weights.",
        tasks=("classification",),
        cost="rounds (T^2 + T n)",
        reference="Guyon et al. 2002",
        scope="jointly",
        redundancy="partly",
        scaling="yes",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        "C": Number(float, low=0, high=np.inf, open_low=True, open_high=True),
        "step": STEP,
        "multi_class": Choice(("ovo", "ovr")),
        "scale": Choice((False, True)),
        "n_bootstraps": Number(int, low=0),
        "sample_weighting": Choice((False, True)),
        "tol": Number(float, low=0, open_low=True),
        "max_iter": Number(int, low=1),
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        who = type(self).__name__
        self.classes_, codes = check_weighted_classes(y, weight, X.shape[0], who)
        check_two_classes(self.classes_, who)
        constant = self._find_constant(X, weight)
        scores, self.criterion_ = np.zeros(constant.size), np.zeros(constant.size)
        varies = np.flatnonzero(~constant)
        table = hinge.read_rows(X, codes, weight, varies, self.scale)
        price = self.C * table.weight
        if self.sample_weighting:
            self.row_weights_ = np.zeros(X.shape[0])
            margins = margin_weights(table.columns.T, table.codes, self.n_jobs)
            self.row_weights_[table.rows] = margins
            price *= margins
        self.n_iter_ = count_rounds(self.step, varies.size)
        find = self._ensemble if self.n_bootstraps else self._eliminate
        with hinge.calm_blas(self.n_bootstraps > 0 or price.size > hinge.FEW_ROWS):
            scores[varies], self.criterion_[varies] = find(table, price)
        return scores, constant

    def _eliminate(self, table: hinge.Rows, price: Floats) -> tuple[Floats, Floats]:
        """Position as a score, and the weight that a column was dropped with."""
        search = Elimination(self, table.columns, table.codes, price)
        per_turn = -(-self.n_iter_ // TURNS)
        n_turns = -(-self.n_iter_ // per_turn)
        for _ in self.steps("elimination", search.turns(per_turn), n_turns):
            pass
        search.finish()  # if a callback ended the loop
        hinge.warn_unless_solved(search.gap, self.tol, type(self).__name__)
        return search.positions, search.criterion

    def _ensemble(self, table: hinge.Rows, price: Floats) -> tuple[Floats, Floats]:
        """Mean position as a score, and mean weight, over bootstrap samples."""
        counts = draw_counts(table.codes, self.n_bootstraps, check_random_state(self.random_state))
        positions = np.zeros((self.n_bootstraps, len(table.columns)))
        criterion = np.zeros_like(positions)
        gaps = np.zeros(self.n_bootstraps)

        def one(sample: int) -> None:
            drawn = counts[sample] > 0
            columns = np.ascontiguousarray(table.columns[:, drawn])
            prices = (price * counts[sample])[drawn]
            search = Elimination(self, columns, table.codes[drawn], prices)
            for _ in search.turns(len(columns)):
                pass
            positions[sample], criterion[sample] = search.positions, search.criterion
            gaps[sample] = search.gap

        n_threads = effective_jobs(self.n_jobs)
        starts = range(0, self.n_bootstraps, n_threads)
        done = 0
        for first in self.steps("bootstraps", starts, len(starts)):
            done = min(first + n_threads, self.n_bootstraps)
            run_parts(one, [(sample,) for sample in range(first, done)], n_threads)
        hinge.warn_unless_solved(float(gaps.max()), self.tol, type(self).__name__)
        return positions[:done].mean(axis=0), criterion[:done].mean(axis=0)


def draw_counts(codes: NDArray[np.int32], n_samples: int, random: Any) -> NDArray[np.float64]:
    """How often every row is in every bootstrap sample; each class keeps its number of rows."""
    counts = np.zeros((n_samples, codes.size))
    ends = np.searchsorted(codes, np.arange(int(codes[-1]) + 2))
    for sample in counts:
        for first, stop in pairwise(ends):
            drawn = random.randint(first, stop, stop - first)
            sample[first:stop] = np.bincount(drawn - first, minlength=stop - first)
    return counts


class Elimination:
    """An elimination under way; what it has found so far is in `order` and `criterion`."""

    def __init__(self, selector: SVMRFE, columns: Floats, codes: NDArray[np.int32], price: Floats):
        self.selector, self.columns = selector, columns
        self.problems = hinge.make_problems(codes, price, selector.multi_class)
        self.beta = np.zeros(self.problems.sign.size)
        self.alive = np.arange(columns.shape[0])
        # Best first; filled from the end.
        self.order = np.empty(columns.shape[0], dtype=np.int64)
        self.criterion = np.zeros(columns.shape[0])
        self.gap = 0.0
        self._gram: Floats | None = None
        self._mass = 0.0

    @property
    def positions(self) -> Floats:
        """Number of columns for the best, 1 for the one dropped first."""
        positions = np.empty(self.order.size)
        positions[self.order] = np.arange(self.order.size, 0, -1)
        return positions

    def turns(self, n_rounds: int) -> Iterator[int]:
        """Run until all columns are in order, `n_rounds` at a time; yields how many are left."""
        while self.alive.size:
            done = 0
            while self.alive.size and done < n_rounds:
                done += self._advance(n_rounds - done, self.selector.step)
            yield int(self.alive.size)

    def finish(self) -> None:
        """Order all columns that are left by one training."""
        if self.alive.size:
            self._advance(1, float(self.alive.size))

    def _advance(self, max_rounds: int, step: float) -> int:
        """Some more rounds, at least one; returns how many."""
        from tamis.wrappers import _elimination_kernels as kernels

        n_rows, tol, max_iter = self.columns.shape[1], self.selector.tol, self.selector.max_iter
        if hinge.is_long(n_rows, self.alive.size):
            left = self.columns[self.alive]
            gap = hinge.train_problems(left, self.problems, self.beta, tol, max_iter)
            weights = hinge.squared_weights(left, self.problems, self.beta)
            count = dropped(step, weights.size)
            n_left, n_rounds, self._gram = weights.size - count, 1, None
            kernels.drop(weights, count, self.alive, self.order, self.criterion)
        else:
            if self._gram is None:
                whole = self.alive.size == len(self.columns)
                left = self.columns if whole else self.columns[self.alive]
                self._gram = left.T @ left
                self._mass = FADED * float(np.trace(self._gram))
            mass = self._mass if self.alive.size > FEW_COLUMNS else np.inf
            stop = n_rows // hinge.LONG if n_rows > hinge.FEW_ROWS else 0
            with announce_compilation(kernels.eliminate):
                n_left, n_rounds, gap, stale = kernels.eliminate(
                    self.columns, self._gram, *self.problems, self.beta, self.alive, self.order,
                    self.criterion, float(step), mass, min(stop, self.alive.size - 1), max_rounds,
                    tol, max_iter,
                )  # fmt: skip
            self._gram = None if stale else self._gram
        self.gap = max(self.gap, gap)
        self.alive = self.alive[:n_left]
        return int(n_rounds)


def dropped(step: float, n_left: int) -> int:
    """Columns that go in a round."""
    return max(1, int(step * n_left)) if step < 1 else min(int(step), n_left)


def count_rounds(step: float, n_columns: int) -> int:
    """Rounds of an elimination."""
    count = 0
    while n_columns:
        n_columns -= dropped(step, n_columns)
        count += 1
    return count
