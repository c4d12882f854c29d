"""CertaintyRule: rules that state a level, with the question they answer beside it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tamis._ranking import Ranking
from tamis._validation import Number, check_value
from tamis.certainty._row_labels import RowLabelsMixin, same
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import Cut, CutRule
from tamis.exceptions import InputError

# The two questions, as every result states them.
MARGINAL = "Is the feature related to the target at all? (marginal)"
CONDITIONAL = "Does the feature add something beyond all other features? (conditional)"
# Parameters by which two rules may differ and still share what one of them found out.
NOT_EVIDENCE = ("level", "keep", "groups", "n_jobs", "checkpoint")
# What `find` adds to the evidence.
STATEMENTS = (
    "rule", "settings", "level", "question", "null_hypothesis", "assumption", "guarantee",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class CertaintyRule(RowLabelsMixin, CutRule):
    """Base of the rules that test every feature and state a level.

    A subclass gathers its evidence once (`gather`: p-values, e-values, frequencies) and decides by
    it (`decide`). The evidence does not depend on `level`, so that
    :meth:`~tamis.base.BaseSelector.recut` with another level needs neither data nor a refit.

    Parameters
    ----------
    level : float
        The stated level, in (0, 1).
    strata : array-like of shape (n_samples,) or None, default=None
        One label per row. The target is permuted within strata only.
    keep : sequence of int or str, or None
        As in :class:`~tamis.cutoff.CutRule`; features kept this way are outside of what the rule
        guarantees.
    groups : optional
        One label per row: the targets of a group of rows are permuted as a whole. Or, as in
        :class:`~tamis.cutoff.CutRule`, features that are selected together: lists, a mapping, or
        one label per feature. Labels are those of features if there are as many as features.

    Examples
    --------
    >>> import numpy as np, tamis
    >>> from dataclasses import dataclass
    >>> from tamis.certainty import CertaintyRule
    >>> @dataclass(frozen=True, eq=False)
    ... class Bonferroni(CertaintyRule):
    ...     def gather(self, ranking, data):
    ...         p_values = data.selector.p_values_ * ranking.n_columns
    ...         return {"p_values": np.minimum(p_values, 1.0)}
    ...     def decide(self, evidence, ranking):
    ...         return evidence["p_values"] <= self.level
    >>> X = np.random.default_rng(0).normal(size=(50, 20))
    >>> rule = Bonferroni(0.05)
    >>> tamis.Correlation(n_features_to_select=rule).fit(X, 2 * X[:, 3]).get_support(indices=True)
    array([3])
    """

    level: float = 0.1
    strata: Any = None

    question: ClassVar[str] = MARGINAL
    null_hypothesis: ClassVar[str] = "the feature is independent of the target"
    assumption: ClassVar[str] = ""
    guarantee: ClassVar[str] = ""

    needs_data = True
    states_level = True
    remedy = "At this level, no feature is distinguishable from noise."

    def __post_init__(self) -> None:
        between = Number(float, low=0, high=1, open_low=True, open_high=True)
        check_value(self.level, between, who=self.who, name="level")

    def gather(self, ranking: Ranking, data: FitData) -> dict[str, Any]:
        """Evidence for every feature, the same for all levels."""
        raise NotImplementedError

    def decide(self, evidence: dict[str, Any], ranking: Ranking) -> NDArray[np.bool_]:
        """Mask of the features that the evidence supports at `level`."""
        raise NotImplementedError

    def check_selector(self, data: FitData) -> None:
        """Raise for a selector that the rule cannot say anything about."""
        if not getattr(data.selector, "_supervised", True):
            raise InputError(
                f"{self.who}: expected a selector that uses the target, got "
                f"{type(data.selector).__name__}, whose scores no shuffle can change. Use another "
                "rule."
            )

    def find(self, ranking: Ranking, data: FitData | None) -> Cut:
        """Features that pass, best first, with the evidence and what it means."""
        assert data is not None
        evidence = self.stored(data)
        if evidence is None:
            evidence = self.gather(ranking, data)
        passed = self.decide(evidence, ranking) & ~ranking.constant
        details = {
            "rule": self.who,
            "settings": self.settings(),
            "level": self.level,
            "question": self.question,
            "null_hypothesis": self.null_hypothesis,
            "assumption": self.assumption,
            "guarantee": self.guarantee,
            **evidence,
        }
        return Cut(ranking.order[passed[ranking.order]], None, details)

    def settings(self) -> dict[str, Any]:
        """Parameters on which the evidence depends."""
        named = [field.name for field in fields(self) if field.name not in NOT_EVIDENCE]
        settings = {name: getattr(self, name) for name in named}
        is_flat = self.groups is not None and self._is_flat()
        return settings | ({"groups": self.groups} if is_flat else {})

    def stored(self, data: FitData) -> dict[str, Any] | None:
        """Evidence that the selector has from an earlier cutoff of this kind, if it has any."""
        if data.X is not None:
            return None
        details = getattr(data.selector, "cut_details_", {})
        if details.get("rule") != self.who or not same(details["settings"], self.settings()):
            return None
        return {name: value for name, value in details.items() if name not in STATEMENTS}

    def is_answered(self, data: FitData | None) -> bool:
        """Whether the rule can do without the training data; wrong selectors are an error."""
        if data is not None and data.X is not None:  # the missing target is not what is wrong
            self.check_selector(data)
        return super().is_answered(data) or (data is not None and self.stored(data) is not None)
