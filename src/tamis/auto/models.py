"""Models that judge a set of features: ridge regression, plain or on a Gaussian kernel.

A choice tries some thousand sets. Pipelines of scikit-learn take 5 to 10 ms for each, most of it
checks; these take a few tenths of a millisecond (docs/decisions.md). A user's own estimator takes
their place through `EstimatorModel`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

Floats = NDArray[np.float64]

# Penalties tried, in units of the mean eigenvalue of the features.
PENALTIES = 10.0 ** np.arange(-4.0, 3.0)
# Rows that a Gaussian kernel is spanned by.
N_LANDMARKS = 60
MOST_FOR_GAUSSIAN = 20
# Values further from the median than so many interquartile ranges are moved there.
FURTHEST = 10.0
# Conjugate gradients end after so many steps, or when the residual is so small a share.
MOST_STEPS, SMALL_RESIDUAL = 50, 1e-3


class Model(Protocol):
    """What predicts votes (one column per class) or values (one column) for new rows."""

    @property
    def name(self) -> str:
        """As the answer calls it."""
        ...

    @property
    def most_features(self) -> float:
        """Features up to which it is tried."""
        ...

    def prepare(self, seen: Floats, weight: Floats, unseen: Floats) -> tuple[Floats, Floats]:
        """What can be done with every feature on its own, once for all sets of features."""
        ...

    def votes(self, seen: Floats, y: NDArray[Any], weight: Floats, unseen: Floats) -> Floats:
        """Learn from prepared rows `seen` and predict the rows `unseen`."""
        ...


class RidgeModel(NamedTuple):
    """Ridge regression on indicators of the classes, or on a numeric target.

    The penalty is the one with the smallest leave-one-out error, which ridge regression has in
    closed form. Classes have equal weight in sum. `n_classes` is 0 for a regression target.
    """

    n_classes: int
    kernel: str = "linear"

    @property
    def most_features(self) -> float:
        """Features up to which it is tried: in more dimensions, all rows are equally far."""
        return np.inf if self.kernel == "linear" else MOST_FOR_GAUSSIAN

    @property
    def name(self) -> str:
        """As the answer calls it."""
        return "ridge" if self.kernel == "linear" else "kernel ridge"

    def prepare(self, seen: Floats, weight: Floats, unseen: Floats) -> tuple[Floats, Floats]:
        """Standardise."""
        scale = Scale.of(seen, weight)
        return scale(seen), scale(unseen)

    def votes(self, seen: Floats, y: NDArray[Any], weight: Floats, unseen: Floats) -> Floats:
        """Learn from prepared rows `seen` and predict the rows `unseen`."""
        targets, weight = self.targets(y, weight)
        if self.kernel == "gaussian":
            seen, unseen = gaussian_features(seen, unseen)
        return self.as_votes(ridge_predictions(seen, targets, weight, unseen))

    def targets(self, y: NDArray[Any], weight: Floats) -> tuple[Floats, Floats]:
        """What is regressed on, and the weights of the rows."""
        if not self.n_classes:
            return y.astype(np.float64)[:, None], weight
        indicators = np.equal.outer(y, np.arange(self.n_classes)).astype(np.float64)
        totals = weight @ indicators
        present = np.count_nonzero(totals)
        weight = weight / (totals[y] * present) * weight.sum()
        return indicators[:, 1:] if self.n_classes == 2 else indicators, weight

    def as_votes(self, predicted: Floats) -> Floats:
        """A column for every class: of two, only the second one was predicted."""
        return np.column_stack([1.0 - predicted, predicted]) if self.n_classes == 2 else predicted


class EstimatorModel(NamedTuple):
    """A user's estimator."""

    estimator: Any
    n_classes: int
    most_features: float = np.inf

    @property
    def name(self) -> str:
        """The class of the estimator."""
        return type(self.estimator).__name__

    def prepare(self, seen: Floats, weight: Floats, unseen: Floats) -> tuple[Floats, Floats]:
        """Leave everything to the estimator."""
        return seen, unseen

    def votes(self, seen: Floats, y: NDArray[Any], weight: Floats, unseen: Floats) -> Floats:
        """Learn from the rows `seen` and predict the rows `unseen`."""
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        weighted = has_fit_parameter(self.estimator, "sample_weight") and np.ptp(weight) > 0
        options = {"sample_weight": weight} if weighted else {}
        model = clone(self.estimator).fit(seen, y, **options)
        if not self.n_classes:
            return np.asarray(model.predict(unseen), dtype=np.float64)[:, None]
        votes = np.full((unseen.shape[0], self.n_classes), -np.inf)  # classes not seen
        votes[:, model.classes_] = _class_votes(model, unseen)
        return votes


def _class_votes(model: Any, X: Floats) -> Floats:
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            votes = np.asarray(getattr(model, method)(X), dtype=np.float64)
            return np.column_stack([-votes, votes]) if votes.ndim == 1 else votes
    return np.equal.outer(model.predict(X), model.classes_).astype(np.float64)


class Scale(NamedTuple):
    """Moves far outliers in, fills missing values with the mean, and standardises."""

    low: Floats
    high: Floats
    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, X: Floats, weight: Floats) -> Scale:
        """Learn from the rows of a table."""
        missing = np.isnan(X)
        first, middle, third = (np.nanpercentile if missing.any() else np.percentile)(
            np.where(missing.all(axis=0), 0.0, X), (25, 50, 75), axis=0
        )
        # A feature that is mostly one value has no interquartile range, and no outliers.
        reach = np.where(third > first, FURTHEST * (third - first), np.inf)
        X = np.clip(X, middle - reach, middle + reach)
        known = np.where(missing, 0.0, weight[:, None])
        total = np.maximum(known.sum(axis=0), np.finfo(np.float64).tiny)
        mean = (np.where(missing, 0.0, X) * known).sum(axis=0) / total
        variance = (np.where(missing, 0.0, X - mean) ** 2 * known).sum(axis=0) / total
        deviation = np.where(variance > 0, np.sqrt(variance), 1.0)
        return cls(middle - reach, middle + reach, mean, deviation)

    def __call__(self, X: Floats) -> Floats:
        """Apply to rows."""
        scaled = (np.clip(X, self.low, self.high) - self.mean) / self.deviation
        return np.nan_to_num(scaled, copy=False, nan=0.0)


def gaussian_features(seen: Floats, unseen: Floats) -> tuple[Floats, Floats]:
    """Coordinates whose inner products are a Gaussian kernel on some landmark rows (Nystroem)."""
    n_rows, n_features = seen.shape
    picked = np.unique(np.linspace(0, n_rows - 1, min(n_rows, N_LANDMARKS)).astype(np.intp))
    landmarks = seen[picked]
    kernel = _gaussian(landmarks, landmarks, n_features)
    kernel[np.diag_indices_from(kernel)] += 1e-8  # rows may be equal
    root = solve_triangular(np.linalg.cholesky(kernel), np.eye(picked.size), lower=True).T
    one, other = (_gaussian(rows, landmarks, n_features) @ root for rows in (seen, unseen))
    return one, other


def _gaussian(one: Floats, other: Floats, n_features: int) -> Floats:
    distance = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2.0 * (one @ other.T)
    return np.exp(np.maximum(distance, 0.0) / -n_features)


def ridge_predictions(Z: Floats, Y: Floats, weight: Floats, unseen: Floats) -> Floats:
    """Predictions of weighted ridge regression with the penalty of the best leave-one-out error."""
    share = weight / weight.sum()
    centre, level = share @ Z, share @ Y
    root = np.sqrt(share)[:, None]
    rows, targets = root * (Z - centre), root * (Y - level)
    if Z.shape[1] > Z.shape[0]:
        return level + _from_products(rows @ rows.T, targets, share, ((unseen - centre) @ rows.T))
    values, right = _positive(np.linalg.eigh(rows.T @ rows))
    left = rows @ right / np.sqrt(values)
    shrink = _shrinkage(values, left, targets, share)
    along = (shrink / np.sqrt(values))[:, None] * (left.T @ targets)
    return level + (unseen - centre) @ (right @ along)


def ridge_from_products(products: Floats, Y: Floats, weight: Floats) -> Floats:
    """As `ridge_predictions`, from inner products of all rows with those learned from.

    The rows learned from come first in `products`; predictions are those of the others.
    """
    n = Y.shape[0]
    share = weight / weight.sum()
    level, root = share @ Y, np.sqrt(share)
    # Products of rows less their weighted mean.
    products = products - (products @ share)[:, None]
    products -= share @ products[:n]
    seen = root[:, None] * products[:n] * root
    targets = root[:, None] * (Y - level)
    return level + _from_products(seen, targets, share, products[n:] * root)


def ridge_by_gradients(Z: Floats, Y: Floats, weight: Floats, unseen: Floats) -> Floats:
    """As `ridge_predictions`, for tables whose products would take too long.

    The penalty is the one with the smallest error on every tenth row, which the others predict.
    """
    held_out = np.arange(Z.shape[0]) % 10 == 0
    trials = np.repeat(PENALTIES, Y.shape[1])
    found = GradientRidge(Z, np.where(held_out, 0.0, weight)).fit(
        np.tile(Y, PENALTIES.size), trials
    )
    parts = found(Z[held_out]).reshape(-1, PENALTIES.size, Y.shape[1])
    errors = (weight[held_out, None, None] * (parts - Y[held_out, None]) ** 2).sum(axis=(0, 2))
    best = np.full(Y.shape[1], PENALTIES[int(np.argmin(errors))])
    return GradientRidge(Z, weight).fit(Y, best)(unseen)


class GradientRidge:
    """Weighted ridge regression by conjugate gradients, one for every column of the targets.

    The table is only multiplied with a few vectors at a time, in its own precision, and is not
    copied. Penalties are in units of the mean eigenvalue, as in `ridge_predictions`.
    """

    def __init__(self, Z: Floats, weight: Floats):
        share = weight / weight.sum()
        self.Z, self.share, self.root = Z, share, np.sqrt(share)[:, None]
        self.centre = self._product(Z.T, share[:, None])
        n_used, n_columns = np.count_nonzero(share), Z.shape[1]
        total = sum(
            float(share[i : i + 1000] @ np.square(Z[i : i + 1000], dtype=np.float64).sum(axis=1))
            for i in range(0, share.size, 1000)
        )
        spread = total - float((self.centre**2).sum())
        self.unit = max(spread, np.finfo(np.float64).tiny) / max(1, min(n_used - 1, n_columns))

    def fit(self, Y: Floats, penalties: Floats) -> GradientRidge:
        """Solve for the coefficients; every column of `Y` has a penalty."""
        self.level = self.share @ Y
        penalty, left = penalties * self.unit, self.root * (Y - self.level)
        found, along = np.zeros_like(left), left.copy()
        size = begun = (left**2).sum(axis=0)
        for _ in range(MOST_STEPS):
            image = self._rows(self._columns(along)) + penalty * along
            step = _ratio(size, (along * image).sum(axis=0))
            found += step * along
            left -= step * image
            size, before = (left**2).sum(axis=0), size
            if (size <= SMALL_RESIDUAL**2 * begun).all():
                break
            along = left + _ratio(size, before) * along
        self.coef = self._columns(found)
        return self

    def __call__(self, unseen: Floats) -> Floats:
        """Predict rows."""
        return self.level + self._product(unseen, self.coef) - (self.centre * self.coef).sum(axis=0)

    def _columns(self, rows: Floats) -> Floats:
        weighted = self.root * rows
        return self._product(self.Z.T, weighted) - self.centre * weighted.sum(axis=0)

    def _rows(self, columns: Floats) -> Floats:
        return self.root * (self._product(self.Z, columns) - (self.centre * columns).sum(axis=0))

    def _product(self, table: Floats, columns: Floats) -> Floats:
        return (table @ columns.astype(table.dtype)).astype(np.float64)


def _ratio(one: Floats, other: Floats) -> Floats:
    return np.divide(one, other, out=np.zeros_like(one), where=other > 0)


def _from_products(seen: Floats, targets: Floats, share: Floats, unseen: Floats) -> Floats:
    values, left = _positive(np.linalg.eigh(seen))
    shrink = _shrinkage(values, left, targets, share)
    return unseen @ (left @ ((shrink / values)[:, None] * (left.T @ targets)))


def _positive(pairs: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Eigenvalues that are not rounding errors, with their vectors."""
    values, vectors = pairs
    kept = values > 1e-12 * max(values[-1], np.finfo(np.float64).tiny)
    return values[kept], vectors[:, kept]


def _shrinkage(values: Floats, left: Floats, targets: Floats, share: Floats) -> Floats:
    """What is left of every direction at the penalty with the best leave-one-out error."""
    if not values.size:
        return values
    shrink = values / (values + PENALTIES[:, None] * values.mean())  # one row per penalty
    leverage = shrink @ (left**2).T + share  # the mean takes its share
    fitted = left @ (shrink[:, :, None] * (left.T @ targets))
    errors = (targets - fitted) / np.maximum(1.0 - leverage, 1e-9)[:, :, None]
    return shrink[int(np.argmin((errors**2).sum(axis=(1, 2))))]
