"""What is said on stderr: notes, warnings of ours, and the log."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tamis.cli._text import printable
from tamis.exceptions import SelectionWarning


class Talk:
    """A voice on stderr.

    Parameters
    ----------
    quiet : bool, default=False
        Say nothing; errors are reported elsewhere.

    Examples
    --------
    >>> from tamis.cli._talk import Talk
    >>> Talk(quiet=True).note("nobody hears this")
    """

    def __init__(self, quiet: bool = False):
        self.quiet = quiet

    def say(self, text: str) -> None:
        """Print one line."""
        if not self.quiet:
            # Not click.echo: it would write through a progress bar instead of above it.
            print(printable(text), file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """Print one line that deserves attention."""
        self.say(f"note: {text}")

    @property
    def shows_progress(self) -> bool:
        """Whether somebody is there to watch a progress bar."""
        return not self.quiet and sys.stderr.isatty()


@contextmanager
def overheard(talk: Talk, debug: bool) -> Iterator[None]:
    """Say aloud what the library warns about; keep other warnings for ``--debug``."""
    log, handler = logging.getLogger("tamis"), _LogToTalk(talk)
    log.addHandler(handler)
    try:
        with warnings.catch_warnings():
            if not debug:
                warnings.simplefilter("ignore")
            warnings.simplefilter("always", SelectionWarning)
            warnings.showwarning = _say_ours(talk, warnings.showwarning)
            yield
    finally:
        log.removeHandler(handler)


class _LogToTalk(logging.Handler):
    def __init__(self, talk: Talk):
        super().__init__(logging.WARNING)
        self.talk = talk

    def emit(self, record: logging.LogRecord) -> None:
        self.talk.say(record.getMessage())


def _say_ours(talk: Talk, otherwise: Any) -> Any:
    def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        if issubclass(category, SelectionWarning):
            talk.note(str(message))
        else:
            otherwise(message, category, *rest, **more)

    return show
