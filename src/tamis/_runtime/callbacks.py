"""Callbacks of scikit-learn, which came with its version 1.9; before, nothing is reported."""

from __future__ import annotations

from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands where scikit-learn has its mixin."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


def report_to(estimator: Any, *callbacks: Any) -> Any:
    """The estimator itself, reporting to these callbacks only; without any, to nobody."""
    return estimator.set_callbacks(*callbacks) if hasattr(estimator, "set_callbacks") else estimator


__all__ = ["CallbackSupportMixin", "report_to", "with_callbacks"]
