"""GaussianKnockoffs: copies from a covariance matrix, given or estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tamis._validation import Choice, check_value
from tamis.certainty._distances import (
    LEAST_EIGENVALUE,
    choose_distances,
    exact_least_eigenvalue,
    inverse_of,
    is_positive,
)
from tamis.certainty._latent import (
    GaussianMargins,
    Margins,
    PreparedKnockoffs,
    RankMargins,
    check_sampler_table,
    factor_of,
)
from tamis.certainty._row_labels import same
from tamis.exceptions import InputError

Floats = NDArray[np.float64]

DISTANCES = ("mrc", "sdp", "equicorrelated")
MARGINS = ("auto", "gaussian", "ranks")


@dataclass(frozen=True, eq=False)
class GaussianKnockoffs:
    """Sample knockoff copies of Gaussian features, or of a Gaussian copula.

    A copy has the covariance S of the features, and ``cov(X, copy) = S - diag(s)``. If S is not
    given, the columns are turned into normal scores of their ranks, S is the shrunk covariance of
    these, and copies get the values of the table back by the empirical quantiles.

    Parameters
    ----------
    covariance : array-like of shape (n_features, n_features) or None, default=None
        The covariance of the features; None estimates it (Ledoit and Wolf).
    mean : array-like of shape (n_features,), float or None, default=None
        The mean of the features; None takes that of the table.
    s : {"mrc", "sdp", "equicorrelated"} or array-like of shape (n_features,), default="mrc"
        How s is chosen: minimum reconstructability, the largest sum of s (a semidefinite program),
        or the same s for all features. Numbers are in units of the variances; they are shrunk if
        no copy can be so far from its feature.
    margins : {"auto", "gaussian", "ranks"}, default="auto"
        Whether columns are Gaussian as they are or become normal scores of their ranks; "auto"
        takes "gaussian" if `covariance` is given, else "ranks".

    Notes
    -----
    Equal values of a column are ranked at random, so columns of few values can be used: their
    copies have the same values in the same shares. Relations between such columns are weaker among
    the copies (two columns of three values and correlation 0.85 have copies with 0.63); pass a
    sampler that knows them where that matters.

    Preparing takes O(n_samples n_features^2 + n_features^3), a copy O(n_samples n_features^2);
    memory for four matrices of n_features^2 and four tables.

    References
    ----------
    Candes, E., Fan, Y., Janson, L. and Lv, J. (2018). Panning for gold: model-X knockoffs for high
    dimensional controlled variable selection. Journal of the Royal Statistical Society B 80(3).
    doi:10.1111/rssb.12265

    Spector, A. and Janson, L. (2022). Powerful knockoffs via minimizing reconstructability. Annals
    of Statistics 50(1). doi:10.1214/21-AOS2104

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.certainty import GaussianKnockoffs
    >>> rng = np.random.default_rng(0)
    >>> S = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> X = rng.multivariate_normal([0, 0], S, size=20_000)
    >>> copy = GaussianKnockoffs(covariance=S, mean=0.0)(X, rng)
    >>> np.cov(copy.T).round(1)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    covariance: ArrayLike | None = None
    mean: ArrayLike | None = None
    s: str | ArrayLike = "mrc"
    margins: str = "auto"

    def __post_init__(self) -> None:
        who = type(self).__name__
        if isinstance(self.s, str):
            check_value(self.s, Choice(DISTANCES), who=who, name="s")
        check_value(self.margins, Choice(MARGINS), who=who, name="margins")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and same(vars(self), vars(other))

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, X: Any, rng: np.random.Generator) -> Floats:
        """One knockoff copy of a table."""
        return self.prepare(X, rng).draw(rng)

    def prepare(self, X: Any, rng: np.random.Generator) -> PreparedKnockoffs:
        """Do once what all copies of a table share."""
        X = check_sampler_table(X, type(self).__name__)
        if not isinstance(self.s, str) and np.shape(self.s) != (X.shape[1],):
            raise InputError(
                f"{type(self).__name__}: s must be a word or one number per feature that is not "
                f"constant ({X.shape[1]}), got shape {np.shape(self.s)}."
            )
        margins, S = self._model(X, rng)
        s = choose_distances(S, self.s)
        back = inverse_of(S) * s
        V = 2 * np.diag(s) - s[:, None] * back
        factor = factor_of((V + V.T) / 2)
        mean = margins.scores - margins.scores @ back

        def noise(n_rows: int, rng: np.random.Generator) -> Floats:
            return np.asarray(rng.standard_normal((n_rows, s.size)) @ factor.T)

        return PreparedKnockoffs(margins, mean, noise, s, lambda at: S[np.ix_(at, at)])

    def _model(self, X: Floats, rng: np.random.Generator) -> tuple[Margins, Floats]:
        """Margins, and the correlation matrix of their scores, which is not singular."""
        by_ranks = self.margins == "ranks" or (self.margins == "auto" and self.covariance is None)
        mean = X.mean(axis=0) if self.mean is None else np.asarray(self.mean, dtype=np.float64)
        if self.covariance is None:
            spread = X.std(axis=0)
        else:
            S = self._checked(X.shape[1])
            spread = np.sqrt(np.diag(S))
        spread = np.where(spread > 0, spread, 1.0)
        margins: Margins
        margins = RankMargins(X, rng) if by_ranks else GaussianMargins(X, mean, spread)
        if self.covariance is None:
            from sklearn.covariance import ledoit_wolf

            S = ledoit_wolf(margins.scores, assume_centered=True)[0]
            spread = np.sqrt(np.diag(S))
        S = S / np.outer(spread, spread)
        return margins, away_from_singular(S)

    def _checked(self, n_columns: int) -> Floats:
        S = np.asarray(self.covariance, dtype=np.float64)
        if S.shape != (n_columns, n_columns):
            raise InputError(
                f"{type(self).__name__}: covariance must be of shape ({n_columns}, {n_columns}), "
                f"one row and column per feature that is not constant, got shape {S.shape}."
            )
        if not np.isfinite(S).all() or not np.allclose(S, S.T) or not (np.diag(S) > 0).all():
            raise InputError(
                f"{type(self).__name__}: covariance must be finite and symmetric, with a positive "
                "diagonal, got another matrix."
            )
        return S


def away_from_singular(S: Floats) -> Floats:
    """The correlation matrix, moved towards the identity if it is singular or nearly so."""
    identity = np.eye(len(S))
    if is_positive(S - LEAST_EIGENVALUE * identity):
        return S
    least = exact_least_eigenvalue(S)
    share = max(LEAST_EIGENVALUE - least, 0.0) / (1 - least)
    return (1 - share) * S + share * identity
