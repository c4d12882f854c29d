"""FittedMixin: what a fitted selector offers beside transform: other cutoffs, tables, HTML."""

from __future__ import annotations

import sys
from html import escape
from typing import Any

from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from tamis.cutoff.fit_data import FitData
from tamis.data import checks
from tamis.data.partitioned import PartitionedTable
from tamis.exceptions import InputError, MissingDependencyError

N_SHOWN = 10
LONGEST_NAME = 60


class FittedMixin:
    """Methods of fitted selectors that need scores, order and support, and nothing of the fit."""

    def recut(
        self: Any, rule: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None
    ) -> Any:
        """Apply another cut to the fitted scores, without refitting.

        Parameters
        ----------
        rule : int, float, "elbow", "all" or a rule from `tamis.cutoff`
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
            weight = checks.check_weight(sample_weight, X.shape[0], type(self).__name__)
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

        Returns
        -------
        frame : pandas.DataFrame or polars.DataFrame
            Whichever package is in use, pandas if both are.
        """
        ranking = self.ranking_record()
        order = self.order_
        return make_frame(
            {
                "feature": [ranking.name(j) for j in order],
                "score": self.scores_[order],
                "rank": self.ranking_[order],
                "selected": self.support_[order],
            }
        )

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
