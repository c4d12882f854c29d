"""LowRankKnockoffs: copies of wide tables, in time and memory linear in the features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._validation import Choice, Number, check_value
from tamis.certainty._latent import (
    GaussianMargins,
    Margins,
    PreparedKnockoffs,
    RankMargins,
    check_sampler_table,
)

Floats = NDArray[np.float64]

# At most so many factors are looked for by default.
MOST_FACTORS = 50
# A feature keeps at least this share of its variance for itself.
LEAST_OWN_SHARE = 0.02
N_STEPS = 20
# Eigenvalues of noise end here, in units of Marchenko and Pastur's edge: variances differ.
EDGE = 1.1


@dataclass(frozen=True)
class LowRankKnockoffs:
    """Sample knockoff copies from a factor model: covariance ``diag(d) + U U'``.

    For tables of many thousand features. A few common factors U are taken from the table; what is
    left of a feature, d, is its own. Correlations that few features share are not modelled.

    Parameters
    ----------
    rank : int or None, default=None
        Number of factors; None takes those that stand out of noise, at most 50.
    margins : {"ranks", "gaussian"}, default="ranks"
        As in :class:`GaussianKnockoffs`.

    Notes
    -----
    Factors are the singular vectors of the standardised table, each with its variance shrunk as
    optimal for a few spikes in noise (Donoho, Gavish and Johnstone 2018); those below the edge of
    noise are left out. s minimises reconstructability, within ``s <= 2 d``. Then the conditional
    covariance ``2 diag(s) - diag(s) S^-1 diag(s)`` is ``diag(2 s - s^2 / d) + H K H'`` by
    Woodbury's identity, with ``H = diag(s / d) U`` and ``K = (I + U' diag(1 / d) U)^-1``. Both
    parts are positive semidefinite, so copies are exact without any matrix of n_features^2. A copy
    takes O(n_samples n_features rank).

    References
    ----------
    Donoho, D., Gavish, M. and Johnstone, I. (2018). Optimal shrinkage of eigenvalues in the spiked
    covariance model. Annals of Statistics 46(4). doi:10.1214/17-AOS1601

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.certainty import LowRankKnockoffs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5_000)) + rng.normal(size=(100, 1))
    >>> LowRankKnockoffs()(X, rng).shape
    (100, 5000)
    """

    rank: int | None = None
    margins: str = "ranks"

    def __post_init__(self) -> None:
        who = type(self).__name__
        check_value(self.rank, Number(int, low=0, or_none=True), who=who, name="rank")
        check_value(self.margins, Choice(("ranks", "gaussian")), who=who, name="margins")

    def __call__(self, X: Any, rng: np.random.Generator) -> Floats:
        """One knockoff copy of a table."""
        return self.prepare(X, rng).draw(rng)

    def prepare(self, X: Any, rng: np.random.Generator) -> PreparedKnockoffs:
        """Do once what all copies of a table share."""
        X = check_sampler_table(X, type(self).__name__)
        margins: Margins
        if self.margins == "ranks":
            margins = RankMargins(X, rng)
        else:
            spread = X.std(axis=0)
            margins = GaussianMargins(X, X.mean(axis=0), np.where(spread > 0, spread, 1.0))
        U = find_factors(margins.scores, self.rank, rng)
        return prepare_low_rank(margins, U)


def prepare_low_rank(margins: Margins, U: Floats) -> PreparedKnockoffs:
    """Sampler for the correlation matrix ``diag(1 - row sums of U^2) + U U'``."""
    d = 1 - np.einsum("jr,jr->j", U, U)
    s = low_rank_distances(d, U)
    F = U / d[:, None]
    K = np.linalg.inv(np.eye(U.shape[1]) + U.T @ F)
    H = s[:, None] * F @ np.linalg.cholesky((K + K.T) / 2)
    own = np.sqrt(np.maximum(2 * s - s**2 / d, 0.0))
    Z = margins.scores
    mean = Z * (1 - s / d)
    mean += (Z @ F @ K) @ (s[:, None] * F).T

    def noise(n_rows: int, rng: np.random.Generator) -> Floats:
        drawn = rng.standard_normal((n_rows, d.size))
        drawn *= own
        drawn += rng.standard_normal((n_rows, U.shape[1])) @ H.T
        return drawn

    def covariance(columns: NDArray[np.intp]) -> Floats:
        return np.diag(d[columns]) + U[columns] @ U[columns].T

    return PreparedKnockoffs(margins, mean, noise, s, covariance)


def find_factors(Z: Floats, rank: int | None, rng: np.random.Generator) -> Floats:
    """Loadings U of the factors that stand out of noise, for a standardised table."""
    from sklearn.utils.extmath import randomized_svd

    n_rows, n_columns = Z.shape
    most = min(MOST_FACTORS if rank is None else rank, min(n_rows, n_columns) - 1)
    if most < 1:
        return np.zeros((n_columns, 0))
    seed = int(rng.integers(2**31))
    _, sizes, vectors = randomized_svd(Z, most, random_state=seed)
    spectrum = sizes**2 / n_rows
    ratio = n_columns / n_rows
    kept = most
    if rank is None:
        # Variance of the noise: what the factors leave, taken again until their number is stable.
        for _ in range(10):
            noise = (n_columns - spectrum[:kept].sum()) / max(n_columns - kept * (1 + ratio), 1.0)
            edge = EDGE * noise * (1 + np.sqrt(ratio)) ** 2
            now = int((spectrum > edge).sum())
            if now == kept:
                break
            kept = now
    noise = max((n_columns - spectrum[:kept].sum()) / n_columns, 1e-12)
    lengths = np.sqrt(shrunk_spikes(spectrum[:kept] / noise, ratio) * noise)
    U = vectors[:kept].T * lengths
    shared = np.einsum("jr,jr->j", U, U)
    too_much = shared > 1 - LEAST_OWN_SHARE
    U[too_much] *= np.sqrt((1 - LEAST_OWN_SHARE) / shared[too_much])[:, None]
    return np.asarray(U)


def shrunk_spikes(spectrum: Floats, ratio: float) -> Floats:
    """Variance of each factor beyond noise of variance 1, from eigenvalues of the sample.

    The eigenvalue without its bias, times the squared cosine between the sampled direction and the
    true one: the best for the squared error of the covariance.
    """
    middle = spectrum + 1 - ratio
    inside = np.maximum(middle**2 - 4 * spectrum, 0.0)
    beyond = np.maximum((middle + np.sqrt(inside)) / 2 - 1, 1e-12)
    return np.asarray(beyond * np.maximum(1 - ratio / beyond**2, 0.0) / (1 + ratio / beyond))


def low_rank_distances(d: Floats, U: Floats) -> Floats:
    """Distances s < 2 d that minimise the sum of 1 / s_j and the trace of (2 S - diag(s))^-1.

    All coordinates move at once by half of their closed-form step, as long as the loss falls; s = d
    is where they start, and where they stay without factors.
    """
    s = d.copy()
    loss, a, norm = reconstructability(s, d, U)
    step = 0.5
    for _ in range(N_STEPS):
        root = np.sqrt(norm)
        moved = np.clip(s + step * (1 - root * s) / (a + root), 0.01 * d, 1.99 * d)
        new_loss, new_a, new_norm = reconstructability(moved, d, U)
        if new_loss >= loss:
            step /= 2
            continue
        done = loss - new_loss < 1e-6 * loss
        s, loss, a, norm = moved, new_loss, new_a, new_norm
        if done:
            break
    return np.minimum(s, 1.0)


def reconstructability(s: Floats, d: Floats, U: Floats) -> tuple[float, Floats, Floats]:
    """The loss; the diagonal of A = (2 S - diag(s))^-1; and the squared norms of its rows."""
    e = 2 * d - s
    F = U / e[:, None]
    K = np.linalg.inv(np.eye(U.shape[1]) / 2 + U.T @ F)
    FK = F @ K
    quadratic = np.einsum("jr,jr->j", FK, F)
    a = 1 / e - quadratic
    norm = 1 / e**2 - 2 * quadratic / e + np.einsum("jr,jr->j", FK @ (F.T @ F), FK)
    return float((1 / s + a).sum()), a, np.maximum(norm, 1e-300)
