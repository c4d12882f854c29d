"""Workers of Dask: found or started, asked for results, and closed if they were started here."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from importlib import import_module
from math import inf
from queue import Empty, SimpleQueue
from typing import Any
from weakref import WeakSet

from tamis._validation import check_value
from tamis.data.partitioned import CLUSTER
from tamis.exceptions import InputError, MissingDependencyError, TamisError, WorkerError

# How often a task that raised is tried again, elsewhere if possible: files on a network do fail.
RETRIES = 3
# Seconds until a scheduler must have answered.
CONNECT_SECONDS = 20.0
# Seconds between looks at whether there are workers at all, and how long there may be none.
LOOK_SECONDS, PATIENCE_SECONDS = 20.0, 300.0
# How long all workers may be paused: Dask gives none of them work while its memory is nearly used.
PAUSED_SECONDS = 60.0


def as_address(cluster: Any) -> Any:
    """The address in place of a client or cluster object, which cannot be pickled."""
    if hasattr(cluster, "scheduler_address"):
        return cluster.scheduler_address
    if hasattr(cluster, "scheduler_info"):
        return getattr(cluster.scheduler, "address", None)  # a closed client has none
    return cluster


@contextmanager
def open_client(cluster: Any, who: str) -> Iterator[Any]:
    """A client of the workers that `cluster` means; what was opened here is closed at the end.

    A client is used as it is and left open. An address is connected to. A number starts so many
    processes with one thread each, on this machine. ``"threads"`` and ``None`` need no client.
    """
    check_value(cluster, CLUSTER, who=who, name="cluster")
    if cluster is None or (isinstance(cluster, str) and cluster == "threads"):
        yield None
    elif hasattr(cluster, "scheduler_info") and hasattr(cluster, "submit"):
        check_workers(cluster, who)
        yield cluster
    elif isinstance(cluster, int):
        with closing(_start_workers(cluster)) as local, _connected(local, who) as client:
            yield client
    else:
        with _connected(cluster, who) as client:
            check_workers(client, who)
            yield client


# Clients whose workers were asked.
_checked: WeakSet[Any] = WeakSet()


def check_workers(client: Any, who: str) -> None:
    """Raise unless all workers have this version of Tamis; without, tasks of ours would end them.

    Workers are asked once per client, so those that come later are taken as they are.
    """
    if client.status != "running":
        raise WorkerError(
            f"{who}: expected a scheduler that answers, but the client of Dask is {client.status}. "
            "Make a new one, then start again."
        )
    if client in _checked:
        return
    with lost_workers(who, str, client):
        found = client.run(version_here, on_error="return")
    for worker, version in found.items():
        if isinstance(version, OSError):  # it died meanwhile
            continue
        if version != version_here():
            got = version if isinstance(version, str) else f"none ({_words(version)})"
            raise InputError(
                f"{who}: expected tamis {version_here()} on every worker, got {got} on {worker}. "
                "Install the same version there, then start the workers again."
            )
    _checked.add(client)


def version_here() -> str:
    """Version of Tamis in this process."""
    return str(sys.modules["tamis"].__version__)


def _start_workers(n_workers: int) -> Any:
    return _imported("distributed").LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs="ERROR",
    )


@contextmanager
def _connected(address: Any, who: str) -> Iterator[Any]:
    distributed = _imported("distributed")
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise WorkerError(
            f"{who}: expected a scheduler of Dask at {address!r}, got no answer ({_words(error)}). "
            "Check the address and that the scheduler runs, then start again."
        ) from error
    with closing(client):
        yield client


def current_client() -> Any:
    """The client that Dask itself would use here; None if it would use threads or processes."""
    dask = import_dask()
    owner = getattr(dask.base.get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None


class Waiting:
    """Waits for futures one by one, but not for ever if no worker takes work."""

    def __init__(self, client: Any, who: str, futures: Iterable[Any] = ()):
        self.client, self.who = client, who
        self.ended: SimpleQueue[Any] = SimpleQueue()
        self.seen = self.looked = time.monotonic()
        for future in futures:
            self.add(future)

    def add(self, future: Any) -> None:
        """Wait for this one, too."""
        future.add_done_callback(self.ended.put)

    def next(self, seconds: float = inf) -> Any:
        """The next future that has ended, well or not; None if there is none for some seconds."""
        while True:
            try:
                return self.ended.get(timeout=min(seconds, LOOK_SECONDS))
            except Empty:
                self._look()
                if seconds < inf:
                    return None

    def _look(self) -> None:
        """Raise if there have been no workers for long, or none that takes work."""
        now = time.monotonic()
        if now - self.looked < LOOK_SECONDS:
            return
        self.looked = now
        with lost_workers(self.who, str, self.client):
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        if any(worker.get("status") != "paused" for worker in workers):
            self.seen = now
        elif workers and now - self.seen > PAUSED_SECONDS:
            raise WorkerError(
                f"{self.who}: expected workers that take work, but Dask has paused all of them for "
                f"{now - self.seen:.0f} seconds, since they use nearly all of their memory. Use "
                "smaller parts or more memory per worker, then start again."
            )
        elif not workers and now - self.seen > PATIENCE_SECONDS:
            raise WorkerError(
                f"{self.who}: expected workers at {self.client.scheduler.address}, got none for "
                f"{now - self.seen:.0f} seconds. Start workers there, then start again."
            )


def results(client: Any, futures: Sequence[Any], who: str, name: Callable[[Any], str]) -> list[Any]:
    """Results of futures, once all are there; they are given up if one fails.

    `name` says in words what a task, given by its key, is about.
    """
    waiting = Waiting(client, who, futures)
    try:
        for _ in futures:
            if waiting.next().status == "error":
                break
        with lost_workers(who, name, client):
            return client.gather(list(futures))
    except BaseException:
        for future in futures:
            with suppress(Exception):
                future.release()
        raise


@contextmanager
def lost_workers(who: str, name: Callable[[Any], str], client: Any = None) -> Iterator[None]:
    """Errors of Dask about workers and schedulers become ours, and say what was being done.

    Whatever is raised while `client` is not connected is such an error.
    """
    try:
        yield
    except TamisError:
        raise
    except Exception as error:
        kind, words = type(error).__name__, _words(error)
        if kind == "KilledWorker":
            raise WorkerError(
                f"{who}: expected workers that live until the work is done, but "
                f"{error.allowed_failures + 1} died at {name(error.task)}. Most often they were "  # type: ignore[attr-defined]
                "out of memory: use smaller parts or more memory per worker, then start again."
            ) from error
        if kind in ("FutureCancelledError", "FuturesCancelledError", "CancelledError"):
            raise WorkerError(
                f"{who}: expected a scheduler that stays until the work is done, but it or its "
                f"client was closed ({words}). Start again when it is back."
            ) from error
        gone = client is not None and client.status != "running"
        # The client may also have been closed between two of its own steps.
        closed = "not running" in str(error) or "ConnectionPool is closed" in str(error)
        closed = closed and isinstance(error, RuntimeError | ValueError)
        if gone or closed or kind in ("CommClosedError", "RPCClosed"):
            raise WorkerError(
                f"{who}: expected a scheduler that answers, but the connection is closed "
                f"({words}). Start again when it is back."
            ) from error
        raise


def killed_with(client: Any, key: Any) -> list[Any]:
    """Keys of all tasks that were given up because workers died, for one may be innocent.

    Dask blames every task that a worker had at hand.
    """
    found: list[Any] = []
    with suppress(Exception):  # a scheduler may refuse to run what it is sent
        found = client.run_on_scheduler(killed_tasks)
    return found if key in found else [key]


def killed_tasks(dask_scheduler: Any) -> list[Any]:
    """Keys of tasks at which too many workers died; runs on the scheduler."""
    most = dask_scheduler.allowed_failures
    tasks = dask_scheduler.tasks.values()
    return [task.key for task in tasks if task.state == "erred" and task.suspicious > most]


def _words(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def submit(client: Any, function: Callable[..., Any], *args: Any) -> Any:
    """A future of a call on a worker."""
    return submit_all(client, function, [args])[0]


def submit_all(client: Any, function: Callable[..., Any], calls: Sequence[Sequence[Any]]) -> Any:
    """Futures of calls on workers, sent off together."""
    dask = import_dask()
    # Dask warns of arguments of more than some megabytes; those of ours are what must be sent.
    settings = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}
    with dask.config.set(settings), lost_workers("Dask", str, client):
        return client.map(function, *zip(*calls, strict=True), pure=False, retries=RETRIES)


def threads_of(client: Any, who: str) -> list[int]:
    """Tasks that each worker can do at a time; one worker with one if there are none yet."""
    with lost_workers(who, str, client):
        return list(client.nthreads().values()) or [1]


def import_dask() -> Any:
    """Dask, or an error that says how to get it."""
    return _imported("dask")


def _imported(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        raise MissingDependencyError(
            f"Dask: expected the package {package}, got none. Run pip install 'tamis[dask]'."
        ) from error
