"""What goes to stderr: notes, warnings, errors; and how an error becomes an exit code."""

from __future__ import annotations

import logging
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from tamis.exceptions import InputError, SelectionWarning, TamisError

INTERRUPTED = "interrupted; nothing was written"
WRITTEN = "tamis.cli.written"


def printable(text: str) -> str:
    r"""Write characters that would move the cursor, or not show at all, as escapes.

    Column names come from files of others: they may hold line breaks, terminal commands or marks
    that reverse the direction of writing.

    Examples
    --------
    >>> from tamis.cli.console import printable
    >>> print(printable("two\nlines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class Talk:
    """Messages on stderr; `quiet` suppresses all of them but errors, which `report` prints."""

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
        """Whether a progress bar would be seen."""
        return not self.quiet and sys.stderr.isatty()


@contextmanager
def overheard(talk: Talk, debug: bool) -> Iterator[None]:
    """Print warnings and log messages of the library; other warnings only with ``--debug``."""
    log, handler = logging.getLogger("tamis"), _LogToTalk(talk)
    log.addHandler(handler)
    try:
        with warnings.catch_warnings():
            if not debug:
                warnings.simplefilter("ignore")
            warnings.simplefilter("always", SelectionWarning)
            warnings.showwarning = _show_ours(talk, warnings.showwarning)
            yield
    finally:
        log.removeHandler(handler)


class _LogToTalk(logging.Handler):
    def __init__(self, talk: Talk):
        super().__init__(logging.WARNING)
        self.talk = talk

    def emit(self, record: logging.LogRecord) -> None:
        self.talk.say(record.getMessage())


def _show_ours(talk: Talk, otherwise: Any) -> Any:
    def show(message: Any, category: Any, *rest: Any, **more: Any) -> None:
        if issubclass(category, SelectionWarning):
            talk.note(str(message))
        else:
            otherwise(message, category, *rest, **more)

    return show


class Misuse(click.UsageError):
    """The command cannot be carried out as it was typed: exit code 2."""


class Failure(click.ClickException):
    """The command was understood and failed: exit code 1."""

    def __init__(self, message: str, ctx: click.Context | None = None):
        super().__init__(message)
        self.ctx = ctx


class Command(click.Command):
    """A command that turns every exception into :class:`Misuse` or :class:`Failure`."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt as error:
            written = ctx.meta.get(WRITTEN, [])  # files are written whole, so it is those or none
            already = f"interrupted; already written: {', '.join(written)}"
            raise Failure(already if written else INTERRUPTED, ctx) from error
        except TamisError as error:
            raise Failure(str(error), ctx) from error
        except Exception as error:
            what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            raise Failure(f"{what}; run again with --debug to see where", ctx) from error


def remember_written(path: Any) -> None:
    """Keep the name of a finished file, for the message after a Ctrl-C."""
    click.get_current_context().meta.setdefault(WRITTEN, []).append(str(path))


@contextmanager
def misuse_if_refused(prefix: str = "") -> Iterator[None]:
    """Turn an :class:`InputError` of the block into a usage error."""
    try:
        yield
    except InputError as error:
        raise Misuse(prefix + str(error)) from error


def report(error: click.ClickException | click.Abort) -> int:
    """Print what went wrong on stderr, and return the exit code: 2 for usage, 1 for failure."""
    if isinstance(error, click.Abort):
        click.echo(f"tamis: {INTERRUPTED}", err=True)
        return 1
    ctx = getattr(error, "ctx", None)
    who = ctx.command_path if ctx is not None else "tamis"
    if ctx is not None and ctx.params.get("debug"):
        traceback.print_exception(error.__cause__ or error)
    lines = f"{who}: {error.format_message()}".split("\n")
    click.echo("\n".join(map(printable, lines)), err=True)
    if isinstance(error, click.UsageError) and not isinstance(error, Misuse):
        click.echo(f"See '{who} --help'.", err=True)
    return error.exit_code
