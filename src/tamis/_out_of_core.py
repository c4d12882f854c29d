"""OutOfCoreMixin: what selectors do with tables larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from tamis.cutoff.rule import CutRule
from tamis.data.checks import set_columns
from tamis.data.partitioned import PartitionedTable
from tamis.exceptions import InputError
from tamis.passes.opening import check_source


class OutOfCoreMixin:
    """Fit on a table that is read part by part, and narrow it to the selected columns."""

    def _fit_source(
        self: Any, X: PartitionedTable, y: Any, sample_weight: Any, rule: CutRule
    ) -> Any:
        """Fit on a table larger than memory."""
        self._check_source(X, y, sample_weight)
        if rule.needs_rows(self):
            raise InputError(
                f"{type(self).__name__}: expected a rule that needs only scores, got {rule.who}, "
                "which looks at all of the training data. Use another rule for a table larger than "
                "memory."
            )
        if X.cluster is None:
            self._fit_checked(X, None, None, rule)
        else:
            from tamis.passes.dask.cluster import at_work

            with at_work(X) as opened:
                self._fit_checked(opened, None, None, rule)
        if X.checkpoint is not None:
            Path(X.checkpoint).unlink(missing_ok=True)
        return self

    def _check_source(self: Any, X: PartitionedTable, y: Any, sample_weight: Any) -> None:
        check_source(
            X, y, sample_weight, who=type(self).__name__, streams=self._streams,
            supervised=self._supervised,
        )  # fmt: skip
        set_columns(self, X.n_columns, X.names)

    def _about(self: Any) -> Any:
        """What distinguishes this fit from others on the same data, as plain JSON."""
        params = self.get_params(deep=False)
        kept = {key: repr(value) for key, value in params.items() if key != "n_jobs"}
        return [type(self).__name__, kept]

    def _narrowed(self: Any, X: PartitionedTable) -> Any:
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
