"""What samplers of knockoffs share: margins to normal scores and back, and a prepared sampler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tamis.exceptions import InputError

Floats = NDArray[np.float64]

# Columns whose covariance is compared with what was promised.
MOST_COMPARED = 500
EXPECTED = "expected_largest"


class Margins(Protocol):
    """The way to the latent Gaussian scale, and back."""

    scores: Floats

    def back(self, latent: Floats) -> Floats:
        """Values of the table from latent ones, which may be overwritten."""


class GaussianMargins:
    """Columns that are Gaussian as they are: only mean and standard deviation are removed."""

    def __init__(self, X: Floats, mean: Floats, scale: Floats):
        self.mean, self.scale = mean, scale
        self.scores = (X - mean) / scale

    def back(self, latent: Floats) -> Floats:
        """Give mean and standard deviation back."""
        latent *= self.scale
        latent += self.mean
        return latent


class RankMargins:
    """Normal scores of the ranks; values come back by the empirical quantiles.

    Equal values are ranked at random, each column for itself, so that a column of few values has
    normal scores as well, and its copies have the same values in the same shares.
    """

    def __init__(self, X: Floats, rng: np.random.Generator):
        from scipy.special import ndtri

        n_rows = X.shape[0]
        order = np.argsort(X, axis=0, kind="stable")
        self.sorted = np.take_along_axis(X, order, axis=0)
        for j in np.flatnonzero((self.sorted[1:] == self.sorted[:-1]).any(axis=0)):
            order[:, j] = np.lexsort(np.stack([rng.random(n_rows), X[:, j]]))
        quantiles = ndtri((np.arange(n_rows) + 0.5) / n_rows)
        quantiles /= quantiles.std()
        self.scores = np.empty(X.shape)
        np.put_along_axis(self.scores, order, quantiles[:, None], axis=0)

    def back(self, latent: Floats) -> Floats:
        """Values with the same share of the table below them."""
        from scipy.special import ndtr

        n_rows = len(self.sorted)
        ranks = ndtr(latent, out=latent)
        ranks *= n_rows
        places = np.minimum(ranks.astype(np.int32), n_rows - 1)
        return np.asarray(np.take_along_axis(self.sorted, places, axis=0))


class Noise(Protocol):
    """Draws of the part of the copies that the table does not determine."""

    def __call__(self, n_rows: int, rng: np.random.Generator) -> Floats:
        """One line per row."""


@dataclass
class PreparedKnockoffs:
    """A sampler that has seen the table: `draw` makes a copy of it.

    Attributes
    ----------
    distances : ndarray of shape (n_features,)
        s: the promised correlation of a feature with its copy is 1 - s.
    """

    margins: Margins
    mean: Floats
    noise: Noise
    distances: Floats
    covariance: Any

    def draw(self, rng: np.random.Generator) -> Floats:
        """One knockoff copy of the table."""
        return self.margins.back(self.draw_latent(rng))

    def draw_latent(self, rng: np.random.Generator) -> Floats:
        """One knockoff copy on the latent Gaussian scale."""
        latent = self.noise(len(self.mean), rng)
        latent += self.mean
        return latent

    def deviation(self, rng: np.random.Generator) -> dict[str, float]:
        """Largest deviation of the covariance of a copy from what was promised.

        Of at most 500 columns, on the latent scale.
        """
        columns = some_columns(self.mean.shape[1], rng)
        Z, copy = self.margins.scores[:, columns], self.draw_latent(rng)[:, columns]
        return largest_deviation(Z, copy, self.covariance(columns), self.distances[columns])


def some_columns(n_columns: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Columns to be compared: all, or as many as it takes little time for."""
    return np.sort(rng.permutation(n_columns)[:MOST_COMPARED])


def sampled_deviation(X: Floats, copy: Floats, columns: NDArray[np.intp]) -> dict[str, float]:
    """Largest deviation of the covariance of a copy from that of the table.

    For a sampler that promises nothing else: covariances with the other features must be equal.
    """
    center, spread = X[:, columns].mean(axis=0), X[:, columns].std(axis=0)
    Z, copy = (X[:, columns] - center) / spread, (copy[:, columns] - center) / spread
    S = Z.T @ Z / len(X)
    found = largest_deviation(Z, copy, S, np.diag(S - Z.T @ copy / len(X)))
    # Both sides are estimated.
    return found | {name: np.sqrt(2) * found[name] for name in ("standard_error", EXPECTED)}


def largest_deviation(Z: Floats, copy: Floats, S: Floats, s: Floats) -> dict[str, float]:
    """Largest deviation from cov(copy) = S and cov(Z, copy) = S - diag(s), and its error.

    Deviations are compared in units of their standard errors. The largest of so many normal numbers
    is what sampling alone may give.
    """
    n_rows = len(Z)
    errors = np.sqrt((1 + S**2) / n_rows)
    among = (copy.T @ copy / n_rows - S) / errors
    across = (Z.T @ copy / n_rows - S + np.diag(s)) / errors
    worst = np.maximum(np.abs(among), np.abs(across))
    at = np.unravel_index(worst.argmax(), worst.shape)
    return {
        "largest": float(worst[at] * errors[at]),
        "standard_error": float(errors[at]),
        EXPECTED: float(np.sqrt(2 * np.log(2 * worst.size)) * errors[at]),
    }


def factor_of(V: Floats) -> Floats:
    """L with L L' = V, lower triangular if V is positive definite."""
    try:
        return np.asarray(np.linalg.cholesky(V), dtype=np.float64)
    except np.linalg.LinAlgError:  # singular up to rounding: directions that the table determines
        values, vectors = np.linalg.eigh(V)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def check_sampler_table(X: Any, who: str) -> Floats:
    """The table as float64, finite and of two dimensions."""
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        got = f"shape {table.shape}" if table.ndim != 2 else "missing or infinite values"
        raise InputError(
            f"{who}: expected a table of finite numbers, got {got}. Impute them first."
        )
    return table
