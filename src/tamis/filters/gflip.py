"""GFlip: flip columns in and out while the margin of the nearest neighbour grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from tamis._base import BaseSelector, Scores
from tamis._columns import centred_columns
from tamis._facts import SelectorFacts
from tamis._runtime.memory import as_bytes
from tamis._runtime.threads import run_kernel, split_evenly, threads_for
from tamis._runtime.warning import warn
from tamis._validation import MEMORY_LIMIT, N_JOBS, Choice, Constraint, Number
from tamis.data.labels import check_classes, check_two_classes
from tamis.exceptions import InputError

Floats = NDArray[np.float64]

# A flip must raise the evaluation by this share of its size, or rounding could flip for ever.
WORTHWHILE = 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class GFlip(BaseSelector):
    """Greedy feature flip: a set of columns in which the nearest neighbour is right by far.

    The margin of a row is half of how much farther its nearest row of another class is than
    its nearest row of the same class. Columns are visited in random order, and each goes in or out
    if that raises the sum of all margins, until a whole round changes nothing. It finds the number
    of columns by itself.

    Parameters
    ----------
    utility : {"linear", "zero_one", "sigmoid"}, default="linear"
        What the margin of a row counts: itself; 1 if it is above 0, that is, if the nearest
        neighbour is right; or a smooth step between the two.
    sharpness : float, default=1.0
        Steepness of the sigmoid, ``1 / (1 + exp(-sharpness * margin))``.
    start : {"empty", "all"}, default="empty"
        Columns that a search begins with. The paper's is none; where columns help only together,
        no first one gets in, and all is the better start.
    n_restarts : int, default=1
        Searches with other orders of the columns; the best set is kept.
    max_iter : int, default=100
        Most rounds of a search; each goes through all columns.
    memory_limit : int, float, str or None, default=None
        Bytes allowed for the distances of all pairs of rows; ``None`` means a quarter of the free
        memory. More is an error.
    random_state : int, RandomState instance or None, default=None
        Draws the orders in which columns are visited.
    n_features_to_select : "auto", int, float, "best", "elbow", "all" or rule, default="best"
        The cut; ``"best"`` keeps the set that was found; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        What the evaluation gains by having the column, given the other columns of the set. Above 0
        for columns in the set, at most 0 for all others.
    best_n_features_ : int
        Size of the set.
    evaluation_ : float
        Utility of the margins, summed over rows, in the set.
    n_iter_ : int
        Rounds of the search that found the set.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Distances are Euclidean in the units of the columns: scale the columns if their units differ.
    A missing cell counts as the mean of its column. A row alone in its class has no margin, but can
    be the nearest row of another class. Time: n_rows^2 n_features per round, and n_rows^2 times the
    size of the set whenever a column goes out. Memory: n_rows^2 and a float64 copy of the table.
    The set is a local optimum, and empty, with a warning, if no first column raises the evaluation.

    References
    ----------
    Gilad-Bachrach, R., Navot, A. and Tishby, N. (2004). Margin based feature selection: theory and
    algorithms. ICML. https://doi.org/10.1145/1015330.1015352

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import GFlip
    >>> data = load_iris(as_frame=True)
    >>> selector = GFlip(random_state=0).fit(data.data, data.target)
    >>> selector.best_n_features_, round(selector.evaluation_, 2)
    (4, 75.1)
    """

    utility: str = "linear"
    sharpness: float = 1.0
    start: str = "empty"
    n_restarts: int = 1
    max_iter: int = 100
    memory_limit: float | str | None = None
    random_state: Any = None
    n_features_to_select: Any = "best"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Contribution to the margin of the nearest-neighbour classifier.",
        tasks=("classification",),
        cost="rounds T^2 n",
        reference="Gilad-Bachrach et al. 2004",
        scope="as a subset",
        redundancy="yes",
        nonlinear="yes",
        scaling="yes",
    )

    _chooses_count: ClassVar[bool] = True
    _n_stages: ClassVar[int | None] = None
    _constraints: ClassVar[dict[str, Constraint]] = {
        "utility": Choice(("linear", "zero_one", "sigmoid")),
        "sharpness": Number(float, low=0, open_low=True),
        "start": Choice(("empty", "all")),
        "n_restarts": Number(int, low=1),
        "max_iter": Number(int, low=1),
        "memory_limit": MEMORY_LIMIT,
        "n_jobs": N_JOBS,
    }

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        codes = self._check(X, y)
        constant = self._find_constant(X, None)
        scores = np.zeros(constant.size)
        columns = centred_columns(X, ~constant)[np.argsort(codes, kind="stable")].T
        problem = MarginProblem(np.ascontiguousarray(columns), np.bincount(codes), self)
        chosen = self._search(problem)
        scores[~constant] = problem.gains(chosen)
        scores[constant] = min(float(scores.min()), 0.0)
        self.best_n_features_ = int(chosen.sum())
        return scores, constant

    def _check(self, X: Any, y: Any) -> NDArray[np.int32]:
        who, n_rows = type(self).__name__, X.shape[0]
        classes, codes = check_classes(y, n_rows, who)
        check_two_classes(classes, who)
        if np.bincount(codes).max() < 2:
            raise InputError(
                f"{who}: expected a class with at least two rows, got {classes.size} classes of "
                "one row each. Check the target column."
            )
        limit = as_bytes(self.memory_limit)
        if 8 * n_rows**2 > limit:
            raise InputError(
                f"{who}: expected distances of all pairs of rows to take at most {limit:,} bytes, "
                f"got {8 * n_rows**2:,} for {n_rows} rows. Raise memory_limit, or fit on a sample "
                "of the rows."
            )
        self.classes_ = classes
        return codes

    def _search(self, problem: MarginProblem) -> NDArray[np.bool_]:
        """The best set of all searches; of equal ones the first."""
        random = check_random_state(self.random_state)
        searches = [self._climb(problem, random) for _ in range(self.n_restarts)]
        best, self.evaluation_, self.n_iter_, settled = max(searches, key=lambda found: found[1])
        if not settled:
            warn(
                f"{type(self).__name__}: columns were still flipping after {self.n_iter_} rounds. "
                "Raise max_iter."
            )
        return best

    def _climb(
        self, problem: MarginProblem, random: Any
    ) -> tuple[NDArray[np.bool_], float, int, bool]:
        problem.start_from(np.full(problem.n_columns, self.start == "all"))
        value, n_rounds, settled = problem.evaluate()[0], 0, False
        for _ in self.steps("rounds", range(self.max_iter), self.max_iter):
            n_rounds += 1
            settled = True
            for j in random.permutation(problem.n_columns):
                flipped, size = problem.evaluate(j)
                if flipped > value + WORTHWHILE * size:
                    problem.flip(j)
                    value, settled = problem.evaluate()[0], False
            if settled:
                break
        return problem.chosen.copy(), value, n_rounds, settled


class MarginProblem:
    """Margins in a set of `columns` (of a table sorted by class), and after a flip of one."""

    def __init__(self, columns: Floats, counts: NDArray[np.intp], selector: GFlip):
        self.columns = columns
        self.n_columns, self.n_rows = columns.shape
        self.end = np.repeat(np.cumsum(counts), counts)
        self.begin = self.end - np.repeat(counts, counts)
        self.with_hit = np.flatnonzero(self.end - self.begin > 1)
        self.utility, self.sharpness = selector.utility, selector.sharpness
        self.n_threads = threads_for(self.n_rows**2, selector.n_jobs)
        self.parts = split_evenly(0, self.n_rows, 4 * self.n_threads if self.n_threads > 1 else 1)
        self.margins = np.empty(self.n_rows)

    def start_from(self, chosen: NDArray[np.bool_]) -> None:
        """Start from a set of columns; without any, all rows are at one place."""
        self.chosen = chosen.copy()
        self.squares = np.zeros((self.n_rows, self.n_rows))
        np.fill_diagonal(self.squares, np.inf)
        for j in np.flatnonzero(chosen):
            self._add(int(j))

    def evaluate(self, flip: int | None = None) -> tuple[float, float]:
        """Sum of the utilities, with one column flipped if given; and the sum of their sizes."""
        from tamis.filters import _flip_kernels as kernels

        sign = 0.0 if flip is None else (-1.0 if self.chosen[flip] else 1.0)
        arguments = (self.squares, self.columns[flip or 0], sign, self.begin, self.end)
        parts = [(*arguments, *part, self.margins) for part in self.parts]
        run_kernel(kernels.margins, kernels.margins, parts, self.n_threads)
        worth = self._worth(self.margins[self.with_hit])
        return float(worth.sum()), float(np.abs(worth).sum())

    def _worth(self, margins: Floats) -> Floats:
        if self.utility == "linear":
            return margins
        if self.utility == "zero_one":
            return (margins > 0).astype(np.float64)
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * self.sharpness * margins)))  # no overflow

    def flip(self, column: int) -> None:
        """Put a column in or take it out."""
        self.chosen[column] = not self.chosen[column]
        if self.chosen[column]:
            self._add(column)
        else:
            self.start_from(self.chosen)

    def _add(self, column: int) -> None:
        from tamis.filters import _flip_kernels as kernels

        parts = [(self.squares, self.columns[column], *part) for part in self.parts]
        run_kernel(kernels.add_column, kernels.add_column, parts, self.n_threads)

    def gains(self, chosen: NDArray[np.bool_]) -> Floats:
        """What every column adds to the evaluation of a set, above 0 for those in the set only."""
        self.start_from(chosen)
        value = self.evaluate()[0]
        other = np.array([self.evaluate(j)[0] for j in range(self.n_columns)])
        least = np.finfo(np.float64).tiny
        return np.where(chosen, np.maximum(value - other, least), np.minimum(other - value, 0.0))
