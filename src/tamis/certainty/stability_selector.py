"""StabilitySelector: any selector, with selection frequencies on half samples as scores."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from tamis._base import BaseSelector, Scores, WeightedSelector
from tamis._facts import BOTH_TASKS, SelectorFacts
from tamis._ranking import Ranking
from tamis._rows import listed_rows
from tamis._runtime.callbacks import report_to
from tamis._validation import Constraint, Custom
from tamis.certainty._half_samples import FEWEST
from tamis.certainty.stability_selection import StabilitySelection, is_supervised
from tamis.cutoff.fit_data import FitData
from tamis.cutoff.rule import CutRule
from tamis.data import checks
from tamis.exceptions import InputError
from tamis.selectors import make_selector

Floats = NDArray[np.float64]


class StabilitySelector(WeightedSelector):
    """Rank features by how often another selector chooses them on half samples.

    The scores are the selection frequencies of :class:`~tamis.certainty.StabilitySelection`, which
    does the work; here they are the ranking, not only the cutoff.

    Parameters
    ----------
    selector : str or BaseSelector, default="anovaf"
        The selector that is fitted on half samples: a name of :func:`tamis.list_selectors`, or an
        unfitted selector.
    stability : StabilitySelection or None, default=None
        How half samples are drawn, how many features are chosen on each, and how many mistakes are
        accepted; ``None`` is ``StabilitySelection()``.
    n_features_to_select : "stable", int, float, "elbow", "all" or rule, default="stable"
        ``"stable"`` takes the features that `stability` selects; anything else cuts the
        frequencies as usual, see :mod:`tamis.cutoff`.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Share of the half samples on which the feature is chosen.
    evidence_ : dict
        What `stability` found, as described there, the same for all cutoffs.
    order_, ranking_, support_, n_selected_, constant_, cut_details_
        As for every selector.

    Notes
    -----
    Costs one fit on all rows and two fits on half of them for every pair.

    Rows are put in an order by their content first, so that the order they come in does not matter,
    and a row of weight 2 is drawn like two rows; other weights are passed on.

    A :class:`~tamis.certainty.StabilitySelection` in :meth:`recut` uses the frequencies that there
    are, and needs no data.

    References
    ----------
    Shah, R. D. and Samworth, R. J. (2013). Variable selection with error control: another look at
    stability selection. Journal of the Royal Statistical Society B 75, 55-80.
    https://doi.org/10.1111/j.1467-9868.2011.01034.x

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from tamis.certainty import StabilitySelection, StabilitySelector
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = StabilitySelector("anovaf", stability=StabilitySelection(n_per_half=3))
    >>> selector.fit(X, y).get_feature_names_out()
    array(['worst perimeter', 'worst concave points'], dtype=object)
    >>> selector.recut(StabilitySelection(n_per_half=3, threshold=0.6)).n_selected_
    2
    """

    facts: ClassVar[SelectorFacts] = SelectorFacts(
        summary="Share of half samples on which another method chooses the feature.",
        tasks=BOTH_TASKS,
        cost="100 times the method on T / 2",
        reference="Shah and Samworth 2013",
        scope="depends on the method",
        redundancy="depends on the method",
        nonlinear="depends on the method",
        scaling="depends on the method",
    )

    _constraints: ClassVar[dict[str, Constraint]] = {
        "selector": Custom(
            lambda value: isinstance(value, str | BaseSelector),
            "the name of a selector such as 'dft', or an unfitted selector",
        ),
        "stability": Custom(
            lambda value: value is None or isinstance(value, StabilitySelection),
            "a StabilitySelection or None",
        ),
    }

    def __init__(
        self,
        selector: Any = "anovaf",
        *,
        stability: StabilitySelection | None = None,
        n_features_to_select: Any = "stable",
    ):
        self.selector = selector
        self.stability = stability
        self.n_features_to_select = n_features_to_select

    def _score(self, X: Any, y: Any, weight: Floats | None) -> Scores:
        member, plan = self._member(), self._plan()
        self._check_weight(member, weight)
        if X.shape[0] < FEWEST:
            raise InputError(
                f"StabilitySelector: expected at least {FEWEST} rows for two half samples, got "
                f"{X.shape[0]} (n_samples={X.shape[0]}). Pass more rows."
            )
        options = {} if weight is None else {"sample_weight": weight}
        member.fit(X, y, **options)
        for name in ("task_", "classes_"):
            if hasattr(member, name):
                setattr(self, name, getattr(member, name))
        data, plan = _in_order(FitData(member, X, y, weight), plan)
        found = plan.count(data, ~member.constant_, self.steps)
        self.evidence_ = {"rule": plan.who, "settings": self._plan().settings(), **found}
        return found["frequencies"].astype(np.float64), member.constant_

    def _member(self) -> Any:
        """An unfitted copy of the method that keeps all features."""
        if isinstance(self.selector, str):
            try:
                member = make_selector(self.selector)
            except InputError as error:
                message = str(error).replace("make_selector", "StabilitySelector: selector", 1)
                raise InputError(message) from error
        else:
            member = report_to(clone(self.selector))
        member._names_told = checks.names_of(self)
        return member.set_params(n_features_to_select="all")

    def _plan(self) -> StabilitySelection:
        return self.stability or StabilitySelection()

    def _check_weight(self, member: Any, weight: Floats | None) -> None:
        if weight is not None and not has_fit_parameter(member, "sample_weight"):
            raise InputError(
                f"StabilitySelector: expected a selector that takes sample_weight, got "
                f"{type(member).__name__}, which does not. Fit without weights."
            )

    def _as_rule(self, value: Any, name: str) -> CutRule:
        if isinstance(value, str) and value == "stable":
            return self._plan()
        return super()._as_rule(value, name)

    def _cut(self, rule: CutRule, ranking: Ranking, data: FitData | None) -> None:
        counted = isinstance(rule, StabilitySelection)
        super()._cut(rule, ranking, FitData(self, None, None) if counted else data)

    def _keep(self, support: NDArray[np.bool_], details: dict[str, Any]) -> None:
        super()._keep(support, details or self.evidence_)

    def recut(self, rule: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None) -> Any:
        """Apply another cut to the frequencies, without refitting.

        Parameters
        ----------
        rule : "stable", int, float, "elbow", "all" or a rule
            The new cut; a StabilitySelection must draw the same half samples as `stability`.
        X, y, sample_weight : array-like, default=None
            The training data, only for other rules that look at it.

        Returns
        -------
        self : object
            The selector with the new support.
        """
        if isinstance(self._as_rule(rule, "rule"), StabilitySelection):
            self.cut_details_, X = self.evidence_, None
        return super().recut(rule, X, y, sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        with suppress(InputError, TypeError, AttributeError):  # said better when it is fitted
            tags.target_tags.required = is_supervised(self._member())
        return tags


def _in_order(data: FitData, plan: StabilitySelection) -> tuple[FitData, StabilitySelection]:
    """The data with rows in an order by content, weights as repetitions, and labels likewise."""
    supervised = is_supervised(data.selector)
    target = data.target if supervised else np.zeros(data.X.shape[0])
    codes = np.unique(target, return_inverse=True)[1]
    strata, groups = plan.row_labels(data)
    rows, weight = listed_rows(data.X, codes, data.sample_weight)
    if strata is not None:
        plan = replace(plan, strata=strata[rows])
    if groups is not None:
        plan = replace(plan, groups=groups[rows].tolist())
    y = target[rows] if supervised else None
    return FitData(data.selector, data.X[rows], y, weight), plan
