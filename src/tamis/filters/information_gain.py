"""InformationGain: bits that a column tells about the classes, per cost if costs are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._binned import BINS
from tamis._facts import SelectorFacts
from tamis._ranking import Ranking
from tamis._validation import N_JOBS, Constraint, Custom, Number
from tamis.cutoff.groups import resolve
from tamis.data import checks
from tamis.data.target import Target
from tamis.exceptions import InputError
from tamis.filters.information import InformationSelector, over_columns, plug_in
from tamis.passes.memory import Opened
from tamis.statistics import ClassHistogram
from tamis.statistics.permuted import complete
from tamis.statistics.permuted_counts import MOST_BINS, PermutedGains

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class InformationGain(InformationSelector):
    """Information gain: by how many bits knowing a column's bin lowers the entropy of the classes.

    The range of every column is cut into equal bins. The gain is the entropy of the classes less
    the mean entropy inside the bins, so relations of any shape count. With `costs`, columns are
    ranked by bits per unit of cost: what to measure first when columns have prices.

    Parameters
    ----------
    costs : sequence of float, mapping from column to float, or None, default=None
        Positive cost of every column; the score is the gain divided by it. A mapping goes by
        column name (or index); columns that it leaves out cost 1. ``None`` means 1 for all.
    n_bins : int, default=16
        Number of bins of a column.
    bins : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equal shares of the rows: then an outlier moves no other value
        to another bin, and scores depend on the order of the values only. Quantiles need a table
        in memory.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="auto"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Gain per unit of cost; without costs the gain itself.
    gain_ : ndarray of shape (n_features,)
        Information gain in bits, between 0 and the entropy of the classes.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    O(n_samples n_features + n_features n_bins n_classes) time, in two passes over the rows; memory
    for ``n_features * n_classes * (n_bins + 1)`` numbers beside the data. Missing values take no
    part, and zeros of a sparse matrix are counted without being visited. Of weights only the ratios
    matter. The gain of pure noise is about ``(n_bins - 1) (n_classes - 1) / (1.4 n_samples)`` bits:
    use fewer bins for few rows.

    References
    ----------
    Quinlan, J. R. (1986). Induction of decision trees. Machine Learning 1, 81-106.
    https://doi.org/10.1007/BF00116251

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import InformationGain
    >>> data = load_iris(as_frame=True)
    >>> selector = InformationGain(costs={"petal length (cm)": 3}, n_features_to_select=1)
    >>> selector.fit(data.data, data.target).gain_.round(2)
    array([0.78, 0.47, 1.4 , 1.42])
    >>> selector.scores_.round(2)
    array([0.78, 0.47, 0.47, 1.42])
    """

    costs: Any = None
    n_bins: int = 16
    bins: str = "uniform"
    n_features_to_select: Any = "auto"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Bits of information about the class labels, optionally per unit of cost.",
        tasks=("classification",),
        cost="T n + n B K",
        reference="Quinlan 1986",
        nonlinear="yes",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        "costs": Custom(
            lambda value: (
                value is None or (hasattr(value, "__len__") and not isinstance(value, str))
            ),
            "a sequence of numbers, a dict from columns to numbers, or None",
        ),
        "n_bins": Number(int, low=2, high=1_000_000),
        "bins": BINS,
        "n_jobs": N_JOBS,
    }

    def _check_table(self, table: Opened) -> None:
        self._checked_costs(table.n_columns)

    def _finish(self, statistic: ClassHistogram, constant: NDArray[np.bool_]) -> Floats:
        gain = over_columns(plug_in, self._counts(statistic)) / np.log(2)
        self.gain_ = np.where(constant, 0.0, gain)
        return self.gain_ / self._checked_costs(constant.size)

    def _may_have_law(self) -> bool:
        return True

    def _law_p_values(self) -> Floats | None:
        return self._law.p_values(self.gain_ * np.log(2), self._unit_weight)

    def _permuted(self, X: Any, y: Any, weight: Floats | None) -> PermutedGains | None:
        if not complete(X, weight, self.n_jobs) or self.n_bins > MOST_BINS:
            return None
        codes: Any = Target.of(y, self._task, weight, X.shape[0], type(self).__name__).codes
        costs = None if self.costs is None else self._checked_costs(X.shape[1])
        return self._permuted_information(X, codes, np.log(2), costs)

    def _checked_costs(self, n_columns: int) -> Floats:
        costs, who = self.costs, type(self).__name__
        if costs is None:
            return np.ones(n_columns)
        if isinstance(costs, Mapping):
            ranking = Ranking.of(np.zeros(n_columns), names=checks.names_of(self))
            columns = resolve(list(costs), ranking, f"{who}: costs")
            given = dict(zip(columns.tolist(), costs.values(), strict=True))
            costs = [given.get(column, 1.0) for column in range(n_columns)]
        try:
            costs = np.asarray(costs, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{who}: costs must be numbers, got {self.costs!r}.") from error
        if costs.shape != (n_columns,):
            raise InputError(
                f"{who}: costs must hold one number per column ({n_columns}), got "
                f"shape {costs.shape}. Pass a dict from columns to costs to name only some."
            )
        bad = np.flatnonzero(~(np.isfinite(costs) & (costs > 0)))
        if bad.size:
            names = checks.names_of(self)
            shown = int(bad[0]) if names is None else names[bad[0]]
            raise InputError(
                f"{who}: costs must be finite and above 0, got {costs[bad[0]]} for "
                f"column {shown!r}. Give a free column a small cost."
            )
        return costs
