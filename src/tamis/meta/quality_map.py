"""QualityMap: predict how good a feature is from its properties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tamis._base import BaseSelector
from tamis._validation import Constraint, Custom, Number, check_parameters
from tamis.exceptions import InputError
from tamis.meta._meta_encoder import MetaEncoder, NearestRegressor, nugget

Floats = NDArray[np.float64]

REGRESSOR = Custom(
    lambda value: value is None or (hasattr(value, "fit") and hasattr(value, "predict")),
    "a regressor with fit and predict, or None for nearest neighbours",
)


@dataclass(kw_only=True, eq=False, repr=False)
class QualityMap(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Map from the properties of features (meta-features) to their quality.

    The quality of some features is measured on data, such as their information gain. Their
    properties, such as the pathway of a gene, are known for all features. The map is a regression
    of the one on the other. It tells which features that were never measured are worth
    measuring, which properties make a feature good, and it improves noisy measurements.

    Parameters
    ----------
    regressor : regressor or None, default=None
        Any scikit-learn regressor; ``None`` is a distance-weighted mean of the nearest features.
    n_neighbors : int, default=10
        Neighbours of the default regressor; at most as many as there are features.
    cv : int, default=5
        Folds for `predicted_`; at most as many as there are features.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    predicted_ : ndarray of shape (n_features,)
        Quality of every feature of the fit as predicted by a map that has not seen it.
    correlation_, spearman_ : float
        Pearson's and Spearman's correlation of quality and `predicted_`; 0 if one is constant.
    contribution_ : ndarray of shape (n_meta,)
        By how much `correlation_` falls without a meta-feature; computed when first asked for.
    quality_, regressor_ : ndarray of shape (n_features,), regressor
        The measured quality, and the regressor fitted on all features.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_meta,)
        Number of meta-features, and their names if `meta` was a DataFrame.
    map_weight_ : ndarray of shape (n_features,)
        Weight of the map in the last call of :meth:`smooth`, the rest being the measurement's.

    Notes
    -----
    The default regressor takes the ``k`` nearest features by Euclidean distance and weighs them
    by ``exp(-d^2 / b)``, where ``b`` is the mean ``d^2`` of these neighbours: the law of Navot et
    al. (2006), with a width that follows the density of the features. Features as far as the
    ``k``-th nearest are all taken, so order does not matter.

    Numbers are divided by their deviation, text and categories get a column for each label,
    scaled so that every meta-feature counts alike in a distance. A missing number is put
    at the median, with one more column that says it was missing; a missing label is a label.
    Meta-features that do not vary in the fit are ignored. Encoding never looks at the quality.

    A fit costs ``cv + 1`` fits of the regressor, `contribution_` another ``cv * n_meta``. The
    default predicts in ``n_queries n_features n_meta``.

    References
    ----------
    Krupka, E., Navot, A. and Tishby, N. (2008). Learning to select features using their
    properties. Journal of Machine Learning Research 9, 2349-2376.

    Navot, A., Shpigelman, L., Tishby, N. and Vaadia, E. (2006). Nearest neighbor based feature
    selection for regression and its application to neural activity. Advances in Neural Information
    Processing Systems 18.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import QualityMap
    >>> meta = np.random.default_rng(0).uniform(size=(200, 2))  # the first property matters
    >>> quality = np.sin(3 * meta[:, 0])
    >>> quality_map = QualityMap(random_state=0).fit(meta, quality)
    >>> quality_map.predict([[0.5, 0.5], [0.0, 0.5]]).round(1)
    array([1. , 0.3])
    >>> bool(quality_map.correlation_ > 0.9), int(quality_map.contribution_.argmax())
    (True, 0)
    """

    regressor: Any = None
    n_neighbors: int = 10
    cv: int = 5
    random_state: Any = None

    _constraints: ClassVar[dict[str, Constraint]] = {
        "regressor": REGRESSOR,
        "n_neighbors": Number(int, low=1),
        "cv": Number(int, low=2),
    }

    _forget: ClassVar[Any] = BaseSelector._forget

    def fit(self, meta: Any, quality: Any) -> QualityMap:
        """Learn the map from measured features.

        Parameters
        ----------
        meta : array-like or DataFrame of shape (n_features, n_meta)
            Properties of the measured features.
        quality : array-like of shape (n_features,) or fitted selector
            Their measured quality, larger is better; of a selector its `scores_`.
        """
        check_parameters(self, self._constraints)
        self._forget()
        who = type(self).__name__
        encoder = MetaEncoder(meta, who)
        parts = encoder.parts(meta)
        points = np.hstack(parts)
        values = check_quality(quality, len(points), who)
        self._encoder, self._points = encoder, points
        self._owners = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
        self.n_features_in_ = len(parts)
        if encoder.names is not None:
            self.feature_names_in_ = np.array(encoder.names, dtype=object)
        self.quality_ = values
        order = check_random_state(self.random_state).permutation(values.size)
        self._folds = np.array_split(order, min(self.cv, values.size))
        self.regressor_ = self._new_regressor().fit(points, values)
        self.predicted_ = self._out_of_fold(points)
        self.correlation_ = correlation(values, self.predicted_)
        self.spearman_ = correlation(rankdata(values), rankdata(self.predicted_))
        return self

    def predict(self, meta: Any) -> Floats:
        """Predict the quality of features, measured or not, as an array of shape (n_features,).

        Parameters
        ----------
        meta : array-like or DataFrame of shape (n_features, n_meta)
            The same properties as in fit.
        """
        check_is_fitted(self, "regressor_")
        return np.asarray(self.regressor_.predict(self._encoder.encode(meta)), np.float64).ravel()

    def smooth(self, meta: Any, quality: Any, *, noise: Any = None) -> Floats:
        """Fit the map and improve the measured quality with it; returns the improved one.

        Parameters
        ----------
        meta : array-like or DataFrame of shape (n_features, n_meta)
            Properties of the measured features.
        quality : array-like of shape (n_features,) or (n_features, n_repeats), or fitted selector
            Measured quality. Of repeated measurements, such as on parts of the rows, the mean is
            improved, and the noise is estimated from their differences.
        noise : float, array-like of shape (n_features,) or None, default=None
            Standard errors of the measured quality, if they are known.

        Notes
        -----
        With ``q`` the measured quality, ``s^2`` the variance of its noise and ``m`` the prediction
        of a map that has not seen the feature, the result is ::

            w m + (1 - w) q,    w = s^2 / (s^2 + v),    s^2 + v = mean of (q - m)^2

        From single measurements, noise and what the meta-features leave unexplained cannot be told
        apart, but both together can be: ``g``, the variance of the quality at one and the same
        place, is read off differences between features with near properties. Of it the share
        ``r^2`` is taken for noise, where ``r`` is the correlation of the map (0 if negative)::

            w = r^2 min(1, g / mean of (q - m)^2)

        True differences between features of the same properties are then smoothed, too. Give
        `noise` or repeats where you can. See :doc:`/families/meta` for the reasons.
        """
        values, spread = self._with_noise(quality, noise)
        self.fit(meta, values)
        if spread is None:
            weight = np.zeros(values.size)
            error = float(np.mean((values - self.predicted_) ** 2))
            if self.correlation_ > 0 and error > 0:
                weight += self.correlation_**2 * min(1.0, nugget(self._points, values) / error)
        else:
            square = np.broadcast_to(spread**2, values.shape)
            left = float(np.mean((values - self.predicted_) ** 2) - square.mean())
            total = square + max(0.0, left)
            weight = np.divide(square, total, out=np.zeros(values.size), where=total > 0)
        self.map_weight_ = weight
        return weight * self.predicted_ + (1.0 - weight) * values

    @cached_property
    def contribution_(self) -> Floats:
        """Fall of the correlation when a meta-feature is left out."""
        check_is_fitted(self, "regressor_")
        without = [
            self._out_of_fold(self._points[:, self._owners != j])
            for j in range(self.n_features_in_)
        ]
        falls = [self.correlation_ - correlation(self.quality_, other) for other in without]
        return np.array(falls)

    def _new_regressor(self) -> Any:
        if self.regressor is None:
            return NearestRegressor(self.n_neighbors)
        return clone(self.regressor)

    def _out_of_fold(self, points: Floats) -> Floats:
        predicted = np.empty(len(points))
        for fold in self._folds:
            rest = np.delete(np.arange(len(points)), fold)
            # Without columns, when the only meta-feature is left out, there is only the mean.
            regressor = self._new_regressor() if points.shape[1] else DummyRegressor()
            regressor.fit(points[rest], self.quality_[rest])
            predicted[fold] = np.ravel(regressor.predict(points[fold]))
        return predicted

    def _with_noise(self, quality: Any, noise: Any) -> tuple[Floats, Floats | None]:
        """Quality, and its standard error where that is given or can be estimated."""
        who = type(self).__name__
        if hasattr(quality, "scores_") or np.ndim(quality) != 2:
            values = check_quality(quality, None, who)
        else:
            repeats = np.asarray(quality, dtype=np.float64)
            values = check_quality(repeats.mean(axis=1), None, who)
            if noise is None and repeats.shape[1] > 1:
                # Pooled: a handful of repeats of one feature says little about its own noise.
                variance = repeats.var(axis=1, ddof=1).mean() / repeats.shape[1]
                return values, np.array(np.sqrt(variance))
        if noise is None:
            return values, None
        spread = np.asarray(noise, dtype=np.float64)
        if (
            spread.shape not in ((), values.shape)
            or not (np.isfinite(spread) & (spread >= 0)).all()
        ):
            raise InputError(
                f"{who}: expected noise to be one standard error, or one for each of the "
                f"{values.size} features, finite and not negative, got {noise!r}."
            )
        return values, spread


def check_quality(quality: Any, n_points: int | None, who: str) -> Floats:
    """Measured quality as finite numbers, one per row of the properties."""
    values = getattr(quality, "scores_", quality)
    if values is quality and hasattr(quality, "fit"):
        raise InputError(
            f"{who}: expected numbers or a fitted selector as quality, got an unfitted "
            f"{type(quality).__name__}. Fit it first, or use tamis.meta.measure_quality."
        )
    try:
        values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{who}: expected numbers as quality, got {quality!r}. Get them from data with "
            "tamis.meta.measure_quality."
        ) from error
    if values.ndim != 1 or values.size < 2 or (n_points is not None and values.size != n_points):
        wanted = "at least 2" if n_points is None else f"{n_points}, one per row of meta and"
        raise InputError(
            f"{who}: expected a 1d quality with {wanted} values"
            f"{'' if n_points is None else ' at least 2'}, got shape {values.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"{who}: expected finite qualities, got {float(values[bad[0]])!r} in row {bad[0]}. "
            "Leave features without a measured quality out of meta and quality."
        )
    return values


def correlation(left: Floats, right: Floats) -> float:
    """Pearson's correlation; 0 if one side is constant, as it tells nothing apart."""
    if np.ptp(left) == 0 or np.ptp(right) == 0:
        return 0.0
    left, right = left - left.mean(), right - right.mean()
    left, right = left / np.abs(left).max(), right / np.abs(right).max()
    return float(np.clip(left @ right / np.sqrt((left @ left) * (right @ right)), -1.0, 1.0))
