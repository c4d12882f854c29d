"""Times of selectors on uniform noise, each in a process of its own that can be stopped."""

from __future__ import annotations

import base64
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from queue import Empty, Queue
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from joblib import cpu_count

from tamis_papers._published import published
from tamis_papers._run import ExperimentRun, UnitTask
from tamis_papers.result import Claim, ExperimentResult, Measurement

N_RUNS = 3
# One run tells enough of a method that takes as long as this.
ONCE_FROM = 60.0
START_LIMIT = 600.0
MARK, READY, END = b"seconds ", b"seconds ready\n", b""
WARM_UP_ROWS, WARM_UP_COLUMNS = 120, 20


# Seconds of the runs of every method, and whether it was stopped.
Times = dict[str, dict[str, Any]]


class TableSize(NamedTuple):
    """Rows, columns and classes of a table of noise."""

    n_rows: int
    n_columns: int
    n_classes: int

    def __str__(self) -> str:
        return f"{self.n_rows:,} x {self.n_columns:,}, {self.n_classes} classes"


def make_noise(size: TableSize, seed: int) -> tuple[Any, Any]:
    """Columns that are uniform from 0 to 1000, and labels that have nothing to do with them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(0.0, 1000.0, (size.n_rows, size.n_columns))
    return X, rng.integers(size.n_classes, size=size.n_rows)


def seconds_of(
    selector: Any, size: tuple[int, int, int], seed: int, limit: float
) -> dict[str, Any]:
    """Seconds of each run; `stopped` if the limit was reached, which then is the only number.

    The process is a new one, and a small table is ranked first, so that compiling is not counted.
    """
    work = base64.b64encode(pickle.dumps((selector, size, seed))).decode()
    command = [sys.executable, "-c", f"import {__name__} as module; module.measure()", work]
    lines: Queue[bytes] = Queue()
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        reader = Thread(target=_read, args=(process.stdout, lines), daemon=True)
        reader.start()
        try:
            ready = lines.get(timeout=START_LIMIT) == READY
            seconds, stopped = _collect(lines, limit) if ready else ([], False)
        except Empty:
            seconds, stopped = [], False
        finally:
            process.kill()
            reader.join()
    return {"seconds": seconds, "stopped": stopped, "cores": cpu_count()}


def _read(stream: Any, lines: Queue[bytes]) -> None:
    for line in stream:
        if line.startswith(MARK):  # libraries may print, too
            lines.put(line)
    lines.put(END)


def _collect(lines: Queue[bytes], limit: float) -> tuple[list[float], bool]:
    """Seconds that are reported within the limit; the limit itself if there are none."""
    seconds: list[float] = []
    end = time.monotonic() + limit
    try:
        while (line := lines.get(timeout=max(0.0, end - time.monotonic()))) != END:
            seconds.append(float(line.removeprefix(MARK)))
    except Empty:
        return seconds or [limit], not seconds
    return seconds, False


def measure() -> None:
    """What the process does: report that it is ready, then the seconds of each run."""
    import warnings

    from sklearn.base import clone

    warnings.simplefilter("ignore")
    selector, size, seed = pickle.loads(base64.b64decode(sys.argv[1]))
    X, y = make_noise(TableSize(*size), seed)
    clone(selector).fit(*make_noise(_small(TableSize(*size)), seed))
    print(READY.decode(), end="", flush=True)
    for _ in range(N_RUNS):
        start = time.perf_counter()
        clone(selector).fit(X, y)
        seconds = time.perf_counter() - start
        print(f"{MARK.decode()}{seconds}", flush=True)
        if seconds > ONCE_FROM:
            break


def _small(size: TableSize) -> TableSize:
    return TableSize(max(WARM_UP_ROWS, 6 * size.n_classes), WARM_UP_COLUMNS, size.n_classes)


def time_table(
    run: ExperimentRun,
    selectors: dict[str, Any],
    data: str,
    sizes: tuple[TableSize, TableSize],
    limits: tuple[float, float],
    claims: Callable[[Times, dict[str, float]], list[Claim]],
    remarks: Sequence[str],
) -> ExperimentResult:
    """A table of times: all methods one after the other, the paper's times beside ours.

    Sizes and limits are those of the complete and of the reduced run.
    """
    paper, size, limit = sizes[0], sizes[run.quick], limits[run.quick]
    found = time_methods(run, selectors, size, limit)
    values = published(run.experiment).values
    theirs = {str(value.case["method"]): value.value for value in values}
    return ExperimentResult(
        measurements=time_measurements(found, data, size, paper),
        claims=claims(found, theirs),
        figures={"times": lambda figure: draw_times(figure, found, theirs, (size, paper))},
        remarks=[remark_on(found, limit), *remarks],
    )


def time_methods(
    run: ExperimentRun, selectors: dict[str, Any], size: TableSize, limit: float
) -> Times:
    """Times of all methods, one after the other."""
    tasks = [
        UnitTask(name, seconds_of, (selector, tuple(size), run.seed, limit))
        for name, selector in selectors.items()
    ]
    return run.units(tasks, parallel=False)


def time_measurements(
    found: Times, data: str, size: TableSize, paper: TableSize
) -> list[Measurement]:
    """A measurement per method that ran; the paper's numbers are of its own size."""
    small = "" if size == paper else f"on {size}"
    return [
        Measurement(
            {"data": data if size == paper else str(size), "method": name, "metric": "time"},
            [float(value) for value in times["seconds"]],
            "; ".join(
                part
                for part in (small, "stopped: it takes longer" if times["stopped"] else "")
                if part
            ),
            at_least=times["stopped"],
        )
        for name, times in found.items()
        if times["seconds"]
    ]


def median_seconds(found: Times) -> dict[str, float]:
    """Median seconds of every method that ran; the limit for one that was stopped."""
    return {
        name: float(np.median(times["seconds"]))
        for name, times in found.items()
        if times["seconds"]
    }


def in_words(found: Times) -> str:
    """Methods and their times, fastest first."""
    seconds = median_seconds(found)
    return ", ".join(
        f"{name} {'over ' if found[name]['stopped'] else ''}{seconds[name]:.2g} s"
        for name in sorted(seconds, key=seconds.__getitem__)
    )


def reversed_pairs(found: Times, theirs: dict[str, float]) -> tuple[list[tuple[str, str]], int]:
    """Pairs of which the paper's faster one is the slower one here, and the number of pairs.

    Every run of the one must take longer than every run of the other.
    """
    seconds = {name: times["seconds"] for name, times in found.items() if times["seconds"]}
    names = [name for name in theirs if name in seconds]
    pairs = [(one, other) for one in names for other in names if theirs[one] < theirs[other]]
    wrong = [
        (one, other)
        for one, other in pairs
        if min(seconds[one]) > max(seconds[other]) and not found[other]["stopped"]
    ]
    return wrong, len(pairs)


def remark_on(found: Times, limit: float) -> str:
    """How the times were taken."""
    cores = sorted({times["cores"] for times in found.values()})
    counted = " or ".join("one core" if n == 1 else f"{n} cores" for n in cores)
    return (
        "Machines and languages differ: the order and the ratios tell something, seconds do not. "
        f"Every method ran by itself on {counted}, up to three times, for at most {limit:.0f} s."
    )


def draw_times(
    figure: Any,
    found: Times,
    theirs: dict[str, float],
    sizes: tuple[TableSize, TableSize],
) -> None:
    """Bars on a log scale, the paper's times beside ours; `sizes` are ours and the paper's."""
    seconds = median_seconds(found)
    names = sorted(seconds, key=seconds.__getitem__)
    ax = figure.subplots()
    places = np.arange(len(names))
    ax.barh(places - 0.2, [seconds[name] for name in names], 0.4, label=f"here, {sizes[0]}")
    printed = [theirs.get(name, np.nan) for name in names]
    ax.barh(places + 0.2, printed, 0.4, label=f"paper, {sizes[1]}", color="lightgrey")
    for place, name in zip(places, names, strict=True):
        if found[name]["stopped"]:
            ax.text(seconds[name], place - 0.2, " stopped", va="center", fontsize="small")
    ax.set(xscale="log", xlabel="seconds", yticks=places, yticklabels=names)
    ax.invert_yaxis()
    figure.legend(loc="outside lower center", ncols=2)
