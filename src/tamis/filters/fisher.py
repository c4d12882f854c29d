"""Fisher: distance of the class means over the variances within the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._base import BlockSelector
from tamis._facts import SelectorFacts
from tamis._validation import N_JOBS, Choice, Constraint
from tamis.exceptions import InputError
from tamis.filters._permuted_ratio import permuted_fisher
from tamis.passes.memory import Opened
from tamis.statistics import WithRanges
from tamis.statistics.law_of_f import ROUNDING, f_p_values, finite_ratio
from tamis.statistics.laws import fisher_p_values
from tamis.statistics.permuted import complete
from tamis.statistics.permuted_sums import PermutedSums

Floats = NDArray[np.float64]


@dataclass(kw_only=True, eq=False, repr=False)
class Fisher(BlockSelector):
    """Fisher score: how far the class means lie apart, over the variances within the classes.

    A column scores high if its class means differ and the values of each class lie close together.
    One pass over the rows scores all columns. It sees differences of means only, and each column by
    itself.

    Parameters
    ----------
    form : {"plain", "weighted"}, default="plain"
        ``"plain"`` counts every class alike, as Gadat and Younes do, with the variances of samples;
        ``"weighted"`` counts a class by its rows, as Gu, Li and Han write the score, with the
        variances of populations.
    n_features_to_select : "auto", int, float, "elbow", "all" or rule, default="auto"
        The cut; see :mod:`tamis.cutoff`.
    n_jobs : int or None, default=None
        Threads; ``None`` uses all cores. The result does not depend on it.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The ratio, from 0 to 1e30, which stands for a column whose values never vary within a class.
    classes_ : ndarray of shape (n_classes,)
        The labels of the target.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    O(n_samples n_features) time in one pass; memory for about ``8 n_features n_classes`` numbers
    beside the data. An offset of 1e8 deviations leaves nine digits.

    The plain form is printed for two classes; here sums run over all classes. A class with one
    observed row (weight 1 or less) has a mean but no variance to add; a column in which this is
    so for all classes scores 0, as do columns that never vary and columns observed in one class.
    Missing values take no part. Zeros of a sparse matrix are counted without being visited.

    `sample_weight` counts rows: the plain form divides by the weight of a class less one, so
    multiplying all weights by a number changes it. The weighted form gives the order of
    :class:`~tamis.AnovaF`, if no value is missing.

    References
    ----------
    Gadat, S. and Younes, L. (2007). A stochastic algorithm for feature selection in pattern
    recognition. Journal of Machine Learning Research 8, 509-547.

    Gu, Q., Li, Z. and Han, J. (2011). Generalized Fisher score for feature selection. UAI.
    https://doi.org/10.48550/arXiv.1202.3725

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import Fisher
    >>> data = load_iris(as_frame=True)
    >>> selector = Fisher(n_features_to_select=2).fit(data.data, data.target)
    >>> selector.get_feature_names_out()
    array(['petal length (cm)', 'petal width (cm)'], dtype=object)
    >>> selector.scores_.round(2)
    array([ 1.59,  0.66, 15.74, 12.8 ])
    """

    form: str = "plain"
    n_features_to_select: Any = "auto"
    n_jobs: int | None = None

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Distance between the class means relative to the variance within classes.",
        tasks=("classification",),
        cost="T n",
        reference="Gadat and Younes 2007",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        "form": Choice(("plain", "weighted")),
        "n_jobs": N_JOBS,
    }

    def _check_table(self, table: Opened) -> None:
        assert table.class_weight is not None
        heaviest = float(table.class_weight.max())
        if self.form == "plain" and heaviest <= 1.0:
            raise InputError(
                f"Fisher: expected a class with at least two rows, got a largest class of total "
                f"weight {heaviest:g} (n_samples={table.n_rows}). Sample weights count rows: "
                "multiply them so that their mean is 1, or use form='weighted'."
            )

    def _finish(self, statistic: WithRanges, constant: NDArray[np.bool_]) -> Floats:
        table = statistic.other.finish().compare()
        rounding = (ROUNDING * table.size) ** 2
        self._class_weight = table.weight
        if self.form == "weighted":
            return finite_ratio(table.between, table.within, rounding * table.total)
        usable = table.weight > 1.0
        factor = np.divide(
            table.weight, table.weight - 1.0, out=np.zeros_like(table.weight), where=usable
        )
        between, within = (table.gap**2).sum(axis=0), (table.variance * factor).sum(axis=0)
        scores = finite_ratio(between, within, rounding * factor.sum(axis=0))
        return np.where(usable.any(axis=0), scores, 0.0)

    def _may_have_law(self) -> bool:
        return True

    def _law_p_values(self) -> Floats | None:
        if len(self._class_weight) != 2 or np.isnan(self._unit_weight):
            return None
        rows = self._class_weight / self._unit_weight
        seen = (rows > 0).all(axis=0).astype(np.float64)
        if self.form == "weighted":
            return f_p_values(self.scores_, seen, rows.sum(axis=0) - 2.0)
        if self._unit_weight != 1.0:  # variances of samples count rows
            return None
        return fisher_p_values(self.scores_, *rows)

    def _permuted(self, X: Any, y: Any, weight: Floats | None) -> PermutedSums | None:
        return permuted_fisher(self, X, y) if complete(X, weight, self.n_jobs) else None
