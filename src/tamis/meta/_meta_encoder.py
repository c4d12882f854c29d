"""Meta-features as numbers, and regression by nearest neighbours on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, RegressorMixin

from tamis.data.frames import is_frame
from tamis.data.labels import is_missing
from tamis.exceptions import InputError

Floats = NDArray[np.float64]
NUMBERS = (bool, int, float, np.number, np.bool_)
# Distances held at a time: 4 MB, which stay in the cache.
CELLS = 500_000
# Rounding of the distances; points so little farther than the k-th are as near as it is.
ROUNDING = 1e-9
# Neighbours whose differences tell the variance at distance 0.
NEAR = 8


class _Number(NamedTuple):
    """A property that is a number: value put for missing ones, scale, and if some were missing."""

    middle: float
    spread: float
    indicator: bool


class _Label(NamedTuple):
    """A property that is a label: the labels seen, and the height of their columns."""

    labels: list[str]
    height: float


class MetaEncoder:
    """How a table of meta-features becomes numbers of which each property has variance 1 in all.

    What was not there in the fit, a label or a gap, has no column: only zeros.
    """

    def __init__(self, meta: Any, who: str):
        self.who = who
        columns, self.names = read_columns(meta, who)
        self.codes = [
            _code_of_numbers(column) if column.dtype.kind == "f" else _code_of_labels(column)
            for column in columns
        ]

    def encode(self, meta: Any) -> Floats:
        """Scaled numbers of the same properties, perhaps of other features."""
        return np.hstack(self.parts(meta))

    def parts(self, meta: Any) -> list[Floats]:
        """The encoded columns of every property."""
        columns, names = read_columns(meta, self.who)
        self._check(len(columns), names)
        parts = []
        for j, (column, code) in enumerate(zip(columns, self.codes, strict=True)):
            if isinstance(code, _Label):
                labels = np.array(code.labels, dtype=object)
                parts.append(code.height * (as_text(column)[:, None] == labels))
            elif column.dtype.kind == "f":
                missing = np.isnan(column)
                is_zero = missing | (code.spread == 0)
                scaled = np.where(is_zero, 0.0, column - code.middle) / (code.spread or 1.0)
                parts.append(np.column_stack([scaled, missing][: 1 + code.indicator]))
            else:
                text = next(value for value in column if not isinstance(value, NUMBERS))
                raise InputError(
                    f"{self.who}: expected numbers in meta-feature "
                    f"{j if self.names is None else self.names[j]!r}, as in fit, got {text!r}. "
                    "Pass the same kind of table as in fit."
                )
        return parts

    def _check(self, n_columns: int, names: list[str] | None) -> None:
        if n_columns != len(self.codes):
            raise InputError(
                f"{self.who}: expected {len(self.codes)} meta-features, as in fit, got "
                f"{n_columns}. Pass the same properties in the same order."
            )
        if names is not None and self.names is not None and names != self.names:
            place = next(i for i, name in enumerate(names) if name != self.names[i])
            raise InputError(
                f"{self.who}: expected the meta-features of fit in the same order, got "
                f"{names[place]!r} in place of {self.names[place]!r}. Choose and order the columns "
                "as in fit."
            )


def _code_of_numbers(column: Floats) -> _Number:
    missing = np.isnan(column)
    if missing.all():
        return _Number(0.0, 0.0, False)
    middle = float(np.median(column[~missing]))
    filled = np.where(missing, middle, column)
    # Rounding of the mean must not give a column of one value a deviation.
    spread = 0.0 if np.ptp(filled) == 0 else float((filled - middle).std())
    return _Number(middle, spread, bool(missing.any()))


def _code_of_labels(column: NDArray[Any]) -> _Label:
    labels, counts = np.unique(as_text(column), return_counts=True)
    share = counts / counts.sum()
    variance = 1.0 - float(share @ share)  # of all its columns together
    return _Label(labels.tolist(), 1.0 / np.sqrt(variance) if labels.size > 1 else 0.0)


def as_text(column: NDArray[Any]) -> NDArray[Any]:
    """Labels as text; a missing one is the empty text."""
    return np.array(["" if is_missing(value) else str(value) for value in column], dtype=object)


def read_columns(meta: Any, who: str) -> tuple[list[NDArray[Any]], list[str] | None]:
    """Columns of a table of properties, float64 or objects, and their names if they have some."""
    names: list[str] | None = None
    if is_frame(meta):
        frame = nw.from_native(meta, eager_only=True)
        names = [str(name) for name in frame.columns]
        columns = [_frame_column(frame[name], who) for name in frame.columns]
    else:
        table = np.asarray(meta)
        if table.ndim != 2:
            raise InputError(
                f"{who}: expected meta with a row for each feature and a column for each "
                f"meta-feature, got shape {table.shape}. Use meta.reshape(-1, 1) for a single one."
            )
        columns = [_column(column, who, j) for j, column in enumerate(table.T)]
    if not columns:
        raise InputError(f"{who}: expected at least one meta-feature, got a table without columns.")
    for j, column in enumerate(columns):
        # Squares of what is larger overflow; NaN is not larger than anything.
        if column.dtype.kind == "f" and (np.abs(column) > 1e150).any():
            raise InputError(
                f"{who}: expected meta-features below 1e150, got inf or more than that in "
                f"meta-feature {j if names is None else names[j]!r}. Replace such values by NaN, "
                "or rescale the column."
            )
    return columns, names


def _frame_column(series: Any, who: str) -> NDArray[Any]:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return series.cast(nw.Float64).to_numpy().astype(np.float64)
    if dtype.is_temporal():
        raise InputError(
            f"{who}: expected numbers or labels, got {dtype} in meta-feature {series.name!r}. "
            "Turn it into a number, such as days since a date."
        )
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return _column(values, who, series.name)


def _column(column: NDArray[Any], who: str, name: Any) -> NDArray[Any]:
    """Numbers as float64; anything else as objects."""
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    if column.dtype.kind not in "OUST":
        raise InputError(
            f"{who}: expected numbers or labels, got dtype {column.dtype} in meta-feature {name!r}."
        )
    column = column.astype(object)
    gaps = np.array([is_missing(value) for value in column], dtype=bool)
    if not all(isinstance(value, NUMBERS) for value in column[~gaps]):
        return column
    numbers = np.full(column.size, np.nan)
    numbers[~gaps] = column[~gaps].astype(np.float64)
    return numbers


class NearestRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Distance-weighted mean of the `n_neighbors` nearest points, see :class:`QualityMap`."""

    def __init__(self, n_neighbors: int = 10):
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any) -> NearestRegressor:
        self.points_ = np.array(X, dtype=np.float64)
        self.values_ = np.array(y, dtype=np.float64)
        self.n_features_in_ = self.points_.shape[1]
        return self

    def predict(self, X: Any) -> Floats:
        X = np.asarray(X, dtype=np.float64)
        out = np.empty(len(X))
        rows = max(1, CELLS // len(self.points_))
        for first in range(0, len(X), rows):
            out[first : first + rows] = self._means(X[first : first + rows])
        return out

    def _means(self, queries: Floats) -> Floats:
        # Sums of squared differences: equal rows are at exactly 0, which x.x - 2 x.y + y.y loses.
        squares = cdist(queries, self.points_, "sqeuclidean")
        last = min(self.n_neighbors, len(self.points_)) - 1
        reach = np.partition(squares, last, axis=1)[:, last : last + 1]
        # Few are near, so the rest is done for those alone.
        query, point = np.nonzero(squares <= reach * (1.0 + ROUNDING))
        near = squares[query, point]
        width = _sums(query, near, len(queries)) / np.bincount(query, minlength=len(queries))
        # Where all neighbours are equal to the query, all of them count the same.
        weights = np.exp(-near / np.where(width > 0.0, width, 1.0)[query])
        # The mean is taken of differences to one value, so that equal values give just this value.
        base = float(self.values_[0])
        total = _sums(query, weights * (self.values_[point] - base), len(queries))
        return base + total / _sums(query, weights, len(queries))


def _sums(group: NDArray[np.intp], values: Floats, n_groups: int) -> Floats:
    return np.asarray(np.bincount(group, values, minlength=n_groups), dtype=np.float64)


def nugget(points: Floats, values: Floats) -> float:
    """Variance of the values at one and the same place, read off near points (the gamma test)."""
    # Half the mean squared difference to the 1st, 2nd, ... neighbour, against its mean squared
    # distance, is a line near 0; it begins at the variance of the noise.
    from tamis.statistics.neighbors import nearest_rows

    indices, squares = nearest_rows(np.ascontiguousarray(points), NEAR)
    halves = 0.5 * np.square(values[indices] - values[:, None]).mean(axis=0)
    distance = squares.mean(axis=0)
    centred = distance - distance.mean()
    if not centred.any():
        return float(halves.mean())
    start = halves.mean() - distance.mean() * (centred @ halves) / (centred @ centred)
    return float(np.clip(start, 0.0, halves[0]))
