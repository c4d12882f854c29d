"""Work in a process of its own, which is stopped when it takes too long or too much memory."""

from __future__ import annotations

import base64
import json
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from queue import Empty, Queue
from threading import Thread
from typing import Any, NamedTuple

# Importing and loading data are not what is limited.
START_LIMIT = 600.0
# So many times the limit may go by on the clock: other work on the machine is not to count.
PATIENCE = 4.0
READY, ITEM, ERROR, END = "tamis ready", "tamis item ", "tamis error ", ""
ENDED = "the process ended by itself"
THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS"),
)


class Apart(NamedTuple):
    """What came of it: the items that were made in time, and why there are no more.

    `ready` is False if preparing failed already.
    """

    items: list[Any]
    ready: bool
    stopped: bool
    error: str


def work_apart(
    prepare: Callable[..., Callable[[], Iterable[Any]]],
    arguments: tuple[Any, ...],
    *,
    seconds: float,
    gigabytes: float,
) -> Apart:
    """Make items one by one in another process on one thread.

    Parameters
    ----------
    prepare : callable
        A function of a module, called with the arguments; it returns a function that makes the
        items, which are plain JSON. Only the second one is limited.
    arguments : tuple
        Anything that can be pickled.
    seconds : float
        Limit of every single item: of the processor's time, where the system can measure it.
    gigabytes : float
        Limit of the memory, where the system knows such limits.
    """
    work = base64.b64encode(pickle.dumps((prepare, arguments, seconds, gigabytes))).decode()
    command = [sys.executable, "-c", f"import {__name__} as module; module.main()"]
    lines: Queue[str] = Queue()
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | dict.fromkeys(THREADS, "1"),
        text=True,
    ) as process:
        reader = Thread(target=_read, args=(process.stdout, lines), daemon=True)
        reader.start()
        try:
            _write(process.stdin, work)
            return _named(_collect(lines, _on_the_clock(seconds)), process, seconds)
        finally:
            process.kill()
            reader.join()


def _on_the_clock(seconds: float) -> float:
    return PATIENCE * seconds if hasattr(signal, "setitimer") else seconds


def _named(done: Apart, process: subprocess.Popen[str], seconds: float) -> Apart:
    """What was stopped for its time, by itself or from here, is said to be."""
    timed_out = done.stopped
    if done.error == ENDED and hasattr(signal, "SIGPROF"):
        timed_out = process.wait() == -signal.SIGPROF
    if not (timed_out and done.ready):
        return done
    return done._replace(stopped=True, error=f"stopped after {seconds:g} s")


def _write(stream: Any, text: str) -> None:
    try:
        stream.write(text + "\n")
        stream.flush()
    except BrokenPipeError:  # it has ended already, which reading will tell
        pass


def _read(stream: Any, lines: Queue[str]) -> None:
    for line in stream:
        if line.startswith("tamis "):  # libraries may print, too
            lines.put(line.rstrip("\n"))
    lines.put(END)


def _collect(lines: Queue[str], seconds: float, start: float = START_LIMIT) -> Apart:
    """Items until the end, an error, or a silence that is too long."""
    items: list[Any] = []
    ready, limit = False, start
    while True:
        try:
            line = lines.get(timeout=limit)
        except Empty:
            return Apart(items, ready, True, f"stopped after {limit:g} s")
        if line.startswith(ITEM):
            items.append(json.loads(line.removeprefix(ITEM)))
        elif line == READY:
            ready, limit = True, seconds
        elif line.startswith(ERROR):
            return Apart(items, ready, False, line.removeprefix(ERROR))
        else:
            return Apart(items, ready, False, "" if line else ENDED)


def main() -> None:
    """What the process does: prepare, then report every item."""
    import warnings

    warnings.simplefilter("ignore")
    prepare, arguments, seconds, gigabytes = pickle.loads(base64.b64decode(sys.stdin.readline()))
    try:
        make = prepare(*arguments)
        _limit_memory(gigabytes)
        print(READY, flush=True)
        _limit_time(seconds)
        for item in make():
            print(ITEM + json.dumps(item), flush=True)
            _limit_time(seconds)
    except MemoryError:
        print(f"{ERROR}needs more than {gigabytes:g} GB", flush=True)
    except Exception as error:
        text = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(ERROR + text, flush=True)
    else:
        print("tamis done", flush=True)


def _limit_time(seconds: float) -> None:
    """End this process once it has computed for so long from now on."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(gigabytes: float) -> None:
    try:
        import resource
    except ImportError:  # not on this system
        return
    size = int(gigabytes * 2**30)
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or size < most:
        resource.setrlimit(resource.RLIMIT_AS, (size, most))
