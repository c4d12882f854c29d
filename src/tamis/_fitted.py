"""FittedMixin: what there is after a fit beside transform: other cutoffs, tables, HTML.

A fit that the user stopped leaves a ranking, too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from tamis._columns import ConstantColumnsMixin
from tamis._ranking import Ranking
from tamis._runtime.warning import warn
from tamis.cutoff.fit_data import FitData
from tamis.data import checks
from tamis.data.partitioned import PartitionedTable
from tamis.data.values import check_weight
from tamis.exceptions import InputError, MissingDependencyError

N_SHOWN = 10
LONGEST_NAME = 60
# Columns of `to_frame` for which there may be evidence.
EVIDENCE = ("p_value", "q_value", "e_value")


class FittedMixin(ConstantColumnsMixin):
    """Methods of fitted selectors that need scores, order and support, and nothing of the fit."""

    def ranking_record(self: Any, names: Any = None) -> Ranking:
        """Scores and order as the record that cut rules, plots and reports read."""
        check_is_fitted(self, "scores_")
        names = checks.names_of(self) if names is None else names
        return Ranking(self.scores_, self.order_, self.constant_, names)

    def recut(
        self: Any, rule: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None
    ) -> Any:
        """Apply another cut to the fitted scores, without refitting.

        Parameters
        ----------
        rule : "auto", int, float, "elbow", "all" or a rule from `tamis.cutoff`
            The new cut; ``"best"`` for selectors that find a number of their own.
        X, y, sample_weight : array-like, default=None
            The training data, only for rules that look at it (`PermutationNull`,
            `CrossValidated`).

        Returns
        -------
        self : object
            The selector with the new support.
        """
        check_is_fitted(self, "scores_")
        rule = self._as_rule(rule, "rule")
        data = FitData(self, None, None)
        if X is not None:
            X = checks.check_table(self, X, reset=False)
            weight = check_weight(sample_weight, X.shape[0], type(self).__name__)
            data = FitData(self, X, y, weight)
        self._keep(*rule.select(self.ranking_record(), data))
        return self

    def _narrowed(self: Any, X: PartitionedTable) -> Any:
        """The selected columns of a table larger than memory."""
        check_is_fitted(self, "support_")
        names = getattr(self, "feature_names_in_", None)
        if X.n_columns != self.n_features_in_ or (
            names is not None and X.names is not None and list(names) != list(X.names)
        ):
            raise InputError(
                f"{type(self).__name__}: expected the {self.n_features_in_} columns that were "
                f"fitted, in their order, got {X!r}. Make the scan with the same columns=."
            )
        return X.select(self.support_)

    def to_frame(self: Any) -> Any:
        """Feature, score, rank and selected for every column, best first.

        Where the rule or the scores give them, columns ``p_value``, ``q_value`` and ``e_value``
        follow.

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Whichever package is in use, pandas if both are.
        """
        ranking = self.ranking_record()
        order = self.order_
        columns: dict[str, Any] = {
            "feature": [ranking.name(j) for j in order],
            "score": self.scores_[order],
            "rank": self.ranking_[order],
            "selected": self.support_[order],
        }
        for name in EVIDENCE:
            if hasattr(self, f"{name}s_"):
                columns[name] = getattr(self, f"{name}s_")[order]
        return make_frame(columns)

    @property
    def p_values_(self: Any) -> Any:
        """One p-value per feature: of the rule in force, or else of the known law of the scores.

        Laws are those of normal errors (AnovaF, Correlation, Fisher) or of many rows
        (InformationGain, MutualInformation). They are p-values of single features: a rule from
        `tamis.certainty` takes into account how many there are.
        """
        return self._evidence("p_values")

    @property
    def q_values_(self: Any) -> Any:
        """The smallest false discovery rate at which each feature is selected."""
        return self._evidence("q_values")

    @property
    def e_values_(self: Any) -> Any:
        """One e-value per feature."""
        return self._evidence("e_values")

    def _evidence(self: Any, name: str) -> Any:
        check_is_fitted(self, "scores_")
        found = self.cut_details_.get(name)
        if found is None and name == "p_values":
            found = self._law_p_values()
            found = None if found is None else np.where(self.constant_, 1.0, found)
        if found is None:
            raise AttributeError(
                f"{type(self).__name__} has no {name}_: neither its scores nor the rule of "
                "n_features_to_select give any. Use a rule from tamis.certainty."
            )
        return found

    def _law_p_values(self: Any) -> Any:
        """P-values by the known law of the scores under independence; None if there is none."""
        return None

    def _p_value_bounds(self: Any) -> Any:
        """Bounds of p-values by what blocks of rows have left behind; None if there are none."""
        return None

    def _order_work(self: Any, X: Any) -> int:
        """Pairs of rows to look at for every permutation of the target; 0 if there are none."""
        return 0

    def _refuse_empty(self: Any) -> None:
        """Raise if the next step of a pipeline would get a table without columns.

        Alone, or beside others in a FeatureUnion, such a table is an answer like any other.
        """
        from sklearn.compose import ColumnTransformer
        from sklearn.pipeline import FeatureUnion, Pipeline

        frame: Any = sys._getframe(1)
        owner = None
        while frame is not None and not isinstance(
            owner, ColumnTransformer | FeatureUnion | Pipeline
        ):
            owner, frame = frame.f_locals.get("self"), frame.f_back
        if not isinstance(owner, Pipeline) or owner.steps[-1][1] is self:
            return
        tested = "level" in self.cut_details_
        why = "none is beyond chance" if tested else "the cutoff keeps none"
        raise InputError(
            f"{type(self).__name__}: expected at least one selected feature, got none of "
            f"{self.support_.size}: {why}. Set n_features_to_select to a number or 'elbow', or use "
            "another method."
        )

    def _may_have_law(self: Any) -> bool:
        """Whether the scores have a known law, as far as the parameters tell."""
        return False

    # Whether "best" is the elbow of some score rather than a number that the method finds.
    _best_is_elbow: ClassVar[bool] = False
    # Whether the law is an approximation that does not suit the data of the fit: not by default.
    _law_is_rough: Any = bool

    def _keep_unfinished(
        self: Any, scores: NDArray[np.float64], constant: NDArray[np.bool_], where: str
    ) -> None:
        """Rank by what was learned before the user stopped the fit; nothing is cut off."""
        self._rank(scores, constant)
        self._keep(np.ones(constant.size, dtype=bool), {})
        warn(f"{type(self).__name__}: stopped {where}, and all columns are kept.")

    def _keep_seen(self: Any, statistic: Any, constant: NDArray[np.bool_] | None) -> None:
        """Rank by the rows that a statistic has seen, if there are any."""
        if statistic.weight_seen > 0:
            where = "before the last row; scores_ are those of a total weight of"
            with self._unreported():
                scores = self._scores(statistic, constant)
            self._keep_unfinished(*scores, f"{where} {statistic.weight_seen:g} so far")

    @contextmanager
    def _unreported(self: Any) -> Iterator[None]:
        """Report no steps meanwhile: callbacks that stopped the fit are not asked again."""
        root = self.__dict__.pop("_callback_fit_ctx", None)
        try:
            yield
        finally:
            if root is not None:
                self._callback_fit_ctx = root

    def _html_repr(self: Any) -> str:
        html = str(estimator_html_repr(self))
        return html + top_features(self) if hasattr(self, "support_") else html

    def _repr_html_inner(self: Any) -> str:  # scikit-learn 1.6 does not ask for _html_repr
        return self._html_repr()

    def _repr_mimebundle_(self: Any, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._html_repr()
        return bundle


def top_features(selector: Any) -> str:
    """HTML table of the best columns with a bar per score."""
    ranking = selector.ranking_record()
    best = max(float(selector.scores_.max()), 0.0) or 1.0
    rows = []
    for j in selector.order_[:N_SHOWN]:
        share = 100 * max(float(selector.scores_[j]), 0.0) / best
        mark = "✓" if selector.support_[j] else ""
        rows.append(
            f"<tr><td>{selector.ranking_[j]}</td><td>{escape(_short(ranking.name(j)))}</td>"
            f"<td>{selector.scores_[j]:.4g}</td><td style='width:8em'><div style='background:"
            f"#4a7fb5;height:.7em;width:{share:.1f}%'></div></td><td>{mark}</td></tr>"
        )
    return (
        f"<table><caption>{selector.n_selected_:,} of {selector.scores_.size:,} columns selected"
        "</caption><thead><tr><th>rank</th><th>feature</th><th>score</th><th></th>"
        f"<th>selected</th></tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def make_frame(columns: dict[str, Any]) -> Any:
    """DataFrame of pandas or polars, whichever is in use; pandas if both are."""
    order = ["pandas", "polars"]
    if "pandas" not in sys.modules and "polars" in sys.modules:
        order.reverse()
    for package in order:
        try:
            return __import__(package).DataFrame(columns)
        except ImportError:
            continue
    raise MissingDependencyError(
        "to_frame: expected pandas or polars to be installed, got neither. Run pip install pandas."
    )
