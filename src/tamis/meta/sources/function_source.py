"""FunctionSource: a function that measures one candidate, called in parallel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis._runtime.threads import effective_jobs
from tamis._validation import N_JOBS, Choice, check_value
from tamis.exceptions import InputError
from tamis.meta.sources._measuring import Pieces, call_here, call_in_processes, call_in_threads
from tamis.meta.sources.feature_source import FeatureSource


class FunctionSource(FeatureSource):
    """A function that measures one candidate, called for several at a time.

    For measurements that wait (an instrument, a database, a web service) or compute for long.
    Every result is kept when it arrives, so neither a failure nor a killed process loses more
    than what was under way.

    Parameters
    ----------
    function : callable
        Called with the number of a candidate (an int), returns its column: numbers of shape
        (n_samples,), NaN where a value is missing.
    meta : array-like or DataFrame of shape (n_candidates, n_meta)
        Properties of every candidate.
    cost : array-like of shape (n_candidates,), float or None, default=None
        What a measurement costs; None means 1 each.
    feature_names : list of str, default=None
        Names of the candidates; None takes them from the index of a pandas `meta`.
    n_jobs : int, default=None
        How many calls at a time: None means as many as cores, negative numbers count back from
        these. An instrument that can do one thing at a time wants 1, a web service may want more.
    retries : int, default=2
        How often a failed call is repeated; never one that succeeded.
    prefer : {"threads", "processes"}, default="threads"
        Processes (of joblib) are for functions that compute in Python itself, or that may crash;
        function and columns are then sent between processes.

    Notes
    -----
    Results do not depend on `n_jobs`. The function must not ask its own source for columns.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.meta import FunctionSource
    >>> time = np.linspace(0, 1, 5)
    >>> source = FunctionSource(lambda index: time**index, meta=[[0], [1], [2], [3]], n_jobs=2)
    >>> source.columns([2, 1])[1]
    array([0.0625, 0.25  ])
    """

    def __init__(
        self,
        function: Callable[[int], Any],
        meta: Any,
        *,
        cost: Any = None,
        feature_names: Any = None,
        n_jobs: int | None = None,
        retries: int = 2,
        prefer: str = "threads",
    ) -> None:
        self.function, self.meta, self.cost = function, meta, cost
        self.n_jobs, self.retries, self.prefer = n_jobs, retries, prefer
        if feature_names is not None:
            self.feature_names = feature_names
        if not callable(function):
            raise InputError(f"FunctionSource: expected a function of one int, got {function!r}.")
        check_value(n_jobs, N_JOBS, who="FunctionSource", name="n_jobs")
        check_value(prefer, Choice(("threads", "processes")), who="FunctionSource", name="prefer")
        self.costs()
        self.candidate_names()

    def measure(self, indices: NDArray[np.int64]) -> Any:
        """Call the function for some candidates; its first exception is raised."""
        found: dict[int, Any] = {}
        for index, result in self._measurements(indices):
            if isinstance(result, Exception):
                raise result
            found[index] = result
        return np.column_stack([found[int(index)] for index in indices])

    def _measurements(self, indices: NDArray[np.int64]) -> Pieces:
        order, n_jobs = indices.tolist(), effective_jobs(self.n_jobs)
        if n_jobs == 1:
            return call_here(self.function, order)
        if self.prefer == "threads":
            return call_in_threads(self.function, order, n_jobs)
        return call_in_processes(self.function, order, n_jobs)
