"""Two worker processes of Dask for tests, quick to start again, and tables for them."""

import logging
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import NamedTuple
from uuid import uuid4

import numpy as np
from sklearn.base import BaseEstimator

from tamis.data.partitioned import PartitionedTable, RawBlock
from tamis.exceptions import InputError

PRELOAD = ["distributed", "tamis", "tamis.passes", "tamis.selectors", "tamis.evaluation", "numba"]
SETTINGS = {
    # Processes are forked from one that has everything imported: a quarter of a second each.
    "distributed.worker.multiprocessing-method": "forkserver",
    "distributed.nanny.pre-spawn-environ": {},
}


@contextmanager
def two_workers(n_workers=2, settings=None, **options):
    """A client of worker processes with one thread each; Dask does not use it by default."""
    import dask
    import distributed
    from distributed.utils import get_mp_context

    with dask.config.set({**SETTINGS, **(settings or {})}):
        get_mp_context()  # sets what Dask preloads
        multiprocessing.get_context("forkserver").set_forkserver_preload(PRELOAD)
        cluster = distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            **options,
        )
        try:
            with distributed.Client(cluster, set_as_default=False) as client:
                yield client
        finally:
            cluster.close()


def wait_until_complete(client, seconds=300.0):
    """Until all workers are back, and those that watch over them know it.

    A worker that dies while its nanny is still about to start it stays away for good.
    """
    nannies, end = client.cluster.workers.values(), time.monotonic() + seconds
    while not (
        all(nanny.status.name == "running" and nanny.process.is_alive() for nanny in nannies)
        and len(client.nthreads()) == len(nannies)
        and set(client.run(os.getpid, on_error="ignore").values())
        == {nanny.pid for nanny in nannies}
    ):
        assert time.monotonic() < end, [nanny.status for nanny in nannies]
        time.sleep(0.05)


def end_process(folder):
    """Kill this process if there is a file in a folder, and remove the file."""
    files = list(folder.iterdir())
    if not files:
        return
    files[0].unlink()
    if len(files) > 1:  # the next will be a young one, see above
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGKILL)


class InRows(PartitionedTable):
    """A table in memory that behaves like files: parts of some rows."""

    def __init__(self, X, y, rows=50, cluster=None):
        self.X, self.y, self.rows, self.cluster = X, y, rows, cluster
        self.names, self.n_columns, self.n_rows = None, X.shape[1], len(X)
        self.dtype, self.has_target, self.has_weight = X.dtype, y is not None, False

    @property
    def n_parts(self):
        return -(-len(self.X) // self.rows)

    def blocks(self, part, columns=None):
        rows = slice(part * self.rows, (part + 1) * self.rows)
        X = self.X[rows] if columns is None else self.X[rows][:, columns]
        yield RawBlock(X, self.y[rows], None, len(X))

    def where(self, part):
        return f"rows from {part * self.rows} on"

    def fingerprint(self):
        return [float(np.nansum(self.X)), self.rows]


class Broken(InRows):
    """Part 25 cannot be read, except for its target."""

    def blocks(self, part, columns=None):
        if part == 25 and columns is None:
            raise InputError(f"{self.where(part)}: expected rows, got none.")
        yield from super().blocks(part, columns)


class Deadly(InRows):
    """Ends the process that reads a part, as often as there are files in a folder."""

    def __init__(self, X, y, folder, part, alone, **options):
        super().__init__(X, y, **options)
        self.folder, self.part, self.alone = folder, part, alone

    def blocks(self, part, columns=None):
        if part == self.part and (columns is not None) == self.alone:
            end_process(self.folder)
        yield from super().blocks(part, columns)


class Slow(InRows):
    """Takes its time with some parts, and says when it begins with the first of them."""

    def __init__(self, X, y, slow, seconds, sign=None, **options):
        super().__init__(X, y, **options)
        self.slow, self.seconds, self.sign = slow, seconds, sign

    def blocks(self, part, columns=None):
        if part in self.slow and columns is None:
            if self.sign is not None:
                self.sign.touch()
            time.sleep(self.seconds)
        yield from super().blocks(part, columns)


def note(folder, part=0):
    """Leave a file that says who works on which part."""
    (folder / f"{part} {os.getpid()} {get_ident()} {uuid4()}").touch()


def notes(folder):
    """Part, process and thread of every note."""
    return [tuple(map(int, path.name.split()[:3])) for path in folder.iterdir()]


class Noted(InRows):
    """Leaves a file in a folder whenever cells of a part are read: part, process, thread."""

    def __init__(self, X, y, folder, **options):
        super().__init__(X, y, **options)
        self.folder = folder

    def blocks(self, part, columns=None):
        if columns is None:
            note(self.folder, part)
        yield from super().blocks(part, columns)


class Hungry(InRows):
    """Takes all the memory there is at part 3, until somebody ends the process."""

    def blocks(self, part, columns=None):
        taken = []
        while part == 3 and len(taken) < 80:
            taken.append(np.ones(4_000_000))
            time.sleep(0.02)
        yield from super().blocks(part, columns)


class Spent(InRows):
    """Has no memory for part 3."""

    def blocks(self, part, columns=None):
        if part == 3:
            raise MemoryError
        yield from super().blocks(part, columns)


class Fatal(BaseEstimator):
    """A selector that ends the process it is fitted in, as often as there are files in a folder."""

    def __init__(self, folder=None):
        self.folder = folder

    def fit(self, X, y):
        end_process(self.folder)
        self.scores_ = np.arange(X.shape[1])
        return self


class Pausing(BaseEstimator):
    """A selector that says that it has begun, and then takes its time."""

    def __init__(self, sign=None, seconds=0.0):
        self.sign, self.seconds = sign, seconds

    def fit(self, X, y):
        self.sign.touch()
        time.sleep(self.seconds)
        self.scores_ = np.arange(X.shape[1])
        return self


class Processes(NamedTuple):
    """A scheduler and its workers, each a process that knows nothing of this one."""

    address: str
    scheduler: subprocess.Popen
    workers: list[subprocess.Popen]


@contextmanager
def own_processes(n_workers=2, n_threads=2):
    """Start a scheduler and workers from the command line, as on a real cluster."""
    started = []

    def start(*command):
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        command = [sys.executable, "-m", "dask", *command]
        started.append(subprocess.Popen(command, env=environment, **quiet))
        return started[-1]

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    try:
        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        options = ("--no-nanny", "--no-dashboard", "--nthreads", str(n_threads))
        yield Processes(
            address, scheduler, [start("worker", address, *options) for _ in range(n_workers)]
        )
    finally:
        for process in started:
            process.kill()
            process.wait()
