"""How far a comparison or experiment is, on stderr, and how long the rest will take."""

from __future__ import annotations

import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from statistics import fmean, median
from typing import Any, Protocol

Case = tuple[int, str]  # number of the data set, name of the method
# A log file should not fill with lines that nobody reads.
SECONDS_BETWEEN_LINES = 30.0


class Progress(Protocol):
    """What tells the user how far the work is."""

    def update(self, done: int, total: int, failed: int, remaining: float | None) -> None:
        """Say where we are."""

    def close(self) -> None:
        """Take the bar away."""


def make_progress(wanted: bool | Lent, stream: Any = None, command: str = "compare") -> Progress:
    """A bar on a terminal, a line now and then elsewhere, nothing if not wanted.

    Lines begin with the command. What is lent is taken as it is.

    Examples
    --------
    >>> from tamis.evaluation import make_progress
    >>> make_progress(False).update(1, 10, 0, None)  # says nothing
    """
    if isinstance(wanted, Lent):
        return wanted
    stream = sys.stderr if stream is None else stream
    if not wanted:
        return Silence()
    if getattr(stream, "isatty", bool)():
        try:
            return Bar(stream)
        except ImportError:  # rich comes with the extra "cli"
            return Lines(stream, 5.0, command)
    return Lines(stream, command=command)


class Silence:
    """Nothing at all."""

    def update(self, done: int, total: int, failed: int, remaining: float | None) -> None:
        """Say nothing."""

    def close(self) -> None:
        """Do nothing."""


class Lent:
    """A progress bar for several comparisons: each moves it, none takes it away.

    Examples
    --------
    >>> from tamis.evaluation import Lent, make_progress
    >>> Lent(make_progress(False)).close()
    """

    def __init__(self, progress: Progress):
        self.update = progress.update

    def close(self) -> None:
        """Do nothing."""


class Lines:
    """A plain line from time to time; none for work that is over before the first is due."""

    def __init__(
        self, stream: Any, seconds: float = SECONDS_BETWEEN_LINES, command: str = "compare"
    ):
        self.stream, self.seconds, self.command = stream, seconds, command
        self._last = time.monotonic()

    def update(self, done: int, total: int, failed: int, remaining: float | None) -> None:
        """Print a line if the last one is old enough."""
        now = time.monotonic()
        if now - self._last < self.seconds:
            return
        self._last = now
        text = _text(done, total, failed, remaining)
        print(f"tamis {self.command}: {text}", file=self.stream)
        self.stream.flush()

    def close(self) -> None:
        """Do nothing."""


class Bar:
    """A bar by rich that goes away at the end."""

    def __init__(self, stream: Any):
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            BarColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            console=Console(file=stream),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("starting", total=None)
        self._bar.start()

    def update(self, done: int, total: int, failed: int, remaining: float | None) -> None:
        """Move the bar."""
        text = _text(done, total, failed, remaining)
        self._bar.update(self._task, completed=done, total=total, description=text)

    def close(self) -> None:
        """Take the bar away."""
        self._bar.stop()


def _text(done: int, total: int, failed: int, remaining: float | None) -> str:
    trouble = f", {failed} failed" if failed else ""
    return f"{done} of {total} units done{trouble}; {in_words(remaining)} left"


class Timing:
    """Seconds of finished units, by data set and method.

    Methods differ by a factor of a thousand, so that a mean over all of them promises nonsense
    while only the quick ones are done. What has not been seen yet is estimated from the same method
    on other data and from other methods on the same data.
    """

    def __init__(self) -> None:
        self._seen: dict[Case, list[float]] = defaultdict(list)
        self._told: dict[Case, float] = {}

    def tell(self, case: Case, seconds: float) -> None:
        """Seconds of an earlier run, which count until there are own ones."""
        self._told[case] = seconds

    def add(self, case: Case, seconds: float) -> None:
        """A unit that was finished now."""
        self._seen[case].append(seconds)

    def expected(self, case: Case) -> float | None:
        """Seconds that a unit will take; None as long as nothing is known."""
        known = self._known()
        if case in known:
            return known[case]
        if not known:
            return None
        typical = _means(known, 0)
        on_data = typical.get(case[0], fmean(typical.values()))
        ratios = [
            seconds / typical[data]
            for (data, method), seconds in known.items()
            if method == case[1] and typical[data] > 0
        ]
        return on_data * (fmean(ratios) if ratios else 1.0)

    def remaining(
        self, waiting: Iterable[Case], running: Iterable[tuple[Case, float]], n_jobs: int
    ) -> float | None:
        """Seconds until all is done, or None.

        `running` holds the units at work with the seconds they have been.
        """
        numbers, begun = Counter(waiting), list(running)
        cases = {*numbers, *(case for case, _ in begun)}
        expected = {case: self.expected(case) for case in cases}
        known = {case: seconds for case, seconds in expected.items() if seconds is not None}
        if len(known) < len(cases):
            return None
        left = [max(known[case] - spent, 0.0) for case, spent in begun]
        total = sum(left) + sum(known[case] * n for case, n in numbers.items())
        longest = max([*left, *(known[case] for case in numbers)], default=0.0)
        # The work may be shared, but nothing ends before its longest piece.
        return max(total / n_jobs, longest)

    def _known(self) -> dict[Case, float]:
        # The median, for the first unit of a process also loads or compiles kernels.
        return {**self._told, **{case: median(times) for case, times in self._seen.items()}}


def _means(known: dict[Case, float], part: int) -> dict[int, float]:
    groups: dict[int, list[float]] = defaultdict(list)
    for case, seconds in known.items():
        groups[int(case[part])].append(seconds)
    return {name: fmean(times) for name, times in groups.items()}


def in_words(seconds: float | None) -> str:
    """A time that claims no more than is known: "about 3 min"."""
    if seconds is None:
        return "not known yet"
    if seconds < 1.5:
        return "a second"
    if seconds < 90:
        return f"about {round(seconds)} s"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} min"
    return f"about {seconds / 3600:.1f} h"
