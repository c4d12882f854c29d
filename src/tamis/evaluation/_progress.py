"""One progress bar for a whole comparison or experiment, on stderr."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol

from tamis.evaluation.run.timing import in_words

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
