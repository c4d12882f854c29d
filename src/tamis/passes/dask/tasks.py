"""Tasks: a graph of calls for Dask, put together in a fraction of the time `dask.delayed` takes."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from tamis.passes.dask.client import import_dask


class Tasks:
    """Calls whose arguments are values, results of other calls, or what Dask is to compute.

    `dask.delayed` looks into every argument for collections and optimises a graph for each, which
    for a few dozen chunks in memory took as long as the work on them.

    Parameters
    ----------
    name : str
        Beginning of the keys, as dashboards show it.
    """

    def __init__(self, name: str):
        import_dask()
        from dask import _task_spec

        self._spec: Any = _task_spec
        self._prefix = f"tamis-{name}-{uuid.uuid4().hex}"
        self._calls: dict[str, Any] = {}
        self._graphs: dict[int, Any] = {}

    def value(self, value: Any) -> Any:
        """A value that many calls share, sent once; what is returned stands for it."""
        return self._add(lambda key: self._spec.DataNode(key, value))

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """A call; what is returned stands for its result, and has its `key`."""
        placed = [self._placed(argument) for argument in arguments]
        return self._add(lambda key: self._spec.Task(key, function, *placed))

    def delayed(self, call: Any) -> Any:
        """What Dask computes the result of a call from."""
        from dask.delayed import Delayed

        graph: dict[Any, Any] = {}
        for known in self._graphs.values():
            graph.update(known)
        return Delayed(call.key, graph | self._calls)

    def _add(self, make: Callable[[str], Any]) -> Any:
        key = f"{self._prefix}-{len(self._calls)}"
        self._calls[key] = make(key)
        return self._spec.TaskRef(key)

    def _placed(self, argument: Any) -> Any:
        """The argument, with what Dask is to compute replaced by a reference to it."""
        if type(argument) is tuple:
            return self._spec.Tuple(*map(self._placed, argument))
        if hasattr(argument, "__dask_graph__"):
            graph = argument.__dask_graph__()
            self._graphs[id(graph)] = graph
            return self._spec.TaskRef(argument.key)
        return argument
