"""The lasso at the cross-validated penalty, fast enough to be fitted for every knockoff copy.

All folds walk down the same penalties in step. So the gradients of all columns in all folds, which
tell the columns that enter, are one matrix product; the descent itself sees a working set only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.compilation import announce_compilation

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

N_FOLDS, N_PENALTIES = 10, 100
# Smallest penalty as a share of the largest, with more rows than columns and with fewer.
SMALLEST, SMALLEST_IF_WIDE = 1e-4, 1e-2
# A step that changes the mean loss by less than this share of that of no columns ends the descent.
TOLERANCE, FINAL_TOLERANCE = 1e-7, 1e-17
MAX_SWEEPS, FINAL_SWEEPS, MAX_ROUNDS = 1_000, 20_000, 25
# The path ends when the error has been above its smallest value for so many penalties, and by so
# many standard errors: in 106 of 108 small tables the smallest error of all penalties was found.
PATIENCE, MARGIN = 8, 1.0
# Room for so many columns in the first working set: memory that is not used costs nothing.
FIRST_ROOM = 1024
# Columns that enter at a time, as many as are there already, or so many.
FIRST_COLUMNS = 64


class LassoFit(NamedTuple):
    """A lasso at the penalty with the smallest cross-validated error.

    Attributes
    ----------
    coef : ndarray of shape (n_columns,)
        Coefficients of the standardised columns.
    intercept : float
        Intercept.
    penalty : float
        The penalty with the smallest error.
    penalties, errors : ndarray
        Penalties that were tried, and the mean loss of held-out rows.
    """

    coef: Floats
    intercept: float
    penalty: float
    penalties: Floats
    errors: Floats


def lasso_cv(
    X: Floats, y: Floats, *, loss: str = "squared", random: np.random.Generator | None = None
) -> LassoFit:
    """Fit a lasso on the standardised columns at the penalty that ten folds choose.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        The table; constant columns get coefficient 0.
    y : ndarray of shape (n_rows,)
        Numbers, or 0 and 1 for the logistic loss.
    loss : {"squared", "logistic"}, default="squared"
        Half the squared error, or the negative log likelihood.
    random : Generator or None, default=None
        For the folds; None seeds one with 0.

    Returns
    -------
    LassoFit
        Coefficients, penalty and the curve of errors.

    Notes
    -----
    Penalties are those of glmnet: 100 from the smallest that keeps no column, on a logarithmic
    scale. The path ends once the error is clearly past its minimum. Folds have equal shares of the
    classes. Memory: two tables, and ten matrices of the columns that ever enter.

    References
    ----------
    Friedman, J., Hastie, T. and Tibshirani, R. (2010). Regularization paths for generalized linear
    models via coordinate descent. Journal of Statistical Software 33(1). doi:10.18637/jss.v033.i01

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.certainty.lasso import lasso_cv
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> np.abs(lasso_cv(X, X[:, 3] + X[:, 7]).coef).argsort()[-2:]
    array([7, 3])
    """
    random = np.random.default_rng(0) if random is None else random
    rows, bounds = draw_folds(y, loss, random)
    lines, labels = standardised(X, rows), y[rows]
    path = PATHS[loss](lines, labels, bounds)
    penalties = penalties_for(path)
    errors: list[Floats] = []
    best = 0
    for k, penalty in enumerate(penalties):
        path.solve(penalty, penalties[max(k - 1, 0)])
        errors.append(path.held_out_errors())
        if errors[k].mean() < errors[best].mean():
            best = k
        if best == k:
            start = path.mean_solution()
        elif is_past_minimum(errors, best):
            break
    final = PATHS[loss](lines, labels, np.zeros((1, 2), dtype=np.intp))
    final.tolerance, final.max_sweeps = FINAL_TOLERANCE, FINAL_SWEEPS
    final.begin_at(*start)
    final.solve(penalties[best], penalties[best])
    coef, intercept = final.mean_solution()
    curve = np.array([one.mean() for one in errors])
    return LassoFit(coef, intercept, float(penalties[best]), penalties[: curve.size], curve)


def draw_folds(y: Floats, loss: str, random: np.random.Generator) -> tuple[Indices, Indices]:
    """Order of the rows in which every fold is contiguous, and where each begins and ends."""
    n_folds = min(N_FOLDS, y.size)
    order = random.permutation(y.size)
    if loss == "logistic":  # every fold gets its share of both classes
        order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(y.size, dtype=np.intp)
    fold[order] = np.arange(y.size) % n_folds
    ends = np.cumsum(np.bincount(fold, minlength=n_folds))
    return np.argsort(fold, kind="stable"), np.column_stack([np.append(0, ends[:-1]), ends])


def standardised(X: Floats, rows: Indices) -> Floats:
    """Columns as lines, of mean 0 and variance 1; constant ones are 0."""
    lines = np.take(X.T, rows, axis=1)
    lines -= lines.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.einsum("ji,ji->j", lines, lines) / rows.size)
    lines *= np.where(scale > 0, 1 / np.where(scale > 0, scale, 1), 0.0)[:, None]
    return lines


def penalties_for(path: Path) -> Floats:
    """Penalties from the smallest that keeps no column, downwards."""
    n_columns, n_rows = path.lines.shape
    largest = np.abs(path.lines @ (path.y - path.y.mean())).max() / n_rows
    smallest = SMALLEST if n_rows > n_columns else SMALLEST_IF_WIDE
    return np.asarray(largest * np.geomspace(1, smallest, N_PENALTIES))


def is_past_minimum(errors: list[Floats], best: int) -> bool:
    """Whether the error has clearly been growing since its smallest value."""
    if len(errors) - 1 - best < PATIENCE:
        return False
    growth = errors[-1] - errors[best]
    return bool(growth.mean() > MARGIN * growth.std(ddof=1) / np.sqrt(growth.size))


class Path:
    """Problems of one loss that share a working set: one per fold, or one for all rows."""

    tolerance, max_sweeps = TOLERANCE, MAX_SWEEPS
    intercepts: Floats

    def __init__(self, lines: Floats, y: Floats, bounds: Indices):
        self.lines, self.y = lines, y
        self.firsts, self.lasts = bounds[:, 0], bounds[:, 1]
        n_problems, n_rows = bounds.shape[0], y.size
        self.n_train = n_rows - (self.lasts - self.firsts)
        held_out = np.arange(n_rows)
        self.trains = (held_out < self.firsts[:, None]) | (held_out >= self.lasts[:, None])
        self.is_known = np.zeros(lines.shape[0], dtype=bool)
        self.size, self.working = 0, np.zeros(0, dtype=np.intp)
        self.lines_kept = np.zeros((FIRST_ROOM, n_rows))
        self.coefs = np.zeros((n_problems, FIRST_ROOM))
        self.margins = np.zeros((n_problems, n_rows))
        self.start()
        self.refresh()

    def start(self) -> None:
        """What a loss needs before any column is known."""
        raise NotImplementedError

    def grow(self, room: int) -> None:
        """Make room for more columns."""
        self.lines_kept = grown(self.lines_kept, room, 1)
        self.coefs = grown(self.coefs, room, 2)

    def add(self, columns: Indices) -> None:
        """Add columns to the working set."""
        size = self.size + columns.size
        if size > self.coefs.shape[1]:
            self.grow(max(size, 2 * self.coefs.shape[1]))
        self.lines_kept[self.size : size] = self.lines[columns]
        self.working = np.concatenate([self.working, columns])
        self.is_known[columns] = True
        self.size = size

    def solve(self, penalty: float, previous: float) -> None:
        """Go to another penalty, by the sequential strong rule and a check of all columns."""
        self.enter(2 * penalty - previous)
        while True:
            self.descend(penalty)
            self.refresh()
            if not self.enter(penalty):
                return

    def enter(self, bound: float) -> bool:
        """Add the columns with the steepest gradients above a bound; whether there were any."""
        found = np.flatnonzero((self.steepest > bound) & ~self.is_known)
        most = max(FIRST_COLUMNS, self.size)
        if found.size > most:
            found = np.sort(found[np.argsort(-self.steepest[found], kind="stable")[:most]])
        if found.size:
            self.add(found)
        return found.size > 0

    def descend(self, penalty: float) -> None:
        """Descend on the working set."""
        raise NotImplementedError

    def residuals(self) -> Floats:
        """Negative derivative of the loss in the margins, 0 for held-out rows."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Gradients of all columns, exactly, from the coefficients."""
        self.gradients = self.residuals() @ self.lines.T / self.n_train[:, None]
        self.steepest = np.abs(self.gradients).max(axis=0)

    def losses(self) -> Floats:
        """Loss of every row in every problem."""
        raise NotImplementedError

    def held_out_errors(self) -> Floats:
        """Mean loss of the held-out rows, times their share of all folds."""
        total = np.where(self.trains, 0.0, self.losses()).sum(axis=1)
        return np.asarray(total * self.firsts.size / self.y.size)

    def mean_solution(self) -> tuple[Floats, float]:
        """Coefficients of all columns and intercept, averaged over the problems."""
        coefs = np.zeros(self.lines.shape[0])
        coefs[self.working] = self.coefs[:, : self.size].mean(axis=0)
        return coefs, float(self.intercepts.mean())

    def begin_at(self, coefs: Floats, intercept: float) -> None:
        """Start from another solution."""
        self.add(coefs.nonzero()[0])
        self.coefs[:, : self.size] = coefs[self.working]
        self.intercepts[:] = intercept
        self.margins = self.intercepts[:, None] + self.coefs @ self.lines_kept
        self.refresh()


class SquaredPath(Path):
    """Half the squared error: the descent needs products of columns, never the rows."""

    def start(self) -> None:
        """What the loss needs before any column is known."""
        self.centers = (self.trains @ self.y) / self.n_train
        self.intercepts = self.centers.copy()
        self.margins += self.intercepts[:, None]
        spread = np.var(self.y)
        self.spread = spread if spread > 0 else 1.0
        n_problems = self.firsts.size
        self.means = np.zeros((n_problems, FIRST_ROOM))
        self.grams = np.empty((n_problems, FIRST_ROOM, FIRST_ROOM))

    def grow(self, room: int) -> None:
        """Make room for products of more columns."""
        super().grow(room)
        self.means = grown(self.means, room, 2)
        grams = np.empty((self.firsts.size, room, room))
        grams[:, : self.size, : self.size] = self.grams[:, : self.size, : self.size]
        self.grams = grams

    def add(self, columns: Indices) -> None:
        """Add columns, and their products with all others in every fold."""
        old = self.size
        super().add(columns)
        kept, new = self.lines_kept[: self.size], self.lines_kept[old : self.size]
        # Products of the held-out rows add up to those of all rows, if there are several folds.
        parts = [(new[:, a:b], kept[:, a:b]) for a, b in zip(self.firsts, self.lasts, strict=True)]
        products = np.empty((len(parts), new.shape[0], self.size))
        for (few, all_), out in zip(parts, products, strict=True):
            np.matmul(few, all_.T, out=out)
        sums = np.array([few.sum(axis=1) for few, _ in parts])
        total, sum_ = (products.sum(axis=0), sums.sum(axis=0))
        if len(parts) == 1:
            total, sum_ = new @ kept.T, new.sum(axis=1)
        self.means[:, old : self.size] = (sum_ - sums) / self.n_train[:, None]
        means = self.means[:, : self.size]
        np.subtract(total, products, out=products)
        products /= self.n_train[:, None, None]
        products -= means[:, old:, None] * means[:, None, :]
        self.grams[:, old : self.size, : self.size] = products
        self.grams[:, : self.size, old : self.size] = products.transpose(0, 2, 1)

    def descend(self, penalty: float) -> None:
        """Descend on the working set."""
        from tamis.certainty._knockoff_kernels import descend_squared

        gradients = np.ascontiguousarray(self.gradients[:, self.working])
        with announce_compilation(descend_squared):
            descend_squared(
                self.grams, self.size, penalty, self.tolerance * self.spread, self.max_sweeps,
                gradients, self.coefs,
            )  # fmt: skip
        coefs = self.coefs[:, : self.size]
        self.intercepts = self.centers - np.einsum("fj,fj->f", coefs, self.means[:, : self.size])
        self.margins = self.intercepts[:, None] + coefs @ self.lines_kept[: self.size]

    def residuals(self) -> Floats:
        """Negative derivative of the loss in the margins, 0 for held-out rows."""
        return np.where(self.trains, self.y - self.margins, 0.0)

    def losses(self) -> Floats:
        """Loss of every row in every problem."""
        return (self.y - self.margins) ** 2 / 2


class LogisticPath(Path):
    """Negative log likelihood of two classes, 0 and 1."""

    def start(self) -> None:
        """What the loss needs before any column is known."""
        share = (self.trains @ self.y) / self.n_train
        share = np.clip(share, 0.5 / self.y.size, 1 - 0.5 / self.y.size)
        self.intercepts = np.log(share / (1 - share))
        self.margins += self.intercepts[:, None]
        self.rounds = np.zeros(share.size, dtype=np.int64)
        mean = np.clip(self.y.mean(), 1e-3, 1 - 1e-3)
        self.spread = -(mean * np.log(mean) + (1 - mean) * np.log(1 - mean))

    def descend(self, penalty: float) -> None:
        """Descend on the working set."""
        from tamis.certainty._knockoff_kernels import descend_logistic

        with announce_compilation(descend_logistic):
            descend_logistic(
                self.lines_kept, self.size, self.y, self.firsts, self.lasts, penalty,
                self.tolerance * self.spread, MAX_ROUNDS, self.max_sweeps,
                self.intercepts, self.coefs, self.margins, self.rounds,
            )  # fmt: skip

    def residuals(self) -> Floats:
        """Negative derivative of the loss in the margins, 0 for held-out rows."""
        from scipy.special import expit

        return np.where(self.trains, self.y - expit(self.margins), 0.0)

    def losses(self) -> Floats:
        """Loss of every row in every problem."""
        return np.logaddexp(0.0, self.margins) - self.y * self.margins


PATHS: dict[str, type[Path]] = {"squared": SquaredPath, "logistic": LogisticPath}


def grown(array: Floats, room: int, ndim: int) -> Floats:
    """The array with room for more columns, in its first axis or in its second."""
    shape = (room, array.shape[1]) if ndim == 1 else (array.shape[0], room)
    larger = np.zeros(shape)
    larger[tuple(slice(n) for n in array.shape)] = array
    return larger
