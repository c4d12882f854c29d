"""FalseDiscoveries: features at a false discovery rate, by a known law or by permutations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._validation import Choice, Number, check_value
from tamis.certainty._law import law_p_values, with_q_values
from tamis.certainty.rule import CertaintyRule
from tamis.cutoff.fit_data import FitData

# A feature that was reached so often needs no more permutations (Besag and Clifford 1991).
ENOUGH_HITS = 10


@dataclass(frozen=True, eq=False)
class FalseDiscoveries(CertaintyRule):
    """Keep as many features as the false discovery rate allows.

    Every feature gets a p-value: from the law of its score, where that is known, or else from
    permutations of the target. Benjamini and Hochberg's procedure makes q-values of them: at
    `level`, the expected share of features independent of the target among those kept is at most
    `level`.

    Parameters
    ----------
    level : float, default=0.1
        Largest q-value of a feature that is kept, in (0, 1).
    method : {"bh", "by"}, default="bh"
        ``"bh"`` (Benjamini and Hochberg) holds for independent and for positively dependent
        features, ``"by"`` (Benjamini and Yekutieli) for any, with less power.
    n_permutations : int or None, default=None
        Largest number of permutations of a feature, where no law is known. ``None`` takes enough
        for a single feature to be found, ``n_features / level``, within 999 and 99,999; and 199 if
        each is a fit.
    strata : array-like of shape (n_samples,) or None, default=None
        One label per row: the target is permuted within strata only. No law is used then.
    random_state : int, RandomState instance or None, default=0
        Seed of the permutations.
    n_jobs : int or None, default=None
        Fits that run at the same time, on threads; ``None`` uses all cores. The result does not
        depend on it.
    checkpoint : str, path or None, default=None
        File from which interrupted refits resume; removed when they are complete.
    keep, groups : optional
        As in :class:`~tamis.certainty.CertaintyRule`.

    Notes
    -----
    `cut_details_` holds ``p_values``, ``q_values``, ``n_permutations`` (0 if a law was used) and
    ``source`` ("law" or "permutations").

    Laws are known for AnovaF, Correlation, Fisher with two classes, InformationGain and binned
    MutualInformation; they are asymptotic for the last two. Where these would be rough because
    cells expect few rows, permutations are used.

    Permutations stop for a feature once ten of them have reached its score: its p-value is then ten
    over their number, and only the other features go on. This leaves p-values valid (Besag and
    Clifford 1991). Otherwise the p-value is ``(1 + hits) / (1 + n_permutations)``, never 0. Each
    feature is compared with its own permuted scores, so that scores of features need not be
    comparable.

    Memory: as for :class:`~tamis.certainty.FamilyWise`.

    References
    ----------
    Benjamini, Y. and Hochberg, Y. (1995). Controlling the false discovery rate. Journal of the
    Royal Statistical Society B 57, 289-300. https://doi.org/10.1111/j.2517-6161.1995.tb02031.x

    Benjamini, Y. and Yekutieli, D. (2001). The control of the false discovery rate in multiple
    testing under dependency. Annals of Statistics 29, 1165-1188.
    https://doi.org/10.1214/aos/1013699998

    Besag, J. and Clifford, P. (1991). Sequential Monte Carlo p-values. Biometrika 78, 301-304.
    https://doi.org/10.1093/biomet/78.2.301

    Examples
    --------
    >>> import numpy as np, tamis
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> X = rng.normal(size=(100, 50))
    >>> X[:, [7, 20]] += 1.5 * y[:, None]
    >>> rule = tamis.certainty.FalseDiscoveries(0.1)
    >>> selector = tamis.DFT(n_features_to_select=rule).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 7, 20])
    """

    level: float = 0.1
    method: str = "bh"
    n_permutations: int | None = None
    random_state: int | np.random.RandomState | None = 0
    n_jobs: int | None = None
    checkpoint: str | Path | None = None

    assumption: ClassVar[str] = (
        "rows are exchangeable under the null, or the law of the score holds; for 'bh', features "
        "are independent or positively dependent"
    )
    guarantee: ClassVar[str] = (
        "the expected share of features independent of the target among those selected is at most "
        "the level"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_value(self.method, Choice(("bh", "by")), who=self.who, name="method")
        count = Number(int, low=ENOUGH_HITS, or_none=True)
        check_value(self.n_permutations, count, who=self.who, name="n_permutations")

    def gather(self, ranking: Ranking, data: FitData) -> dict[str, Any]:
        """P-values by law or permutations, and their q-values."""
        p_values, tries = law_p_values(self, data), 0
        if p_values is None:
            from tamis.certainty._sequential import permuted_p_values

            p_values, tries = permuted_p_values(self, ranking, data)
        return with_q_values(ranking, p_values, tries, self.method)

    def decide(self, evidence: dict[str, Any], ranking: Ranking) -> NDArray[np.bool_]:
        """Features whose q-value is at most the level."""
        return np.asarray(evidence["q_values"] <= self.level)

    def needs_rows(self, selector: Any) -> bool:
        """Not where a law is known and rows are all alike."""
        return self.strata is not None or self._is_flat() or not selector._may_have_law()

    def is_answered(self, data: FitData | None) -> bool:
        """Whether there are data, earlier evidence, or a law that needs neither."""
        return super().is_answered(data) or (
            data is not None and law_p_values(self, data) is not None
        )
