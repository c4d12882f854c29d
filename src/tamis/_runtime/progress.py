"""Progress on stderr: of a fit, and of many units of work; and how long the rest will take."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

# Most fits are over before a bar could be read; a flash is worse than nothing.
DELAY_SECONDS = 0.5
# A log file should not fill with lines that nobody reads.
SECONDS_BETWEEN_LINES = 30.0


def make_bar(console: Any, *columns: Any, **options: Any) -> Any:
    """A bar by rich that goes away at the end."""
    from rich.progress import Progress as RichProgress

    return RichProgress(*columns, console=console, transient=True, **options)


class StderrProgress:
    """A callback that shows a bar on stderr; scikit-learn's own prints to stdout, for data."""

    def __init__(self, delay: float = DELAY_SECONDS, console: Any = None):
        self.delay, self.console = delay, console

    def setup(self, estimator: Any, context: Any) -> None:
        """Prepare the bar, and show it if the fit is still running after the delay."""
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

        self._lock, self._ended = threading.Lock(), False
        text = TextColumn("{task.description}", markup=False)
        columns = text, BarColumn(), TaskProgressColumn(), TimeRemainingColumn(compact=True)
        self._bar = make_bar(self.console or Console(stderr=True), *columns)
        self._task = self._bar.add_task(type(estimator).__name__, total=context.max_subtasks)
        self._timer = threading.Timer(self.delay, self._show)
        self._timer.daemon = True
        self._timer.start()

    def _show(self) -> None:
        with self._lock:
            if not self._ended:
                self._bar.start()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Name the stage that begins."""
        if context.parent is not None and context.parent.parent is None:
            self._name = f"{type(estimator).__name__}: {context.task_name}"
            self._bar.update(self._task, description=self._name)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Move on: a stage counts 1, a step of it its share."""
        stage = context.parent
        if stage is None:
            return
        if stage.parent is None:  # the end of a stage: exactly so many, whatever its steps said
            self._bar.update(self._task, completed=context.task_id + 1)
        elif stage.parent.parent is None and stage.max_subtasks:
            self._bar.advance(self._task, 1 / stage.max_subtasks)
            note = getattr(estimator, "_progress_note", str)()
            if note:
                self._bar.update(self._task, description=f"{self._name}, {note}")

    def teardown(self, estimator: Any, context: Any) -> None:
        """Take the bar away, also after a failure."""
        with self._lock:
            self._ended = True
        self._timer.cancel()
        self._bar.stop()


class Progress:
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
    if not wanted:
        return Silence()
    stream = sys.stderr if stream is None else stream
    if not getattr(stream, "isatty", bool)():
        return Lines(stream, command=command)
    try:
        return Bar(stream)
    except ImportError:  # rich comes with the extra "cli"
        return Lines(stream, 5.0, command)


class Silence(Progress):
    """Nothing at all."""


class Lent(Progress):
    """A progress bar for several comparisons: each moves it, none takes it away.

    Examples
    --------
    >>> from tamis.evaluation import Lent, make_progress
    >>> Lent(make_progress(False)).close()
    """

    def __init__(self, progress: Progress):
        self.update = progress.update  # type: ignore[method-assign]


class Lines(Progress):
    """A plain line from time to time; none for work that is over before the first is due."""

    def __init__(
        self, stream: Any, seconds: float = SECONDS_BETWEEN_LINES, command: str = "compare"
    ):
        self.stream, self.seconds, self.command = stream, seconds, command
        self._last = time.monotonic()

    def update(self, done: int, total: int, failed: int, remaining: float | None) -> None:
        """Print a line if the last one is old enough."""
        now = time.monotonic()
        if now - self._last >= self.seconds:
            self._last = now
            text = _text(done, total, failed, remaining)
            print(f"tamis {self.command}: {text}", file=self.stream, flush=True)


class Bar(Progress):
    """A bar by rich that goes away at the end."""

    def __init__(self, stream: Any):
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

        text = TextColumn("{task.description}", markup=False)
        console = Console(file=stream)
        # Lines of other programs stay where they are: the stream may be one of theirs.
        options = {"redirect_stdout": False, "redirect_stderr": False}
        self._bar = make_bar(console, BarColumn(), text, TimeElapsedColumn(), **options)
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
