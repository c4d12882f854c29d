"""BeyondChance: the features beyond chance, the default cutoff of supervised selectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis.certainty._law import law_p_values, with_q_values
from tamis.certainty.false_discoveries import FalseDiscoveries
from tamis.certainty.rule import CertaintyRule
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut


@dataclass(frozen=True, eq=False)
class BeyondChance(CertaintyRule):
    """Keep the features beyond chance at a false discovery rate, at little cost.

    Written ``n_features_to_select="auto"``, the default of supervised selectors. Where the law of
    the scores is known, or the scores of many permuted targets are found at once, it is
    :class:`FalseDiscoveries`. A method that would have to be fitted again for every permutation
    (and ReliefF, unless a table is small) is not tested itself, but the rank correlation of
    every feature with the target is. If no feature passes, nothing is selected. Otherwise the
    method keeps the number of features that it finds best itself, or else as many of its first
    ones as have passed.

    Parameters
    ----------
    level : float, default=0.1
        The false discovery rate, in (0, 1).
    strata, keep, groups : optional
        As in :class:`~tamis.certainty.CertaintyRule`.

    Notes
    -----
    `cut_details_` holds ``p_values``, ``q_values``, ``n_permutations``, ``source`` and ``tested``:

    - "scores": the scores of the method, by their law, by permutations, or by a bound of their law.
    - "rank correlation" ("correlation" for sparse tables): every feature by itself. The test says
      how many features, not which; those that matter only together with others do not count. Use
      :class:`FalseDiscoveries`, :class:`FamilyWise` or :class:`Shadows` to test the method itself.
    - "nothing": rows were read block by block, and what they left behind allows no test. The
      elbow, or the number that the method finds best, is kept with a warning.

    Where many features are related to the target, fewer permutations are drawn than for
    :class:`FalseDiscoveries`.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 100)
    >>> X = rng.normal(size=(100, 50))
    >>> X[:, [7, 20]] += 1.5 * y[:, None]
    >>> tamis.DFT(n_features_to_select="auto").fit(X, y).get_support(indices=True)
    array([ 7, 20])
    """

    level: float = 0.1

    assumption = FalseDiscoveries.assumption
    guarantee = FalseDiscoveries.guarantee

    @property
    def remedy(self) -> str:  # type: ignore[override]
        """What it means if nothing was selected."""
        return f"Nothing beats chance at a false discovery rate of {self.level:.0%}."

    def gather(self, ranking: Ranking, data: FitData) -> dict[str, Any]:
        """P-values and q-values of the scores, or of another test where that is too slow."""
        p_values = law_p_values(self, data)
        if p_values is not None:
            return {"tested": "scores", **with_q_values(ranking, p_values)}
        from tamis.certainty._without_law import gather_without_law

        return gather_without_law(self, ranking, data)

    def decide(self, evidence: dict[str, Any], ranking: Ranking) -> NDArray[np.bool_]:
        """Features whose q-value is at most the level, or as many of the first ones."""
        if evidence["tested"] == "scores":
            return np.asarray(evidence["q_values"] <= self.level)
        from tamis.certainty._without_law import first_ones

        return first_ones(self.level, evidence, ranking)

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Features that pass; statements tell which test was used."""
        cut = super().find(ranking, data)
        if cut.details["tested"] == "scores":
            return cut
        from tamis.certainty._without_law import statements

        return cut._replace(details=cut.details | statements(cut.details))

    def needs_rows(self, selector: Any) -> bool:
        """Only for rows that are not all alike."""
        return self.strata is not None or self._is_flat()

    def is_answered(self, data: FitData | None) -> bool:
        """Whether there are data, earlier evidence, a law, or rows that were read in blocks."""
        if super().is_answered(data):
            return True
        if data is None or self.needs_rows(data.selector):
            return False
        blocks = data.X is not None or hasattr(data.selector, "_gathered")
        return blocks or data.selector._law_p_values() is not None
