"""StreamingSelector: what selectors share that walk row blocks and learn from block after block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tamis._base import WeightedSelector
from tamis._runtime.warning import warn
from tamis._validation import check_parameters
from tamis.data import checks
from tamis.exceptions import InputError
from tamis.statistics import Ranges


class WalkingSelector(WeightedSelector):
    """Base of the selectors that see a table block by block, so that it need not be in memory."""

    _streams: ClassVar[bool] = True

    def _run_pass(self, name: str, statistic: Any, engine: Any) -> Any:
        """Take in all blocks of an engine, reporting progress to the callbacks."""
        return engine.run(statistic, name, n_jobs=self.n_jobs, steps=self.steps)

    def _find_ranges(self, engine: Any) -> Ranges:
        """Ranges of the columns: from what the files say, or from a pass."""
        known: Ranges | None = engine.known_ranges()
        return known or self._run_pass("ranges", Ranges(engine.n_columns), engine)


class StreamingSelector(WalkingSelector):
    """Base of the selectors whose statistics merge, so that `partial_fit` can continue them.

    What `partial_fit` has gathered is in ``_stream``, an object of the subclass; `fit` keeps none.
    """

    def _forget(self) -> None:
        super()._forget()
        self.__dict__.pop("_stream", None)

    def _open_stream(self, X: Any, begin: Callable[[int], Any]) -> tuple[Any, Any]:
        """The stream, begun for so many columns if there is none, and the checked block."""
        check_parameters(self, self._constraints)
        who = type(self).__name__
        if hasattr(self, "scores_") and not hasattr(self, "_stream"):
            warn(
                f"{who}: fit keeps no counts to add to, so partial_fit starts again with this "
                "block. Use partial_fit for all blocks."
            )
            self._forget()
        rule = self._rule()
        if rule.needs_data:
            raise InputError(
                f"{who}: expected a rule that needs only scores, got {rule.who}, which looks at "
                "all of the training data. Use fit, or recut(rule, X, y) after the last block."
            )
        X = checks.check_table(self, X, reset=not hasattr(self, "_stream"))
        if not hasattr(self, "_stream"):
            self._stream = begin(X.shape[1])
        return self._stream, X


def rows_seen(weight: float) -> str:
    """Where a fit was stopped, for the warning."""
    return f"before the last row; scores_ are those of a total weight of {weight:g} so far"
