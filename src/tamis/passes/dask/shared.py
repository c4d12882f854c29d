"""Values that every worker holds as long as a piece of work lasts; imports Dask, so import late.

A future would do, too, but Dask drops copies of it that nobody needs at the moment, and cannot
bring back a scattered one whose worker died. A plugin goes to every worker once, also to those that
come later.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from distributed import WorkerPlugin

from tamis.exceptions import InputError, WorkerError
from tamis.passes.dask.client import lost_workers

PREFIX = "tamis-shared-"
ATTEMPTS, PAUSE_SECONDS = 3, 0.5
# By name and by worker, for several workers may be threads of one process.
_held: dict[str, dict[str, Any]] = {}


class Holding(WorkerPlugin):
    """Keeps a value on a worker, for tasks that know its name."""

    def __init__(self, name: str, value: Any):
        self.name, self.value = name, value

    def setup(self, worker: Any) -> None:
        """Keep the value."""
        _held.setdefault(self.name, {})[worker.address] = self.value

    def teardown(self, worker: Any) -> None:
        """Forget it."""
        holders = _held.get(self.name, {})
        holders.pop(worker.address, None)
        if not holders:
            _held.pop(self.name, None)


def held(name: str) -> Any:
    """The value of that name, on a worker."""
    return next(iter(_held[name].values()))


@contextmanager
def shared(client: Any, value: Any, who: str) -> Iterator[str]:
    """Name of a value that all workers hold while the block lasts; it is sent to each once."""
    name = f"{PREFIX}{client.id}-{uuid4().hex}"
    with suppress(Exception):  # a scheduler may refuse to run what it is sent
        client.run_on_scheduler(sweep)
    _hand_out(client, name, value, who)
    try:
        yield name
    finally:
        with suppress(Exception):  # the cluster may be gone
            client.unregister_worker_plugin(name)


def _hand_out(client: Any, name: str, value: Any, who: str) -> None:
    """Give the value to all workers; one that dies meanwhile is no reason to give up."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with lost_workers(who, str, client):
                client.register_plugin(Holding(name, value), name=name)
            return
        except (WorkerError, OSError):
            if attempt == ATTEMPTS:
                raise
            time.sleep(PAUSE_SECONDS)
        except Exception as error:
            raise InputError(
                f"{who}: expected data and estimators that workers can load, got "
                f"{type(error).__name__}: {error}. Install the same packages there."
            ) from error


async def sweep(dask_scheduler: Any) -> None:
    """Remove what clients that were killed left behind; runs on the scheduler."""
    for name in list(dask_scheduler.worker_plugins):
        if name.startswith(PREFIX) and not any(
            name.startswith(f"{PREFIX}{owner}-") for owner in dask_scheduler.clients
        ):
            await dask_scheduler.unregister_worker_plugin(None, name)
