"""Callbacks that the command line hangs on a selector: a progress bar, and column names."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

# Most fits are over before a bar could be read; a flash is worse than nothing.
DELAY_SECONDS = 0.5


class StderrProgress:
    """A progress bar on stderr that goes away at the end.

    scikit-learn's own prints to stdout, which is for data.

    Parameters
    ----------
    delay : float, default=0.5
        Seconds before it shows.
    console : rich.console.Console or None, default=None
        Where to draw; None means stderr.
    """

    def __init__(self, delay: float = DELAY_SECONDS, console: Any = None):
        self.delay = delay
        self.console = console

    def setup(self, estimator: Any, context: Any) -> None:
        """Prepare the bar, and show it if the fit is still running after the delay."""
        self._lock, self._ended = threading.Lock(), False
        self._bar = _make_bar(self.console)
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


def _make_bar(console: Any) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        Remaining(compact=True),
        console=console or Console(stderr=True),
        transient=True,
    )


class ColumnNames:
    """Tell a fit the names of its columns, so that messages can use them.

    The matrix made from a file has no names, and a data frame would be a second copy of it.

    Parameters
    ----------
    names : sequence of str
        One per column.
    """

    def __init__(self, names: Sequence[str]):
        self.names = np.array(names, dtype=object)

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Set the names as soon as the input was checked."""
        if context.parent is None:
            estimator.feature_names_in_ = self.names

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing."""
